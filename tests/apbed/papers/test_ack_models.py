# SPDX-License-Identifier: GPL-2.0-only
"""The models of http-queueing and ack-skipping, against printed numbers and ones worked by hand."""

from __future__ import annotations

from itertools import pairwise

import pytest
from scipy.special import zeta

from apbed.papers import http_queueing, simultaneous_send, thin_acks
from apbed.papers.phy import HRDSSS_11
from apbed.papers.saturation import saturation

EXCHANGES_S = (1050 + 8592 / 11 + 1050 + 592 / 11) * 1e-6  # section 2.3, a segment and an ACK


def test_ack_skipping_prints_3_and_17_6_percent() -> None:
    """Section 2; 17.6 is cut off, not rounded."""
    assert simultaneous_send.same_slot_probability(1) == pytest.approx(1 / 32)
    assert int(1000 * simultaneous_send.same_slot_probability(3)) / 10 == 17.6


def test_as_many_nodes_as_slots_never_agree_only_by_chance() -> None:
    """Two slots: two nodes agree half the time; three must."""
    assert simultaneous_send.same_slot_probability(1, 2) == 0.5
    assert simultaneous_send.same_slot_probability(2, 2) == 1.0


def test_http_queueing_prints_0060() -> None:
    two = http_queueing.contention(2)
    assert two.collision_probability == pytest.approx(0.060, abs=0.0005)
    # eq. 5 with eq. 2: T_b = T_slot / P_C for two.
    assert two.backoff_s == pytest.approx(
        20e-6 / two.collision_probability / 2 / (1 - two.collision_probability)
    )


def test_equation_12_of_one_connection_is_equation_7() -> None:
    """One station and one ACK per segment: both nodes are always backlogged in either."""
    assert http_queueing.each(1, 1) == pytest.approx(http_queueing.single(1), rel=1e-12)


def test_equation_12_by_hand() -> None:
    """One connection, d = 2: half the time its station has an ACK, half the time the AP is alone
    and waits 310 us; each segment costs an exchange, half an ACK's, and contention 1.5 times."""
    two = http_queueing.contention(2)
    data_s, ack_s = (1050 + 8592 / 11) * 1e-6, (1050 + 592 / 11) * 1e-6
    expected = sum(
        0.5 * 8000 / (data_s + ack_s / 2 + 1.5 * wait_s)
        for wait_s in (310e-6, two.backoff_s + two.wasted_s)
    )
    assert http_queueing.each(1, 2) == pytest.approx(expected)


def test_backlogged_nodes_sum_to_two() -> None:
    """Section 3.2: E[n_b] = 2, whatever the number of connections; 1 + 1/d with delayed ACKs."""
    for connections in (1, 3, 10):
        for d in (1, 4):
            pi = http_queueing.backlogged(connections, d)
            assert sum(pi) == pytest.approx(1)
            mean = sum(k * weight for k, weight in enumerate(pi, start=1))
            assert mean == pytest.approx(1 + 1 / d)


def test_window_of_one_meets_nobody() -> None:
    """Eq. A.3: a segment, its ACK and two backoffs of 310 us; without end, eq. 7."""
    alone = 8000 / (EXCHANGES_S + 2 * 310e-6)
    assert http_queueing.capped(1) == pytest.approx(alone)
    assert http_queueing.capped(10**9) == pytest.approx(http_queueing.single(1))
    grows = [http_queueing.capped(window) for window in (1, 2, 5, 50)]
    assert all(less < more for less, more in pairwise(grows))


def test_table_2_of_http_queueing() -> None:
    """0.1095 s for Pareto sizes, mean 30 kB, exponent 1.5, so from 10 segments on. P(X > k) of
    k segments sums to a Hurwitz zeta function: E[ceil X] = 10 + sum of (k / 10)^-1.5 from 10 on."""
    segments = 10 + 10**1.5 * float(zeta(1.5, 10))
    round_s = EXCHANGES_S + 2 * 310e-6
    mean_s = http_queueing.setup_s() + segments * round_s - (segments - 30) * 8000 / 11e6
    assert mean_s == pytest.approx(0.1095, rel=0.003)
    # and eq. 14 is what was summed
    assert http_queueing.session_s(16000) == pytest.approx(http_queueing.setup_s() + 2 * round_s)
    assert http_queueing.session_s(15000) == pytest.approx(
        http_queueing.setup_s() + 2 * round_s - 1000 / 11e6
    )
    assert http_queueing.mean_session_s(240_000) == pytest.approx(
        http_queueing.setup_s() + 30 * round_s
    )


def test_one_station_shares_with_nobody() -> None:
    """Eqs. 16 and 17 for one station: the time of the transfer at eq. 7's rate."""
    pi = http_queueing.active(1, 10.0, 240_000)
    assert sum(pi) == pytest.approx(1)
    took_s = 240_000 / http_queueing.single(1)
    assert http_queueing.concurrent_session_s(1, 10.0, 240_000) == pytest.approx(
        http_queueing.setup_s() + took_s
    )
    assert pi[1] / pi[0] == pytest.approx(took_s / 10)


def test_thinner_acks_give_more_throughput_and_less_each_time() -> None:
    """Figs. 3 and 6: concave in d, below the rate without any ACK."""
    for connections in (1, 10):
        curve = [http_queueing.throughput(connections, d) for d in range(1, 10)]
        steps = [more - less for less, more in pairwise(curve)]
        assert all(step > 0 for step in steps)
        assert all(later < before for before, later in pairwise(steps))
        assert curve[-1] < 8000 / (http_queueing.DATA_S + 310e-6)


def test_an_upload_without_acks_meets_nobody() -> None:
    """DIFS, 310 us of backoff, 1088 bytes at 11 Mb/s under a long preamble, SIFS, ACK at 2 Mb/s."""
    alone_us = 50 + 310 + 192 + 8 * 1088 / 11 + 10 + 192 + 56
    assert thin_acks.throughput_mbps(1e9) == pytest.approx(8000 / alone_us, rel=1e-3)


def test_an_ack_for_each_segment_shares_the_air_evenly() -> None:
    """Two stations, one with data, one with ACKs, are a saturated pair of mixed lengths: its rate
    lies between the pair's that both send ACKs of 52 bytes and both send 1052."""
    both = [saturation(2, size, HRDSSS_11, eifs=True) for size in (52, 1052)]
    rates = [
        one.throughput_mbps / 8 / size * 1000 * 8 / 2
        for one, size in zip(both, (52, 1052), strict=True)
    ]
    assert rates[1] < thin_acks.throughput_mbps(1) < rates[0]
    harmonic = 2 / (1 / rates[0] + 1 / rates[1])
    assert thin_acks.throughput_mbps(1) == pytest.approx(harmonic, rel=0.02)
