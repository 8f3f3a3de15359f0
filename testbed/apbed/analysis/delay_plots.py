# SPDX-License-Identifier: GPL-2.0-only
"""What a person feels: how long datagrams take and what a download gets, over time.

Principle: a column for each scheduler, delays above and downloads below, on one scale. Colours and
style are those of apbed.analysis.plots.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from apbed.analysis.comparison import Row
from apbed.analysis.plots import COLORS, FAINT, INK, styled
from apbed.analysis.run_directory import Json

ACROSS = 5
COLUMN_IN, DELAY_IN, GOODPUT_IN = 2.3, 1.7, 1.25
NAME_COLUMNS, NAME_LINE_IN = 24, 0.17  # of a row's name above its panels
DELAY_COLOR = COLORS["pulse"]


def delay_and_goodput(rows: Sequence[Row]) -> Figure:
    """The first valid run of each row. A second without datagrams is a gap."""
    with styled():
        across = min(ACROSS, len(rows))
        bands = math.ceil(len(rows) / across)
        names = [textwrap.fill(row.name, NAME_COLUMNS) for row in rows]
        words_in = NAME_LINE_IN * max(name.count("\n") for name in names)
        figure = Figure(
            figsize=(COLUMN_IN * across + 0.4, bands * (DELAY_IN + GOODPUT_IN + words_in)),
            layout="constrained",
        )
        panels = figure.subplots(
            2 * bands,
            across,
            squeeze=False,
            sharex=True,
            height_ratios=[DELAY_IN, GOODPUT_IN] * bands,
        )
        slowest, fastest, end_s = _extent(rows)
        for place in range(bands * across):
            band, column = divmod(place, across)
            delays, goodputs = panels[2 * band, column], panels[2 * band + 1, column]
            if place >= len(rows):
                delays.remove()
                goodputs.remove()
                continue
            _scale(delays, slowest)
            goodputs.set_ylim(0, fastest)
            goodputs.set_xlim(0, end_s)
            delays.set_title(names[place], loc="left", fontsize=10, fontweight="bold", color=INK)
            _draw(delays, goodputs, rows[place])
            goodputs.set_xlabel("seconds")
            goodputs.tick_params(labelbottom=True)
            if column:
                delays.set_yticklabels([])
                goodputs.set_yticklabels([])
            else:
                delays.set_ylabel("datagrams, ms", color=DELAY_COLOR)
                goodputs.set_ylabel("downloads,\nMb/s each", color=COLORS["down"])
        return figure


def _draw(delays: Axes, goodputs: Axes, row: Row) -> None:
    if not row.runs:
        delays.text(0.5, 0.5, "no valid run", ha="center", color=FAINT, transform=delays.transAxes)
        return
    run = row.runs[0]
    for panel in (delays, goodputs):
        if run["warmup_s"]:
            panel.axvspan(0, run["warmup_s"], color="#f3f4f6", linewidth=0, zorder=0)
    for flow in run["flows"]:
        if flow["delay_series"]:
            times, medians, maxima = zip(*flow["delay_series"], strict=True)
            delays.fill_between(times, medians, maxima, color=DELAY_COLOR, alpha=0.35, linewidth=0)
            delays.plot(times, maxima, color=DELAY_COLOR, linewidth=0.8)
            delays.plot(times, medians, color=INK, linewidth=1.3)
        elif flow["dir"] == "down":
            rates = [np.nan if rate is None else rate for _, rate in flow["goodput_series"]]
            middles = [t for t, _ in flow["goodput_series"]]
            goodputs.plot(middles, rates, color=COLORS["down"], linewidth=1.2, alpha=0.85)


def _scale(panel: Axes, slowest: float) -> None:
    """Milliseconds on a logarithmic scale: a person tells 20 from 200, not 200 from 220."""
    panel.set_yscale("log")
    panel.set_ylim(1, max(10, 1.3 * slowest))
    panel.yaxis.set_major_locator(LogLocator(subs=(1,)))
    panel.yaxis.set_major_formatter(lambda ms, _: f"{ms:g}")
    panel.yaxis.set_minor_locator(NullLocator())


def _extent(rows: Sequence[Row]) -> tuple[float, float, float]:
    """The longest delay in ms, the top of the goodputs in Mb/s, and the end of time in s.

    When TCP fills a hole at last, seconds of data come at once: one goodput in a hundred may lie
    above the top, or the others could not be seen.
    """
    runs = [row.runs[0] for row in rows if row.runs]
    flows: list[Json] = [flow for run in runs for flow in run["flows"]]
    longest = [ms for flow in flows for _, _, ms in flow["delay_series"]]
    rates = [
        rate
        for flow in flows
        if flow["dir"] == "down"
        for _, rate in flow["goodput_series"]
        if rate is not None
    ]
    end_s = max((run["duration_s"] for run in runs), default=1.0)
    top = 1.1 * float(np.percentile(rates, 99)) if rates else 1.0
    return max(longest, default=10.0), top or 1.0, end_s
