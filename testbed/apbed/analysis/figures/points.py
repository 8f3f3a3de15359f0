# SPDX-License-Identifier: GPL-2.0-only
"""The points of a figure: for each x, line and panel the seeds' values, the model's and the
paper's.

Intervals are Student's, 95 %, over independent replications, the seeds (A. M. Law, Simulation
Modeling and Analysis, 9.4); one seed has none. Invalid runs are in no point.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from apbed.analysis.figures.metrics import OF_RUN, curve, size_bins
from apbed.analysis.measures import replications
from apbed.analysis.run_directory import Json
from apbed.errors import ApbedError
from apbed.scenario.figures import SIZE_PERCENTILE, Figure, Model
from apbed.scenario.keys import PARAMETER


@dataclass(frozen=True)
class Interval:
    """A mean of n values and its confidence interval; None with one value."""

    mean: float
    low: float | None
    high: float | None
    n: int

    @property
    def ends(self) -> tuple[float, float]:
        """The interval, or the one value twice."""
        if self.low is None or self.high is None:
            return self.mean, self.mean
        return self.low, self.high


@dataclass(frozen=True)
class Point:
    """One x of one line."""

    panel: tuple[Any, ...]
    series: tuple[Any, ...]
    x: Any
    values: dict[int, float]  # of each seed
    model: tuple[float | None, ...]  # of each of the figure's models
    printed: float | None

    @property
    def measured(self) -> Interval:
        return interval(list(self.values.values()))


def interval(values: Sequence[float]) -> Interval:
    """Mean and 95 % confidence interval of independent values; at least one."""
    found = replications.interval(values)
    mean, half = found["mean"], found["half_width_95"]
    if half is None:
        return Interval(mean, None, None, found["n"])
    return Interval(mean, mean - half, mean + half, found["n"])


def parameter(run: Json, key: str) -> Any:
    """A run's value of a scenario's key."""
    return run["params"].get(PARAMETER.get(key, key))


def points(figure: Figure, runs: Sequence[Json]) -> list[Point]:
    """The figure's points in the order of the runs; without one for which no value is known."""
    found: dict[tuple[Any, ...], dict[int, float]] = {}
    chosen = [run for run in runs if run["valid"] and _shows(figure, run)]
    bins = size_bins(figure.y, chosen) if figure.x == SIZE_PERCENTILE else 0
    for run in chosen:
        for x, value in _values(figure, run, bins):
            seeds = found.setdefault((*_line(figure, run), x), {})
            seed = int(run["params"]["seed"])
            if seed in seeds:
                raise ApbedError(
                    f"figure {figure.id}: {run['id']} and another run with seed {seed} are at one "
                    f"place, {figure.x} = {x}; say in `where` or `series` what else differs"
                )
            seeds[seed] = value
    return [_point(figure, key, values) for key, values in found.items()]


def missing(figure: Figure, runs: Sequence[Json], known: Sequence[Point]) -> list[Point]:
    """The figure's places where runs were to be, and none is valid. Of curves none is known."""
    if figure.x == SIZE_PERCENTILE:
        return []
    have = {(point.panel, point.series, point.x) for point in known}
    places = dict.fromkeys(
        (*_line(figure, run), parameter(run, figure.x)) for run in runs if _shows(figure, run)
    )
    return [_point(figure, place, {}) for place in places if place not in have]


def _shows(figure: Figure, run: Json) -> bool:
    return all(parameter(run, key) in _listed(value) for key, value in figure.where.items())


def _line(figure: Figure, run: Json) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    panel = tuple(parameter(run, key) for key in figure.panel)
    return panel, tuple(parameter(run, key) for key in figure.series)


def _values(figure: Figure, run: Json, bins: int) -> list[tuple[Any, float]]:
    if figure.x == SIZE_PERCENTILE:
        return list(curve(figure.y, run, bins))
    value = OF_RUN[figure.y](run)
    return [] if value is None else [(parameter(run, figure.x), value)]


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _point(figure: Figure, key: tuple[Any, ...], values: dict[int, float]) -> Point:
    panel, series, x = key
    known = {key: value for key, value in figure.where.items() if not isinstance(value, list)}
    known |= dict(zip(figure.panel, panel, strict=True))
    known |= dict(zip(figure.series, series, strict=True)) | {figure.x: x}
    models = tuple(solved(model, known) for model in figure.model)
    return Point(panel, series, x, values, models, _printed(figure, known))


def solved(model: Model, known: Mapping[str, Any]) -> float | None:
    """The model's figure at a point; None where the equation has no meaning there."""
    bound = model.values(known)
    if bound is None:
        return None
    try:
        return model.equation.at(bound)[model.figure]
    except ApbedError:
        return None


def _printed(figure: Figure, known: Mapping[str, Any]) -> float | None:
    """What the paper prints at a point: the first of its numbers that says nothing else."""
    for one in figure.printed:
        said = {key: value for key, value in one.items() if key not in ("x", "y")}
        if one["x"] == known[figure.x] and all(known[key] == said[key] for key in said):
            return float(one["y"])
    return None
