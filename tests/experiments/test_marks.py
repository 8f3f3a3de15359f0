# SPDX-License-Identifier: GPL-2.0-only
"""Marks: who says that a download is voice gains nothing by it, and a call that is one is quick.

The bars are those of the house: shares within 5 %, of a call's datagrams no more than one in a
thousand later than 50 ms, and none of this slower than what an access point has today.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.experiments.campaign import Run, carried_out

pytestmark = pytest.mark.usefixtures("lab_kernel")

FAIR = 0.05
MARKED = """\
schema = 1
name = "all-marked"
title = "Eight downloads marked as voice beside an upload"
duration_s = 20.0
warmup_s = 5.0

[medium]
phy = "hrdsss-11"
retry = 7
edca = "hostapd"

[ap]
qdisc = "lasack"
radio = "queues"

[station]
count = 9
qdisc = "noqueue"
inflight = 0
radio = "queues"

[[flow]]
id = "up"
station = "sta9"
dir = "up"
"""


def goodput(run: Run) -> dict[str, float]:
    """Mb/s of each connection."""
    return {
        flow["id"]: flow["goodput_mbps"] for flow in run["flows"] if flow["dir"] in ("up", "down")
    }


def call(run: Run) -> dict[str, Any]:
    found: dict[str, Any]
    (found,) = [flow for flow in run["flows"] if flow["id"] == "call"]
    return found


def test_one_marked_download_has_its_share(tmp_path: Path) -> None:
    ours, todays = carried_out(
        "marks",
        tmp_path / "out",
        "seed=1",
        "duration_s=20",
        "warmup_s=5",
        'case=["lasack", "mac80211 airtime AQL"]',
    )
    shares = goodput(ours)
    assert len(shares) == 4
    mean = sum(shares.values()) / len(shares)
    assert shares["marked"] <= mean * (1 + FAIR)
    assert min(shares.values()) >= mean * (1 - FAIR)
    assert call(ours)["late_frames"]["share"] <= 0.001
    assert call(ours)["delay_ms"]["p99"] <= call(todays)["delay_ms"]["p99"]


def test_a_station_that_marks_all_it_sends_has_its_share(tmp_path: Path) -> None:
    (run,) = carried_out(
        "marked-station",
        tmp_path / "out",
        "seed=1",
        "duration_s=20",
        'case=["lasack"]',
    )
    shares = goodput(run)
    assert len(shares) == 6
    station = {k: shares[f"down{k}"] + shares[f"up{k}"] for k in (1, 2, 3)}
    mean = sum(station.values()) / len(station)
    assert station[1] <= mean * (1 + FAIR)
    assert min(shares.values()) >= mean / 2 * (1 - FAIR)
    assert call(run)["late_frames"]["share"] <= 0.001


def test_eight_marked_downloads_leave_an_upload_its_share(tmp_path: Path) -> None:
    (tmp_path / "cell.toml").write_text(
        MARKED
        + "".join(
            f'[[flow]]\nid = "down{k}"\nstation = "sta{k}"\ndir = "down"\ndscp = "CS6"\n'
            for k in range(1, 9)
        )
    )
    (run,) = carried_out(tmp_path / "cell.toml", tmp_path / "out")
    shares = goodput(run)
    assert len(shares) == 9
    assert shares["up"] >= sum(shares.values()) / 9 * (1 - FAIR)
