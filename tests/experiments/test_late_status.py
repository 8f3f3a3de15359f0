# SPDX-License-Identifier: GPL-2.0-only
"""`inflight auto` on an access point whose TX statuses come late.

Documentation/measurements/inflight.md has more delays.
"""

from __future__ import annotations

from pathlib import Path

from tests.experiments.campaign import carried_out


def test_late_statuses_cost_nobody_anything(tmp_path: Path) -> None:
    """As much goodput, as equal. What is below waits for at most 50 ms longer, the delay's half."""
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
