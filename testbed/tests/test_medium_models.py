# SPDX-License-Identifier: GPL-2.0-only
"""The models dcfmedium is held against, tested on what their papers print."""

from __future__ import annotations

from math import sqrt

import pytest

from apbed import bianchi
from apbed.models.dcf_crowd import crowd
from apbed.models.dcf_pair import pair
from apbed.models.phy import HRDSSS_11, OFDM_54, Phy
from apbed.models.saturation import saturation


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


def test_paper_000_prints_0060_for_two() -> None:
    assert bianchi.collision_probability(2) == pytest.approx(0.060, abs=0.0005)


def test_paper_000_exchange_times() -> None:
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
