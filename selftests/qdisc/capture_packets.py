#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Writes kernel/common/tests/captured_packets.h: frames that a Linux stack really sent.

Principle: the fuzzer mutates real packets, so they have to come from somewhere that may be
shown: two network namespaces of a lab kernel talk over a veth pair (TCP with options, SACK
and FIN, UDP, ICMP, fragments; IPv4 and IPv6; plain, VLAN and QinQ) and a packet socket
listens. One frame of each shape is kept.

Run as root inside a lab kernel, with a directory it may write:

    apbed boot --seed 1 --out out/capture -- /usr/bin/python3 selftests/qdisc/capture_packets.py \\
        out/capture/captured_packets.h
"""

from __future__ import annotations

import contextlib
import ctypes
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

FRAME_MAX = 200  # bytes; longer ones say nothing more
ETH_P_ALL = 3
PORT = 7001

HEAD = """\
/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Frames that a Linux stack sent, one of each shape. Written by
 * selftests/qdisc/capture_packets.py, which says how; not to be edited.
 */
#ifndef LASACK_TESTS_CAPTURED_PACKETS_H
#define LASACK_TESTS_CAPTURED_PACKETS_H

#include <linux/types.h>

struct captured_packet {
	u16		length;
	const u8	*bytes;
};

static const struct captured_packet captured_packets[] = {
"""


def run(*words: str) -> None:
    """A command that must succeed."""
    subprocess.run(words, check=True, capture_output=True)


def build_network() -> None:
    """near and far: a veth pair with a VLAN and a QinQ device on it."""
    for space in ("near", "far"):
        run("ip", "netns", "add", space)
    run("ip", "link", "add", "dev0", "netns", "near", "type", "veth", "peer", "name", "dev0",
        "netns", "far")  # fmt: skip
    for number, space in enumerate(("near", "far"), 1):
        run("ip", "netns", "exec", space, "ethtool", "-K", "dev0", "txvlan", "off", "tso", "off",
            "gso", "off", "tx-vlan-stag-hw-insert", "off")  # fmt: skip
        link = ["ip", "-n", space, "link"]
        run(*link, "add", "link", "dev0", "vlan5", "type", "vlan", "id", "5")
        run(*link, "add", "link", "dev0", "stag7", "type", "vlan", "proto", "802.1ad", "id", "7")
        run(*link, "add", "link", "stag7", "qinq", "type", "vlan", "id", "5")
        for net, device in enumerate(("dev0", "vlan5", "qinq")):
            address = ["ip", "-n", space, "addr", "add"]
            run(*address, f"10.9.{net}.{number}/24", "dev", device)
            run(*address, f"fd00:{net}::{number}/64", "dev", device, "nodad")
        for device in ("dev0", "stag7", "vlan5", "qinq"):
            run(*link, "set", device, "up")


@contextlib.contextmanager
def inside(space: str) -> Iterator[None]:
    """Sockets made here belong to the namespace (setns(2))."""
    with Path("/proc/thread-self/ns/net").open() as home, Path(f"/run/netns/{space}").open() as to:
        _setns(to.fileno())
        try:
            yield
        finally:
            _setns(home.fileno())


def _setns(descriptor: int) -> None:
    if ctypes.CDLL(None, use_errno=True).setns(descriptor, 0):
        raise OSError(ctypes.get_errno(), "setns")


def listen_for_frames(frames: list[bytes], space: str) -> None:
    """Append every frame of dev0 to `frames`, from a thread of its own."""
    with inside(space):
        listener = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    listener.bind(("dev0", ETH_P_ALL))

    def receive() -> None:
        while True:
            frames.append(listener.recv(65536))

    threading.Thread(target=receive, daemon=True).start()


def echo(family: socket.AddressFamily, far: str) -> None:
    """One ICMP echo; the kernel answers, and fills in ICMPv6's checksum (RFC 3542, 3.1)."""
    if family == socket.AF_INET:
        protocol, request = socket.IPPROTO_ICMP, struct.pack("!BBHHH", 8, 0, 0xF7FD, 1, 1)
    else:
        protocol, request = socket.IPPROTO_ICMPV6, struct.pack("!BBHHH", 128, 0, 0, 1, 1)
    with inside("near"):
        pinger = socket.socket(family, socket.SOCK_RAW, protocol)
    pinger.sendto(request, (far, 0))
    pinger.recv(100)
    pinger.close()


def talk(family: socket.AddressFamily, near: str, far: str) -> None:
    """TCP both ways, UDP, a closed port, an echo."""
    with inside("far"):
        server = socket.create_server((far, PORT), family=family)
        sink = socket.socket(family, socket.SOCK_DGRAM)
        sink.bind((far, PORT))
    with inside("near"):
        client = socket.create_connection((far, PORT))
        datagrams = socket.socket(family, socket.SOCK_DGRAM)
        datagrams.bind((near, 0))
    peer, _ = server.accept()
    for sender, receiver in ((client, peer), (peer, client)):
        for size in (1, 90, 100):
            sender.sendall(b"x" * size)
            receiver.recv(size)
    # Urgent data, then a reset: unread data is thrown away.
    client.send(b"!", socket.MSG_OOB)
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()
    peer.close()
    with inside("near"), socket.create_connection((far, PORT)) as client:
        peer, _ = server.accept()
        client.shutdown(socket.SHUT_WR)
        peer.close()
    datagrams.sendto(b"u" * 60, (far, PORT))
    datagrams.sendto(b"u" * 60, (far, PORT + 1))
    datagrams.sendto(b"f" * 1530, (far, PORT))
    echo(family, far)
    server.close()
    sink.close()


def shape(frame: bytes) -> tuple[object, ...]:
    """Two frames of one shape differ in addresses, numbers and payload only."""
    at, tags = 12, []
    while (kind := frame[at : at + 2]) in (b"\x81\x00", b"\x88\xa8"):
        tags.append(kind)
        at += 4
    network = frame[at + 2 :]
    if kind == b"\x08\x00":
        header = (network[0] & 15) * 4
        protocol, fragment = network[9], network[6:8]
    elif kind == b"\x86\xdd":
        header = 40 + (8 if network[6] in (0, 44) else 0)
        protocol = network[40] if header > 40 else network[6]
        fragment = network[40:44] if network[6] == 44 else b""
    else:
        return (tuple(tags), kind)
    transport = network[header:]
    flags: object = transport[:1]
    if protocol == socket.IPPROTO_TCP and len(transport) >= 20:
        flags = (transport[12:14], min(len(transport) - (transport[12] >> 4) * 4, 2))
    return (tuple(tags), kind, protocol, fragment, flags)


def table(frames: list[bytes]) -> str:
    """The frames as C, one of each shape, in order of appearance."""
    kept: dict[tuple[object, ...], bytes] = {}
    for frame in frames:
        if 14 <= len(frame) <= FRAME_MAX:
            kept.setdefault(shape(frame), frame)
    lines = []
    for frame in kept.values():
        lines.append(f"\t{{ {len(frame)}, (const u8 []) {{")
        for start in range(0, len(frame), 12):
            row = ", ".join(f"0x{byte:02x}" for byte in frame[start : start + 12])
            lines.append(f"\t\t{row},")
        lines.append("\t} },")
    return HEAD + "\n".join(lines) + "\n};\n\n#endif\n"


def main() -> int:
    """Build, talk, write."""
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    frames: list[bytes] = []
    build_network()
    for space in ("near", "far"):
        listen_for_frames(frames, space)
    for net in range(3):
        talk(socket.AF_INET, f"10.9.{net}.1", f"10.9.{net}.2")
        talk(socket.AF_INET6, f"fd00:{net}::1", f"fd00:{net}::2")
    time.sleep(1)  # the listeners catch up
    Path(sys.argv[1]).write_text(table(frames))
    print(f"{len(frames)} frames")
    return 0


if __name__ == "__main__":
    sys.exit(main())
