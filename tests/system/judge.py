# SPDX-License-Identifier: GPL-2.0-only
"""What the guest's scripts leave, read: delays, queue disciplines, and states before and after."""

from __future__ import annotations

import json
import re
import statistics
from pathlib import Path
from typing import Any

MODULES = {"inflight", "sch_inflight", "sch_lasack", "sch_ackwrr", "tcp_ackskip"}
# lasack serves a ping before the standing queue that FIFOs make it wait in.
DELAY_AT_MOST = 0.5
PINGS_AT_LEAST = 10
PACKETS_AT_LEAST = 100


def lines(out: Path, name: str) -> set[str]:
    """The lines of a file."""
    return set((out / name).read_text().splitlines())


def ping_ms(out: Path, name: str) -> float:
    """Median round trip beside four downloads."""
    times = [float(time) for time in re.findall(r"time=([\d.]+)", (out / name).read_text())]
    assert len(times) >= PINGS_AT_LEAST
    return statistics.median(times)


def root_qdisc(out: Path, name: str) -> dict[str, Any]:
    """What `tc -s -j` says of the root."""
    (found,) = [one for one in json.loads((out / name).read_text()) if one.get("root")]
    return dict(found)


def assert_it_works(before: Path, out: Path) -> None:
    """Under load lasack holds packets, and a ping beside downloads no longer waits."""
    found = root_qdisc(out, "tc-lasack")
    assert found["kind"] == "lasack"
    assert found["packets"] > PACKETS_AT_LEAST
    assert found["backpressure"] == "air"
    default, lasack = ping_ms(before, "ping-default"), ping_ms(out, "ping-lasack")
    print(f"ping beside downloads: {default:.1f} ms before, {lasack:.1f} ms with lasack")
    assert lasack < DELAY_AT_MOST * default


def assert_nothing_is_left(before: Path, after: Path) -> None:
    """Files, their contents, packages, units and settings are as they were before."""
    for what in ("files", "contents", "packages", "units", "settings"):
        was, now = lines(before, f"before.{what}"), lines(after, f"after.{what}")
        assert (what, sorted(now - was), sorted(was - now)) == (what, [], [])


def assert_nothing_runs(before: Path, after: Path) -> None:
    """No module that was not there before, and no queue discipline of ours."""
    loaded = lines(after, "after.modules")
    assert not loaded & MODULES
    extra = sorted(loaded - lines(before, "before.modules"))
    assert not extra, f"still loaded: {', '.join(extra)}"
    assert "lasack" not in (after / "after.qdiscs").read_text()
