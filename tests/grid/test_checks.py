# SPDX-License-Identifier: GPL-2.0-only
"""`apbed grid check` on made-up nodes: each trouble gives its line, and a good node none."""

from __future__ import annotations

import shlex
import time
from dataclasses import replace
from pathlib import Path

import pytest

from apbed.grid import checks
from apbed.grid.file import Grid, Node
from apbed.grid.session import NodeError, NodeLostError
from tests.grid.test_file import GOOD, load

MONITOR = '[monitor]\nhost = "laptop3"\nwlan = "wlan1"\n'
PLAIN = """\
user 0
kernel 6.1.0-56-amd64
clock NOW
free_kb 500000
"""
RADIO = """\
phy phy0
driver iwlwifi
country DE
mode managed
mode AP
mode monitor
channel 1
channel 6
passive 52
barred 14
"""
GOOD_NODE = PLAIN + RADIO


def look(
    tmp_path: Path,
    patch: pytest.MonkeyPatch,
    name: str,
    said: str,
    *,
    channel: int = 1,
    capture_s: float = 0.0,
) -> tuple[str, ...]:
    """What is wrong with a node that says this of itself, without its name and host."""
    grid = load(tmp_path, GOOD + MONITOR)
    grid = replace(grid, radio=replace(grid.radio, channel=channel))
    node = grid.node(name)
    assert node is not None
    answer = said.replace("NOW", str(round(time.time())))
    patch.setattr(checks, "ask", lambda _grid, _node, _command: answer)
    (checked,) = checks.check(grid, [node], capture_s=capture_s)
    before = f"{node.name} ({node.host}): "
    assert all(line.startswith(before) for line in checked.wrong)
    return tuple(line.removeprefix(before) for line in checked.wrong)


@pytest.mark.parametrize("name", ["ap", "wired", "sta1", "monitor"])
def test_a_good_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    said = PLAIN if name == "wired" else GOOD_NODE
    assert look(tmp_path, monkeypatch, name, said, capture_s=60.0) == ()


# Node, what it says instead of what, what is then wrong.
TROUBLE = {
    "user": ("ap", "user 0", "user 1000", "root is not root there; give another user"),
    "kernel": (
        "sta1",
        "kernel 6.1.0-56-amd64",
        "kernel 6.12.1",
        "it runs 6.12.1; the grid's kernel is 6.1.0-56-amd64",
    ),
    "programs": (
        "ap",
        "user 0",
        "user 0\nno_program hostapd\nno_program iw",
        "no hostapd, iw; install what has it",
    ),
    "modules off": (
        "ap",
        "user 0",
        "user 0\nlocked modules_disabled",
        "modules cannot be loaded there (modules_disabled)",
    ),
    "Secure Boot": (
        "sta1",
        "user 0",
        "user 0\nlocked lockdown",
        "modules cannot be loaded there (lockdown)",
    ),
    "module": (
        "sta1",
        "user 0",
        "user 0\nloaded sch_lasack",
        "sch_lasack is loaded already; rmmod it",
    ),
    "session": (
        "ap",
        "user 0",
        "user 0\nbusy /run/apbed",
        "/run/apbed is there: another session uses this node",
    ),
    "killed session": (
        "ap",
        "user 0",
        "user 0\nstale /run/apbed",
        "a session was killed there and left it changed; the next run puts it back",
    ),
    "clock ahead": ("ap", "clock NOW", "clock 9NOW", "its clock differs by more than 60 s; set it"),
    "no clock": ("ap", "clock NOW\n", "", "its clock differs by more than 60 s; set it"),
    "space": (
        "ap",
        "free_kb 500000",
        "free_kb 32767",
        "32767 KB free for /run/apbed; 32768 are needed",
    ),
    "no space": ("ap", "free_kb 500000\n", "", "no KB free for /run/apbed; 32768 are needed"),
    "no device": ("wired", "user 0", "user 0\nno_device eth0", "no device eth0"),
    "no Wi-Fi": ("ap", RADIO, "no_wifi wlan0\n", "wlan0 is no Wi-Fi device"),
    "address": (
        "ap",
        "user 0",
        "user 0\naddress wlan0 192.0.2.7/24",
        "wlan0 192.0.2.7/24 is its address; the device must be idle",
    ),
    "queue": (
        "ap",
        "user 0",
        "user 0\nqdisc wlan0 fq_codel",
        "wlan0 fq_codel is its queue; remove it first",
    ),
    "in use": (
        "sta1",
        "country DE",
        "associated wlp2s0\nassociated wlp2s0\ncountry DE",
        "wlp2s0 is in use (associated)",
    ),
    "overlap": (
        "sta1",
        "user 0",
        "user 0\noverlap eth7 10.1.0.9/24",
        "eth7 10.1.0.9/24 lies in 10.0.0.0/24 or 10.1.0.0/24, which the grid uses",
    ),
    "driver": (
        "sta1",
        "driver iwlwifi",
        "driver ath9k",
        "wlp2s0 has the driver ath9k, not iwlwifi",
    ),
    "no access point": ("ap", "mode AP\n", "", "wlan0 has no mode AP"),
    "no station": ("sta1", "mode managed\n", "", "wlp2s0 has no mode managed"),
    "no monitor": ("monitor", "mode monitor\n", "", "wlan1 has no mode monitor"),
    "no channel": ("sta1", "channel 1\n", "", "wlp2s0 has no channel 1"),
    "barred": (
        "ap",
        "channel 1\n",
        "barred 1\n",
        "wlan0 may not use channel 1 in country DE",
    ),
    "passive": (
        "ap",
        "channel 1\n",
        "passive 1\n",
        "wlan0 may not use channel 1 in country DE",
    ),
}


@pytest.mark.parametrize("trouble", TROUBLE)
def test_trouble_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trouble: str) -> None:
    name, good, bad, line = TROUBLE[trouble]
    said = PLAIN if name == "wired" else GOOD_NODE
    assert good in said
    assert look(tmp_path, monkeypatch, name, said.replace(good, bad)) == (line,)


def test_all_trouble_is_said_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = GOOD_NODE.replace("user 0", "user 1").replace("mode AP\n", "")
    wrong = look(tmp_path, monkeypatch, "ap", said + "no_program tc\n")
    assert len(wrong) == 3


def test_what_is_no_trouble(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Just enough space; kernel and modules of a node that loads none; a channel that another
    country allows; a channel on which a station need not begin."""
    just = GOOD_NODE.replace("free_kb 500000", "free_kb 32768")
    assert look(tmp_path, monkeypatch, "sta1", just) == ()
    wired = PLAIN.replace("kernel 6.1.0-56-amd64", "kernel 5.4\nloaded sch_lasack\nlocked lockdown")
    assert look(tmp_path, monkeypatch, "wired", wired) == ()
    abroad = GOOD_NODE.replace("country DE", "country JP")
    assert look(tmp_path, monkeypatch, "ap", abroad, channel=14) == ()
    assert look(tmp_path, monkeypatch, "sta1", GOOD_NODE, channel=52) == ()


def test_a_capture_needs_space_and_tcpdump(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """1500 KB for each second, beside what every node needs."""
    said = GOOD_NODE.replace("free_kb 500000", "free_kb 122767")
    line = "122767 KB free for /run/apbed; 122768 are needed"
    assert look(tmp_path, monkeypatch, "ap", said, capture_s=60.0) == (line,)
    assert look(tmp_path, monkeypatch, "monitor", said, capture_s=60.0) == (line,)
    assert look(tmp_path, monkeypatch, "sta1", said, capture_s=60.0) == ()
    asked: list[str] = []

    def hear(_grid: Grid, _node: Node, command: str) -> str:
        asked.extend(shlex.split(command))
        return GOOD_NODE

    monkeypatch.setattr(checks, "ask", hear)
    grid = load(tmp_path, GOOD)
    checks.check(grid, grid.nodes[:1], capture_s=60.0)
    assert {"hostapd", "insmod", "tcpdump"} <= set(asked)


def test_a_node_that_cannot_be_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_grid: Grid, node: Node, _command: str) -> str:
        raise NodeLostError(f"{node.name} ({node.host}): no answer in 30 s")

    monkeypatch.setattr(checks, "ask", refuse)
    grid = load(tmp_path, GOOD)
    found = checks.check(grid, grid.nodes)
    assert [one.wrong for one in found] == [
        ("ap (router): no answer in 30 s",),
        ("wired (laptop1): no answer in 30 s",),
        ("sta1 (laptop2): no answer in 30 s",),
    ]


@pytest.mark.parametrize("said", ["user 0\nrm -rf\x1b[2J /\n", "no_device eth0\n" * 501])
def test_what_is_no_answer(tmp_path: Path, said: str) -> None:
    node = load(tmp_path, GOOD).nodes[0]
    with pytest.raises(NodeError, match=r"^ap \(router\): said "):
        checks.parse(node, said)
