# SPDX-License-Identifier: GPL-2.0-only
"""EDCA saturation: shares of access categories that differ in AIFS and windows.

Principle: contention zones. After each transmission slots are numbered from the end of the
shortest AIFS on; a category may send from slot AIFSN - min(AIFSN) on. How often slot s is reached
follows from all attempt probabilities; a category's collision probability is the mean over the
slots it takes part in; its attempt probability follows from that as in Bianchi's model, whose
counting rule EDCA has (a busy slot counts). Within a station the highest category wins.

J. W. Robinson and T. S. Randhawa, "Saturation Throughput Analysis of IEEE 802.11e Enhanced
Distributed Coordination Function", IEEE JSAC 22(5), 2004; internal collisions as Y. Xiao,
"Performance Analysis of Priority Schemes for IEEE 802.11 and IEEE 802.11e Wireless LANs", IEEE
Trans. Wireless Commun. 4(4), 2005.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from apbed.papers.bianchi import attempt_probability

Array = NDArray[np.float64]
SLOTS = 2000


@dataclass(frozen=True)
class Category:
    """One access category, the same in all stations; windows count their values."""

    aifsn: int
    windows: tuple[int, ...]  # of each attempt of a frame


@dataclass(frozen=True)
class Shares:
    """Per category, in the order given."""

    successes: tuple[float, ...]  # share of all delivered frames
    collisions: tuple[float, ...]  # probability that an attempt, also an internal one, fails


def _zones(stations: int, aifsn: Array, tau: Array) -> tuple[Array, Array, Array]:
    """Which slots are open to whom, how often each is reached, who sends with nobody else."""
    slots = np.arange(SLOTS)
    active = slots[None, :] >= (aifsn - aifsn.min())[:, None]
    quiet = np.where(active, 1 - tau[:, None], 1.0)
    idle = quiet.prod(axis=0) ** stations
    reached = np.concatenate(([1.0], np.cumprod(idle)[:-1]))
    others = quiet.prod(axis=0) ** (stations - 1)
    higher = np.cumprod(quiet[::-1], axis=0)[::-1] / quiet
    return active, reached / reached.sum(), others * higher


def shares(stations: int, categories: list[Category]) -> Shares:
    """Saturated `stations` with all `categories` each, lowest priority first."""
    aifsn = np.array([c.aifsn for c in categories])
    tau = np.array([0.05] * len(categories))
    for _ in range(2000):
        active, reached, alone = _zones(stations, aifsn, tau)
        open_to = (active * reached).sum(axis=1)
        collision = 1 - (active * reached * alone).sum(axis=1) / open_to
        found = np.array(
            [
                attempt_probability(float(p), c.windows)
                for p, c in zip(collision, categories, strict=True)
            ]
        )
        if np.abs(found / tau - 1).max() < 1e-9:
            break
        tau = 0.9 * tau + 0.1 * found
    success = tau * (active * reached * alone).sum(axis=1)
    return Shares(tuple(success / success.sum()), tuple(collision))
