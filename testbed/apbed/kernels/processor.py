# SPDX-License-Identifier: GPL-2.0-only
"""A processor of the host for each guest.

User-mode Linux hands each system call of a guest's program from the program's process to the
kernel's and back. Only one of them runs at a time, but the host's scheduler wakes the other one on
an idle processor, and waking that takes longer than most system calls. So both stay on one. Of
several guests each takes another processor, also those of other users of this cache.

On a busy machine there are no idle processors to wake, and a guest that cannot move waits while
there is time on another one. So there guests are left to the scheduler.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from apbed.kernels import packages

PRESSURE = Path("/proc/pressure/cpu")  # Documentation/accounting/psi.rst of the kernel
QUIET_PERCENT = 10.0


def locks() -> Path:
    """Where a file for each processor is locked by who has it."""
    return packages.cache_root() / "processors"


def quiet(pressure: Path = PRESSURE) -> bool:
    """Whether in the last ten seconds hardly a program had to wait for a processor.

    False where the host's kernel does not measure that.
    """
    try:
        words = pressure.read_text().split()
    except OSError:
        return False
    return "avg10=" in words[1] and float(words[1].removeprefix("avg10=")) < QUIET_PERCENT


@contextmanager
def reserved() -> Iterator[int | None]:
    """The number of a processor that no other guest has; None if each has one, or all are busy."""
    if not quiet():
        yield None
        return
    directory = locks()
    directory.mkdir(parents=True, exist_ok=True)
    with ExitStack() as held:
        for number in sorted(os.sched_getaffinity(0)):
            lock = held.enter_context((directory / str(number)).open("w"))
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            yield number
            return
        yield None


@contextmanager
def only(number: int | None) -> Iterator[None]:
    """What this thread starts inside runs on that processor alone; with None, on any."""
    before = os.sched_getaffinity(0)
    if number is None or number not in before:
        yield
        return
    os.sched_setaffinity(0, {number})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
