# SPDX-License-Identifier: GPL-2.0-only
"""Queue disciplines over rtnetlink(7), fast and exact enough for ten thousand steps.

Principle: tc(8) costs a process for each request and hides the bytes. Here a request is what
the caller says it is, down to attributes that no tc would send, and an answer is raw numbers.
Sources: linux/rtnetlink.h, linux/pkt_sched.h, linux/gen_stats.h, linux/netlink.h.
"""

from __future__ import annotations

import errno
import os
import socket
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

NLM_F_REQUEST, NLM_F_ACK, NLM_F_DUMP = 0x1, 0x4, 0x300
NLM_F_REPLACE, NLM_F_EXCL, NLM_F_CREATE = 0x100, 0x200, 0x400
NLM_F_CAPPED, NLM_F_ACK_TLVS = 0x100, 0x200  # of an answer
NLMSG_ERROR, NLMSG_DONE = 2, 3
RTM_NEWLINK, RTM_NEWQDISC, RTM_DELQDISC, RTM_GETQDISC = 16, 36, 37, 38
RTM_NEWTCLASS, RTM_DELTCLASS, RTM_GETTCLASS = 40, 41, 42
TCA_KIND, TCA_OPTIONS, TCA_XSTATS, TCA_STATS2 = 1, 2, 4, 7
TCA_DUMP_INVISIBLE = 10
TCA_STATS_BASIC, TCA_STATS_QUEUE = 1, 3
TC_H_ROOT = 0xFFFFFFFF
IFF_UP = 1
NLA_F_NESTED = 0x8000
SOL_NETLINK, NETLINK_EXT_ACK = 270, 11
NLMSGERR_ATTR_MSG = 1

HEADER = struct.Struct("=IHHII")
TCMSG = struct.Struct("=BxxxiIII")
IFINFO = struct.Struct("=BxHiII")
ATTR = struct.Struct("=HH")


class NetlinkError(Exception):
    """The kernel refused: its error number and what it said."""

    def __init__(self, number: int, said: str) -> None:
        super().__init__(f"{errno.errorcode.get(number, number)}: {said or os.strerror(number)}")
        self.number = number
        self.said = said


def attribute(kind: int, payload: bytes) -> bytes:
    """One attribute with its padding."""
    whole = ATTR.pack(ATTR.size + len(payload), kind) + payload
    return whole + bytes(-len(whole) % 4)


def u32(kind: int, value: int) -> bytes:
    """A 32-bit attribute."""
    return attribute(kind, struct.pack("=I", value & 0xFFFFFFFF))


def options(values: Mapping[int, int]) -> bytes:
    """TCA_OPTIONS with 32-bit values by attribute number."""
    nest = b"".join(u32(kind, value) for kind, value in values.items())
    return attribute(TCA_OPTIONS | NLA_F_NESTED, nest)


def name(kind: str) -> bytes:
    """TCA_KIND."""
    return attribute(TCA_KIND, kind.encode() + b"\0")


def attributes(payload: bytes) -> Iterator[tuple[int, bytes]]:
    """The attributes in `payload`, without their flags; stops at one that lies."""
    at = 0
    while at + ATTR.size <= len(payload):
        length, kind = ATTR.unpack_from(payload, at)
        if length < ATTR.size or at + length > len(payload):
            return
        yield kind & 0x3FFF, payload[at + ATTR.size : at + length]
        at += (length + 3) & ~3


def handle(text: str) -> int:
    """ "1:", "1:2" or "root" as a number."""
    if text == "root":
        return TC_H_ROOT
    major, _, minor = text.partition(":")
    return int(major or "0", 16) << 16 | int(minor or "0", 16)


@dataclass(frozen=True)
class Qdisc:
    """What a dump says of one discipline. Counts are packets, backlog is bytes."""

    kind: str
    handle: int
    parent: int
    sent: int = 0
    sent_bytes: int = 0
    qlen: int = 0
    backlog: int = 0
    drops: int = 0
    requeues: int = 0
    options: dict[int, bytes] = field(default_factory=dict)
    xstats: bytes = b""

    def option(self, kind: int) -> int:
        """A 32-bit option."""
        value: int = struct.unpack("=I", self.options[kind])[0]
        return value


def _qdisc(body: bytes) -> tuple[int, Qdisc]:
    _, ifindex, own, parent, _ = TCMSG.unpack_from(body)
    found = dict(attributes(body[TCMSG.size :]))
    stats = dict(attributes(found.get(TCA_STATS2, b"")))
    sent_bytes, sent = struct.unpack_from("=QI", stats.get(TCA_STATS_BASIC, bytes(12)))
    counted = stats.get(TCA_STATS_QUEUE, bytes(16))
    qlen, backlog, drops, requeues = struct.unpack_from("=IIII", counted)
    return ifindex, Qdisc(
        found[TCA_KIND].rstrip(b"\0").decode(),
        own,
        parent,
        sent,
        sent_bytes,
        qlen,
        backlog,
        drops,
        requeues,
        dict(attributes(found.get(TCA_OPTIONS, b""))),
        found.get(TCA_XSTATS, b""),
    )


class Rtnetlink:
    """One socket; each request waits for its answer."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
        self._socket.setsockopt(SOL_NETLINK, NETLINK_EXT_ACK, 1)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        self._socket.bind((0, 0))
        self._sequence = 0

    def send_raw(self, message: bytes) -> None:
        """Bytes as they are, whatever they are; see errors()."""
        self._socket.send(message)

    def errors(self) -> Iterator[str]:
        """The names of the errors answered so far ("0": none); all else is thrown away."""
        while True:
            try:
                datagram = self._socket.recv(65536, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return
            except OSError as error:  # ENOBUFS: more was answered than could be kept
                yield errno.errorcode[error.errno or 0]
                continue
            if HEADER.unpack_from(datagram)[1] == NLMSG_ERROR:
                number = -struct.unpack_from("=i", datagram, HEADER.size)[0]
                yield errno.errorcode.get(number, str(number))

    def request(self, kind: int, flags: int, body: bytes) -> list[tuple[int, bytes]]:
        """The answer's (type, body) pairs; NetlinkError if the kernel refuses."""
        self._sequence += 1
        flags |= NLM_F_REQUEST | (0 if flags & NLM_F_DUMP == NLM_F_DUMP else NLM_F_ACK)
        size = HEADER.size + len(body)
        self._socket.send(HEADER.pack(size, kind, flags, self._sequence, 0) + body)
        answers: list[tuple[int, bytes]] = []
        while True:
            datagram = self._socket.recv(65536)
            at = 0
            while at < len(datagram):
                size, what, flags, sequence, _ = HEADER.unpack_from(datagram, at)
                body = datagram[at + HEADER.size : at + size]
                at += (size + 3) & ~3
                if sequence != self._sequence:
                    continue
                if what == NLMSG_ERROR:
                    _raise_if_refused(body, flags)
                    return answers
                if what == NLMSG_DONE:
                    return answers
                answers.append((what, body))

    def qdiscs(self, ifindex: int) -> list[Qdisc]:
        """Every discipline of a device, those made by default too."""
        body = TCMSG.pack(0, ifindex, 0, 0, 0) + attribute(TCA_DUMP_INVISIBLE, b"")
        found = [_qdisc(body) for _, body in self.request(RTM_GETQDISC, NLM_F_DUMP, body)]
        return [qdisc for index, qdisc in found if index == ifindex]

    def classes(self, ifindex: int) -> int:
        """How many classes a device's disciplines show."""
        body = TCMSG.pack(0, ifindex, 0, 0, 0)
        return len(self.request(RTM_GETTCLASS, NLM_F_DUMP, body))

    def change(
        self,
        ifindex: int,
        parent: int,
        own: int,
        kind: str,
        values: Mapping[int, int],
        flags: int = 0,
    ) -> None:
        """RTM_NEWQDISC: with no flags a change, with NLM_F_CREATE | NLM_F_REPLACE a replace."""
        body = TCMSG.pack(0, ifindex, own, parent, 0) + name(kind) + options(values)
        self.request(RTM_NEWQDISC, flags, body)

    def delete(self, ifindex: int, parent: int) -> None:
        """RTM_DELQDISC."""
        self.request(RTM_DELQDISC, 0, TCMSG.pack(0, ifindex, 0, parent, 0))

    def link(self, ifindex: int, up: bool) -> None:
        """Bring a device up or down."""
        body = IFINFO.pack(0, 0, ifindex, IFF_UP if up else 0, IFF_UP)
        self.request(RTM_NEWLINK, 0, body)


def _raise_if_refused(body: bytes, flags: int) -> None:
    number = -struct.unpack_from("=i", body)[0]
    if not number:
        return
    said = ""
    if flags & NLM_F_ACK_TLVS:
        (size,) = struct.unpack_from("=I", body, 4)
        skip = 4 + (HEADER.size if flags & NLM_F_CAPPED else (size + 3) & ~3)
        said = dict(attributes(body[skip:])).get(NLMSGERR_ATTR_MSG, b"").rstrip(b"\0").decode()
    raise NetlinkError(number, said)
