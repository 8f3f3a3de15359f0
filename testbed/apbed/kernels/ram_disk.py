# SPDX-License-Identifier: GPL-2.0-only
"""Boots a stock kernel whose whole root is in memory, for runs that must repeat.

Principle: the emulator's clock counts instructions and skips what is idle, so a guest that
waits for the host's disk sees as much time pass as the host happens to take. Here it waits for
nothing: programs, libraries, Python's modules and kernel modules are copied into its RAM disk
(Documentation/driver-api/early-userspace/buffer-format.rst of the kernel) before it starts, and
results leave by 9p when all is over. Random numbers follow from the seed. Even reading another
digit in the archive takes another time, so equal guests have equal archives: no file has a date,
and where the checkout and the results are on the host is not seen in the guest.
"""

from __future__ import annotations

import functools
import os
import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from apbed.checkout import GUEST, REPOSITORY
from apbed.errors import ApbedError
from apbed.kernels import qemu
from apbed.kernels.distro import DistroKernel, module_bytes
from apbed.kernels.watchdog import INTERRUPTED, Boot, Watchdog, watch
from apbed.processes import ProcessorTime, Waited, guarded_folder, stop_group

MEMORY_MB = 1024
# Of the guest's scripts, and what a kernel starts itself.
PROGRAMS = (
    *("sh", "mount", "umount", "mkdir", "rm", "ln", "cp", "cat", "cut", "dmesg", "sleep", "sync"),
    *("insmod", "modprobe", "ip", "tc", "iw", "ethtool", "sysctl", "hostapd", "wpa_supplicant"),
)
PYTHON = Path("/usr/bin/python3")
# -I -S: neither the host's environment nor its installed packages have a say. -B: nothing is
# written beside the scripts. The guest may not, and each attempt took a microsecond of its time,
# so a checkout without __pycache__ gave other digests than one with it.
GUEST_PYTHON = (str(PYTHON), "-I", "-S", "-B")
REGULATORY = (Path("/lib/firmware/regulatory.db"), Path("/lib/firmware/regulatory.db.p7s"))
INIT = (GUEST / "ram_init.sh", GUEST / "session.sh")
# Of the kernel's own: to build a cell, to let out its results; of a pattern all, for tc to find.
MODULES = ("veth", "virtio_pci", "9pnet_virtio", "9p")
CIPHERS = ("ccm", "ctr", "aes_generic")  # of CCMP, where the kernel has them apart
MODULE_PATTERN = re.compile(r"sch_|tcp_(?!diag|probe)")
FROM_DEPMOD = ("modules.order", "modules.builtin", "modules.builtin.modinfo")
BOOT_WORDS = (
    "console=ttyS0 quiet loglevel=1 panic=-1 no_timer_check nokaslr random.trust_cpu=on"
    " sysctl.vm.panic_on_oom=1"
)
CHECKOUT, OUT = Path("/lab"), Path("/out")  # the host's REPOSITORY and a run's directory, inside
RTC_BASE = "2026-01-01T00:00:00"  # as the lab's guests


@dataclass(frozen=True)
class RamGuest:
    """One command to run as root in a stock kernel, on one processor in virtual time.

    With more processors it runs in real time, and nothing repeats.
    `script` is run in OUT by the host's Python with `words`, without site packages. The guest has
    `files` where inside() says, and what the script imports. What is left in OUT comes back to
    `out`, whose plain files the guest gets. `progress` and `console.log` are written meanwhile.
    """

    kernel: DistroKernel
    script: Path
    words: Sequence[str]
    files: Sequence[Path]
    modules: Sequence[str]  # of the kernel's own, beside those that every guest has
    out: Path
    seed: int
    memory_mb: int = MEMORY_MB
    installed: Sequence[Path] = ()  # modules of ours, where modprobe finds them
    cpus: int = 1
    kvm: bool = False


def boot(guest: RamGuest, watchdog: Watchdog) -> Boot:
    """Run the script to its end, or until the watchdog ends the machine.

    `out` gets exit-status, virtual-seconds, dmesg.log and console.log. ApbedError if something
    is missing that the guest needs.
    """
    emulator = qemu.find()
    for stale in ("exit-status", "virtual-seconds", "dmesg.log", "console.log", "progress"):
        (guest.out / stale).unlink(missing_ok=True)
    started = time.monotonic()
    with guarded_folder("apbed-ram-") as scratch:
        archive = pack(guest, scratch)
        console, said = guest.out / "console.log", scratch / "qemu.log"
        console.touch()
        with said.open("wb") as log:
            process = subprocess.Popen(
                [*emulator.words(), *command_line(guest, archive)],
                cwd=scratch,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env=emulator.environment(),
            )
            waited, work = Waited(process.pid), ProcessorTime(process.pid)
            progress = watchdog.progress or (lambda: console.stat().st_size)

            def look() -> object:
                waited.look()
                return progress()

            try:
                stopped = watch(process, replace(watchdog, progress=look), look, work)
            finally:
                stop_group(process)
        outcome = _outcome(guest, stopped, said, time.monotonic() - started)
        return replace(outcome, waited_s=waited.waited_s(), processor_s=work.seen_s)


def command_line(guest: RamGuest, archive: Path) -> list[str]:
    """The machine: its console and its progress are two serial lines, each into a file."""
    out = guest.out.resolve()  # QEMU works in a folder of its own
    words = " ".join([BOOT_WORDS, *qemu.boot_words(guest.cpus)])
    return [
        *qemu.machine(guest.cpus, guest.memory_mb, kvm=guest.kvm),
        *("-rtc", f"base={RTC_BASE},clock=vm", "-seed", str(guest.seed)),
        *("-serial", f"file:{out / 'console.log'}"),
        *("-serial", f"file:{out / 'progress'}"),
        *("-kernel", str(guest.kernel.bootable), "-initrd", str(archive), "-append", words),
        *qemu.share(0, out, "out", writable=True),
    ]


def _outcome(guest: RamGuest, stopped: str | None, said: Path, wall_s: float) -> Boot:
    try:
        status = int((guest.out / "exit-status").read_text())
        virtual_s = float((guest.out / "virtual-seconds").read_text())
    except (OSError, ValueError):
        pass
    else:
        return Boot(status, None, wall_s, virtual_s)
    if stopped == INTERRUPTED:
        return Boot(None, INTERRUPTED, wall_s, None)
    console = _text(guest.out / "console.log")
    why = qemu.why_ended(console, _text(said), stopped, guest.memory_mb)
    return Boot(None, why, wall_s, None)


def _text(path: Path) -> str:
    return path.read_text(errors="replace") if path.exists() else ""


def pack(guest: RamGuest, scratch: Path) -> Path:
    """The RAM disk of a guest, as one archive."""
    root = scratch / "root"
    root.mkdir()
    for name in ("bin", "sbin", "lib", "lib64"):
        if (link := Path("/", name)).is_symlink():  # a merged /usr: a path may name either
            (root / name).symlink_to(link.readlink())
            (root / link.readlink()).mkdir(parents=True, exist_ok=True)
    programs = [*map(program, PROGRAMS), PYTHON, *imported(guest.script)]
    files = [*programs, *guest.files, *REGULATORY, *INIT]
    for path in {*files, *libraries([*programs, *guest.files])}:
        add(path, root, inside(path))
    for place in (OUT, *map(Path, ("/proc", "/sys", "/dev", "/run", "/mnt", "/tmp"))):
        (root / place.relative_to("/")).mkdir(exist_ok=True)
    for path in (entry for entry in guest.out.iterdir() if entry.is_file()):
        add(path, root, OUT / path.name)
    _add_modules(root, guest)
    _compile(root)
    words = [*GUEST_PYTHON, str(inside(guest.script)), *guest.words]
    first = shlex.join(["/bin/sh", str(inside(INIT[0])), str(OUT), *words])
    (root / "init").write_text(f"#!/bin/sh\nexec {first}\n")
    (root / "init").chmod(0o755)
    return archive(root, scratch / "ram-disk")


def inside(path: Path) -> Path:
    """Where a guest has a file of the host."""
    if path.is_relative_to(REPOSITORY):
        return CHECKOUT / path.relative_to(REPOSITORY)
    # The folder without links: /lib/x and /usr/lib/x may be one file.
    return path.parent.resolve() / path.name


def program(name: str) -> Path:
    """Where the host has a program; ApbedError if it has none."""
    found = shutil.which(name, path="/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
    if not found:
        raise ApbedError(f"no {name} here; run `make setup`")
    return Path(found)


def add(path: Path, root: Path, there: Path) -> None:
    """Copy a host's file below `root`; a link as the file it leads to."""
    if not path.exists():
        raise ApbedError(f"{path} is missing; run `make setup` and `make all`")
    copy = root / there.relative_to("/")
    copy.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(path, copy)


@functools.cache
def imported(script: Path) -> tuple[Path, ...]:
    """The files of all Python modules that a script imports as it starts, and the script."""
    listing = (
        "import runpy, sys\n"
        f"runpy.run_path({str(script)!r}, run_name='listed')\n"
        "for module in list(sys.modules.values()):\n"
        "    print(getattr(module, '__file__', None) or '')\n"
    )
    done = subprocess.run(
        [str(PYTHON), "-I", "-S", "-c", listing], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise ApbedError(f"{script} cannot be loaded: {done.stderr.strip().splitlines()[-1]}")
    found = {Path(line) for line in done.stdout.splitlines() if line.startswith("/")}
    return (script, *sorted(path for path in found if path.exists()))


def libraries(files: Iterable[Path]) -> list[Path]:
    """The shared libraries that these programs and libraries need, by ldd."""
    binaries = [str(path) for path in files if _is_elf(path)]
    listed = subprocess.run(["ldd", *binaries], capture_output=True, text=True, check=False).stdout
    if missing := re.search(r"^\s*(\S+) => not found", listed, re.MULTILINE):
        raise ApbedError(f"the library {missing[1]} is missing; run `make setup`")
    return sorted({Path(path) for path in re.findall(r"(?<=\s)(/\S+) \(0x", listed)})


def _is_elf(path: Path) -> bool:
    """A program or library, not a kernel module."""
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF" and path.suffix != ".ko"


def _add_modules(root: Path, guest: RamGuest) -> None:
    """The kernel's own modules with what they need, and modprobe's tables of them."""
    kernel = guest.kernel
    there = kernel.module_files()
    names = [name for name in there if name in CIPHERS or MODULE_PATTERN.match(name)]
    for path in kernel.with_dependencies([*MODULES, *guest.modules, *names]).values():
        copy = root / module_path(kernel, path).relative_to("/")
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(module_bytes(path))
    extra = root / "lib/modules" / kernel.release / "extra"
    extra.mkdir()
    for path in guest.installed:
        shutil.copy(path, extra)
    for name in FROM_DEPMOD:
        if (table := kernel.modules.parent / name).exists():
            shutil.copy(table, root / "lib/modules" / kernel.release)
    subprocess.run(["/sbin/depmod", "-b", str(root), kernel.release], check=True)


def module_path(kernel: DistroKernel, module: Path) -> Path:
    """Where a guest has one of its kernel's own modules, uncompressed."""
    there = module.relative_to(kernel.modules)
    name = there.name.partition(".")[0]
    return Path("/lib/modules", kernel.release, "kernel", there.parent, f"{name}.ko")


def _compile(root: Path) -> None:
    """Compile Python's modules here, once, for whatever dates their files have."""
    words = ["-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash"]
    words += ["-s", str(root), "-p", "/", str(root)]
    subprocess.run([str(PYTHON), "-I", *words], check=True)


def archive(root: Path, path: Path) -> Path:
    """All below `root` in one file, whose bytes depend on names, modes and contents alone."""
    for entry in [root, *root.rglob("*")]:
        os.utime(entry, (0, 0), follow_symlinks=False)
    names = "\n".join(str(entry.relative_to(root)) for entry in sorted(root.rglob("*")))
    words = ["cpio", "-o", "-H", "newc", "--quiet", "--reproducible"]
    with path.open("wb") as sink:
        subprocess.run(words, cwd=root, input=names.encode(), stdout=sink, check=True)
    return path
