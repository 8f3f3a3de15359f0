# SPDX-License-Identifier: GPL-2.0-only
"""Watches what a command started, and ends it however the command itself is ended."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

LOOK_S = 1.0  # wall seconds between two looks at /proc
IDLE_S = 600.0  # wall seconds without any work after which nothing more is expected of a machine
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
# Waits until nobody holds the other end of its standard input, then ends, several times, whatever
# works in the folder $0: a process may be about to enter it, or miss a signal.
GUARD = """\
read -r _
tries=0
while [ "$tries" -lt 25 ]; do
	for cwd in /proc/[0-9]*/cwd; do
		process=${cwd%/cwd}
		[ ! "$cwd" -ef "$0" ] || kill -KILL "${process#/proc/}"
	done
	tries=$((tries + 1))
	sleep 0.02
done
exec rm -rf "$0"
"""
ADMINISTRATORS = ("/usr/local/sbin", "/usr/sbin", "/sbin")


def find_administrators_programs() -> None:
    """Let tc, iw and depmod be found: Debian leaves their folders out of a user's PATH."""
    known = os.environ.get("PATH", os.defpath).split(os.pathsep)
    lacking = [folder for folder in ADMINISTRATORS if folder not in known]
    os.environ["PATH"] = os.pathsep.join([*known, *lacking])


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


@contextlib.contextmanager
def guarded_folder(prefix: str) -> Iterator[Path]:
    """A temporary folder that goes with this process, and with it what works there, by its cwd.

    However this process ends: nobody can catch SIGKILL, so a process of its own waits for that.
    Source: pipe(7), a read gives end of file when the last process that has the other end is gone.
    """
    folder = Path(tempfile.gettempdir(), prefix + secrets.token_hex(4))
    guard = subprocess.Popen(  # before there is anything to guard
        ["/bin/sh", "-c", GUARD, folder],
        cwd="/",
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # what is sent to our group is not for it
    )
    try:
        folder.mkdir(mode=0o700)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        guard.kill()
        guard.communicate()


def stop_group(process: subprocess.Popen[str] | subprocess.Popen[bytes]) -> None:
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


class ProcessorTime:
    """Processor seconds of a process and all it started.

    A limit in these seconds does not feel what else the machine does, as one in wall seconds would.
    Source: proc(5), /proc/PID/stat.
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._used_s = self._last_s = 0.0
        self._looked = float("-inf")
        self._changed = time.monotonic()

    def used_s(self) -> float:
        """So far, to a second or so. Never falls."""
        self._look()
        return self._used_s

    @property
    def seen_s(self) -> float:
        """At the last look: what is left to ask when they have ended."""
        return self._used_s

    def idle_s(self) -> float:
        """Wall seconds for which they have used none."""
        self._look()
        return self._looked - self._changed

    def _look(self) -> None:
        now = time.monotonic()
        if now - self._looked < LOOK_S:
            return
        self._looked = now
        found_s = _tree_s(self._pid)
        if found_s != self._last_s:
            self._changed = now
        # What nobody waited for is lost from the sum, so only what is added counts.
        self._used_s += max(found_s - self._last_s, 0.0)
        self._last_s = found_s


class Waited:
    """Seconds for which a thread of a process was ready to run while the processors were busy
    with others: of the thread that waited longest. look() must be called before it ends.

    A virtual processor is a thread, so this is what a guest under a hypervisor calls steal. A sum
    would grow with the number of threads, although each of them is late by no more.

    Source: Documentation/scheduler/sched-stats.rst of the kernel, /proc/PID/task/TID/schedstat.
    """

    def __init__(self, pid: int, proc: Path = Path("/proc")) -> None:
        self._tasks = proc / str(pid) / "task"
        self._waited_ns: dict[str, int] = {}

    def look(self) -> None:
        """Note how long each thread has waited so far."""
        for task in self._tasks.glob("[0-9]*"):
            with contextlib.suppress(OSError, ValueError, IndexError):
                words = (task / "schedstat").read_text().split()
                self._waited_ns[task.name] = int(words[1])

    def waited_s(self) -> float | None:
        """At the last look; None if this kernel does not say."""
        return max(self._waited_ns.values()) / 1e9 if self._waited_ns else None


def _tree_s(root: int) -> float:
    """Processor seconds of `root`, its descendants, and those of theirs that have ended."""
    ticks: dict[int, int] = {}
    children: dict[int, list[int]] = {}
    # Who asks whether a file of a process that ends is there gets ESRCH, so only reading asks.
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            text = (process / "stat").read_text(errors="replace")
            fields = text.rpartition(")")[2].split()
            pid = int(process.name)
            children.setdefault(int(fields[1]), []).append(pid)
            ticks[pid] = sum(map(int, fields[11:15]))  # utime, stime, cutime, cstime
    total, left = 0, [root]
    while left:
        pid = left.pop()
        total += ticks.get(pid, 0)
        left += children.get(pid, [])
    return total / TICKS_PER_S
