# SPDX-License-Identifier: GPL-2.0-only
"""A figure in the paper's own axes: dots are measured, lines are models', crosses are printed.

Colours and style are those of apbed.analysis.plots; bars span the confidence interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from matplotlib.ticker import LogLocator, NullLocator

from apbed.analysis.figures.claims import named, placed
from apbed.analysis.figures.points import Point
from apbed.analysis.plots import FAINT, INK, styled
from apbed.scenario.figures import SIZE_PERCENTILE, Figure

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", INK, FAINT)
MARKERS = "os^Dv<>P"
MODEL_STYLES = ("-", "--", ":")
PANEL_IN = (3.9, 3.0)


def draw(figure: Figure, points: Sequence[Point]) -> Drawing:
    """All panels side by side, with one legend below them."""
    return _draw(figure, points, _panels(points), None)


def draw_each(figure: Figure, points: Sequence[Point]) -> dict[str, Drawing]:
    """A drawing of each panel, by its name, with the same axis for y."""
    panels = _panels(points)
    limits = _draw(figure, points, panels, None).axes[0].get_ylim() if len(panels) > 1 else None
    return {_words(figure, one): _draw(figure, points, [one], limits) for one in panels}


def _panels(points: Sequence[Point]) -> list[tuple[Any, ...]]:
    return list(dict.fromkeys(point.panel for point in points)) or [()]


def _words(figure: Figure, panel: Sequence[Any]) -> str:
    return ", ".join(named(figure, value) for value in panel)


def _draw(
    figure: Figure,
    points: Sequence[Point],
    panels: Sequence[tuple[Any, ...]],
    limits: tuple[float, float] | None,
) -> Drawing:
    """`limits` of the axis for y; None: those that show all."""
    with styled():
        lines = list(dict.fromkeys(point.series for point in points))
        columns = 2 * len(panels)
        entries = len(lines) * (1 + len(figure.model)) + bool(figure.printed)
        legend_in = 0.35 + 0.19 * -(-entries // columns)
        words_in = 0 if all(isinstance(point.x, (int, float)) for point in points) else 0.8
        drawing = Drawing(
            figsize=(PANEL_IN[0] * len(panels) + 0.5, PANEL_IN[1] + legend_in + words_in),
            layout="constrained",
        )
        axes = drawing.subplots(1, len(panels), sharey=True, squeeze=False)[0]
        for panel, axis in zip(panels, axes, strict=True):
            _draw_panel(figure, axis, [one for one in points if one.panel == panel], lines)
            axis.set_title(
                _words(figure, panel), loc="left", fontsize=10, fontweight="bold", color=INK
            )
            axis.set_xlabel(figure.x_label)
        axes[0].set_ylabel(figure.y_label)
        if limits:
            axes[0].set_ylim(limits)
        elif figure.scale == "linear":
            low, high = axes[0].get_ylim()
            axes[0].set_ylim(min(0, low), 1.06 * high)  # no dot is cut
        found: dict[str, Any] = {}
        for axis in axes:
            handles, labels = axis.get_legend_handles_labels()
            found |= dict(zip(labels, handles, strict=True))
        drawing.legend(
            list(found.values()),
            list(found),
            frameon=False,
            loc="outside lower left",
            fontsize=8.5,
            ncols=columns,
        )
        return drawing


def _draw_panel(
    figure: Figure, axis: Axes, points: Sequence[Point], lines: Sequence[tuple[Any, ...]]
) -> None:
    if figure.scale == "log":
        axis.set_yscale("log")
        axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axis.yaxis.set_minor_locator(NullLocator())
    places = _places(points)
    numeric = all(isinstance(x, (int, float)) for x in places)
    bars = figure.drawn == "bars" or not numeric
    where = {x: float(place) for place, x in enumerate(places)} if bars else {x: x for x in places}
    step = min((after - before for before, after in pairwise(where.values())), default=1.0)
    for number, series in enumerate(lines):
        ours = sorted((one for one in points if one.series == series), key=lambda one: where[one.x])
        color = PALETTE[number % len(PALETTE)]
        label = ", ".join(named(figure, value) for value in series) or "measured"
        if bars:
            width = 0.8 / len(lines)
            shift = (number - (len(lines) - 1) / 2) * width
            _draw_bars(axis, ours, [where[one.x] + shift for one in ours], width, color, label)
        else:
            shift = 0.06 * step * (number - (len(lines) - 1) / 2) if len(lines) > 1 else 0.0
            marker = MARKERS[number % len(MARKERS)]
            many = figure.x == SIZE_PERCENTILE
            axis.errorbar(
                [where[one.x] + shift for one in ours],
                [one.measured.mean for one in ours],
                yerr=_errors(ours),
                fmt=f"{marker}{'-' if many or not figure.model else ''}",
                ms=2.8 if many else 4.5,
                lw=1.2,
                color=color,
                label=label,
            )
        _draw_references(figure, axis, ours, [where[one.x] + shift for one in ours], color)
    if bars:
        axis.set_xticks(range(len(places)), [placed(figure, x) for x in places])
        if not numeric:
            axis.tick_params(axis="x", labelrotation=30)
            for words in axis.get_xticklabels():
                words.set_horizontalalignment("right")
    elif len(places) <= 12:
        axis.set_xticks(places)


def _draw_bars(
    axis: Axes, ours: Sequence[Point], at: Sequence[float], width: float, color: str, label: str
) -> None:
    heights = [one.measured.mean for one in ours]
    axis.bar(at, heights, width=0.92 * width, color=color, label=label, alpha=0.9)
    axis.errorbar(at, heights, yerr=_errors(ours), fmt="none", ecolor=INK, elinewidth=0.9)


def _draw_references(
    figure: Figure, axis: Axes, ours: Sequence[Point], at: Sequence[float], color: str
) -> None:
    """The models' values and the paper's printed ones of a line."""
    for number, model in enumerate(figure.model):
        curve = [(x, one.model[number]) for x, one in zip(at, ours, strict=True)]
        known = [(x, value) for x, value in curve if value is not None]
        if known:
            axis.plot(
                *zip(*known, strict=True),
                MODEL_STYLES[number % len(MODEL_STYLES)],
                color=color,
                lw=1.4,
                marker="_" if len(known) == 1 else "",
                label=f"{model.name}" + _of(figure, ours),
            )
    printed = [(x, one.printed) for x, one in zip(at, ours, strict=True) if one.printed is not None]
    if printed:
        axis.plot(
            *zip(*printed, strict=True), "x", ms=8, mew=1.8, color=INK, zorder=5, label="printed"
        )


def _of(figure: Figure, ours: Sequence[Point]) -> str:
    """Of which line a model's curve is, where lines have curves of their own."""
    binds = {key for model in figure.model for key in model.keys}
    if not ours or not binds & set(figure.series):
        return ""
    return ", " + ", ".join(named(figure, value) for value in ours[0].series)


def _errors(ours: Sequence[Point]) -> Any:
    """From the mean down and up to the interval's ends."""
    found = [(one.measured.mean, *one.measured.ends) for one in ours]
    if not any(low < high for _, low, high in found):
        return None
    return np.array([[mean - low, high - mean] for mean, low, high in found]).T


def _places(points: Sequence[Point]) -> list[Any]:
    """The x values, in order: numbers by size, words as they come."""
    places = list(dict.fromkeys(point.x for point in points))
    return sorted(places) if all(isinstance(x, (int, float)) for x in places) else places
