# SPDX-License-Identifier: GPL-2.0-only
"""Idle Sense and AAP in dcfmedium: what their papers promise."""

from __future__ import annotations

from typing import Any

import pytest

from apbed.papers import fairness, idle_sense
from apbed.papers.phy import MAC_OVERHEAD_BYTES, OFDM_54
from tests.medium.dcfmedium import saturate


def cell(access: str, stations: int) -> dict[str, Any]:
    """Statistics of 1500-byte payloads over ofdm-54."""
    words = ["--access", access, "--stations", str(stations), "--phy", "ofdm-54"]
    return saturate(*words, "--payload", "1500", "--seconds", "60")


def test_target_is_the_papers() -> None:
    """1500-byte payloads: a collision is the frame and EIFS."""
    collision_us = OFDM_54.airtime_us(1500 + MAC_OVERHEAD_BYTES, 54) + OFDM_54.eifs_us
    target = idle_sense.target_idle_slots(collision_us / OFDM_54.slot_us)
    assert cell("idle-sense", 2)["idle_target"] == pytest.approx(target, abs=1e-4)


@pytest.mark.parametrize("stations", [2, 5, 10, 20])
def test_idle_sense_reaches_its_target_fairly(stations: int) -> None:
    stats = cell("idle-sense", stations)
    for station in stats["stations"]:
        assert station["mean_idle_slots"] == pytest.approx(stats["idle_target"], rel=0.05)
    assert stats["jain_1s"]["mean"] > 0.99


def test_idle_sense_serves_a_crowd_better_than_dcf() -> None:
    """SIGCOMM 2005, Fig 5: DCF's throughput falls with the number of stations, Idle Sense's not."""
    crowd = cell("idle-sense", 50)["throughput_mbps"]
    assert crowd > 1.2 * cell("dcf", 50)["throughput_mbps"]
    assert crowd > 0.95 * cell("idle-sense", 5)["throughput_mbps"]


@pytest.mark.parametrize("stations", [1, 2, 5, 10, 20])
def test_aap_has_two_thirds(stations: int) -> None:
    """Twice as many successful accesses as all the others together."""
    stats = cell("aap", stations + 1)
    access_point, *others = (station["delivered"] for station in stats["stations"])
    assert access_point / (access_point + sum(others)) == pytest.approx(2 / 3, rel=0.03)
    for station in stats["stations"][1:]:
        assert station["mean_idle_slots"] == pytest.approx(stats["idle_target"], rel=0.05)


@pytest.mark.parametrize("access", ["idle-sense", "aap"])
@pytest.mark.parametrize("stations", [5, 10, 20])
def test_unfairness_is_that_of_chance(access: str, stations: int) -> None:
    """What Jain's index lacks of 1 in a second is what the randomness of equal backoffs leaves."""
    stats = cell(access, stations + (access == "aap"))
    alike = stats["stations"][-stations:]
    tx, collided = (sum(s[key] for s in alike) for key in ("tx", "collisions"))
    frames = sum(s["delivered"] for s in alike) / stations / stats["virtual_s"]
    window = sum(s["window"] for s in alike) / stations
    variation = fairness.uniform_backoff(window, collided / tx)
    expected = fairness.jain(stations, frames, variation)
    assert 1 - stats["jain_1s"]["mean"] == pytest.approx(1 - expected, rel=0.15)
    if (access, stations) == ("aap", 20):
        # 42 frames a second each: 0.99 is out of reach, of a memoryless access by far.
        assert fairness.jain(stations, frames, fairness.MEMORYLESS) < expected < 0.99
