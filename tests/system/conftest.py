# SPDX-License-Identifier: GPL-2.0-only
"""What every case needs: the packages, newly built, and what makes and boots a system."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from apbed.checkout import BUILD, REPOSITORY
from apbed.kernels import distro
from tests.stock import availability

DEBS = BUILD / "deb"
NEEDED = ("dh_dkms", "dpkg-buildpackage", "dpkg-scanpackages")


@pytest.fixture(scope="session")
def tools() -> list[Path]:
    """The laboratory's medium and traffic, newly built. QEMU is there, and what makes disks."""
    if reason := availability.why_not():
        pytest.skip(reason)
    if os.geteuid():
        pytest.skip("only root may make a root file system")
    if lacking := [name for name in NEEDED if not shutil.which(name)]:
        pytest.skip(f"this machine has no {', '.join(lacking)}")
    distro.fetch()  # QEMU
    make("tools", "medium")
    return [BUILD / "bin" / name for name in ("dcfmedium", "flowgen")]


@pytest.fixture(scope="session")
def packages(tools: list[Path]) -> list[Path]:
    """The packages, newly built."""
    assert tools
    make("deb")
    return [*DEBS.glob("lasack-dkms_*.deb"), *DEBS.glob("lasack-tools_*.deb")]


def make(*targets: str) -> None:
    """Make what has changed since it was made."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")}
    command = ["make", "-C", str(REPOSITORY), *targets]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
