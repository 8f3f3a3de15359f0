# SPDX-License-Identifier: GPL-2.0-only
"""TX statuses that come late: a frame counts as in hardware until its status has come.

So with N frames in hardware, a time c from one frame to the next and statuses that are late by D,
N frames go in D + c, if that is longer than N c.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.experiments.campaign import carried_out
from tests.radio.alone import PAYLOAD_BYTES, cycle_us

pytestmark = pytest.mark.usefixtures("lab_kernel")

HW_FRAMES, DELAY_MS, MBPS = 8, 20, 11.0
CELL = f"""
schema = 1
name = "late"
title = "one download whose TX statuses are late"
duration_s = 5
warmup_s = 1
[ap]
qdisc = "noqueue"
radio = "queues"
hw_frames = {HW_FRAMES}
tx_status_delay_ms = {DELAY_MS}
[station]
count = 1
[[flow]]
id = "down"
station = "sta1"
dir = "pulse_down"
count = 5000
every_s = 0.001
bytes = {PAYLOAD_BYTES}
"""


def test_the_hardware_is_full_for_longer(tmp_path: Path, line: str) -> None:
    path = tmp_path / "late.toml"
    path.write_text(CELL)
    (run,) = carried_out(path, tmp_path / "out", line)
    between_us = cycle_us(MBPS)
    assert HW_FRAMES * between_us < 1000 * DELAY_MS
    model = 8 * PAYLOAD_BYTES * HW_FRAMES / (1000 * DELAY_MS + between_us)
    (flow,) = run["flows"]
    assert flow["goodput_mbps"] == pytest.approx(model, rel=0.03)
