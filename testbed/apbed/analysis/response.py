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

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np

from apbed.analysis.run_directory import FlowTrace, Json
from apbed.scenario.users import page_of

DIRECTIONS = ("down", "up")
SHORT = "under_100kB"
SIZE_CLASSES = {  # bytes: from the first, below the second
    SHORT: (0.0, 1e5),
    "100kB_to_1MB": (1e5, 1e6),
    "from_1MB": (1e6, float("inf")),
}
PERCENTILES = (10, 50, 90, 99)
PERCENTILE_CLASSES = 10
SIZE_RANKS = (0, 10, 50, 90, 100)  # percent
SIZE_NAMES = ("min", "p10", "p50", "p90", "max")


def sized_transfers(traces: Sequence[FlowTrace], t0_s: float | None) -> list[Json]:
    """The sized ones among the planned flows: `id`, `dir`, `bytes`, `start_s` after t0 as
    planned, `response_s`, None if it did not end, and whether that is because TCP gave up."""
    return [
        {
            "id": trace.plan.id,
            "dir": trace.plan.dir,
            "bytes": trace.plan.bytes,
            "start_s": trace.plan.start_s,
            "response_s": None if t0_s is None else _response_s(trace),
            "gave_up": trace.gave_up,
        }
        for trace in traces
        if trace.plan.bytes is not None and trace.plan.dir in DIRECTIONS
    ]


def fetched_pages(traces: Sequence[FlowTrace], t0_s: float | None, warmup: int) -> list[Json]:
    """The users' pages after the first `warmup` of each, as transfers: from the first object's SYN
    to the last byte of the last one. A page that was not asked for is no transfer."""
    pages: dict[str, list[FlowTrace]] = {}
    for trace in traces:
        if page_of(trace.plan) > warmup:
            pages.setdefault(trace.plan.id.partition(".")[0], []).append(trace)
    found = []
    for name, objects in pages.items():
        starts = [float(one.client["start_s"]) for one in objects if one.client and one.asked]
        if t0_s is None or not starts:
            continue
        receivers = [one.receiver for one in objects if one.receiver]
        ends = [float(one["end_s"]) for one in receivers if one["end_s"] is not None]
        took_s = round(max(ends) - min(starts), 9) if len(ends) == len(objects) else None
        found.append(
            {
                "id": name,
                "dir": objects[0].plan.dir,
                "bytes": sum(one.plan.bytes or 0 for one in objects),
                "start_s": round(min(starts) - t0_s, 9),
                "response_s": took_s,
                "gave_up": any(one.gave_up for one in objects),
            }
        )
    return found


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
        found[direction] = distribution(ours) | {
            "gave_up": sum(one["gave_up"] for one in ours),
            "by_size": classes,
            "by_percentile": _by_percentile(ours),
            "completed_bytes": _sizes(one for one in ours if one["response_s"] is not None),
            "starved_bytes": _sizes(one for one in ours if one["response_s"] is None),
        }
    return found


def _by_percentile(transfers: Sequence[Json]) -> list[Json]:
    """Figs. 4 and 5 of layer2-layer3: ten classes of as many transfers by size, with mean and
    90-10 spread of each."""
    return [
        {"percent": middle, "bytes": size_at(ours, 50)} | distribution(ours)
        for middle, ours in _classes(transfers, PERCENTILE_CLASSES)
    ]


def _sizes(transfers: Iterable[Json]) -> Json:
    """How many, and percentiles of their sizes in bytes."""
    each = [one["bytes"] for one in transfers]
    found: Json = {"n": len(each)} | dict.fromkeys(SIZE_NAMES)
    if each:
        found |= zip(SIZE_NAMES, np.percentile(each, SIZE_RANKS).tolist(), strict=True)
    return found


def distribution(transfers: Sequence[Json]) -> Json:
    """How many ended (n) and did not; mean and percentiles in s, None when none ended."""
    times = [one["response_s"] for one in transfers if one["response_s"] is not None]
    names = ["mean", *(f"p{rank}" for rank in PERCENTILES), "spread_90_10"]
    figures: list[float | None] = [None] * len(names)
    if times:
        ranked = np.percentile(times, PERCENTILES).tolist()
        figures = [float(np.mean(times)), *ranked, ranked[2] - ranked[0]]
    counts = {"n": len(times), "unfinished": len(transfers) - len(times)}
    return counts | dict(zip(names, figures, strict=True))


def conditional(transfers: Sequence[Json], bins: int) -> list[tuple[float, float | None]]:
    """Mean response time by size, layer2-layer3's figures 4 and 5.

    [(middle of the bin in percent of all transfers by size, mean in s of those that ended)...];
    `bins` bins of as many transfers each, ended or not, so that schedulers which met the same
    transfers have the same bins.
    """
    return [(middle, distribution(ours)["mean"]) for middle, ours in _classes(transfers, bins)]


def _classes(transfers: Sequence[Json], bins: int) -> list[tuple[float, list[Json]]]:
    """Middles in percent, and the transfers, of `bins` classes by size."""
    ranked = sorted(transfers, key=lambda one: one["bytes"])
    edges = np.linspace(0, len(ranked), bins + 1).round().astype(int).tolist()
    return [
        (50 * (begin + end) / len(ranked), ranked[begin:end])
        for begin, end in pairwise(edges)
        if begin < end
    ]


def size_at(transfers: Sequence[Json], percent: float) -> float:
    """The size in bytes that `percent` of the transfers do not exceed; there must be one."""
    return float(np.percentile([one["bytes"] for one in transfers], percent))
