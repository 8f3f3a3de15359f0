# SPDX-License-Identifier: GPL-2.0-only
"""The Debian packages, built once for all tests that install them."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
DEBS = REPOSITORY / "build" / "deb"
NEEDED = ("dh_dkms", "dkms", "lintian", "unshare")


@pytest.fixture(scope="session")
def packages() -> Path:
    """The folder with the packages, newly built."""
    if lacking := [name for name in NEEDED if not shutil.which(name)]:
        pytest.skip(f"this machine has no {', '.join(lacking)}")
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")}
    command = ["make", "-C", str(REPOSITORY), "deb"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return DEBS
