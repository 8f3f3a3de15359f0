# SPDX-License-Identifier: GPL-2.0-only
"""Sets the schedulers of an experiment side by side: one row each, over its seeds.

Principle: only valid runs count; a row keeps its invalid runs apart with their reasons.
Runs that differ in nothing but the seed are repetitions of one measurement.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from apbed.analysis.run_directory import Json

FIFO = "FIFO"
NAMES = {
    "pfifo": FIFO,
    "bfifo": FIFO,
    "fq_codel": "fq_codel",
    "cake": "cake",
    "sfq": "sfq",
    "lasack": "LAS-ACK",
    "ackwrr": "ACK/DATA WRR",
}


@dataclass(frozen=True)
class Spread:
    """A measure over the seeds: mean and range of `n` values."""

    mean: float
    low: float
    high: float
    n: int


@dataclass(frozen=True)
class Row:
    """One scheduler with one set of the other parameters. Goodputs in Mb/s; None: not known."""

    name: str  # as people say it, with what else was varied
    words: str  # as tc says it
    kind: str
    others: tuple[tuple[str, str], ...]  # the other varied parameters
    runs: tuple[Json, ...]
    invalid: tuple[Json, ...]
    down_each: Spread | None
    up_each: Spread | None
    ratio: Spread | None
    jain: Spread | None
    total: Spread | None


@dataclass(frozen=True)
class _Group:
    """What the runs of a row have in common."""

    case: str | None
    words: str
    others: tuple[tuple[str, str], ...]

    @property
    def kind(self) -> str:
        first = self.words.split()[0]
        return NAMES.get(first, first)


def compare(summary: Json) -> list[Row]:
    """One row per case, scheduler and set of other parameters, in the order of the runs."""
    runs: list[Json] = summary["runs"]
    varied = _varied(runs)
    groups: dict[_Group, list[Json]] = {}
    for run in runs:
        params = run["params"]
        others = tuple((name, str(params.get(name))) for name in varied)
        group = _Group(params.get("case"), str(params.get("qdisc")), others)
        groups.setdefault(group, []).append(run)
    return [_row(group, _name(group, list(groups)), found) for group, found in groups.items()]


def spread(values: Iterable[float | None]) -> Spread | None:
    """The spread of the values that are known, or None."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    return Spread(sum(known) / len(known), min(known), max(known), len(known))


def baseline(row: Row, rows: Sequence[Row]) -> Row | None:
    """The FIFO measured under the same other parameters as `row`."""
    return next(
        (other for other in rows if other.kind == FIFO and other.others == row.others), None
    )


def relative_total(row: Row, rows: Sequence[Row]) -> float | None:
    """A row's total goodput over that of its FIFO."""
    fifo = baseline(row, rows)
    if fifo is None or fifo.total is None or row.total is None or not fifo.total.mean:
        return None
    return row.total.mean / fifo.total.mean


def connections(run: Json, direction: str) -> list[float]:
    """Goodputs in Mb/s of a run's connections of one direction; empty when one is unknown.

    Of those that last the whole window. Transfers of a workload are none: how fast they end says
    more than their share of a window.
    """
    lasting = [flow for flow in run["flows"] if flow["dir"] == direction and flow["whole"]]
    goodputs = [flow["goodput_mbps"] for flow in lasting]
    return [] if None in goodputs else goodputs


def has_transfers(rows: Sequence[Row]) -> bool:
    """Whether any valid run had sized transfers."""
    return any(run["transfers"] for row in rows for run in row.runs)


def has_connections(rows: Sequence[Row]) -> bool:
    """Whether any valid run had long flows, whose goodputs can be compared."""
    return any(row.down_each or row.up_each for row in rows)


def has_flows(rows: Sequence[Row]) -> bool:
    """Whether any valid run had flows that the scenario names, long ones or not."""
    return any(run["flows"] for row in rows for run in row.runs)


def response(row: Row, direction: str, size: str, figure: str) -> Spread | None:
    """A figure of a row's response times, in s, by direction and size class, over its seeds."""
    return spread(run["response_time_s"][direction]["by_size"][size][figure] for run in row.runs)


def has_delays(rows: Sequence[Row]) -> bool:
    """Whether any valid run had datagrams whose delay is known."""
    return any(_pulses(run) for row in rows for run in row.runs)


def delay(row: Row, figure: str) -> Spread | str | None:
    """A figure of the delay of a row's datagrams, in ms, over its seeds: of the slowest stream of
    each run. "lost" if in any run the figure falls among datagrams that never came."""
    slowest = []
    for run in row.runs:
        figures = [flow["delay_ms"].get(figure) for flow in _pulses(run)]
        if None in figures:
            return "lost"
        if figures:
            slowest.append(max(figures))
    return spread(slowest)


def smooth(row: Row, *path: str) -> Spread | None:
    """A figure of runs[].second_by_second over a row's seeds."""
    return spread(_at(run["second_by_second"], path) for run in row.runs)


def in_medium(row: Row, *path: str) -> Spread | None:
    """A figure of runs[].medium over a row's seeds; None on a grid, whose air counts nothing."""
    return spread(_at(run["medium"], path) for run in row.runs)


def _at(table: Json | None, path: Sequence[str]) -> float | None:
    """What stands in nested tables; None where one of them is missing."""
    found: Any = table
    for name in path:
        found = (found or {}).get(name)
    return None if found is None else float(found)


def _pulses(run: Json) -> list[Json]:
    return [flow for flow in run["flows"] if flow["delay_ms"] is not None]


def counted(row: Row, direction: str, size: str, count: str) -> int:
    """How many transfers of a row, all seeds together: `count` is n or unfinished."""
    return sum(run["response_time_s"][direction]["by_size"][size][count] for run in row.runs)


def gave_up(rows: Sequence[Row]) -> str:
    """How many of the transfers that did not end TCP gave up on, as a sentence; "" if none."""
    by_name = {
        row.name: sum(one["gave_up"] for run in row.runs for one in run["response_time_s"].values())
        for row in rows
    }
    told = [f"{count} under {name}" for name, count in by_name.items() if count]
    return f"TCP gave up on some of those that did not end: {', '.join(told)}." if told else ""


def transfers(row: Row, direction: str) -> list[Json]:
    """All transfers of a row in a direction, all seeds together."""
    return [one for run in row.runs for one in run["transfers"] if one["dir"] == direction]


def _varied(runs: Sequence[Json]) -> list[str]:
    """The parameters beside scheduler and seed that take more than one value in a case."""
    taken: dict[str, dict[str | None, set[str]]] = {}
    for params in (run["params"] for run in runs):
        for name, value in params.items():
            taken.setdefault(name, {}).setdefault(params.get("case"), set()).add(str(value))
    return [
        name
        for name, by_case in taken.items()
        if name not in ("qdisc", "seed") and max(map(len, by_case.values())) > 1
    ]


def _name(group: _Group, groups: Sequence[_Group]) -> str:
    """As people say it: the case, or the scheduler; its kind, if no other has the same kind."""
    if group.case is not None:
        first = group.case
    else:
        alike = {one.words for one in groups if one.kind == group.kind}
        first = group.words if len(alike) > 1 else group.kind
    return ", ".join([first, *(f"{_short(key)} {value}" for key, value in group.others)])


def _short(key: str) -> str:
    """A sysctl by its own name; its namespace is the same in all rows or said by the scenario."""
    return key.rpartition(".")[2] if ".sysctl." in key else key


def _row(group: _Group, name: str, runs: list[Json]) -> Row:
    valid = [run for run in runs if run["valid"]]

    def each(direction: str) -> Callable[[Json], float | None]:
        def mean(run: Json) -> float | None:
            goodputs = connections(run, direction)
            return sum(goodputs) / len(goodputs) if goodputs else None

        return mean

    return Row(
        name=name,
        words=group.words,
        kind=group.kind,
        others=group.others,
        runs=tuple(valid),
        invalid=tuple(run for run in runs if not run["valid"]),
        down_each=spread(map(each("down"), valid)),
        up_each=spread(map(each("up"), valid)),
        ratio=spread(run["ratio_down_up"] for run in valid),
        jain=spread(run["jain"] for run in valid),
        total=spread(run["goodput_mbps"]["total"] for run in valid),
    )
