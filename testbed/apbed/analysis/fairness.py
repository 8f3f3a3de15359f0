# SPDX-License-Identifier: GPL-2.0-only
"""Who gets how much, over a whole run and from second to second.

Sources: Jain's index: R. Jain, D. Chiu, W. Hawe, "A Quantitative Measure of Fairness and
Discrimination for Resource Allocation in Shared Computer Systems", DEC-TR-301, 1984, eq. 1.
Goodput ratio: up-down-fairness, section III. The coefficient of variation is the standard
deviation over the mean; the windows are all there are, so the deviation divides by n.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

Series = Sequence[Sequence[float | None]]  # [(middle of the second, Mb/s or None)...]


def jain_index(shares: Sequence[float]) -> float | None:
    """(sum x)^2 / (n sum x^2): 1 when all shares are equal, 1/n when one takes all.

    None without shares or when all are zero.
    """
    squares = sum(x * x for x in shares)
    return sum(shares) ** 2 / (len(shares) * squares) if squares else None


def ratio_down_up(down: Sequence[float], up: Sequence[float]) -> float | None:
    """Mean goodput of a download connection over that of an upload connection.

    With as many downloads as uploads this is up-down-fairness's ratio of the totals.
    None when there is no connection of a direction or uploads got nothing.
    """
    if not down or not up or not sum(up):
        return None
    return (sum(down) / len(down)) / (sum(up) / len(up))


def windows(series: Series, begin_s: float, end_s: float) -> list[float] | None:
    """Goodputs in Mb/s of the seconds that lie between two moments after t0.

    A flow that did not exist yet got nothing. None if no whole second lies there.
    """
    found = [
        float(rate or 0)
        for middle, rate in series
        if middle is not None and begin_s <= middle - 0.5 and middle + 0.5 <= end_s
    ]
    return found or None


def coefficient_of_variation(values: Sequence[float]) -> float | None:
    """Standard deviation over mean; None without values or if their mean is 0."""
    if not values or not sum(values):
        return None
    mean = sum(values) / len(values)
    return sqrt(sum((x - mean) ** 2 for x in values) / len(values)) / mean


def jain_by_second(connections: Sequence[Sequence[float]]) -> dict[str, float] | None:
    """Mean and minimum of Jain's index among connections, each second for itself.

    `connections`: of each one its goodput in every second. Seconds in which nobody got anything
    do not count. None if there are none that do.
    """
    each = [jain_index(shares) for shares in zip(*connections, strict=True)]
    known = [index for index in each if index is not None]
    return {"mean": sum(known) / len(known), "min": min(known)} if known else None
