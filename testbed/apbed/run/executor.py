# SPDX-License-Identifier: GPL-2.0-only
"""On which hosts the machines of a campaign boot. The campaign itself never leaves this one."""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from apbed.errors import ApbedError
from apbed.kernels.watchdog import Boot, Watchdog
from apbed.run.bench import Bench
from apbed.run.order import Order

DASK = re.compile(r"dask://(\[[0-9a-fA-F:.]+\]|[^/:\s]+):(\d{1,5})")


class Executor(Protocol):
    """Boots machines. Threads call it, each for a run of its own."""

    @property
    def word(self) -> str:
        """What --executor says."""

    @property
    def jobs(self) -> int:
        """How many runs it should be given at a time."""

    def accept(self, entry: Bench) -> None:
        """ApbedError if it cannot carry out runs with it."""

    def boot(self, entry: Bench, order: Order, watchdog: Watchdog) -> Boot:
        """Carry out one run; when this returns, the results are in order.run_dir, all of them."""


class Local:
    """This host."""

    word = "local"

    @property
    def jobs(self) -> int:
        return len(os.sched_getaffinity(0))

    def accept(self, entry: Bench) -> None:
        """All that there is."""

    def boot(self, entry: Bench, order: Order, watchdog: Watchdog) -> Boot:
        return entry.machine.boot(order, watchdog)


LOCAL = Local()


@contextmanager
def opened(word: str) -> Iterator[Executor]:
    """The executor of a word, "local" or "dask://HOST:PORT"; ApbedError if there is none."""
    if word == LOCAL.word:
        yield LOCAL
        return
    if not (found := DASK.fullmatch(word)):
        raise ApbedError(f"--executor {word}: expected local or dask://HOST:PORT")
    try:
        dask = importlib.import_module("apbed.run.dask_executor")
    except ModuleNotFoundError as error:
        raise ApbedError(f"--executor {word} needs {error.name}; run `make setup`") from error
    with dask.connected(word, f"tcp://{found[1]}:{found[2]}") as executor:
        yield executor
