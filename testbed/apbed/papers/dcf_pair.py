# SPDX-License-Identifier: GPL-2.0-only
"""DCF with two saturated stations, solved exactly.

Principle: with two stations the state between transmissions is small enough to be kept whole,
so no independence need be assumed. After a success the sender has a fresh count of its smallest
window and the other one a stage and a residual count, at least 1 because the slot in which
somebody begins is not counted (802.11-2012, 9.3.4.3). After a collision both have fresh counts.
The Markov chain of these states has one step per transmission; its stationary distribution gives
everything. EIFS plays no part: nobody is left to observe a collision.

This is the backoff freezing of I. Tinnirello, G. Bianchi and Y. Xiao, "Refinements on IEEE 802.11
Distributed Coordination Function Modeling Approaches", IEEE Trans. Veh. Technol. 59(3), 2010,
without its (and Bianchi's) assumption that attempts collide independently.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Vector = NDArray[np.float64]
Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Pair:
    """What one transmission of two saturated stations is like, on average."""

    success: float  # probability that a transmission is no collision
    idle_slots: float  # before a transmission, after DIFS or the ACK timeout
    drops: float  # frames given up, per transmission

    @property
    def collision_probability(self) -> float:
        """Share of the attempts that collide; a collision is two attempts."""
        return 2 * (1 - self.success) / (2 - self.success)

    @property
    def drop_probability(self) -> float:
        """Share of the frames that are given up."""
        return self.drops / (self.drops + self.success)


class _Chain:
    """Transition matrix under construction; states are numbered as described in `pair`."""

    def __init__(self, windows: tuple[int, ...]) -> None:
        self.windows = windows
        self.stages = len(windows)
        # (stage, residual) of the one that waits: residuals 1 .. window - 1.
        self.first = np.concatenate(([0], np.cumsum([w - 1 for w in windows])))
        self.size = int(self.first[-1]) + self.stages**2
        self.rows: list[Counts] = []
        self.columns: list[Counts] = []
        self.weights: list[Vector] = []
        self.success = np.zeros(self.size)
        self.idle = np.zeros(self.size)
        self.drops = np.zeros(self.size)

    def waiting(self, stage: int, residual: Counts) -> Counts:
        """States after a success in which the other one has these residual counts."""
        return np.asarray(self.first[stage] + residual - 1)

    def collided(self, a: int, b: int) -> int:
        """The state after a collision, stages as they are after it."""
        return int(self.first[-1]) + a * self.stages + b

    def step(self, state: int, a: int, counts_a: Counts, b: int, counts_b: Counts) -> None:
        """All pairs of counts of stages `a` and `b` are equally likely from `state`."""
        x, y = (grid.ravel() for grid in np.meshgrid(counts_a, counts_b))
        weight = 1 / len(x)
        following = np.where(
            x < y,
            self.waiting(b, y - x),
            self.waiting(a, x - y),
        )
        a_next, b_next = (a + 1) % self.stages, (b + 1) % self.stages
        following[x == y] = self.collided(a_next, b_next)
        states, times = np.unique(following, return_counts=True)
        self.rows.append(np.full(len(states), state))
        self.columns.append(states)
        self.weights.append(np.asarray(times * weight, dtype=np.float64))
        meets = np.count_nonzero(x == y) * weight
        self.success[state] = 1 - meets
        self.idle[state] = np.minimum(x, y).sum() * weight
        self.drops[state] = meets * ((a_next == 0) + (b_next == 0))

    def stationary(self) -> Vector:
        """Probability of each state, by iteration from the state of two new frames."""
        weights, rows = np.concatenate(self.weights), np.concatenate(self.rows)
        places = (np.concatenate(self.columns), rows)
        matrix = sparse.csr_array((weights, places), shape=(self.size, self.size))
        p = np.zeros(self.size)
        p[self.collided(0, 0)] = 1
        for _ in range(100_000):
            # Half a step keeps a chain with a period from going round for ever.
            p, before = (p + matrix @ p) / 2, p
            if np.abs(p - before).max() < 1e-12:
                return p
        raise ArithmeticError("the chain of two stations does not settle")


@cache
def pair(windows: tuple[int, ...]) -> Pair:
    """Two saturated stations with one contention window for each of a frame's attempts."""
    chain = _Chain(windows)
    fresh = [np.arange(w) for w in windows]
    for stage, window in enumerate(windows):
        for residual in range(1, window):
            state = int(chain.waiting(stage, np.array(residual)))
            chain.step(state, 0, fresh[0], stage, np.array([residual]))
    for a in range(len(windows)):
        for b in range(len(windows)):
            chain.step(chain.collided(a, b), a, fresh[a], b, fresh[b])
    p = chain.stationary()
    return Pair(float(p @ chain.success), float(p @ chain.idle), float(p @ chain.drops))
