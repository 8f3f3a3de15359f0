# SPDX-License-Identifier: GPL-2.0-only
"""Nodes with the distribution's own kernel in two QEMU machines, which a socket joins.

Emulated processors and real time: what a flow gets here says nothing, so no figure is asserted.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from apbed.analysis import summary
from apbed.checkout import REPOSITORY
from apbed.kernels import distro
from tests.grid import emulated, grid_files, machines
from tests.grid.conftest import need_apt
from tests.stock import availability

LEASE_S = 60  # the processors are slow
ONE = Path(__file__).with_name("one.toml")


def apbed(*words: str) -> subprocess.CompletedProcess[str]:
    command = [str(REPOSITORY / ".venv/bin/apbed"), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_the_checks_and_a_run(tmp_path: Path) -> None:
    need_apt()
    if reason := availability.why_not():
        pytest.skip(reason)
    subprocess.run(["make", "stock"], cwd=REPOSITORY, check=True, stdout=subprocess.DEVNULL)
    kernel = distro.find()
    with emulated.cell(kernel, tmp_path, stations=1) as nodes:
        grid = grid_files.write(tmp_path, nodes, kernel.release, "x86_64", LEASE_S)
        before = emulated.states(tmp_path, nodes)

        checked = apbed("grid", "check", str(grid), "--json")
        assert checked.returncode == 0, checked.stdout + checked.stderr
        found = {one["node"]: one["wrong"] for one in json.loads(checked.stdout)["nodes"]}
        assert found == {"ap": [], "wired": [], "sta1": []}

        out = tmp_path / "campaign"
        words = ["run", str(ONE), "--backend", "ssh", "--grid", str(grid), "--out", str(out)]
        ran = apbed(*words)
        assert machines.compared(before, emulated.states(tmp_path, nodes)) == {}
    (run,) = summary.summarize(out)["runs"]
    assert run["params"]["kernel"] == kernel.release
    # Slow processors may lose frames, which makes a run invalid; but the flow's bytes have come.
    assert run["goodput_mbps"]["up"] > 0, ran.stdout + ran.stderr
