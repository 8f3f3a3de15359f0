#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Which segments the kernel acknowledges, and when, one KTAP test per rule.

Runs as root in a lab kernel with the ACK-skip series of kernel/ackskip/patches; in
one without it they fail. With the module tcp_ackskip on another
kernel, what the module does not give is skipped. The rules are those of tcp_ack_skip in
Documentation/networking/ip-sysctl.rst, the numbers RFC 5681's and the sysctls'.

Usage: tcp_ack_skip.py [--turns] [TEST]...

Each test runs over IPv4 and IPv6, with GRO and without; with --turns over one of them, in turn.
"""

from __future__ import annotations

import os
import socket
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))

from lab_network import Broken
from tcp_peer import AE, CE, CWR, ECE, ECT0, FIN, KERNEL_PORT, Peer
from tun_links import SYSCTL, Absent, Link, Test, run_over_links

MODULE = Path("/sys/module/tcp_ackskip")
MSS = 1000  # of payload: 12 bytes of each segment are the timestamp option
RTT_S = 0.1
GAP_S = 0.0005  # between segments
WARM_UP = 600  # segments: the window is open, a round trip measured, skipping begun
WINDOW = 150_000  # bytes
# What the machine itself may take; outside the lab's virtual time that is more.
AT_ONCE_S = float(os.environ.get("AT_ONCE_US", "20")) * 1e-6
SOON_S = max(GAP_S, AT_ONCE_S)

SO_RCVBUFFORCE, TCP_ACK_SKIP = 33, 64


def expect(condition: bool, message: str) -> None:
    if not condition:
        raise Broken(message)


class Reader(threading.Thread):
    """Reads what arrives, at once or only when told."""

    def __init__(self, connection: socket.socket, window: int) -> None:
        super().__init__(daemon=True)
        self.connection = connection
        self.window = window
        self.go = threading.Event()
        self.go.set()

    def run(self) -> None:
        first = True
        while self.go.wait() and self.connection.recv(1 << 20):
            if first:  # newer kernels forget the listener's when they learn what data takes
                self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP, self.window)
            first = False


@contextmanager
def connection(
    link: Link,
    rtt_s: float = RTT_S,
    accurate: bool = False,
    window: int = WINDOW,
    options: Sequence[tuple[int, int, int | bytes]] = (),
    timestamps: bool = True,
) -> Iterator[tuple[Peer, Reader]]:
    """A connection past the handshake, its reader running; `options` are the listener's."""
    listener = socket.socket(link.family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    # While the window grows each segment is acknowledged (tcp_grow_window()):
    # one of constant size is soon over that.
    # What is not read yet stays below the rest of the buffer.
    listener.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 4 * window)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP, window)
    for option in options:
        listener.setsockopt(*option)
    listener.bind(("", KERNEL_PORT))
    listener.listen()
    peer = Peer(link.tun, link.family, MSS + 12, rtt_s, link.port, timestamps)
    peer.connect(accurate)
    accepted, _ = listener.accept()
    reader = Reader(accepted, window)
    reader.start()
    try:
        yield peer, reader
    finally:
        reader.go.set()
        with suppress(OSError):  # closed already
            accepted.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        accepted.close()
        listener.close()


def configure(every: int = 2, skip: int = 0, after: int = 0, ramp: int = 0) -> None:
    for name, value in (
        ("every", every),
        ("skip", skip),
        ("skip_after", after),
        ("skip_ramp", ramp),
    ):
        (SYSCTL / f"tcp_ack_{name}").write_text(f"{value}\n")


def stream(peer: Peer, first: int, segments: int, gap_s: float = GAP_S, ecn: int = 0) -> int:
    """Send full segments in order, evenly spaced; returns the number of the next.

    An emulated machine takes time to send one, which the gap must not grow by.
    """
    start = time.monotonic()
    for i in range(first, first + segments):
        peer.segment(i * MSS, MSS, ecn=ecn)
        peer.wait(start + (i + 1 - first) * gap_s - time.monotonic())
    return first + segments


def covered(peer: Peer, since_s: float) -> list[float]:
    """Segments each ACK since then acknowledges."""
    acks = [r.ack for r in peer.received if r.time >= since_s]
    return [((b - a) & 0xFFFFFFFF) / MSS for a, b in pairwise(acks)]


def steady(peer: Peer, segments: int = 600) -> float:
    """Mean segments per ACK once start-up is over."""
    at = stream(peer, 0, WARM_UP)
    since = time.monotonic()
    stream(peer, at, segments)
    per_ack = covered(peer, since)
    return sum(per_ack) / len(per_ack)


def read_late(peer: Peer, reader: Reader, first: int) -> float:
    """Mean segments per ACK with a reader that sleeps, then drains all."""
    at, since = first, time.monotonic()
    for _ in range(20):
        reader.go.clear()
        at = stream(peer, at, 24)
        reader.go.set()
        at = stream(peer, at, 8)
    per_ack = covered(peer, since)
    return sum(per_ack) / len(per_ack)


TESTS: list[tuple[str, Test]] = []


def test(function: Test) -> Test:
    TESTS.append((function.__name__, function))
    return function


def ratio_test(every: int, skip: int) -> None:
    def run(link: Link) -> None:
        configure(every, skip)
        # 4 ACKs in a round trip at least: give it segments enough for that.
        with connection(link, rtt_s=0.15) as (peer, reader):
            wanted, got = every * (skip + 1), steady(peer)
            expect(abs(got / wanted - 1) <= 0.02, f"{got:.2f} segments per ACK, not {wanted}")
            got = read_late(peer, reader, WARM_UP + 600)
            expect(abs(got / wanted - 1) <= 0.02, f"{got:.2f}, not {wanted}, if read in bursts")

    TESTS.append((f"one_ack_for_{every}_times_{skip + 1}", run))


for every in range(1, 5):
    for skip in range(8):
        ratio_test(every, skip)


@test
def pushed_segments(link: Link) -> None:
    """PSH, and a short segment at the end of each write, are no reason to send one."""
    configure(skip=3)
    with connection(link) as (peer, _):
        at = stream(peer, 0, WARM_UP)
        since = time.monotonic()
        for i in range(320):
            peer.segment((at + i) * MSS, MSS, flags=0x08 if i % 16 == 15 else 0)
            peer.wait(GAP_S)
        per_ack = covered(peer, since)
        mean = sum(per_ack) / len(per_ack)
        expect(abs(mean / 8 - 1) <= 0.02, f"{mean:.2f} segments per ACK, not 8")


@test
def first_segments(link: Link) -> None:
    """Quickack mode comes first, tcp_ack_skip_after counts from its end."""
    configure(skip=3, after=1000)
    # 300 segments in a round trip allow 8 and more per ACK. Two are measured before, the
    # first of which cannot be compared with another.
    with connection(link, rtt_s=0.15, window=1_000_000) as (peer, _):
        since = time.monotonic()
        stream(peer, 0, 2000)
        per_ack = covered(peer, since)
        expect(per_ack[:10] == [1.0] * 10, f"not each of the first segments: {per_ack[:10]}")
        quick = per_ack.index(2.0) + 1
        start = next(i for i, n in enumerate(per_ack) if n > 2)
        segments = sum(per_ack[:start])
        expect(
            1000 - 8 <= segments - quick <= 1000 + 8,
            f"skipping began {segments - quick:.0f} segments later",
        )


@test
def ramp(link: Link) -> None:
    """http-queueing, 4.3: one segment, then two, three, four."""
    configure(skip=1, ramp=1)
    with connection(link) as (peer, _):
        at = stream(peer, 0, WARM_UP)
        expect(covered(peer, peer.received[-4].time) == [4.0] * 3, "not 4 when the ramp is over")
        # A hole starts it again. While it is open each segment has its ACK.
        stream(peer, at + 1, 1)
        since = time.monotonic()
        peer.segment(at * MSS, MSS)
        peer.wait(GAP_S)
        stream(peer, at + 2, 400)
        per_ack = covered(peer, since)
        first = per_ack.index(4.0)
        expect(per_ack[:first] == sorted(per_ack[:first]), f"does not grow: {per_ack[: first + 1]}")
        expect({1.0, 2.0, 3.0} <= set(per_ack[:first]), f"jumps: {per_ack[: first + 1]}")


@test
def missing_segment(link: Link) -> None:
    """Out of order: an ACK for each at once, with SACK; filling the hole: at once."""
    configure(skip=7)
    with connection(link) as (peer, _):
        at = stream(peer, 0, WARM_UP)
        peer.wait(0.5)
        peer.received.clear()
        for i in (1, 2, 3):
            sent = time.monotonic()
            peer.segment((at + i) * MSS, MSS)
            peer.wait(SOON_S)
            expect(
                len(peer.received) == i, f"{len(peer.received)} ACKs for {i} segments out of order"
            )
            last = peer.received[-1]
            expect(
                last.ack == at * MSS and last.time - sent < AT_ONCE_S, "no duplicate ACK at once"
            )
            expect(bool(last.sack) and last.sack[0][1] == (at + i + 1) * MSS, f"SACK {last.sack}")
        sent = time.monotonic()
        peer.segment(at * MSS, MSS)
        peer.wait(SOON_S)
        last = peer.received[-1]
        expect(
            last.ack == (at + 4) * MSS and last.time - sent < AT_ONCE_S,
            "a filled hole waits for its ACK",
        )


@test
def duplicate_segment(link: Link) -> None:
    """A segment that comes twice is told of at once (D-SACK, RFC 2883)."""
    configure(skip=7)
    with connection(link) as (peer, _):
        at = stream(peer, 0, WARM_UP)
        peer.wait(0.5)
        sent = time.monotonic()
        peer.segment((at - 1) * MSS, MSS)
        peer.wait(SOON_S)
        last = peer.received[-1]
        expect(last.time - sent < AT_ONCE_S, "no ACK of a duplicate at once")
        expect(last.sack[:1] == (((at - 1) * MSS, at * MSS),), f"no D-SACK: {last.sack}")


@test
def end_of_stream(link: Link) -> None:
    """FIN is acknowledged as without skipping: no ACK is owed after the delayed ACK's 40 ms."""
    configure(skip=7)
    with connection(link) as (peer, _):
        at = stream(peer, 0, WARM_UP)
        peer.segment(at * MSS, MSS, flags=FIN)
        peer.wait(0.045)
        expect(peer.received[-1].ack == (at + 1) * MSS + 1, "the FIN is not acknowledged")


@test
def congestion_mark(link: Link) -> None:
    """CE is echoed at once, and each segment acknowledged until CWR."""
    configure(skip=7)
    (SYSCTL / "tcp_ecn").write_text("1\n")
    with connection(link) as (peer, _):
        for i in range(WARM_UP):
            peer.segment(i * MSS, MSS, ecn=ECT0)
            peer.wait(GAP_S)
        peer.wait(0.5)
        sent = time.monotonic()
        peer.segment(WARM_UP * MSS, MSS, ecn=CE)
        peer.wait(SOON_S)
        expect(
            peer.received[-1].time - sent < AT_ONCE_S and bool(peer.received[-1].flags & ECE),
            "CE is not echoed at once",
        )
        since = time.monotonic()
        for i in range(WARM_UP + 1, WARM_UP + 51):
            peer.segment(i * MSS, MSS, ecn=ECT0)
            peer.wait(GAP_S)
        per_ack = covered(peer, since)
        expect(max(per_ack) <= 2, f"{max(per_ack):.0f} segments per ACK before CWR")
        peer.segment((WARM_UP + 51) * MSS, MSS, flags=CWR, ecn=ECT0)
        for i in range(WARM_UP + 52, WARM_UP + 400):
            peer.segment(i * MSS, MSS, ecn=ECT0)
            peer.wait(GAP_S)
        expect(
            covered(peer, peer.received[-3].time) == [16.0] * 2,
            "skipping does not come back after CWR",
        )


def accurate_marks(link: Link) -> None:
    """AccECN: a change is told of at once, CE after two segments, and the count is right."""
    configure(skip=7)
    (SYSCTL / "tcp_ecn").write_text("3\n")

    at = 0

    def send(count: int, ecn: int) -> tuple[float, list[float]]:
        """When the first of them has its ACK, in seconds, and the segments per ACK."""
        nonlocal at
        since, known = time.monotonic(), len(peer.received)
        for _ in range(count):
            peer.segment(at * MSS, MSS, flags=AE | ECE, ecn=ecn)  # 5: nothing marked
            peer.wait(GAP_S)
            at += 1
        return peer.received[known].time - since, covered(peer, since)

    def marks() -> int:
        """CE packets the last ACK says to have seen, modulo 8 (RFC 9768, 3.2.1)."""
        flags = peer.received[-1].flags
        return (bool(flags & AE) << 2 | bool(flags & CWR) << 1 | bool(flags & ECE)) - 5 & 7

    with connection(link, accurate=True) as (peer, _):
        expect(peer.received[0].flags & (AE | CWR | ECE) == CWR, "the kernel does not do AccECN")
        per_ack = send(WARM_UP, ECT0)[1]
        expect(per_ack[-2:] == [16.0] * 2, f"does not skip with AccECN: {per_ack[-3:]}")
        first, _ = send(1, CE)
        expect(first < 20e-6 and marks() == 1, f"CE is told of after {first:.6f} s")
        per_ack = send(40, CE)[1]
        expect(max(per_ack) <= 2, f"{max(per_ack):.0f} segments per ACK while marked")
        expect(marks() in (40 & 7, 41 & 7), f"{marks()} of {41 & 7} marks")
        first, _ = send(1, ECT0)
        expect(first < 20e-6, f"the end of marks is told of after {first:.6f} s")
        expect(marks() == 41 & 7, f"{marks()} of {41 & 7} marks")
        per_ack = send(WARM_UP, ECT0)[1]
        expect(per_ack[-2:] == [16.0] * 2, f"skipping does not come back: {per_ack[-3:]}")
        # Scattered marks never wait for more than stock would let them.
        for _ in range(20):
            first, _ = send(1, CE)
            expect(first < 20e-6, f"CE is told of after {first:.6f} s")
            send(13, ECT0)


if (SYSCTL / "tcp_ecn_option").exists():  # a kernel with AccECN
    test(accurate_marks)


@test
def window_update(link: Link) -> None:
    """A reader that opens a closed window says so at once."""
    configure(skip=7)
    with connection(link) as (peer, reader):
        at = stream(peer, 0, WARM_UP)
        peer.wait(0.5)
        reader.go.clear()
        full = -1
        while full != at:  # until the window lets nothing more in
            full = at
            while (at + 1) * MSS <= peer.received[-1].ack + peer.received[-1].window:
                at = stream(peer, at, 1)
            peer.wait(0.1)
        count, left = len(peer.received), peer.received[-1].window
        expect(left < 8 * MSS, f"{left} bytes of window are left")
        reader.go.set()
        peer.wait(GAP_S)
        expect(len(peer.received) > count, "no window update")
        expect(peer.received[-1].window > 8 * MSS, "the window is still closed")


@test
def sender_stops(link: Link) -> None:
    """An ACK is withheld for half a round trip, then the rest is acknowledged."""
    configure(skip=7)
    with connection(link) as (peer, _):
        at = stream(peer, 0, WARM_UP)
        peer.wait(0.5)
        at = stream(peer, at, 320)
        owed = at - peer.received[-1].ack // MSS
        extra = 6 - owed if owed < 6 else 16 + 6 - owed
        at = stream(peer, at, extra)  # six since the last ACK: four after the first one withheld
        count, second = len(peer.received), time.monotonic() - 5 * GAP_S
        peer.wait(0.3)
        expect(len(peer.received) == count + 1, f"{len(peer.received) - count} ACKs")
        expect(peer.received[-1].ack == at * MSS, "something is left unacknowledged")
        waited = peer.received[-1].time - second
        limit = min(peer.rtt_s / 2, 0.04)
        expect(
            abs(waited - limit) < 0.011,
            f"withheld for {waited * 1e3:.3f} ms, not {limit * 1e3:.0f}",
        )


@test
def socket_option(link: Link) -> None:
    """TCP_ACK_SKIP counts more than the sysctl, in both directions, and has a range."""
    if MODULE.exists():
        raise Absent("tcp_ackskip gives no socket option")
    configure(skip=0)
    with connection(link) as (peer, reader):
        reader.connection.setsockopt(socket.IPPROTO_TCP, TCP_ACK_SKIP, 3)
        expect(
            reader.connection.getsockopt(socket.IPPROTO_TCP, TCP_ACK_SKIP) == 3,
            "reads back otherwise",
        )
        expect(abs(steady(peer) / 8 - 1) < 0.02, "does not skip")
        for value in (-2, 16):
            try:
                reader.connection.setsockopt(socket.IPPROTO_TCP, TCP_ACK_SKIP, value)
            except OSError:
                continue
            raise Broken(f"{value} is taken")


@test
def sysctl_ranges(_: Link) -> None:
    for name, values in {
        "every": (0, 17),
        "skip": (-1, 16),
        "skip_after": (-1, 65535),
        "skip_ramp": (2,),
    }.items():
        for value in values:
            try:
                (SYSCTL / f"tcp_ack_{name}").write_text(f"{value}\n")
            except OSError:
                continue
            raise Broken(f"tcp_ack_{name} takes {value}")


if __name__ == "__main__":
    sys.exit(run_over_links(TESTS))
