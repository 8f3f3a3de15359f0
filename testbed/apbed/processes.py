# SPDX-License-Identifier: GPL-2.0-only
"""Ends what a command started, however the command itself is ended."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator
from types import FrameType


@contextlib.contextmanager
def signals_as_interrupt() -> Iterator[None]:
    """SIGTERM and SIGHUP raise KeyboardInterrupt inside, as Ctrl-C does."""

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    caught = (signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(number, interrupt) for number in caught]
    try:
        yield
    finally:
        for number, handler in zip(caught, before, strict=True):
            signal.signal(number, handler)


def stop_group(process: subprocess.Popen[str]) -> None:
    """End a command and everything it started; returns when its leader is gone.

    The command must lead a process group of its own (start_new_session).
    """
    for number, patience_s in ((signal.SIGTERM, 5.0), (signal.SIGKILL, 5.0)):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(patience_s)
    if process.stdout:
        process.stdout.close()
