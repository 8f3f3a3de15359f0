# SPDX-License-Identifier: GPL-2.0-only
"""Near servers, and stations with a fair queue: what lasack does without an option.

A download's data waits for 100 ms, or for two thirds of the round trip to a near server, 50 ms at
least. So with a server next door it waits for half as long as with `target 100ms`, which is for
all. A part of its round trip is not this wait, hence the bar of three quarters. Behind 150 ms the
two are the same.
"""

from __future__ import annotations

from pathlib import Path
from statistics import mean

import pytest

from tests.experiments.campaign import Run, carried_out

pytestmark = pytest.mark.usefixtures("lab_kernel")

FAIR = 0.05


def round_trip_ms(run: Run, quantile: str, *directions: str) -> float:
    """Inside the connections in these directions, in the mean."""
    return mean(
        float(flow["rtt_ms"][quantile])
        for flow in run["flows"]
        if flow["dir"] in directions and flow["rtt_ms"]
    )


def of_targets(out: Path, delay_ms: float) -> tuple[float, float]:
    """The round trips with `target auto` and with `target 100ms`, ms."""
    runs = carried_out(
        "mixes",
        out,
        "seed=1",
        "duration_s=15",
        "mix=dl2-ul2",
        f"wired.delay_ms={delay_ms}",
        'case=["lasack"]',
        'ap.qdisc=["lasack", "lasack target 100ms"]',
    )
    auto, fixed = (round_trip_ms(run, "p50", "down") for run in runs)
    return auto, fixed


def test_data_waits_less_if_its_server_is_near(tmp_path: Path) -> None:
    auto, fixed = of_targets(tmp_path / "out", 0.0)
    assert auto < 0.75 * fixed


def test_data_waits_as_long_if_its_server_is_far(tmp_path: Path) -> None:
    auto, fixed = of_targets(tmp_path / "out", 75.0)
    assert auto == fixed


def test_a_laptop_s_uploads_have_their_share(tmp_path: Path) -> None:
    """Its queue is a fair one. As equal as with what an access point has today, and quicker."""
    ours, todays = carried_out(
        "rrul",
        tmp_path / "out",
        "seed=1",
        "duration_s=20",
        'case=["lasack / stations today", "mac80211 airtime AQL / stations today"]',
    )
    assert abs(ours["ratio_down_up"] - 1) <= abs(todays["ratio_down_up"] - 1) + FAIR
    both = "down", "up"
    assert round_trip_ms(ours, "p90", *both) <= round_trip_ms(todays, "p90", *both)
