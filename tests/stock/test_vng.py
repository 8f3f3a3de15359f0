# SPDX-License-Identifier: GPL-2.0-only
"""The command of Documentation/reference/self-tests.md that runs selftests/ by virtme-ng.

virtme-ng is the machine's own, or Debian's package, unpacked. So are QEMU and busybox. KVM is
not used, and time is virtual, so that a busy host changes no result.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from apbed.checkout import REPOSITORY
from apbed.errors import ApbedError
from apbed.kernels import cache, qemu
from apbed.kernels.distro import DistroKernel
from apbed.kernels.packages import Apt, private_apt
from apbed.processes import stop_group

PAGE = REPOSITORY / "Documentation" / "reference" / "self-tests.md"
PACKAGES = (
    *("virtme-ng", "python3-requests", "python3-urllib3", "python3-idna"),
    *("python3-certifi", "python3-chardet", "python3-charset-normalizer"),
)
SUITE = "trixie"  # the first that has it
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# What self-tests.md says for a machine without KVM.
WITHOUT_KVM = "--disable-kvm --cpus 1 -o=-icount -o=shift=0,sleep=off"
# virtme-ng waits for the links that udev makes. This does for a machine that has no udev.
UDEVD = """\
#!/bin/sh
mkdir -p /dev/virtio-ports
for port in /sys/class/virtio-ports/*; do
	ln -s "../${port##*/}" "/dev/virtio-ports/$(cat "$port/name")"
done
"""
AUTOLOAD = 10  # results of autoload.sh
IDLE_S = 3600.0  # that the machine hangs


def program(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


@pytest.fixture
def environment(stock_kernel: DistroKernel, tmp_path: Path) -> dict[str, str]:
    """One in which `vng` is found, and what it needs; skips where it cannot be had."""
    found = tmp_path / "bin"
    found.mkdir()
    paths, modules = [str(found)], ""
    if not shutil.which("vng"):
        root = tmp_path / "vng"
        try:
            own = Apt("this system")
            apt = own if own.candidate("virtme-ng") else private_apt(SUITE)
            apt.unpack(PACKAGES, root)
        except ApbedError as error:
            pytest.skip(f"no virtme-ng here: {error}")
        paths.append(str(root / "usr/bin"))
        modules = str(root / "usr/lib/python3/dist-packages")
    emulator = qemu.find()
    if emulator.root:
        libraries = emulator.environment()["LD_LIBRARY_PATH"]
        words = shlex.join(["env", f"LD_LIBRARY_PATH={libraries}", *emulator.words()])
        program(found / qemu.PROGRAM, f'#!/bin/sh\nexec {words} "$@"\n')
    (found / "busybox").symlink_to(stock_kernel.packages / "bin/busybox")
    # In a folder of its own: the guest must not take the emulator's programs for its own.
    (tmp_path / "guest").mkdir()
    program(tmp_path / "guest" / "udevd", UDEVD)
    program(tmp_path / "guest" / "udevadm", "#!/bin/sh\n")
    return {**os.environ, "PATH": ":".join([*paths, PATH]), "PYTHONPATH": modules}


def linked(kernel: DistroKernel, root: Path) -> Path:
    """The image, in a tree of links: depmod writes beside the modules, and the cache is shared."""
    modules = root / "lib/modules" / kernel.release
    modules.mkdir(parents=True)
    for entry in kernel.modules.parent.iterdir():
        (modules / entry.name).symlink_to(entry)
    image = root / "boot" / kernel.bootable.name
    image.parent.mkdir()
    image.symlink_to(kernel.bootable)
    return image


def test_the_command_of_the_page(
    stock_kernel: DistroKernel, environment: dict[str, str], tmp_path: Path
) -> None:
    """The modules are installed in the guest, kselftest runs a test, and its results come back."""
    page = " ".join(PAGE.read_text().split())
    assert WITHOUT_KVM in page
    inside = (
        f"make -s install KDIR={stock_kernel.build_dir} ARCH=x86_64 && "
        f"make -s -C selftests KSELFTEST={cache.selftests()} "
        "TARGETS=qdisc TEST_PROGS=autoload.sh run_tests"
    )
    words = ["vng", "--run", str(linked(stock_kernel, tmp_path / "kernel"))]
    words += [*WITHOUT_KVM.split(), "--append", f"PATH={tmp_path}/guest:{PATH}", "--", inside]
    process = subprocess.Popen(
        words,
        cwd=REPOSITORY,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        said, _ = process.communicate(timeout=IDLE_S)
    finally:
        stop_group(process)
    print(said)
    assert process.returncode == 0
    assert len(re.findall(r"^# ok \d+ ", said, re.MULTILINE)) == AUTOLOAD
    assert "SKIP" not in said
    assert re.search(r"^ok 1 selftests: .*autoload.sh$", said, re.MULTILINE)
