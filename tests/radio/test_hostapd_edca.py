# SPDX-License-Identifier: GPL-2.0-only
"""What hostapd configures is what acts: the access point has one set of contention parameters, its
stations another.

A run whose driver was told something else than the medium has is invalid (guest/categories.py).
"""

from __future__ import annotations

import json
from math import sqrt
from pathlib import Path

import pytest

from apbed.papers.edca_pair import pair
from tests.experiments.campaign import carried_out

pytestmark = pytest.mark.usefixtures("lab_kernel")

OWN_WINDOW, STATIONS_WINDOW = 8, 16  # numbers of values
# Constant windows, for which the chain is exact.
EDCA = "hostapd tx_queue_data2_cwmin=7 tx_queue_data2_cwmax=7 wmm_ac_be_cwmin=4 wmm_ac_be_cwmax=4"
CELL = f"""
schema = 1
name = "hostapd-edca"
title = "an access point and a station that always have a datagram"
duration_s = 8
[medium]
edca = "{EDCA}"
eifs = false
[ap]
qdisc = "noqueue"
radio = "queues"
[station]
count = 1
inflight = 2
[[flow]]
id = "down"
station = "sta1"
dir = "pulse_down"
count = 8000
every_s = 0.001
bytes = 1400
[[flow]]
id = "up"
station = "sta1"
dir = "pulse"
count = 8000
every_s = 0.001
bytes = 1400
"""


def test_the_access_points_windows_and_the_stations(tmp_path: Path, line: str) -> None:
    path = tmp_path / "hostapd-edca.toml"
    path.write_text(CELL)
    carried_out(path, tmp_path / "out", line)
    (run,) = (tmp_path / "out" / "runs").iterdir()
    stations = json.loads((run / "medium.json").read_text())["stations"]
    delivered = {one["name"]: one["delivered"] for one in stations}
    both = delivered["ap"] + delivered["sta1"]
    assert both > 3000
    share = pair((OWN_WINDOW, STATIONS_WINDOW), 0).first
    chance = 4 * sqrt(share * (1 - share) / both)
    assert delivered["ap"] / both == pytest.approx(share, abs=chance)


def test_hostapds_defaults_are_those_that_the_medium_has(tmp_path: Path, line: str) -> None:
    """hostapd's configuration then has no such line."""
    path = tmp_path / "hostapd-edca.toml"
    path.write_text(CELL)
    words = ("medium.edca=hostapd", "duration_s=1", "station.count=2")
    (run,) = carried_out(path, tmp_path / "out", line, *words)
    assert run["valid"]
