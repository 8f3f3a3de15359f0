# SPDX-License-Identifier: GPL-2.0-only
"""The session of a node without a network: a fake ssh runs the commands here, as a node would.

Nothing here changes the machine: the orders touch files of the test's own.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from apbed.grid import checks, file, measure, records
from apbed.grid.file import Grid
from apbed.grid.session import (
    Interrupted,
    NodeError,
    NodeLostError,
    Session,
    clean,
    refusal,
    ssh_words,
)
from tests.grid.test_file import GOOD

PATIENCE = 3000  # tries, 0.1 s apart
FAKE_SSH = """\
#!/bin/sh
# The command is the last word. NODE_SAYS stands for a node that is no node.
for word; do :; done
[ -z "$NODE_SAYS" ] || { printf "$NODE_SAYS"; exec sleep 60; }
exec sh -c "$word"
"""


@pytest.fixture
def grid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Grid:
    fake = tmp_path / "bin" / "ssh"
    fake.parent.mkdir()
    fake.write_text(FAKE_SSH)
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}:{os.environ['PATH']}")
    path = tmp_path / "grid.toml"
    place = str(tmp_path / "node").replace("_", "-")
    Path(place).parent.mkdir(parents=True, exist_ok=True)
    path.write_text(GOOD.replace("schema = 1", f'schema = 1\nlease_s = 5\ndirectory = "{place}"'))
    return file.load(path)


@contextlib.contextmanager
def session(grid: Grid, tmp_path: Path) -> Iterator[Session]:
    one = Session(grid, grid.nodes[2], tmp_path / "log", threading.Event())
    one.open()
    try:
        yield one
    finally:
        with contextlib.suppress(ValueError, OSError):
            one.close()


def until(condition: Callable[[], bool]) -> None:
    """Wait for what another process does; long enough for any machine."""
    for _ in range(PATIENCE):
        if condition():
            return
        time.sleep(0.1)
    pytest.fail("it never happened")


def test_a_changed_setting_is_put_back(grid: Grid, tmp_path: Path) -> None:
    setting = tmp_path / "setting"
    setting.write_text("it's 1\n")
    with session(grid, tmp_path) as one:
        one.shell(f"keep 'echo undone > {tmp_path}/first'")
        one.shell(f"keep 'cp {tmp_path}/first {tmp_path}/second'")
        problem = one.close()
    assert problem is not None
    assert problem.startswith(f"sta1: not put back: cp {tmp_path}/first {tmp_path}/second: cp:")
    assert (tmp_path / "first").read_text() == "undone\n"  # newest first, and on after a failure
    assert not Path(grid.directory).exists()


def test_the_end_of_the_connection_puts_back(grid: Grid, tmp_path: Path) -> None:
    with session(grid, tmp_path) as one:
        one.shell(f"keep 'echo undone > {tmp_path}/undone'")
        one.end()
        until(lambda: not Path(grid.directory).exists())
    assert (tmp_path / "undone").read_text() == "undone\n"


def test_silence_puts_back_when_the_lease_ends(grid: Grid, tmp_path: Path) -> None:
    with session(grid, tmp_path) as one:
        one.shell(f"keep 'echo undone > {tmp_path}/undone'")
        until(lambda: not Path(grid.directory).exists())
        with pytest.raises(NodeLostError, match="the connection ended"):
            one.shell("true")
    assert (tmp_path / "undone").exists()


def test_orders_that_leave_no_time_for_beats_keep_the_lease(grid: Grid, tmp_path: Path) -> None:
    with session(grid, tmp_path) as one:
        for _ in range(4):  # one more than fit in the lease of 5 s
            one.shell("sleep 1.5")
        assert one.close() is None


def test_programs_end_with_the_session(grid: Grid, tmp_path: Path) -> None:
    with session(grid, tmp_path) as one:
        one.start("napper", ["sleep", "1000"])
        one.start("deaf", ["sh", "-c", "trap '' TERM; while :; do sleep 1; done"])
        pids = [int(one.shell(f"echo $pid_{name}")) for name in ("napper", "deaf")]
        assert all(Path(f"/proc/{pid}").exists() for pid in pids)
        assert one.close() is None
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


def test_a_node_is_had_by_one_session(grid: Grid, tmp_path: Path) -> None:
    with session(grid, tmp_path) as one:
        other = Session(grid, grid.nodes[0], tmp_path / "log2", threading.Event())
        with pytest.raises(NodeError, match="another session uses this node"):
            other.open()
        assert one.shell("echo there") == "there"


def test_what_a_dead_session_left_is_put_back_by_the_next(grid: Grid, tmp_path: Path) -> None:
    with session(grid, tmp_path) as one:
        one.shell(f"keep 'echo undone > {tmp_path}/undone'")
        watch = one.shell("cut -d' ' -f1 watch")
        one.shell(f"kill -KILL {watch}")
        with contextlib.suppress(NodeLostError):
            one.attempt("kill -KILL $$")
    assert Path(grid.directory).exists()
    assert checks.probe(grid, grid.nodes[1], capture_s=0.0).all("stale") == [grid.directory]
    with session(grid, tmp_path):
        assert (tmp_path / "undone").exists()
        assert checks.probe(grid, grid.nodes[1], capture_s=0.0).all("busy") == [grid.directory]
    assert not Path(grid.directory).exists()


def test_files_go_up_and_come_back(grid: Grid, tmp_path: Path) -> None:
    content = bytes(range(256)) * 1000
    with session(grid, tmp_path) as one:
        one.upload({"some/file": content})
        one.shell("cp files/some/file out/file")
        one.fetch("file", len(content), tmp_path / "back")
        assert (tmp_path / "back").read_bytes() == content
        with pytest.raises(NodeError, match="has 256000 bytes"):
            one.fetch("file", len(content) - 1, tmp_path / "more")
        assert one.shell("echo there") == "there"
    assert not (tmp_path / "more").exists()


HOSTILE = {
    "Welcome to my node!\\n": "its shell must print nothing",
    "= 0 999999999999\\n": "sent 999999999999 bytes",
    "= 0 99999999999999999999999": "not an answer",
    "= -1 0\\n": "not an answer",
    "\\033[2J\\n": "said '?[2J'",
}


@pytest.mark.parametrize(("said", "why"), HOSTILE.items(), ids=HOSTILE.values())
def test_a_hostile_node(
    said: str, why: str, grid: Grid, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NODE_SAYS", said)
    one = Session(grid, grid.nodes[2], tmp_path / "log", threading.Event())
    with pytest.raises(NodeLostError) as error:
        one.open()
    one.end()
    assert why in str(error.value)
    assert str(error.value).isprintable()


def test_an_interrupted_order_ends_at_once(grid: Grid, tmp_path: Path) -> None:
    with session(grid, tmp_path) as one:
        threading.Timer(0.5, one.cancel.set).start()
        with pytest.raises(Interrupted):
            one.shell("sleep 20")
        one.end()
    until(lambda: not Path(grid.directory).exists())


def test_no_order_is_given_after_an_interruption(grid: Grid, tmp_path: Path) -> None:
    with session(grid, tmp_path) as one:
        one.cancel.set()
        with pytest.raises(Interrupted):
            one.shell(f"touch {tmp_path}/done")
        assert one.close() is None  # putting back goes on
    assert not (tmp_path / "done").exists()
    assert not Path(grid.directory).exists()


def test_ssh_asks_nobody_and_talks_to_known_hosts_only(grid: Grid) -> None:
    words = ssh_words(grid, grid.nodes[0], "true")
    assert "BatchMode=yes" in words
    assert "StrictHostKeyChecking=yes" in words
    assert words[-3:] == ["--", "router", "true"]


def test_what_a_node_says_is_cleaned() -> None:
    assert clean(b"\n \x1b[31mred\x07\xff\n more") == "?[31mred?\ufffd"
    assert len(clean("x" * 10000)) == 200


def test_a_probe_that_says_something_else(grid: Grid) -> None:
    node = grid.nodes[0]
    assert checks.parse(node, "user 0\nmode AP\nmode managed\n").all("mode") == ["AP", "managed"]
    for said in ("user 0\n\x1b[2J\n", "user\n", "a" * 300 + " b\n", "user 0\n" * 501):
        with pytest.raises(NodeError):
            checks.parse(node, said)


DUMP = """\
Station 02:00:00:00:01:00 (on wlan0)
\ttx packets:\t7
\ttx retries:\t1
Station 02:00:00:00:02:00 (on wlan0)
\ttx packets:\t5
"""


def test_what_the_access_point_counted(grid: Grid, tmp_path: Path) -> None:
    ap = Session(grid, grid.nodes[0], tmp_path / "log", threading.Event())
    assert measure.sent_frames(ap, DUMP) == 12
    for said in ("", "Station\n", DUMP.replace("7", "-7"), DUMP.replace("7", "9" * 5000)):
        with pytest.raises(NodeError, match="ap: iw showed no counts of its stations"):
            measure.sent_frames(ap, said)
    listed = '[{"kind": "fq_codel", "handle": "1:", "root": true, "packets": 3}]'
    assert measure.queues(ap, listed)[0]["packets"] == 3
    for said in ("", "{}", "[1]", '[{"handle": "1:"}]', listed.replace("3", '"x"'), "[" * 10**5):
        with pytest.raises(NodeError, match="ap: tc showed no queues"):
            measure.queues(ap, said)
    ap.end()


def test_records_on_our_clock(tmp_path: Path) -> None:
    source, target = tmp_path / "up.jsonl", tmp_path / "out.jsonl"
    source.write_text('{"event":"sample","id":"up","side":"receiver","t_s":101.5,"bytes":7}\n')
    records.to_our_clock(source, target, 100.25)
    assert '"t_s": 1.25' in target.read_text()


@pytest.mark.parametrize(
    "line",
    [
        '{"t_s": "soon"}\n',
        '{"bytes": 1e300}\n',
        '{"t_s": 1e300}\n',
        '{"us": [1, "x"]}\n',
        '{"id": {}}\n',
        "[]\n",
        "[" * 100_000 + "\n",
        '{"t_s": 1}',
    ],
    ids=range(8),
)
def test_hostile_records(line: str, tmp_path: Path) -> None:
    source = tmp_path / "up.jsonl"
    source.write_text(line)
    with pytest.raises(ValueError, match=r"up.jsonl line 1 is not a flow record"):
        records.to_our_clock(source, tmp_path / "out.jsonl", 1.0)


# What ssh of OpenSSH 9.2 says at LogLevel ERROR, shortened.
CHANGED = b"""\
@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @
@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
Host key for router has changed and you have requested strict checking.
Host key verification failed.
"""


def test_why_ssh_gave_up(grid: Grid) -> None:
    ap = grid.nodes[0]
    why = "ssh does not know its host key, or knows another one; find out why with "
    assert refusal(ap, CHANGED) == why + "`ssh root@router`"
    assert refusal(replace(ap, port=2201), CHANGED) == why + "`ssh -p 2201 root@router`"
    said = b"ssh: connect to host router port 22: No route to host\r\n"
    assert refusal(ap, said) == "ssh: connect to host router port 22: No route to host"
    assert refusal(ap, b"\r\n") == refusal(ap, b"") == "the connection ended"
