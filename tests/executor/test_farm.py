# SPDX-License-Identifier: GPL-2.0-only
"""A simulated farm: a host that dies and a slow one change nothing but the time."""

from __future__ import annotations

from pathlib import Path

from tests.executor.stub import RESULT_BYTES
from tests.experiments.farm import Farm, simulate


def test_nothing_is_lost_with_a_host(tmp_path: Path) -> None:
    """Each run is reported once and has its own results. Only what was under way begins again:
    of each worker one run that it carries out, and one whose results nobody has fetched yet.
    """
    farm = Farm(hosts=4, per_host=4, runs=96, seconds=0.5, slow=1, dead=1)
    found = simulate(farm, tmp_path)
    assert sorted(found.done) == list(range(1, farm.runs + 1))
    assert set(found.begun) == set(found.done)
    assert farm.runs <= len(found.begun) <= farm.runs + 2 * farm.per_host
    for run_dir in (tmp_path / "out" / "runs").iterdir():
        line = f"seed {run_dir.name.rpartition('-')[2]}\n"
        text = (run_dir / "flows" / "all.jsonl").read_text()
        assert text == line * (RESULT_BYTES // len(line))
    assert len(list((tmp_path / "out" / "runs").iterdir())) == farm.runs
