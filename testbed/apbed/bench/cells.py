# SPDX-License-Identifier: GPL-2.0-only
"""What `apbed bench` measures: traffic (a cell) and disciplines (kinds).

Principle: a discipline gets the options it needs to hold the traffic, and nothing else, so that
what is compared is the same work: as many packets queued, none dropped unless the cell is about
drops.
"""

from __future__ import annotations

from dataclasses import dataclass

# Packets each flow keeps queued, by the number of flows. With more flows than that, they send
# at random and AT_RANDOM packets stay queued: most flows have none then.
WINDOWS = {1: 100, 10: 20, 100: 10, 1000: 5, 10_000: 1}
AT_RANDOM = 10_000
SEGMENTS = 16  # of a GSO packet, as in kernel/bench
TRUESIZE = 1900  # bytes, on average, of ACKs and data
SLACK = 1000  # packets of limit above what stays queued
LASACK_FLOWS = (1024, 65535)  # its default and its most
SFQ_MOST = (65408, 65536)  # flows and divisor (net/sched/sch_sfq.c)
REFERENCE = "fq_codel"
HARNESS = "bench"  # qdisc_bench's own discipline, which does nothing


@dataclass(frozen=True)
class Cell:
    """One kind of traffic. The fields are parameters of qdisc_bench."""

    name: str
    flows: int
    hashed: bool = False
    acks: int = 50  # percent
    gso: bool = False
    overload: int = 0  # packets offered for one served
    fresh: int = 0  # percent that open a connection
    queued: int = 0  # packets that stay queued; 0: WINDOWS or AT_RANDOM
    queues: int = 0  # of fq_codel; 0: as many as it has by default

    @property
    def closed(self) -> bool:
        """Whether each flow always has packets queued, and sends one when one was transmitted."""
        return not (self.queued or self.fresh) and self.flows in WINDOWS

    @property
    def depth(self) -> int:
        """Packets that stay queued."""
        return self.queued or WINDOWS.get(self.flows, 0) * self.flows or AT_RANDOM

    @property
    def limit(self) -> int:
        """Packets a discipline may hold; some cut up those of many segments."""
        if self.overload:
            return self.depth
        return (self.depth + SLACK) * (SEGMENTS if self.gso else 1)

    @property
    def memory(self) -> str:
        """Bytes a discipline may hold that counts nothing else, for tc."""
        return f"{self.depth * TRUESIZE}b" if self.overload else "256m"

    def settings(self) -> dict[str, int]:
        """Parameters of qdisc_bench."""
        return {
            "flows": self.flows,
            "depth": self.depth,
            "closed": int(self.closed),
            "acks": self.acks,
            "hashed": int(self.hashed),
            "gso": int(self.gso),
            "overload": self.overload,
            "fresh": self.fresh,
            # A discipline finds its flows in the cache, as far as they fit in.
            "warm": min(max(self.flows // 64, 16), 160),
        }


def _sweep() -> list[Cell]:
    return [
        Cell(f"{flows} flow{'s' * (flows > 1)}, {'hash' if hashed else 'no hash'}", flows, hashed)
        for hashed in (False, True)
        for flows in (1, 10, 100, 1000, 10_000, 100_000, 1_000_000)
    ]


def all_cells() -> list[Cell]:
    """The sweep over flows, and one cell for each other thing that may cost."""
    return [
        *_sweep(),
        Cell("100 flows, data", 100, acks=0),
        Cell("100 flows, ACKs", 100, acks=100),
        Cell("100 flows, at random", 100, queued=1000),
        Cell("1 flow, GSO", 1, acks=0, gso=True),
        Cell("100 flows, GSO", 100, acks=0, gso=True),
        Cell("100 flows, overload", 100, overload=2, queued=1000),
        Cell("10000 flows, overload", 10_000, overload=2, queued=10_000),
        Cell("65535 remembered", 65535, queued=1000, queues=65535),
        Cell("65535 remembered, all new", 65535, queued=1000, queues=65535, fresh=100),
    ]


def stock_cells() -> list[Cell]:
    """For an emulated machine, in which a million flows take minutes."""
    return [cell for cell in all_cells() if cell.flows not in (10, 1000, 100_000, 1_000_000)]


def quick_cells() -> list[Cell]:
    """For tuning: the cells whose figures are in question."""
    names = [
        *("1 flow, no hash", "100 flows, no hash", "10000 flows, no hash"),
        *("100 flows, hash", "65535 remembered", "65535 remembered, all new"),
    ]
    return [cell for cell in all_cells() if cell.name in names]


KINDS = (
    "pfifo",
    "sfq",
    "fq",
    REFERENCE,
    "cake",
    "lasack",
    "lasack inflight 64",
    "lasack fair station overhead 640 inflight 64",
    "lasack quantum 24000 inflight 64",
    "ackwrr",
    "ackwrr weights auto",
    "inflight limit 64",
)
QUICK_KINDS = (REFERENCE, "lasack", "lasack inflight 64", "ackwrr", "ackwrr weights auto")


def _room(discipline: str, cell: Cell) -> str:
    """The options with which a discipline holds a cell's packets and knows its flows."""
    if discipline == "pfifo":
        return f"limit {cell.limit}"
    if discipline == "sfq":
        flows, divisor = SFQ_MOST
        return f"limit {cell.limit} flows {flows} divisor {divisor}"
    if discipline == "fq":
        return f"limit {cell.limit} flow_limit {cell.limit}"
    if discipline == "fq_codel":
        queues = f" flows {cell.queues}" if cell.queues else ""
        return f"limit {cell.limit} memory_limit 256m{queues}"
    if discipline == "cake":
        return f"memlimit {cell.memory}"
    if discipline == "lasack":
        fewest, most = LASACK_FLOWS
        known = min(max(cell.flows, fewest), most)
        return f"limit {cell.limit} memory_limit 256m flows {known}"
    if discipline == "ackwrr":
        return f"limit {cell.limit}"
    return ""


def words(kind: str, cell: Cell) -> str:
    """What tc is given for a kind in a cell; what the kind says itself comes last and wins."""
    discipline, _, own = kind.partition(" ")
    return " ".join(part for part in (discipline, _room(discipline, cell), own) if part)
