# SPDX-License-Identifier: GPL-2.0-only
"""Workloads: distributions against scipy's and layer2-layer3's figures, arrivals against theory.

Samples have fixed seeds, so a test passes or fails the same way every time; the bounds are the
0.1 % points of the tests' own distributions.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from apbed.errors import ApbedError
from apbed.scenario import parse, workload
from apbed.scenario.plan import Flow
from apbed.scenario.workload import Workload

MSS = 1500
LOW, HIGH = 6.0 * MSS, 13_000.0 * MSS  # layer2-layer3, section IV-A
P_VALUE = 0.001
PARETO = Workload(
    load_mbps=10.0,
    sizes="pareto",
    min_bytes=9000,
    max_bytes=19_500_000,
    mean_bytes=60000.0,
    alpha=0.0,
    list_bytes=[],
    down_share=0.66,
    stop_s=0.0,
    stations=0,
)


def drawn(seed: int = 1, duration_s: float = 600.0, **changes: Any) -> tuple[Flow, ...]:
    """The arrivals of a workload on four stations."""
    return workload.arrivals(replace(PARETO, **changes), 4, duration_s, seed)


def sizes(transfers: tuple[Flow, ...]) -> list[int]:
    """In bytes, by start."""
    return [one.bytes for one in transfers if one.bytes is not None]


def truncated_mean(distribution: Any) -> float:
    """E[X | LOW <= X <= HIGH] of a scipy distribution: the integral of x f(x), by quadrature in
    ln x, over the probability of the condition."""
    inside, _ = quad(
        lambda t: math.exp(2 * t) * distribution.pdf(math.exp(t)),
        math.log(LOW),
        math.log(HIGH),
        limit=200,
    )
    return float(inside / (distribution.cdf(HIGH) - distribution.cdf(LOW)))


@pytest.mark.parametrize("alpha", [0.3, 1.0, 1.0518, 1.18, 2.0, 3.5])
def test_pareto_moments_are_those_of_scipys_truncated_distribution(alpha: float) -> None:
    """scipy.stats.truncpareto(b, c) is Pareto on [1, c]: here c = 13,000/6, scaled by 6 MSS."""
    reference = stats.truncpareto(alpha, HIGH / LOW, scale=LOW)
    for order in (1, 2):
        ours = workload.pareto_moment(order, alpha, LOW, HIGH)
        assert ours == pytest.approx(reference.moment(order), rel=1e-6)
    quantile = workload.pareto_quantile(alpha, LOW, HIGH)
    for u in (0.0, 0.1, 0.5, 0.9, 0.999, 1 - 1e-9):
        assert quantile(u) == pytest.approx(reference.ppf(u), rel=1e-6)


def test_the_mean_of_layer2_layer3_gives_its_coefficient_of_variation() -> None:
    """60 kB between 6 and 13,000 MSS: "we have chosen the value of CoV close to 6"."""
    alpha = workload.pareto_alpha(60000, LOW, HIGH)
    assert 1 < alpha < 1.1
    mean = workload.pareto_moment(1, alpha, LOW, HIGH)
    assert mean == pytest.approx(60000)
    second = workload.pareto_moment(2, alpha, LOW, HIGH)
    assert math.sqrt(second - mean**2) / mean == pytest.approx(6, abs=0.1)


@pytest.mark.parametrize("mean", [9500.0, 60000.0, 1e6, 9e6])
def test_exponential_has_the_mean_it_is_asked_for(mean: float) -> None:
    """scipy's exponential conditioned on the bounds, integrated numerically."""
    scale = workload.exponential_scale(mean, LOW, HIGH)
    assert truncated_mean(stats.expon(scale=scale)) == pytest.approx(mean, rel=1e-6)
    quantile = workload.exponential_quantile(scale, LOW, HIGH)
    assert quantile(0.0) == LOW
    assert LOW < quantile(0.5) < quantile(1 - 1e-12) <= HIGH * (1 + 1e-9)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_sizes_follow_their_distribution(seed: int) -> None:
    """Kolmogorov-Smirnov against scipy's truncated Pareto and exponential."""
    pareto = sizes(drawn(seed, alpha=1.18))
    reference = stats.truncpareto(1.18, HIGH / LOW, scale=LOW)
    assert stats.kstest(pareto, reference.cdf).pvalue > P_VALUE
    exponential = sizes(drawn(seed, sizes="exponential"))
    # P is 382 means away: 60 kB - 9 kB is the exponential's own mean
    shifted = stats.expon(loc=LOW, scale=60000 - LOW)
    assert stats.kstest(exponential, shifted.cdf).pvalue > P_VALUE
    assert min(pareto + exponential) >= LOW and max(pareto + exponential) <= HIGH


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_arrivals_are_poisson(seed: int) -> None:
    """Exponential gaps of the rate load / mean size, and counts whose variance is their mean."""
    rate = 10e6 / 8 / 60000
    starts = np.array([one.start_s for one in drawn(seed)])
    gaps = np.diff(starts, prepend=0.0)
    assert stats.kstest(gaps, stats.expon(scale=1 / rate).cdf).pvalue > P_VALUE
    counts = np.histogram(starts, bins=600, range=(0, 600))[0]
    dispersion = counts.var() * len(counts) / counts.mean()  # chi-square with n - 1 degrees
    assert P_VALUE < stats.chi2.cdf(dispersion, len(counts) - 1) < 1 - P_VALUE
    assert abs(len(starts) - 600 * rate) < 3.3 * math.sqrt(600 * rate)


def test_directions_and_stations_are_drawn_independently() -> None:
    """Two thirds downloads, four stations alike, no matter which direction: chi-square."""
    found = Counter((one.dir, one.station) for one in drawn())
    assert len(found) == 8
    total = sum(found.values())
    expected = {
        (way, f"sta{k}"): total * share / 4
        for way, share in (("down", 0.66), ("up", 0.34))
        for k in range(1, 5)
    }
    observed = [found[key] for key in expected]
    assert stats.chisquare(observed, list(expected.values())).pvalue > P_VALUE


def test_listed_sizes_are_equally_likely() -> None:
    """A size listed twice comes twice as often; the rate follows from their mean."""
    listed = drawn(sizes="list", list_bytes=[10_000, 10_000, 100_000])
    counts = Counter(one.bytes for one in listed)
    expected = [len(listed) * 2 / 3, len(listed) / 3]
    assert stats.chisquare([counts[10_000], counts[100_000]], expected).pvalue > P_VALUE
    rate = 10e6 / 8 / 40_000
    assert abs(len(listed) - 600 * rate) < 3.3 * math.sqrt(600 * rate)


def test_a_stream_changes_nothing_in_the_others() -> None:
    """More uploads: the same times, sizes and stations. Another load: the same sizes."""

    def column(name: str, **changes: Any) -> list[Any]:
        return [getattr(one, name) for one in drawn(**changes)]

    for name in ("start_s", "bytes", "station"):
        assert column(name) == column(name, down_share=0.2)
    assert column("dir") != column("dir", down_share=0.2)
    less = column("bytes", load_mbps=5.0)
    assert less == column("bytes")[: len(less)]
    assert column("bytes") != column("bytes", seed=2)
    assert column("start_s") != column("start_s", seed=2)


def test_arrivals_stop_when_told() -> None:
    """The first ones are the same; none comes later."""
    short = drawn(stop_s=100.0)
    assert list(short) == [one for one in drawn() if one.start_s < 100]
    assert [one.id for one in short[:2]] == ["transfer-1", "transfer-2"]


CELL = """
schema = 1
name = "cell"
title = "short transfers"
duration_s = 20
seed = [1, 2]
[ap]
qdisc = ["pfifo limit 50", "fq_codel", "lasack limit 50"]
[station]
count = 3
[workload]
load_mbps = 2
sizes = "pareto"
"""
FLOW = '[[flow]]\nid = "long"\nstation = "sta1"\ndir = "up"\n'


def load(tmp_path: Path, text: str, *settings: str) -> parse.Scenario:
    """A scenario from text."""
    path = tmp_path / "cell.toml"
    path.write_text(text)
    return parse.load(path, settings)


def test_every_scheduler_meets_the_same_transfers(tmp_path: Path) -> None:
    """Same seed, same list, to the byte and the nanosecond; another seed, another list."""
    runs = load(tmp_path, CELL).runs
    lists = {seed: [r.plan.transfers for r in runs if r.params["seed"] == seed] for seed in (1, 2)}
    for alike in lists.values():
        assert len(alike) == 3 and alike[0]
        assert alike[0] == alike[1] == alike[2]
    assert lists[1][0] != lists[2][0]
    assert load(tmp_path, CELL).runs == runs


def test_long_flows_beside_a_workload(tmp_path: Path) -> None:
    """Either alone or both; none of them is refused."""
    both = load(tmp_path, CELL + FLOW).runs[0]
    assert [flow.id for flow in both.plan.flows] == ["long"] and both.plan.transfers
    alone = load(tmp_path, CELL[: CELL.index("[workload]")] + FLOW).runs[0]
    assert alone.plan.transfers == ()
    with pytest.raises(ApbedError, match=r"nothing is sent; .*\[\[flow\]\], a \[workload\]"):
        load(tmp_path, CELL[: CELL.index("[workload]")])


def test_a_workload_is_swept_and_set_like_anything_else(tmp_path: Path) -> None:
    """A list of loads is a sweep, named in params; a list of sizes is one value."""
    runs = load(tmp_path, CELL, "workload.load_mbps=[1, 2]", "seed=1", "ap.qdisc=fq_codel").runs
    assert [run.params["workload.load_mbps"] for run in runs] == [1.0, 2.0]
    assert len(runs[0].plan.transfers) < len(runs[1].plan.transfers)
    listed = load(tmp_path, CELL, "workload.sizes=list", "workload.list_bytes=[9000, 50000]").runs
    assert len(listed) == 6
    assert {one.bytes for one in listed[0].plan.transfers} == {9000, 50000}


@pytest.mark.parametrize(
    ("setting", "line"),
    [
        ("workload.load_mbps=0", "workload.load_mbps = 0.0: expected at least 0.001"),
        ("workload.sizes=normal", "workload.sizes = 'normal': expected one of pareto, exp"),
        ("workload.alpa=1", "unknown key 'workload.alpa'; did you mean 'workload.alpha'?"),
        ("workload.max_bytes=9000", "workload.max_bytes: expected more than min_bytes"),
        ("workload.mean_bytes=9000", "workload.mean_bytes = 9000: expected 909"),
        ("workload.mean_bytes=3e6", "workload.mean_bytes = 3e+06: expected 909"),
        ("workload.down_share=1.5", "workload.down_share = 1.5: expected at most 1"),
        ("workload.list_bytes=9000", "workload.list_bytes = 9000: expected a list"),
        ("workload.load_mbps=10000", "workload: about 416667 transfers; expected at most 50000"),
    ],
)
def test_bad_value_is_one_line(tmp_path: Path, setting: str, line: str) -> None:
    """The key and what it takes."""
    with pytest.raises(ApbedError) as refused:
        load(tmp_path, CELL, setting)
    assert str(refused.value).startswith(f"cell.toml: {line}")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("listed", ["[]", "[0]", "[1.5]", '["9k"]', "[true]"])
def test_a_list_of_no_sizes_is_refused(tmp_path: Path, listed: str) -> None:
    """Whole numbers of bytes only."""
    with pytest.raises(ApbedError, match="expected whole numbers of at least 1"):
        load(tmp_path, CELL, "workload.sizes=list", f"workload.list_bytes={listed}")


def test_missing_keys_are_named(tmp_path: Path) -> None:
    """An empty [workload] is no "none"."""
    with pytest.raises(ApbedError, match=r"workload\.load_mbps is missing"):
        load(tmp_path, CELL[: CELL.index("load_mbps")])
    with pytest.raises(ApbedError, match="expected a name no other flow has"):
        load(tmp_path, CELL + FLOW.replace("long", "transfer-1"))
