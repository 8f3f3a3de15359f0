# SPDX-License-Identifier: GPL-2.0-only
"""Boots a whole Debian system in QEMU, from a disk of its own, to do one script and power off.

Principle: QEMU emulates the processor, whose instructions are the clock, so a busy machine does not
make the guest's time-outs shorter (docs/devel/tcg-icount.rst of QEMU). Unlike the laboratory's
guests this one waits for a disk, so its clock follows the machine's while it is idle.
"""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from apbed.checkout import BUILD
from apbed.kernels import qemu, ram_disk
from apbed.kernels.watchdog import Watchdog, watch
from apbed.processes import signals_as_interrupt, stop_group

SCRIPTS = Path(__file__).parent / "guest"
TOOLS = ("dcfmedium", "flowgen")
MEMORY_MB = 1024
STALL_S = 1500.0  # processor seconds without a word: what DKMS takes, several times
# The laboratory's kernels and this one agree on what a busy machine must not change.
BOOT_WORDS = "root=/dev/vda rw console=ttyS0 panic=-1 no_timer_check quiet systemd.show_status=no"


@dataclass(frozen=True)
class Kernel:
    """What is booted, out of the guest's own /boot."""

    image: Path
    initrd: Path


class Machine:
    """A disk, and a share where each boot finds its script and leaves its results."""

    def __init__(self, disk: Path, place: Path) -> None:
        place.mkdir(parents=True)
        self.disk, self.share = place / "disk", place / "share"
        _copy(disk, self.disk)
        self.share.mkdir()

    def fork(self, place: Path) -> Machine:
        """Another machine with the same disk as it is now, and what was put on the share."""
        other = Machine(self.disk, place)
        for path in self.share.iterdir():
            if path.is_file():
                shutil.copy(path, other.share)
        return other

    def give(self, *files: Path) -> None:
        """Put files on the share."""
        for path in files:
            shutil.copy(path, self.share)

    def give_tools(self) -> None:
        """The laboratory's medium and traffic, with the library that only the former needs."""
        tools = [BUILD / "bin" / name for name in TOOLS]
        needed = [path for path in ram_disk.libraries(tools) if path.name.startswith("libconfig")]
        self.give(*tools, *needed, SCRIPTS / "cell.sh")

    def boot(self, script: str, kernel: Kernel) -> Path:
        """Do a script of SCRIPTS as root; the folder of what it left. AssertionError if not."""
        out = self.share / "out"
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        for name in ("log", "status"):
            (self.share / name).unlink(missing_ok=True)
        shutil.copy(SCRIPTS / f"{script}.sh", self.share / "phase")
        console, log = self.share.parent / f"{script}.console", self.share / "log"
        shown = _Shown(script, log)
        with console.open("wb") as sink, signals_as_interrupt():
            emulator = qemu.find()
            process = subprocess.Popen(
                [*emulator.words(), *self._words(kernel)],
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env=emulator.environment(),
            )
            try:
                stopped = watch(process, Watchdog(STALL_S, progress=shown.print), shown.print)
            finally:
                stop_group(process)
        shown.print()
        said, last = _text(log), _text(console)[-2000:]
        assert stopped is None, f"{script}: {stopped}\n{said}\n{last}"
        assert _text(self.share / "status").strip() == "0", f"{script} failed:\n{said}\n{last}"
        kept = self.share.parent / script
        shutil.copytree(out, kept)
        return kept

    def _words(self, kernel: Kernel) -> list[str]:
        drive = f"file={self.disk},format=raw,if=virtio,cache=unsafe".replace(",,", ",")
        return [
            *("-M", "q35", "-cpu", "max", "-accel", "tcg", "-smp", "1", "-icount", "shift=0"),
            *("-m", str(MEMORY_MB), "-display", "none", "-vga", "none", "-nodefaults"),
            *("-no-reboot", "-serial", "stdio", "-drive", drive),
            *("-kernel", str(kernel.image), "-initrd", str(kernel.initrd), "-append", BOOT_WORDS),
            *qemu.share(0, self.share, "share", writable=True),
        ]


class _Shown:
    """The guest's lines, printed as they come: a suite that is silent is stopped."""

    def __init__(self, name: str, path: Path) -> None:
        self.name, self.path, self.lines = name, path, 0

    def print(self) -> int:
        """Print what is new; how many lines there are."""
        lines = _text(self.path).splitlines()
        for line in lines[self.lines :]:
            print(f"{self.name}: {line}", flush=True)
        self.lines = len(lines)
        return self.lines


def _text(path: Path) -> str:
    return path.read_text(errors="replace") if path.exists() else ""


def _copy(disk: Path, there: Path) -> None:
    subprocess.run(["cp", "--sparse=always", str(disk), str(there)], check=True)
