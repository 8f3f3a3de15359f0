# SPDX-License-Identifier: GPL-2.0-only
"""Who wins under which load, by which measure, and by how much.

Principle: a comparison is won only if every seed says so: each seed's runs meet the same load, so
they are compared in pairs. A seed in which only one of the two has a value says nothing, so the
comparison is even then; so it is if the means are less than a hundredth apart.
What is lost stands as plainly as what is won. Documentation/reference/metrics.md has the measures.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from apbed.analysis.comparison import Row, Spread, compare, spread
from apbed.analysis.fairness import jain_index
from apbed.analysis.measures import replications
from apbed.analysis.run_directory import Json

OURS = "lasack"
RIVALS = ("mac80211 airtime AQL", "fq_codel", "FIFO")  # the first of them that was measured
APART = 0.01  # of the worse one's mean: less is even
WON, EVEN, LOST = "won", "even", "lost"


@dataclass(frozen=True)
class Measure:
    """One figure of a run, None where it has none; inf if it is beyond what could be measured.

    `better` is "more", "less", or "one": the nearer to 1, by its logarithm. `told` says two values
    in a sentence.
    """

    name: str
    unit: str
    better: str
    told: str
    of: Callable[[Json], float | None]

    def cost(self, value: float) -> float:
        """How bad a value is: less is better."""
        if self.better == "one":
            return abs(math.log(value)) if value > 0 else math.inf
        return -value if self.better == "more" else value


@dataclass(frozen=True)
class Interval:
    """The mean of a difference over the seeds, and half of its 95 % interval: None of one seed."""

    mean: float
    half_width: float | None


@dataclass(frozen=True)
class Comparison:
    """One measure of two contenders under a load. `outcome` is the first one's."""

    measure: Measure
    ours: Spread
    theirs: Spread
    difference: Interval | None  # ours less theirs; None if a value is beyond measuring
    outcome: str
    pairs: int  # seeds in which both have a value
    seeds: int  # that both have run


@dataclass(frozen=True)
class Load:
    """A load's contenders in the order of its cases, and the two that are set side by side."""

    scenario: str
    name: str  # the scenario's, with what else was varied
    title: str
    rows: tuple[Row, ...]

    def row(self, case: str) -> Row | None:
        """The contender of this case, if it has a valid run."""
        return next((row for row in self.rows if contender(row) == case and row.runs), None)

    @property
    def rival(self) -> Row | None:
        """What an access point runs today, as far as it was measured. If all of its runs are
        invalid, nobody takes its place."""
        known = {contender(row): row for row in self.rows}
        found = next((known[name] for name in RIVALS if name in known), None)
        return found if found and found.runs else None

    @property
    def lacks(self) -> str | None:
        """Why nothing is compared; None if something is."""
        if self.row(OURS) is None:
            return f"it has no valid run of {OURS}"
        if self.rival is None:
            return "it has no valid run of what an access point runs today"
        return None if self.comparisons() else "its contenders have no seed in common"

    def comparisons(self) -> list[Comparison]:
        """Each measure that both have; empty if one of them was not measured."""
        ours, theirs = self.row(OURS), self.rival
        if ours is None or theirs is None:
            return []
        found = (compared(measure, ours.runs, theirs.runs) for measure in MEASURES)
        return [one for one in found if one is not None]


def loads(name: str, title: str, summary: Json) -> list[Load]:
    """The loads of one scenario's summary: one for each set of what it sweeps beside the cases.

    Contenders whose case ends in " / stations today" meet other stations: another load.
    """
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in compare(summary):
        varied = [f"{key} {value}" for key, value in row.others]
        groups.setdefault((*varied, *_case_and_setting(row)[1:]), []).append(row)
    return [
        Load(name, ", ".join([name, *varied]), title, tuple(rows))
        for varied, rows in groups.items()
    ]


def compared(measure: Measure, ours: Sequence[Json], theirs: Sequence[Json]) -> Comparison | None:
    """Two contenders by one measure, seed by seed; None if no seed has it of both."""
    mine, other = (
        {run["params"]["seed"]: measure.of(run) for run in runs} for runs in (ours, theirs)
    )
    both = [(value, other[seed]) for seed, value in mine.items() if seed in other]
    told = [pair for pair in both if pair != (None, None)]
    pairs = [(a, b) for a, b in told if a is not None and b is not None]
    if not pairs:
        return None
    spreads = [spread(values) for values in zip(*pairs, strict=True)]
    assert spreads[0] is not None and spreads[1] is not None
    outcome = _outcome(measure, pairs) if len(pairs) == len(told) else EVEN
    return Comparison(
        measure, spreads[0], spreads[1], _difference(pairs), outcome, len(pairs), len(both)
    )


def _difference(pairs: Sequence[tuple[float, float]]) -> Interval | None:
    found = [a - b for a, b in pairs]
    if not all(math.isfinite(one) for one in found):
        return None
    told = replications.interval(found)
    return Interval(told["mean"], told["half_width_95"])


def known(measure: Measure, rows: Sequence[Row]) -> bool:
    """Whether any run has this measure."""
    return any(measure.of(run) is not None for row in rows for run in row.runs)


def of_row(measure: Measure, row: Row) -> Spread | None:
    """A contender's measure over its seeds."""
    return spread(measure.of(run) for run in row.runs)


def best(measure: Measure, rows: Sequence[Row]) -> list[Row]:
    """The contenders that are best on the mean: several if they are alike; none if nobody has the
    measure. Of ratios the distances from 1 are averaged, as they are compared."""
    found = [
        (fmean(costs), row)
        for row in rows
        if (costs := [measure.cost(x) for run in row.runs if (x := measure.of(run)) is not None])
    ]
    least = min((cost for cost, _ in found), default=0.0)
    return [row for cost, row in found if cost == least]


def to_json(loads: Sequence[Load], commits: Mapping[str, str]) -> Json:
    """All of it for programs, schema 2; `commits` by "SCENARIO/RUN". inf is the word "lost"."""
    return {
        "schema": 2,
        "loads": [
            {
                "name": load.name,
                "scenario": load.scenario,
                "contenders": [_contender(load, row, commits) for row in load.rows if row.runs],
                "ours": OURS,
                "beside": contender(load.rival) if load.rival else None,
                "outcomes": {one.measure.name: one.outcome for one in load.comparisons()},
            }
            for load in loads
        ],
    }


def commits_of(load: Load, rows: Sequence[Row], commits: Mapping[str, str]) -> list[str]:
    """Those that made the runs of these rows, each once; `commits` by "SCENARIO/RUN"."""
    names = [f"{load.scenario}/{run['id']}" for row in rows for run in row.runs]
    return list(dict.fromkeys(commits[name] for name in names))


def _contender(load: Load, row: Row, commits: Mapping[str, str]) -> Json:
    known = {one.name: found for one in MEASURES if (found := of_row(one, row)) is not None}
    return {
        "case": contender(row),
        "runs": [run["id"] for run in row.runs],
        "commits": commits_of(load, [row], commits),
        "measures": {
            name: {
                "mean": _finite(found.mean),
                "low": _finite(found.low),
                "high": _finite(found.high),
                "seeds": found.n,
            }
            for name, found in known.items()
        },
    }


def _finite(value: float) -> float | str:
    return value if math.isfinite(value) else "lost"


def _outcome(measure: Measure, pairs: Sequence[tuple[float, float]]) -> str:
    costs = [(measure.cost(a), measure.cost(b)) for a, b in pairs]
    compared = costs if measure.better == "one" else pairs
    means = [fmean(values) for values in zip(*compared, strict=True)]
    apart = APART * (1.0 if measure.better == "one" else max(means))
    if means[0] == means[1] or abs(means[0] - means[1]) < apart:
        return EVEN
    if all(a < b for a, b in costs):
        return WON
    return LOST if all(a > b for a, b in costs) else EVEN


def contender(row: Row) -> str | None:
    """The case of a row without what makes it another load; None if it has none."""
    return (*_case_and_setting(row), None)[0]


def _case_and_setting(row: Row) -> list[str]:
    """Of "lasack / stations today" both parts; empty for a row without a case."""
    runs = row.runs or row.invalid
    case = runs[0]["params"].get("case") if runs else None
    return [] if case is None else str(case).split(" / ", 1)


def _ratio(run: Json) -> float | None:
    """inf if uploads got nothing and downloads did."""
    found = _at("ratio_down_up")(run)
    if found is not None:
        return found
    got = {"down": 0.0, "up": 0.0}
    whole = [flow for flow in run["flows"] if flow["whole"] and flow["dir"] in got]
    for flow in whole:
        got[flow["dir"]] += flow["goodput_mbps"] or 0.0
    ways = {flow["dir"] for flow in whole}
    return math.inf if len(ways) == 2 and got["down"] and not got["up"] else None


def _at(*path: str, scale: float = 1.0) -> Callable[[Json], float | None]:
    def value(run: Json) -> float | None:
        found: object = run
        for name in path:
            found = found.get(name) if isinstance(found, Mapping) else None
        return scale * float(found) if isinstance(found, int | float) else None

    return value


def _delay(figure: str) -> Callable[[Json], float | None]:
    """Of the slowest stream; inf if the figure is among datagrams that never came."""

    def value(run: Json) -> float | None:
        streams = [flow["delay_ms"] for flow in run["flows"] if flow["delay_ms"] is not None]
        figures = [math.inf if one[figure] is None else float(one[figure]) for one in streams]
        return max(figures, default=None)

    return value


def _late(run: Json) -> float | None:
    """Late and lost frames in percent, of the worse way of a call."""
    shares = [flow["late_frames"]["share"] for flow in run["flows"] if flow.get("late_frames")]
    return 100 * max(shares) if shares else None


def _rtt(run: Json) -> float | None:
    """The mean of what nine in ten round trips of each connection take at most, in ms."""
    found = [flow["rtt_ms"]["p90"] for flow in run["flows"] if flow.get("rtt_ms")]
    return fmean(found) if found else None


def _response(figure: str) -> Callable[[Json], float | None]:
    """Of all files that are downloaded."""
    return lambda run: _of_times(run["response_time_s"].get("down"), figure)


def _small(way: str) -> Callable[[Json], float | None]:
    """What nine in ten files of less than 100 kB take at most, in s."""

    def value(run: Json) -> float | None:
        times = run["response_time_s"].get(way) or {}
        return _of_times(times.get("by_size", {}).get("under_100kB"), "p90")

    return value


def _of_times(times: Json | None, figure: str) -> float | None:
    if not times or not times["n"] + times["unfinished"]:
        return None
    found = times[figure]
    return math.inf if found is None else float(found)


def _by_station(run: Json) -> Counter[str]:
    """How many connections of the whole window each station has, of those that have any."""
    ways = ("down", "up")
    return Counter(one["station"] for one in run["flows"] if one["whole"] and one["dir"] in ways)


def _among_like(of: Callable[[Json], float | None]) -> Callable[[Json], float | None]:
    """A comparison of connections: only of several, and where all stations have equally many."""

    def value(run: Json) -> float | None:
        counts = _by_station(run)
        alike = len({*counts.values()}) == 1 and counts.total() > 1
        return of(run) if alike else None

    return value


def _stations(run: Json) -> float | None:
    return _at("jain_stations")(run) if len(_by_station(run)) > 1 else None


def _airtime(run: Json) -> float | None:
    """Jain's index of the airtime of the stations that have connections."""
    shares = (run["medium"] or {}).get("station_airtime_share") or {}
    found = [shares[name] for name in _by_station(run) if name in shares]
    return jain_index(found) if len(found) > 1 else None


MEASURES = (
    Measure(
        "down/up",
        "ratio",
        "one",
        "downloads get {ours} of what uploads get, not {theirs}",
        _among_like(_ratio),
    ),
    Measure(
        "Jain, stations",
        "index",
        "more",
        "Jain's index of the stations' goodput is {ours}, not {theirs}",
        _stations,
    ),
    Measure(
        "total",
        "Mb/s",
        "more",
        "the total is {ours} Mb/s, not {theirs}",
        _at("goodput_mbps", "total"),
    ),
    Measure(
        "CoV in 1 s",
        "",
        "less",
        "a connection's goodput varies from second to second by {ours} of its mean, not {theirs}",
        _at("second_by_second", "goodput_cov"),
    ),
    Measure(
        "Jain in 1 s",
        "index",
        "more",
        "Jain's index of the connections in a second is {ours}, not {theirs}",
        _among_like(_at("second_by_second", "jain", "mean")),
    ),
    Measure(
        "delay p50",
        "ms",
        "less",
        "a datagram takes {ours} ms, not {theirs}",
        _delay("p50"),
    ),
    Measure(
        "delay p99",
        "ms",
        "less",
        "99 of 100 datagrams take at most {ours} ms, not {theirs}",
        _delay("p99"),
    ),
    Measure(
        "late or lost",
        "% of frames",
        "less",
        "{ours} % of a call's frames come late or never, not {theirs} %",
        _late,
    ),
    Measure(
        "round trip p90",
        "ms",
        "less",
        "nine in ten round trips inside a connection take at most {ours} ms, not {theirs}",
        _rtt,
    ),
    Measure(
        "download time p50",
        "s",
        "less",
        "half of the files take at most {ours} s to download, not {theirs}",
        _response("p50"),
    ),
    Measure(
        "download time p90",
        "s",
        "less",
        "nine in ten take at most {ours} s, not {theirs}",
        _response("p90"),
    ),
    Measure(
        "small download p90",
        "s",
        "less",
        "nine in ten files under 100 kB take at most {ours} s to download, not {theirs}",
        _small("down"),
    ),
    Measure(
        "small upload p90",
        "s",
        "less",
        "nine in ten files under 100 kB take at most {ours} s to upload, not {theirs}",
        _small("up"),
    ),
    Measure(
        "unfinished",
        "downloads",
        "less",
        "{ours} downloads do not end, not {theirs}",
        _response("unfinished"),
    ),
    Measure(
        "Jain, airtime",
        "index",
        "more",
        "Jain's index of the stations' airtime is {ours}, not {theirs}",
        _airtime,
    ),
    Measure(
        "TCP ACKs",
        "% of air",
        "less",
        "TCP's ACKs take {ours} % of the air, not {theirs}",
        _at("medium", "tcp_ack_airtime_share", scale=100),
    ),
)
