# SPDX-License-Identifier: GPL-2.0-only
"""mac80211's own queues: what is read of them in the guest, and what is said of them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from apbed.analysis import own_queues, summary, validity
from guest.own_queues import airtimes, pending, queue_counters, read_at_once
from guest.radios import queue_words
from tests.apbed import fabricated_run
from tests.apbed.scenario.test_scenario import CELL, load

# As net/mac80211/debugfs_sta.c of 6.1 prints them.
AQM = """\
target 19999us interval 99999us ecn yes
tid ac backlog-bytes backlog-packets new-flows drops marks overlimit collisions tx-bytes \
tx-packets flags
0 2 3000 2 5 7 1 4 0 15000 10 0x2(RUN AMPDU NO-AMSDU)
1 3 100 1 0 0 0 0 0 0 0 0x0(RUN)
"""
AIRTIME = """\
RX: 274 us
TX: 18 us
Weight: 256
Deficit: VO: 256 us VI: 256 us BE: -1200 us BK: 256 us
"""
AQL = """\
Q depth: VO: 0 us VI: 0 us BE: 4100 us BK: 0 us
Q limit[low/high]: VO: 5000/12000 VI: 5000/12000 BE: 5000/12000 BK: 5000/12000
"""
FRAMES = fabricated_run.FRAMES


def test_debugfs_is_read() -> None:
    newer = AQM.split("\n", 1)[1]  # 6.12 has no line of parameters
    assert queue_counters(newer) == queue_counters(AQM)
    assert queue_counters(AQM) == {
        "backlog_packets": 3,
        "backlog_bytes": 3100,
        "codel_drops": 7,
        "codel_marks": 1,
        "overlimit_drops": 4,
        "tx_packets": 10,
        "tx_bytes": 15000,
        "ampdu_sessions": 1,
    }
    assert airtimes(AIRTIME) == {"airtime_tx_us": 18, "airtime_rx_us": 274}
    found = pending(AQL)
    assert found["aql_pending_us"] == {"VO": 0, "VI": 0, "BE": 4100, "BK": 0}
    assert found["aql_high_us"] == dict.fromkeys(("VO", "VI", "BE", "BK"), 12000)


def test_a_file_that_grows_is_read_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """mac80211 prints anew for each read(): the second one would get what has been added since."""
    file, real, calls = tmp_path / "aqm", os.read, []

    def growing(descriptor: int, most: int) -> bytes:
        got = real(descriptor, most)
        calls.append(got)
        file.write_bytes(file.read_bytes() + b"\n")
        return got

    file.write_text(AQM)
    monkeypatch.setattr(os, "read", growing)
    assert read_at_once(file) == AQM
    assert len(calls) == 1


def test_the_driver_is_told_the_roles(tmp_path: Path) -> None:
    """The first value is the access point's; 0 frames make a direct radio."""

    def words(*settings: str) -> list[str]:
        return queue_words(load(tmp_path, CELL, *settings).runs[0].plan)

    assert words() == []
    assert words("ap.radio=queues", "ap.hw_frames=3", "ap.aql=true") == [
        "hw_frames=3,0",
        "aggregate=1,1",
        "airtime_fairness=0,0",
        "aql=1,0",
    ]
    assert words("station.radio=queues", "station.airtime_fairness=true") == [
        "hw_frames=0,8",
        "aggregate=1,1",
        "airtime_fairness=0,1",
        "aql=0,0",
    ]
    ht20 = ("medium.phy=ht20", "ap.radio=queues", "ap.hw_frames=64")
    assert words(*ht20)[:2] == ["hw_frames=64,0", "aggregate=32,1"]


def queues(packets: int, backlog: int, drops: int, pending_us: int) -> dict[str, Any]:
    """One station's counters."""
    return {
        "backlog_packets": backlog,
        "codel_drops": drops,
        "overlimit_drops": 0,
        "tx_packets": packets,
        "airtime_tx_us": 100 * packets,
        "airtime_rx_us": 0,
        "aql_pending_us": {"BE": pending_us},
        "aql_low_us": {"BE": 5000},
        "aql_high_us": {"BE": 12000},
    }


def run_directory(path: Path, packets: int, qdisc: str = "noqueue") -> Path:
    """A run with `queues` whose access point let so many packets go from mac80211."""
    fabricated_run.run_directory(path)
    run = json.loads((path / "run.json").read_text())
    run["plan"]["ap"] |= {"radio": "queues", "qdisc": qdisc, "inflight": 0}
    fabricated_run.write(path / "run.json", run)
    guest = json.loads((path / "guest.json").read_text())
    fabricated_run.write(path / "guest.json", guest | {"qdisc_expected": [qdisc]})
    for name, sent in (("qdisc_start.json", 0), ("qdisc.json", FRAMES + 700)):
        counted = 0 if qdisc == "noqueue" else sent
        entry = {"kind": qdisc, "root": True, "options": {}, "packets": counted}
        fabricated_run.write(path / name, [entry])
    samples = [
        {"t_s": 0.0, "queues": {"ap": {"sta1": queues(5, 0, 2, 0)}}},
        {"t_s": 40.0, "queues": {"ap": {"sta1": queues(5 + packets, 300, 402, 6000)}}},
    ]
    fabricated_run.write(path / "mac80211.json", {"schema": 1, "samples": samples})
    return path


def test_a_summary_has_them(tmp_path: Path) -> None:
    found = summary.summarize_run(run_directory(tmp_path / "run", FRAMES))
    assert found["why_invalid"] is None
    assert found["mac80211"] == {
        "ap": {
            "packets": FRAMES,
            "drops": 400,
            "backlog_packets": {"mean": 150.0, "max": 300},
            "backlog_at_end": 300,
            "airtime_us": {"sta1": {"tx": 100 * FRAMES, "rx": 0}},
            "aql_pending_us": {"max": 6000, "low": 5000, "high": 12000},
        }
    }
    assert own_queues.summary(fabricated_run.run_directory(tmp_path / "direct")) is None


def test_a_run_past_them_is_invalid(tmp_path: Path) -> None:
    past = run_directory(tmp_path / "past", FRAMES - 200)
    assert validity.why_invalid(past) == (
        f"mac80211's queues sent {FRAMES - 200} packets, the medium got {FRAMES} frames"
    )
    (past / "mac80211.json").unlink()
    assert "mac80211.json does not say" in str(validity.why_invalid(past))


def test_what_waits_below_a_scheduler_was_not_lost(tmp_path: Path) -> None:
    """It sent 700 packets more than the medium got: 400 were dropped below it, 300 wait there."""
    above = run_directory(tmp_path / "above", FRAMES, "pfifo")
    assert validity.why_invalid(above) is None
    table = json.loads((above / "mac80211.json").read_text())
    table["samples"][1]["queues"]["ap"]["sta1"]["codel_drops"] = 102
    fabricated_run.write(above / "mac80211.json", table)
    assert f"pfifo sent {FRAMES + 700} packets" in str(validity.why_invalid(above))
