# SPDX-License-Identifier: GPL-2.0-only
"""The distribution's own kernel, unpatched, in an emulated machine.

Principle: what must run on a kernel nobody has built for it is tried on one, with nothing
installed: image, headers and QEMU are packages unpacked into the cache. The machine's file
system is the guest's root, read-only, by 9p. On one processor QEMU counts instructions for a
clock (docs/devel/tcg-icount.rst of QEMU): an instruction takes a nanosecond and nothing else
takes time, so a busy host changes no result. KVM is not used.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from apbed.errors import ApbedError
from apbed.kernels.cache import locked, whole
from apbed.kernels.packages import Apt, cache_root
from apbed.processes import IDLE_S, LOOK_S, ProcessorTime, signals_as_interrupt, stop_group

MEMORY_MB = 1024
LIBRARIES = ("usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu")
FIRMWARE = ("usr/share/qemu", "usr/share/seabios", "usr/lib/ipxe/qemu")
# For a root by 9p over virtio, in the order they are needed.
ROOT_MODULES = (
    *("drivers/virtio/virtio_ring", "drivers/virtio/virtio"),
    *("drivers/virtio/virtio_pci_legacy_dev", "drivers/virtio/virtio_pci_modern_dev"),
    *("drivers/virtio/virtio_pci", "fs/netfs/netfs", "fs/fscache/fscache"),
    *("net/9p/9pnet", "net/9p/9pnet_virtio", "fs/9p/9p"),
)
STATUS = "apbed-distro-status"
# A busy host lets an emulated timer look broken (Documentation/admin-guide/kernel-parameters.txt).
BOOT_WORDS = "console=ttyS0 quiet loglevel=1 panic=-1 no_timer_check"

INIT = """\
#!/bin/busybox sh
for module in /modules/*; do [ ! -e "$module" ] || /bin/busybox insmod "$module"; done
at=/host
/bin/busybox mount -t 9p -o trans=virtio,version=9p2000.L,ro,msize=262144,cache=loose host $at
/bin/busybox mount -t devtmpfs none $at/dev
exec > $at/dev/ttyS0 2>&1 < $at/dev/null
/bin/busybox mount -t proc none $at/proc
/bin/busybox mount -t sysfs none $at/sys
/bin/busybox mount -t tmpfs none $at/run
[ ! -d $at/sys/kernel/tracing ] || /bin/busybox mount -t tracefs none $at/sys/kernel/tracing
[ ! -d $at/sys/kernel/security ] || /bin/busybox mount -t securityfs none $at/sys/kernel/security
/bin/busybox mkdir -p $at/run/tmp $at/run/netns
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export HOME=/run TMPDIR=/run/tmp LANG=C.UTF-8 DISTRO_MODULES={modules}
/bin/busybox chroot $at /bin/sh -c {command}
echo "{status} $?"
echo o > $at/proc/sysrq-trigger
/bin/busybox sleep 1000
"""


@dataclass(frozen=True)
class DistroKernel:
    """The unpacked packages: a kernel, its headers, an emulator."""

    release: str  # uname -r
    packages: Path  # image, headers and busybox, unpacked
    emulator: Path  # QEMU, unpacked; empty if the machine has its own
    image: Path | None = None  # another kernel, one that needs no module to mount its root

    @property
    def build_dir(self) -> Path:
        """A tree to build external modules in."""
        return self.packages / "usr/src" / f"linux-headers-{self.release}"

    @property
    def modules(self) -> Path:
        """The kernel's own modules."""
        return self.packages / "lib/modules" / self.release / "kernel"


def find() -> DistroKernel:
    """What fetch() has made; ApbedError with the command that makes it if there is none."""
    for packages in sorted((cache_root() / "distro").glob("*/packages"), reverse=True):
        kernel = DistroKernel(packages.parent.name, packages, packages.parent / "emulator")
        if kernel.build_dir.is_dir() and _qemu(kernel):
            return kernel
    raise ApbedError("no distribution kernel with an emulator yet; run `apbed distro fetch`")


def fetch() -> DistroKernel:
    """Download and unpack the distribution's kernel and, if need be, QEMU."""
    with locked("packages"):
        apt = Apt("this system")
        release = _depends(apt, "linux-image-amd64", r"linux-image-(\S+)")[0]
        final = cache_root() / "distro" / release
        if not final.exists():
            final.parent.mkdir(parents=True, exist_ok=True)
            with whole(final) as directory:
                headers = f"linux-headers-{release}"
                needed = _depends(apt, headers, r"(linux-(?:headers|kbuild|compiler)-\S+)")
                names = [f"linux-image-{release}", headers, *needed, "busybox-static"]
                _unpack(apt, names, directory / "packages")
                _relocate(directory / "packages/usr/src", final / "packages/usr/src", release)
                _unpack(apt, _missing_qemu(apt), directory / "emulator")
    return find()


def _depends(apt: Apt, package: str, pattern: str) -> list[str]:
    """The dependencies of a package whose whole name matches; the pattern's group of each."""
    lines = apt.run("apt-cache", "depends", package)
    found = re.findall(rf"^ *Depends: {pattern}$", lines, re.MULTILINE)
    if not found:
        raise ApbedError(f"apt does not know what {package} depends on; run `apt-get update`")
    return found


def _missing_qemu(apt: Apt) -> list[str]:
    """QEMU and the libraries the machine lacks; nothing if it has QEMU."""
    if shutil.which("qemu-system-x86_64"):
        return []
    plan = apt.run("apt-get", "install", "-s", "--no-install-recommends", "qemu-system-x86")
    return re.findall(r"^Inst (\S+)", plan, re.MULTILINE)


def _unpack(apt: Apt, names: Sequence[str], root: Path) -> None:
    root.mkdir()
    with tempfile.TemporaryDirectory(prefix="packages-", dir=root.parent) as store:
        if names:  # root's apt would change user for it
            apt.run("apt-get", "-o", "APT::Sandbox::User=", "download", *names, cwd=Path(store))
        for archive in sorted(Path(store).glob("*.deb")):
            subprocess.run(["dpkg-deb", "-x", str(archive), str(root)], check=True)


def _relocate(here: Path, final: Path, release: str) -> None:
    """The headers name their other half by its installed path."""
    makefile = here / f"linux-headers-{release}" / "Makefile"
    makefile.write_text(makefile.read_text().replace("/usr/src", str(final)))


def _qemu(kernel: DistroKernel) -> Path | None:
    own = kernel.emulator / "usr/bin/qemu-system-x86_64"
    system = shutil.which("qemu-system-x86_64")
    return own if own.exists() else Path(system) if system else None


def boot(kernel: DistroKernel, command: Sequence[str], cpus: int, limit_s: float) -> int:
    """Run a command as root in the guest, its output to ours; the command's exit status."""
    with signals_as_interrupt(), tempfile.TemporaryDirectory(prefix="apbed-distro-") as scratch:
        initrd = _initrd(kernel, command, Path(scratch))
        words = _command_line(kernel, initrd, cpus)
        libraries = ":".join(str(kernel.emulator / path) for path in LIBRARIES)
        process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
            env={**os.environ, "LD_LIBRARY_PATH": libraries},
        )
        try:
            return _follow(process, limit_s)
        finally:
            stop_group(process)


def _initrd(kernel: DistroKernel, command: Sequence[str], scratch: Path) -> Path:
    """An archive with what mounts the root and runs the command."""
    root = scratch / "root"
    for part in ("bin", "modules", "host"):
        (root / part).mkdir(parents=True)
    shutil.copy(kernel.packages / "bin/busybox", root / "bin")
    for number, name in enumerate(() if kernel.image else ROOT_MODULES):
        module = kernel.modules / f"{name}.ko"
        if not module.exists():
            raise ApbedError(f"the kernel has no {name}.ko: its root cannot be mounted")
        shutil.copy(module, root / "modules" / f"{number:02}.ko")
    there = f"cd {shlex.quote(str(Path.cwd()))} && {shlex.join(command)}"
    init = root / "init"
    modules = shlex.quote("" if kernel.image else str(kernel.modules))
    init.write_text(INIT.format(modules=modules, command=shlex.quote(there), status=STATUS))
    init.chmod(0o755)
    names = "\n".join(str(path.relative_to(root)) for path in sorted(root.rglob("*")))
    pack = ["cpio", "-o", "-H", "newc", "--quiet"]
    done = subprocess.run(pack, cwd=root, input=names.encode(), stdout=subprocess.PIPE, check=True)
    initrd = scratch / "initrd"
    initrd.write_bytes(done.stdout)
    return initrd


def _command_line(kernel: DistroKernel, initrd: Path, cpus: int) -> list[str]:
    """One processor: virtual time. More: they run at once, in the host's time."""
    firmware = [word for path in FIRMWARE for word in ("-L", str(kernel.emulator / path))]
    clock = ["-icount", "shift=0,sleep=off", "-rtc", "clock=vm"] if cpus == 1 else []
    share = "local,id=root,path=/,security_model=none,readonly=on,multidevs=remap"
    return [
        str(_qemu(kernel)),
        *(firmware if any(kernel.emulator.iterdir()) else []),
        *("-M", "q35", "-cpu", "max", "-accel", "tcg", "-smp", str(cpus), *clock),
        *("-m", str(MEMORY_MB), "-display", "none", "-vga", "none", "-nodefaults"),
        *("-no-reboot", "-serial", "stdio"),
        *("-kernel", str(kernel.image or kernel.packages / f"boot/vmlinuz-{kernel.release}")),
        *("-initrd", str(initrd), "-append", BOOT_WORDS),
        *("-fsdev", share, "-device", "virtio-9p-pci,fsdev=root,mount_tag=host"),
    ]


def _follow(process: subprocess.Popen[str], limit_s: float) -> int:
    """Pass the console on until the command has ended; its exit status."""
    assert process.stdout
    status = None
    done = threading.Event()
    threading.Thread(target=_watch, args=(process, limit_s, done), daemon=True).start()
    try:
        for line in process.stdout:
            if line.startswith(STATUS):
                status = int(line.split()[1])
            elif status is None:
                print(line.rstrip(), flush=True)
    finally:
        done.set()
    if status is None:
        raise ApbedError(
            f"the emulated machine ended without a result (limit {limit_s:.0f} processor seconds)"
        )
    return status


def _watch(process: subprocess.Popen[str], limit_s: float, done: threading.Event) -> None:
    """Stop the machine when it has used so many processor seconds, or long none."""
    work = ProcessorTime(process.pid)
    while not done.wait(LOOK_S):
        if work.used_s() > limit_s or work.idle_s() > IDLE_S:
            stop_group(process)
            return
