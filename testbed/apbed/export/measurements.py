# SPDX-License-Identifier: GPL-2.0-only
"""What runs measured, as tables: one a measurement, a row for each value in time.

Principle: a column's name says its unit, and a missing value is None, never zero. `t_s` counts
seconds from t0, when the flows begin; what is counted over a whole run has its end.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from apbed.analysis.run_directory import Delays, Json
from apbed.export.results import Experiment, Invalid, Result

SCHEMA = 1  # of the tables: another one when a name, unit or meaning changes

Value = str | int | float | None
Values = tuple[Value, ...]

# Which columns hold text or fractions; the others hold whole numbers.
TEXTS = {"why_invalid", "flow", "station", "dir", "kind", "transfer", "machine", "counter"}
TEXTS |= {"qdisc", "handle", "parent", "digest"}
FRACTIONS = re.compile(r".*_(s|ms|mbps|share|probability)|ratio_down_up|jain|.*_1s")
MEDIUM_COUNTS = ("tx", "collision_probability", "drops", "digest", "tcp_ack_airtime_share")
AIRTIME = ("success", "collision", "broadcast", "unanswered", "lost", "idle")
STATION_COUNTS = (
    *("tx", "collisions", "retries", "drops", "delivered"),
    *("airtime_s", "airtime_to_s", "tcp_ack_airtime_s"),
)
RUN_COLUMNS = (
    *("valid", "why_invalid", "duration_s", "warmup_s"),
    *("goodput_down_mbps", "goodput_up_mbps", "goodput_total_mbps", "offered_mbps"),
    *("ratio_down_up", "jain", "goodput_cov_1s", "jain_1s"),
)
FLOW_COLUMNS = (
    *("flow", "station", "dir", "whole", "start_s", "end_s", "received_bytes"),
    *("goodput_mbps", "retransmitted_segments"),
)


@dataclass(frozen=True)
class Row:
    """The values of a measurement's columns at a moment of a run."""

    run: str
    t_s: float
    values: Values


@dataclass(frozen=True)
class Measurement:
    """A table: the names of its columns, and its rows by run."""

    name: str
    columns: tuple[str, ...]
    rows: list[Row]

    def kinds(self) -> list[type]:
        """str, float or int for each column. A swept key has that of its values."""
        return [self._kind(k, name) for k, name in enumerate(self.columns)]

    def _kind(self, k: int, name: str) -> type:
        if self.name == "run" and name not in RUN_COLUMNS:
            values = {type(row.values[k]) for row in self.rows}
            return str if str in values else float if float in values else int
        return str if name in TEXTS else float if FRACTIONS.fullmatch(name) else int


def tables(experiment: Experiment) -> list[Measurement]:
    """Every measurement, also those without rows, always in this order."""
    return [
        _runs(experiment),
        _of_each(experiment, "goodput", ("flow", "station", "dir", "goodput_mbps"), _goodput),
        _of_each(
            experiment,
            "flow",
            FLOW_COLUMNS,
            _flows,
        ),
        _of_each(experiment, "delay", ("flow", "station", "dir", "kind", "delay_ms"), _delays),
        _of_each(
            experiment, "transfer", ("transfer", "dir", "size_bytes", "response_s"), _transfers
        ),
        _of_each(
            experiment,
            "medium",
            (*MEDIUM_COUNTS, *(f"airtime_{name}_share" for name in AIRTIME)),
            _medium,
        ),
        _of_each(experiment, "station", ("station", *STATION_COUNTS), _stations),
        _of_each(experiment, "tcp", ("machine", "counter", "count"), _tcp),
        _of_each(experiment, "qdisc", ("qdisc", "handle", "parent", "counter", "count"), _qdiscs),
    ]


Rows = Callable[[Result], Iterator[tuple[float, Values]]]


def _of_each(
    experiment: Experiment, name: str, columns: tuple[str, ...], rows: Rows
) -> Measurement:
    found = [Row(run.id, t_s, values) for run in experiment.valid for t_s, values in rows(run)]
    return Measurement(name, columns, found)


def _runs(experiment: Experiment) -> Measurement:
    """One row a run, invalid ones too; the swept keys are columns of their own."""
    names = list(dict.fromkeys(name for run in experiment.runs for name in run.params))
    swept = [name for name in names if name not in RUN_COLUMNS]
    rows = []
    for run in experiment.runs:
        params = tuple(_plain(run.params.get(name)) for name in swept)
        if isinstance(run, Invalid):
            unknown = (None,) * (len(RUN_COLUMNS) - 2)
            rows.append(Row(run.id, 0.0, (*params, 0, run.why, *unknown)))
        else:
            rows.append(Row(run.id, run.plan.duration_s, (*params, *_run(run))))
    return Measurement("run", (*swept, *RUN_COLUMNS), rows)


def _run(run: Result) -> Values:
    found = run.summary
    goodput, second = found["goodput_mbps"], found["second_by_second"]
    return (
        *(1, None, run.plan.duration_s, run.plan.warmup_s),
        *(goodput["down"], goodput["up"], goodput["total"], found["offered_mbps"]),
        *(found["ratio_down_up"], found["jain"], second["goodput_cov"]),
        (second["jain"] or {}).get("mean"),
    )


def _goodput(run: Result) -> Iterator[tuple[float, Values]]:
    """Each flow's goodput in each second; t_s is the middle of the second."""
    for flow in run.summary["flows"]:
        for t_s, mbps in flow["goodput_series"]:
            yield t_s, (flow["id"], flow["station"], flow["dir"], mbps)


def _flows(run: Result) -> Iterator[tuple[float, Values]]:
    for flow in run.summary["flows"]:
        about = (flow["id"], flow["station"], flow["dir"], int(flow["whole"]))
        counts = (flow["bytes"], flow["goodput_mbps"], flow["retrans"])
        yield run.plan.duration_s, (*about, flow["start_s"], flow["end_s"], *counts)


def _delays(run: Result) -> Iterator[tuple[float, Values]]:
    """Each datagram that came, with flowgen's time of the record that tells of it."""
    for trace in run.traces:
        plan = trace.plan
        way = "there-and-back" if plan.dir == "ping" else "one-way"
        kinds: list[tuple[str, Delays]] = [(way, trace.delays), ("queue", trace.waits)]
        for kind, delays in kinds:
            for t_s, each in delays:
                for us in each:
                    values = (plan.id, plan.station, plan.dir, kind, us / 1000)
                    yield round(t_s - run.t0_s, 9), values


def _transfers(run: Result) -> Iterator[tuple[float, Values]]:
    """Those that did not end have no response time."""
    for one in run.summary["transfers"]:
        yield one["start_s"], (one["id"], one["dir"], one["bytes"], one["response_s"])


def _medium(run: Result) -> Iterator[tuple[float, Values]]:
    medium: Json | None = run.summary["medium"]
    if medium is None:  # a grid's air counts nothing
        return
    shares = medium["airtime_share"] or {}
    counts = tuple(medium[name] for name in MEDIUM_COUNTS)
    yield run.plan.duration_s, (*counts, *(shares.get(name) for name in AIRTIME))


def _stations(run: Result) -> Iterator[tuple[float, Values]]:
    for one in run.stations:
        counts = tuple(one.get(name) for name in STATION_COUNTS)
        yield run.plan.duration_s, (one["name"], *counts)


def _tcp(run: Result) -> Iterator[tuple[float, Values]]:
    for machine, counters in run.summary["tcp"].items():
        for counter, count in counters.items():
            yield run.plan.duration_s, (machine, counter, count)


def _qdiscs(run: Result) -> Iterator[tuple[float, Values]]:
    """The numbers among what `tc -s -j` prints; the kind is the column `qdisc`."""
    for one in run.summary["qdisc"]:
        about = (one.get("kind"), one.get("handle"), one.get("parent"))
        for counter, count in one.items():
            if isinstance(count, (int, float)) and not isinstance(count, bool):
                yield run.plan.duration_s, (*about, counter, count)


def _plain(value: object) -> Value:
    return value if isinstance(value, (str, int, float)) or value is None else str(value)
