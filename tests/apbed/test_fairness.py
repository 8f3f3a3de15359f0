# SPDX-License-Identifier: GPL-2.0-only
"""Fairness and percentiles against definitions and hand computation."""

from __future__ import annotations

import pytest

from apbed.analysis import delays, fairness


def test_jain_index_of_the_source() -> None:
    """Jain 1984: 1 for equal shares, k/n when k of n share equally, independent of scale."""
    assert fairness.jain_index([3.0, 3.0, 3.0]) == pytest.approx(1.0)
    assert fairness.jain_index([1.0] * 20 + [0.0] * 80) == pytest.approx(0.2)
    assert fairness.jain_index([1.0, 2.0]) == pytest.approx(fairness.jain_index([100.0, 200.0]))
    assert fairness.jain_index([1.0, 2.0]) == pytest.approx(9 / 10)
    assert fairness.jain_index([]) is None
    assert fairness.jain_index([0.0, 0.0]) is None


def test_ratio_is_per_connection() -> None:
    """Equal numbers: up-down-fairness's ratio of the totals; unequal ones: of the means."""
    assert fairness.ratio_down_up([1.0, 3.0], [2.0, 6.0]) == pytest.approx(4 / 8)
    assert fairness.ratio_down_up([1.0], [1.0, 1.0, 1.0]) == pytest.approx(1.0)
    assert fairness.ratio_down_up([], [1.0]) is None
    assert fairness.ratio_down_up([1.0], []) is None
    assert fairness.ratio_down_up([1.0], [0.0]) is None
    assert fairness.ratio_down_up([0.0], [1.0]) == 0.0


def test_coefficient_of_variation_of_known_samples() -> None:
    """2, 4, 4, 4, 5, 5, 7, 9: mean 5, population standard deviation 2. It has no unit."""
    samples = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]
    assert fairness.coefficient_of_variation(samples) == pytest.approx(0.4)
    assert fairness.coefficient_of_variation([10 * x for x in samples]) == pytest.approx(0.4)
    assert fairness.coefficient_of_variation([3.0, 3.0]) == 0
    assert fairness.coefficient_of_variation([]) is None
    assert fairness.coefficient_of_variation([0.0, 0.0]) is None


def test_jain_by_second_of_two_who_take_turns() -> None:
    """Each second one has all: 1/2, though both have the same in the end. A second in which nobody
    has anything says nothing."""
    assert fairness.jain_by_second([[2.0, 0.0, 0.0], [0.0, 2.0, 0.0]]) == {"mean": 0.5, "min": 0.5}
    assert fairness.jain_by_second([[1.0, 1.0], [1.0, 2.0]]) == pytest.approx(
        {"mean": (1 + 9 / 10) / 2, "min": 9 / 10}
    )
    assert fairness.jain_by_second([[0.0], [0.0]]) is None


def test_windows_are_whole_seconds() -> None:
    """From 1 s to 3.5 s: the seconds that begin at 1 and 2."""
    series: fairness.Series = [[0.5, 9.0], [1.5, 1.0], [2.5, None], [3.5, 9.0]]
    assert fairness.windows(series, 1.0, 3.5) == [1.0, 0.0]
    assert fairness.windows(series, 1.2, 3.0) == [0.0]
    assert fairness.windows(series, 3.2, 3.9) is None


def test_percentiles_of_a_thousand_datagrams() -> None:
    """1 to 1000 ms. Percentiles are of ranks 0 to 999: 99.9 % is at rank 998.001, so the next."""
    found = delays.summary_ms([(1.0, [1000 * ms for ms in range(1, 1001)])], 0.0, 1000)
    assert found == pytest.approx(
        {"n": 1000, "lost": 0, "p50": 501, "p90": 901, "p99": 991, "p99.9": 1000, "max": 1000}
    )


def test_a_percentile_among_the_lost_is_not_known() -> None:
    """Two of 1000 never came: 99.9 % is one of them, 99 % is not."""
    found = delays.summary_ms([(1.0, [1000 * ms for ms in range(1, 999)])], 0.0, 1000)
    assert found is not None
    assert (found["n"], found["lost"], found["p99"]) == (998, 2, 991)
    assert found["p99.9"] is None and found["max"] is None
