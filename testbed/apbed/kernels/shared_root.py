# SPDX-License-Identifier: GPL-2.0-only
"""Boots a kernel in an emulated machine with the host's file system as its root, read-only, by 9p.

For one command at a time, whose output is what counts. How long the host takes for a file is
the guest's idle time, so a run that must repeat has its files in memory instead (ram_disk.py).
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

from apbed.errors import ApbedError
from apbed.kernels import qemu
from apbed.kernels.distro import DistroKernel
from apbed.processes import IDLE_S, LOOK_S, ProcessorTime, signals_as_interrupt, stop_group

MEMORY_MB = 1024
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


def boot(kernel: DistroKernel, command: Sequence[str], cpus: int, limit_s: float) -> int:
    """Run a command as root in the guest, its output to ours; the command's exit status."""
    with signals_as_interrupt(), tempfile.TemporaryDirectory(prefix="apbed-distro-") as scratch:
        initrd = _initrd(kernel, command, Path(scratch))
        emulator = qemu.find()
        words = [*emulator.words(), *_command_line(kernel, initrd, cpus)]
        process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
            env=emulator.environment(),
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
    return [
        *qemu.machine(cpus, MEMORY_MB),
        *(("-rtc", "clock=vm") if cpus == 1 else ()),
        *("-serial", "stdio", "-kernel", str(kernel.bootable)),
        *("-initrd", str(initrd), "-append", BOOT_WORDS),
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
