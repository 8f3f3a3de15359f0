# SPDX-License-Identifier: GPL-2.0-only
"""Reference and manual pages name what there is: options, counters, a scenario's keys, programs."""

from __future__ import annotations

import re

import pytest

from apbed.scenario.keys import KEYS, USERS_KEYS, WORKLOAD_KEYS
from tests.documentation.pages import TOP

REFERENCE = TOP / "Documentation" / "reference"
KINDS = ("lasack", "ackwrr", "inflight")
OPTION = re.compile(r'\{ (?:\.name = )?"(\w+)",\s*(?:\.attribute = )?TCA_')
COUNTER = re.compile(r'print_(?:count|color_\w+)\((?:PRINT_ANY, COLOR_NONE,\s*)?"(\w+)"')
# Shown by every qdisc with a bound; inflight's page has them for all three.
BELOW = "in_flight"
# Parts of programs that are on the page.
PARTS = {"random_changes.py", "capture_packets.py", "ackskip_guest.sh", "ack_trace.py"}


def plugin(kind: str) -> str:
    """The source of a kind's tc plugin."""
    return (TOP / "tc" / f"q_{kind}.c").read_text()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("page", ["Documentation/reference/{}.md", "tc/man8/tc-{}.8"])
def test_options_and_counters_are_described(kind: str, page: str) -> None:
    """Every option and every counter that tc knows of a kind is on its pages."""
    text = (TOP / page.format(kind)).read_text()
    names = set(OPTION.findall(plugin(kind))) | set(COUNTER.findall(plugin(kind)))
    assert names >= {"limit"}
    missing = {name for name in names if not re.search(rf"\b{name}\b", text)}
    assert not missing


def test_counters_below_are_described() -> None:
    """The counters that all kinds share are on the pages of inflight."""
    shared = (TOP / "tc" / "qdisc_options.c").read_text().partition("void print_below")[2]
    names = set(COUNTER.findall(shared))
    assert BELOW in names
    for page in (REFERENCE / "inflight.md", TOP / "tc" / "man8" / "tc-inflight.8"):
        assert not {name for name in names if not re.search(rf"\b{name}\b", page.read_text())}


@pytest.mark.parametrize("kind", KINDS)
def test_netlink_attributes_are_described(kind: str) -> None:
    """The page of netlink has each attribute of a queue discipline, with its number."""
    header = (TOP / "kernel" / "uapi" / f"pkt_sch_{kind}.h").read_text()
    first = header.partition(f"TCA_{kind.upper()}_UNSPEC,")[2].partition("}")[0]
    names = re.findall(rf"^\t(TCA_{kind.upper()}_\w+),", first, re.MULTILINE)
    assert names
    text = (REFERENCE / "netlink.md").read_text()
    rows = re.findall(rf"^\| (\d+) \| `(TCA_{kind.upper()}_\w+)` \|", text, re.MULTILINE)
    assert [(int(number), name) for number, name in rows] == list(enumerate(names, 1))


@pytest.mark.parametrize("kind", KINDS)
def test_netlink_ranges_are_the_headers(kind: str) -> None:
    """Each bound of an option's range that the header defines stands in the attribute's row."""
    header = (TOP / "kernel" / "uapi" / f"pkt_sch_{kind}.h").read_text()
    bound = re.compile(rf"^#define TC_{kind.upper()}_([A-Z]+)_(?:MIN|MAX)\t+(\d+)U", re.MULTILINE)
    text = (REFERENCE / "netlink.md").read_text()
    cells = rf"^\| \d+ \| `TCA_{kind.upper()}_(\w+)` \| (.*) \|$"
    rows = re.findall(cells, text, re.MULTILINE)
    bounds = bound.findall(header)
    assert bounds
    for option, value in bounds:
        names = {"TIME": ("IDLE", "HALFLIFE")}.get(option, (option,))
        told = [words for name, words in rows if name.startswith(names)]
        assert told, option
        assert all(value in re.findall(r"\d+", words) for words in told), (option, value)


def test_sysctls_are_described() -> None:
    """So has the page of netlink each sysctl of the ACK-skip module."""
    source = (TOP / "kernel" / "ackskip" / "tcp_ackskip.c").read_text()
    names = set(re.findall(r'\.procname\s*=\s*"(\w+)"', source))
    assert len(names) == 4
    rows = re.findall(r"^\| `(tcp_\w+)` \|", (REFERENCE / "netlink.md").read_text(), re.MULTILINE)
    assert set(rows) == names


def test_scenario_keys_are_described() -> None:
    """The tables of the laboratory's page have every key of a scenario, and no other."""
    cells = re.findall(r"^\| (`[^|]+) \|", (REFERENCE / "testbed.md").read_text(), re.MULTILINE)
    named = {word for cell in cells for word in re.findall(r"`([a-z_.]+)`", cell)}
    known = set(KEYS) | set(WORKLOAD_KEYS) | set(USERS_KEYS)
    assert not known - named
    sections = {key.split(".")[0] for key in known if "." in key}
    assert not {word for word in named - known if word.split(".")[0] in sections}


def test_self_tests_are_described() -> None:
    """Every program of the self-tests that is run by itself is on their page."""
    text = (REFERENCE / "self-tests.md").read_text()
    folders = [TOP / "selftests" / name for name in ("qdisc", "tcp", "wifi")]
    programs = {path.name for folder in folders for path in folder.glob("*.[ps][yh]")}
    assert "parents.py" in programs
    missing = {name for name in programs - PARTS if f"`{name}" not in text}
    assert not missing
