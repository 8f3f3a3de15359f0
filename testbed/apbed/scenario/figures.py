# SPDX-License-Identifier: GPL-2.0-only
"""[[figure]]: a paper's figure or table that a scenario repeats, in the paper's own axes.

A figure says which key is on the x axis, which metric on the y axis, which keys tell its lines and
its panels apart, which of the papers' equations is drawn over it, what the paper prints, and in
[[figure.expect]] what the paper claims, as a test that runs decide. It adds no run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from apbed.errors import ApbedError
from apbed.papers import equations
from apbed.papers.equation import Equation
from apbed.scenario.cases import flatten
from apbed.scenario.keys import refuse_unknown

# Metric -> the words of its axis. apbed.analysis.figures.metrics computes them.
METRICS = {
    "ratio_down_up": "goodput of a download over an upload's",
    "ratio_of_totals": "goodput ratio, down / up",
    "goodput_mbps.down": "goodput of all downloads, Mb/s",
    "goodput_mbps.up": "goodput of all uploads, Mb/s",
    "goodput_mbps.total": "goodput of all, Mb/s",
    "goodput_each_mbps.down": "goodput of each download, Mb/s",
    "goodput_each_mbps.up": "goodput of each upload, Mb/s",
    "packets_per_s.down": "data packets of all downloads, 1/s",
    "packets_per_s.up": "data packets of all uploads, 1/s",
    "segments_lost.down": "downloads' segments that did not arrive, share",
    "segments_lost.up": "uploads' segments that did not arrive, share",
    "retransmitted.down": "downloads' segments that are retransmissions, share",
    "retransmitted.up": "uploads' segments that are retransmissions, share",
    "ping_loss": "pings lost, share",
    "ping_ms": "median round trip of the pings, ms",
    "late_share": "datagrams of the worst call late or lost, share",
    "late_share_all": "datagrams of all calls late or lost, share",
    "jain": "Jain's index",
    "collision_probability": "attempts that collide, share",
    "transfer_mbps.down": "throughput of a download, Mb/s",
    "transfer_mbps.up": "throughput of an upload, Mb/s",
    "response_s.down": "mean time of a download, s",
    "response_s.up": "mean time of an upload, s",
}
# Those that have a curve for each run, over the percentile of transfers' sizes.
CURVES = {
    "response_by_size_s.down": "mean time of a download, s",
    "response_by_size_s.up": "mean time of an upload, s",
    "spread_by_size_s.down": "time of downloads, 90th less 10th percentile, s",
    "spread_by_size_s.up": "time of uploads, 90th less 10th percentile, s",
    "ended_by_size.down": "downloads that ended, share",
    "ended_by_size.up": "uploads that ended, share",
}
SIZE_PERCENTILE = "size_percentile"

KEYS = (
    *("id", "title", "x", "y", "x_label", "y_label", "series", "panel", "where", "names"),
    *("model", "printed", "expect", "scale", "drawn"),
)
EXPECT_KEYS = ("claim", "test", "of", "than", "least", "expect")
VERDICTS = ("reproduced", "direction only", "contradicted")

NUMBER = r"[-+]?\d+(?:\.\d+)?"
TESTS = {
    "between": re.compile(rf"between ({NUMBER}) ({NUMBER})"),
    "above": re.compile(rf"above ({NUMBER})"),
    "below": re.compile(rf"below ({NUMBER})"),
    "within model": re.compile(rf"within ({NUMBER}) % of model"),
    "within printed": re.compile(rf"within ({NUMBER}) % of printed"),
    "above others": re.compile("above others"),
    "below others": re.compile("below others"),
    "above others by": re.compile(rf"above others by ({NUMBER}) %"),
    "below others by": re.compile(rf"below others by ({NUMBER}) %"),
    "rises": re.compile("rises"),
    "falls": re.compile("falls"),
    "most at": re.compile(rf"most at ({NUMBER})"),
    "least at": re.compile(rf"least at ({NUMBER})"),
}
DIRECTIONS = ("above others", "below others", "rises", "falls", "most at", "least at")


@dataclass(frozen=True)
class Model:
    """An equation with its parameters bound to numbers and to keys of the scenario."""

    paper: str
    number: str
    bound: dict[str, Any]  # parameter -> number, or KEY or KEY+NUMBER: that key's value, and more
    figure: int = 0  # which of the equation's figures

    @property
    def keys(self) -> set[str]:
        """Those whose values it takes."""
        return {value.partition("+")[0] for value in self.bound.values() if isinstance(value, str)}

    def values(self, known: Mapping[str, Any]) -> dict[str, float] | None:
        """Of its parameters where the keys have these values; None if one is no number."""
        found: dict[str, float] = {}
        for name, value in self.bound.items():
            key, _, more = value.partition("+") if isinstance(value, str) else ("", "", "")
            given = known.get(key) if key else value
            if not isinstance(given, (int, float)):
                return None
            found[name] = given + float(more or 0)
        return found

    @property
    def equation(self) -> Equation:
        return equations.find(self.paper, self.number)

    @property
    def name(self) -> str:
        """As legends and tables have it."""
        return f"{self.paper}, eq. {self.number}"


@dataclass(frozen=True)
class Claim:
    """What the paper says, and the test that decides it."""

    claim: str
    kind: str  # of TESTS
    numbers: tuple[float, ...]
    of: dict[str, list[Any]]  # key -> values: the points that are tested; empty: all
    than: dict[str, Any]  # key -> value: the others, for above and below others
    least: int  # of the points that must pass; 0: all
    expect: str  # of VERDICTS

    @property
    def compares(self) -> bool:
        """Whether it says how points differ from those of `than`."""
        return "others" in self.kind


@dataclass(frozen=True)
class Figure:
    """One checked [[figure]]."""

    id: str
    title: str
    x: str
    y: str
    x_label: str
    y_label: str
    series: list[str]
    panel: list[str]
    where: dict[str, Any]
    names: dict[str, str]  # a value, as text, and the words for it
    model: list[Model]
    printed: list[dict[str, Any]]  # x, y and values of series and panel keys
    expect: list[Claim]
    scale: str  # of the y axis: linear or log
    drawn: str  # lines or bars

    @property
    def keys(self) -> list[str]:
        """The scenario's keys that the figure needs to know of each run."""
        axis = [] if self.x == SIZE_PERCENTILE else [self.x]
        return [*axis, *self.series, *self.panel, *self.where]

    def to_json(self) -> dict[str, Any]:
        """As manifest.json has it."""
        return asdict(self)

    @classmethod
    def from_json(cls, table: Mapping[str, Any]) -> Figure:
        """What `to_json` gave; ValueError if it is something else."""
        try:
            models = [Model(**one) for one in table["model"]]
            claims = [
                Claim(**(one | {"numbers": tuple(one["numbers"])})) for one in table["expect"]
            ]
            return cls(**(dict(table) | {"model": models, "expect": claims}))
        except (KeyError, TypeError) as error:
            raise ValueError(f"a broken figure: {error}") from error


def of_tables(
    tables: Sequence[Mapping[str, Any]],
    known: Mapping[str, Sequence[Any]],
    groups: Sequence[Sequence[str]] = (),
) -> list[Figure]:
    """The figures of a file. `known`: every key of the scenario with its values.

    `groups`: keys that are swept in step. Raises ApbedError for a figure that cannot be drawn.
    """
    found: list[Figure] = []
    for number, table in enumerate(tables, 1):
        try:
            figure = _figure(table, known, groups)
            if figure.id in [one.id for one in found]:
                raise ApbedError(f"id = {figure.id!r}: expected one that no other figure has")
        except ApbedError as error:
            raise ApbedError(f"figure {table.get('id', number)}: {error}") from error
        found.append(figure)
    return found


def _follow(
    mine: Sequence[str], known: Mapping[str, Sequence[Any]], groups: Sequence[Sequence[str]]
) -> list[str]:
    """The keys whose value those of `mine` tell, because they are swept in step."""
    found: list[str] = []
    for group in groups:
        ours = [key for key in group if key in mine]
        steps = len(set(_steps(ours, group, known)))
        for key in group if ours else ():
            if len(set(_steps([*ours, key], group, known))) == steps:
                found.append(key)
    return found


def _steps(
    keys: Sequence[str], group: Sequence[str], known: Mapping[str, Sequence[Any]]
) -> list[tuple[str, ...]]:
    """The values of `keys` in each step of their group. A key with one value has it in each."""
    steps = max(len(known[key]) for key in group)
    columns = [[*map(str, known[key])] for key in keys]
    return [tuple(column[step % len(column)] for column in columns) for step in range(steps)]


def _figure(
    table: Mapping[str, Any], known: Mapping[str, Sequence[Any]], groups: Sequence[Sequence[str]]
) -> Figure:
    refuse_unknown(table, KEYS)
    for key in ("id", "title", "x", "y"):
        _text(table, key)
    x, y = table["x"], table["y"]
    if not re.fullmatch(r"[A-Za-z0-9.-]{1,24}", table["id"]):
        raise ApbedError(f"id = {table['id']!r}: expected letters, digits, - and ., at most 24")
    metrics = CURVES if x == SIZE_PERCENTILE else METRICS
    if y not in metrics:
        raise ApbedError(f"y = {y!r}: expected one of {', '.join(metrics)}")
    series, panel = (_keys(table, key, known) for key in ("series", "panel"))
    where = _table(table, "where")
    axis = [] if x == SIZE_PERCENTILE else [x]
    mine = [*axis, *series, *panel, *where]
    refuse_unknown(mine, known)
    told = {*mine, *_follow(mine, known, groups)}
    for key, values in known.items():
        if len(values) > 1 and key not in told and key != "seed":
            raise ApbedError(f"{key} is swept; name it in x, series, panel or where")
    figure = Figure(
        id=table["id"],
        title=table["title"],
        x=x,
        y=y,
        x_label=_text(table, "x_label", "transfers by size, %" if not axis else x),
        y_label=_text(table, "y_label", metrics[y]),
        series=series,
        panel=panel,
        where=where,
        names={str(value): str(words) for value, words in _table(table, "names").items()},
        model=_models(table, mine),
        printed=[_printed(one, [*series, *panel]) for one in _tables(table, "printed")],
        expect=[_claim(one, [x, *series, *panel]) for one in _tables(table, "expect")],
        scale=_choice(table, "scale", ("linear", "log")),
        drawn=_choice(table, "drawn", ("lines", "bars")),
    )
    for claim in figure.expect:
        if claim.kind == "within model" and not figure.model:
            raise ApbedError(f"test of {claim.claim!r}: there is no model")
        if claim.kind == "within printed" and not figure.printed:
            raise ApbedError(f"test of {claim.claim!r}: nothing is printed")
    return figure


def _table(table: Mapping[str, Any], key: str) -> dict[str, Any]:
    """A table of the table by its dotted keys; empty if there is none."""
    value = table.get(key, {})
    if not isinstance(value, dict):
        raise ApbedError(f"{key} = {value!r}: expected a table")
    return dict(flatten(value))


def _tables(table: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    value = table.get(key, [])
    if not isinstance(value, list):
        raise ApbedError(f"{key} = {value!r}: expected a list of tables")
    if wrong := [one for one in value if not isinstance(one, dict)]:
        raise ApbedError(f"{key} = {wrong[:1]!r}: expected a list of tables")
    return value


def _text(table: Mapping[str, Any], key: str, default: str | None = None) -> str:
    value = table.get(key, default)
    if not isinstance(value, str) or not value:
        raise ApbedError(f"{key}: expected a string" if key in table else f"{key} is missing")
    return value


def _choice(table: Mapping[str, Any], key: str, choices: Sequence[str]) -> str:
    value = table.get(key, choices[0])
    if value not in choices:
        raise ApbedError(f"{key} = {value!r}: expected one of {', '.join(choices)}")
    return str(value)


def _keys(table: Mapping[str, Any], key: str, known: Mapping[str, Any]) -> list[str]:
    """One key of the scenario, or a list of them."""
    value = table.get(key, [])
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
        raise ApbedError(f"{key} = {value!r}: expected a key or a list of keys")
    refuse_unknown(listed, known)
    return list(listed)


def _models(table: Mapping[str, Any], keys: Sequence[str]) -> list[Model]:
    """model = "http-queueing 12 n_c=station.count d=3", or several of them."""
    value = table.get("model", [])
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list) or not all(isinstance(words, str) for words in listed):
        raise ApbedError(f"model = {value!r}: expected an equation or a list of them")
    found = []
    for words in listed:
        paper, number, *bindings = words.split() if len(words.split()) > 1 else (words, "")
        number, slash, place = number.partition("/")
        equation = equations.find(paper, number)
        shown = int(place) - 1 if place.isdigit() else -1 if slash else 0
        if not 0 <= shown < len(equation.figures):
            raise ApbedError(f"model: {words!r}: expected one of {len(equation.figures)} figures")
        bound: dict[str, Any] = {}
        for binding in bindings:
            name, equals, given = binding.partition("=")
            if not equals or name not in equation.parameters:
                known = ", ".join(equation.parameters) or "none"
                raise ApbedError(f"model: {binding!r}: expected NAME=KEY; names: {known}")
            if re.fullmatch(NUMBER, given):
                bound[name] = float(given)
            else:
                key, plus, more = given.partition("+")
                if plus and not re.fullmatch(r"\d+", more):
                    raise ApbedError(f"model: {binding!r}: expected {name}={key}+NUMBER")
                refuse_unknown([key], keys)
                bound[name] = given
        found.append(Model(paper, number, bound, shown))
    return found


def _printed(table: Mapping[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    point = dict(flatten(table))
    refuse_unknown(point, ["x", "y", *keys])
    if "x" not in point or not isinstance(point.get("y"), (int, float)):
        raise ApbedError(f"printed = {point}: expected x and y")
    return point


def _claim(table: Mapping[str, Any], keys: Sequence[str]) -> Claim:
    try:
        refuse_unknown(table, EXPECT_KEYS)
        words = _text(table, "test")
        kind, match = next(
            ((kind, found) for kind, test in TESTS.items() if (found := test.fullmatch(words))),
            (None, None),
        )
        if kind is None or match is None:
            raise ApbedError(f"test = {words!r}: expected one of {', '.join(TESTS)}")
        of, than = (_table(table, key) for key in ("of", "than"))
        refuse_unknown([*of, *than], keys)
        if bool(than) != ("others" in kind):
            raise ApbedError("than: expected with 'above others' and 'below others', and only then")
        least = table.get("least", 0)
        if type(least) is not int or least < 0:
            raise ApbedError(f"least = {least!r}: expected a whole number")
        return Claim(
            claim=_text(table, "claim"),
            kind=kind,
            numbers=tuple(float(one) for one in match.groups()),
            of={key: one if isinstance(one, list) else [one] for key, one in of.items()},
            than=than,
            least=least,
            expect=_choice(table, "expect", VERDICTS),
        )
    except ApbedError as error:
        raise ApbedError(f"expect {table.get('claim', '')!r}: {error}") from error
