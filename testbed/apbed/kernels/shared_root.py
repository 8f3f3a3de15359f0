# SPDX-License-Identifier: GPL-2.0-only
"""Boots a kernel in an emulated machine whose root is the host's file system, by 9p.

For one command at a time, whose output is what counts. What the guest writes stays in its
memory (overlayfs), and it finds its kernel's modules and ours where modprobe looks, so that
`tc` and `ip` load what they need as on any machine. How long the host takes for a file is the
guest's idle time, so a run that must repeat has its files in memory instead (ram_disk.py).
"""

from __future__ import annotations

import contextlib
import re
import shlex
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from apbed.checkout import BUILD
from apbed.errors import ApbedError
from apbed.kernels import qemu
from apbed.kernels.distro import DistroKernel, module_bytes
from apbed.processes import IDLE_S, LOOK_S, ProcessorTime, signals_as_interrupt, stop_group

MEMORY_MB = 1024
# For a root by 9p over virtio, and for what is written to it.
ROOT_MODULES = ("virtio_pci", "9pnet_virtio", "9p", "overlay")
TABLES = ("modules.order", "modules.builtin", "modules.builtin.modinfo")  # for depmod
STATUS = "apbed-distro-status"
# A busy host lets an emulated timer look broken (Documentation/admin-guide/kernel-parameters.txt).
BOOT_WORDS = "console=ttyS0 quiet loglevel=1 panic=-1 no_timer_check"

INIT = """\
#!/bin/busybox sh
for module in /load/*; do [ ! -e "$module" ] || /bin/busybox insmod "$module"; done
at=/host
/bin/busybox mount -t 9p -o trans=virtio,version=9p2000.L,ro,msize=262144,cache=loose host $at
# A kernel built for a test has no overlayfs; its root stays read-only.
/bin/busybox mount -t tmpfs none /written
/bin/busybox mkdir /written/upper /written/work
if /bin/busybox mount -t overlay -o {overlay} none /root 2> /dev/null; then
	at=/root
	/bin/busybox mkdir -p $at/lib/modules
	/bin/busybox cp -a /tables/. $at/lib/modules
fi
/bin/busybox mount -t devtmpfs none $at/dev
exec > $at/dev/ttyS0 2>&1 < $at/dev/null
/bin/busybox mount -t proc none $at/proc
/bin/busybox mount -t sysfs none $at/sys
/bin/busybox mount -t tmpfs none $at/run
for place in debug:debugfs tracing:tracefs security:securityfs; do
	there=$at/sys/kernel/${{place%:*}}
	[ ! -d "$there" ] || /bin/busybox mount -t "${{place#*:}}" none "$there"
done
/bin/busybox mkdir -p $at/run/tmp $at/run/netns
/bin/busybox ln -s /proc/self/fd $at/dev/fd
/bin/busybox ln -s fd/1 $at/dev/stdout
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export HOME=/run TMPDIR=/run/tmp LANG=C.UTF-8
# The first process itself: programs that the kernel starts, as modprobe, have its root.
exec /bin/busybox chroot $at /bin/sh -c {command}
"""
OVERLAY = "lowerdir=/host,upperdir=/written/upper,workdir=/written/work"


def boot(kernel: DistroKernel, command: Sequence[str], cpus: int, limit_s: float) -> int:
    """Run a command as root in the guest, its output to ours; the command's exit status."""
    with signals_as_interrupt(), started(kernel, command, cpus) as process:
        return _follow(process, limit_s)


@contextlib.contextmanager
def started(
    kernel: DistroKernel,
    command: Sequence[str],
    cpus: int,
    devices: Sequence[str] = (),
    *,
    inherited: Sequence[int] = (),
    console: int | IO[str] = subprocess.PIPE,
) -> Iterator[subprocess.Popen[str]]:
    """A machine in which a command runs as root; it is ended when the block is left.

    `devices`: more words for QEMU, which may name the file descriptors `inherited`.
    """
    with tempfile.TemporaryDirectory(prefix="apbed-distro-") as scratch:
        initrd = _initrd(kernel, command, Path(scratch))
        emulator = qemu.find()
        process = subprocess.Popen(
            [*emulator.words(), *_command_line(kernel, initrd, cpus), *devices],
            stdin=subprocess.DEVNULL,
            stdout=console,
            text=True,
            errors="replace",
            start_new_session=True,
            env=emulator.environment(),
            pass_fds=inherited,
        )
        try:
            yield process
        finally:
            stop_group(process)


def _initrd(kernel: DistroKernel, command: Sequence[str], scratch: Path) -> Path:
    """An archive with what mounts the root and runs the command."""
    root = scratch / "root"
    for part in ("bin", "load", "tables", "host", "root", "written"):
        (root / part).mkdir(parents=True)
    shutil.copy(kernel.packages / "bin/busybox", root / "bin")
    if not kernel.image:
        needed = kernel.with_dependencies(ROOT_MODULES).values()
        for number, module in enumerate(needed):
            (root / "load" / f"{number:02}.ko").write_bytes(module_bytes(module))
        _module_tables(kernel, root / "tables")
    lines = [
        f"(cd {shlex.quote(str(Path.cwd()))} && {shlex.join(command)})",
        f'echo "{STATUS} $?"',
        "echo o > /proc/sysrq-trigger",
        "sleep 1000",
    ]
    init = root / "init"
    init.write_text(INIT.format(overlay=OVERLAY, command=shlex.quote("\n".join(lines))))
    init.chmod(0o755)
    names = "\n".join(str(path.relative_to(root)) for path in sorted(root.rglob("*")))
    pack = ["cpio", "-o", "-H", "newc", "--quiet"]
    done = subprocess.run(pack, cwd=root, input=names.encode(), stdout=subprocess.PIPE, check=True)
    initrd = scratch / "initrd"
    initrd.write_bytes(done.stdout)
    return initrd


def _module_tables(kernel: DistroKernel, tables: Path) -> None:
    """What the guest has in /lib/modules: links to the kernel's modules and to ours, if built."""
    with tempfile.TemporaryDirectory(prefix="apbed-modules-") as name:
        release = Path(name, "lib/modules", kernel.release)
        release.mkdir(parents=True)
        (release / "kernel").symlink_to(kernel.modules)
        ours = BUILD / "modules" / f"{kernel.release}-x86_64"
        if ours.is_dir():
            (release / "extra").symlink_to(ours)
        for table in TABLES:
            if (known := kernel.modules.parent / table).exists():
                shutil.copy(known, release)
        subprocess.run(["/sbin/depmod", "-b", name, kernel.release], check=True)
        shutil.copytree(release, tables / kernel.release, symlinks=True)


def _command_line(kernel: DistroKernel, initrd: Path, cpus: int) -> list[str]:
    words = " ".join([BOOT_WORDS, *qemu.boot_words(cpus)])
    return [
        *qemu.machine(cpus, MEMORY_MB),
        *(("-rtc", "clock=vm") if cpus == 1 else ()),
        *("-serial", "stdio", "-kernel", str(kernel.bootable)),
        *("-initrd", str(initrd), "-append", words),
        *qemu.share(0, Path("/"), "host", writable=False),
    ]


def _follow(process: subprocess.Popen[str], limit_s: float) -> int:
    """Pass the console on until the command has ended; its exit status."""
    assert process.stdout
    status = None
    done = threading.Event()
    threading.Thread(target=_watch, args=(process, limit_s, done), daemon=True).start()
    try:
        for line in process.stdout:
            # A message of the kernel may follow on the same line.
            if found := re.match(rf"{STATUS}\s*(\d+)", line):
                status = int(found[1])
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
