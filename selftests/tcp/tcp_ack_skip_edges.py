#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""ACK skipping where it meets something else: congestion, sockets that end, options, timers.

As tcp_ack_skip.py, whose sender, reader, ways of counting and options these tests use; `--long`
runs those of 65,535 segments too.
"""

from __future__ import annotations

import socket
import struct
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))

from tcp_ack_skip import (
    AT_ONCE_S,
    GAP_S,
    MODULE,
    MSS,
    SOON_S,
    TCP_ACK_SKIP,
    WARM_UP,
    configure,
    connection,
    covered,
    expect,
    steady,
    stream,
)
from tcp_peer import CE, ECE, ECT0, FIN, Peer
from tun_links import Absent, Link, Test, run_over_links

AFTER = 64  # tcp_ack_skip_after's default: below it, skipping leaves the sender's window alone
TICK_S = 0.01  # HZ is 100: the delayed ACK's timer of 40 ms counts ticks
FORGET = 65535  # segments in order after which a loss is forgotten
TESTS: list[tuple[str, Test]] = []
LONG: list[tuple[str, Test]] = []


def test(function: Test) -> Test:
    TESTS.append((function.__name__, function))
    return function


def mean(values: list[float]) -> float:
    return sum(values) / len(values)


def per_ack(peer: Peer, first: int, segments: int) -> float:
    """Mean segments per ACK of so many more segments."""
    since = time.monotonic()
    stream(peer, first, segments)
    return mean(covered(peer, since))


def leave_six(peer: Peer, ecn: int = 0) -> int:
    """Six segments have come since the last ACK. Return: the number of the next."""
    at = stream(peer, 0, 2 * WARM_UP, ecn=ecn)
    owed = at - peer.received[-1].ack // MSS
    at = stream(peer, at, (6 - owed) % 16, ecn=ecn)
    expect(peer.received[-1].ack == (at - 6) * MSS, "no six are left")
    return at


def open_window(peer: Peer) -> int:
    """Go slowly until the window is open: a window that comes faster than a round trip would
    be taken for one (tcp_rcv_rtt_measure()). Return: the number of the next segment."""
    at = stream(peer, 0, WARM_UP, gap_s=peer.rtt_s / 50)
    return stream(peer, at, 2 * WARM_UP)


def fill_queue(peer: Peer) -> int:
    """Round trips become a quarter longer. Return: the number of the next segment."""
    at = open_window(peer)
    peer.rtt_s *= 1.25
    return stream(peer, at, 2 * WARM_UP)


def lose(peer: Peer, at: int) -> int:
    """Segment `at` comes after the ten behind it."""
    end = stream(peer, at + 1, 10)
    peer.segment(at * MSS, MSS)
    peer.wait(GAP_S)
    return end


@test
def slow_start(link: Link) -> None:
    """While each round brings twice as much nothing is skipped; then it is."""
    configure(skip=7, after=AFTER)
    rtt_s, at = 0.5, 0
    with connection(link, rtt_s, window=2_000_000) as (peer, _):
        since = time.monotonic()
        for segments in (16, 32, 64, 128, 256, 512, 1024):
            at = stream(peer, at, segments, rtt_s / segments)
        most = max(covered(peer, since))
        expect(most <= 2, f"{most:.0f} segments per ACK")
        at = stream(peer, at, 3 * 1024, rtt_s / 1024)
        since = time.monotonic()
        stream(peer, at, 1024, rtt_s / 1024)
        got = mean(covered(peer, since))
        expect(abs(got / 16 - 1) < 0.02, f"{got:.1f} segments per ACK when it is over")


@test
def nothing_queued(link: Link) -> None:
    """Round trips are not longer than ever, 200 segments each: 6, a 32nd of them, per ACK."""
    configure(skip=7, after=AFTER)
    with connection(link, window=1_000_000) as (peer, _):
        got = per_ack(peer, open_window(peer), 600)
        expect(abs(got / 6 - 1) < 0.02, f"{got:.2f} segments per ACK")


@test
def a_little_queued(link: Link) -> None:
    """An eleventh of a round trip is spent in a queue, with 20 of its 220 segments: half of
    them, and a 32nd of all, per ACK."""
    configure(skip=15, after=AFTER)
    with connection(link, window=1_000_000) as (peer, _):
        at = open_window(peer)
        peer.rtt_s = 0.11
        got = per_ack(peer, stream(peer, at, 3 * WARM_UP), 640)
        expect(abs(got / 16 - 1) < 0.1, f"{got:.2f} segments per ACK")


@test
def loss_without_a_queue(link: Link) -> None:
    """Round trips were not longer than ever: 2 segments per ACK from then on."""
    configure(skip=7, after=AFTER)
    with connection(link, window=1_000_000) as (peer, _):
        at = open_window(peer)
        expect(max(covered(peer, peer.received[-3].time)) == 6, "does not skip before")
        at = stream(peer, lose(peer, at), 200)
        got = per_ack(peer, at, 400)
        expect(abs(got / 2 - 1) < 0.02, f"{got:.2f} segments per ACK")


@test
def loss_at_once(link: Link) -> None:
    """The tenth segment is lost, in quickack mode: 2 segments per ACK from then on too."""
    configure(skip=7, after=AFTER)
    with connection(link, window=1_000_000) as (peer, _):
        at = stream(peer, lose(peer, stream(peer, 0, 9)), WARM_UP)
        peer.rtt_s *= 1.25
        got = per_ack(peer, stream(peer, at, 2 * WARM_UP), 400)
        expect(abs(got / 2 - 1) < 0.02, f"{got:.2f} segments per ACK")


@test
def loss_behind_a_queue(link: Link) -> None:
    """A fifth of a round trip was spent in a queue, with 50 of 250 segments: 2 and an eighth
    of them per ACK."""
    configure(skip=7, after=AFTER)
    with connection(link, window=1_000_000) as (peer, _):
        at = fill_queue(peer)
        expect(max(covered(peer, peer.received[-3].time)) == 16, "does not skip before")
        at = stream(peer, lose(peer, at), 200)
        got = per_ack(peer, at, 400)
        expect(7 <= got <= 9, f"{got:.2f} segments per ACK, not 8")


@test
def loss_but_no_rule(link: Link) -> None:
    """tcp_ack_skip_after 0 turns these rules off."""
    configure(skip=7, after=0)
    with connection(link, window=1_000_000) as (peer, _):
        at = stream(peer, 0, 2 * WARM_UP)
        at = stream(peer, lose(peer, at), 200)
        got = per_ack(peer, at, 400)
        expect(abs(got / 16 - 1) < 0.02, f"{got:.2f} segments per ACK")


@test
def largest_number(link: Link) -> None:
    """16 * (15 + 1) segments per ACK: 1,428 come in a round trip, 1,600 fit the window."""
    if AT_ONCE_S > 70e-6:
        raise Absent("256 segments take this machine longer than an ACK is ever withheld")
    configure(every=16, skip=15)
    with connection(link, window=1_600_000) as (peer, _):
        at = stream(peer, 0, 4000, gap_s=7e-5)
        since = time.monotonic()
        stream(peer, at, 256 * 6, gap_s=7e-5)
        got = mean(covered(peer, since))
        expect(abs(got / 256 - 1) < 0.02, f"{got:.1f} segments per ACK, not 256")


@test
def no_timestamps(link: Link) -> None:
    """No round trip is known before a window has come; then it is, and no ACK waits longer."""
    configure(skip=3)
    with connection(link, window=40_000, timestamps=False) as (peer, _):
        at = stream(peer, 0, WARM_UP)
        got = per_ack(peer, at, 600)
        expect(abs(got / 8 - 1) < 0.02, f"{got:.2f} segments per ACK")
        at += 600
        owed = at - peer.received[-1].ack // MSS
        at = stream(peer, at, (6 - owed) % 8)  # six since the last ACK: one is withheld
        since = time.monotonic()
        peer.wait(0.3)
        late = [r.time - since for r in peer.received if r.time > since]
        expect(len(late) == 1, f"{len(late)} ACKs once the sender stops")
        expect(peer.received[-1].ack == at * MSS, "something is left unacknowledged")
        expect(late[0] < 0.04 + TICK_S, f"an ACK came after {late[0]:.3f} s")


@test
def quickack_option(link: Link) -> None:
    """TCP_QUICKACK: the ACK that is withheld goes out at once."""
    configure(skip=7)
    with connection(link) as (peer, reader):
        at = leave_six(peer)
        count, asked = len(peer.received), time.monotonic()
        reader.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
        peer.wait(SOON_S)
        expect(len(peer.received) == count + 1, "no ACK")
        expect(peer.received[-1].time - asked < AT_ONCE_S, "not at once")
        expect(peer.received[-1].ack == at * MSS, "not of all")


@test
def low_watermark(link: Link) -> None:
    """SO_RCVLOWAT: a reader that is woken late adds no ACKs and loses none."""
    configure(skip=3)
    with connection(link) as (peer, reader):
        reader.connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 40 * MSS)
        got = steady(peer)
        expect(abs(got / 8 - 1) < 0.02, f"{got:.2f} segments per ACK")


@test
def half_closed(link: Link) -> None:
    """FIN_WAIT2: what still comes is acknowledged as before, and the FIN."""
    configure(skip=3)
    with connection(link) as (peer, reader):
        at = stream(peer, 0, WARM_UP)
        reader.connection.shutdown(socket.SHUT_WR)
        peer.wait(GAP_S)
        peer.irs += 1  # from here on the peer acknowledges the kernel's FIN
        at = stream(peer, at, 40)
        got = per_ack(peer, at, 320)
        expect(abs(got / 8 - 1) < 0.02, f"{got:.2f} segments per ACK")
        peer.segment((at + 320) * MSS, MSS, flags=FIN)
        peer.wait(0.045)
        expect(peer.received[-1].ack == (at + 321) * MSS + 1, "the FIN is not acknowledged")


@test
def closed_while_withheld(link: Link) -> None:
    """The kernel's own FIN acknowledges all; the timer has nothing left to say."""
    configure(skip=7)
    with connection(link) as (peer, reader):
        at = leave_six(peer)
        count = len(peer.received)
        reader.connection.shutdown(socket.SHUT_RDWR)  # wakes the reader, which holds the socket
        reader.join()
        reader.connection.close()
        peer.wait(0.1)
        expect(len(peer.received) == count + 1, f"{len(peer.received) - count} segments")
        last = peer.received[-1]
        expect(bool(last.flags & FIN) and last.ack == at * MSS, "not a FIN for all")


@test
def reset_while_withheld(link: Link) -> None:
    """An abort takes the timer along: nothing comes after the RST."""
    configure(skip=7)
    with connection(link) as (peer, reader):
        leave_six(peer)
        reader.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        reader.connection.shutdown(socket.SHUT_RD)
        reader.join()
        count = len(peer.received)
        reader.connection.close()
        peer.wait(0.1)
        expect(len(peer.received) == count + 1, f"{len(peer.received) - count} segments")


@test
def inherited(link: Link) -> None:
    """TCP_ACK_SKIP of a listener is that of its connections."""
    if MODULE.exists():
        raise Absent("tcp_ackskip gives no socket option")
    configure(skip=0)
    options = [(socket.IPPROTO_TCP, TCP_ACK_SKIP, 3)]
    with connection(link, options=options) as (peer, reader):
        value = reader.connection.getsockopt(socket.IPPROTO_TCP, TCP_ACK_SKIP)
        expect(value == 3, f"it is {value}")
        expect(abs(steady(peer) / 8 - 1) < 0.02, "does not skip")


@test
def many_out_of_order(link: Link) -> None:
    """SACKs are compressed by the same timer: told of within its own millisecond."""
    configure(skip=7)
    with connection(link) as (peer, _):
        at = stream(peer, 0, WARM_UP)
        for hole in range(20):
            at = stream(peer, at, 5 + hole, gap_s=1e-4)  # some are withheld
            stream(peer, at + 1, 30, gap_s=1e-5)
            peer.wait(0.0015)
            told = peer.received[-1].sack
            expect(told[:1] == (((at + 1) * MSS, (at + 31) * MSS),), f"hole {hole}: SACK {told}")
            peer.segment(at * MSS, MSS)
            peer.wait(1e-4)
            at += 31
            expect(peer.received[-1].ack == at * MSS, f"hole {hole}: its end is not told at once")
        at = stream(peer, at, 200)
        got = per_ack(peer, at, 400)
        expect(abs(got / 16 - 1) < 0.02, f"{got:.2f} segments per ACK afterwards")


@test
def dctcp(link: Link) -> None:
    """A change of CE: what came before it is acknowledged apart, both at once (RFC 8257, 3.2)."""
    configure(skip=7)
    options = [(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"dctcp")]
    with connection(link, options=options) as (peer, _):
        at = leave_six(peer, ECT0)
        peer.received.clear()
        sent = time.monotonic()
        peer.segment(at * MSS, MSS, ecn=CE)
        peer.wait(SOON_S)
        seen = [(r.ack // MSS - at, bool(r.flags & ECE)) for r in peer.received]
        expect(seen == [(0, False), (1, True)], f"ACKs {seen}")
        expect(peer.received[-1].time - sent < AT_ONCE_S, "not at once")


@test
def clock_wraps(link: Link) -> None:
    """2^32 microseconds of silence."""
    configure(skip=7, after=AFTER)
    with connection(link, window=1_000_000) as (peer, _):
        at = fill_queue(peer)
        for _ in range(2):
            peer.wait(2**32 / 1e6 - 0.05)
            at = stream(peer, at, 2 * WARM_UP)
            got = per_ack(peer, at, 400)
            at += 400
            expect(abs(got / 16 - 1) < 0.02, f"{got:.2f} segments per ACK afterwards")


def loss_forgotten(link: Link) -> None:
    """65,535 segments in order later: as if nothing had been lost. No counter wraps before."""
    configure(skip=7, after=AFTER)
    with connection(link, window=1_000_000) as (peer, _):
        at = lose(peer, stream(peer, 0, 2 * WARM_UP))
        peer.rtt_s *= 1.25
        at = stream(peer, at, FORGET - 600)
        got = per_ack(peer, at, 400)
        expect(abs(got / 2 - 1) < 0.02, f"{got:.2f} segments per ACK before")
        at = stream(peer, at + 400, 1000)
        got = per_ack(peer, at, 400)
        expect(abs(got / 16 - 1) < 0.02, f"{got:.2f} segments per ACK then")


LONG.append((loss_forgotten.__name__, loss_forgotten))

if __name__ == "__main__":
    long = "--long" in sys.argv
    sys.argv = [word for word in sys.argv if word != "--long"]
    sys.exit(run_over_links(TESTS + LONG if long else TESTS))
