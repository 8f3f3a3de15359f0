# SPDX-License-Identifier: GPL-2.0-only
"""dcfmedium's hidden stations and capture, by the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.medium.dcfmedium import assert_refused, output, saturate

CELL = ("--stations", "2", "--phy", "hrdsss-11", "--payload", "1500", "--seconds", "100", "--sink")


def pair(*words: str) -> dict[str, Any]:
    """The statistics of two stations and what they send to, which must add up."""
    stats = saturate(*CELL, *words)
    for s in stats["stations"]:
        assert s["tx"] == s["delivered"] + s["collisions"] + s["unanswered"] + s["lost"]
        assert s["frames_in"] == s["delivered"] + s["drops"] + s["backlog"]
    return stats


def test_rts_cures_a_hidden_pair() -> None:
    """A collision costs an RTS, and only an RTS that meets an RTS collides."""
    basic = pair("--hidden", "sta1:sta2")
    cured = pair("--hidden", "sta1:sta2", "--rts", "0")
    heard = pair()
    assert basic["collision_probability"] > 5 * heard["collision_probability"]
    assert cured["collision_probability"] < basic["collision_probability"] / 1.5
    assert basic["throughput_mbps"] < cured["throughput_mbps"] < heard["throughput_mbps"]
    assert cured["drops"] < basic["drops"] / 2


def test_capture_serves_the_stronger() -> None:
    hidden = ("--hidden", "sta1:sta2", "--station", "1,signal=10")
    strong, weak, _ = pair(*hidden, "--capture", "6")["stations"]
    assert strong["collisions"] == 0
    assert strong["delivered"] > 2 * weak["delivered"]
    without = pair(*hidden)
    assert without["digest"] == pair("--hidden", "sta1:sta2")["digest"]


def test_replay_knows_who_is_hidden(tmp_path: Path) -> None:
    trace = str(tmp_path / "trace")
    pair("--hidden", "sta1:sta2", "--station", "2,signal=3", "--record", trace)
    output("replay", trace)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--hidden", "sta1"), "'sta1' is not A:B, the names of two stations"),
        (("--hidden", "sta1:sta9"), "there is no station 'sta9'"),
        (("--hidden", "sta1:sta1"), "cannot be hidden from itself"),
        (("--capture", "much"), "'much' is not a number of dB"),
        (("--edca", "default"), "--sink takes no --edca"),
    ],
)
def test_bad_usage_is_one_line_and_exit_2(words: tuple[str, ...], says: str) -> None:
    assert_refused(says, "saturate", *CELL, *words)
