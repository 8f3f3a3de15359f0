# SPDX-License-Identifier: GPL-2.0-only
"""Carries out a scenario for a test. Finished runs in the same place are kept, as always."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from apbed.analysis import summary
from apbed.run import runner
from apbed.scenario import catalogue, parse

OUT = Path(__file__).resolve().parents[2] / "out" / "check"  # kept between calls of pytest

Run = dict[str, Any]


def carried_out(scenario: str | Path, out: Path, *settings: str) -> list[Run]:
    """The runs of a scenario, by its name or its file; every one of them is valid."""
    path = scenario if isinstance(scenario, Path) else catalogue.find(scenario)
    runner.run_all(parse.load(path, settings), out, jobs=2)
    runs: list[Run] = summary.summarize(out)["runs"]
    assert {run["id"]: run["why_invalid"] for run in runs if not run["valid"]} == {}
    return runs
