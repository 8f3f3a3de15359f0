#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""What becomes of ACKs in `ackwrr weights auto`: where they wait, and which have no room.

Principle: an ACK says all that the older ones of its connection said, and nobody sends it again.
So the newest one must always get through, in order, whoever else floods the queue; a
connection's only ACK must never be the one that goes. A SYN-ACK is no ACK: without it no connection
begins, whoever floods the queue of ACKs.

Run by watched.sh inside a lab kernel, where the modules are loaded:

    ack_queue.py
"""

from __future__ import annotations

import contextlib
import re
import socket
import struct
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))

import lab_network
from ktap import Ktap
from lab_network import DEVICE, Broken, tc
from rtnetlink import Rtnetlink
from traffic import ACK, FIN, PSH, RST, SO_SNDBUFFORCE, SYN, ethernet, ipv4, tcp

RATE = "60kbit"  # a frame of 54 bytes each 7 ms
ETH_P_ALL = 3
DRAIN_S = 20.0
SHARE = 8  # a connection has an eighth of the limit: Documentation/reference/ackwrr.md


def ack_frame(flow: int, number: int) -> bytes:
    """A pure ACK of connection `flow` that acknowledges `number` segments of 1000 bytes."""
    numbers = struct.pack("!II", 1, number * 1000)
    segment = struct.pack("!HH", 1024 + flow, 80) + numbers
    return ethernet(1, 0x0800, ipv4(flow, 6, segment + struct.pack("!BBHHH", 0x50, ACK, 999, 0, 0)))


class Link:
    """Sends ACKs into the device under test and collects those that come out of the slow link."""

    def __init__(self) -> None:
        self._sender = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self._sender.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 1 << 24)
        self._sender.bind((DEVICE, 0x0800))
        self._receiver = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        self._receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        self._receiver.bind(("far", ETH_P_ALL))
        self._receiver.settimeout(1.0)

    def send(self, flow: int, number: int) -> None:
        """One ACK."""
        self.frame(ack_frame(flow, number))

    def frame(self, frame: bytes) -> None:
        """The device is never stopped, so the discipline gets it at once."""
        with contextlib.suppress(OSError):  # refused: what comes out will tell
            self._sender.send(frame, socket.MSG_DONTWAIT)

    def received(self, seconds: float) -> dict[int, list[int]]:
        """By connection, the numbers that came, until nothing comes for a second."""
        came: dict[int, list[int]] = defaultdict(list)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                frame = self._receiver.recv(2048)
            except TimeoutError:
                break
            if frame[12:14] != b"\x08\x00":
                continue
            port, _, _, acked = struct.unpack_from("!HHII", frame, 34)
            came[port - 1024].append(acked // 1000)
        return came

    def close(self) -> None:
        self._sender.close()
        self._receiver.close()


def expect_newest(came: dict[int, list[int]], flow: int, newest: int) -> None:
    """Broken unless the connection's newest ACK came, last, and the others in their order."""
    numbers = came.get(flow, [])
    if not numbers or numbers[-1] != newest:
        raise Broken(f"connection {flow}: the newest ACK is {newest}; what came: {numbers[-5:]}")
    if numbers != sorted(numbers):
        raise Broken(f"connection {flow}: out of order: {numbers}")


def a_smaller_limit(link: Link) -> None:
    """After the limit took ACKs away, those that come later pass."""
    tc(f"qdisc add dev {DEVICE} root handle 1: ackwrr weights auto limit 800 inflight 1")
    for number in range(60):
        link.send(1, number)
    tc(f"qdisc change dev {DEVICE} root handle 1: ackwrr limit 8")
    time.sleep(2)  # all that was queued has gone
    for number in range(60, 80):
        link.send(1, number)
        time.sleep(0.02)
    came = link.received(DRAIN_S)
    expect_newest(came, 1, 79)
    if missing := set(range(60, 80)) - set(came[1]):
        raise Broken(f"the queue was empty, yet these did not pass: {sorted(missing)}")


def the_newest_stays(link: Link) -> None:
    """A connection has its share of the queue. The newest ACK is among those that wait, and the
    others are spread: none lets a sender go that has waited for a quarter of all."""
    limit = 80
    tc(f"qdisc add dev {DEVICE} root handle 1: ackwrr weights auto limit {limit} inflight 1")
    for number in range(500):
        link.send(1, number)
    came = link.received(DRAIN_S)
    expect_newest(came, 1, 499)
    if len(came[1]) < limit // SHARE:
        raise Broken(f"{limit // SHARE} ACKs may wait, and of all {len(came[1])} came: {came[1]}")
    step = max(after - before for before, after in pairwise(came[1]))
    if step > 500 // 4:
        raise Broken(f"one ACK acknowledges {step} segments of 500: {came[1]}")


def others_keep_theirs(link: Link) -> None:
    """Twenty connections flood the queue; one more has a single ACK, before or behind them."""
    tc(f"qdisc add dev {DEVICE} root handle 1: ackwrr weights auto limit 40 inflight 1")
    link.send(100, 1)
    for number in range(100):
        for flow in range(1, 21):
            link.send(flow, number)
    link.send(101, 1)
    came = link.received(DRAIN_S)
    for flow in range(1, 21):
        expect_newest(came, flow, 99)
    for flow in (100, 101):
        expect_newest(came, flow, 1)


def packets_by_class() -> list[int]:
    """Those that each class of the root has sent."""
    words = ("tc", "-s", "class", "show", "dev", DEVICE)
    shown = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    return [int(count) for count in re.findall(r"Sent \d+ bytes (\d+) pkt", shown)]


def the_class_of_each(link: Link) -> None:
    """ACKs without data, and nothing else, are class :2, whatever is attached there."""
    segments = [(ACK, 0), (ACK, 500), (ACK | PSH, 500), (ACK | FIN, 0), (RST, 0), (SYN, 0)]
    segments += [(SYN | ACK, 0), (SYN | ACK, 500)]  # the second has data: Fast Open, RFC 7413
    for child in ("", "pfifo"):
        tc(f"qdisc replace dev {DEVICE} root handle 1: ackwrr weights auto")
        if child:
            tc(f"qdisc add dev {DEVICE} parent 1:2 {child}")
        before = packets_by_class()
        for flags, length in segments:
            link.frame(ethernet(1, 0x0800, ipv4(1, 6, tcp(1, 1, flags, length))))
        link.received(DRAIN_S)
        sent = [after - was for after, was in zip(packets_by_class(), before, strict=True)]
        if sent != [7, 1]:
            raise Broken(f"class :2 has {child or 'its FIFO'}: {sent}, expected [7, 1]")


def main(_: Sequence[str]) -> int:
    """Each case, one KTAP line. Exit status: 1 if one of them failed."""
    cases: list[Callable[[Link], None]] = [
        a_smaller_limit,
        the_newest_stays,
        others_keep_theirs,
        the_class_of_each,
    ]
    ifindex = lab_network.build(RATE)
    # With little credit, so that what is sent at once waits above.
    tc(f"qdisc replace dev out root tbf rate {RATE} burst 200 limit 100m")
    netlink = Rtnetlink()
    ktap = Ktap(len(cases), nested=True)
    for case in cases:
        link = Link()
        try:
            case(link)
            lab_network.read(netlink, ifindex)
            ktap.result(True, case.__name__)
        except Broken as broken:
            ktap.result(False, case.__name__, str(broken))
        link.close()
        lab_network.run("tc", "qdisc", "del", "dev", DEVICE, "root")
        lab_network.wait_empty(netlink, socket.if_nametoindex("out"), 60)
    lab_network.clean()
    return ktap.end()


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
