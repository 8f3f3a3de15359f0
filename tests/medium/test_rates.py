# SPDX-License-Identifier: GPL-2.0-only
"""Stations at rates of their own: the performance anomaly against its authors' formula."""

from __future__ import annotations

from pathlib import Path

import pytest

from apbed.papers import anomaly
from tests.medium.dcfmedium import assert_refused, saturate, statistics

THREE = ("--stations", "3", "--phy", "hrdsss-11", "--payload", "1500")


@pytest.mark.parametrize("slow_mbps", [1, 2, 5.5])
@pytest.mark.parametrize("stations", [2, 3, 5, 10])
def test_the_performance_anomaly(stations: int, slow_mbps: float) -> None:
    """The formula's P_c knows no growing windows, so it is held up to 10 stations."""
    stats = saturate(
        *("--stations", str(stations), "--phy", "hrdsss-11", "--payload", "1500"),
        *("--seconds", "1000"),
        *("--station", f"1,rate={slow_mbps}"),
    )
    mbps = [8e-6 * 1500 * s["delivered"] / stats["virtual_s"] for s in stats["stations"]]
    expected = anomaly.throughput_mbps(stations, 1500, 11, slow_mbps)
    assert sum(mbps) / stations == pytest.approx(expected, rel=0.05)
    # Slow and fast deliver the same, and far less than without the slow one.
    assert mbps[0] == pytest.approx(sum(mbps[1:]) / (stations - 1), rel=0.05)
    assert mbps[1] < anomaly.throughput_mbps(stations, 1500, 11, 11)


def test_attempts_are_counted_by_rate() -> None:
    stats = saturate(*THREE, "--station", "2,rate=5.5")
    assert stats["rates"] == "fixed"
    rates = [s["attempts_by_rate"] for s in stats["stations"]]
    assert [list(rate) for rate in rates] == [["11"], ["5.5"], ["11"]]
    assert [sum(r.values()) for r in rates] == [s["tx"] for s in stats["stations"]]


@pytest.mark.parametrize(
    ("phy", "words", "says"),
    [
        ("hrdsss-11", "1,rate=5", "--station: rate: '5' is no rate of hrdsss-11, which has "),
        ("hrdsss-11", "1,rate=6", "1, 2, 5.5, 11 Mb/s"),
        ("dsss-2", "1,rate=11", "which has 1, 2 Mb/s"),
        ("ofdm-54", "1,rate=x", "which has 6, 9, 12, 18, 24, 36, 48, 54 Mb/s"),
        ("hrdsss-11", "9,rate=1", "--station: there are fewer than 9 stations"),
        ("hrdsss-11", "rate=1", "is not NUMBER,FIELD=VALUE with the first station 1"),
        ("hrdsss-11", "1,speed=1", "no field 'speed'"),
    ],
)
def test_a_wrong_station_is_one_line(phy: str, words: str, says: str) -> None:
    cell = ["--payload", "1500", "--phy", phy, "--stations", "2"]
    assert_refused(says, "saturate", *cell, "--station", words)


def test_a_recording_keeps_the_rates(tmp_path: Path) -> None:
    trace = tmp_path / "arrivals"
    recorded = saturate(*THREE, "--station", "1,rate=1", "--record", trace)
    replayed = statistics("replay", trace)
    assert replayed["digest"] == recorded["digest"]
    assert replayed["stations"] == recorded["stations"]
