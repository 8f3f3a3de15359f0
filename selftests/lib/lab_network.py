# SPDX-License-Identifier: GPL-2.0-only
"""A device whose queue discipline is always behind, and what all levels of it must satisfy.

Principle: the packets below the device under test wait in a slow link behind a bridge, as in
qdisc_churn.sh: a bridge keeps a packet's destructor, so `inflight` has something to bound and
the discipline fills. What a parent counts is what its children hold (Documentation/networking
has no rule for it; net/sched/sch_api.c, qdisc_tree_reduce_backlog(), is where it is kept).
"""

from __future__ import annotations

import functools
import platform
import random
import socket
import struct
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from rtnetlink import TC_H_ROOT, Qdisc, Rtnetlink
from traffic import LARGEST, Traffic

DEVICE = "dev0"
DRIVER = "inflight/tests/emulated_driver"
ROOT = Path(__file__).resolve().parents[2]
QUEUES = 4
# What the kernel dequeues for one queue at once, and one packet for another (sch_generic.c).
GIVEN_BACK = 9
# These look at a child's next packet by taking it; it counts as sent and as queued then.
PEEKING = {"tbf", "hfsc", "drr", "qfq", "ets", "netem"}
MAX_PACKET = 66000  # bytes
READS = 5
MTU = "65500"  # the largest that qfq takes


class Broken(Exception):  # noqa: N818 - a finding, not an error of the program
    """One line (or more) that says what does not hold."""


def run(*words: str) -> None:
    """A command that must succeed; Broken with what it said if it does not."""
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        raise Broken(f"{' '.join(words)}: {(done.stderr or done.stdout).strip()}")


def insert(module: str, *parameters: str) -> None:
    """Load one of our modules: this checkout's, by its path in the build, else an installed one."""
    lab = "User Mode Linux" in Path("/proc/cpuinfo").read_text()
    folder = f"{platform.release()}-{'um' if lab else platform.machine()}"
    built = ROOT / "build" / "modules" / folder / f"{module}.ko"
    words = ("insmod", str(built)) if built.exists() else ("modprobe", Path(module).name)
    run(*words, *parameters)


def tc(line: str) -> None:
    """A line of tc(8), split at blanks."""
    run("tc", *line.split())


def build(rate: str) -> int:
    """dev0 | in - bridge - out, with `rate` behind it. Return: dev0's index."""
    clean()  # what a program before this one has left
    queues = ("numtxqueues", str(QUEUES), "numrxqueues", str(QUEUES))
    for device, peer in ((DEVICE, "in"), ("far", "out")):
        run("ip", "link", "add", device, "mtu", MTU, *queues, "type", "veth",
            "peer", "name", peer, "mtu", MTU, *queues)  # fmt: skip
    run("ip", "link", "add", "bridge", "mtu", MTU, "type", "bridge")
    for port in ("in", "out"):
        run("ip", "link", "set", port, "master", "bridge")
    for device in (DEVICE, "far", "in", "out", "bridge"):
        run("sysctl", "-qw", f"net.ipv6.conf.{device}.disable_ipv6=1")
        run("ip", "link", "set", device, "txqueuelen", "50", "up")
    tc(f"qdisc replace dev out root tbf rate {rate} burst 70k limit 100m")
    return socket.if_nametoindex(DEVICE)


def build_stopping() -> int:
    """dev0, of a driver that stops all its queues early. Return: its index.

    Stopped, the device gives packets back to the root discipline: those that are counted as
    sent, and yet queued.
    """
    clean()
    insert(DRIVER, f"queues={QUEUES}", "air_us=1000", "held=4", "wake=2")
    run("ip", "link", "set", "emu0", "name", DEVICE)
    run("sysctl", "-qw", f"net.ipv6.conf.{DEVICE}.disable_ipv6=1")
    run("ip", "link", "set", DEVICE, "txqueuelen", "50", "up")
    return socket.if_nametoindex(DEVICE)


def clean() -> None:
    """Remove what build() or build_stopping() made."""
    subprocess.run(["rmmod", "emulated_driver"], capture_output=True)
    for device in (DEVICE, "far", "bridge"):
        subprocess.run(["ip", "link", "del", device], capture_output=True)


@dataclass(frozen=True)
class Counts:
    """Packets, of a discipline that counts what comes and what is purged."""

    enqueued: int
    purged: int


# Where both are in struct tc_KIND_xstats (kernel/uapi/).
COUNTED = {"lasack": 232, "ackwrr": 208}


def counts(qdisc: Qdisc) -> Counts:
    """Of a kind in COUNTED."""
    return Counts(*struct.unpack_from("=QQ", qdisc.xstats, COUNTED[qdisc.kind]))


@functools.cache
def keeps_whole() -> bool:
    """Whether a discipline without a bound keeps a packet socket's large frame as one packet.

    It does if the kernel says of how many segments the frame is. Linux 7.2 does; 6.12 does not.
    """
    run("ip", "link", "add", "probe", "type", "veth", "peer", "name", "probed")
    try:
        run("ip", "link", "set", "probed", "up")
        run("ip", "link", "set", "probe", "up")
        tc("qdisc add dev probe root handle 1: htb default 1")
        tc("class add dev probe parent 1: classid 1:1 htb rate 8kbit burst 2k")
        tc("qdisc add dev probe parent 1:1 handle 2: lasack limit 100")
        traffic = Traffic("probe", random.Random(1))
        for _ in range(3):  # the first may go at once
            traffic.large(LARGEST)
        qdiscs = Rtnetlink().qdiscs(socket.if_nametoindex("probe"))
    finally:
        run("ip", "link", "del", "probe")
    (waiting,) = [qdisc.qlen for qdisc in qdiscs if qdisc.kind == "lasack"]
    if not waiting:
        raise Broken("of three large frames none waits")
    return waiting < LARGEST


def _fewest(qdisc: Qdisc, children: Sequence[Qdisc]) -> int:
    """How far below `enqueued` the other counters of a discipline can add up: 0 or less.

    Counters count a whole frame as its segments, and qlen counts it as one packet. A parent,
    too, counts it as one if a child pushes it out (qdisc_tree_reduce_backlog()).
    """
    if not keeps_whole():
        return 0
    pushed_out = sum(child.drops for child in children if child.kind in COUNTED)
    return -(LARGEST - 1) * qdisc.qlen - pushed_out


def peeks(kind: str) -> bool:
    """Whether a discipline of that kind may hold one packet that its child still counts."""
    return kind in PEEKING


def check(qdiscs: Sequence[Qdisc], given_back: int = 0) -> None:
    """Broken unless every level counts what the levels below hold, and the counters of ours add up.

    A discipline whose parent peeks may hold one packet more than its children: the one that
    was taken from them to be looked at. One at the root, or below mq, may hold up to
    `given_back` that the driver did not take.
    """
    by_handle = {qdisc.handle >> 16: qdisc for qdisc in qdiscs if qdisc.handle}
    wrong = []
    for qdisc in qdiscs:
        parent = by_handle.get(qdisc.parent >> 16) if qdisc.parent != TC_H_ROOT else None
        spare = 1 if parent and peeks(parent.kind) else 0
        if not parent or parent.kind == "mq":
            spare += given_back
        children = [
            child
            for child in qdiscs
            if child.parent >> 16 == qdisc.handle >> 16 and child is not qdisc
            and qdisc.handle and child.parent != TC_H_ROOT
        ]  # fmt: skip
        if children:
            packets = qdisc.qlen - sum(child.qlen for child in children)
            waiting = qdisc.backlog - sum(child.backlog for child in children)
            # netem's own packets, which wait for their time, are in no child.
            if qdisc.kind == "netem":
                spare = qdisc.qlen
            if not (0 <= packets <= spare and 0 <= waiting <= spare * MAX_PACKET):
                wrong.append(f"{qdisc.kind} {qdisc.handle:x} holds {packets} packets"
                             f" and {waiting} bytes more than its children")  # fmt: skip
        if qdisc.kind in COUNTED:
            own = counts(qdisc)
            seen = qdisc.sent + qdisc.drops + own.purged + qdisc.qlen - own.enqueued
            if seen > spare or (seen < 0 and seen < _fewest(qdisc, children)):
                wrong.append(
                    f"{qdisc.kind} {qdisc.handle:x}: sent {qdisc.sent} + dropped {qdisc.drops}"
                    f" + purged {own.purged} + queued {qdisc.qlen} - enqueued {own.enqueued}"
                    f" = {seen}"
                )
        if qdisc.qlen > 1 << 30 or qdisc.backlog > 1 << 30:
            wrong.append(f"{qdisc.kind} {qdisc.handle:x}: qlen {qdisc.qlen - (1 << 32)}")
        if bool(qdisc.qlen) and not qdisc.backlog:
            wrong.append(f"{qdisc.kind} {qdisc.handle:x}: {qdisc.qlen} packets of 0 bytes")
    if wrong:
        raise Broken("; ".join(wrong))


def read(netlink: Rtnetlink, ifindex: int) -> list[Qdisc]:
    """All disciplines of a device; Broken if they do not add up.

    They are read one after the other. Where time passes meanwhile, as it does not in a lab
    kernel, a packet may move on in between. Then they are read again; a miscount stays.
    """
    for _ in range(READS - 1):
        with suppress(Broken):
            check(found := netlink.qdiscs(ifindex))
            return found
    check(found := netlink.qdiscs(ifindex))
    return found


def wait_empty(netlink: Rtnetlink, ifindex: int, seconds: float) -> None:
    """Broken unless every level is empty within so many virtual seconds."""
    left: list[Qdisc] = []
    for _ in range(int(seconds * 2)):
        time.sleep(0.5)
        left = [qdisc for qdisc in netlink.qdiscs(ifindex) if qdisc.qlen or qdisc.backlog]
        if not left:
            return
    held = ", ".join(f"{q.kind} {q.handle:x} {q.qlen} packets {q.backlog} bytes" for q in left)
    raise Broken(f"not empty {seconds:g} s after the last packet: {held}")
