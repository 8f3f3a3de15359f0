# SPDX-License-Identifier: GPL-2.0-only
"""`inflight auto` on an access point whose TX statuses come late.

Documentation/measurements/inflight.md has more delays.
"""

from __future__ import annotations

from pathlib import Path
from statistics import fmean

from tests.experiments.campaign import Run, carried_out


def round_trip_ms(run: Run) -> float:
    """Inside the connections, the mean of their medians."""
    return fmean(flow["rtt_ms"]["p50"] for flow in run["flows"] if flow["dir"] in ("down", "up"))


def test_late_statuses_cost_nobody_anything(tmp_path: Path) -> None:
    """As much goodput, as equal. Below, no more waits than what the device sends in the delay."""
    delay_ms = 100
    in_time, late = carried_out(
        "mixes",
        tmp_path,
        'case=["lasack"]',
        'mix="dl2-ul2"',
        "seed=1",
        "wired.delay_ms=10",
        "ap.aql=false",
        "ap.hw_frames=64",
        f"ap.tx_status_delay_ms=[0,{delay_ms}]",
        "duration_s=20",
        "warmup_s=10",
    )
    assert late["goodput_mbps"]["total"] >= 0.97 * in_time["goodput_mbps"]["total"]
    assert 0.95 <= late["ratio_down_up"] <= 1.05
    assert late["jain"] >= 0.98
    assert round_trip_ms(late) <= round_trip_ms(in_time) + delay_ms
