# SPDX-License-Identifier: GPL-2.0-only
"""The picture: cost of a packet against the number of flows."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib as mpl
from matplotlib.figure import Figure

from apbed.analysis.plots import styled
from apbed.bench.cells import Cell
from apbed.bench.figures import Cost

PANEL_IN = (4.2, 3.4)


def cost_against_flows(cells: Sequence[Cell], costs: Sequence[Cost], unit: str) -> Figure:
    """Two panels, without and with a hash; a band is from quartile to quartile."""
    of = {(cost.cell, cost.kind): cost.cost for cost in costs}
    kinds = list(dict.fromkeys(cost.kind for cost in costs))
    with styled():
        figure = Figure(figsize=(2 * PANEL_IN[0], PANEL_IN[1]), layout="constrained")
        panels = figure.subplots(1, 2, sharey=True)
        colors = mpl.colormaps["tab20"].colors  # type: ignore[attr-defined]
        for panel, hashed in zip(panels, (False, True), strict=True):
            sweep = [cell for cell in cells if cell == Cell(cell.name, cell.flows, hashed)]
            flows = [cell.flows for cell in sweep]
            for kind, color in zip(kinds, colors, strict=False):
                points = [of[cell.name, kind] for cell in sweep]
                low, high = [p.low for p in points], [p.high for p in points]
                panel.fill_between(flows, low, high, color=color, alpha=0.25, linewidth=0)
                panel.plot(flows, [p.median for p in points], color=color, label=kind)
            panel.set_xscale("log")
            panel.set_yscale("log")
            panel.set_xlabel("flows")
            panel.set_title("hash given" if hashed else "no hash")
        panels[0].set_ylabel(f"{unit} a packet")
        panels[1].legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
        return figure
