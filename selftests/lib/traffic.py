# SPDX-License-Identifier: GPL-2.0-only
"""Frames for stress tests, sent through a device's queue discipline by a packet socket.

Principle: a packet socket gives each frame to the discipline at once and in order, whatever
it is, so the sender knows exactly what came. One frame in a while asks to be segmented
(packet(7), PACKET_VNET_HDR; linux/virtio_net.h).
"""

from __future__ import annotations

import errno
import random
import socket
import struct

SOL_PACKET, PACKET_VNET_HDR = 263, 15
SO_SNDBUFFORCE = 32
REFUSED = {errno.ENOBUFS: True, errno.ENETDOWN: False, errno.EAGAIN: False}  # was it offered?
VNET = struct.Struct("=BBHHHH")
NEEDS_CSUM, GSO_TCPV4 = 1, 1
MSS = 500
LARGEST = 8  # segments

ACK, PSH, SYN, FIN, RST = 0x10, 0x08, 0x02, 0x01, 0x04
STATION = "020000000{:03x}"


def ethernet(station: int, protocol: int, payload: bytes) -> bytes:
    """A frame to one of the stations."""
    to = bytes.fromhex(STATION.format(station))
    return to + bytes.fromhex("020000000fff") + struct.pack("!H", protocol) + payload


def checksum(data: bytes) -> int:
    """RFC 1071, of an even number of bytes."""
    total: int = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return 0xFFFF - total


def ipv4(flow: int, protocol: int, payload: bytes, fragment: int = 0x4000) -> bytes:
    """An IPv4 packet between the ends of a flow (RFC 791)."""
    source, to = f"10.1.{flow >> 8 & 255}.{flow & 255}", "10.2.0.1"
    addresses = socket.inet_aton(source) + socket.inet_aton(to)
    head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(payload), 1, fragment, 64, protocol, 0)
    head += addresses
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + payload


def ipv6(flow: int, protocol: int, payload: bytes) -> bytes:
    """An IPv6 packet between the ends of a flow (RFC 8200)."""
    head = struct.pack("!IHBB", 6 << 28, len(payload), protocol, 64)
    addresses = struct.pack("!IIII", 0xFD000001, 0, 0, flow) + struct.pack(
        "!IIII", 0xFD000002, 0, 0, 1
    )
    return head + addresses + payload


def tcp(flow: int, number: int, flags: int, length: int) -> bytes:
    """A segment (RFC 9293); what it acknowledges grows with `number`."""
    ports = struct.pack("!HH", 1024 + flow % 50000, 80)
    numbers = struct.pack("!II", number * 1448 & 0xFFFFFFFF, number * 2896 & 0xFFFFFFFF)
    return ports + numbers + struct.pack("!BBHHH", 0x50, flags, 65535, 0, 0) + bytes(length)


def udp(flow: int, length: int) -> bytes:
    """A datagram (RFC 768)."""
    return struct.pack("!HHHH", 1024 + flow % 50000, 53, 8 + length, 0) + bytes(length)


class Traffic:
    """A mix of flows through one device; all follows from the seed.

    `offered` counts packets as the discipline does: a frame to be segmented as its segments.
    """

    def __init__(self, device: str, rng: random.Random, flows: int = 40) -> None:
        self.offered = 0
        self._rng = rng
        self._flows = flows
        self._number = 0
        self._plain = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self._large = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self._large.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
        for sender in (self._plain, self._large):
            sender.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 1 << 24)
            sender.bind((device, 0x0800))

    def priority(self, priority: int) -> None:
        """skb->priority of what comes: a class, for disciplines that have them."""
        for sender in (self._plain, self._large):
            sender.setsockopt(socket.SOL_SOCKET, socket.SO_PRIORITY, priority)

    def one(self) -> None:
        """One small packet."""
        self._send(self._plain, ethernet(1, 0x0800, ipv4(1, 17, udp(1, 100))), 1)

    def large(self, segments: int) -> None:
        """One frame to be segmented, into LARGEST at most."""
        flow = self._rng.randrange(self._flows)
        packet = ipv4(flow, 6, tcp(flow, self._number, ACK, segments * MSS))
        header = VNET.pack(NEEDS_CSUM, GSO_TCPV4, 54, MSS, 34, 16)
        self._send(self._large, header + ethernet(flow % 8, 0x0800, packet), segments)

    def burst(self, count: int) -> None:
        """Frames of every kind. That a full discipline refuses one is no error."""
        for _ in range(count):
            self._number += 1
            if self._rng.random() < 0.04:
                self.large(self._rng.randrange(2, LARGEST + 1))
            else:
                self._send(self._plain, self._frame(), 1)

    def _send(self, sender: socket.socket, frame: bytes, packets: int) -> None:
        try:
            sender.send(frame, socket.MSG_DONTWAIT)
        except OSError as error:
            if error.errno not in REFUSED:
                raise
            if not REFUSED[error.errno]:
                return
        self.offered += packets

    def _frame(self) -> bytes:
        rng = self._rng
        flow, kind = rng.randrange(self._flows), rng.random()
        length = rng.choice((0, 0, 100, 700, 1400))
        if kind < 0.5:
            flags = rng.choice((ACK, ACK, ACK, ACK | PSH, SYN, ACK | FIN, RST))
            return ethernet(flow % 8, 0x0800, ipv4(flow, 6, tcp(flow, self._number, flags, length)))
        if kind < 0.65:
            return ethernet(flow % 8, 0x86DD, ipv6(flow, 6, tcp(flow, self._number, ACK, length)))
        if kind < 0.8:
            return ethernet(flow % 8, 0x0800, ipv4(flow, 17, udp(flow, length)))
        if kind < 0.85:
            return ethernet(flow % 8, 0x0800, ipv4(flow, 17, bytes(200), fragment=0x2000))
        if kind < 0.9:
            return ethernet(flow % 8, 0x0806, bytes(46))
        if kind < 0.95:
            return ethernet(flow % 8, 0x0800, ipv4(flow, 6, tcp(flow, 1, ACK, 50))[:-60])
        return ethernet(flow % 8, 0x0800, ipv4(flow, 50, bytes(200)))
