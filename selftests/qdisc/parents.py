#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""lasack, ackwrr and inflight as root and below every classful discipline, saturated, with drops.

Principle: a discipline that drops a packet other than the arriving one has to tell its parents,
and one that drops the arriving one must not (CVE-2025-68325 and its kin): otherwise a parent's
qlen drifts, or a class stays active with nothing in it. So qlen and backlog are compared at
every level while packets come faster than they go, and after the last has gone everything must
be empty and still work. Packets larger than memory_limit make the case that an empty child
drops what arrives.

Run by watched.sh inside a lab kernel, where the modules are loaded:

    parents.py [SECONDS [SEED [NAME]...]]   virtual seconds each (60), seed (1), only these trees
"""

from __future__ import annotations

import random
import socket
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))

import lab_network
from ktap import Ktap
from lab_network import DEVICE, Broken, tc
from rtnetlink import Qdisc, Rtnetlink
from traffic import Traffic, ethernet, ipv4, udp

RATE = "300kbit"
PERIOD_S = 0.1
BURST = 30  # packets a period at most: on average twice what goes
OVERSIZE = 65400  # bytes; with its overhead more than memory_limit can be

LEAVES = {
    "lasack": ("lasack limit 10 memory_limit 64k flows 6",),
    "inflight": ("inflight limit 1000", "pfifo limit 10"),
    "ackwrr": ("ackwrr weights auto limit 10",),
    "ackwrr-lasack": ("ackwrr weights 2 1 limit 10", "lasack limit 1 memory_limit 64k"),
    "inflight-lasack": ("inflight limit 1000", "lasack limit 1 memory_limit 64k"),
}
CLASSES = (1, 2)  # of the parent


@dataclass(frozen=True)
class Parent:
    """tc lines that make the tree down to the leaves' classes 2:1 and 2:2."""

    name: str
    lines: tuple[str, ...]
    leaves: tuple[str, ...] = tuple(f"2:{minor}" for minor in CLASSES)


def _classful(
    name: str, qdisc: str, each_class: str = "", outer: str = "inflight limit 4 stall 60s"
) -> Parent:
    """A parent below one that does not peek, so that its own counts are exact."""
    lines = [f"qdisc add dev {DEVICE} root handle 1: {outer}"]
    lines += [f"qdisc add dev {DEVICE} parent 1:1 handle 2: {qdisc}"]
    if each_class:
        lines += [f"class add dev {DEVICE} parent 2: classid 2:{i} {each_class}" for i in CLASSES]
    return Parent(name, tuple(lines))


def _shaper(name: str, qdisc: str, each_class: str) -> Parent:
    """A root that limits the rate itself."""
    classes = [f"class add dev {DEVICE} parent 2: classid 2:{i} {each_class}" for i in CLASSES]
    return Parent(name, (f"qdisc add dev {DEVICE} root handle 2: {qdisc}", *classes))


ONE = ("2:1",)
TBF = f"tbf rate {RATE} burst 70k limit 500k"
PARENTS = (
    _shaper("htb", "htb default 1", "htb rate 100kbit ceil 200kbit burst 70k cburst 70k"),
    _shaper("hfsc", "hfsc default 1", "hfsc sc rate 100kbit ul rate 200kbit"),
    Parent("tbf", (f"qdisc add dev {DEVICE} root handle 2: {TBF}",), ONE),
    Parent(
        "netem",
        (
            f"qdisc add dev {DEVICE} root handle 1: {TBF}",
            f"qdisc add dev {DEVICE} parent 1:1 handle 2: netem delay 20ms 5ms limit 100",
        ),
        ONE,
    ),
    _classful("drr", "drr", "drr quantum 3000"),
    _classful("qfq", "qfq", "qfq weight 2"),
    _classful("ets", "ets bands 2 strict 1 quanta 3000"),
    _classful("prio", "prio bands 2 priomap 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1"),
    _classful("tbf-drr", "drr", "drr quantum 3000", TBF),
    _classful("tbf-qfq", "qfq", "qfq weight 2", TBF),
    _classful("tbf-hfsc", "hfsc default 1", "hfsc sc rate 100kbit", TBF),
    _classful("hfsc-ls", "hfsc default 1", "hfsc ls rate 100kbit"),
    Parent("inflight", (f"qdisc add dev {DEVICE} root handle 2: inflight limit 4 stall 60s",), ONE),
)


def _each(lines: Sequence[str]) -> None:
    for line in lines:
        tc(line)


def _attach(parent: Parent, leaf: Sequence[str]) -> None:
    _each(parent.lines)
    for number, place in enumerate(parent.leaves, 1):
        tc(f"qdisc add dev {DEVICE} parent {place} handle {number}1: {leaf[0]}")
        if leaf[1:]:
            tc(f"qdisc add dev {DEVICE} parent {number}1:1 handle {number}2: {leaf[1]}")


class Sender:
    """Traffic to either class, and packets that are too large for a leaf."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self.traffic = Traffic(DEVICE, rng, flows=12)
        self._oversize = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self._oversize.setsockopt(socket.SOL_SOCKET, 32, 1 << 24)  # SO_SNDBUFFORCE
        self._oversize.bind((DEVICE, 0x0800))

    def choose(self, minor: int) -> None:
        """The class 2:minor for what comes: every classful discipline looks at the priority."""
        self.traffic.priority(2 << 16 | minor)
        self._oversize.setsockopt(socket.SOL_SOCKET, socket.SO_PRIORITY, 2 << 16 | minor)

    def oversize(self) -> None:
        """One packet that cannot stay."""
        frame = ethernet(1, 0x0800, ipv4(1, 17, udp(1, OVERSIZE)))
        try:
            self._oversize.send(frame)
        except OSError as error:
            if error.errno != 105:  # ENOBUFS: it was dropped
                raise

    def burst(self) -> None:
        """What comes in a period."""
        self.choose(self._rng.choice(CLASSES))
        if self._rng.random() < 0.05:
            self.oversize()
        self.traffic.burst(self._rng.randrange(BURST + 1))


def _leaves(qdiscs: Sequence[Qdisc]) -> list[Qdisc]:
    parents = {qdisc.parent >> 16 for qdisc in qdiscs}
    return [qdisc for qdisc in qdiscs if qdisc.handle >> 16 not in parents or not qdisc.handle]


def saturate(
    netlink: Rtnetlink, ifindex: int, seconds: float, rng: random.Random, drops: bool
) -> str:
    """Broken if a level miscounts, or nothing is dropped though the tree `drops`.

    Return: one line that says how much there was.
    """
    sender = Sender(rng)
    # Into the empty tree, the arriving packet itself is the one to go.
    for minor in CLASSES:
        sender.choose(minor)
        for _ in range(3):
            sender.oversize()
        lab_network.read(netlink, ifindex)
    samples = longest = 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        sender.burst()
        try:
            qdiscs = lab_network.read(netlink, ifindex)
        except Broken as broken:
            raise Broken(f"after {sender.traffic.offered} packets: {broken}") from None
        samples += 1
        longest = max(longest, max(qdisc.qlen for qdisc in qdiscs))
        time.sleep(PERIOD_S)
    lab_network.wait_empty(netlink, ifindex, 60)
    # Nothing may be stuck.
    before = sum(qdisc.sent for qdisc in _leaves(netlink.qdiscs(ifindex)))
    for minor in CLASSES:
        sender.choose(minor)
        sender.traffic.one()
    lab_network.wait_empty(netlink, ifindex, 30)
    qdiscs = lab_network.read(netlink, ifindex)
    leaves = _leaves(qdiscs)
    if sum(qdisc.sent for qdisc in leaves) - before < len(CLASSES):
        raise Broken("packets after the load were not sent")
    # What an unbounded discipline has left in the slow link is in the next one's way.
    lab_network.wait_empty(netlink, socket.if_nametoindex("out"), 600)
    dropped = sum(qdisc.drops for qdisc in leaves)
    if drops and not dropped:
        raise Broken("nothing was dropped: the load was too small to show anything")
    return f"{sender.traffic.offered} packets, {dropped} dropped, {samples} samples"


def _roots() -> list[tuple[str, tuple[str, ...]]]:
    """Trees without a parent of another kind: root, mq's children, and by default."""
    below = "limit 10 memory_limit 64k flows 6 inflight 2"
    per_queue = [f"qdisc add dev {DEVICE} parent 1:{i + 1:x} lasack {below}"
                 for i in range(lab_network.QUEUES)]  # fmt: skip
    mq = f"qdisc add dev {DEVICE} root handle 1: mq"
    wrapped = [f"qdisc add dev {DEVICE} parent 1:{i + 1:x} inflight limit 2 stall 60s"
               for i in range(lab_network.QUEUES)]  # fmt: skip
    return [
        ("root lasack", (f"qdisc add dev {DEVICE} root handle 1: lasack {below}",)),
        ("root inflight", (f"qdisc add dev {DEVICE} root handle 1: inflight limit 2 stall 60s",)),
        ("mq lasack", (mq, *per_queue)),
        ("mq inflight", (mq, *wrapped)),
    ]


def _default(kind: str) -> None:
    """The discipline of every queue as net.core.default_qdisc makes it, here below mq.

    It has txqueuelen for its limit and nothing that holds it back, so what it drops is of
    packets that are segmented on arrival. Without any, it drops nothing.
    """
    lab_network.run("ip", "link", "set", DEVICE, "txqueuelen", "3")
    lab_network.run("sysctl", "-qw", f"net.core.default_qdisc={kind}")
    tc(f"qdisc add dev {DEVICE} root handle 1: mq")
    found = {qdisc.kind for qdisc in Rtnetlink().qdiscs(socket.if_nametoindex(DEVICE))}
    if kind not in found:
        raise Broken(f"net.core.default_qdisc={kind} made {found}")


def main(arguments: Sequence[str]) -> int:
    """Every tree, one KTAP line each. Exit status: 1 if one of them failed."""
    seconds = float(arguments[0]) if arguments else 60.0
    seed = int(arguments[1]) if arguments[1:] else 1
    netlink = Rtnetlink()
    ifindex = lab_network.build(RATE)
    trees = [(name, partial(_each, lines), True) for name, lines in _roots()]
    for parent in PARENTS:
        trees += [
            (f"{parent.name} {leaf}", partial(_attach, parent, LEAVES[leaf]), True)
            for leaf in LEAVES
        ]
    segmented = {"lasack": not lab_network.keeps_whole(), "inflight": True}
    trees += [(f"default_qdisc {kind}", partial(_default, kind), segmented[kind])
              for kind in segmented]  # fmt: skip
    trees = [tree for tree in trees if not arguments[2:] or set(tree[0].split()) & {*arguments[2:]}]
    ktap = Ktap(len(trees), nested=True)
    ktap.comment(f"{seconds:g} virtual seconds each, seed {seed}")
    for name, make, drops in trees:
        try:
            make()
            said = saturate(netlink, ifindex, seconds, random.Random(f"{seed} {name}"), drops)
            ktap.result(True, f"{name}: {said}")
        except Broken as broken:
            ktap.result(False, name, str(broken))
        lab_network.run("tc", "qdisc", "del", "dev", DEVICE, "root")
    lab_network.run("sysctl", "-qw", "net.core.default_qdisc=pfifo_fast")
    lab_network.clean()
    return ktap.end()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
