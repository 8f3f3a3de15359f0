# SPDX-License-Identifier: GPL-2.0-only
"""The picture of the verdicts: a row for each load, a column for each measure, won, lost or even.

Principle: losses are as large as wins, and each has a sign of its own beside its colour (Okabe and
Ito's palette), so that nobody needs the colours.
"""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from apbed.analysis.plots import COLORS, FAINT, INK, styled
from apbed.analysis.verdict.judge import EVEN, LOST, MEASURES, OURS, WON, Load

NAME_IN, HEAD_IN, MARGIN_IN = 2.1, 1.2, 0.45
CELL_IN = (0.36, 0.185)  # width and height in inches
SHADES = {WON: COLORS["down"], LOST: COLORS["up"], EVEN: "#e3e6eb"}
SIGNS = {WON: ("+", "white"), LOST: ("\N{MINUS SIGN}", "white"), EVEN: ("=", FAINT)}
TITLE_PT, NAME_PT = 10, 7.5


def picture(loads: Sequence[Load]) -> Figure:
    """Of the loads that are compared, in their order. A cell without colour has no such measure."""
    told = [load for load in loads if load.comparisons()]
    names = [one.name for one in MEASURES]
    known = [{one.measure.name: one.outcome for one in load.comparisons()} for load in told]
    columns = [name for name in names if any(name in found for found in known)]
    width, height = (CELL_IN[0] * len(columns), CELL_IN[1] * len(told))
    with styled():
        whole = (NAME_IN + width + MARGIN_IN, HEAD_IN + height)
        figure = Figure(figsize=whole)
        # Left, bottom, width, height, as parts of the whole.
        panel = figure.add_axes((NAME_IN / whole[0], 0, width / whole[0], height / whole[1]))
        for row, found in enumerate(known):
            for column, name in enumerate(columns):
                if outcome := found.get(name):
                    _cell(panel, column, row, outcome)
        panel.set_xlim(0, len(columns))
        panel.set_ylim(len(told), 0)
        panel.grid(visible=False)
        panel.spines[:].set_visible(False)
        panel.xaxis.tick_top()
        panel.set_xticks([column + 0.5 for column in range(len(columns))])
        panel.set_xticklabels(columns, rotation=40, ha="left", fontsize=NAME_PT, color=INK)
        panel.set_yticks([row + 0.5 for row in range(len(told))])
        panel.set_yticklabels([_short(load.name) for load in told], fontsize=NAME_PT, color=INK)
        figure.legend(
            handles=[
                Patch(color=SHADES[word], label=f"{SIGNS[word][0]} {word}") for word in SHADES
            ],
            loc="upper left",
            title=f"{OURS} beside what runs today",
            title_fontsize=TITLE_PT,
            fontsize=NAME_PT,
            alignment="left",
            frameon=False,
        )
    return figure


def _cell(panel: Axes, column: int, row: int, outcome: str) -> None:
    gap = 0.04
    corner, size = (column + gap, row + gap), 1 - 2 * gap
    panel.add_patch(Rectangle(corner, size, size, color=SHADES[outcome], linewidth=0))
    sign, color = SIGNS[outcome]
    panel.text(column + 0.5, row + 0.52, sign, ha="center", va="center", color=color, fontsize=8)


def _short(name: str) -> str:
    """What is varied, as people say it: a mix, a round trip, a load."""
    first, *varied = name.split(", ")
    said = []
    for part in varied:
        key, _, value = part.rpartition(" ")
        match key:
            case "mix":
                said.append(value)
            case "wired.delay_ms":
                said.append(f"{2 * float(value):g} ms")
            case "workload.load_mbps":
                said.append(f"{value} Mb/s")
            case _:
                said.append(part)
    return ", ".join([first, *said])
