#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Random operations on saturated disciplines, the counters added up at every step.

Principle: whatever is done to a discipline, and whenever, no packet may vanish between its
counters: enqueued = sent + dropped + purged + queued. A change loses no packet but those above
a smaller limit. What was offered is known from outside, because a packet socket offers it.

Run by watched.sh inside a lab kernel, where the modules are loaded:

    random_operations.py [--stopping] [STEPS [SEED [TREE]...]]    10000 steps, seed 1, every tree

With --stopping the device has a driver that stops it. Then packets that were dequeued come back.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))

import lab_network
from arguments import known, whole
from ktap import Ktap
from lab_network import DEVICE, Broken, counts, tc
from random_changes import CHANGES
from rtnetlink import (
    NLM_F_CREATE,
    NLM_F_REPLACE,
    RTM_NEWTCLASS,
    TC_H_ROOT,
    TCMSG,
    NetlinkError,
    Qdisc,
    Rtnetlink,
    name,
    options,
)
from traffic import Traffic

RATE = "2mbit"
LIMIT, WEIGHT_DATA = 1, 3
CLASSES = (2 << 16 | 1, 2 << 16 | 2)  # of the discipline 2:, where there is one

TBF = "root handle 1: tbf rate 1500kbit burst 70k limit 100m"
TREES = {
    "lasack": ("root handle 1: lasack limit 50 inflight 3",),
    "inflight": ("root handle 1: inflight limit 3", "parent 1:1 handle 11: lasack limit 50"),
    "tbf": (TBF, "parent 1:1 handle 11: lasack limit 50"),
    "prio": ("root handle 1: inflight limit 4",
             "parent 1:1 handle 2: prio bands 2 priomap 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1",
             "parent 2:1 handle 11: lasack limit 50",
             "parent 2:2 handle 21: lasack limit 50"),
    "ackwrr": ("root handle 2: ackwrr limit 50 inflight 3",),
    "inflight-ackwrr": ("root handle 1: inflight limit 4",
                        "parent 1:1 handle 2: ackwrr weights auto limit 50"),
    "tbf-ackwrr": (TBF, "parent 1:1 handle 2: ackwrr weights auto limit 50"),
    "ackwrr-lasack": ("root handle 2: ackwrr limit 50 inflight 3",
                      "parent 2:1 handle 11: lasack limit 50"),
}  # fmt: skip
STOPPING = TREES | {
    "lasack-off": ("root handle 1: lasack limit 50 inflight off",),
    "ackwrr-off": ("root handle 2: ackwrr limit 50 inflight off",),
    "mq": ("root handle 5: mq",
           *(f"parent 5:{i} handle {i}1: lasack limit 50 inflight off" for i in range(1, 5))),
}  # fmt: skip


@dataclass(frozen=True)
class Subject:
    """A discipline of ours, with what is below it."""

    qdisc: Qdisc
    children: tuple[Qdisc, ...]
    nested: bool  # below another of ours: what comes was counted there


class Operations:
    """The device, its tree of disciplines, and one method for each kind of operation."""

    def __init__(
        self, netlink: Rtnetlink, rng: random.Random, stopping: bool, names: Sequence[str]
    ) -> None:
        self._netlink, self._rng = netlink, rng
        self._ifindex = lab_network.build_stopping() if stopping else lab_network.build(RATE)
        self._given_back = lab_network.GIVEN_BACK if stopping else 0
        trees = STOPPING if stopping else TREES
        self._trees = {one: trees[one] for one in names}
        self.came_back = 0
        self.traffic = Traffic(DEVICE, rng)
        self._filters = 0
        self._tree = ""
        self.rebuild()

    def subjects(self) -> dict[int, Subject]:
        """Every discipline of ours by handle; Broken if a level miscounts."""
        qdiscs = self._netlink.qdiscs(self._ifindex)
        lab_network.check(qdiscs, self._given_back)
        self.came_back = max(self.came_back, *(qdisc.requeues for qdisc in qdiscs))
        ours = {qdisc.handle: qdisc for qdisc in qdiscs if qdisc.kind in CHANGES}
        return {
            own: Subject(
                qdisc,
                tuple(one for one in qdiscs if one.parent >> 16 == own >> 16 and one is not qdisc),
                any(other >> 16 == qdisc.parent >> 16 for other in ours),
            )
            for own, qdisc in ours.items()
        }

    def _any(self) -> Subject:
        return self._rng.choice(list(self.subjects().values()))

    def _has_classes(self) -> bool:
        return any("handle 2:" in line for line in self._trees[self._tree])

    def offered(self) -> int:
        """Traffic in a burst, and what of it came to a discipline."""
        before = self.traffic.offered
        # prio has a filter or a priority to go by; ackwrr can tell by itself.
        own = () if self._tree == "prio" else (0, 0)
        if self._has_classes():
            self.traffic.priority(self._rng.choice((*CLASSES, *own)))
        self.traffic.burst(self._rng.randrange(25))
        return self.traffic.offered - before

    def _set(self, qdisc: Qdisc, values: dict[int, int], flags: int = 0) -> None:
        self._netlink.change(
            self._ifindex, qdisc.parent, qdisc.handle, qdisc.kind, values, flags
        )  # fmt: skip

    def change(self, flags: int = 0) -> str:
        """Of one discipline, by `change` or by `replace` (the same to it)."""
        before = self._any()
        changes = CHANGES[before.qdisc.kind]
        values = changes.values(self._rng)
        self._set(before.qdisc, values, flags)
        words = " ".join(f"{changes.names[kind]} {value}" for kind, value in values.items())
        said = f"{'replace' if flags else 'change'} {before.qdisc.handle >> 16:x}: {words}"
        after = self.subjects()[before.qdisc.handle].qdisc
        try:
            changes.check(before.qdisc, before.children, after, values, self._given_back)
        except Broken as broken:
            raise Broken(f"{said}: {broken}") from None
        return said

    def replace(self) -> str:
        """`tc qdisc replace` of the same handle."""
        return self.change(NLM_F_CREATE | NLM_F_REPLACE)

    def refused(self) -> str:
        """A change that must not happen, of anything."""
        before = self._any().qdisc
        values = self._rng.choice(CHANGES[before.kind].bad)
        said = f"refused change {before.handle >> 16:x}: {values}"
        try:
            self._set(before, values)
        except NetlinkError:
            pass
        else:
            raise Broken(f"{said}: taken")
        after = self.subjects()[before.handle].qdisc
        if after.options != before.options or after.drops != before.drops:
            raise Broken(f"{said}: changed something")
        return said

    def weigh(self) -> str:
        """Another weight for a class of ackwrr; with weights auto there is none."""
        before = self._any().qdisc
        if before.kind != "ackwrr":
            return self.look()
        number, weight = self._rng.choice((1, 2)), self._rng.choice((1, 7, 255))
        place = before.handle | number
        body = TCMSG.pack(0, self._ifindex, place, before.handle, 0) + name("ackwrr")
        is_auto = before.option(WEIGHT_DATA) == 0
        try:
            self._netlink.request(RTM_NEWTCLASS, 0, body + options({1: weight}))
        except NetlinkError:
            if not is_auto:
                raise
            weight = 0
        after = self.subjects()[before.handle].qdisc
        if not is_auto and after.option(WEIGHT_DATA - 1 + number) != weight:
            raise Broken(f"weight {weight} of {handle_text(place)} shows as {after.options}")
        if after.drops != before.drops or (is_auto and after.options != before.options):
            raise Broken(f"weight {weight} of {handle_text(place)}: changed more")
        return f"weight {weight} of {handle_text(place)}"

    def down_up(self) -> str:
        """The device goes and comes back: the queue is given up, and counted."""
        before = self.subjects()
        self._netlink.link(self._ifindex, False)
        for own, after in self.subjects().items():
            if after.qdisc.qlen:
                raise Broken(f"down: {own:x} still holds {after.qdisc.qlen} packets")
            if after.qdisc.options != before[own].qdisc.options:
                raise Broken(f"down: {own:x} has other options")
        self.traffic.burst(2)
        self._netlink.link(self._ifindex, True)
        self.traffic.burst(2)
        return "down, up"

    def filters(self) -> str:
        """A filter at the parent sends everything to one class, or no longer does."""
        if not self._has_classes():
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
        self._tree = self._rng.choice(list(self._trees))
        self._filters = 0
        for line in self._trees[self._tree]:
            tc(f"qdisc add dev {DEVICE} {line}")
        return f"rebuild as {self._tree}"

    def child(self) -> str:
        """One of ours below a parent is deleted, and added again."""
        qdisc = self._any().qdisc
        if qdisc.parent == TC_H_ROOT:
            return self.rebuild()
        self._netlink.delete(self._ifindex, qdisc.parent)
        self._filters = self._filters if self._tree == "prio" else 0
        self.traffic.burst(3)
        self.subjects()
        self._netlink.change(
            self._ifindex, qdisc.parent, qdisc.handle, qdisc.kind, {LIMIT: 50}, NLM_F_CREATE
        )
        return f"delete and add {handle_text(qdisc.parent)}"

    def settle(self) -> None:
        """All that waits is sent; then nothing is left that a driver gave back."""
        deadline = time.monotonic() + 60
        while any(one.qdisc.qlen for one in self.subjects().values()):
            if time.monotonic() > deadline:
                raise Broken("packets still wait after a minute")
            time.sleep(0.1)
        lab_network.check(self._netlink.qdiscs(self._ifindex))
        if self._given_back and not self.came_back:
            raise Broken("the driver gave no packet back")

    def look(self) -> str:
        """Classes are listed while flows come and go."""
        return f"{self._netlink.classes(self._ifindex)} classes"


def handle_text(value: int) -> str:
    """Of a class or discipline, as tc writes it."""
    return f"{value >> 16:x}:{value & 0xFFFF:x}"


def _step(operations: Operations, operation: Callable[[], str]) -> str:
    """A burst that must all be counted, then the operation. Return: what it was."""
    before = operations.subjects()
    offered = operations.offered()
    came = sum(
        counts(after.qdisc).enqueued - counts(before[own].qdisc).enqueued
        for own, after in operations.subjects().items()
        if not after.nested
    )
    if came != offered:
        raise Broken(f"before it, {offered} packets were offered and {came} enqueued")
    return operation()


def main(arguments: Sequence[str]) -> int:
    """All steps, or up to the first that breaks something. Exit status: 1 then."""
    stopping = arguments[:1] == ["--stopping"]
    words = arguments[1:] if stopping else arguments
    steps = whole("STEPS", words[0]) if words else 10000
    seed = whole("SEED", words[1]) if words[1:] else 1
    names = known("tree", words[2:], STOPPING if stopping else TREES)
    rng = random.Random(seed)
    operations = Operations(Rtnetlink(), rng, stopping, names)
    weights: dict[Callable[[], str], int] = {
        operations.change: 60, operations.replace: 12, operations.refused: 10,
        operations.down_up: 4, operations.filters: 4, operations.rebuild: 2,
        operations.child: 3, operations.look: 5, operations.weigh: 5,
    }  # fmt: skip
    ktap = Ktap(1, nested=True)
    ktap.comment(f"{steps} steps, seed {seed}")
    done_by: dict[str, int] = {}
    label, done = "start", ""
    try:
        while sum(done_by.values()) < steps:
            (operation,) = rng.choices(list(weights), list(weights.values()))
            label = operation.__name__
            done = _step(operations, operation)
            operations.subjects()
            done_by[label] = done_by.get(label, 0) + 1
            if rng.random() < 0.5:
                time.sleep(rng.random() * 0.04)
        label = "settle"
        operations.settle()
    except (Broken, NetlinkError, OSError, KeyError) as error:
        number = sum(done_by.values()) + 1
        ktap.result(False, f"step {number} ({label}), seed {seed}: {error!r}", f"before: {done}")
        return ktap.end()
    tally = ", ".join(f"{count} {label}" for label, count in sorted(done_by.items()))
    came_back = f", {operations.came_back} packets came back to one" if stopping else ""
    packets = f"{operations.traffic.offered} packets{came_back}"
    ktap.result(True, f"{steps} operations under {packets}: {tally}")
    lab_network.clean()
    return ktap.end()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
