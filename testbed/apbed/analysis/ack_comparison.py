# SPDX-License-Identifier: GPL-2.0-only
"""What thinner ACKs gave, read from summary.json: the figures of http-queueing and ack-skipping.

Principle: runs that differ in nothing but the ACKs are compared seed by seed, and nothing is left
out quietly: invalid runs are refused, transfers that did not end are counted. The throughput of a
transfer is its size over its response time, from the client's SYN to the last byte.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from apbed.analysis.comparison import Spread, spread
from apbed.analysis.run_directory import Json
from apbed.errors import ApbedError

EVERY, SKIP, RAMP = "tcp_ack_every", "tcp_ack_skip", "tcp_ack_skip_ramp"
AFTER, AFTER_DEFAULT = "tcp_ack_skip_after", 64
COUNTERS = ("RetransSegs", "TCPTimeouts", "TCPDSACKRecv")  # of those that send the data


@dataclass(frozen=True)
class Point:
    """All seeds of a download scenario with one number of stations and of segments per ACK."""

    stations: int
    every: int
    mbps: Spread  # of all stations together
    segments_per_ack: float  # from boot to end
    collision_probability: float


@dataclass(frozen=True)
class Upload:
    """All seeds of an upload scenario whose receiver skips so many ACKs."""

    size: int  # bytes of a transfer
    attempts: int  # of a station's frame
    every: int
    after: int  # segments in order before any is skipped
    flows: int  # at once
    skip: int
    mbps: Spread  # of one transfer
    gain: Spread | None  # over skip 0 of the same seed, as a share
    segments_per_ack: float  # as the receiver sends them
    delivered_per_ack: float  # as they leave the access point's queue, which may drop some
    collision_probability: float
    unfinished: int
    counters: dict[str, int]


@dataclass(frozen=True)
class Sessions:
    """All seeds of a workload of downloads with one number of segments per ACK."""

    every: int
    growing: bool  # from 1 on, with each ACK
    mean_s: float
    sizes: list[int]  # bytes of those that ended
    unfinished: int
    timeouts: int


def load(directory: Path) -> list[Json]:
    """The runs of an experiment; ApbedError if one of them does not count."""
    path = directory / "summary.json"
    try:
        runs: list[Json] = json.loads(path.read_text())["runs"]
    except (OSError, ValueError, KeyError) as error:
        raise ApbedError(f"{path}: no summary; run `apbed report {directory}`") from error
    for run in runs:
        if not run["valid"] or run["tcp"] is None:
            raise ApbedError(f"{directory}: {run['id']} is invalid: {run['why_invalid']}")
    return runs


def has_points(runs: Sequence[Json]) -> bool:
    """Whether these are downloads that differ in how many segments an ACK stands for."""
    every = {_parameter(run, EVERY, 2) for run in runs}
    return len(every) > 1 and all(
        run["flows"] and {flow["dir"] for flow in run["flows"]} == {"down"} for run in runs
    )


def has_uploads(runs: Sequence[Json]) -> bool:
    """Whether these are repeated uploads that differ in how many ACKs are skipped."""
    skips = {_parameter(run, SKIP, 0) for run in runs}
    return len(skips) > 1 and all(
        any(one["dir"] == "up" and one["response_s"] is not None for one in run["transfers"])
        for run in runs
    )


def points(runs: Sequence[Json]) -> list[Point]:
    """One for each number of stations and of segments per ACK, in this order."""
    groups: dict[tuple[int, int], list[Json]] = {}
    for run in runs:
        if not run["flows"]:
            raise ApbedError(f"{run['id']}: no flow; expected the scenario http-queueing-f3-f6")
        key = (len(run["flows"]), _parameter(run, EVERY, 2))
        groups.setdefault(key, []).append(run)
    return [
        Point(
            stations,
            every,
            _known(spread(run["goodput_mbps"]["down"] for run in group)),
            _sum(group, "wired", "OutSegs") / _sum(group, "wired", "InSegs"),
            _mean(group, "collision_probability"),
        )
        for (stations, every), group in sorted(groups.items())
    ]


def sessions(runs: Sequence[Json]) -> list[Sessions]:
    """One for each number of segments per ACK, at once and growing."""
    groups: dict[tuple[bool, int], list[Json]] = {}
    for run in runs:
        key = (bool(_parameter(run, RAMP, 0)), _parameter(run, EVERY, 2))
        groups.setdefault(key, []).append(run)
    found = []
    for (growing, every), group in sorted(groups.items()):
        transfers = [one for run in group for one in run["transfers"]]
        ended = [one for one in transfers if one["response_s"] is not None]
        if not ended:
            raise ApbedError("no transfer ended; expected the scenario http-queueing-t3")
        mean_s = sum(one["response_s"] for one in ended) / len(ended)
        sizes = [one["bytes"] for one in ended]
        left, timeouts = len(transfers) - len(ended), _sum(group, "wired", "TCPTimeouts")
        found.append(Sessions(every, growing, mean_s, sizes, left, timeouts))
    return found


def uploads(runs: Sequence[Json]) -> list[Upload]:
    """One for each size, attempts, segments per ACK, start of skipping, number of flows and of
    skipped ACKs, in this order."""
    groups: dict[tuple[int, int, int, int, int, int], list[Json]] = {}
    for run in runs:
        if not run["transfers"]:
            raise ApbedError(f"{run['id']}: no transfer; expected a scenario ack-skipping-*")
        size = run["transfers"][0]["bytes"]
        flows = len({flow["station"] for flow in run["flows"]})
        every, skip = _parameter(run, EVERY, 2), _parameter(run, SKIP, 0)
        attempts = _parameter(run, "station.retry", 0)
        after = _parameter(run, AFTER, AFTER_DEFAULT)
        groups.setdefault((size, attempts, every, after, flows, skip), []).append(run)
    found = []
    for key, group in sorted(groups.items()):
        without = {_seed(run): _transfer_mbps(run) for run in groups.get((*key[:5], 0), [])}
        arrived, sent = _sum(group, "wired", "InSegs"), _sum(group, "wired", "OutSegs")
        gains = [
            _transfer_mbps(run) / without[_seed(run)] - 1 for run in group if _seed(run) in without
        ]
        found.append(
            Upload(
                *key,
                mbps=_known(spread(map(_transfer_mbps, group))),
                gain=spread(gains),
                segments_per_ack=arrived / sent,
                delivered_per_ack=arrived / (sent - _dropped(group)),
                collision_probability=_mean(group, "collision_probability"),
                unfinished=sum(
                    one["response_s"] is None for run in group for one in run["transfers"]
                ),
                counters={name: _sum(group, "sta", name) for name in COUNTERS},
            )
        )
    return found


def _transfer_mbps(run: Json) -> float:
    """Mean over the transfers that ended."""
    each = [
        one["bytes"] * 8e-6 / one["response_s"]
        for one in run["transfers"]
        if one["response_s"] is not None
    ]
    if not each:
        raise ApbedError(f"{run['id']}: no transfer ended; give it a longer duration_s")
    return float(sum(each) / len(each))


def _parameter(run: Json, name: str, default: int) -> int:
    """A swept key by its last name, whatever role's."""
    found = [value for key, value in run["params"].items() if key.endswith(name)]
    return int(found[0]) if found else default


def _seed(run: Json) -> int:
    return int(run["params"]["seed"])


def _sum(runs: Sequence[Json], machine: str, name: str) -> int:
    """Of a counter, over the machines whose name begins so."""
    return sum(
        counters[name]
        for run in runs
        for who, counters in run["tcp"].items()
        if who.startswith(machine)
    )


def _dropped(runs: Sequence[Json]) -> int:
    """By the access point's scheduler, the last of its qdiscs: the others count the same again."""
    return sum(int(run["qdisc"][-1]["drops"]) for run in runs)


def _mean(runs: Sequence[Json], name: str) -> float:
    return float(sum(run["medium"][name] for run in runs) / len(runs))


def _known(value: Spread | None) -> Spread:
    if value is None:
        raise ApbedError("a run without downloads; expected the scenario http-queueing-f3-f6")
    return value
