# SPDX-License-Identifier: GPL-2.0-only
"""Reference and manual pages name what there is: options, counters, a scenario's keys, programs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import dropwhile, takewhile

import pytest

from apbed.scenario import figures
from apbed.scenario.keys import FLOW_KEYS, KEYS, SLEEP_KEYS, USERS_KEYS, WORKLOAD_KEYS
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


# Page and heading of each table of keys, and the keys that it must have.
TABLES = [
    ("testbed.md", "## A scenario", KEYS),
    ("testbed.md", "### Flows", FLOW_KEYS),
    ("testbed.md", "### Sleeping stations", SLEEP_KEYS),
    ("testbed.md", "### Random transfers", WORKLOAD_KEYS),
    ("testbed.md", "### Users", USERS_KEYS),
    ("figures.md", "## Keys of [[figure]]", figures.KEYS),
    ("figures.md", "## Claims", figures.EXPECT_KEYS),
]


def keys_below(page: str, heading: str) -> list[str]:
    """The keys in the first column of the first table below a heading."""
    below = (REFERENCE / page).read_text().partition(f"\n{heading}\n")[2].splitlines()
    rows = dropwhile(lambda line: not line.startswith("|"), below)
    cells = [row.split(" | ")[0] for row in takewhile(lambda line: line.startswith("|"), rows)]
    return [word for cell in cells for word in re.findall(r"`([a-z_.]+)`", cell)]


@pytest.mark.parametrize(("page", "heading", "keys"), TABLES, ids=[table[1] for table in TABLES])
def test_scenario_keys_are_described(page: str, heading: str, keys: Iterable[str]) -> None:
    """Each table has every key, once, and no other."""
    assert sorted(keys_below(page, heading)) == sorted(keys)


def test_metrics_of_figures_are_described() -> None:
    """The table has every metric that a [[figure]] may ask for, once, and no other. A row names
    its ways after the first one: `packets_per_s.down`, `.up`."""
    heading = "\n## Metrics of a paper's figures\n"
    below = (REFERENCE / "metrics.md").read_text().partition(heading)[2].partition("\n## ")[0]
    found: list[str] = []
    for cell in re.findall(r"^\| (`.*?) \|", below, re.MULTILINE):
        for word in re.findall(r"`([a-z_.]+)`", cell):
            found.append(found[-1].rpartition(".")[0] + word if word.startswith(".") else word)
    assert sorted(found) == sorted([*figures.METRICS, *figures.CURVES])


def test_self_tests_are_described() -> None:
    """Every program of the self-tests that is run by itself is on their page."""
    text = (REFERENCE / "self-tests.md").read_text()
    folders = [TOP / "selftests" / name for name in ("qdisc", "tcp", "wifi")]
    programs = {path.name for folder in folders for path in folder.glob("*.[ps][yh]")}
    assert "parents.py" in programs
    missing = {name for name in programs - PARTS if f"`{name}" not in text}
    assert not missing
