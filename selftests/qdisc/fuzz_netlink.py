#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Fuzzed rtnetlink requests about our disciplines, while packets go through them.

Principle: a request starts as a good one and then one to three things about it go wrong: a
length, a flag, an attribute's type, a value, a nest in a nest, bytes at random. So most get as
far as the discipline, and each is wrong somewhere else. Now and then comes a good one, so that
there is always something to break. The kernel's checkers are the judges, and that a discipline
can still be made, dumped and deleted at the end.

Run by watched.sh inside a lab kernel, where the modules are loaded:

    fuzz_netlink.py [REQUESTS [SEED [KIND]...]]     100000, 1, every kind
"""

from __future__ import annotations

import contextlib
import random
import socket
import struct
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))

import lab_network
from arguments import known, whole
from ktap import Ktap
from lab_network import DEVICE, Broken
from qdisc_kinds import KINDS, TOGETHER
from rtnetlink import (
    HEADER,
    NLA_F_NESTED,
    NLM_F_ACK,
    NLM_F_CREATE,
    NLM_F_DUMP,
    NLM_F_EXCL,
    NLM_F_REPLACE,
    NLM_F_REQUEST,
    RTM_DELQDISC,
    RTM_DELTCLASS,
    RTM_GETQDISC,
    RTM_GETTCLASS,
    RTM_NEWQDISC,
    RTM_NEWTCLASS,
    TC_H_ROOT,
    TCA_KIND,
    TCA_OPTIONS,
    TCMSG,
    NetlinkError,
    Rtnetlink,
    attribute,
    name,
    u32,
)
from traffic import Traffic

RATE = "5mbit"
TYPES = (
    *(RTM_NEWQDISC,) * 8,
    *(RTM_DELQDISC, RTM_GETQDISC) * 2,
    *(RTM_NEWTCLASS, RTM_DELTCLASS, RTM_GETTCLASS),
)
FLAGS = (0, 0, 0, NLM_F_CREATE, NLM_F_CREATE | NLM_F_REPLACE, NLM_F_CREATE | NLM_F_EXCL, NLM_F_DUMP)
PARENTS = (TC_H_ROOT, TC_H_ROOT, TC_H_ROOT, 0x10001, 0x10002, 0x20001, 0, 0xFFFFFFF1)
HANDLES = (0x10000, 0x10000, 0x20000, 0, 0x10001, 0xFFFF0000)
VALUES = (0, 1, 2, 5, 99, 100, 1000, 65535, 65536, 1 << 20, (1 << 31) - 1, 1 << 31, 0xFFFFFFFF)


class Fuzz:
    """Requests for one kind of discipline on one device; all follows from the generator."""

    def __init__(self, kind: str, ifindex: int, rng: random.Random) -> None:
        self._kind, self._ifindex, self._rng = kind, ifindex, rng
        self._together = TOGETHER.get(kind, ())
        self._attributes = [option.attribute for option in (*KINDS[kind], *self._together)]

    def _value(self) -> bytes:
        rng = self._rng
        value = rng.choice(VALUES) if rng.random() < 0.7 else rng.randrange(1 << 32)
        return struct.pack("=I", value)

    def _good(self) -> bytes:
        """Options within their ranges; what is large is not needed to break anything."""
        known = KINDS[self._kind]
        chosen = self._rng.sample(known, self._rng.randrange(len(known) + 1))
        chosen += self._together if self._rng.random() < 0.5 else ()
        values = [(o.attribute, o.least, min(o.most, o.least * 40)) for o in chosen]
        return b"".join(u32(kind, self._rng.randint(*ends)) for kind, *ends in values)

    def _bad(self) -> bytes:
        """Attributes, each of them wrong in one of the ways there are."""
        rng, parts = self._rng, []
        for _ in range(rng.randrange(1, 9)):
            unknown = (0, max(self._attributes) + 1, rng.randrange(1 << 14))
            kind = rng.choice((*self._attributes, *unknown))
            way = rng.randrange(8)
            if way < 3:
                payload = self._value()
            elif way == 3:
                payload = rng.randbytes(rng.choice((0, 1, 2, 3, 5, 8, 64)))
            elif way == 4:
                payload = self._nest(rng.randrange(1, 12))
                kind |= NLA_F_NESTED
            elif way == 5:
                parts.append(struct.pack("=HH", rng.randrange(1 << 16), kind) + self._value())
                continue
            elif way == 6:
                parts.append(rng.randbytes(rng.randrange(1, 24)))
                continue
            else:
                payload, kind = self._value(), kind | rng.choice((NLA_F_NESTED, 0x4000, 0xC000))
            parts.append(attribute(kind & 0xFFFF, payload))
        return b"".join(parts)

    def _nest(self, depth: int) -> bytes:
        inner = self._value()
        for _ in range(depth):
            inner = attribute(self._rng.choice(self._attributes) | NLA_F_NESTED, inner)
        return inner

    def _kind_attribute(self) -> bytes:
        if self._rng.random() < 0.95:
            return name(self._kind)
        wrong = (b"", b"\0", self._kind.encode(), b"x" * 300, b"pfifo\0", self._rng.randbytes(9))
        return attribute(TCA_KIND, self._rng.choice(wrong))

    def request(self, sequence: int) -> bytes:
        """One message, header and all."""
        rng = self._rng
        good = rng.random() < 0.2
        what, flags, parent = rng.choice(TYPES), rng.choice(FLAGS), rng.choice(PARENTS)
        own = rng.choice(HANDLES)
        if good or rng.random() < 0.5:
            # To the right place, whatever it says there.
            what, flags = RTM_NEWQDISC, NLM_F_CREATE | NLM_F_REPLACE
            parent = rng.choice(PARENTS[:4])
            # Root and child must not have one handle, or nothing is ever below the root.
            own = 0x10000 if parent == TC_H_ROOT else 0x20000
        ifindex = self._ifindex if rng.random() < 0.99 else rng.choice((0, -1, 1 << 30))
        body = TCMSG.pack(0, ifindex, own, parent, rng.choice((0, 0, 1 << 16)))
        body += self._kind_attribute()
        if rng.random() < 0.95:
            nest = TCA_OPTIONS | (NLA_F_NESTED if rng.random() < 0.95 else 0)
            body += attribute(nest, self._good() if good else self._bad())
        if not good and rng.random() < 0.1:
            damaged = bytearray(body)
            for _ in range(rng.randrange(1, 5)):
                damaged[rng.randrange(len(damaged))] = rng.randrange(256)
            body = bytes(damaged)
        if not good and rng.random() < 0.05:
            body = body[: rng.randrange(len(body))]
        size = HEADER.size + len(body)
        if rng.random() < 0.01:
            size = max(0, size + rng.randrange(-40, 40))
        header = HEADER.pack(size, what, flags | NLM_F_REQUEST | NLM_F_ACK, sequence, 0)
        return header + body


def _still_works(netlink: Rtnetlink, ifindex: int, kind: str) -> None:
    """Whatever the requests left there goes, and the kind can be used as ever."""
    with contextlib.suppress(NetlinkError):
        netlink.delete(ifindex, TC_H_ROOT)
    flags = NLM_F_CREATE | NLM_F_EXCL
    netlink.change(ifindex, TC_H_ROOT, 0x10000, kind, {1: 7}, flags)
    (root,) = [qdisc for qdisc in netlink.qdiscs(ifindex) if qdisc.parent == TC_H_ROOT]
    if root.kind != kind or root.option(1) != 7:
        raise Broken(f"{kind} with attribute 1 of 7 shows as {root}")
    netlink.delete(ifindex, TC_H_ROOT)


def _clear_devices(netlink: Rtnetlink) -> None:
    """A damaged request may have named another device; what it left there would keep a module."""
    for ifindex, _ in socket.if_nameindex():
        with contextlib.suppress(NetlinkError):
            netlink.delete(ifindex, TC_H_ROOT)


def fuzz(kind: str, requests: int, seed: int, ifindex: int) -> str:
    """Broken if the kind is not usable in the end; else what the kernel answered."""
    rng = random.Random(f"{seed} {kind}")
    source, raw, netlink = Fuzz(kind, ifindex, rng), Rtnetlink(), Rtnetlink()
    traffic = Traffic(DEVICE, rng)
    answers: Counter[str] = Counter()
    for sequence in range(1, requests + 1):
        raw.send_raw(source.request(sequence))
        answers.update(raw.errors())
        if sequence % 10 == 0:
            traffic.burst(3)
        if sequence % 50 == 0:
            time.sleep(0.005)
            lab_network.read(netlink, ifindex)
    answers.update(raw.errors())
    _still_works(netlink, ifindex, kind)
    if not answers["0"]:
        raise Broken("no request was good: the fuzz got nowhere")
    tally = ", ".join(f"{count} {error}" for error, count in answers.most_common(8))
    return f"{requests} requests, {traffic.offered} packets; answers: {tally}"


def main(arguments: Sequence[str]) -> int:
    """Each kind in turn, a KTAP line each. Exit status: 1 if one of them failed."""
    requests = whole("REQUESTS", arguments[0]) if arguments else 100000
    seed = whole("SEED", arguments[1]) if arguments[1:] else 1
    kinds = known("kind", arguments[2:], KINDS)
    ifindex = lab_network.build(RATE)
    ktap = Ktap(len(kinds), nested=True)
    ktap.comment(f"seed {seed}")
    for kind in kinds:
        try:
            said = fuzz(kind, -(-requests // len(kinds)), seed, ifindex)
            ktap.result(True, f"{kind}: {said}")
        except (Broken, NetlinkError) as broken:
            ktap.result(False, kind, str(broken))
    _clear_devices(Rtnetlink())
    lab_network.clean()
    return ktap.end()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
