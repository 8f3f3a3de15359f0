# SPDX-License-Identifier: GPL-2.0-only
"""When a guest is ended, and what came of it: the same for every kind of guest.

Principle: limits are processor seconds of the guest, not wall seconds, so a busy machine ends
nothing. Only a guest that uses no processor at all is measured by the wall.
"""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from apbed.processes import IDLE_S, ProcessorTime

POLL_S = 0.2
INTERRUPTED = "interrupted"


@dataclass(frozen=True)
class Watchdog:
    """When a guest is ended: no change of `progress` for `stall_s`, `limit_s` over, `cancel` set.

    Both are processor seconds of the kernel. Without `progress` the growing console counts as
    progress. A kernel that uses no processor at all for IDLE_S of wall time is ended too.
    """

    stall_s: float = 60.0
    limit_s: float | None = None
    progress: Callable[[], object] | None = None
    cancel: threading.Event = field(default_factory=threading.Event)


@dataclass(frozen=True)
class Boot:
    """What came of one boot.

    `status` is the command's exit status, or None when the kernel ended without one;
    `why` then says in one line what happened. Times in seconds.
    """

    status: int | None
    why: str | None
    wall_s: float
    virtual_s: float | None
    waited_s: float | None = None  # the emulator, for a processor of the host
    processor_s: float | None = None  # of the guest and all it started, to a second or two


def watch(
    process: subprocess.Popen[bytes],
    watchdog: Watchdog,
    console: Callable[[], object],
    work: ProcessorTime | None = None,
) -> str | None:
    """Wait for the guest's end; None, or one line that says why it must be ended.

    `work` is the caller's if it asks afterwards how much the guest used.
    """
    progress = watchdog.progress or console
    work = work or ProcessorTime(process.pid)
    since = 0.0
    seen = progress()
    while process.poll() is None:
        if watchdog.cancel.wait(POLL_S):
            return INTERRUPTED
        used = work.used_s()
        if (state := progress()) != seen:
            seen, since = state, used
        if used - since > watchdog.stall_s:
            return f"no progress for {watchdog.stall_s:.0f} s of processor time"
        if watchdog.limit_s is not None and used > watchdog.limit_s:
            return f"not done after {watchdog.limit_s:.0f} s of processor time"
        if work.idle_s() > IDLE_S:
            return f"no processor time used for {IDLE_S:.0f} s"
    return None
