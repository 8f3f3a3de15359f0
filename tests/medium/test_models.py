# SPDX-License-Identifier: GPL-2.0-only
"""The models dcfmedium is held against, tested on what their papers print."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from apbed.papers import bianchi, fairness
from apbed.papers.dcf_cells import Rules, play
from apbed.papers.dcf_crowd import crowd
from apbed.papers.dcf_pair import pair
from apbed.papers.phy import HRDSSS_11, OFDM_54, Phy
from apbed.papers.saturation import saturation


@pytest.mark.parametrize("p", [0.0, 0.1, 0.3, 0.45])
def test_attempt_probability_is_bianchis_equation_7(p: float) -> None:
    """JSAC 2000, eq. 7: W = 32, m = 5, retries without end."""
    w, m = 32, 5
    eq7 = 2 * (1 - 2 * p) / ((1 - 2 * p) * (w + 1) + p * w * (1 - (2 * p) ** m))
    windows = tuple(w << min(i, m) for i in range(200))
    assert bianchi.attempt_probability(p, windows) == pytest.approx(eq7, rel=1e-9)


def test_a_constant_window_is_bianchis_equation_8() -> None:
    """JSAC 2000, eq. 8: without doubling tau = 2 / (W + 1), whatever p."""
    for p in (0.0, 0.5, 0.9):
        assert bianchi.attempt_probability(p, (64,) * 50) == pytest.approx(2 / 65)


def test_http_queueing_prints_0060_for_two() -> None:
    assert bianchi.collision_probability(2) == pytest.approx(0.060, abs=0.0005)


def test_http_queueing_exchange_times() -> None:
    """Section 2.3, by hand: 50 + 282 + 10 + 248 + 10 + 192 + bits / 11 + 10 + 248."""
    assert bianchi.tcp_exchange_us(8000) == pytest.approx(1050 + 8592 / 11, abs=1e-9)
    assert bianchi.tcp_exchange_us(0) == pytest.approx(1050 + 592 / 11, abs=1e-9)


def test_pair_with_constant_windows_by_hand() -> None:
    """Two counts of 0 or 1. After a success the waiting one has 1, the sender 0 or 1 anew: it
    goes first or they meet, evenly. After a meeting both draw: they meet again half the time."""
    two = pair((2,) * 40)
    assert two.success == pytest.approx(1 / 2)
    assert two.collision_probability == pytest.approx(2 / 3)


@pytest.mark.parametrize("phy", [HRDSSS_11, OFDM_54], ids=["hrdsss-11", "ofdm-54"])
def test_refined_models_stay_near_bianchi(phy: Phy) -> None:
    """Freezing and waits change little in large crowds, as Tinnirello et al. find."""
    for n in (20, 50):
        plain = bianchi.saturation(n, 1500, eifs=False, phy=phy)
        refined = saturation(n, 1500, phy, eifs=False)
        assert refined.throughput_mbps == pytest.approx(plain.throughput_mbps, rel=0.05)


def test_crowd_without_head_start_nears_the_optimum() -> None:
    """JSAC 2000, eq. 28: throughput peaks where tau = 1 / (n sqrt(Tc / 2)), Tc in slots, which a
    constant window of 2 / tau gives. About n tau / 2 of the transmissions then collide."""
    collision_slots = 100.0
    for n in (20, 40):
        window = round(2 * n * sqrt(collision_slots / 2))
        answer = crowd(n, (window,) * 7, 0.0)
        assert 1 - answer.success == pytest.approx(1 / sqrt(2 * collision_slots), rel=0.1)


def test_played_cells_with_a_constant_window_are_bianchis_equation_8() -> None:
    """By Bianchi's rules without doubling nobody's counts depend on the others': tau = 2 / (W + 1)
    and an attempt is alone with (1 - tau)^(n - 1), exactly. Yet three in a row do not fail with the
    third power of the rest: who collided begin their next counts together."""
    n, window = 6, 15
    fails = 1 - (1 - 2 / (window + 1)) ** (n - 1)
    played = play(n, (window,) * 3, Rules.bianchi(), transmissions=2_000_000)
    assert abs(played.collision.share - fails) < 4 * played.collision.error
    assert played.collision.error < 0.002 * fails
    assert abs(played.drop.share - fails**3) > 4 * played.drop.error


@pytest.mark.parametrize("phy", [HRDSSS_11, OFDM_54], ids=["hrdsss-11", "ofdm-54"])
def test_two_played_stations_are_the_exact_chain(phy: Phy) -> None:
    exact = pair(phy.windows(2))
    played = play(2, phy.windows(2), Rules.of(phy, eifs=True), transmissions=4_000_000)
    assert abs(played.collision.share - exact.collision_probability) < 4 * played.collision.error
    assert abs(played.drop.share - exact.drop_probability) < 4 * played.drop.error
    assert played.drop.error < 0.03 * exact.drop_probability


def test_played_cells_by_bianchis_rules_are_his_solution() -> None:
    """JSAC 2000, section IV: the independence he assumes costs less than 1 % in large cells."""
    played = play(20, HRDSSS_11.windows(7), Rules.bianchi(), transmissions=2_000_000)
    solved = bianchi.saturation(20, 1500, eifs=False).collision_probability
    assert played.collision.error < 0.002
    assert played.collision.share == pytest.approx(solved, rel=0.01)


@pytest.mark.parametrize("p", [0.0, 0.25])
def test_fairness_of_played_backoffs(p: float) -> None:
    """Stations that draw backoffs over 64 values and fail with p, watched for 2000 units each."""
    n, window, span, repeats = 8, 64, 2000, 4000
    random = np.random.default_rng(1)
    ends = np.cumsum(random.integers(1, window + 1, (repeats, n, 160)), axis=2)
    # The first 1000 units let them lose step.
    counted = (ends > 1000) & (ends <= 1000 + span) & (random.random(ends.shape) >= p)
    frames = counted.sum(axis=2)
    played = (frames.sum(axis=1) ** 2 / (n * (frames**2).sum(axis=1))).mean()
    expected = fairness.jain(n, frames.mean(), fairness.uniform_backoff(window, p))
    assert 1 - played == pytest.approx(1 - expected, rel=0.05)
