# SPDX-License-Identifier: GPL-2.0-only
"""flowgen over the loopback: what it reports adds up, and mistakes cost one line.

What takes time is in test_flowgen_time.py, where time is virtual.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
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


class Server:
    """A running `flowgen serve` and what it writes."""

    def __init__(self, out: Path, *words: str) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.out = out
        command = [str(FLOWGEN), "serve", "--port", str(self.port), "--out", str(out), *words]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        self._wait_until_it_listens()

    def _wait_until_it_listens(self) -> None:
        while self.process.poll() is None:
            with socket.socket() as probe:
                if not probe.connect_ex(("127.0.0.1", self.port)):
                    return
            time.sleep(0.02)
        raise AssertionError("flowgen serve does not listen")

    def client(self, command: str, *words: str) -> list[str]:
        """The words of a client of this server."""
        host = ["--host", "127.0.0.1", "--port", str(self.port)]
        return [str(FLOWGEN), command, *host, *words]

    def run(self, *words: str) -> list[dict[str, Any]]:
        """Run one flow to its end; the client's lines."""
        return lines(execute(self.client("run", *words)).stdout)

    def open_files(self) -> int:
        """How many file descriptors the server has."""
        return len(list(Path(f"/proc/{self.process.pid}/fd").iterdir()))

    def stop(self) -> list[dict[str, Any]]:
        """End the server with SIGTERM; its lines."""
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait() == 0
        return lines(self.out.read_text())


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """A server that samples ten times a second."""
    running = Server(tmp_path / "server.jsonl", "--interval", "0.1")
    yield running
    running.process.kill()
    running.process.wait()


def execute(command: list[str], status: int = 0) -> subprocess.CompletedProcess[str]:
    """Run a command that must end with `status` and, if that is not 0, one line of reason."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stderr
    assert len(done.stderr.splitlines()) == (1 if status else 0), done.stderr
    return done


def lines(text: str) -> list[dict[str, Any]]:
    """JSON lines."""
    return [json.loads(line) for line in text.splitlines()]


def record(entries: list[dict[str, Any]], name: str) -> dict[str, Any]:
    """The one "flow" line of a flow."""
    (found,) = (entry for entry in entries if entry["id"] == name and entry["event"] == "flow")
    return found


@pytest.mark.parametrize("direction", ["up", "down"])
def test_sized_flow_arrives_whole(server: Server, direction: str) -> None:
    """Both ends agree on the bytes and on the order of events."""
    words = ["--id", "f", "--dir", direction, "--bytes", "3M"]
    client = record(server.run(*words), "f")
    other = record(server.stop(), "f")
    assert {client["side"], other["side"]} == {"sender", "receiver"}
    assert client["side"] == ("sender" if direction == "up" else "receiver")
    for end in (client, other):
        assert end["bytes"] == 3_000_000
        assert end["error"] is None
        assert end["dir"] == direction
        assert end["start_s"] <= end["connected_s"] <= end["first_byte_s"] <= end["end_s"]
        assert (end["retrans"] is None) == (end["side"] == "receiver")
    assert client["start_s"] <= other["start_s"]


def test_a_receiver_may_close_with_the_last_byte(server: Server) -> None:
    """The sender's turn ends with its last byte. Before this was cured, one of forty failed."""
    turn = 16 * 65536
    for _ in range(150):
        sent = server.run("--id", "turn", "--dir", "up", "--bytes", str(turn))
        assert record(sent, "turn")["error"] is None


@pytest.mark.parametrize(
    "line",
    [
        "t1 down 9000",
        "t1 down 9000 0.5 more",
        "t1 sideways 9000 0.5",
        "t1 down 0 0.5",
        "t1 down -1 0.5",
        "t1 down 9k 0.5",
        "t1 down 9000 -0.5",
        "t1 down 9000 nan",
        't" down 9000 0.5',
        f"{'t' * 33} down 9000 0.5",
        "",
    ],
)
def test_a_line_that_is_no_arrival_starts_nothing(
    server: Server, tmp_path: Path, line: str
) -> None:
    """Exit 1 and one line with its number; the good line before it is not begun."""
    listed = tmp_path / "arrivals"
    listed.write_text(f"t0 up 1000 0\n{line}\n")
    done = execute(server.client("run", "--list", str(listed)), status=1)
    assert "arrivals line 2: expected ID up|down BYTES OFFSET" in done.stderr
    assert done.stdout == "" and server.stop() == []


def test_a_list_must_exist_and_say_something(tmp_path: Path) -> None:
    """No file and an empty file: one line each."""
    words = [str(FLOWGEN), "run", "--host", "127.0.0.1", "--port", "9", "--list"]
    assert "No such file" in execute([*words, str(tmp_path / "none")], status=1).stderr
    empty = tmp_path / "empty"
    empty.touch()
    assert "has no arrivals" in execute([*words, str(empty)], status=1).stderr


def test_server_survives_more_connections_than_it_can_have(server: Server) -> None:
    """It may have 16 files. What is too much is refused; a flow that comes later is served."""
    resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (16, 16))
    idle = server.open_files()
    with contextlib.ExitStack() as stack:
        for _ in range(30):
            address = ("127.0.0.1", server.port)
            last = stack.enter_context(socket.create_connection(address, timeout=60))
        assert last.recv(1) == b""  # refused; all before it were accepted or refused
        assert server.process.poll() is None
    while server.open_files() > idle:  # a full server refuses the next flow, too
        time.sleep(0.02)
    (sent,) = (
        entry
        for entry in server.run("--id", "f", "--dir", "up", "--bytes", "1k")
        if "bytes" in entry
    )
    assert sent["bytes"] == 1000
    assert [entry["id"] for entry in server.stop()][-1] == "f"


def test_server_survives_nonsense(server: Server) -> None:
    """A connection that asks for nothing valid is closed; flows go on."""
    for nonsense in (b"GET / HTTP/1.0\r\n\r\n" * 10, b"", b"flow"):
        with socket.create_connection(("127.0.0.1", server.port)) as connection:
            with contextlib.suppress(ConnectionResetError, BrokenPipeError):
                connection.sendall(nonsense)
            with contextlib.suppress(OSError):  # ENOTCONN after a reset
                connection.shutdown(socket.SHUT_WR)
            with contextlib.suppress(ConnectionResetError):
                assert connection.recv(1) == b""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
        datagrams.sendto(b"puls" + b"\xff" * 60, ("127.0.0.1", server.port))
        datagrams.sendto(b"", ("127.0.0.1", server.port))
    record(server.run("--id", "f", "--dir", "down", "--bytes", "1k"), "f")
    assert [entry["id"] for entry in server.stop()] == ["f"]


def datagram(sequence: int, frame: int, count: int = 6, echo: int = 0, turned_ns: int = 0) -> bytes:
    """One of the pulse "p", as tools/flowgen/pulse.h has it, sent at time 0."""
    header = struct.pack(">IIIIHHQQ", 0x70756C73, sequence, count, 1, frame, echo, 0, turned_ns)
    return header + b"p" * 100


def test_a_frame_that_is_not_whole_is_lost(server: Server) -> None:
    """Of frames 0, 1 and 2 with two datagrams each, the second one of frame 1 never comes. A frame
    of no datagrams is none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        for sequence, frame in ((0, 2), (1, 2), (2, 2), (3, 0), (4, 2), (5, 2)):
            sender.sendto(datagram(sequence, frame), ("127.0.0.1", server.port))
        question = datagram(0, 1, echo=1).replace(b"p" * 100, b"q" * 100)
        sender.sendto(question, ("127.0.0.1", server.port))
        sender.settimeout(60)
        sender.recv(1000)  # the server has read what came before the question
    found = [entry for entry in server.stop() if entry["id"] == "p"]
    assert sum(len(entry["us"]) for entry in found if entry["event"] == "delays") == 2
    assert record(found, "p")["bytes"] == 5 * len(datagram(0, 2))


def test_only_a_question_is_answered(server: Server) -> None:
    """What was sent back comes back as it was, but marked; so two servers cannot go on for ever.
    The server has counted and timed the question."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.settimeout(5)
        before_ns = time.monotonic_ns()
        for sequence, echo in enumerate((2, 3, 1)):
            sender.sendto(datagram(sequence, 1, echo=echo), ("127.0.0.1", server.port))
        answer = sender.recv(1000)
        turned_ns = int.from_bytes(answer[28:36], "big")
        assert answer == datagram(2, 1, echo=2, turned_ns=turned_ns)
        assert before_ns <= turned_ns <= time.monotonic_ns()
        sender.setblocking(False)
        with pytest.raises(BlockingIOError):
            sender.recv(1000)
    found = server.stop()
    assert {(entry["id"], entry["side"]) for entry in found} == {("p", "turn")}
    assert record(found, "p")["bytes"] == len(datagram(2, 1))


@pytest.mark.parametrize("text", ["a down 9 -\n", "a down 9\n", "a down 9 0 x\n", "a down 9 nan\n"])
def test_a_line_of_no_page_starts_nothing(tmp_path: Path, text: str) -> None:
    listed = tmp_path / "pages"
    listed.write_text(text)
    words = [str(FLOWGEN), "run", "--host", "127.0.0.1", "--port", "9", "--pages", str(listed)]
    assert "line 1: expected ID up|down BYTES THINK" in execute(words, status=1).stderr
    listed.write_text("")
    assert "has no pages" in execute(words, status=1).stderr


def test_a_line_of_no_spurt_starts_nothing(tmp_path: Path) -> None:
    spurts = tmp_path / "spurts"
    words = [*PULSE, "--every", "0.05", "--bytes", "100", "--bursts", str(spurts)]
    for text in ("0.6 1\n0.1 2\n", "0.1 0\n", "0.1 -\n", "0.1 -5\n", "x 1\n"):
        spurts.write_text(text)
        refused = execute([str(FLOWGEN), *words], status=1).stderr
        assert "expected OFFSET COUNT, rising" in refused
    spurts.write_text("0.1 4294968\n")  # times 1000 it is more than 32 bits hold
    many = [str(FLOWGEN), *words, "--datagrams", "1000"]
    assert "line 1: more than 4294967 frames" in execute(many, status=1).stderr


RUN = ["run", "--id", "f", "--host", "127.0.0.1", "--port", "9", "--dir", "up"]
QUIC = ["quic", "--id", "q", "--host", "127.0.0.1", "--port", "9", "--dir", "up"]
PULSE = ["pulse", "--id", "p", "--host", "127.0.0.1", "--port", "9"]
MISUSE = [
    ([], "serve, run, pulse, quic or tap"),
    (["walk"], "walk is not a command"),
    (["serve"], "needs --port"),
    (["tap"], "needs --dev"),
    (QUIC[:-2], "quic needs --dir"),
    (QUIC, "quic needs --seconds"),
    ([*QUIC, "--seconds", "1", "--dir", "left"], "--dir left"),
    ([*QUIC, "--seconds", "1", "--bytes", "255"], "--bytes 255"),
    ([*QUIC, "--seconds", "1", "--window", "0"], "--window 0"),
    ([*QUIC, "--seconds", "1", "--cc", "reno"], "quic takes no --cc"),
    (
        [*PULSE, "--count", "1", "--every", "1", "--bytes", "64", "--echo", "--datagrams", "2"],
        "leave out --datagrams",
    ),
    ([*PULSE, "--count", "1", "--every", "1", "--bytes", "64", "--datagrams", "0"], "--datagrams"),
    (["tap", "--dev", "lo", "--port", "9"], "tap takes no --port"),
    (["serve", "--port", "70000"], "--port 70000"),
    (["serve", "--port"], "--port needs a value"),
    (["serve", "--port", "1", "--dev", "lo"], "serve takes no --dev"),
    (["serve", "--port", "1", "--seconds", "1"], "serve takes no --seconds"),
    ([*RUN], "either --seconds or --bytes"),
    ([*RUN, "--seconds", "1", "--bytes", "1"], "either --seconds or --bytes"),
    ([*RUN, "--seconds", "0"], "--seconds 0"),
    ([*RUN, "--seconds", "nan"], "--seconds nan"),
    ([*RUN, "--seconds", "4s"], "--seconds 4s"),
    ([*RUN, "--bytes", "-1"], "--bytes -1"),
    ([*RUN, "--bytes", "99999999999G"], "--bytes 99999999999G"),
    ([*RUN, "--bytes", "1", "--dir", "left"], "--dir left"),
    ([*RUN, "--bytes", "1", "--id", 'a"b'], '--id a"b'),
    ([*RUN, "--bytes", "1", "--id", "x" * 33], "--id xxx"),
    ([*RUN, "--bytes", "1", "more"], "more"),
    ([*RUN, "--list", "file"], "--list and --pages say what --id"),
    ([*PULSE, "--list", "file"], "pulse takes no --list"),
    (["run", "--host", "h", "--port", "9", "--list", "a", "--pages", "b"], "--list or --pages"),
    ([*PULSE, "--every", "1", "--bytes", "64"], "either --count or --bursts"),
    ([*RUN, "--bytes", "1", "--fast"], "--fast is not an option"),
    ([*RUN, "--bytes", "1", "-x"], "-x is not an option"),
    ([*PULSE, "--count", "5", "--every", "1", "--bytes", "16"], "--bytes 16"),
    ([*PULSE, "--count", "0", "--every", "1", "--bytes", "160"], "--count 0"),
    ([*RUN, "--bytes", "1", "--dscp", "64"], "--dscp 64: give a whole number from 0 to 63"),
    ([*QUIC, "--seconds", "1", "--dscp", "46"], "quic takes no --dscp"),
]


@contextlib.contextmanager
def sniffed(port: int) -> Iterator[set[tuple[str, int, int]]]:
    """What goes to and from a port of the loopback: protocol, whether to the port, DS field."""
    seen: set[tuple[str, int, int]] = set()
    with socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x0003)) as packets:
        packets.bind(("lo", 0))
        packets.settimeout(0.2)
        yield seen
        with contextlib.suppress(TimeoutError):
            while True:
                packet = packets.recv(65535)
                transport = packet[(packet[0] & 15) * 4 :]
                ports = struct.unpack("!HH", transport[:4])
                if port in ports and (protocol := {6: "tcp", 17: "udp"}.get(packet[9])):
                    seen.add((protocol, ports.index(port), packet[1]))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may listen to the loopback")
@pytest.mark.parametrize(("direction", "marked"), [("up", 1), ("down", 0)])
def test_the_sender_of_data_is_marked(server: Server, direction: str, marked: int) -> None:
    """EF is 46 (RFC 3246), so the DS field is 184; ECN is left alone. What comes back is not
    marked, nor is what the kernel of a server sends before it knows."""
    with sniffed(server.port) as seen:
        server.run("--id", "f", "--dir", direction, "--bytes", "100k", "--dscp", "46")
    assert seen - {("tcp", marked, 0)} == {("tcp", marked, 184), ("tcp", 1 - marked, 0)}


def test_datagrams_are_marked_if_asked() -> None:
    """CS6 is 48 (RFC 2474)."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
        receiver.bind(("127.0.0.1", 0))
        receiver.setsockopt(socket.IPPROTO_IP, socket.IP_RECVTOS, 1)
        receiver.settimeout(5)
        there = ["--host", "127.0.0.1", "--port", str(receiver.getsockname()[1])]
        words = ["--id", "p", "--count", "1", "--every", "1", "--bytes", "100"]
        for more, field in (((), 0), (("--dscp", "48"), 192)):
            execute([str(FLOWGEN), "pulse", *there, *words, *more])
            _, ((level, kind, told),), _, _ = receiver.recvmsg(2000, 64)
            assert (level, kind, told[0]) == (socket.IPPROTO_IP, socket.IP_TOS, field)


@pytest.mark.parametrize(("words", "reason"), MISUSE)
def test_misuse_is_one_line(words: list[str], reason: str) -> None:
    """Bad usage: exit 2 and one line that names the culprit."""
    assert reason in execute([str(FLOWGEN), *words], status=2).stderr


def test_failures_are_one_line(server: Server, tmp_path: Path) -> None:
    """What goes wrong later: exit 1, one line, and the flow's record says why."""
    refused = execute([str(FLOWGEN), *RUN, "--bytes", "1"], status=1)
    assert "Connection refused" in refused.stderr
    assert "Connection refused" in record(lines(refused.stdout), "f")["error"]
    refused = execute([str(FLOWGEN), *QUIC, "--seconds", "5"], status=1)
    assert "flow q: cannot connect: Connection refused" in refused.stderr
    words = ["--id", "f", "--dir", "up", "--bytes", "1", "--cc", "nonesuch"]
    assert "congestion control" in execute(server.client("run", *words), status=1).stderr
    assert "device nonesuch" in execute([str(FLOWGEN), "tap", "--dev", "nonesuch"], status=1).stderr
    again = [str(FLOWGEN), "serve", "--port", str(server.port)]
    assert "Address already in use" in execute(again, status=1).stderr
    nowhere = str(tmp_path / "no" / "file")
    words = ["--id", "f", "--dir", "up", "--bytes", "1", "--out", nowhere]
    assert "No such file" in execute(server.client("run", *words), status=1).stderr


def test_help_has_examples() -> None:
    """--help goes to standard output."""
    for words in (["--help"], ["-h"], ["run", "--help"]):
        assert "Examples:" in execute([str(FLOWGEN), *words]).stdout
