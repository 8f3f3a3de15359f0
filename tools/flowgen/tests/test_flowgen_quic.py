# SPDX-License-Identifier: GPL-2.0-only
"""flowgen's QUIC-like flows against datagrams that nobody should send.

The datagrams are written here as tools/flowgen/quic/wire.h has them. The rules of loss, congestion
and acknowledgement are in quic/tests; what takes time is in test_flowgen_time.py.
"""

from __future__ import annotations

import json
import signal
import socket
import struct
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

FLOWGEN = Path(__file__).resolve().parents[3] / "build" / "bin" / "flowgen"
MAGIC = 0x66717569
HELLO, WELCOME, DATA, ACK = 1, 2, 3, 4
SIZE = 300  # of datagrams with data
DOWN = 1


class Server:
    """A running `flowgen serve`."""

    def __init__(self, out: Path) -> None:
        self.out = out
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        words = [str(FLOWGEN), "serve", "--port", str(self.port), "--out", str(out)]
        self.process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
        while self.process.poll() is None:  # its UDP socket is there once TCP is, or a moment later
            with socket.socket() as probe:
                if not probe.connect_ex(("127.0.0.1", self.port)):
                    return
            time.sleep(0.02)
        raise AssertionError("flowgen serve does not listen")

    def stop(self) -> list[dict[str, Any]]:
        """End it with SIGTERM; its lines."""
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait() == 0
        return [json.loads(line) for line in self.out.read_text().splitlines()]


def record(entries: list[dict[str, Any]], name: str) -> dict[str, Any]:
    """The one "flow" line of a flow."""
    (found,) = (entry for entry in entries if entry["id"] == name and entry["event"] == "flow")
    return found


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    running = Server(tmp_path / "server.jsonl")
    yield running
    running.process.kill()
    running.process.wait()


@pytest.fixture
def peer(server: Server) -> Iterator[socket.socket]:
    """A client of our own."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.settimeout(5)
        one.connect(("127.0.0.1", server.port))
        yield one


def header(kind: int, connection: int = 7) -> bytes:
    return struct.pack(">IB3xQ", MAGIC, kind, connection)


def hello(attempt: int = 0, way: int = 0, name: bytes = b"h", **changes: int) -> bytes:
    asked = {"size": SIZE, "duration_ns": 60 * 10**9, "allowed": 100} | changes
    values = (attempt, asked["size"], asked["duration_ns"], asked["allowed"], way)
    return header(HELLO) + struct.pack(">IIQIB3x32s", *values, name)


def data(packet: int, chunk: int, size: int = SIZE, connection: int = 7) -> bytes:
    return (header(DATA, connection) + struct.pack(">QQ", packet, chunk)).ljust(size, b"\0")


def ack(largest: int, *ranges: tuple[int, int]) -> bytes:
    """Each range is a gap below the one before, less one, and a length, less one."""
    body = b"".join(struct.pack(">HH", *one) for one in ranges)
    return header(ACK) + struct.pack(">QQH10x", 0, largest, len(ranges)) + body


def welcomed(peer: socket.socket) -> None:
    peer.send(hello())
    assert peer.recv(2000) == header(WELCOME) + struct.pack(">I", 0)


def acked(peer: socket.socket) -> list[tuple[int, ...]]:
    """The ranges of the ACK that comes, first and last."""
    found = peer.recv(2000)
    assert found[4] == ACK
    (above,) = struct.unpack(">Q", found[24:32])
    ranges: list[tuple[int, ...]] = []
    for gap, length in struct.iter_unpack(">HH", found[44:]):
        last = above - gap - (2 if ranges else 0)
        above = last - length
        ranges.append((above, last))
    return ranges


def served(server: Server) -> dict[str, Any]:
    """The server's record of the flow."""
    return record(server.stop(), "h")


def test_what_a_sender_cannot_send_is_ignored_and_counted(
    server: Server, peer: socket.socket
) -> None:
    """Wrong length, no such connection, numbers from nowhere, an ACK to a receiver. What makes
    sense before and after is acknowledged, and payload that came twice is counted once."""
    welcomed(peer)
    peer.send(data(0, 0))
    nonsense = [data(1, 1, SIZE - 1), data(1, 1, connection=8), data(1 << 40, 1), data(1, 1 << 40)]
    nonsense += [ack(0, (0, 0)), header(WELCOME) + bytes(4), header(9), b"x", b"", header(DATA)]
    for one in nonsense:
        peer.send(one)
    peer.send(data(1, 0))
    assert acked(peer) == [(0, 1)]
    peer.send(data(3, 1))
    assert acked(peer) == [(3, 3), (0, 1)]
    found = served(server)
    assert found["ignored"] == len(nonsense)
    assert found["bytes"] == 2 * (SIZE - 32) and found["segments"] == 3


def test_an_ack_of_what_was_never_sent_is_ignored(server: Server, peer: socket.socket) -> None:
    """The server sends its first window of ten, and more only after an ACK that can be true."""
    peer.send(hello(way=DOWN))
    assert peer.recv(2000)[4] == WELCOME
    first = [peer.recv(2000) for _ in range(10)]
    assert [struct.unpack(">QQ", one[16:32]) for one in first] == [(n, n) for n in range(10)]
    peer.settimeout(0.3)
    bad = [ack(10, (0, 10)), ack(9), ack(4, (0, 5)), ack(9, (0, 1), (7, 0)), hello(size=1)]
    bad += [ack(1, (0, 1)) + b"x"]
    for one in bad:
        peer.send(one)
    with pytest.raises(TimeoutError):
        peer.recv(2000)
    peer.send(ack(9, (0, 9)))
    peer.settimeout(5)
    assert struct.unpack(">QQ", peer.recv(2000)[16:32]) == (10, 10)
    found = served(server)
    assert found["ignored"] == len(bad) and found["bytes"] == 10 * (SIZE - 32)


def test_a_hello_begins_one_flow(server: Server, peer: socket.socket) -> None:
    """However often it is said; it is answered each time. One that makes no sense begins none."""
    for one in (hello(size=10), hello(allowed=0), hello(way=2), hello(name=b'"'), hello()[:-1]):
        peer.send(one)
    for attempt in range(3):
        peer.send(hello(attempt))
        assert peer.recv(2000) == header(WELCOME) + struct.pack(">I", attempt)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.sendto(hello(), ("127.0.0.1", server.port))  # the same connection from elsewhere
        other.sendto(data(0, 0), ("127.0.0.1", server.port))
        other.settimeout(0.3)
        with pytest.raises(TimeoutError):
            other.recv(2000)
    peer.send(data(0, 0))
    assert acked(peer) == [(0, 0)]
    assert [entry["event"] for entry in server.stop()].count("flow") == 1
    assert server.process.stderr is not None
    assert "7 datagrams of no known flow were ignored" in server.process.stderr.read()


def test_a_client_hears_its_server_only() -> None:
    """Answers of another connection, or to a hello that was never said, do not begin the flow."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ours:
        ours.bind(("127.0.0.1", 0))
        ours.settimeout(5)
        words = [str(FLOWGEN), "quic", "--id", "q", "--host", "127.0.0.1", "--dir", "up"]
        words += ["--port", str(ours.getsockname()[1]), "--seconds", "0.5", "--bytes", str(SIZE)]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as client:
            said, where = ours.recvfrom(2000)
            connection = struct.unpack(">Q", said[8:16])[0]
            assert said[:16] == header(HELLO, connection) and len(said) == 72
            assert struct.unpack(">IIQI", said[16:36])[:2] == (0, SIZE)
            for bad in (header(WELCOME, connection ^ 1) + bytes(4), data(0, 0, 300, connection)):
                ours.sendto(bad, where)
            ours.sendto(header(WELCOME, connection) + struct.pack(">I", 1), where)
            ours.sendto(header(WELCOME, connection) + bytes(4), where)
            assert ours.recv(2000) == data(0, 0, 300, connection)
            assert client.stdout is not None
            found = record([json.loads(line) for line in client.stdout], "q")
    assert found["ignored"] == 3 and found["bytes"] == 0 and found["error"] is None
