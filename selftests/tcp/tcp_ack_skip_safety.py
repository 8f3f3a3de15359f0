#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""What ACK skipping costs a sender: a matrix of paths, losses and congestion controls.

Runs as root in a lab kernel with the ACK-skip series. For each cell the same bytes are sent
with each number of skipped ACKs, once for each seed: another seed is a round trip 1 % longer and
other packets lost, the same ones for each number. What must hold, settled before it was measured:

- A cell fails if skipping costs more than 3 % of goodput: the mean of all seeds and DOUBT standard
  errors are below FLOOR; also if the error is above UNDECIDED, as it then tells nothing.
- Timeouts and D-SACKs come in clumps, so transfers with any are counted, of all cells together:
  those that have some only with skipping against those that have some only without (McNemar's
  test). Skipping fails if chance alone gives as many more less often than CHANCE.

    tcp_ack_skip_safety.py [--quick] [--after N] [WORD]...

KTAP, each cell's table row before its result. `--after 0` is the negative case: without the rules
that protect a sender, cells fail.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))

import ack_skip
from arguments import refuse, whole
from ktap import Ktap, skip_all
from tcp_path import Link, Skip, Transfer, build, configure, drop_every, periods, shape, transfer

FLOOR = 0.97  # of skip 0's goodput
DOUBT = 2.5  # standard errors
UNDECIDED = 0.05  # a standard error
CHANCE = 1e-3
CONTROLS = ("cubic", "reno", "bbr")
MTU_BITS = 1514 * 8
STEP = 0.01  # of the round trip, and ms: from one seed to the next


@dataclass(frozen=True)
class Cell:
    """One row: a path, a congestion control, bytes per transfer, seeds of losses."""

    link: Link
    control: str
    size: int
    seeds: int = 4

    @property
    def name(self) -> str:
        link = self.link
        words = [self.control, f"{link.rate_mbps:g}M", f"{link.rtt_ms:g}ms", f"q{link.limit}"]
        words += [f"loss{link.loss:g}%"] if link.loss else []
        words += [f"ackloss{link.ack_loss:g}%"] if link.ack_loss else []
        words += [f"buffer{link.buffer}"] if link.buffer else []
        words += [f"batch{link.batch_ms:g}ms"] if link.batch_ms else []
        words += ["gro"] if link.gro else []
        return " ".join(words)


def queue(rate_mbps: float, rtt_ms: float, share: float) -> int:
    """Packets: `share` of what the path holds, 30 at least."""
    return max(30, round(share * rate_mbps * 1e3 * rtt_ms / MTU_BITS))


def cells() -> Iterable[Cell]:
    """The whole matrix."""
    for control in CONTROLS:
        for limit in (10, 20):  # shorter than the path
            yield Cell(Link(100, 20, limit), control, 10_000_000)
        for rtt_ms in (20, 100, 200):
            yield Cell(Link(10, rtt_ms, 30), control, 4_000_000)
        for rtt_ms in (0, 20, 200):
            limit = max(100, queue(100, rtt_ms, 0.5))
            # How slow start ends, or one timeout, must not be half of a transfer.
            yield Cell(Link(100, rtt_ms, limit), control, 20_000_000, 8)
            size = 3_000_000 if rtt_ms else 12_000_000
            for loss in (1, 3):
                seeds = {0: 24, 20: 12, 200: 4}[rtt_ms]
                yield Cell(Link(100, rtt_ms, limit, loss), control, size, seeds)
        yield Cell(Link(100, 20, 300, buffer=100_000), control, 3_000_000)
        yield Cell(Link(100, 20, 300, buffer=20_000), control, 1_000_000)
        yield Cell(Link(100, 20, 300, gro=True), control, 6_000_000)
        yield Cell(Link(100, 20, 300, batch_ms=3), control, 6_000_000)
        yield Cell(Link(100, 20, 300, ack_loss=3), control, 6_000_000)


def quick(chosen: Iterable[Cell]) -> Iterable[Cell]:
    """A few cells, one transfer each: those that failed when skipping did not adapt."""
    names = {"cubic 10M 100ms q30", "reno 10M 100ms q30", "reno 100M 20ms q20",
             "reno 100M 20ms q10", "reno 100M 20ms q300 buffer100000"}  # fmt: skip
    return (replace(cell, seeds=1) for cell in chosen if cell.name in names)


def ratio(base: Sequence[Transfer], other: Sequence[Transfer]) -> tuple[float, float]:
    """Goodput of `other` per that of `base`, pair by pair, and its standard error."""
    slow, fast = sum(t.seconds for t in other), sum(t.seconds for t in base)
    mean = fast / slow
    if len(base) < 2:
        return mean, 0.0
    residuals = [b.seconds - mean * o.seconds for b, o in zip(base, other, strict=True)]
    error = statistics.stdev(residuals) / math.sqrt(len(base)) / (slow / len(base))
    return mean, error


def more_than_chance(base: Sequence[int], other: Sequence[int]) -> bool:
    """McNemar's test of pairs of transfers, exact and one-sided; see above."""
    only_other = sum(b == 0 < o for b, o in zip(base, other, strict=True))
    only_base = sum(o == 0 < b for b, o in zip(base, other, strict=True))
    total = only_base + only_other
    tail = sum(math.comb(total, k) for k in range(only_other, total + 1))
    return tail < CHANCE * (1 << total)


def measure(cell: Cell, skips: Sequence[int], after: int) -> dict[int, list[Transfer]]:
    """The cell's transfers by the number of ACKs to skip."""
    done: dict[int, list[Transfer]] = {skip: [] for skip in skips}
    for seed in range(cell.seeds):
        link = replace(cell.link, rtt_ms=cell.link.rtt_ms * (1 + STEP * seed) + STEP * seed)
        shape(link)
        for skip in skips:
            configure(Skip(skip, after=after))
            drop_every(periods(cell.link.loss, seed))
            done[skip].append(transfer(link, cell.size, cell.control))
    return done


def judge(done: Mapping[int, Sequence[Transfer]]) -> tuple[str, list[str]]:
    """The cell's table row, and what does not hold."""
    base = done[0]
    skips = list(done)
    mbps = sum(t.bytes for t in base) * 8e-6 / sum(t.seconds for t in base)
    row, wrong = f"{mbps:.2f}", []
    for skip in skips[1:]:
        mean, error = ratio(base, done[skip])
        row += f" | {mean:.3f}" + (f" ±{error:.3f}" if len(base) > 1 else "")
        if mean + DOUBT * error < FLOOR:
            wrong.append(f"skip {skip}: {mean:.3f} of the goodput")
        if error > UNDECIDED:
            wrong.append(f"skip {skip}: undecided, ±{error:.3f}")
    for counts in (
        [sum(t.timeouts for t in done[skip]) for skip in skips],
        [sum(t.dsacks for t in done[skip]) for skip in skips],
    ):
        row += " | " + " ".join(map(str, counts))
    acks = [sum(t.receiver["OutSegs"] for t in done[skip]) for skip in skips]
    return row + " | " + " ".join(f"{count / acks[0]:.2f}" for count in acks[1:]), wrong


def judge_all(everything: Mapping[int, Sequence[Transfer]]) -> Iterable[tuple[str, str, bool]]:
    """Name, figures and verdict on the timeouts and the D-SACKs of all cells."""
    counts = {
        "timeouts": {skip: [t.timeouts for t in done] for skip, done in everything.items()},
        "D-SACKs": {skip: [t.dsacks for t in done] for skip, done in everything.items()},
    }
    for what, by_skip in counts.items():
        for skip in list(by_skip)[1:]:
            with_some = [sum(n > 0 for n in by_skip[number]) for number in (0, skip)]
            figures = "{1} of {2} transfers, {0} without".format(*with_some, len(by_skip[0]))
            yield f"{what} skip {skip}", figures, not more_than_chance(by_skip[0], by_skip[skip])


def to_skip(text: str) -> tuple[int, ...]:
    """Of ACKs to skip. All others are compared with the first, which is 0."""
    skips = tuple(whole("each of --skips", word) for word in text.split(","))
    if skips[0]:
        refuse(f"the first of --skips is 0, which the others are compared with, not {skips[0]}")
    return skips


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="a few cells, skip 0 and 7")
    parser.add_argument(
        "--skips", default="0,1,3,7", help="numbers of ACKs to skip, first 0 (%(default)s)"
    )
    parser.add_argument("--seeds", type=int, help="transfers per number, instead of the cell's")
    parser.add_argument("--after", type=int, default=64, help="tcp_ack_skip_after (%(default)s)")
    parser.add_argument("words", nargs="*", metavar="WORD", help="cells whose names have all")
    args = parser.parse_args()
    skips = (0, 7) if args.quick else to_skip(args.skips)
    chosen = list(quick(cells()) if args.quick else cells())
    chosen = [cell for cell in chosen if set(args.words) <= set(cell.name.split())]
    if not chosen:
        refuse(f"no cell has all of {' '.join(args.words)}")
    if reason := ack_skip.why_not():
        return skip_all(reason)
    if args.seeds:
        chosen = [replace(cell, seeds=args.seeds) for cell in chosen]
    build()
    ktap = Ktap(len(chosen) + 2 * (len(skips) - 1))
    numbers = " | ".join(f"skip {skip}" for skip in skips[1:])
    ktap.comment(f"Mb/s | {numbers} | timeouts | D-SACKs | ACKs")
    everything: dict[int, list[Transfer]] = {skip: [] for skip in skips}
    for cell in chosen:
        done = measure(cell, skips, args.after)
        row, wrong = judge(done)
        ktap.result(not wrong, cell.name, row, *wrong)
        for skip, transfers in done.items():
            everything[skip] += transfers
    for name, figures, good in judge_all(everything):
        ktap.result(good, name, figures)
    return ktap.end()


if __name__ == "__main__":
    sys.exit(main())
