# SPDX-License-Identifier: GPL-2.0-only
"""From raw counts to costs: median, quartiles, ratio to fq_codel; JSON and Markdown.

Principle: what disturbs a turn is the host (it takes the processor away for a while), so batches
far above their turn's median are left out and counted. In each round the harness' own cost is
taken off and the ratio is made with the reference's turn of the same round; the median over the
rounds is the figure, the quartiles its spread.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import mean, median, quantiles
from typing import Any

from apbed.bench.cells import HARNESS, REFERENCE
from apbed.bench.measure import BATCH, MEMORY_FLOWS, Order, Raw, Turn

SCHEMA = 1
DISTURBED = 3.0  # times the median of its turn


@dataclass(frozen=True)
class Spread:
    """Median and quartiles over the rounds."""

    median: float
    low: float
    high: float


@dataclass(frozen=True)
class Cost:
    """What a packet costs one kind in one cell."""

    cell: str
    kind: str
    cost: Spread  # cycles or instructions a packet offered, without the harness
    ratio: Spread | None  # to the reference; None if that was not measured
    served: float  # packets served for one offered
    dropped: float  # packets dropped for one offered
    disturbed: int  # batches left out


def _undisturbed(turn: Turn) -> list[int]:
    most = DISTURBED * median(turn.batches)
    return [count for count in turn.batches if count <= most]


def _per_packet(turn: Turn) -> float:
    return mean(_undisturbed(turn)) / BATCH


def spread(values: Sequence[float]) -> Spread:
    """Median and quartiles; of one value, the value."""
    low, middle, high = quantiles(values, n=4) if len(values) > 1 else [values[0]] * 3
    return Spread(middle, low, high)


def _kind_cost(cell: str, kind: str, kinds: dict[str, list[Turn]]) -> Cost:
    turns = kinds[kind]
    own = [_per_packet(turn) for turn in kinds[HARNESS]]
    net = [_per_packet(turn) - harness for turn, harness in zip(turns, own, strict=True)]
    ratio = None
    if REFERENCE in kinds:
        base = [_per_packet(turn) for turn in kinds[REFERENCE]]
        pairs = zip(net, base, own, strict=True)
        ratio = spread([cost / (reference - harness) for cost, reference, harness in pairs])
    offered = sum(len(turn.batches) for turn in turns) * BATCH
    return Cost(
        cell=cell,
        kind=kind,
        cost=spread(net),
        ratio=ratio,
        served=sum(turn.served for turn in turns) / offered,
        dropped=sum(turn.dropped for turn in turns) / offered,
        disturbed=sum(len(turn.batches) - len(_undisturbed(turn)) for turn in turns),
    )


def costs(order: Order, raw: Raw) -> list[Cost]:
    """By cell, then by kind, in the order they were measured."""
    return [
        _kind_cost(cell.name, kind, raw.turns[cell.name])
        for cell in order.cells
        for kind in order.kinds
    ]


def bytes_a_flow(raw: Raw) -> dict[str, float]:
    """Memory a kind holds for each of MEMORY_FLOWS flows that it has seen."""
    return {kind: size / MEMORY_FLOWS for kind, size in raw.memory.items() if kind != HARNESS}


def to_json(order: Order, raw: Raw, unit: str, about: dict[str, str]) -> dict[str, Any]:
    """The whole result. `unit`: "cycles" or "instructions"."""
    return {
        "schema": SCHEMA,
        "unit": unit,
        "kernel": raw.release,
        **about,
        "rounds": order.rounds,
        "reference": REFERENCE,
        "cells": [asdict(cell) | {"depth": cell.depth} for cell in order.cells],
        "costs": [asdict(cost) for cost in costs(order, raw)],
        "bytes_a_flow": bytes_a_flow(raw),
    }


def _entry(cost: Cost) -> str:
    spread = f"{cost.cost.median:.0f} ({cost.cost.low:.0f}-{cost.cost.high:.0f})"
    ratio = f" {cost.ratio.median:.2f}x" if cost.ratio and cost.kind != REFERENCE else ""
    lost = f" drops {cost.dropped:.0%}" if cost.dropped else ""
    return spread + ratio + lost


def to_markdown(order: Order, raw: Raw, unit: str) -> str:
    """A table: a line for each cell, a column for each kind."""
    lines = [
        f"| {unit} a packet | {' | '.join(order.kinds)} |",
        f"|---|{'---|' * len(order.kinds)}",
    ]
    by_cell: dict[str, list[Cost]] = {}
    for cost in costs(order, raw):
        by_cell.setdefault(cost.cell, []).append(cost)
    for cell, row in by_cell.items():
        lines.append(f"| {cell} | {' | '.join(_entry(cost) for cost in row)} |")
    if raw.memory:
        sizes = bytes_a_flow(raw)
        held = " | ".join(f"{sizes[kind]:.0f}" for kind in order.kinds)
        lines.append(f"| bytes a flow, {MEMORY_FLOWS} known | {held} |")
    return "\n".join(lines) + "\n"
