# SPDX-License-Identifier: GPL-2.0-only
"""A session on one node: orders go to testbed/guest/node.sh by ssh, answers come back.

Principle: a node may be broken or hostile. What it says is bounded, parsed strictly and cleaned
before anybody sees it; the names of files are ours alone. ssh is the system's own, asks nobody
anything (BatchMode) and talks only to hosts it knows (StrictHostKeyChecking).
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import select
import shlex
import subprocess
import tarfile
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from apbed.checkout import GUEST
from apbed.errors import ApbedError
from apbed.grid.file import Grid, Node

SCRIPT = GUEST / "node.sh"
HEADER = re.compile(rb"= (\d{1,3}) (\d{1,12})\n")
HEADER_MAX = 24  # bytes
SAID_MAX = 2**20  # bytes of an answer
CONNECT_S = 10
ORDER_S = 30.0  # an answer may take so long
UPLOAD_S = 120.0
RENEW_S = 1.0
POLL_S = 0.2
CHUNK = 2**16
ENDED = "the connection ended"


class NodeError(ApbedError):
    """What a node refused, in one line that names it."""


class NodeLostError(NodeError):
    """A node no longer answers."""


class Interrupted(Exception):  # noqa: N818 - no error: somebody wants the run to end
    """The campaign is to end."""


def ssh_words(grid: Grid, node: Node, command: str) -> list[str]:
    """The ssh command line that runs a shell command on a node."""
    options = ["BatchMode=yes", "StrictHostKeyChecking=yes", f"ConnectTimeout={CONNECT_S}"]
    options += ["ServerAliveInterval=5", "ServerAliveCountMax=3", "ClearAllForwardings=yes"]
    options += ["ForwardAgent=no", "LogLevel=ERROR"]
    words = ["ssh", "-T", "-x"]
    words += ["-F", str(grid.ssh_config)] if grid.ssh_config else []
    words += [word for option in options for word in ("-o", option)]
    # The configuration file has its say where the grid file has none.
    words += ["-p", str(node.port)] if node.port != 22 else []
    return [*words, "-l", node.user, "--", node.host, command]


def clean(said: bytes | str, limit: int = 200) -> str:
    """What a node said as one line without control characters, for people."""
    text = said.decode(errors="replace") if isinstance(said, bytes) else said
    line = next((line.strip() for line in text.splitlines() if line.strip()), "nothing")
    return "".join(c if c.isprintable() else "?" for c in line)[:limit]


def refusal(node: Node, complaint: bytes) -> str:
    """Why ssh gave up (status 255), in one line. Of a changed key its own first line is a frame.

    When the other end falls silent, ssh gives up without a word (at LogLevel ERROR).
    """
    if not complaint.strip():
        return ENDED
    if b"Host key verification failed" not in complaint:
        return clean(complaint)
    port = f"-p {node.port} " if node.port != 22 else ""
    return (
        "ssh does not know its host key, or knows another one; find out why with "
        f"`ssh {port}{node.user}@{node.host}`"
    )


def ask(grid: Grid, node: Node, command: str) -> str:
    """What one command says, without a session; NodeLostError or NodeError if it fails."""
    process = subprocess.Popen(
        ssh_words(grid, node, command),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    where = f"{node.name} ({node.host})"
    try:
        assert process.stdout is not None and process.stderr is not None
        said = _bounded(process.stdout.fileno(), where)
        complaint = _bounded(process.stderr.fileno(), where)
        process.wait(ORDER_S)
    except subprocess.TimeoutExpired:
        raise NodeLostError(f"{where}: no answer in {ORDER_S:.0f} s") from None
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdout, process.stderr):
            if stream:
                stream.close()
    if process.returncode == 255:
        raise NodeLostError(f"{where}: {refusal(node, complaint)}")
    if process.returncode:
        raise NodeError(f"{where}: {clean(complaint or said)}")
    return said.decode(errors="replace")


def _bounded(descriptor: int, where: str) -> bytes:
    """All that comes until the end; NodeError if that is too much or takes too long."""
    said = bytearray()
    until = time.monotonic() + ORDER_S
    while select.select([descriptor], [], [], max(0.0, until - time.monotonic()))[0]:
        if not (chunk := os.read(descriptor, CHUNK)):
            return bytes(said)
        said += chunk
        if len(said) > SAID_MAX:
            raise NodeError(f"{where}: said more than {SAID_MAX} bytes")
    raise NodeLostError(f"{where}: no answer in {ORDER_S:.0f} s")


class Session:
    """One node as long as a run lasts; closing it puts the node back."""

    def __init__(self, grid: Grid, node: Node, log: Path, cancel: threading.Event) -> None:
        self.grid, self.node, self.cancel = grid, node, cancel
        self.lost: str | None = None  # why the node no longer answers
        self._beaten = 0.0  # when the lease was last renewed
        self._log = log.open("a", buffering=1, errors="replace")
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def open(self) -> None:
        """Connect, and take the node; NodeError if another session has it."""
        words = ["sh", "-c", SCRIPT.read_text(), "node.sh"]
        words += [self.grid.directory, str(self.grid.lease_s)]
        self._process = subprocess.Popen(
            ssh_words(self.grid, self.node, shlex.join(words)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log.fileno(),
            bufsize=0,
            start_new_session=True,  # Ctrl-C is for apbed, which then puts the node back
        )
        with self._lock:
            status, said = self._answer(CONNECT_S + ORDER_S)
        if status:
            self.end()
            raise NodeError(f"{self.node.name} ({self.node.host}): {clean(said)}")

    def retry(self) -> None:
        """Forget a connection that failed, to `open` another."""
        self._disconnect()
        self.lost = None

    def upload(self, files: Mapping[str, bytes]) -> None:
        """Files by their names below DIRECTORY/files. Their contents are written nowhere else."""
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
            for name, content in files.items():
                entry = tarfile.TarInfo(name)
                entry.size, entry.mode = len(content), 0o700
                archive.addfile(entry, io.BytesIO(content))
        command = f"tar -x -f - -C {shlex.quote(self.path('files'))}"
        try:
            done = subprocess.run(
                ssh_words(self.grid, self.node, command),
                input=packed.getvalue(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                timeout=UPLOAD_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise self._lose(f"the upload took more than {UPLOAD_S:.0f} s") from None
        if done.returncode == 255:
            raise self._lose(refusal(self.node, done.stderr))
        if done.returncode:
            raise NodeError(f"{self.node.name}: upload failed: {clean(done.stderr)}")

    def path(self, name: str) -> str:
        """Where the node has a file of the session."""
        return f"{self.grid.directory}/{name}"

    def pause(self, seconds: float) -> None:
        """Wait; Interrupted if the campaign is to end."""
        if self.cancel.wait(seconds):
            raise Interrupted

    def check(self) -> None:
        """NodeLostError if the node was found to be lost meanwhile."""
        if self.lost:
            raise NodeLostError(f"{self.node.name} ({self.node.host}): {self.lost}")

    def beat(self) -> None:
        """Renew the lease, unless an order is under way."""
        if self.lost or not self._lock.acquire(blocking=False):
            return
        try:
            self._renew()
        finally:
            self._lock.release()

    def run(self, words: Sequence[str], tc_lib_dir: str = "") -> str:
        """What a command says; NodeError with its first line if it fails."""
        before = f"TC_LIB_DIR={shlex.quote(tc_lib_dir)} " if tc_lib_dir else ""
        return self.shell(before + shlex.join(words))

    def shell(self, command: str) -> str:
        """The same for a line of shell."""
        status, said = self.attempt(command)
        if status:
            raise NodeError(f"{self.node.name}: `{command}` failed: {clean(said)}")
        return said.decode(errors="replace")

    def attempt(self, command: str) -> tuple[int, bytes]:
        """Status and output of a line of shell whose failure is no error."""
        return self.order(f"run {command}")

    def start(self, name: str, words: Sequence[str]) -> None:
        """Start a program that runs until `stop`; its output is DIRECTORY/out/NAME.log."""
        status, said = self.order(f"start {name} {shlex.join(words)}")
        if status:
            raise NodeError(f"{self.node.name}: {name}: {clean(said)}")

    def stop(self, name: str) -> int:
        """End a program; its exit status."""
        return self.order(f"stop {name}")[0]

    def fetch(self, name: str, limit: int, target: Path) -> None:
        """Copy DIRECTORY/out/NAME to a file here; NodeError if it has more than `limit` bytes."""
        with self._lock, target.open("wb") as sink:
            self._send(f"fetch {limit} {self.path('out')}/{name}")
            status, size = self._header(ORDER_S)
            if size > limit:
                raise self._lose(f"sent {size} bytes of {name}; expected at most {limit}")
            said = bytearray()
            while size:
                chunk = self._read(min(size, CHUNK), ORDER_S)
                size -= len(chunk)
                sink.write(chunk)
                said += chunk[: 200 - len(said)] if len(said) < 200 else b""
        if status:
            target.unlink()
            raise NodeError(f"{self.node.name}: {name}: {clean(bytes(said))}")

    def order(self, line: str) -> tuple[int, bytes]:
        """Send an order and return status and answer; NodeLostError if none comes."""
        self.pause(0.0)
        with self._lock:
            if time.monotonic() - self._beaten > RENEW_S:  # orders may leave beats no time
                self._renew()
            self._log.write(f"{time.strftime('%H:%M:%S')} {line}\n")
            status, said = self._order(line)
            if status or said:
                self._log.write(f"  {status}: {clean(said, 1000)}\n")
            return status, said

    def close(self) -> str | None:
        """Put the node back; None, or one line that says what could not be put back."""
        try:
            with self._lock:
                self.cancel = threading.Event()  # who interrupts waits for this
                status, said = self._order("quit", 4 * ORDER_S)
        except NodeLostError as error:
            return str(error)
        finally:
            self.end()
        return f"{self.node.name}: not put back: {clean(said)}" if status else None

    def end(self) -> None:
        """End the connection; a node that still runs then puts itself back."""
        self._disconnect()
        self._log.close()

    def _disconnect(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None and process.stdout is not None
        with contextlib.suppress(OSError):
            process.stdin.close()
        try:
            process.wait(2.0)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()

    def _renew(self) -> None:
        self._beaten = time.monotonic()
        self._order("beat")

    def _order(self, line: str, limit_s: float = ORDER_S) -> tuple[int, bytes]:
        self._send(line)
        return self._answer(limit_s)

    def _send(self, line: str) -> None:
        if self._process is None:
            self.lost = self.lost or "the connection is closed"
        self.check()
        assert self._process is not None
        if "\n" in line:
            raise AssertionError("an order is one line")
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line.encode() + b"\n")
        except OSError:
            raise self._lose(ENDED) from None

    def _answer(self, limit_s: float) -> tuple[int, bytes]:
        status, size = self._header(limit_s)
        if size > SAID_MAX:
            raise self._lose(f"sent {size} bytes; expected at most {SAID_MAX}")
        said = b""
        while len(said) < size:
            said += self._read(size - len(said), limit_s)
        return status, said

    def _header(self, limit_s: float) -> tuple[int, int]:
        line = b""
        while not line.endswith(b"\n") and len(line) < HEADER_MAX:
            line += self._read(1, limit_s)
        found = HEADER.fullmatch(line)
        if not found:
            raise self._lose(f"said {clean(line)!r}, not an answer; its shell must print nothing")
        return int(found[1]), int(found[2])

    def _read(self, size: int, limit_s: float) -> bytes:
        assert self._process is not None and self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        until = time.monotonic() + limit_s
        while not select.select([descriptor], [], [], POLL_S)[0]:
            if self.cancel.is_set():
                self.lost = "interrupted"
                raise Interrupted
            if time.monotonic() > until:
                raise self._lose(f"no answer in {limit_s:.0f} s")
        if not (found := os.read(descriptor, size)):
            raise self._lose(ENDED)
        return found

    def _lose(self, why: str) -> NodeLostError:
        self.lost = why
        self._log.write(f"lost: {why}\n")
        return NodeLostError(f"{self.node.name} ({self.node.host}): {why}")
