#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Random operations on saturated lasack disciplines, the counters added up at every step.

Principle: whatever is done to a discipline, and whenever, no packet may vanish between its
counters: enqueued = sent + dropped + purged + queued. A change loses no packet but those above
a smaller limit. What was offered is known from outside, because a packet socket offers it.

Run by watched.sh inside a lab kernel, where the modules are loaded:

    random_operations.py [STEPS [SEED]]     10000 steps, seed 1
"""

from __future__ import annotations

import random
import struct
import sys
import time
from collections.abc import Callable, Sequence

import lab_network
from lab_network import DEVICE, Broken, lasack_counts, tc
from rtnetlink import NLM_F_CREATE, NLM_F_REPLACE, TC_H_ROOT, NetlinkError, Qdisc, Rtnetlink
from traffic import Traffic

RATE = "2mbit"
TRUESIZE_MAX = 70000  # bytes, of one packet
MEMORY_OFFSET = 112  # in struct tc_lasack_xstats

LIMIT, INFLIGHT, MEMORY_LIMIT, FLOWS, IDLE, HALFLIFE, QUANTUM, FLOOR, OBSERVE = range(1, 10)
AUTO = 0xFFFFFFFF
CHOICES: dict[int, Callable[[random.Random], int]] = {
    LIMIT: lambda rng: rng.choice((1, 2, 5, 20, 100, rng.randrange(1, 1000))),
    INFLIGHT: lambda rng: rng.choice((AUTO, 1, 2, 5, 20)),
    MEMORY_LIMIT: lambda rng: rng.choice((65536, 100000, 1 << 20, 32 << 20)),
    FLOWS: lambda rng: rng.choice((1, 2, 8, 40, 1024, rng.randrange(1, 65536))),
    IDLE: lambda rng: rng.choice((0, 100, 1000, 300000)),
    HALFLIFE: lambda rng: rng.choice((0, 100, 2000, 86400000)),
    QUANTUM: lambda rng: rng.choice((0, 1000, 24000, 16777216)),
    FLOOR: lambda rng: rng.choice((0, 1, 5, 50, 100)),
    OBSERVE: lambda rng: rng.choice((0, 1)),
}
NAMES = {LIMIT: "limit", INFLIGHT: "inflight", MEMORY_LIMIT: "memory_limit", FLOWS: "flows",
         IDLE: "idle", HALFLIFE: "halflife", QUANTUM: "quantum", FLOOR: "floor",
         OBSERVE: "observe"}  # fmt: skip
# Refused as a whole, because of the second.
BAD = ({LIMIT: 5, FLOWS: 0}, {LIMIT: 5, FLOOR: 101}, {LIMIT: 5, IDLE: 99}, {LIMIT: 0})

START = "lasack limit 50 inflight 3"
TREES = {
    "root": (f"root handle 1: {START}",),
    "inflight": ("root handle 1: inflight limit 3", "parent 1:1 handle 11: lasack limit 50"),
    "tbf": ("root handle 1: tbf rate 1500kbit burst 70k limit 100m",
            "parent 1:1 handle 11: lasack limit 50"),
    "prio": ("root handle 1: inflight limit 4",
             "parent 1:1 handle 2: prio bands 2 priomap 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1",
             "parent 2:1 handle 11: lasack limit 50",
             "parent 2:2 handle 21: lasack limit 50"),
}  # fmt: skip


class Operations:
    """The device, its tree of disciplines, and one method for each kind of operation."""

    def __init__(self, netlink: Rtnetlink, ifindex: int, rng: random.Random) -> None:
        self._netlink, self._ifindex, self._rng = netlink, ifindex, rng
        self.traffic = Traffic(DEVICE, rng)
        self._filters = 0
        self._tree = ""
        self.rebuild()

    def lasacks(self) -> dict[int, Qdisc]:
        """Every lasack by handle; Broken if a level miscounts."""
        qdiscs = self._netlink.qdiscs(self._ifindex)
        lab_network.check(qdiscs)
        return {qdisc.handle: qdisc for qdisc in qdiscs if qdisc.kind == "lasack"}

    def offered(self) -> int:
        """Traffic in a burst, and what of it came to a discipline."""
        before = self.traffic.offered
        if self._filters or self._tree == "prio":
            self.traffic.priority(self._rng.choice((2 << 16 | 1, 2 << 16 | 2)))
        self.traffic.burst(self._rng.randrange(25))
        return self.traffic.offered - before

    def _set(self, qdisc: Qdisc, values: dict[int, int], flags: int = 0) -> None:
        self._netlink.change(
            self._ifindex, qdisc.parent, qdisc.handle, "lasack", values, flags
        )  # fmt: skip

    def _values(self) -> dict[int, int]:
        chosen = self._rng.sample(sorted(CHOICES), self._rng.choice((1, 1, 1, 2, 3, 8)))
        return {kind: CHOICES[kind](self._rng) for kind in chosen}

    def change(self, flags: int = 0) -> str:
        """Of one discipline, by `change` or by `replace` (the same to it)."""
        before = self._rng.choice(list(self.lasacks().values()))
        values = self._values()
        self._set(before, values, flags)
        words = " ".join(f"{NAMES[kind]} {value}" for kind, value in values.items())
        name = f"{'replace' if flags else 'change'} {before.handle >> 16:x}: {words}"
        _expect_change(name, before, self.lasacks()[before.handle], values)
        return name

    def replace(self) -> str:
        """`tc qdisc replace` of the same handle."""
        return self.change(NLM_F_CREATE | NLM_F_REPLACE)

    def refused(self) -> str:
        """A change that must not happen, of anything."""
        before = self._rng.choice(list(self.lasacks().values()))
        values = self._rng.choice(BAD)
        name = f"refused change {before.handle >> 16:x}: {values}"
        try:
            self._set(before, values)
        except NetlinkError:
            pass
        else:
            raise Broken(f"{name}: taken")
        after = self.lasacks()[before.handle]
        if after.options != before.options or after.drops != before.drops:
            raise Broken(f"{name}: changed something")
        return name

    def down_up(self) -> str:
        """The device goes and comes back: the queue is given up, and counted."""
        before = self.lasacks()
        self._netlink.link(self._ifindex, False)
        for own, after in self.lasacks().items():
            if after.qlen:
                raise Broken(f"down: {own:x} still holds {after.qlen} packets")
            if after.options != before[own].options:
                raise Broken(f"down: {own:x} has other options")
        self.traffic.burst(2)
        self._netlink.link(self._ifindex, True)
        self.traffic.burst(2)
        return "down, up"

    def filters(self) -> str:
        """A filter at the parent sends everything to one class, or no longer does."""
        if self._tree != "prio":
            return self.change()
        if self._filters:
            tc(f"filter del dev {DEVICE} parent 2:")
        else:
            tc(f"filter add dev {DEVICE} parent 2: matchall classid 2:{self._rng.choice((1, 2))}")
        self._filters = 0 if self._filters else 1
        return f"filters {self._filters}"

    def rebuild(self) -> str:
        """All disciplines go with what they hold, and others come."""
        if self._tree and self._rng.random() < 0.5:
            tc(f"qdisc del dev {DEVICE} root")
        elif self._tree:
            # Another handle: the old tree goes when the new root is there.
            tc(f"qdisc replace dev {DEVICE} root handle fff: pfifo")
            tc(f"qdisc del dev {DEVICE} root")
        self._tree = self._rng.choice(list(TREES))
        self._filters = 0
        for line in TREES[self._tree]:
            tc(f"qdisc add dev {DEVICE} {line}")
        return f"rebuild as {self._tree}"

    def child(self) -> str:
        """A lasack below a parent is deleted, and added again."""
        qdisc = self._rng.choice(list(self.lasacks().values()))
        if qdisc.parent == TC_H_ROOT:
            return self.rebuild()
        self._netlink.delete(self._ifindex, qdisc.parent)
        self.traffic.burst(3)
        self.lasacks()
        self._netlink.change(
            self._ifindex, qdisc.parent, qdisc.handle, "lasack", {LIMIT: 50}, NLM_F_CREATE
        )
        return f"delete and add {handle_text(qdisc.parent)}"

    def look(self) -> str:
        """Classes are listed while flows come and go."""
        return f"{self._netlink.classes(self._ifindex)} classes"


def handle_text(value: int) -> str:
    """Of a class or discipline, as tc writes it."""
    return f"{value >> 16:x}:{value & 0xFFFF:x}"


def _memory(qdisc: Qdisc) -> int:
    (memory,) = struct.unpack_from("=Q", qdisc.xstats, MEMORY_OFFSET)
    return int(memory)


def _expect_change(name: str, before: Qdisc, after: Qdisc, values: dict[int, int]) -> None:
    """Broken unless what was asked for is there, and lost is only what is above a limit."""
    for kind, value in values.items():
        if after.option(kind) != value:
            raise Broken(f"{name}: {NAMES[kind]} is {after.option(kind)}")
    for kind in set(CHOICES) - set(values):
        if after.option(kind) != before.option(kind):
            raise Broken(f"{name}: {NAMES[kind]} has changed to {after.option(kind)}")
    lost, sent = after.drops - before.drops, after.sent - before.sent
    limit, memory_limit = after.option(LIMIT), after.option(MEMORY_LIMIT)
    above = max(0, before.qlen - limit)
    if lost < max(0, above - sent):
        raise Broken(f"{name}: {lost} packets lost, {above} were above the limit")
    if lost > above and _memory(after) + TRUESIZE_MAX <= memory_limit and after.qlen < limit:
        raise Broken(f"{name}: {lost} packets lost, {above} were above the limit of packets and"
                     f" {_memory(after)} of {memory_limit} bytes are left")  # fmt: skip
    if lost > above and _memory(before) <= memory_limit:
        raise Broken(f"{name}: {lost} packets lost, {above} were above a limit")
    if after.qlen > limit or _memory(after) > memory_limit:
        raise Broken(f"{name}: {after.qlen} packets of {_memory(after)} bytes are left")
    if lasack_counts(after).enqueued != lasack_counts(before).enqueued:
        raise Broken(f"{name}: packets came from nowhere")
    if lasack_counts(after).purged != lasack_counts(before).purged:
        raise Broken(f"{name}: packets were purged")


def _step(operations: Operations, operation: Callable[[], str]) -> str:
    """A burst that must all be counted, then the operation. Return: what it was."""
    before = operations.lasacks()
    offered = operations.offered()
    after = operations.lasacks()
    came = sum(
        lasack_counts(after[own]).enqueued - lasack_counts(before[own]).enqueued for own in after
    )
    if came != offered:
        raise Broken(f"before it, {offered} packets were offered and {came} enqueued")
    return operation()


def main(arguments: Sequence[str]) -> int:
    """All steps, or up to the first that breaks something. Exit status: 1 then."""
    steps = int(arguments[0]) if arguments else 10000
    seed = int(arguments[1]) if arguments[1:] else 1
    rng = random.Random(seed)
    netlink = Rtnetlink()
    ifindex = lab_network.build(RATE)
    operations = Operations(netlink, ifindex, rng)
    weights: dict[Callable[[], str], int] = {
        operations.change: 60, operations.replace: 12, operations.refused: 10,
        operations.down_up: 4, operations.filters: 4, operations.rebuild: 2,
        operations.child: 3, operations.look: 5,
    }  # fmt: skip
    print(f"    # {steps} steps, seed {seed}")
    counts: dict[str, int] = {}
    name, done = "start", ""
    try:
        while sum(counts.values()) < steps:
            (operation,) = rng.choices(list(weights), list(weights.values()))
            name = operation.__name__
            done = _step(operations, operation)
            operations.lasacks()
            counts[name] = counts.get(name, 0) + 1
            if rng.random() < 0.5:
                time.sleep(rng.random() * 0.04)
    except (Broken, NetlinkError, OSError, KeyError) as error:
        number = sum(counts.values()) + 1
        print(f"    not ok 1 step {number} ({name}), seed {seed}: {error!r}\n    # before: {done}")
        return 1
    tally = ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
    print(f"    ok 1 {steps} operations under {operations.traffic.offered} packets: {tally}")
    lab_network.clean()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
