# SPDX-License-Identifier: GPL-2.0-only
"""virtme-ng runs a self-test by the commands of self-tests.md, to the letter.

`vng` is here a script that adds what the page says for a machine without KVM.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from apbed.checkout import REPOSITORY
from apbed.kernels import make, qemu
from apbed.kernels.distro import DistroKernel

PAGE = REPOSITORY / "Documentation" / "reference" / "self-tests.md"
COMMANDS = re.compile(r"^    make stock\n    vng --run .*\n(?:    .*\n)*", re.MULTILINE)
WITHOUT_KVM = re.compile(r"`(--disable-kvm [^`]*)`")
PACKAGE = "virtme-ng==1.42"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# What vng needs of udev, on a machine without it.
UDEVD = """\
mkdir -p /dev/virtio-ports
for port in /sys/class/virtio-ports/*; do
	ln -s "../${port##*/}" "/dev/virtio-ports/$(cat "$port/name")"
done
"""


def program(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def virtme_ng(root: Path) -> str:
    """The machine's own vng, or one installed below `root`; skips where it cannot be had."""
    if found := shutil.which("vng"):
        return found
    subprocess.run([sys.executable, "-m", "venv", root], check=True)
    pip = [str(root / "bin/pip"), "install", "-q", PACKAGE]
    done = subprocess.run(pip, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no virtme-ng, and pip cannot install it: {done.stderr.strip()[-200:]}")
    return str(root / "bin/vng")


@pytest.fixture
def environment(stock_kernel: DistroKernel, tmp_path: Path) -> dict[str, str]:
    """Where the page's commands find vng, and vng what it needs."""
    host, guest = tmp_path / "host", tmp_path / "guest"
    if not shutil.which("udevadm"):
        program(guest / "udevd", UDEVD)
        program(guest / "udevadm", "")
    (options,) = WITHOUT_KVM.findall(PAGE.read_text())
    vng = virtme_ng(tmp_path / "virtme-ng")
    program(host / "vng", f'exec {vng} {options} --append PATH={guest}:{PATH} "$@"')
    emulator = qemu.find()
    if emulator.root:
        libraries = emulator.environment()["LD_LIBRARY_PATH"]
        words = shlex.join(["env", f"LD_LIBRARY_PATH={libraries}", *emulator.words()])
        program(host / qemu.PROGRAM, f'exec {words} "$@"')
    (host / "busybox").symlink_to(stock_kernel.packages / "bin/busybox")
    # Last, because a virtual environment has a python3 too.
    return {**os.environ, "PATH": f"{host}:{PATH}:{Path(vng).parent}"}


def test_the_commands_of_the_page(environment: dict[str, str], tmp_path: Path) -> None:
    if Path("/var/tmp") in REPOSITORY.parents:
        pytest.skip("the guest of vng has an empty /var/tmp: run this from a checkout elsewhere")
    (commands,) = COMMANDS.findall(PAGE.read_text())
    log = tmp_path / "log"
    make.run(["sh", "-ec", commands], log, REPOSITORY, environment)
    for result in ("ok 1 qdisc/ack_queue.py", "ok 2 the modules are unloaded"):
        assert re.search(rf"^{result}\s*$", log.read_text(), re.MULTILINE)
