# SPDX-License-Identifier: GPL-2.0-only
"""DCF with n saturated stations and the standard's true waits: a mean-field model.

Principle: as in Bianchi's model a station meets the others only through probabilities, but these
depend on the kind of the last transmission, since that decides who may begin when:

- After a success everybody waits DIFS. The sender has a fresh count of its smallest window and can
  begin at once; the others' counts were frozen and are at least 1 (802.11-2012, 9.3.4.3).
- After a collision its k senders, with fresh counts, go on when no ACK has begun in time
  (9.3.2.8), the observers after EIFS or DIFS. Their slots start `head_start` slots later (earlier
  if negative), so the two kinds count on grids that need not be aligned, and whoever begins less
  than a slot after the first collides with it.

A fresh count is uniform over its window; a frozen one ends at each slot with one probability tau.
The fixed point is found over tau and the colliders' distribution over backoff stages, both of
which follow from one station's chain of draws (its stage, and the kind of transmission before).

This is I. Tinnirello, G. Bianchi and Y. Xiao, "Refinements on IEEE 802.11 Distributed Coordination
Function Modeling Approaches", IEEE Trans. Veh. Technol. 59(3), 2010 (freezing, and the slot only
the last senders can use), extended to colliders and observers that wait differently. It holds from
about five stations on; for two see dcf_pair. Units are slots, but for `per_transmission`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import comb

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

MOST = 10  # a transmission of more than this many stations counts as one of this many
HORIZON = 200  # slots; with three or more stations somebody has begun long before
ROUNDING = 1e-9  # two points in time closer than this are one


@dataclass(frozen=True)
class Crowd:
    """The model's answer for one number of stations."""

    success: float  # probability that a transmission is no collision
    idle_after_success: float  # slots from DIFS to the next transmission
    idle_after_collision: float  # slots from the end of the ACK timeout, mean of all collisions
    collision_probability: float  # of an attempt
    drop_probability: float  # of a frame


def _points_until(t: Array) -> Array:
    """Points 0, 1, ... that are not after `t`."""
    return np.asarray(np.maximum(0, np.floor(t + ROUNDING) + 1))


def _points_before(t: Array) -> Array:
    return np.asarray(np.maximum(0, np.ceil(t - ROUNDING)))


def _is_point(t: Array) -> Flags:
    """Which of `t` are on the grid 0, 1, ..."""
    return (np.abs(t - np.round(t)) < ROUNDING) & (t > -ROUNDING)


def _binomial(n: int, p: Array) -> Array:
    """Rows of the distribution of successes in `n` trials, up to MOST of them."""
    k = np.arange(MOST + 1)
    p = p[:, None]
    return np.asarray(comb(n, k) * p**k * (1 - p) ** np.maximum(0, n - k))


def _together(a: Array, b: Array) -> Array:
    """Distribution of the sum of two counts given as rows, the tail at MOST."""
    both = np.zeros_like(a)
    for i in range(MOST + 1):
        both[:, i:] += a[:, i : i + 1] * b[:, : MOST + 1 - i]
        both[:, MOST] += a[:, i] * b[:, MOST + 1 - i :].sum(axis=1)
    return both


class _Population:
    """The others, as one station sees them between two transmissions."""

    def __init__(self, crowd: _Solver, kind: int, fresh: int, frozen: int) -> None:
        self.fresh, self.frozen = fresh, frozen
        self.tau = crowd.tau
        # Frozen counts are at least 1: their first point is one slot after they resume.
        self.offset = 1 + (0.0 if kind == 1 else crowd.head_start)
        self.windows = crowd.windows
        self.stages = np.eye(len(crowd.windows))[0] if kind == 1 else crowd.colliders

    def _fresh_waits(self, points: Array) -> Array:
        """Probability that a fresh count outlives this many of its points."""
        return np.asarray(np.maximum(0, 1 - points[:, None] / self.windows) @ self.stages)

    def _idle(self, fresh_points: Array, frozen_points: Array) -> Array:
        quiet = (1 - self.tau) ** (self.frozen * frozen_points)
        return np.asarray(self._fresh_waits(fresh_points) ** self.fresh * quiet)

    def idle_until(self, t: Array) -> Array:
        """Probability that nobody has begun at `t` or before."""
        return self._idle(_points_until(t), _points_until(t - self.offset))

    def idle_before(self, t: Array) -> Array:
        """Probability that nobody has begun before `t`."""
        return self._idle(_points_before(t), _points_before(t - self.offset))

    def _beginners(self, fresh_at: Flags, frozen_at: Flags, t: Array) -> Array:
        """How many begin at the point `t`, of the kinds that have one there."""
        gone = _points_before(t)
        waits, on = self._fresh_waits(gone), self._fresh_waits(gone + 1)
        hazard = np.where(fresh_at & (waits > 0), 1 - on / np.where(waits > 0, waits, 1), 0)
        return _together(
            _binomial(self.fresh, hazard),
            _binomial(self.frozen, np.where(frozen_at, self.tau, 0.0)),
        )

    def joining(self, t: Array) -> Array:
        """How many of the others share a transmission with one who begins at `t`."""
        return self._beginners(t > -ROUNDING, t - self.offset > -1 + ROUNDING, t)

    def first(self) -> tuple[Array, Array]:
        """When the others would begin, and with which probability how many of them do."""
        grid = np.arange(HORIZON, dtype=np.float64)
        t: Array = np.unique(np.concatenate((grid, self.offset + grid)).round(9))
        fresh_at, frozen_at = _is_point(t), _is_point(t - self.offset)
        begin = self._beginners(fresh_at, frozen_at, t)
        begin[:, 0] = 0
        # Less than a slot later the other grid has a point, too.
        later_fresh, later_frozen = ~fresh_at & (t > -1), ~frozen_at & (t - self.offset > -1)
        both = _together(begin, self._beginners(later_fresh, later_frozen, t))
        both[:, 0] = 0
        return t, both * self.idle_before(t)[:, None]


class _Solver:
    def __init__(self, n: int, windows: tuple[int, ...], head_start: float) -> None:
        self.n, self.head_start = n, head_start
        self.windows = np.array(windows, dtype=np.float64)
        self.kinds = range(1, min(n, MOST) + 1)  # senders of a transmission; 1 is a success
        self.tau = 2 / (windows[0] + 1)
        self.colliders = np.eye(len(windows))[min(1, len(windows) - 1)]

    def _attempt(self, others: _Population, t: Array) -> tuple[Array, Array]:
        """A station begins at `t`: probability that alone, and with how many in all."""
        alone = others.idle_before(t + 1)
        collides = others.idle_until(t - 1) - alone
        senders = np.roll(others.joining(t), 1, axis=1)
        senders[:, MOST] += senders[:, 0]
        senders[:, :2] = 0
        total = senders.sum(axis=1)
        senders *= (collides / np.where(total > 0, total, 1))[:, None]
        return alone, senders

    def _frozen_outcomes(self) -> Array:
        """Row per kind: how an attempt ends (0: alone; k: k senders) once it is frozen."""
        size = len(self.kinds)
        passed, ends = np.zeros((size, size)), np.zeros((size, MOST + 1))
        for kind in self.kinds[: self.n - 1]:
            others = _Population(self, kind, kind, self.n - kind - 1)
            point = np.arange(HORIZON, dtype=np.float64)
            alone, senders = self._attempt(others, np.asarray(others.offset + point))
            ending = self.tau * (1 - self.tau) ** point
            ends[kind - 1] = ending @ senders
            ends[kind - 1, 0] = ending @ alone
            t, begin = others.first()
            waits = (1 - self.tau) ** _points_before(t + 1 - others.offset)
            passed[kind - 1] = (waits @ begin)[1 : size + 1]
        return np.asarray(np.linalg.solve(np.eye(size) - passed, ends))

    def _draws(self) -> tuple[Array, Array, Array]:
        """Per stage and kind: outcomes of a draw, probability that it is frozen, its rest."""
        frozen_outcomes = self._frozen_outcomes()
        shape = (len(self.windows), len(self.kinds))
        outcome, frozen, rest = np.zeros((*shape, MOST + 1)), np.zeros(shape), np.zeros(shape)
        count = np.arange(HORIZON, dtype=np.float64)
        for kind in self.kinds:
            others = _Population(self, kind, kind - 1, self.n - kind)
            alone, senders = self._attempt(others, count)
            t, begin = others.first()
            used = np.maximum(0, np.floor(t + ROUNDING))
            missed = _points_before(t + 1)  # smaller counts than this take part
            for stage, window in enumerate(self.windows):
                drawn = (count < window) / window
                outcome[stage, kind - 1] = drawn @ senders
                outcome[stage, kind - 1, 0] = drawn @ alone
                stays = np.maximum(0, window - missed) / window
                beginning = begin * stays[:, None]
                frozen[stage, kind - 1] = beginning.sum()
                mean = (missed + window - 1) / 2 - used
                rest[stage, kind - 1] = (beginning.sum(axis=1) * np.maximum(0, mean)).sum()
                went_on = beginning.sum(axis=0)[1 : len(self.kinds) + 1]
                outcome[stage, kind - 1] += went_on @ frozen_outcomes
        return outcome / outcome.sum(axis=2, keepdims=True), frozen, rest

    def _stationary(self, outcome: Array) -> Array:
        """How often a draw has which stage and kind: the chain from draw to draw."""
        stages, kinds = outcome.shape[:2]
        step = np.zeros((stages, kinds, stages, kinds))
        step[:, :, 0, 0] = outcome[:, :, 0]
        for stage in range(stages):
            step[stage, :, (stage + 1) % stages, 1:] = outcome[stage, :, 2 : kinds + 1]
        size = stages * kinds
        equations = np.vstack((step.reshape(size, size).T - np.eye(size), np.ones(size)))
        right = np.append(np.zeros(size), 1.0)
        solution = np.linalg.lstsq(equations, right, rcond=None)[0]
        return np.asarray(np.maximum(0, solution).reshape(stages, kinds))

    def solve(self) -> Crowd:
        for _ in range(200):
            outcome, frozen, rest = self._draws()
            often = self._stationary(outcome)
            tau = float((often * frozen).sum() / (often * rest).sum())
            colliders = often[:, 1:].sum(axis=1)
            colliders /= colliders.sum()
            change = abs(tau / self.tau - 1) + float(np.abs(colliders - self.colliders).sum())
            self.tau = (self.tau + 2 * tau) / 3
            self.colliders = (self.colliders + 2 * colliders) / 3
            if change < 1e-4:
                break
        fails = 1 - outcome[:, :, 0]
        drops = float((often * fails)[-1].sum())
        return self._transmissions(drops / (drops + float((often * outcome[:, :, 0]).sum())))

    def _transmissions(self, drop_probability: float) -> Crowd:
        """The chain from transmission to transmission, seen from outside."""
        size = len(self.kinds)
        step, idle = np.zeros((size, size)), np.zeros(size)
        for kind in self.kinds:
            t, begin = _Population(self, kind, kind, self.n - kind).first()
            step[kind - 1] = begin.sum(axis=0)[1 : size + 1] / begin.sum()
            idle[kind - 1] = (begin.sum(axis=1) * t).sum() / begin.sum()
        equations = np.vstack((step.T - np.eye(size), np.ones(size)))
        share = np.linalg.lstsq(equations, np.append(np.zeros(size), 1.0), rcond=None)[0]
        attempts = share * np.array(self.kinds)
        return Crowd(
            success=float(share[0]),
            idle_after_success=float(idle[0]),
            idle_after_collision=float(share[1:] @ idle[1:] / share[1:].sum()),
            collision_probability=float(attempts[1:].sum() / attempts.sum()),
            drop_probability=drop_probability,
        )


@cache
def crowd(n: int, windows: tuple[int, ...], head_start: float) -> Crowd:
    """`n` (at least 3) saturated stations with one window for each of a frame's attempts.

    After a collision observers go on `head_start` slots after those who collided.
    """
    return _Solver(n, windows, head_start).solve()
