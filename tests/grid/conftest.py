# SPDX-License-Identifier: GPL-2.0-only
"""sshd, wpa_supplicant and tcpdump for the nodes, and one boot with all cases of a test."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from apbed.checkout import REPOSITORY
from apbed.kernels import lab
from apbed.kernels.cache import LabKernel, whole
from apbed.kernels.packages import Apt, cache_root
from apbed.kernels.watchdog import Watchdog
from tests.grid import machines

PACKAGES = ("openssh-server", "wpasupplicant", "tcpdump")
Found = dict[str, dict[str, Any]]
Cases = Callable[..., Found]


@pytest.fixture(scope="session")
def programs() -> Path:
    """The packages unpacked below one root, not installed; skipped where there is no apt."""
    if not shutil.which("apt-get"):
        pytest.skip("no apt, no sshd for the nodes")
    final = cache_root() / "nodes"
    if not final.exists():
        final.parent.mkdir(parents=True, exist_ok=True)
        apt = Apt("this system")
        with whole(final) as directory:
            apt.unpack(apt.lacking(*PACKAGES), directory)
    return final


@pytest.fixture
def cases(lab_kernel: LabKernel, programs: Path, tmp_path: Path) -> Cases:
    """cases(SCENARIO, STATIONS, CASE...): what lead.py found in each, by its name."""

    def run(scenario: Path, stations: int, *names: str) -> Found:
        machines.keys(programs, tmp_path)
        words = [str(REPOSITORY / ".venv/bin/python"), str(REPOSITORY / "tests/grid/lead.py")]
        words += [str(tmp_path), str(programs), str(lab_kernel.hwsim), str(stations)]
        console = tmp_path / "console.log"
        guest = lab.Guest(lab_kernel, [*words, str(scenario), *names], tmp_path, console=console)
        result = lab.boot(guest, Watchdog(stall_s=900))
        assert result.status == 0, result.why or console.read_text()[-2000:]
        return {name: json.loads((tmp_path / f"{name}.json").read_text()) for name in names}

    return run
