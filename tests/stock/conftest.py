# SPDX-License-Identifier: GPL-2.0-only
"""The stock kernel these tests boot, fetched and with our modules built for it."""

from __future__ import annotations

import platform
import shutil
import subprocess

import pytest

from apbed.checkout import REPOSITORY
from apbed.kernels import distro
from apbed.kernels.distro import DistroKernel


@pytest.fixture(scope="session")
def stock_kernel() -> DistroKernel:
    """The distribution's own; tests are skipped where it offers none for x86-64."""
    if platform.machine() != "x86_64":
        pytest.skip("it boots an x86-64 kernel")
    if not shutil.which("apt-cache"):
        pytest.skip("no apt, no distribution's kernel")
    search = ["apt-cache", "search", "--names-only", "^linux-image-amd64$"]
    if not subprocess.run(search, capture_output=True, text=True, check=False).stdout:
        pytest.skip("no package linux-image-amd64")
    subprocess.run(["make", "stock"], cwd=REPOSITORY, check=True, stdout=subprocess.DEVNULL)
    return distro.find()
