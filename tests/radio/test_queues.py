# SPDX-License-Identifier: GPL-2.0-only
"""A radio that pulls from mac80211's own queues: packets wait there, and runs repeat."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.experiments import repeats
from tests.experiments.campaign import Run, carried_out

pytestmark = pytest.mark.usefixtures("lab_kernel")

SHORT = ("seed=1", "duration_s=8", "warmup_s=2")
TODAY = ("case=mac80211 airtime AQL",)
HW_FRAMES = 8  # the default
# The largest estimate that fits into a frame's 10 bits of 4 us (struct ieee80211_tx_info).
ESTIMATE_MAX_US = 4 * 1023
LOW_US, HIGH_US = 5000, 12000  # mac80211's limits (net/mac80211/ieee80211_i.h)


@pytest.fixture(scope="module")
def today(tmp_path_factory: pytest.TempPathFactory, line: str) -> Path:
    """dl2-ul2 through mac80211's queues with airtime fairness and AQL, twice."""
    out = tmp_path_factory.mktemp("today")
    for name in ("first", "second"):
        carried_out("rivals", repeats.place(out, name), line, *SHORT, *TODAY)
    return out


def only(out: Path) -> Run:
    found: dict[str, Any] = json.loads((out / "summary.json").read_text())
    (run,) = found["runs"]
    return dict(run)


def in_medium(out: Path) -> int:
    """The most frames of the access point that the medium had at once."""
    (path,) = (out / "runs").glob("*/medium.json")
    ap, *_ = json.loads(path.read_text())["stations"]
    assert ap["name"] == "ap"
    return int(ap["queue_high_water"])


def test_a_run_repeats(today: Path) -> None:
    found = {name: repeats.fingerprints(repeats.place(today, name)) for name in ("first", "second")}
    assert [len(runs) for runs in found.values()] == [1, 1]
    assert repeats.differences(found) == []


def test_packets_waited_in_mac80211(today: Path) -> None:
    """Above them nothing holds a packet; in hardware there is room for a few only."""
    run = only(today / "first")
    assert [qdisc["kind"] for qdisc in run["qdisc"]] == ["noqueue"]
    queues = run["mac80211"]["ap"]
    # Frames of data, a beacon and another frame that mac80211 does not queue.
    assert HW_FRAMES <= in_medium(today / "first") <= HW_FRAMES + 2
    assert queues["backlog_packets"]["mean"] > 2 * HW_FRAMES
    assert queues["drops"] > 0
    assert list(run["mac80211"]) == ["ap"]


def test_aql_keeps_its_limits(today: Path) -> None:
    """A station may send while its estimate is below the limit: at most one frame goes beyond."""
    pending = only(today / "first")["mac80211"]["ap"]["aql_pending_us"]
    assert (pending["low"], pending["high"]) == (LOW_US, HIGH_US)
    assert 0 < pending["max"] < HIGH_US + ESTIMATE_MAX_US


def test_airtime_is_registered_both_ways(today: Path) -> None:
    """sta1 and sta2 upload: the access point hears more of them than it sends to them."""
    airtime = only(today / "first")["mac80211"]["ap"]["airtime_us"]
    for name in ("sta1", "sta2"):
        assert airtime[name]["rx"] > airtime[name]["tx"] > 0
    for name in ("sta3", "sta4"):
        assert airtime[name]["tx"] > airtime[name]["rx"] > 0


def test_lasack_above_them_decides_all(tmp_path: Path, line: str) -> None:
    """Its bound lets fewer packets go than the hardware holds: mac80211 never has a choice.

    So the medium decides the same as over a direct radio, to which a packet's way takes some
    nanoseconds less. With `auto` those may decide at which packet a second of the bound is over,
    and with a target by how many bytes a window changes, which follows from how long ACKs waited.
    """
    direct = ("ap.radio=direct", "ap.airtime_fairness=false", "ap.aql=false")
    two = ("case=lasack", 'ap.qdisc="lasack inflight 2 target off"')
    (alone,) = carried_out("rivals", tmp_path / "direct", line, *SHORT, *direct, *two)
    (same,) = carried_out("rivals", tmp_path / "same", line, *SHORT, *two)
    assert same["medium"]["digest"] == alone["medium"]["digest"]
    (above,) = carried_out("rivals", tmp_path / "above", line, *SHORT, "case=lasack")
    assert [qdisc["kind"] for qdisc in above["qdisc"]] == ["lasack"]
    assert above["mac80211"]["ap"]["packets"] > 0
    assert above["mac80211"]["ap"]["backlog_packets"]["max"] == 0
    assert alone["mac80211"] is None
