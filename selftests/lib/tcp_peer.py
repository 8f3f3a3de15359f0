# SPDX-License-Identifier: GPL-2.0-only
"""A scripted TCP sender on a TUN device, against the kernel's own receiver.

Principle: the kernel's receiver sees real segments and its ACKs come back as
packets, each with the instant it left. In the lab's virtual time nothing else
takes time, so those instants are exact. The sender follows a script: it never
retransmits, has no window and answers nothing, so each ACK has one cause.

Sequence numbers here count from the first byte of data.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import select
import socket
import struct
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

PR_SET_TIMERSLACK = 29
TUNSETIFF = 0x400454CA
IFF_TUN, IFF_NAPI, IFF_NO_PI = 0x0001, 0x0010, 0x1000
FIN, SYN, RST, PSH, ACK, ECE, CWR, AE = 0x01, 0x02, 0x04, 0x08, 0x10, 0x40, 0x80, 0x100
CE, ECT0 = 3, 2
KERNEL_PORT, PEER_PORT = 7000, 40000
ISS = 0xFFFF0000  # wraps early: sequence arithmetic is tested along


@dataclass(frozen=True)
class Received:
    """One segment from the kernel: time in seconds, window in bytes, blocks of SACK."""

    time: float
    ack: int
    flags: int
    window: int
    tsval: int
    sack: tuple[tuple[int, int], ...]


def _sum16(data: bytes) -> int:
    if len(data) % 2:
        data += b"\0"
    total: int = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


class Peer:
    """The far end of one connection; `family` is AF_INET or AF_INET6."""

    def __init__(
        self, tun: int, family: int, mss: int, rtt_s: float, port: int, timestamps: bool = True
    ) -> None:
        self.timestamps = timestamps
        self.tun, self.family, self.mss, self.rtt_s, self.port = tun, family, mss, rtt_s, port
        self.irs = self.shift = 0  # its first sequence number and its window scale
        self.received: list[Received] = []
        self._echo: list[tuple[float, int]] = []  # when a TSval may be echoed, and it
        self._tsecr = 0
        if family == socket.AF_INET:
            self.kernel, self.own = (socket.inet_aton(f"10.9.0.{i}") for i in (1, 2))
        else:
            self.kernel, self.own = (socket.inet_pton(family, f"fd09::{i}") for i in (1, 2))

    def connect(self, accurate: bool = False) -> None:
        """The handshake: MSS, SACK, timestamps, window scale 7, ECN or AccECN offered."""
        stamps = struct.pack("!BBII", 8, 10, self._now(), 0) if self.timestamps else bytes([1]) * 10
        options = struct.pack("!BBHBB", 2, 4, self.mss, 4, 2) + stamps + bytes([1, 3, 3, 7])
        offer = ECE | CWR | AE if accurate else ECE | CWR
        self._send(ISS - 1, SYN | offer, b"", options=options, ack=0)
        self.wait(1.0, until=lambda: bool(self.received))
        # RFC 9768, 3.1.3: the SYN-ACK came without ECT.
        self._send(ISS, ACK | CWR if accurate else ACK, b"")

    def segment(self, seq: int, length: int, flags: int = 0, ecn: int = 0) -> None:
        """Send bytes seq .. seq + length."""
        self._send(ISS + seq, ACK | flags, bytes(length), ecn=ecn)

    def wait(self, seconds: float, until: Callable[[], bool] = lambda: False) -> None:
        """Let time pass, taking in what the kernel sends."""
        end = time.monotonic() + seconds
        while not until():
            left = end - time.monotonic()
            ready = select.select([self.tun], [], [], max(left, 0))[0]
            if ready:
                self._take(os.read(self.tun, 65536))
            elif left <= 0:
                return

    def _now(self) -> int:
        return int(time.monotonic() * 1000) & 0xFFFFFFFF

    def _send(
        self,
        seq: int,
        flags: int,
        data: bytes,
        ecn: int = 0,
        options: bytes | None = None,
        ack: int | None = None,
    ) -> None:
        now = time.monotonic()
        while self._echo and self._echo[0][0] <= now:
            self._tsecr = self._echo.pop(0)[1]
        if options is None:
            options = struct.pack("!BBBBII", 1, 1, 8, 10, self._now(), self._tsecr)
            options = options if self.timestamps else b""
        words = 5 + len(options) // 4
        header = (
            struct.pack(
                "!HHIIBBHHH",
                self.port,
                KERNEL_PORT,
                seq & 0xFFFFFFFF,
                (self.irs + 1 if ack is None else ack) & 0xFFFFFFFF,
                words << 4 | flags >> 8,
                flags & 0xFF,
                65535,
                0,
                0,
            )
            + options
        )
        length = len(header) + len(data)
        pseudo = self.own + self.kernel + struct.pack("!II", length, socket.IPPROTO_TCP)
        check = ~_sum16(pseudo + header + data) & 0xFFFF
        segment = header[:16] + struct.pack("!H", check) + header[18:] + data
        if self.family == socket.AF_INET:
            ip = struct.pack("!BBHHHBBH", 0x45, ecn, 20 + length, 0, 0x4000, 64, 6, 0)
            ip += self.own + self.kernel
            ip = ip[:10] + struct.pack("!H", ~_sum16(ip) & 0xFFFF) + ip[12:]
        else:
            ip = struct.pack("!IHBB", 6 << 28 | ecn << 20, length, 6, 64) + self.own + self.kernel
        os.write(self.tun, ip + segment)

    def _take(self, packet: bytes) -> None:
        now = time.monotonic()
        if packet[0] >> 4 == 4 and packet[9] == 6:
            tcp = packet[(packet[0] & 15) * 4 :]
        elif packet[0] >> 4 == 6 and packet[6] == 6:
            tcp = packet[40:]
        else:
            return
        _, port, seq, ack, offset, flags, window = struct.unpack("!HHIIBBH", tcp[:16])
        if port != self.port:
            return
        flags |= (offset & 1) << 8
        if flags & SYN:
            self.irs = seq
        tsval, sack = 0, []
        for kind, value in _options(tcp[20 : (offset >> 4) * 4]):
            if kind == 8:
                tsval = struct.unpack("!I", value[:4])[0]
            elif kind == 3:
                self.shift = value[0]
            elif kind == 5:
                edges = struct.unpack(f"!{len(value) // 4}I", value)
                sack = [
                    ((a - ISS) & 0xFFFFFFFF, (b - ISS) & 0xFFFFFFFF)
                    for a, b in zip(edges[::2], edges[1::2], strict=True)
                ]
        self._echo.append((now + self.rtt_s, tsval))
        shift = 0 if flags & SYN else self.shift
        self.received.append(
            Received(now, (ack - ISS) & 0xFFFFFFFF, flags, window << shift, tsval, tuple(sack))
        )


def _options(data: bytes) -> Iterator[tuple[int, bytes]]:
    while data and data[0] != 0:
        if data[0] == 1:
            data = data[1:]
            continue
        yield data[0], data[2 : data[1]]
        data = data[data[1] :]


def exact_timers() -> None:
    """Sleeps of this thread end when they should, not up to 50 us later (PR_SET_TIMERSLACK)."""
    ctypes.CDLL(None).prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0)


def open_tun(name: str, gro: bool) -> int:
    """The descriptor of a TUN device; with `gro` its packets pass through GRO."""
    tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    flags = IFF_TUN | IFF_NO_PI | (IFF_NAPI if gro else 0)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH22x", name.encode(), flags))
    return tun
