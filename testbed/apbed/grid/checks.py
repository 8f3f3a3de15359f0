# SPDX-License-Identifier: GPL-2.0-only
"""What a grid's nodes are, before anything on them is changed.

Principle: every node is looked at, and everything that is wrong is said at once, each in one
line with what to do. A node whose devices somebody else uses is refused: what nobody else uses
can be put back exactly.
"""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from apbed.checkout import GUEST
from apbed.grid.file import Grid, Node
from apbed.grid.nodes import at_once
from apbed.grid.session import NodeError, ask, clean

PROBE = GUEST / "probe.sh"
LINE = re.compile(r"([a-z_]{2,12}) ([ -~]{0,200})")  # of the probe: a key, and printable ASCII
LINES_MAX = 500
CLOCK_S = 60  # by which a node's clock may differ: its logs are read beside the others'
SPACE_KB = 32 * 1024
CAPTURE_KB = 1500  # a second: the headers of 5000 packets
COMMON = ("sh", "ip", "tc", "tar", "awk", "sed", "head", "wc", "find", "sort", "dmesg", "grep")
PROGRAMS = {
    "ap": (*COMMON, "iw", "hostapd", "insmod", "rmmod"),
    "wired": COMMON,
    "monitor": (*COMMON, "iw", "tcpdump"),
}
STATION = (*COMMON, "iw", "wpa_supplicant", "insmod", "rmmod")


@dataclass
class Facts:
    """What a node said of itself: the values of each key."""

    values: dict[str, list[str]] = field(default_factory=dict)

    def all(self, key: str) -> list[str]:
        """Every value of a key."""
        return self.values.get(key, [])

    def one(self, key: str) -> str:
        """The first value of a key, "" if there is none."""
        return next(iter(self.all(key)), "")


@dataclass(frozen=True)
class Checked:
    """A node, and what is wrong with it: one line for each trouble."""

    node: Node
    facts: Facts
    wrong: tuple[str, ...]


def check(grid: Grid, chosen: Sequence[Node], *, capture_s: float = 0.0) -> list[Checked]:
    """Look at every node and change nothing. `capture_s`: how long a capture will be."""

    def look(node: Node) -> Checked:
        try:
            facts = probe(grid, node, capture_s=capture_s)
        except NodeError as error:
            return Checked(node, Facts(), (str(error),))
        wrong = [*_machine(grid, node, facts, capture_s=capture_s), *_devices(grid, node, facts)]
        return Checked(node, facts, tuple(f"{node.name} ({node.host}): {why}" for why in wrong))

    return at_once(look, chosen)


def probe(grid: Grid, node: Node, *, capture_s: float) -> Facts:
    """What a node says of itself; NodeError if it says something else."""
    programs = PROGRAMS.get(node.name, STATION)
    if capture_s and node.name in ("ap", "monitor"):
        programs = (*programs, "tcpdump")
    words = ["sh", "-c", PROBE.read_text(), "probe.sh", grid.directory, node.wlan, node.wired]
    return parse(node, ask(grid, node, shlex.join([*words, *programs])))


def parse(node: Node, said: str) -> Facts:
    """The probe's lines; NodeError for anything else."""
    lines = said.splitlines()
    if len(lines) > LINES_MAX:
        raise NodeError(f"{node.name} ({node.host}): said {len(lines)} lines of itself")
    facts = Facts()
    for line in lines:
        found = LINE.fullmatch(line)
        if not found:
            raise NodeError(f"{node.name} ({node.host}): said {clean(line)!r} of itself")
        facts.values.setdefault(found[1], []).append(found[2])
    return facts


def _machine(grid: Grid, node: Node, facts: Facts, *, capture_s: float) -> list[str]:
    """User, kernel, programs, modules, clock and space."""
    wrong = []
    if facts.one("user") != "0":
        wrong.append(f"{node.user} is not root there; give another user")
    loads = node.name == "ap" or node.name.startswith("sta")
    if loads and facts.one("kernel") != grid.kernel:
        wrong.append(f"it runs {facts.one('kernel')}; the grid's kernel is {grid.kernel}")
    if missing := facts.all("no_program"):
        wrong.append(f"no {', '.join(missing)}; install what has it")
    if loads:
        wrong += [f"modules cannot be loaded there ({why})" for why in facts.all("locked")]
        wrong += [f"{name} is loaded already; rmmod it" for name in facts.all("loaded")]
    if facts.all("busy"):
        wrong.append(f"{grid.directory} is there: another session uses this node")
    if facts.all("stale"):
        wrong.append("a session was killed there and left it changed; the next run puts it back")
    clock = facts.one("clock")
    if not clock.isdigit() or abs(int(clock) - time.time()) > CLOCK_S:
        wrong.append(f"its clock differs by more than {CLOCK_S} s; set it")
    needed = SPACE_KB
    if node.name in ("ap", "monitor"):
        needed += round(CAPTURE_KB * capture_s)
    free = facts.one("free_kb")
    if not free.isdigit() or int(free) < needed:
        wrong.append(f"{free or 'no'} KB free for {grid.directory}; {needed} are needed")
    return wrong


def _devices(grid: Grid, node: Node, facts: Facts) -> list[str]:
    """Whether the devices are there, idle, and can do what they must."""
    wrong = [f"no device {name}" for name in facts.all("no_device")]
    wrong += [f"{name} is no Wi-Fi device" for name in facts.all("no_wifi")]
    wrong += [f"{words} is its address; the device must be idle" for words in facts.all("address")]
    wrong += [f"{words} is its queue; remove it first" for words in facts.all("qdisc")]
    wrong += [f"{name} is in use (associated)" for name in dict.fromkeys(facts.all("associated"))]
    used = {line.split()[1] for line in facts.all("address") if " " in line}
    for words in facts.all("overlap"):
        if words.split()[-1] not in used:
            wrong.append(f"{words} lies in 10.0.0.0/24 or 10.1.0.0/24, which the grid uses")
    if not node.wlan or not facts.one("phy"):
        return wrong
    if node.driver and facts.one("driver") != node.driver:
        wrong.append(f"{node.wlan} has the driver {facts.one('driver')}, not {node.driver}")
    if why := _channel(grid, node, facts):
        wrong.append(why)
    mode = {"ap": "AP", "monitor": "monitor"}.get(node.name, "managed")
    if mode not in facts.all("mode"):
        wrong.append(f"{node.wlan} has no mode {mode}")
    return wrong


def _channel(grid: Grid, node: Node, facts: Facts) -> str | None:
    """Why the grid's channel cannot be used; another country may still allow what is barred."""
    channel = str(grid.radio.channel)
    usable = set(facts.all("channel"))
    if node.name != "ap":
        usable |= set(facts.all("passive"))
    if channel in usable:
        return None
    barred = channel in facts.all("barred") + facts.all("passive")
    if barred and facts.one("country") != grid.radio.country:
        return None
    if barred:
        return f"{node.wlan} may not use channel {channel} in country {grid.radio.country}"
    return f"{node.wlan} has no channel {channel}"
