# SPDX-License-Identifier: GPL-2.0-only
"""The papers' figures: each claim is decided as its scenario expects.

The bounds and directions are the papers' own, in testbed/scenarios/papers. Documentation/papers
has what came out at full length.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from apbed.analysis import report, summary
from apbed.run import runner
from apbed.scenario import catalogue, parse
from tests.experiments.campaign import OUT

SCENARIOS = [path.stem for path in catalogue.files() if path.parent.name == "papers"]


def claims(name: str, out: Path, *settings: str) -> list[dict[str, Any]]:
    """The verdicts of a scenario's short version; every run is valid."""
    runner.run_all(parse.load(catalogue.find(name), settings, short=True), out, jobs=2)
    runs = summary.summarize(out)["runs"]
    assert {run["id"]: run["why_invalid"] for run in runs if not run["valid"]} == {}
    report.write_report(out)
    figures = json.loads((out / "figures.json").read_text())["figures"]
    return [claim | {"figure": figure["id"]} for figure in figures for claim in figure["claims"]]


def unexpected(found: list[dict[str, Any]]) -> list[str]:
    """The claims that were decided otherwise; what was not run says nothing."""
    return [
        f"{one['figure']}: {one['claim']}: {one['verdict']}: {one['hardest']}"
        for one in found
        if not one["as_expected"] and one["verdict"] != "not run"
    ]


def test_one_download_follows_equation_8(tmp_path: Path) -> None:
    found = claims("http-queueing-f3-f6", tmp_path, "station.count=1")
    assert unexpected(found) == []
    verdicts = {one["claim"]: one["verdict"] for one in found if one["figure"] == "F3"}
    assert verdicts == {
        "Equation 8": "reproduced",
        "Fewer ACKs give more throughput": "direction only",
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENARIOS)
def test_every_claim_is_decided_as_expected(name: str) -> None:
    assert unexpected(claims(name, OUT / f"short-{name}")) == []
