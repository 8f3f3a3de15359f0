# SPDX-License-Identifier: GPL-2.0-only
"""Whether a kernel runs on the host's own processor, by KVM.

Principle: probe, never assume. /dev/kvm may be there, QEMU may start with it and even execute a
few instructions, and yet a kernel hangs, for example inside a virtual machine. So a kernel is
booted, with a time-out. It has no root and is told to end when it panics, so it ends at once.
"""

from __future__ import annotations

import functools
import subprocess
from pathlib import Path

from apbed.kernels import qemu
from apbed.kernels.qemu import Emulator

DEVICE = Path("/dev/kvm")
LIMIT_S = 30.0  # emulation needs eight seconds
MEMORY_MB = 512


@functools.cache
def works(emulator: Emulator, kernel: Path) -> bool:
    """Whether this bootable image runs by KVM here; asked once a process."""
    return DEVICE.exists() and boots(emulator, kernel, kvm=True)


def boots(emulator: Emulator, kernel: Path, *, kvm: bool, limit_s: float = LIMIT_S) -> bool:
    """Whether the kernel gets so far that it misses its root within `limit_s` seconds."""
    command = [
        *emulator.words(),
        *qemu.machine(2, MEMORY_MB, kvm=kvm),
        *("-serial", "stdio", "-kernel", str(kernel)),
        *("-append", " ".join(["console=ttyS0 quiet panic=-1", *qemu.boot_words(2)])),
    ]
    try:
        done = subprocess.run(
            command,
            timeout=limit_s,
            env=emulator.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0 and qemu.PANIC.search(done.stdout) is not None
