# SPDX-License-Identifier: GPL-2.0-only
"""A phone falls asleep beside three downloads, and mac80211's own queues hold what is for it.

IEEE Std 802.11-2012, 10.2.1: the access point keeps frames for a station in power save until it
wakes up. What waits for it must not take the others' turns.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.experiments.campaign import Run, carried_out

pytestmark = pytest.mark.usefixtures("lab_kernel")

ASLEEP_S, AWAKE_S, DURATION_S = 5, 12, 16
CELL = f"""
schema = 1
name = "power-save"
title = "three downloads beside a phone"
duration_s = {DURATION_S}
warmup_s = {ASLEEP_S}
[ap]
qdisc = "noqueue"
radio = "queues"
airtime_fairness = true
aql = true
[station]
count = 4
[[flow]]
id = "phone"
station = "sta4"
dir = "pulse_down"
every_s = 0.1
bytes = 160
""" + "".join(
    f'[[flow]]\nid = "down{number}"\nstation = "sta{number}"\ndir = "down"\n'
    for number in (1, 2, 3)
)
SLEEP = f"""
[[sleep]]
station = "sta4"
start_s = {ASLEEP_S}
seconds = {AWAKE_S - ASLEEP_S}
"""


def cell(tmp_path: Path, name: str, text: str, line: str) -> Run:
    path = tmp_path / f"{name}.toml"
    path.write_text(text)
    (run,) = carried_out(path, tmp_path / name, line)
    return run


def total_mbps(run: Run) -> float:
    """Of the three downloads."""
    return float(sum(flow["goodput_mbps"] for flow in run["flows"] if flow["dir"] == "down"))


def phone(run: Run) -> list[tuple[float, float]]:
    """Of each second, its middle and what the phone got in it, in Mb/s."""
    (flow,) = (flow for flow in run["flows"] if flow["dir"] == "pulse_down")
    return [(time_s, mbps) for time_s, mbps in flow["goodput_series"]]


def test_a_sleeping_station_costs_the_others_nothing(tmp_path: Path, line: str) -> None:
    """The phone gets nothing while it sleeps, and each second something before and afterwards."""
    awake = cell(tmp_path, "awake", CELL, line)
    asleep = cell(tmp_path, "asleep", CELL + SLEEP, line)
    assert total_mbps(asleep) == pytest.approx(total_mbps(awake), rel=0.02)
    last = DURATION_S - 2
    assert all(mbps > 0 for time_s, mbps in phone(awake) if 1 < time_s < last)
    got = phone(asleep)
    assert not any(mbps for time_s, mbps in got if ASLEEP_S + 1 < time_s < AWAKE_S)
    assert all(mbps > 0 for time_s, mbps in got if 1 < time_s < ASLEEP_S)
    assert all(mbps > 0 for time_s, mbps in got if AWAKE_S + 1 < time_s < last)
