# SPDX-License-Identifier: GPL-2.0-only
"""Response times of sized transfers, by direction and size.

The response time of a transfer runs from the client's start, when its SYN leaves, to the last
byte at the receiver, as in layer2-layer3, section V-C. The times are those of the transfers that
ended; how many did not stands beside them, since the slowest are among those. Every transfer of
a run counts, also one that started in the warm-up. Percentiles lie on the line between ranks
(numpy's "linear"; type 7 of R. Hyndman, Y. Fan, "Sample Quantiles in Statistical Packages",
The American Statistician 50(4), 1996).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from apbed.analysis.run_directory import FlowTrace, Json

DIRECTIONS = ("down", "up")
SHORT = "under_100kB"
SIZE_CLASSES = {  # bytes: from the first, below the second
    SHORT: (0.0, 1e5),
    "100kB_to_1MB": (1e5, 1e6),
    "from_1MB": (1e6, float("inf")),
}
PERCENTILES = (10, 50, 90, 99)


def sized_transfers(traces: Sequence[FlowTrace], t0_s: float | None) -> list[Json]:
    """The sized ones among the planned flows: `id`, `dir`, `bytes`, `start_s` after t0 as
    planned, and `response_s`, None if it did not end."""
    return [
        {
            "id": trace.plan.id,
            "dir": trace.plan.dir,
            "bytes": trace.plan.bytes,
            "start_s": trace.plan.start_s,
            "response_s": None if t0_s is None else _response_s(trace),
        }
        for trace in traces
        if trace.plan.bytes is not None and trace.plan.dir in DIRECTIONS
    ]


def _response_s(trace: FlowTrace) -> float | None:
    client, receiver = trace.client, trace.receiver
    if client is None or receiver is None or receiver["end_s"] is None:
        return None
    return round(float(receiver["end_s"]) - float(client["start_s"]), 9)


def by_direction(transfers: Sequence[Json]) -> Json:
    """`response_time_s` of a RUN: a distribution per direction, and in it one `by_size`."""
    found: Json = {}
    for direction in DIRECTIONS:
        ours = [one for one in transfers if one["dir"] == direction]
        classes = {
            name: distribution([one for one in ours if low <= one["bytes"] < high])
            for name, (low, high) in SIZE_CLASSES.items()
        }
        found[direction] = distribution(ours) | {"by_size": classes}
    return found


def distribution(transfers: Sequence[Json]) -> Json:
    """How many ended (n) and did not; mean and percentiles in s, None when none ended."""
    times = [one["response_s"] for one in transfers if one["response_s"] is not None]
    names = ["mean", *(f"p{rank}" for rank in PERCENTILES)]
    figures: list[float | None] = [None] * len(names)
    if times:
        figures = [float(np.mean(times)), *np.percentile(times, PERCENTILES).tolist()]
    counts = {"n": len(times), "unfinished": len(transfers) - len(times)}
    return counts | dict(zip(names, figures, strict=True))


def conditional(transfers: Sequence[Json], bins: int) -> list[tuple[float, float | None]]:
    """Mean response time by size, layer2-layer3's figures 4 and 5.

    [(middle of the bin in percent of all transfers by size, mean in s of those that ended)...];
    `bins` bins of as many transfers each, ended or not, so that schedulers which met the same
    transfers have the same bins.
    """
    ranked = sorted(transfers, key=lambda one: one["bytes"])
    edges = np.linspace(0, len(ranked), bins + 1).round().astype(int).tolist()
    points: list[tuple[float, float | None]] = []
    for begin, end in pairwise(edges):
        if begin < end:
            mean = distribution(ranked[begin:end])["mean"]
            points.append((50 * (begin + end) / len(ranked), mean))
    return points


def size_at(transfers: Sequence[Json], percent: float) -> float:
    """The size in bytes that `percent` of the transfers do not exceed; there must be one."""
    return float(np.percentile([one["bytes"] for one in transfers], percent))
