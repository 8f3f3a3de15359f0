# SPDX-License-Identifier: GPL-2.0-only
"""One boot with all cases of a test."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from apbed.kernels.cache import LabKernel
from tests.grid import laboratory

Found = dict[str, dict[str, Any]]
Cases = Callable[..., Found]


def need_apt() -> None:
    """Skip the test where nothing offers an sshd for the nodes."""
    if not shutil.which("apt-get"):
        pytest.skip("no apt, no sshd for the nodes")


@pytest.fixture
def cases(lab_kernel: LabKernel, tmp_path: Path) -> Cases:
    """cases(SCENARIO, CASE...): what lead.py found in each on one station, by its name."""

    need_apt()

    def run(scenario: Path, *names: str) -> Found:
        console = tmp_path / "console.log"
        words = [str(scenario), *names]
        result = laboratory.boot(lab_kernel, "lead.py", tmp_path, 1, words, console)
        assert result.status == 0, result.why or console.read_text()[-2000:]
        return {name: json.loads((tmp_path / f"{name}.json").read_text()) for name in names}

    return run
