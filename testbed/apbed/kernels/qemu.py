# SPDX-License-Identifier: GPL-2.0-only
"""QEMU: where it is, how it is told what to emulate, and why a machine ended.

Principle: on one processor QEMU counts instructions for a clock (docs/devel/tcg-icount.rst of
QEMU): an instruction takes a nanosecond and nothing else takes time, so a busy host changes no
result. KVM has no such clock, so only several processors may use it. They take the host's time.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from apbed.errors import ApbedError
from apbed.kernels.cache import whole
from apbed.kernels.packages import Apt, cache_root

PROGRAM = "qemu-system-x86_64"
PACKAGE = "qemu-system-x86"
LIBRARIES = ("usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu")
EMULATION = ("-cpu", "max", "-accel", "tcg")
KVM = ("-cpu", "host", "-accel", "kvm")
FIRMWARE = ("usr/share/qemu", "usr/share/seabios", "usr/lib/ipxe/qemu")

# What a kernel prints when memory is what it lacks. With vm.panic_on_oom it panics then.
OUT_OF_MEMORY = re.compile(
    r"Out of memory|out of memory|panic_on_oom|deadlocked on memory"
    r"|Initramfs unpacking failed: write error"
)
PANIC = re.compile(r"Kernel panic - not syncing.*")


@dataclass(frozen=True)
class Emulator:
    """QEMU as the machine has it (`root` None), or unpacked below `root`."""

    program: Path
    root: Path | None

    def words(self) -> list[str]:
        """The program, and where its firmware is."""
        paths = [self.root / path for path in FIRMWARE] if self.root else []
        return [str(self.program), *(word for path in paths for word in ("-L", str(path)))]

    def environment(self) -> dict[str, str]:
        """The caller's, with what the unpacked program's libraries need."""
        if not self.root:
            return dict(os.environ)
        libraries = ":".join(str(self.root / path) for path in LIBRARIES)
        return {**os.environ, "LD_LIBRARY_PATH": libraries}


def find() -> Emulator:
    """The machine's own QEMU, or the one fetch() has unpacked; ApbedError if there is none."""
    if system := shutil.which(PROGRAM):
        return Emulator(Path(system), None)
    root = cache_root() / "emulator"
    if (own := root / "usr/bin" / PROGRAM).exists():
        return Emulator(own, root)
    raise ApbedError(f"no {PROGRAM}: run `apbed distro fetch`, or install {PACKAGE}")


def fetch(apt: Apt) -> None:
    """Unpack QEMU and the libraries the machine lacks, unless there is one."""
    final = cache_root() / "emulator"
    if shutil.which(PROGRAM) or final.exists():
        return
    final.parent.mkdir(parents=True, exist_ok=True)
    with whole(final) as directory:
        apt.unpack(apt.lacking(PACKAGE), directory)


def machine(cpus: int, memory_mb: int, *, kvm: bool = False) -> list[str]:
    """An x86-64 machine. One processor: virtual time. More: they run at once, in the host's, and by
    KVM if asked."""
    clock = ["-icount", "shift=0,sleep=off"] if cpus == 1 else []
    return [
        *("-M", "q35", *(KVM if kvm and cpus > 1 else EMULATION), "-smp", str(cpus), *clock),
        *("-m", str(memory_mb), "-display", "none", "-vga", "none", "-nodefaults", "-no-reboot"),
    ]


def boot_words(cpus: int) -> list[str]:
    """What such a machine's kernel must be told.

    Several processors have the host's time stamp counter, so they agree. But it is an AMD machine
    without constant_tsc to the kernel, which would read the HPET, a device, for the time.
    """
    return ["tsc=reliable"] if cpus > 1 else []


def share(number: int, path: Path, tag: str, *, writable: bool) -> list[str]:
    """A directory of the host, for the guest to mount by 9p over virtio under this tag."""
    safe = str(path).replace(",", ",,")
    mode = "" if writable else ",readonly=on"
    there = f"local,id=share{number},path={safe},security_model=none,multidevs=remap{mode}"
    return ["-fsdev", there, "-device", f"virtio-9p-pci,fsdev=share{number},mount_tag={tag}"]


def why_ended(console: str, said: str, stopped: str | None, memory_mb: int) -> str:
    """One line that says why a machine gave no result.

    `console` is the guest's, `said` what QEMU printed, `stopped` why the watchdog stopped it.
    A guest that lacks memory panics, and may also stand still, so memory is looked at first.
    """
    if OUT_OF_MEMORY.search(console):
        return f"the guest ran out of memory ({memory_mb} MiB)"
    if panic := PANIC.search(console):
        return f"the guest's kernel panicked: {panic[0].strip()}"
    if stopped:
        return f"time-out: {stopped}; the guest's last line: {_last(console)}"
    return f"QEMU ended without a result: {_last(said or console)}"


def _last(text: str) -> str:
    lines: Sequence[str] = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:200] if lines else "nothing"
