# SPDX-License-Identifier: GPL-2.0-only
"""DCF with n saturated stations, played rather than solved: many cells at once, no decoupling.

Principle: each station keeps its own count and stage, so nothing is taken for independent, and
what the solved models (dcf_crowd, bianchi) lose by that can be seen. Two sets of rules:

- the standard's: after a success all wait DIFS; after a collision its senders go on when their ACK
  timeout is over (802.11-2012, 9.3.2.8), the observers after EIFS or DIFS. A count goes down for
  each slot the medium stays idle after the station's own wait; the slot in which somebody begins is
  not counted (9.3.4.3). Who begins less than a slot after the first collides with it.
- Bianchi's (IEEE JSAC 18(3), 2000): all have one rhythm, and a busy slot counts like an idle one.

One step is one transmission in each of many independent cells, so the error of a mean is known from
how much the cells differ. It is written from the standard with numpy alone and shares no code with
dcfmedium, which plays one cell by events.

    python -m apbed.papers.dcf_cells --phy hrdsss-11 --stations 5 10 20 50
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from apbed.papers import bianchi
from apbed.papers.phy import HRDSSS_11, OFDM_54, Phy
from apbed.papers.saturation import saturation

Times = NDArray[np.int32]


@dataclass(frozen=True)
class Rules:
    """Who waits how long after what; microseconds from the end of a transmission."""

    slot: int
    after_success: int
    colliders: int
    observers: int
    busy_slot_counts: bool

    @staticmethod
    def of(phy: Phy, *, eifs: bool) -> Rules:
        """The standard's; observers of a collision wait EIFS or DIFS."""
        observers = round(phy.eifs_us) if eifs else phy.difs_us
        return Rules(phy.slot_us, phy.difs_us, phy.ack_timeout_us, observers, False)

    @staticmethod
    def bianchi() -> Rules:
        """All stations have one rhythm, in which a transmission takes one slot."""
        return Rules(1, 0, 0, 0, True)


@dataclass(frozen=True)
class Estimate:
    """A share and its standard error."""

    share: float
    error: float


@dataclass(frozen=True)
class Outcome:
    """What the cells had in common."""

    collision: Estimate  # share of the attempts that collided
    drop: Estimate  # share of the frames that were given up
    drops: int  # that were counted


class _Cells:
    def __init__(self, n: int, windows: tuple[int, ...], rules: Rules, cells: int, seed: int):
        self.rules = rules
        self.random = np.random.default_rng(seed)
        self.windows = np.array(windows, dtype=np.int64)
        shape = (cells, n)
        self.stage = np.zeros(shape, dtype=np.int32)
        self.count: Times = self.random.integers(0, windows[0], shape, dtype=np.int32)
        self.wait: Times = np.full(shape, rules.after_success, dtype=np.int32)
        self.attempts, self.collisions, self.done, self.drops = np.zeros((4, cells), dtype=np.int64)

    def step(self) -> None:
        """The next transmission of each cell."""
        rules = self.rules
        begin = self.wait + rules.slot * self.count
        first = begin.min(axis=1, keepdims=True)
        sends = begin - first < rules.slot
        senders = sends.sum(axis=1)
        counted = np.maximum(first - self.wait, 0) // rules.slot
        self.count -= counted + 1 if rules.busy_slot_counts else counted
        collides = senders > 1

        cell, station = np.nonzero(sends)
        failed = collides[cell]
        stage = np.where(failed, self.stage[cell, station] + 1, 0)
        dropped = stage == len(self.windows)
        stage[dropped] = 0
        self.stage[cell, station] = stage
        self.count[cell, station] = self.random.integers(0, self.windows[stage], dtype=np.int64)

        self.wait[:] = np.where(collides, rules.observers, rules.after_success)[:, None]
        # Their timeouts run from the end of their own frames, DIFS from the last one's.
        last = np.where(sends, begin, 0).max(axis=1)
        late = (begin[cell, station] - last[cell]) + rules.colliders
        late = np.maximum(late, rules.after_success)
        self.wait[cell, station] = np.where(failed, late, rules.after_success)

        self.attempts += senders
        self.collisions += np.where(collides, senders, 0)
        given_up = np.bincount(cell[dropped], minlength=len(senders))
        self.drops += given_up
        self.done += given_up + ~collides

    def forget(self) -> None:
        """Count anew from here on."""
        for counter in (self.attempts, self.collisions, self.done, self.drops):
            counter[:] = 0


def _share(part: NDArray[np.int64], whole: NDArray[np.int64]) -> Estimate:
    """The ratio of two sums over independent cells (W. G. Cochran, Sampling Techniques, 6.3)."""
    share = float(part.sum() / whole.sum())
    residual = part - share * whole
    error = float(np.sqrt((residual**2).sum()) / whole.sum())
    return Estimate(share, error)


def play(
    n: int,
    windows: tuple[int, ...],
    rules: Rules,
    *,
    transmissions: int,
    cells: int = 500,
    seed: int = 1,
) -> Outcome:
    """`n` stations with one window for each of a frame's attempts, `transmissions` in all cells."""
    many = _Cells(n, windows, rules, cells, seed)
    # A frame that fails to the end takes as many slots as half its windows have, and who waits for
    # its last attempt must be there as often as later on.
    for _ in range(sum(windows)):
        many.step()
    many.forget()
    for _ in range(transmissions // cells):
        many.step()
    return Outcome(
        _share(many.collisions, many.attempts),
        _share(many.drops, many.done),
        int(many.drops.sum()),
    )


PHYS = {"hrdsss-11": HRDSSS_11, "ofdm-54": OFDM_54}


def main(words: Sequence[str] | None = None) -> None:
    """Print collisions and drops, played and as the solved models have them."""
    parser = argparse.ArgumentParser(prog="python -m apbed.papers.dcf_cells")
    parser.add_argument("--phy", choices=PHYS, default="hrdsss-11")
    parser.add_argument("--stations", type=int, nargs="+", default=[5, 10, 20, 50])
    parser.add_argument("--attempts", type=int, default=7, help="transmissions of a frame at most")
    parser.add_argument("--rules", choices=("eifs", "difs", "bianchi"), default="eifs")
    parser.add_argument("--transmissions", type=int, default=10_000_000)
    given = parser.parse_args(words)
    phy = PHYS[given.phy]
    windows = phy.windows(given.attempts)
    print("stations  P_C      +-       solved   drops      +-     solved     P_C^M")
    for n in given.stations:
        if given.rules == "bianchi":
            rules = Rules.bianchi()
            p = bianchi.saturation(
                n, 1500, eifs=False, phy=phy, attempts=given.attempts
            ).collision_probability
            solved = (p, p**given.attempts)
        else:
            rules = Rules.of(phy, eifs=given.rules == "eifs")
            model = saturation(n, 1500, phy, eifs=given.rules == "eifs", attempts=given.attempts)
            solved = (model.collision_probability, model.drop_probability)
        played = play(n, windows, rules, transmissions=given.transmissions, cells=1000)
        collision, drop = played.collision, played.drop
        relative = drop.error / drop.share if played.drops else float("nan")
        print(
            f"{n:8}  {collision.share:.5f}  {collision.error:.5f}  {solved[0]:.5f}"
            f"  {drop.share:.3e}  {relative:4.1%}  {solved[1]:.3e}"
            f"  {collision.share**given.attempts:.3e}",
            flush=True,
        )


if __name__ == "__main__":
    main()
