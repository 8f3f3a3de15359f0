# SPDX-License-Identifier: GPL-2.0-only
"""The direct radio and the one that pulls from mac80211's queues share the air alike.

One flow of datagrams to each station and one from it, more than the air can carry. Below a FIFO
that lets one packet go at a time both radios have the same frames at the same times, so the medium
decides the same. Where the packets wait in mac80211 instead, only who is next differs.
"""

from __future__ import annotations

from math import sqrt
from pathlib import Path

import pytest

from tests.experiments.campaign import Run, carried_out

pytestmark = pytest.mark.usefixtures("lab_kernel")

CELL = Path(__file__).parent / "agreement.toml"


def cell(out: Path, case: str, line: str) -> Run:
    (run,) = carried_out(CELL, out / case, line, f"case={case}")
    return run


def total_mbps(run: Run) -> float:
    return float(sum(flow["goodput_mbps"] for flow in run["flows"]))


def collision_probability(run: Run) -> float:
    return float(run["medium"]["collision_probability"])


def test_the_radios_agree(tmp_path: Path, line: str) -> None:
    direct = cell(tmp_path, "direct", line)
    queues = cell(tmp_path, "queues", line)
    assert queues["medium"]["digest"] == direct["medium"]["digest"]
    assert total_mbps(queues) == total_mbps(direct)
    assert {name: one["drops"] for name, one in queues["mac80211"].items()} == dict.fromkeys(
        ("ap", "sta1", "sta2", "sta3"), 0
    )

    noqueue = cell(tmp_path, "noqueue", line)
    assert total_mbps(noqueue) == pytest.approx(total_mbps(direct), rel=0.02)
    # Two samples of the same probability: within three standard deviations of their difference.
    p, attempts = collision_probability(direct), direct["medium"]["tx"]
    apart = 3 * sqrt(2 * p * (1 - p) / attempts)
    assert collision_probability(noqueue) == pytest.approx(p, abs=apart)
    for name, one in noqueue["mac80211"].items():
        assert one["drops"] > 0, name
        assert one["backlog_packets"]["mean"] > 2 * 8, name
