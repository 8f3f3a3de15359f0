#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""What cannot be is refused in one line, and the running discipline goes on as it was.

Principle: every option of every kind (qdisc_kinds.py) is given a value out of its range, none,
twice, and beside a good one; once through tc(8) with its plugin and once in a netlink message
that no tc would send. Under traffic: before and after, the options must be the same bytes and
all packets offered must have been counted.

Run by watched.sh inside a lab kernel, where the modules are loaded:

    refusals.py [KIND]...
"""

from __future__ import annotations

import random
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))

import lab_network
from arguments import known
from ktap import Ktap
from lab_network import DEVICE, Broken
from qdisc_kinds import KINDS, TOGETHER, Option
from rtnetlink import (
    NLA_F_NESTED,
    RTM_NEWQDISC,
    TC_H_ROOT,
    TCA_OPTIONS,
    TCMSG,
    NetlinkError,
    Qdisc,
    Rtnetlink,
    attribute,
    name,
    u32,
)
from traffic import Traffic

RATE = "2mbit"
HANDLE = 0x10000
BURST = 12
UNKNOWN = 60  # an attribute that no kind has
OUT_OF_RANGE = "integer out of range"  # what the kernel says when a policy's range is left


class Subject:
    """A discipline at the root of the device, under traffic."""

    def __init__(self, kind: str, netlink: Rtnetlink, ifindex: int) -> None:
        self.kind = kind
        self._netlink, self._ifindex = netlink, ifindex
        lab_network.tc(f"qdisc replace dev {DEVICE} root handle 1: {kind}")
        self._traffic = Traffic(DEVICE, random.Random(kind))

    def _state(self) -> Qdisc:
        qdiscs = self._netlink.qdiscs(self._ifindex)
        lab_network.check(qdiscs)
        (root,) = [qdisc for qdisc in qdiscs if qdisc.parent == TC_H_ROOT]
        return root

    def tc(self, words: str) -> str:
        """What tc says to a change; Broken if it takes it."""
        done = subprocess.run(
            ["tc", "qdisc", "change", "dev", DEVICE, "root", self.kind, *words.split()],
            capture_output=True,
            text=True,
        )
        if not done.returncode:
            raise Broken(f"tc took `{words}`")
        return done.stderr + done.stdout

    def message(self, options: bytes, what: str) -> str:
        """What the kernel says to a change with these attributes; Broken if it takes it."""
        body = TCMSG.pack(0, self._ifindex, HANDLE, TC_H_ROOT, 0) + name(self.kind)
        body += attribute(TCA_OPTIONS | NLA_F_NESTED, options)
        try:
            self._netlink.request(RTM_NEWQDISC, 0, body)
        except NetlinkError as error:
            return error.said
        raise Broken(f"the kernel took {what}")

    def refused(self, ask: Callable[[], str]) -> str:
        """What was said; Broken if anything else than a refusal came of it."""
        before, offered = self._state(), self._traffic.offered
        self._traffic.burst(BURST)
        said = ask()
        self._traffic.burst(BURST)
        after = self._state()
        if after.options != before.options:
            raise Broken(f"options were {before.options}, are {after.options}; said {said!r}")
        came = _seen(after) - _seen(before)
        if came != self._traffic.offered - offered:
            raise Broken(f"{self._traffic.offered - offered} packets offered, {came} counted")
        time.sleep(0.02)
        return said


def _seen(qdisc: Qdisc) -> int:
    """Every packet that ever came, by the counters any discipline has."""
    return qdisc.sent + qdisc.drops + qdisc.qlen


def _one_line(said: str, *parts: str) -> None:
    if said.count("\n") > 1 or not said.strip():
        raise Broken(f"not one line: {said!r}")
    missing = [part for part in parts if part not in said]
    if missing:
        raise Broken(f"{said.strip()!r} does not say {', '.join(missing)}")


# What it is, how to ask for it, and what the answer must contain.
Case = tuple[str, Callable[[], str], tuple[str, ...]]


def tc_cases(subject: Subject, options: Sequence[Option]) -> Iterator[Case]:
    """Each mistake an operator can make with tc."""
    good = options[-1]
    for option in options:
        mistakes = [f"{option.name} {word}" for word in option.bad_words()]
        mistakes += [option.name, f"{option.name} {option.good} {option.name} {option.good}"]
        if good is not option:
            below = f"{option.least - 1}{option.unit}"
            mistakes.append(f"{good.name} {good.good} {option.name} {below}")
        for words in mistakes:
            yield words, partial(subject.tc, words), (option.name, option.tc_range)
    yield "nonsense", partial(subject.tc, "nonsense 1"), ("nonsense", options[0].name)


def message_cases(subject: Subject, options: Sequence[Option]) -> Iterator[Case]:
    """Each mistake a program can make; a good option beside it must not be taken either."""

    def case(what: str, attributes: bytes, *parts: str) -> Case:
        return what, partial(subject.message, attributes, what), parts

    together = TOGETHER.get(subject.kind, ())
    for option in (*options, *together):
        others = together if option in together else options[:2]
        beside = b"".join(u32(o.attribute, o.least) for o in others if o is not option)
        for value in option.bad_numbers():
            bad = beside + u32(option.attribute, value)
            names = (option.name, option.kernel_range) if option.kernel_range else (OUT_OF_RANGE,)
            yield case(f"{option.name} ({option.attribute}) {value}", bad, *names)
        for length in (0, 1, 3):
            bad = attribute(option.attribute, bytes(length))
            yield case(f"{option.name} ({option.attribute}) of {length} bytes", bad)
    yield case("an unknown attribute", u32(UNKNOWN, 1))
    yield case("an attribute cut short", struct.pack("=HH", 40, options[0].attribute))


def main(kinds: Sequence[str]) -> int:
    """A KTAP line for each mistake. Exit status: 1 if one of them failed."""
    kinds = known("kind", kinds, KINDS)
    netlink = Rtnetlink()
    ifindex = lab_network.build(RATE)
    ktap = Ktap(nested=True)
    for kind in kinds:
        subject = Subject(kind, netlink, ifindex)
        for way, cases in (("tc", tc_cases), ("netlink", message_cases)):
            for what, ask, parts in cases(subject, KINDS[kind]):
                try:
                    _one_line(subject.refused(ask), *parts)
                    ktap.result(True, f"{kind} by {way}: {what}")
                except Broken as broken:
                    ktap.result(False, f"{kind} by {way}: {what}", str(broken))
        lab_network.run("tc", "qdisc", "del", "dev", DEVICE, "root")
    lab_network.clean()
    return ktap.end()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
