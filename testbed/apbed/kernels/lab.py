# SPDX-License-Identifier: GPL-2.0-only
"""Boots a lab kernel, runs one command in it, and leaves nothing behind.

A lab kernel is User-mode Linux with `time-travel=inf-cpu`: an unprivileged process whose
clock stands still while code runs, so results do not depend on the machine's speed. The
price is that a guest process that polls stops time for good. Hence the watchdog here: it
looks at progress, counts processor time, not the wall's, so that a busy machine ends nothing,
and asks the kernel which process is running.
"""

from __future__ import annotations

import ctypes
import os
import re
import shlex
import signal
import socket
import struct
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from apbed.checkout import BUILD, GUEST
from apbed.errors import ApbedError
from apbed.kernels import cache, processor
from apbed.kernels.cache import LabKernel
from apbed.kernels.watchdog import INTERRUPTED, POLL_S, Boot, Watchdog, watch
from apbed.processes import ProcessorTime, guarded_folder

MEMORY_MB = 768
BOOT_TIME_NS = 1767225600 * 10**9  # 2026-01-01, a guest's wall clock at boot
SEEDED_RANDOM = BUILD / "lib" / "seeded_random.so"
MCONSOLE_MAGIC = 0xCAFEBABE
ADDR_NO_RANDOMIZE = 0x0040000  # personality(2)
PERSONALITY_QUERY = 0xFFFFFFFF
GROUP_END_TRIES = 25


@dataclass(frozen=True)
class Guest:
    """One command to run as root inside a lab kernel.

    Only `out` is writable there. The console goes to the file `console` (None: this
    process's own output). With `seed`, the kernel's random numbers follow from it, by
    `seeded_random`. init.sh is among the `scripts`.
    """

    kernel: LabKernel
    command: Sequence[str]
    out: Path
    workdir: Path | None = None  # None: the caller's
    seed: int | None = None
    console: Path | None = None
    scripts: Path = GUEST
    seeded_random: Path = SEEDED_RANDOM


def kernel(version: str | None = None, debug: bool = False, stock: bool = False) -> LabKernel:
    """The cached lab kernel of a line ("6.1"; None: the distribution's own), or an error."""
    found = cache.find(version, debug, stock)
    if found is None:
        words = f" --version {version}" if version else ""
        words += (" --debug" if debug else "") + (" --stock" if stock else "")
        build = f"apbed kernel build{words}" if words else "make all"
        raise ApbedError(f"no such lab kernel yet; run `{build}`")
    return found


def boot(guest: Guest, watchdog: Watchdog) -> Boot:
    """Run the guest's command to its end, or until the watchdog ends it.

    `out` gets exit-status, virtual-seconds and dmesg.log. Raises ApbedError when the kernel
    cannot be started at all.
    """
    for stale in ("exit-status", "virtual-seconds", "dmesg.log"):
        (guest.out / stale).unlink(missing_ok=True)
    started = time.monotonic()
    with (
        guarded_folder("apbed-") as scratch,
        _open_console(guest.console) as stream,
        processor.reserved() as number,
    ):
        with processor.only(number):
            process = _start(guest, scratch, stream)
        work = ProcessorTime(process.pid)
        try:
            why = _watch(process, guest, watchdog, scratch, work)
        finally:
            _end_group(process)
    outcome = _outcome(guest, why, time.monotonic() - started)
    return replace(outcome, processor_s=work.seen_s)


def _open_console(console: Path | None) -> BinaryIO:
    return os.fdopen(os.dup(1), "wb") if console is None else console.open("wb")


def _size_of(console: Path | None) -> Callable[[], object]:
    if console is None:
        return time.monotonic  # nothing to look at: only the limit counts
    return lambda: console.stat().st_size


def _start(guest: Guest, scratch: Path, stream: BinaryIO) -> subprocess.Popen[bytes]:
    """Start the kernel in a process group of its own, so that its stubs can be ended too."""
    init = scratch / "init"
    workdir = guest.workdir or Path.cwd()
    # Without a file for all of it, the kernel's messages go to standard error.
    apart = guest.console is None
    consoles = ["con0=fd:0,fd:2", "con1=null,fd:1"] if apart else ["con0=fd:0,fd:1"]
    words = [str(guest.scripts / "init.sh"), "/dev/tty1" if apart else "/dev/console"]
    words += [str(guest.out.resolve()), str(workdir.resolve())]
    words += guest.command
    init.write_text(f"#!/bin/sh\nexec {shlex.join(words)}\n")
    init.chmod(0o755)
    environment = os.environ | {"PATH": "/usr/bin:/bin"}  # the kernel copies it to its heap
    if guest.seed is not None:
        environment |= _seeded_random(guest.seeded_random, guest.seed)
    try:
        with fixed_addresses():
            return subprocess.Popen(
                _command_line(guest.kernel, consoles),
                cwd=scratch,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=None if apart else subprocess.STDOUT,
                start_new_session=True,
                env=environment,
            )
    except OSError as error:
        raise ApbedError(
            f"cannot start the lab kernel {guest.kernel.linux}: {error.strerror}; "
            "try `apbed kernel build`"
        ) from error


@contextmanager
def fixed_addresses() -> Iterator[bool]:
    """Programs that this thread starts inside have no randomised addresses (personality(2)).

    User-mode Linux puts the random gap before its heap into its physical memory, so the guest's
    usable memory differed from boot to boot. Yields false where a container's seccomp filter
    refuses that: the guest then has the same limits of TCP and UDP (init.sh), but not the same
    memory.
    """
    personality = ctypes.CDLL(None).personality
    personality.argtypes, personality.restype = [ctypes.c_ulong], ctypes.c_int
    before = personality(PERSONALITY_QUERY)
    if before < 0 or personality(before | ADDR_NO_RANDOMIZE) < 0:
        yield False
        return
    try:
        yield True
    finally:
        personality(before)


def _command_line(kernel: LabKernel, consoles: Sequence[str]) -> list[str]:
    """The kernel and its parameters.

    They go into the kernel's random pool, so they must not vary from run to run: the guest
    finds its init through the host's /proc, in the kernel's own working directory. The pool is
    full at once, because waiting for entropy took 2.5 virtual seconds, or a tick more where the
    run's directory had a deeper path.
    """
    return [
        str(kernel.linux),
        f"mem={MEMORY_MB}M",
        "rootfstype=hostfs",
        "rootflags=/",
        "ro",
        "init=/proc/self/cwd/init",
        *consoles,
        "con=null",
        "time-travel=inf-cpu",
        f"time-travel-start={BOOT_TIME_NS}",
        "random.trust_cpu=on",
        "seccomp=auto",
        "quiet",
        "umid=lab",
        "uml_dir=.",
    ]


def _seeded_random(library: Path, seed: int) -> dict[str, str]:
    """The environment in which a kernel's random numbers follow from `seed`."""
    if not library.exists():
        raise ApbedError(f"{library} is missing; run `make all`")
    return {"LD_PRELOAD": str(library), "LAB_RANDOM_SEED": str(seed)}


def _watch(
    process: subprocess.Popen[bytes],
    guest: Guest,
    watchdog: Watchdog,
    scratch: Path,
    work: ProcessorTime,
) -> str | None:
    """Wait for the end; return None, or one line that says why the guest must be ended."""
    what = watch(process, watchdog, _size_of(guest.console), work)
    if what is None or what == INTERRUPTED:
        return what
    return f"{what}; running in the guest: {_running_process(scratch, guest.console)}"


def _running_process(scratch: Path, console: Path | None) -> str:
    """The guest process on the processor, by crashing the kernel: its report names it.

    Through the kernel's own management console, a datagram socket (arch/um/drivers/mconsole.h).
    """
    if console is None:
        return "unknown"
    request = struct.pack("III512s", MCONSOLE_MAGIC, 2, 7, b"sysrq c")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        try:
            sender.sendto(request, str(scratch / "lab" / "mconsole"))
        except OSError:
            return "unknown"
    time.sleep(1.0)
    found = re.search(r"Comm: (.+?) (?:Not tainted|Tainted)", console.read_text(errors="replace"))
    return found.group(1) if found else "unknown"


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """End the kernel and the stub processes that carry its guests' memory.

    A stub whose tracer just died can miss the first signal, hence more than one.
    """
    for _ in range(GROUP_END_TRIES):
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            return
        process.wait()
        time.sleep(POLL_S / 10)


def _outcome(guest: Guest, why: str | None, wall_s: float) -> Boot:
    status: int | None = None
    virtual_s: float | None = None
    try:
        status = int((guest.out / "exit-status").read_text())
        virtual_s = float((guest.out / "virtual-seconds").read_text())
    except (OSError, ValueError):
        why = why or f"the lab kernel ended early: {_last_words(guest.console)}"
    return Boot(None if why else status, why, wall_s, virtual_s)


def _last_words(console: Path | None) -> str:
    """The line of the console that says most about a sudden end."""
    if console is None or not console.exists():
        return "see the console"
    lines = [line.strip() for line in console.read_text(errors="replace").splitlines()]
    lines = [line for line in lines if line]
    panics = [line for line in lines if "panic" in line or "Unable to mount" in line]
    return (panics or lines or ["it printed nothing"])[-1][:200]
