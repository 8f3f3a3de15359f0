# SPDX-License-Identifier: GPL-2.0-only
"""The product's first promise, end to end: LAS-ACK makes uploads and downloads equal.

Real kernel, TCP, mac80211 and hostapd over dcfmedium. The bounds are those the project set
before the first run; up-down-fairness (its Fig. 2) has FIFO far below 1 at M = 7, and layer2-layer3
(section V.B) has LAS-ACK at equal shares for a symmetric load.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from apbed.analysis import summary
from apbed.run import runner
from apbed.scenario import parse

SEEDS = (1, 2, 3, 4, 5)
OUT = Path(__file__).resolve().parent.parent.parent / "out" / "check" / "demo"
FIFO, FQ_CODEL, LAS_ACK = "pfifo limit 100", "fq_codel", "lasack limit 100 inflight off"
Runs = dict[tuple[str, int], dict[str, Any]]


@pytest.fixture(scope="module")
def runs() -> Runs:
    """The demo's runs for all seeds by (qdisc, seed); finished ones are kept between calls."""
    plan = parse.load(parse.find("demo"), [f"seed={list(SEEDS)}"])
    runner.run_all(plan, OUT, jobs=2)
    result = summary.summarize(OUT)
    return {(run["params"]["qdisc"], run["params"]["seed"]): run for run in result["runs"]}


def test_every_run_is_valid(runs: Runs) -> None:
    assert len(runs) == 3 * len(SEEDS)
    assert {key: run["why_invalid"] for key, run in runs.items() if not run["valid"]} == {}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("qdisc", [FIFO, FQ_CODEL])
def test_todays_schedulers_starve_downloads(runs: Runs, qdisc: str, seed: int) -> None:
    assert runs[qdisc, seed]["ratio_down_up"] < 0.3


@pytest.mark.parametrize("seed", SEEDS)
def test_lasack_makes_them_equal_at_no_loss(runs: Runs, seed: int) -> None:
    run, fifo = runs[LAS_ACK, seed], runs[FIFO, seed]
    assert 0.85 <= run["ratio_down_up"] <= 1.15
    assert run["jain"] >= 0.95
    assert run["goodput_mbps"]["total"] >= 0.97 * fifo["goodput_mbps"]["total"]


def test_the_operators_command_alone_does_it() -> None:
    """`tc qdisc replace dev wlan0 root lasack`: its own back-pressure, nothing below."""
    settings = ["ap.qdisc=lasack", "ap.inflight=0"]
    runner.run_all(parse.load(parse.find("demo"), settings), OUT / "operator", jobs=1)
    (run,) = summary.summarize(OUT / "operator")["runs"]
    assert run["valid"], run["why_invalid"]
    assert 0.85 <= run["ratio_down_up"] <= 1.15
    assert run["jain"] >= 0.95
