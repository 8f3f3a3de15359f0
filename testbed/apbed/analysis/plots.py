# SPDX-License-Identifier: GPL-2.0-only
"""The pictures: goodput of each flow and connection, and response time by size of transfer.

Principle: one scale for all panels, so that they can be compared; of goodput colour says the
direction and nothing else (Okabe and Ito's palette, safe for colour-blind readers: blue for
downloads, vermilion for uploads); where lines are schedulers, each has another of that palette's
colours. A gap in the data is a gap in the line.
"""

from __future__ import annotations

import io
import math
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from apbed.analysis.comparison import Row, connections, transfers
from apbed.analysis.response import DIRECTIONS, conditional, size_at
from apbed.analysis.run_directory import Json

COLORS = {"down": "#0072B2", "up": "#D55E00", "pulse": "#777777"}
COLORS |= dict.fromkeys(("pulse_down", "ping"), COLORS["pulse"])
WORDS = {"down": "downloads", "up": "uploads"}
INK, FAINT = "#1a1f26", "#6b7480"
SCHEDULERS = (FAINT, "#CC79A7", "#009E73", "#E69F00", "#56B4E9", INK)  # in the rows' order
SIZE_BINS = 20  # of response time by size: 5 % of the transfers each
PER_BIN = 5  # and at least so many
PANEL_IN = (3.5, 2.7)  # width and height in inches
NAME_COLUMNS, NAME_LINE_IN = 20, 0.17  # of a row's name beside its bars
COLUMNS = 3
LEGEND_COLUMNS = 36  # of a row's name below a panel
LINES = ("-", "--", ":")
PNG_DPI = 160
STYLE: Any = {  # keys as in matplotlibrc
    "font.family": "DejaVu Sans",
    "font.size": 9.0,
    "text.color": INK,
    "axes.labelcolor": FAINT,
    "axes.edgecolor": "#c9ced6",
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.color": "#e9ecf0",
    "grid.linewidth": 0.8,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "xtick.major.size": 0.0,
    "ytick.major.size": 0.0,
    "svg.fonttype": "path",
    "svg.hashsalt": "apbed",
}


@contextmanager
def styled() -> Iterator[None]:
    """The style of all pictures, to make and to write one in."""
    with mpl.rc_context(STYLE):
        yield


def to_svg(figure: Figure) -> str:
    """The figure as SVG text, the same for the same data."""
    stream = io.StringIO()
    with styled():
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
    return stream.getvalue()


def to_png(figure: Figure) -> bytes:
    """The figure as PNG."""
    stream = io.BytesIO()
    with styled():
        FigureCanvasAgg(figure)
        figure.savefig(stream, format="png", dpi=PNG_DPI)
    return stream.getvalue()


def goodput_over_time(rows: Sequence[Row], scale: Sequence[Row] | None = None) -> Figure:
    """One panel per scheduler with every flow of its first valid run.

    `scale`: the rows whose extent the axes cover (default: `rows`), so that panels of
    several figures can be compared.
    """
    with styled():
        across = min(COLUMNS, len(rows))
        down = math.ceil(len(rows) / across)
        size = (PANEL_IN[0] * across, PANEL_IN[1] * down)
        figure = Figure(figsize=size, layout="constrained")
        panels = figure.subplots(down, across, sharey=True, squeeze=False)
        top, end = _extent(scale or rows)
        for panel, row in zip(panels.flat, rows, strict=False):
            panel.set_ylim(0, top)
            panel.set_xlim(0, end)
            _draw_panel(panel, row, top)
        for panel in panels.flat[len(rows) :]:
            panel.remove()
        for panel in panels[:, 0]:
            panel.set_ylabel("Mb/s per flow")
        return figure


def goodput_bars(rows: Sequence[Row]) -> Figure:
    """Mean goodput of a connection by scheduler and direction; a dot per connection and seed."""
    with styled():
        names = [textwrap.fill(row.name, NAME_COLUMNS) for row in rows]
        lines = max((name.count("\n") + 1 for name in names), default=1)
        height = max(0.56, NAME_LINE_IN * lines) * len(rows) + 0.7
        figure = Figure(figsize=(4.6, height), layout="constrained")
        panel = figure.subplots()
        panel.grid(visible=False)
        panel.grid(visible=True, axis="x")
        top = max((value for row in rows for value in _dots(row)), default=1.0)
        panel.set_xlim(0, 1.36 * top)  # room for the labels
        for place, row in enumerate(rows):
            for offset, direction in ((-0.19, "down"), (0.19, "up")):
                _draw_bar(panel, row, place + offset, direction, named=place == 0)
        panel.set_yticks(range(len(rows)), names)
        panel.tick_params(axis="y", labelcolor=INK, labelsize=9.5)
        panel.invert_yaxis()
        panel.spines["bottom"].set_visible(False)
        panel.set_xlabel("Mb/s per connection")
        return figure


def response_by_size(rows: Sequence[Row]) -> Figure:
    """Mean response time by percentile of size, as layer2-layer3, Fig. 4; a panel per direction."""
    with styled():
        shown = [one for one in DIRECTIONS if any(transfers(row, one) for row in rows)]
        names = [textwrap.fill(row.name, LEGEND_COLUMNS * len(shown)) for row in rows]
        columns = 2 if max(map(len, names), default=0) <= NAME_COLUMNS else 1
        lines = math.ceil(sum(name.count("\n") + 1 for name in names) / columns)
        size = (PANEL_IN[0] * len(shown) + 0.6, PANEL_IN[1] + 0.5 + NAME_LINE_IN * lines)
        figure = Figure(figsize=size, layout="constrained")
        panels = figure.subplots(1, len(shown), sharey=True, squeeze=False)[0]
        for panel, direction in zip(panels, shown, strict=True):
            for place, row in enumerate(rows):
                given = transfers(row, direction)
                points = conditional(given, max(1, min(SIZE_BINS, len(given) // PER_BIN)))
                percents = [percent for percent, _ in points]
                means = [np.nan if mean is None else mean for _, mean in points]
                again, color = divmod(place, len(SCHEDULERS))
                style = {"color": SCHEDULERS[color], "ls": LINES[again % len(LINES)]}
                panel.plot(percents, means, marker="o", ms=2.6, lw=1.6, label=names[place], **style)
            panel.set_title(
                WORDS[direction],
                loc="left",
                fontsize=11,
                fontweight="bold",
                color=COLORS[direction],
            )
            _scale_by_size(panel, [one for row in rows for one in transfers(row, direction)])
        panels[0].set_ylabel("mean response time, seconds")
        figure.legend(
            *panels[0].get_legend_handles_labels(),
            loc="outside lower left",
            ncols=columns,
            frameon=False,
            labelcolor="linecolor",
            prop={"weight": "bold"},
        )
        return figure


def _scale_by_size(panel: Axes, given: Sequence[Json]) -> None:
    """Logarithmic seconds; percentiles with their sizes below."""
    panel.set_yscale("log")
    panel.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    panel.yaxis.set_major_formatter(lambda seconds, _: f"{seconds:g}")
    panel.yaxis.set_minor_locator(NullLocator())
    panel.set_xlim(0, 100)
    percents = (0, 25, 50, 75, 100)
    sizes = [f"\n{_size(given, percent)}" if given else "" for percent in percents]
    labels = [f"{percent} %{size}" for percent, size in zip(percents, sizes, strict=True)]
    panel.set_xticks(percents, labels)
    first, *_, last = panel.get_xticklabels()
    first.set_horizontalalignment("left")
    last.set_horizontalalignment("right")
    panel.set_xlabel("transfers by size, and the size there")


def _size(given: Sequence[Json], percent: float) -> str:
    size = size_at(given, percent)
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.0f} kB"


def _extent(rows: Sequence[Row]) -> tuple[float, float]:
    """Top of the scale in Mb/s and end of time in s that hold all lines."""
    points = [
        point
        for row in rows
        for run in row.runs[:1]
        for flow in run["flows"]
        for point in flow["goodput_series"]
    ]
    rates = [rate for _, rate in points if rate is not None]
    ends = [run["duration_s"] for row in rows for run in row.runs[:1]]
    return 1.12 * max(rates, default=1.0) or 1.0, max(ends, default=1.0)


def _draw_panel(panel: Axes, row: Row, top: float) -> None:
    panel.set_title(row.name, loc="left", fontsize=11, fontweight="bold", color=INK)
    panel.set_xlabel("seconds")
    if not row.runs:
        panel.text(0.5, 0.5, "no valid run", ha="center", color=FAINT, transform=panel.transAxes)
        return
    run = row.runs[0]
    if run["warmup_s"]:
        panel.axvspan(0, run["warmup_s"], color="#f3f4f6", linewidth=0, zorder=0)
    for flow in run["flows"]:
        series = [(t, np.nan if rate is None else rate) for t, rate in flow["goodput_series"]]
        if series:
            times, rates = zip(*series, strict=True)
            panel.plot(times, rates, color=COLORS[flow["dir"]], linewidth=1.3, alpha=0.85)
    _label_lines(panel, run, top)


def _label_lines(panel: Axes, run: Json, top: float) -> None:
    """Name each direction above its lines; the higher one first, never one over the other."""
    peaks: dict[str, float] = {}
    for flow in run["flows"]:
        rates = [rate for _, rate in flow["goodput_series"] if rate is not None]
        # the labels stand on the right half of the panel
        peaks[flow["dir"]] = max([peaks.get(flow["dir"], 0.0), *rates[len(rates) // 2 :]])
    floor = 0.0
    for direction in sorted(peaks, key=lambda name: peaks[name]):
        if direction not in WORDS:
            continue
        height = max(peaks[direction] + 0.02 * top, floor)
        floor = height + 0.1 * top
        panel.text(
            0.985 * panel.get_xlim()[1],
            height,
            WORDS[direction],
            color=COLORS[direction],
            ha="right",
            va="bottom",
            fontweight="bold",
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1},
        )


def _draw_bar(panel: Axes, row: Row, place: float, direction: str, named: bool) -> None:
    each = row.down_each if direction == "down" else row.up_each
    if each is None:
        return
    panel.barh(place, each.mean, height=0.34, color=COLORS[direction], alpha=0.9)
    dots = [value for run in row.runs for value in connections(run, direction)]
    panel.plot(dots, [place] * len(dots), "o", ms=3.2, mfc="white", mec=INK, mew=0.7)
    words = f"{each.mean:.2f}" + (f" {WORDS[direction]}" if named else "")
    panel.text(
        max([each.mean, *dots]) + 0.015 * panel.get_xlim()[1],
        place,
        words,
        color=COLORS[direction],
        va="center",
        fontweight="bold",
    )


def _dots(row: Row) -> list[float]:
    return [value for run in row.runs for way in WORDS for value in connections(run, way)]
