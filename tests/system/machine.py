# SPDX-License-Identifier: GPL-2.0-only
"""Boots a whole Debian system in QEMU, from a disk of its own, to do one script and power off.

Principle: QEMU emulates one processor, whose instructions are the clock, so a busy machine makes
neither the guest's time-outs shorter nor its delays longer (docs/devel/tcg-icount.rst of QEMU).
Unlike the laboratory's guests this one waits for a disk, so its clock follows the machine's while
it is idle. What needs no kernel of its own can also be done while the machine is off, in a chroot
on its disk, with the machine's own processor.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from apbed.kernels import qemu, ram_disk
from apbed.kernels.watchdog import Watchdog, watch
from apbed.processes import signals_as_interrupt, stop_group

SCRIPTS = Path(__file__).parent / "guest"
MEMORY_MB = 1024
STALL_S = 3000.0  # processor seconds without a word: what DKMS takes, several times
# The laboratory's kernels and this one agree on what a busy machine must not change. An emulated
# processor leaks nothing, and what guards against leaks costs it most.
BOOT_WORDS = (
    "root=/dev/vda rw console=ttyS0 panic=-1 no_timer_check quiet systemd.show_status=no "
    "mitigations=off"
)
# In a mount namespace: SCRIPT or a copy of what is booted, on the file system of a disk.
MOUNT = 'mount -o loop "$1" "$2"\n'
CHROOT = f"""{MOUNT}
mount -t proc proc "$2/proc"
mount -t sysfs -o ro sysfs "$2/sys"
mount --rbind /dev "$2/dev"
mount --bind "$3" "$2/mnt"
exec chroot "$2" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C bash /mnt/phase
"""
COPY_KERNEL = f'{MOUNT}cp -L "$2/vmlinuz" "$2/initrd.img" "$3"\n'


class Machine:
    """A disk, and a share where each boot finds its script and leaves its results."""

    def __init__(self, disk: Path, place: Path, tools: Sequence[Path]) -> None:
        """`tools` are the laboratory's medium and traffic, which the scripts use."""
        place.mkdir(parents=True)
        self.disk, self.share = place / "disk", place / "share"
        subprocess.run(["cp", "--sparse=always", str(disk), str(self.disk)], check=True)
        self.share.mkdir()
        # The library that only the medium needs.
        libraries = [path for path in ram_disk.libraries(tools) if "libconfig" in path.name]
        self.give(*tools, *libraries, SCRIPTS / "cell.sh")

    def give(self, *files: Path) -> None:
        """Put files on the share."""
        for path in files:
            shutil.copy(path, self.share)

    def boot(self, script: str) -> Path:
        """Do a script of SCRIPTS as root; the folder of what it left. AssertionError if not.

        What is booted is what a boot loader would boot: the links in the root directory.
        """
        self._prepare(script)
        kernel = self.share.parent / "kernel"
        kernel.mkdir(exist_ok=True)
        self._on_disk(COPY_KERNEL, kernel).check_returncode()
        console = self.share.parent / f"{script}.console"
        shown = _Shown(script, self.share / "log")
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
        last = _text(console)[-2000:]
        assert stopped is None, f"{script}: {stopped}\n{shown.text}\n{last}"
        assert _text(self.share / "status").strip() == "0", f"{script}:\n{shown.text}\n{last}"
        return self._kept(script)

    def offline(self, script: str) -> Path:
        """Do a script of SCRIPTS as boot() does, but on this machine, in a chroot on the disk."""
        self._prepare(script)
        done = self._on_disk(CHROOT, self.share)
        said = done.stdout + done.stderr
        (self.share.parent / f"{script}.log").write_text(said)
        assert done.returncode == 0, f"{script}:\n{said}"
        print(f"{script}: done while the machine is off", flush=True)
        return self._kept(script)

    def _prepare(self, script: str) -> None:
        out = self.share / "out"
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        for name in ("log", "status"):
            (self.share / name).unlink(missing_ok=True)
        shutil.copy(SCRIPTS / f"{script}.sh", self.share / "phase")

    def _kept(self, script: str) -> Path:
        kept = self.share.parent / script
        shutil.copytree(self.share / "out", kept)
        return kept

    def _on_disk(self, script: str, place: Path) -> subprocess.CompletedProcess[str]:
        """A shell script with the disk mounted at $2, for it alone; $3 is a place here."""
        root = self.share.parent / "root"
        root.mkdir(exist_ok=True)
        words = ["unshare", "--mount", "sh", "-ec", script, "sh", str(self.disk), str(root)]
        return subprocess.run([*words, str(place)], capture_output=True, text=True, check=False)

    def _words(self, kernel: Path) -> list[str]:
        drive = f"file={str(self.disk).replace(',', ',,')},format=raw,if=virtio,cache=unsafe"
        return [
            *("-M", "q35", "-cpu", "max", "-accel", "tcg", "-smp", "1", "-icount", "shift=0"),
            *("-m", str(MEMORY_MB), "-display", "none", "-vga", "none", "-nodefaults"),
            *("-no-reboot", "-serial", "stdio", "-drive", drive, "-append", BOOT_WORDS),
            *("-kernel", str(kernel / "vmlinuz"), "-initrd", str(kernel / "initrd.img")),
            *qemu.share(0, self.share, "share", writable=True),
        ]


class _Shown:
    """The guest's lines, printed as they come: a suite that is silent is stopped."""

    def __init__(self, name: str, path: Path) -> None:
        self.name, self.path, self.lines, self.text = name, path, 0, ""

    def print(self) -> int:
        """Print what is new; how many lines there are."""
        self.text = _text(self.path)
        lines = self.text.splitlines()
        for line in lines[self.lines :]:
            print(f"{self.name}: {line}", flush=True)
        self.lines = len(lines)
        return self.lines


def _text(path: Path) -> str:
    return path.read_text(errors="replace") if path.exists() else ""
