# SPDX-License-Identifier: GPL-2.0-only
"""802.11n and ac: mac80211 starts A-MPDU sessions, and knows the true rates and airtimes.

Two stations at MCS 0 and 7, to which more is sent than the air can carry. With airtime fairness
each gets as much air. The medium, which knows nothing of mac80211's sums, measures it. AQL is
on as well: 64 slow frames in hardware are 120 ms of air, charged when they have been sent.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.experiments.campaign import carried_out
from tests.radio.alone import PROBE

pytestmark = pytest.mark.usefixtures("lab_kernel")

SLOW_MBPS, FAST_MBPS = 6.5, 65.0
LONGEST_US = 5484  # of a PPDU (802.11-2012, 9.12.2)
PAYLOAD_BYTES = 1400
MPDU_BYTES = PAYLOAD_BYTES + 28 + 8 + 26 + 4  # UDP and IP, LLC and SNAP, QoS header, FCS
# DIFS, mean backoff, preamble, SIFS and block ACK at 24 Mb/s (clause 20 at 5 GHz).
ACCESS_US = 34 + 9 * 15 / 2 + 36 + 16 + 32
TURN = 32  # frames of a station's turn: half of what the hardware holds
CELL = f"""
schema = 1
name = "aggregation"
title = "a slow and a fast station with A-MPDU"
duration_s = 4
warmup_s = 1
[medium]
phy = "ht20"
stations = "sta1,rate={SLOW_MBPS:g}"
[ap]
qdisc = "noqueue"
radio = "queues"
hw_frames = {2 * TURN}
airtime_fairness = true
aql = true
[station]
count = 2
[[flow]]
id = "down"
station = "each"
dir = "pulse_down"
count = 20000
every_s = 0.0002
bytes = {PAYLOAD_BYTES}
"""

FASTER = CELL.replace("count = 20000\nevery_s = 0.0002", "count = 35000\nevery_s = 0.00006")


def outcome(tmp_path: Path, line: str, *settings: str) -> dict[str, Any]:
    """The run's summary, and of the whole run what the medium and mac80211 counted."""
    path = tmp_path / "aggregation.toml"
    # Twice 187 Mb/s, more than 802.11ac carries.
    path.write_text(CELL if "medium.phy=vht80" not in settings else FASTER)
    (run,) = carried_out(path, tmp_path / "out", line, *settings)
    (directory,) = (tmp_path / "out" / "runs").iterdir()
    medium, queues = (
        json.loads((directory / f"{name}.json").read_text()) for name in ("medium", "mac80211")
    )
    return {
        "goodput": [flow["goodput_mbps"] for flow in run["flows"]],
        "air_s": {one["name"]: one["airtime_to_s"] for one in medium["stations"]},
        "per_ampdu": medium["stations"][0]["ampdu_mpdus"] / medium["stations"][0]["ampdus"],
        "first": queues["samples"][0]["queues"]["ap"],
        "last": queues["samples"][-1]["queues"]["ap"],
    }


def test_equal_airtime_with_sessions(tmp_path: Path, line: str) -> None:
    found = outcome(tmp_path, line)
    slow, fast = (found["air_s"][name] for name in ("sta1", "sta2"))
    assert fast == pytest.approx(slow, rel=0.05)
    assert [found["last"][name]["ampdu_sessions"] for name in ("sta1", "sta2")] == [1, 1]
    # mac80211 counts a preamble of 40 us for 36, no delimiters and no symbols begun.
    for name in ("sta1", "sta2"):
        counted = found["last"][name]["airtime_tx_us"] - found["first"][name]["airtime_tx_us"]
        assert counted / 1e6 == pytest.approx(found["air_s"][name], rel=0.05)
    # The longest A-MPDU, of 5.484 ms, is that of both: what precedes it is in proportion.
    assert found["goodput"][1] / found["goodput"][0] == pytest.approx(
        FAST_MBPS / SLOW_MBPS, rel=0.05
    )


def test_equal_airtime_on_ac(tmp_path: Path, line: str) -> None:
    """802.11ac: 80 MHz at 5 GHz, MCS 0 and MCS 9."""
    slow_mbps, fast_mbps = 29.3, 390.0
    words = ("medium.phy=vht80", f"medium.stations=sta1,rate={slow_mbps}")
    found = outcome(tmp_path, line, *words, "duration_s=2", "warmup_s=0.5")
    slow, fast = (found["air_s"][name] for name in ("sta1", "sta2"))
    assert fast == pytest.approx(slow, rel=0.05)
    for name in ("sta1", "sta2"):
        assert found["last"][name]["ampdu_sessions"] == 1
        counted = found["last"][name]["airtime_tx_us"] - found["first"][name]["airtime_tx_us"]
        assert counted / 1e6 == pytest.approx(found["air_s"][name], rel=0.05)
    # Preambles take 1 % of the slow station's A-MPDUs of 5 ms, and 2 to 4 % of the other's.
    assert found["goodput"][1] / found["goodput"][0] == pytest.approx(
        fast_mbps / slow_mbps, rel=0.05
    )


def test_equal_frames_without_airtime_fairness(tmp_path: Path, line: str) -> None:
    found = outcome(tmp_path, line, "ap.airtime_fairness=false", "ap.aql=false")
    slow, fast = found["goodput"]
    assert fast == pytest.approx(slow, rel=0.05)
    # So does the anomaly hold: the slow frames take nearly all of the time, three to an A-MPDU.
    slow_us, fast_us = (8 * MPDU_BYTES / rate for rate in (SLOW_MBPS, FAST_MBPS))
    assert int(LONGEST_US / slow_us) == 3
    slow_us += ACCESS_US / 3
    fast_us += ACCESS_US / TURN
    assert slow == pytest.approx(8 * PAYLOAD_BYTES / (slow_us + fast_us), rel=0.05)


def test_a_station_at_mcs_0_is_slow_upwards_too(tmp_path: Path, line: str) -> None:
    """It sends alone, three frames to an A-MPDU, as the access point does to it."""
    path = tmp_path / "aggregation.toml"
    path.write_text(
        CELL.replace("pulse_down", "pulse").replace("count = 2\n", "count = 1\n") + PROBE
    )
    (run,) = carried_out(path, tmp_path / "out", line, "station.inflight=64")
    flow, _probe = run["flows"]
    frame_us = 8 * MPDU_BYTES / SLOW_MBPS
    assert int(LONGEST_US / frame_us) == 3
    model = 8 * PAYLOAD_BYTES / (frame_us + ACCESS_US / 3)
    assert flow["goodput_mbps"] == pytest.approx(model, rel=0.05)
