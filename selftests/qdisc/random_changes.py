# SPDX-License-Identifier: GPL-2.0-only
"""Random changes of a discipline, and what may come of one.

Principle: what was asked for is there, all else is as it was, and lost is only what is above a
limit that became smaller; packets go on meanwhile, so the bounds are of what was sent between.
"""

from __future__ import annotations

import random
import struct
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from lab_network import Broken, counts
from rtnetlink import Qdisc

AUTO = 0xFFFFFFFF  # of inflight
TRUESIZE_MAX = 70000  # bytes, of one packet
LASACK_MEMORY_OFFSET = 184  # in struct tc_lasack_xstats


class Changes(ABC):
    """Of one kind of discipline."""

    names: ClassVar[dict[int, str]]  # of its options, by attribute
    bad: ClassVar[tuple[dict[int, int], ...]]  # refused as a whole
    gone: ClassVar[tuple[dict[int, int], set[int]]] = ({}, set())  # after such a change, those

    @abstractmethod
    def values(self, rng: random.Random) -> dict[int, int]:
        """A change, by attribute."""

    @abstractmethod
    def check_lost(
        self, before: Qdisc, children: Sequence[Qdisc], after: Qdisc, given_back: int
    ) -> None:
        """Broken if packets went that should not have, or stayed; `children` are from before.

        Up to `given_back` packets that the driver did not take go uncounted: they count as sent.
        """

    def check(
        self,
        before: Qdisc,
        children: Sequence[Qdisc],
        after: Qdisc,
        values: dict[int, int],
        given_back: int = 0,
    ) -> None:
        """Broken unless the change was what was asked for."""
        for kind, value in values.items():
            if after.option(kind) != value:
                raise Broken(f"{self.names[kind]} is {after.option(kind)}")
        for kind in set(self.names) - set(values) - self._gone(values):
            if after.options.get(kind) != before.options.get(kind):
                raise Broken(f"{self.names[kind]} has changed to {after.options.get(kind)!r}")
        if counts(after).enqueued != counts(before).enqueued:
            raise Broken("packets came from nowhere")
        if counts(after).purged != counts(before).purged:
            raise Broken("packets were purged")
        self.check_lost(before, children, after, given_back)

    def _gone(self, values: dict[int, int]) -> set[int]:
        """Options that such a change takes away, or switches off."""
        change, gone = self.gone
        return gone if change and change.items() <= values.items() else set()


class LasackChanges(Changes):
    """limit and memory_limit may cost packets."""

    gone: ClassVar = ({10: 1}, {13})
    names: ClassVar = {1: "limit", 2: "inflight", 3: "memory_limit", 4: "flows", 5: "idle",
                       6: "halflife", 7: "quantum", 8: "floor", 9: "observe",
                       10: "mode", 11: "fair", 12: "overhead", 13: "target",
                       14: "unit"}  # fmt: skip
    bad: ClassVar = ({1: 5, 4: 0}, {1: 5, 8: 101}, {1: 5, 5: 99}, {1: 0}, {1: 5, 10: 2},
                     {1: 5, 10: 1, 11: 1}, {1: 5, 12: 65536}, {1: 5, 13: 10001},
                     {1: 5, 10: 1, 13: 50}, {1: 5, 14: 2}, {1: 5, 11: 1, 14: 1})  # fmt: skip

    def values(self, rng: random.Random) -> dict[int, int]:
        every = {
            1: rng.choice((1, 2, 5, 20, 100, rng.randrange(1, 1000))),
            2: rng.choice((AUTO, 1, 2, 5, 20)),
            3: rng.choice((65536, 100000, 1 << 20, 32 << 20)),
            4: rng.choice((1, 2, 8, 40, 1024, rng.randrange(1, 65536))),
            5: rng.choice((0, 100, 1000, 300000)),
            6: rng.choice((0, 100, 2000, 86400000)),
            7: rng.choice((0, 1000, 24000, 16777216)),
            8: rng.choice((0, 1, 5, 50, 100)),
            9: rng.choice((0, 1)),
            11: rng.choice((0, 1)),
            12: rng.choice((0, 84, 640, 65535, AUTO)),
            13: rng.choice((0, 1, 100, 10000, AUTO)),
            14: 0,  # no device here tells rates
        }
        values = {
            kind: every[kind] for kind in rng.sample(sorted(every), rng.choice((1, 1, 1, 2, 8)))
        }
        if 11 in values:  # the paper knows flows alone
            values[10] = 0 if values[11] else rng.choice((0, 1))
        if values.get(13):  # and no target
            values[10] = 0
            values.setdefault(11, 0)
        if 10 in values:  # another mode has another default of observe and of the floor
            values.setdefault(9, rng.choice((0, 1)))
            values.setdefault(8, rng.choice((0, 35)))
        return values

    def check_lost(
        self, before: Qdisc, children: Sequence[Qdisc], after: Qdisc, given_back: int
    ) -> None:
        del children  # it has none
        lost, sent = after.drops - before.drops, after.sent - before.sent
        limit, memory_limit = after.option(1), after.option(3)
        above = max(0, before.qlen - limit)
        if lost < max(0, above - sent - given_back):
            raise Broken(f"{lost} packets lost, {above} were above the limit")
        if before.option(13) or after.option(13):  # the AQM drops packets that are late
            above = max(above, lost)
        if lost > above and _memory(after) + TRUESIZE_MAX <= memory_limit and after.qlen < limit:
            raise Broken(f"{lost} packets lost, {above} were above the limit of packets and"
                         f" {_memory(after)} of {memory_limit} bytes are left")  # fmt: skip
        if lost > above and _memory(before) <= memory_limit:
            raise Broken(f"{lost} packets lost, {above} were above a limit")
        if after.qlen > limit or _memory(after) > memory_limit:
            raise Broken(f"{after.qlen} packets of {_memory(after)} bytes are left")


def _memory(qdisc: Qdisc) -> int:
    (memory,) = struct.unpack_from("=Q", qdisc.xstats, LASACK_MEMORY_OFFSET)
    return int(memory)


class AckwrrChanges(Changes):
    """A smaller limit costs packets, of the FIFOs of default."""

    names: ClassVar = {1: "limit", 2: "inflight", 3: "weight of data", 4: "weight of ACKs"}
    gone: ClassVar = ({3: 0}, {4})
    bad: ClassVar = ({1: 5, 3: 256, 4: 1}, {1: 5, 3: 3}, {1: 5, 4: 2}, {3: 1, 4: 0}, {1: 0})

    def values(self, rng: random.Random) -> dict[int, int]:
        weights = {3: rng.choice((1, 2, 255)), 4: rng.choice((1, 3, 255))}
        every: tuple[dict[int, int], ...] = (
            {1: rng.choice((1, 2, 5, 20, 100, rng.randrange(1, 1000)))},
            {2: rng.choice((AUTO, 1, 2, 5, 20))},
            weights if rng.random() < 0.4 else {3: 0},
        )
        chosen = rng.sample(every, rng.choice((1, 1, 2, 3)))
        return {kind: value for change in chosen for kind, value in change.items()}

    def check_lost(
        self, before: Qdisc, children: Sequence[Qdisc], after: Qdisc, given_back: int
    ) -> None:
        del given_back  # those are in no FIFO
        lost, sent = after.drops - before.drops, after.sent - before.sent
        limit, above = after.option(1), 0
        if limit < before.option(1):
            fifos = [child.qlen for child in children if child.kind == "pfifo"]
            above = sum(max(0, qlen - limit) for qlen in fifos)
        if not max(0, above - sent) <= lost <= above:
            raise Broken(f"{lost} packets lost, {above} were above a smaller limit, {sent} sent")


CHANGES: dict[str, Changes] = {"lasack": LasackChanges(), "ackwrr": AckwrrChanges()}
