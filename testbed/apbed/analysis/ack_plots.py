# SPDX-License-Identifier: GPL-2.0-only
"""Pictures of thinner ACKs: throughput by segments per ACK, and the gain by skipped ACKs.

Principle: dots are measured, lines are a model's; bars span the seeds. Colours and style are those
of apbed.analysis.plots.
"""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from apbed.analysis import ack_comparison
from apbed.analysis.ack_comparison import Point, Upload
from apbed.analysis.comparison import Spread
from apbed.analysis.plots import FAINT, INK, styled
from apbed.analysis.run_directory import Json
from apbed.papers import http_queueing

STATION_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
FLOW_COLORS = ("#56B4E9", "#0072B2", INK)
STYLES = ("o-", "s--", "^:")  # by tcp_ack_skip_after, from the smallest on


def thinner_acks(runs: Sequence[Json]) -> Figure | None:
    """What valid runs show of thinner ACKs, or None if they do not differ in them."""
    if not runs or any(run["tcp"] is None for run in runs):
        return None
    if ack_comparison.has_points(runs):
        return throughput_by_every(ack_comparison.points(runs))
    if ack_comparison.has_uploads(runs):
        return gain_by_skip(ack_comparison.uploads(runs))
    return None


def throughput_by_every(points: Sequence[Point]) -> Figure:
    """http-queueing's Figs. 3 and 6 in one: all stations' throughput against d."""
    with styled():
        figure = Figure(figsize=(5.4, 3.6), layout="constrained")
        panel = figure.subplots()
        counts = sorted({point.stations for point in points})
        for color, stations in zip(STATION_COLORS, counts, strict=False):
            ours = [point for point in points if point.stations == stations]
            every = [point.every for point in ours]
            model = [http_queueing.throughput(stations, d) / 1e6 for d in every]
            equation = "8" if stations == 1 else "12"
            words = f"{stations} station{'s' if stations > 1 else ''}"
            panel.plot(every, model, color=color, lw=1.2, label=f"{words}, eq. {equation}")
            panel.errorbar(
                every,
                [point.mbps.mean for point in ours],
                yerr=_bars([point.mbps for point in ours]),
                fmt="o",
                ms=4.5,
                color=color,
                label=f"{words}, measured",
            )
        panel.set_ylim(bottom=0)
        panel.set_xticks(sorted({point.every for point in points}))
        panel.set_xlabel("segments per ACK, d (tcp_ack_every)")
        panel.set_ylabel("Mb/s, all downloads together")
        panel.legend(frameon=False, loc="lower right")
        return figure


def gain_by_skip(uploads: Sequence[Upload]) -> Figure:
    """The gain over skip 0, a panel for each size and number of a station's attempts (rows) and
    of segments that an ACK stood for before (columns); a line for each
    number of flows and start of skipping."""
    with styled():
        cells = sorted({(one.size, -one.attempts) for one in uploads})
        bases = sorted({one.every for one in uploads})
        size = (3.4 * len(bases), 1.0 + 1.9 * len(cells))
        figure = Figure(figsize=size, layout="constrained")
        panels = figure.subplots(len(cells), len(bases), sharex=True, sharey=True, squeeze=False)
        for row, (length, attempts) in enumerate(cells):
            for column, every in enumerate(bases):
                panel = panels[row][column]
                ours = [
                    one
                    for one in uploads
                    if (one.size, -one.attempts, one.every) == (length, attempts, every)
                ]
                _draw_gains(panel, ours)
                panel.set_title(_cell_title(length, -attempts, every), loc="left", fontsize=8.5)
        fullest = max(panels.flat, key=lambda panel: len(panel.get_legend_handles_labels()[1]))
        handles, labels = fullest.get_legend_handles_labels()
        figure.legend(
            handles, labels, frameon=False, loc="outside lower center", ncols=3, fontsize=8
        )
        for panel in panels[-1]:
            panel.set_xlabel("ACKs skipped (tcp_ack_skip)")
        for panel in panels[:, 0]:
            panel.set_ylabel("gain, percent")
        return figure


def in_words(size: int) -> str:
    """A transfer's size."""
    return f"{size / 1e6:g} MB" if size >= 1e6 else f"{size / 1e3:g} kB"


def _cell_title(size: int, attempts: int, every: int) -> str:
    """`attempts`: 0 if the scenario has only one number of them."""
    retries = {0: "", 1: "no retry of DATA, "}.get(attempts, f"{attempts} attempts, ")
    return f"{in_words(size)}, {retries}tcp_ack_every = {every}"


def _draw_gains(panel: Axes, uploads: Sequence[Upload]) -> None:
    panel.axhline(0, color=FAINT, lw=0.8)
    starts = sorted({one.after for one in uploads})
    for color, flows in zip(FLOW_COLORS, sorted({one.flows for one in uploads}), strict=False):
        for after, style in zip(starts, STYLES, strict=False):
            ours = [one for one in uploads if (one.flows, one.after) == (flows, after) and one.gain]
            gains = [one.gain for one in ours if one.gain]
            panel.errorbar(
                [one.skip for one in ours],
                [100 * gain.mean for gain in gains],
                yerr=[[100 * value for value in side] for side in _bars(gains)],
                fmt=style,
                ms=3.5,
                lw=1.4,
                color=color,
                label=f"{flows} flow{'s' if flows > 1 else ''}, after {after}",
            )
    panel.set_xticks(sorted({one.skip for one in uploads}))


def _bars(spreads: Sequence[Spread]) -> list[list[float]]:
    """Below and above the means, to the lowest and the highest seed."""
    return [[one.mean - one.low for one in spreads], [one.high - one.mean for one in spreads]]
