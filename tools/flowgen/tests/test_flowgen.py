# SPDX-License-Identifier: GPL-2.0-only
"""flowgen over the loopback: what it reports adds up, ends in time, and never polls."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

FLOWGEN = Path(__file__).resolve().parents[3] / "build" / "bin" / "flowgen"
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


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
        for _ in range(200):
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

    def stop(self) -> list[dict[str, Any]]:
        """End the server with SIGTERM; its lines."""
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(5) == 0
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
    done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
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


def samples(entries: list[dict[str, Any]], name: str) -> list[tuple[float, int]]:
    """Time and bytes of a flow's samples."""
    found = (entry for entry in entries if entry["id"] == name and entry["event"] == "sample")
    return [(entry["t_s"], entry["bytes"]) for entry in found]


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


@pytest.mark.parametrize("direction", ["up", "down"])
def test_timed_flow_ends_at_both_ends(server: Server, direction: str) -> None:
    """The flow lasts what was asked, and the receiver's samples lead to its total."""
    words = ["--id", "f", "--dir", direction, "--seconds", "0.95", "--interval", "0.1"]
    ours = server.run(*words)
    theirs = server.stop()
    client, other = record(ours, "f"), record(theirs, "f")
    assert client["end_s"] - client["start_s"] == pytest.approx(0.95, abs=0.1)
    assert other["end_s"] == pytest.approx(client["end_s"], abs=0.1)
    receiving, sender = (theirs, client) if direction == "up" else (ours, other)
    receiver = record(receiving, "f")
    series = samples(receiving, "f")
    # a loaded machine may wake it late; then a multiple of the interval is left out
    assert 6 <= len(series) <= 9
    late = sorted((moment - receiver["start_s"]) % 0.1 for moment, _ in series)
    assert late[len(late) // 2] < 0.02
    counts = [count for _, count in series]
    assert counts[0] > 0 and counts == sorted(counts) and counts[-1] <= receiver["bytes"]
    # the reset loses what was received and not read, and acknowledgements on their way
    assert sender["bytes"] == pytest.approx(receiver["bytes"], rel=0.05)


def test_flow_starts_when_told(server: Server) -> None:
    """--start-at is a moment of CLOCK_MONOTONIC."""
    moment = time.monotonic() + 0.4
    words = ["--id", "f", "--dir", "down", "--bytes", "1k", "--start-at", f"{moment:.9f}"]
    flow = record(server.run(*words), "f")
    assert moment <= flow["start_s"] <= moment + 0.05


def test_one_server_serves_many_flows_at_once(server: Server) -> None:
    """Thirty flows of both kinds and directions, at the same time."""
    clients = []
    for number in range(30):
        size = ["--seconds", "0.5"] if number % 3 else ["--bytes", "200k"]
        words = ["--id", f"f{number}", "--dir", ("up", "down")[number % 2], *size]
        command = server.client("run", *words)
        clients.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
    for client in clients:
        client.communicate(timeout=20)
        assert client.returncode == 0
    entries = server.stop()
    for number in range(30):
        flow = record(entries, f"f{number}")
        assert flow["error"] is None
        assert flow["bytes"] > 0 if number % 3 else flow["bytes"] == 200_000


def test_one_process_makes_all_listed_flows(server: Server, tmp_path: Path) -> None:
    """A hundred arrivals of both directions: each at its time, whole, with both ends' records."""
    arrivals = [
        (f"t{number}", ("up", "down")[number % 2], 1000 + 7 * number, number * 0.004)
        for number in range(100)
    ]
    listed = tmp_path / "arrivals"
    listed.write_text("".join(f"{i} {d} {n} {offset:.9f}\n" for i, d, n, offset in arrivals))
    origin = time.monotonic() + 0.2
    words = ["--list", str(listed), "--start-at", f"{origin:.9f}"]
    ours, theirs = server.run(*words), server.stop()
    for name, direction, size, offset in arrivals:
        client, other = record(ours, name), record(theirs, name)
        assert client["bytes"] == other["bytes"] == size
        assert client["dir"] == other["dir"] == direction
        assert client["side"] == ("sender" if direction == "up" else "receiver")
        assert client["error"] is None and client["end_s"] is not None
        assert origin + offset - 1e-6 <= client["start_s"] <= origin + offset + 0.1
    assert len(ours) == len(theirs) == len(arrivals)


def test_an_interrupted_list_reports_every_flow(server: Server, tmp_path: Path) -> None:
    """One ends, one is cut short, one had not begun: three records."""
    listed = tmp_path / "arrivals"
    listed.write_text("done down 1000 0\nshort down 1000000000000 0\nlater up 1000 60\n")
    client = subprocess.Popen(
        server.client("run", "--list", str(listed)), stdout=subprocess.PIPE, text=True
    )
    time.sleep(0.3)
    client.send_signal(signal.SIGTERM)
    entries = lines(client.communicate(timeout=5)[0])
    assert client.returncode == 0
    assert record(entries, "done")["end_s"] is not None
    assert record(entries, "short")["end_s"] is None and record(entries, "short")["bytes"] > 0
    assert record(entries, "later")["start_s"] is None


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


@pytest.mark.parametrize("direction", ["up", "down"])
@pytest.mark.parametrize("size", [("--seconds", "30"), ("--bytes", "1000G")])
def test_interrupted_flow_has_no_end(server: Server, direction: str, size: tuple[str, str]) -> None:
    """SIGTERM at the client writes what is known; the server's record follows the reset."""
    command = server.client("run", "--id", "f", "--dir", direction, *size)
    client = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    time.sleep(0.3)
    client.send_signal(signal.SIGTERM)
    text, _ = client.communicate(timeout=5)
    assert client.returncode == 0
    flow = record(lines(text), "f")
    assert flow["end_s"] is None and flow["error"] is None and flow["bytes"] > 0
    time.sleep(0.2)
    other = record(server.stop(), "f")
    assert other["bytes"] > 0 and other["error"] is None
    assert (other["end_s"] is None) == (size[0] == "--bytes")


def test_server_writes_unfinished_flows_at_sigterm(server: Server) -> None:
    """A flow cut short by the server's end has no end there and failed at the client."""
    command = server.client("run", "--id", "f", "--dir", "down", "--seconds", "30")
    client = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(0.3)
    flow = record(server.stop(), "f")
    assert flow["end_s"] is None and flow["bytes"] > 0
    text, reason = client.communicate(timeout=5)
    assert client.returncode == 1
    assert "closed by the server" in reason
    assert "closed by the server" in record(lines(text), "f")["error"]


def test_pulse_keeps_its_schedule(server: Server) -> None:
    """20 datagrams of 160 bytes, one each 20 ms, are 3200 bytes in 19 intervals."""
    words = ["--id", "p", "--count", "20", "--every", "0.02", "--bytes", "160"]
    sent = record(lines(execute(server.client("pulse", *words)).stdout), "p")
    time.sleep(0.1)
    received = record(server.stop(), "p")
    assert sent["bytes"] == received["bytes"] == 3200
    for end in (sent, received):
        assert end["end_s"] - end["first_byte_s"] == pytest.approx(19 * 0.02, abs=0.02)
        assert end["retrans"] is None and end["error"] is None


def test_the_receiver_of_a_pulse_knows_how_long_each_datagram_took(server: Server) -> None:
    """Held up for 0.3 s: of 100 datagrams that left every 10 ms the first took longest; all are
    written down once, the last of them before the flow's own line."""
    words = ["--id", "p", "--count", "100", "--every", "0.01", "--bytes", "160"]
    sender = subprocess.Popen(server.client("pulse", *words), stdout=subprocess.PIPE)
    server.process.send_signal(signal.SIGSTOP)
    time.sleep(0.3)
    server.process.send_signal(signal.SIGCONT)
    sender.communicate(timeout=5)
    time.sleep(0.1)
    entries = server.stop()
    delays = [us for entry in entries if entry["event"] == "delays" for us in entry["us"]]
    assert len(delays) == 100 and min(delays) >= 0
    assert 150_000 < max(delays[:5]) < 500_000
    assert sorted(delays)[50] < 10_000
    assert entries[-1]["event"] == "flow"


def cpu_seconds(pid: int) -> float:
    """User and system time of a process: fields 14 and 15 of /proc/PID/stat, see proc(5)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_S


def switches(pid: int) -> int:
    """Context switches of a process so far: each wake-up from a sleep makes one."""
    status = Path(f"/proc/{pid}/status").read_text().splitlines()
    return sum(int(line.split()[1]) for line in status if "ctxt_switches" in line)


def test_nothing_polls(server: Server) -> None:
    """An idle server, a waiting client and a sender whose peer does not read all sleep.

    A process that wakes without cause, however seldom, stops virtual time in the lab.
    """
    later = f"{time.monotonic() + 60:.3f}"
    words = ["--id", "w", "--dir", "up", "--seconds", "1", "--start-at", later]
    waiting = subprocess.Popen(server.client("run", *words), stdout=subprocess.PIPE)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        peer = ["--host", "127.0.0.1", "--port", str(listener.getsockname()[1])]
        words = ["--id", "s", "--dir", "up", "--seconds", "60"]
        stuck = subprocess.Popen([str(FLOWGEN), "run", *peer, *words], stdout=subprocess.PIPE)
        try:
            time.sleep(0.7)  # the stuck sender fills its window
            pids = [server.process.pid, waiting.pid, stuck.pid]
            before = [(cpu_seconds(pid), switches(pid)) for pid in pids]
            time.sleep(1.0)
            assert [(cpu_seconds(pid), switches(pid)) for pid in pids] == before
        finally:
            for process in (waiting, stuck):
                process.kill()
                process.communicate()


def test_server_survives_nonsense(server: Server) -> None:
    """A connection that asks for nothing valid is closed; flows go on."""
    for nonsense in (b"GET / HTTP/1.0\r\n\r\n" * 10, b"", b"flow"):
        with socket.create_connection(("127.0.0.1", server.port), timeout=5) as connection:
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


RUN = ["run", "--id", "f", "--host", "127.0.0.1", "--port", "9", "--dir", "up"]
PULSE = ["pulse", "--id", "p", "--host", "127.0.0.1", "--port", "9"]
MISUSE = [
    ([], "serve, run, pulse or tap"),
    (["walk"], "walk is not a command"),
    (["serve"], "needs --port"),
    (["tap"], "needs --dev"),
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
    ([*RUN, "--list", "file"], "--list says what --id"),
    ([*PULSE, "--list", "file"], "pulse takes no --list"),
    ([*RUN, "--bytes", "1", "--fast"], "--fast is not an option"),
    ([*RUN, "--bytes", "1", "-x"], "-x is not an option"),
    ([*PULSE, "--count", "5", "--every", "1", "--bytes", "16"], "--bytes 16"),
    ([*PULSE, "--count", "0", "--every", "1", "--bytes", "160"], "--count 0"),
]


@pytest.mark.parametrize(("words", "reason"), MISUSE)
def test_misuse_is_one_line(words: list[str], reason: str) -> None:
    """Bad usage: exit 2 and one line that names the culprit."""
    assert reason in execute([str(FLOWGEN), *words], status=2).stderr


def test_failures_are_one_line(server: Server, tmp_path: Path) -> None:
    """What goes wrong later: exit 1, one line, and the flow's record says why."""
    refused = execute([str(FLOWGEN), *RUN, "--bytes", "1"], status=1)
    assert "Connection refused" in refused.stderr
    assert "Connection refused" in record(lines(refused.stdout), "f")["error"]
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
