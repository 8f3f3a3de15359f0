#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""What a receiver answers to a long, varied, scripted stream: one line per packet it sends.

Principle: the stream follows from the seed alone, and in the lab's virtual time so do all
instants. Two kernels that decide alike therefore write the same file, byte by byte; see
ack_trace.sh. A script sends what real senders do in turns: bulk, bursts, small writes, loss and
its repair, reordering, duplicates, congestion marks, pauses, data the other way, to readers that
keep up or do not, over several round trips.

Usage: ack_trace.py FILE [SEGMENTS]     as root in a lab kernel
"""

from __future__ import annotations

import random
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))

from tcp_peer import ACK, CE, CWR, ECT0, FIN, ISS, KERNEL_PORT, PSH, Peer, open_tun

MSS = 1000
SEGMENTS = 100_000
# Round trips and gaps between segments in seconds, each with each.
RTTS, GAPS = (0.001, 0.02, 0.15), (0.00002, 0.0005, 0.004)
# The kernel takes these from the memory it finds, which its own size is taken from.
MEMORY = {
    "tcp_rmem": "4096 131072 5000000",
    "tcp_wmem": "4096 16384 4000000",
    "tcp_mem": "8000 10000 16000",
}
ALIGN_S = 10.0  # a connection begins at a multiple of this, whatever came before
SEED = 20261121


class TalkingPeer(Peer):
    """A peer that also takes data, and acknowledges it a round trip later with what it sends."""

    def __init__(self, tun: int, family: int, rtt_s: float, port: int) -> None:
        super().__init__(tun, family, MSS + 12, rtt_s, port)
        self.lines: list[str] = []
        self.sent = 0
        self._start = time.monotonic()
        self._next = 0  # what the kernel sends next, from its first sequence number
        self._due: list[tuple[float, int]] = []  # when a number may be acknowledged, and it

    def segment(self, seq: int, length: int, flags: int = 0, ecn: int = 0) -> None:
        self.sent += 1
        super().segment(seq, length, flags, ecn)

    def acknowledge(self, seq: int) -> None:
        """Send no data."""
        self._send(ISS + seq, ACK, b"")

    def acknowledgment(self) -> int:
        """The newest number of the kernel's data that is a round trip old."""
        now = time.monotonic()
        while len(self._due) > 1 and self._due[1][0] <= now:
            self._due.pop(0)
        return self._due[0][1] if self._due else self.irs + 1

    def _send(
        self,
        seq: int,
        flags: int,
        data: bytes,
        ecn: int = 0,
        options: bytes | None = None,
        ack: int | None = None,
    ) -> None:
        super()._send(seq, flags, data, ecn, options, self.acknowledgment() if ack is None else ack)

    def _take(self, packet: bytes) -> None:
        count = len(self.received)
        super()._take(packet)
        if len(self.received) == count:
            return
        got = self.received[-1]
        tcp = packet[20:] if packet[0] >> 4 == 4 else packet[40:]
        seq = (int.from_bytes(tcp[4:8], "big") - self.irs) & 0xFFFFFFFF
        length = len(tcp) - (tcp[12] >> 4) * 4
        if length and seq <= max(self._next, 1):
            self._next = max(self._next, seq + length)
        self._due.append((got.time + self.rtt_s, self.irs + max(self._next, 1)))
        nanoseconds = round((got.time - self._start) * 1e9)
        sack = ",".join(f"{a}-{b}" for a, b in got.sack)
        self.lines.append(
            f"{nanoseconds} {seq}+{length} {got.ack} {got.flags:02x} {got.window} {sack}"
        )


class Reader(threading.Thread):
    """Reads what arrives, at once or only when told."""

    def __init__(self, connection: socket.socket) -> None:
        super().__init__(daemon=True)
        self.connection = connection
        self.go = threading.Event()
        self.go.set()

    def run(self) -> None:
        while self.go.wait() and self.connection.recv(1 << 20):
            pass


@contextmanager
def connection(peer: TalkingPeer, rcvbuf: int) -> Iterator[Reader]:
    """The kernel's side of the peer's connection, read from until the end."""
    listener = socket.socket(peer.family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if rcvbuf:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, rcvbuf)
    listener.bind(("", KERNEL_PORT))
    listener.listen()
    peer.connect()
    accepted, _ = listener.accept()
    reader = Reader(accepted)
    reader.start()
    try:
        yield reader
    finally:
        reader.go.set()
        accepted.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        accepted.close()
        listener.close()


class Script:
    """One connection's stream: phases chosen at random until `segments` are sent."""

    def __init__(
        self, peer: TalkingPeer, reader: Reader, gap_s: float, choose: random.Random
    ) -> None:
        self.peer, self.reader, self.gap_s, self.choose = peer, reader, gap_s, choose
        self.at = 0  # bytes sent

    def run(self, segments: int) -> None:
        phases = (
            *(self.bulk,) * 6,
            *(self.bursts, self.small_writes, self.loss, self.reordering, self.two_ways),
            *(self.duplicates, self.marks, self.late_reader, self.pause),
        )
        while self.peer.sent < segments:
            self.choose.choice(phases)()
        self.peer.segment(self.at, MSS, flags=FIN)
        self.peer.wait(1.0)

    def data(self, length: int = MSS, gap_s: float | None = None, **more: int) -> None:
        """Send the next bytes once the window has room, a second later even if it has not."""
        self.peer.wait(1.0, until=lambda: self._room(length))
        if self._room(length):
            self.peer.segment(self.at, length, **more)
            self.at += length
        self.peer.wait(self.gap_s if gap_s is None else gap_s)

    def _room(self, length: int) -> bool:
        last = self.peer.received[-1]
        return self.at + length <= last.ack + last.window

    def bulk(self) -> None:
        for _ in range(self.choose.randint(50, 400)):
            self.data()

    def bursts(self) -> None:
        for _ in range(self.choose.randint(1, 10)):
            for _ in range(self.choose.randint(2, 40)):
                self.data(gap_s=0)
            self.peer.wait(self.choose.uniform(0, 2 * self.peer.rtt_s))

    def small_writes(self) -> None:
        for _ in range(self.choose.randint(5, 60)):
            self.data(self.choose.choice((1, 100, 535, 999, MSS)), flags=PSH)

    def loss(self) -> None:
        """Some of the next segments are lost; what is missing comes a round trip later."""
        count = self.choose.randint(4, 60)
        chosen = self.choose.sample(range(count - 1), self.choose.randint(1, 3))
        lost = []
        for i in range(count):
            if i in chosen:
                lost.append(self.at)
                self.at += MSS
            else:
                self.data()
        self.peer.wait(self.peer.rtt_s)
        for seq in lost:
            self.peer.segment(seq, MSS)
            self.peer.wait(self.gap_s)

    def reordering(self) -> None:
        for _ in range(self.choose.randint(1, 10)):
            late, by = self.at, self.choose.randint(1, 6)
            self.at += MSS
            for _ in range(by):
                self.data()
            self.peer.segment(late, MSS)
            self.bulk_of(self.choose.randint(1, 20))

    def bulk_of(self, count: int) -> None:
        for _ in range(count):
            self.data()

    def duplicates(self) -> None:
        for _ in range(self.choose.randint(1, 4)):
            self.peer.segment(max(self.at - self.choose.randint(1, 8) * MSS, 0), MSS)
            self.bulk_of(self.choose.randint(1, 20))

    def marks(self) -> None:
        for _ in range(self.choose.randint(10, 80)):
            mark = self.choose.random()
            self.data(ecn=CE if mark < 0.1 else ECT0, flags=CWR if mark > 0.9 else 0)

    def two_ways(self) -> None:
        """The kernel sends too; what it sends is acknowledged with data or alone."""
        for _ in range(self.choose.randint(2, 30)):
            self.reader.connection.send(bytes(self.choose.choice((1, 200, 3000))))
            self.bulk_of(self.choose.randint(0, 4))
            self.peer.wait(self.choose.choice((0, self.peer.rtt_s)))
            self.peer.acknowledge(self.at)

    def late_reader(self) -> None:
        for _ in range(self.choose.randint(1, 5)):
            self.reader.go.clear()
            self.bulk_of(self.choose.randint(1, 40))
            self.reader.go.set()
            self.bulk_of(self.choose.randint(1, 20))

    def pause(self) -> None:
        self.peer.wait(self.choose.choice((0.001, 0.039, 0.041, 0.3, 2.0)))


def cases() -> Iterator[tuple[int, bool, float, float, int]]:
    """Address family, GRO, round trip, gap, receive buffer (0: as the kernel grows it)."""
    for family in (socket.AF_INET, socket.AF_INET6):
        for gro in (False, True):
            for rtt_s in RTTS:
                for gap_s in GAPS:
                    yield family, gro, rtt_s, gap_s, 60_000 if gap_s == GAPS[1] else 0


def open_device(gro: bool) -> int:
    """A TUN device; with `gro` what comes within 200 us is merged."""
    name = f"tun{int(gro)}"
    tun = open_tun(name, gro)
    Path(f"/proc/sys/net/ipv6/conf/{name}/accept_dad").write_text("0\n")
    if gro:
        for attribute, value in (("gro_flush_timeout", 200_000), ("napi_defer_hard_irqs", 1)):
            Path(f"/sys/class/net/{name}/{attribute}").write_text(f"{value}\n")
    return tun


def trace(tuns: dict[bool, int], segments: int, out: TextIO) -> int:
    """Run all cases, `segments` in all; returns how many were sent."""
    for name, value in {"tcp_ecn": "1", **MEMORY}.items():
        Path(f"/proc/sys/net/ipv4/{name}").write_text(f"{value}\n")
    everything = list(cases())
    sent = 0
    for number, (family, gro, rtt_s, gap_s, rcvbuf) in enumerate(everything):
        for command in (
            f"addr flush dev tun{int(not gro)}",
            f"addr replace 10.9.0.1/24 dev tun{int(gro)}",
            f"-6 addr replace fd09::1/64 dev tun{int(gro)} nodad",
            f"link set tun{int(gro)} up",
        ):
            subprocess.run(["ip", *command.split()], check=True)
        time.sleep(ALIGN_S - time.monotonic() % ALIGN_S)
        peer = TalkingPeer(tuns[gro], family, rtt_s, 40000 + number)
        with connection(peer, rcvbuf) as reader:
            choose = random.Random(SEED + number)
            Script(peer, reader, gap_s, choose).run((segments - sent) // (len(everything) - number))
        sent += peer.sent
        where = f"IPv{4 if family == socket.AF_INET else 6}{' GRO' if gro else ''}"
        print(f"# {where} rtt {rtt_s} gap {gap_s} rcvbuf {rcvbuf}", file=out)
        print("\n".join(peer.lines), file=out)
    return sent


def main() -> int:
    tuns = {gro: open_device(gro) for gro in (False, True)}
    with Path(sys.argv[1]).open("w") as out:
        sent = trace(tuns, int(sys.argv[2]) if len(sys.argv) > 2 else SEGMENTS, out)
    print(f"{sent} segments sent")
    return 0


if __name__ == "__main__":
    sys.exit(main())
