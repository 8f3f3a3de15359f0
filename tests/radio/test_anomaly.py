# SPDX-License-Identifier: GPL-2.0-only
"""Two stations, at 1 and at 11 Mb/s. More is sent to them, or by them, than the air can carry.

Without airtime fairness each gets as many frames (Heusse et al., "Performance Anomaly of 802.11b",
INFOCOM 2003); with it each gets as much airtime, as mac80211 counts it: preamble and data, without
backoff and ACK. The access point sends alone, so both models are exact but for beacons. Upwards
the stations contend, and each wins equally often.
"""

from __future__ import annotations

from math import ceil
from pathlib import Path

import pytest

from apbed.papers import anomaly
from tests.experiments.campaign import carried_out
from tests.radio.alone import HEADER_BYTES, PAYLOAD_BYTES, PROBE, cycle_us

pytestmark = pytest.mark.usefixtures("lab_kernel")

SLOW_MBPS, FAST_MBPS = 1.0, 11.0
CELL = f"""
schema = 1
name = "anomaly"
title = "a slow and a fast station"
duration_s = 14
warmup_s = 2
[medium]
stations = "sta1,rate={SLOW_MBPS:g}"
[ap]
qdisc = "noqueue"
radio = "queues"
[station]
count = 2
[[flow]]
id = "down"
station = "each"
dir = "pulse_down"
count = 14000
every_s = 0.001
bytes = {PAYLOAD_BYTES}
"""


def airtime_us(rate_mbps: float) -> float:
    """What mac80211 counts of a frame (net/mac80211/airtime.c), but for a SIFS of 10 us."""
    mpdu = PAYLOAD_BYTES + HEADER_BYTES + anomaly.MPDU_OVERHEAD_BYTES
    return anomaly.PLCP_US + ceil(8 * mpdu / rate_mbps)


def goodputs(tmp_path: Path, line: str, fairness: str) -> tuple[float, float]:
    """Mb/s of the slow and of the fast station."""
    path = tmp_path / "anomaly.toml"
    path.write_text(CELL)
    (run,) = carried_out(path, tmp_path / "out", line, f"ap.airtime_fairness={fairness}")
    slow, fast = (flow["goodput_mbps"] for flow in run["flows"])
    return slow, fast


def test_equal_frames_without_airtime_fairness(tmp_path: Path, line: str) -> None:
    slow, fast = goodputs(tmp_path, line, "false")
    model = 8 * PAYLOAD_BYTES / (cycle_us(SLOW_MBPS) + cycle_us(FAST_MBPS))
    assert fast == pytest.approx(slow, rel=0.05)
    assert slow == pytest.approx(model, rel=0.05)


def test_equal_airtime_with_airtime_fairness(tmp_path: Path, line: str) -> None:
    slow, fast = goodputs(tmp_path, line, "true")
    assert fast * airtime_us(FAST_MBPS) == pytest.approx(slow * airtime_us(SLOW_MBPS), rel=0.05)
    # In the time of one slow frame and its share of fast ones, by the standard's times.
    per_slow = airtime_us(SLOW_MBPS) / airtime_us(FAST_MBPS)
    model = 8 * PAYLOAD_BYTES / (cycle_us(SLOW_MBPS) + per_slow * cycle_us(FAST_MBPS))
    assert slow == pytest.approx(model, rel=0.05)


def test_the_slow_station_is_slow_upwards_too(tmp_path: Path, line: str) -> None:
    """The case of the paper: two stations that send. In 42 s each wins some 2500 times, so their
    parts differ by 4 % at most with a probability of 95 %, were each win independent."""
    path = tmp_path / "anomaly.toml"
    upwards = CELL.replace("pulse_down", "pulse").replace("count = 14000\n", "")
    path.write_text(upwards + PROBE)
    (run,) = carried_out(path, tmp_path / "out", line, "duration_s=44")
    slow, fast, _probe = (flow["goodput_mbps"] for flow in run["flows"])
    packet = PAYLOAD_BYTES + HEADER_BYTES
    model = anomaly.throughput_mbps(2, packet, FAST_MBPS, SLOW_MBPS) * PAYLOAD_BYTES / packet
    assert slow == pytest.approx(model, rel=0.05)
    assert fast == pytest.approx(model, rel=0.05)
