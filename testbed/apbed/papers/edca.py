# SPDX-License-Identifier: GPL-2.0-only
"""EDCA saturation: shares of access categories that differ in AIFS and windows.

Principle: contention zones. After each transmission slots are numbered from the end of the
shortest AIFS on; a category may send from slot AIFSN - min(AIFSN) on. How often slot s is reached
follows from all attempt probabilities; a category's collision probability is the mean over the
slots it takes part in; its attempt probability follows from that as in Bianchi's model, whose
counting rule EDCA has (a busy slot counts). Within a radio the highest category wins.

J. W. Robinson and T. S. Randhawa, "Saturation Throughput Analysis of IEEE 802.11e Enhanced
Distributed Coordination Function", IEEE JSAC 22(5), 2004; internal collisions as Y. Xiao,
"Performance Analysis of Priority Schemes for IEEE 802.11 and IEEE 802.11e Wireless LANs", IEEE
Trans. Wireless Commun. 4(4), 2005.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from apbed.papers.bianchi import attempt_probability

Array = NDArray[np.float64]
SLOTS = 2000


@dataclass(frozen=True)
class Category:
    """One access category; windows count their values."""

    aifsn: int
    windows: tuple[int, ...]  # of each attempt of a frame


@dataclass(frozen=True)
class Radios:
    """`count` radios with the same categories, lowest priority first."""

    count: int
    categories: tuple[Category, ...]


@dataclass(frozen=True)
class Shares:
    """Per category of each kind of radios, in the order given."""

    successes: tuple[float, ...]  # share of all delivered frames
    collisions: tuple[float, ...]  # probability that an attempt, also an internal one, fails


def windows(cw_min: int, cw_max: int, attempts: int) -> tuple[int, ...]:
    """Of each attempt at a frame: doubled from `cw_min` to `cw_max` values."""
    return tuple(min(cw_min << attempt, cw_max) for attempt in range(attempts))


def _alone(radios: Sequence[Radios], quiet: Array) -> tuple[Array, Array]:
    """How often each slot is reached, and who sends in it with nobody else, by category."""
    first = np.cumsum([0] + [len(kind.categories) for kind in radios])
    own = [quiet[first[i] : first[i + 1]] for i in range(len(radios))]  # by kind
    silent = [each.prod(axis=0) for each in own]  # one radio of that kind
    idle = np.prod([s**kind.count for s, kind in zip(silent, radios, strict=True)], axis=0)
    reached = np.concatenate(([1.0], np.cumprod(idle)[:-1]))
    alone = [
        idle / of_radio * np.cumprod(each[::-1], axis=0)[::-1] / each  # the higher ones are silent
        for each, of_radio in zip(own, silent, strict=True)
    ]
    return reached / reached.sum(), np.concatenate(alone)


def shares(radios: Sequence[Radios]) -> Shares:
    """All categories of all radios always have a frame."""
    categories = [category for kind in radios for category in kind.categories]
    counts = np.array([kind.count for kind in radios for _ in kind.categories])
    aifsn = np.array([c.aifsn for c in categories])
    active = np.arange(SLOTS)[None, :] >= (aifsn - aifsn.min())[:, None]
    tau = np.array([0.05] * len(categories))
    for _ in range(2000):
        reached, alone = _alone(radios, np.where(active, 1 - tau[:, None], 1.0))
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
    success = counts * tau * (active * reached * alone).sum(axis=1)
    return Shares(tuple(success / success.sum()), tuple(collision))
