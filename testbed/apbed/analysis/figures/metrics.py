# SPDX-License-Identifier: GPL-2.0-only
"""The metrics a [[figure]] may have on its y axis, each from one RUN of summary.json.

Principle: None where a run does not have what the metric is made of. apbed.scenario.figures has
their names and units; Documentation/reference/metrics.md their definitions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from apbed.analysis.comparison import connections
from apbed.analysis.response import distribution
from apbed.analysis.run_directory import Json

Metric = Callable[[Json], float | None]
SIZE_BINS, PER_BIN = 20, 5  # of curves: 5 % of the transfers each, and at least so many


def packets_per_s(direction: str) -> Metric:
    """Goodput of a direction in full data packets a second."""

    def metric(run: Json) -> float | None:
        goodput, payload = run["goodput_mbps"][direction], run.get("segment_bytes")
        return goodput * 1e6 / 8 / payload if goodput is not None and payload else None

    return metric


def each(direction: str) -> Metric:
    """Mean goodput of a direction's connections."""

    def metric(run: Json) -> float | None:
        goodputs = connections(run, direction)
        return sum(goodputs) / len(goodputs) if goodputs else None

    return metric


def transfer_mbps(direction: str) -> Metric:
    """Mean, over a direction's transfers that ended, of size over response time."""

    def metric(run: Json) -> float | None:
        rates = [
            one["bytes"] * 8e-6 / one["response_s"]
            for one in run["transfers"]
            if one["dir"] == direction and one["response_s"] is not None
        ]
        return sum(rates) / len(rates) if rates else None

    return metric


def at(*path: str) -> Metric:
    """What stands in the RUN's nested tables."""

    def metric(run: Json) -> float | None:
        found: Any = run
        for name in path:
            found = (found or {}).get(name)
        return None if found is None else float(found)

    return metric


def ratio_of_totals(run: Json) -> float | None:
    """All downloads' goodput over all uploads'."""
    down, up = run["goodput_mbps"]["down"], run["goodput_mbps"]["up"]
    return down / up if down is not None and up else None


def late_share_all(run: Json) -> float | None:
    """Of the datagrams of all calls: late and lost ones over those that came or were lost."""
    calls = [one for one in run["flows"] if one["late_frames"]]
    sent = sum(one["delay_ms"]["n"] + one["late_frames"]["lost"] for one in calls)
    bad = sum(one["late_frames"]["late"] + one["late_frames"]["lost"] for one in calls)
    return bad / sent if sent else None


def ping_ms(run: Json) -> float | None:
    """Median round trip of the slowest ping; a lost one is later than all that came back."""
    pings = [
        one["delay_ms"]["p50"] for one in run["flows"] if one["dir"] == "ping" and one["delay_ms"]
    ]
    return None if not pings or None in pings else max(pings)


OF_RUN: dict[str, Metric] = {
    "ratio_down_up": at("ratio_down_up"),
    "ratio_of_totals": ratio_of_totals,
    "jain": at("jain"),
    "ping_loss": at("ping_loss"),
    "ping_ms": ping_ms,
    "late_share": at("late_share"),
    "late_share_all": late_share_all,
    "collision_probability": at("medium", "collision_probability"),
    "goodput_mbps.total": at("goodput_mbps", "total"),
}
for _way in ("down", "up"):
    OF_RUN |= {
        f"goodput_mbps.{_way}": at("goodput_mbps", _way),
        f"goodput_each_mbps.{_way}": each(_way),
        f"packets_per_s.{_way}": packets_per_s(_way),
        f"segments_lost.{_way}": at("tcp_segments", _way, "loss"),
        f"retransmitted.{_way}": at("tcp_segments", _way, "retransmitted_share"),
        f"transfer_mbps.{_way}": transfer_mbps(_way),
        f"response_s.{_way}": at("response_time_s", _way, "mean"),
    }


def size_bins(name: str, runs: Sequence[Json]) -> int:
    """How many bins the curves of these runs have: as many as the one with the fewest transfers
    can fill, so that all have the same places."""
    fewest = min((len(_ranked(name, run)) for run in runs), default=0)
    return max(1, min(SIZE_BINS, fewest // PER_BIN))


def _ranked(name: str, run: Json) -> list[Json]:
    direction = name.rpartition(".")[2]
    ours = (one for one in run["transfers"] if one["dir"] == direction)
    return sorted(ours, key=lambda one: one["bytes"])


def curve(name: str, run: Json, bins: int) -> list[tuple[float, float]]:
    """A curve's points of one run: (percentile of size, value) of bins of transfers by size.

    Bins hold as many transfers each, ended or not; a bin of which none ended has no time.
    """
    kind = name.rpartition(".")[0]
    ranked = _ranked(name, run)
    points = []
    for place in range(bins):
        share: Sequence[Json] = ranked[
            round(place * len(ranked) / bins) : round((place + 1) * len(ranked) / bins)
        ]
        found = distribution(share)
        value = found["n"] / len(share) if kind == "ended_by_size" and share else found["mean"]
        if kind == "spread_by_size_s" and found["n"]:
            times = [one["response_s"] for one in share if one["response_s"] is not None]
            value = float(np.percentile(times, 90) - np.percentile(times, 10))
        if value is not None:
            points.append((100 * (place + 0.5) / bins, value))
    return points
