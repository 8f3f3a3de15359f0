# SPDX-License-Identifier: GPL-2.0-only
"""The stock kernel these tests boot, fetched and with our modules built for it."""

from __future__ import annotations

import subprocess

import pytest

from apbed.checkout import REPOSITORY
from apbed.kernels import distro
from apbed.kernels.distro import DistroKernel
from tests.stock import availability


@pytest.fixture(scope="session")
def stock_kernel() -> DistroKernel:
    """The distribution's own; tests are skipped where it offers none for x86-64."""
    if reason := availability.why_not():
        pytest.skip(reason)
    subprocess.run(["make", "stock"], cwd=REPOSITORY, check=True, stdout=subprocess.DEVNULL)
    return distro.find()
