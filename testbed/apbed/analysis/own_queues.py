# SPDX-License-Identifier: GPL-2.0-only
"""What mac80211's own queues held and let go, where a radio pulls from them (mac80211.json).

Principle: the guest keeps mac80211's own counters of every second; between the first and the
last sample, from t0 to t1, they must agree with the medium's.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from apbed.analysis.run_directory import Json, read_object

DROPS = ("codel_drops", "overlimit_drops")


def read_samples(run_dir: Path) -> list[Json]:
    """The samples, by time; none where no radio pulls from these queues."""
    return list((read_object(run_dir / "mac80211.json") or {}).get("samples", []))


def of_machine(run_dir: Path, machine: str) -> Json | None:
    """One machine's queues from t0 to t1, or None if it has none.

    `packets` and `drops` were let go and dropped; `backlog_packets` is the mean and the largest
    of the samples, over all its stations; `airtime_us` is what the driver registered for each,
    `aql_pending_us` the largest pending estimate of a station beside the limits it has.
    """
    queues = [one["queues"][machine] for one in read_samples(run_dir) if machine in one["queues"]]
    if not queues:
        return None
    backlogs = [sum(peer["backlog_packets"] for peer in one.values()) for one in queues]
    return {
        "packets": _grown(queues, ("tx_packets",)),
        "drops": _grown(queues, DROPS),
        "backlog_packets": {"mean": sum(backlogs) / len(backlogs), "max": max(backlogs)},
        "backlog_at_end": backlogs[-1],
        "airtime_us": {
            peer: {
                way: queues[-1][peer][f"airtime_{way}_us"] - queues[0][peer][f"airtime_{way}_us"]
                for way in ("tx", "rx")
            }
            for peer in queues[-1]
        },
        "aql_pending_us": _aql(queues),
    }


def summary(run_dir: Path) -> Json | None:
    """Of each machine whose radio has such queues; None if none has."""
    samples = read_samples(run_dir)
    return {name: of_machine(run_dir, name) for name in samples[-1]["queues"]} if samples else None


def _grown(queues: list[Json], names: tuple[str, ...]) -> int:
    """By how much these counters grew over all stations."""

    def total(one: Json) -> int:
        return sum(peer[name] for peer in one.values() for name in names)

    return total(queues[-1]) - total(queues[0])


def _aql(queues: list[Json]) -> Json | None:
    """None without AQL."""
    peers: list[dict[str, Any]] = [peer for one in queues for peer in one.values()]
    if "aql_pending_us" not in peers[0]:
        return None
    return {
        "max": max(us for peer in peers for us in peer["aql_pending_us"].values()),
        "low": max(us for peer in peers for us in peer["aql_low_us"].values()),
        "high": max(us for peer in peers for us in peer["aql_high_us"].values()),
    }
