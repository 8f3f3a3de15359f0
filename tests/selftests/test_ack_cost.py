# SPDX-License-Identifier: GPL-2.0-only
"""What ack_cost.py makes of ratios: a cost, none, or nothing that can be said."""

from __future__ import annotations

import sys
from random import Random

import pytest

from apbed.checkout import REPOSITORY

sys.path += [f"{REPOSITORY}/selftests/{folder}" for folder in ("lib", "tcp")]

from ack_cost import MOST, UNDECIDED, judge, median_interval


def ratios(cost: float, noise: float, pairs: int = 40) -> list[float]:
    """Evenly spread over `noise`, in any order."""
    values = [cost + noise * (i / (pairs - 1) - 0.5) for i in range(pairs)]
    Random(1).shuffle(values)
    return values


def test_the_interval_is_the_order_statistics_own() -> None:
    """David and Nagaraja, 7.1: of twenty the 6th and the 15th hold the median in 95.86 %."""
    low, high, sure = median_interval([float(i) for i in range(20, 0, -1)])
    assert (low, high) == (6, 15)
    assert sure == pytest.approx(0.9586, abs=1e-4)


@pytest.mark.parametrize("cost", [0.98, 1.0, MOST])
def test_no_cost_is_seen_where_there_is_none(cost: float) -> None:
    assert judge(ratios(cost, 0.04))[1] == []


@pytest.mark.parametrize("noise", [0.001, 0.04])
def test_more_than_can_pass_is_a_cost(noise: float) -> None:
    assert judge(ratios(MOST + UNDECIDED, noise))[1] == ["it costs more than 1.01"]


@pytest.mark.parametrize("cost", [0.97, 1.0, 1.05])
def test_noise_decides_nothing(cost: float) -> None:
    (why,) = judge(ratios(cost, 0.4))[1]
    assert why.startswith("undecided: 0.1")


@pytest.mark.parametrize("cost", [1.0, 1.2])
def test_too_few_pairs_decide_nothing(cost: float) -> None:
    assert judge([cost] * 5)[1] == ["undecided: too few pairs"]
    assert judge([cost] * 6)[1] == (["it costs more than 1.01"] if cost > MOST else [])
