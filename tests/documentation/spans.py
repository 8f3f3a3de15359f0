# SPDX-License-Identifier: GPL-2.0-only
"""The commands that a guide has in its tables and sentences, and where each is run.

A command may be part of a block of its guide, which says itself where it is run. An option of
lasack is tried on the access point. Any other one stands below.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tests.documentation.guides import blocks
from tests.documentation.pages import TOP, lines

SPAN = re.compile(r"`([^`]+)`")
COMMAND = re.compile(r"(sudo|tc|make|apbed|modprobe|rmmod|dcfmedium|lasack-\w+|\.) \S")
OPTION = re.compile(r'\{ (?:\.name = )?"(\w+)",\s*(?:\.attribute = )?TCA_')
SUITES = re.compile(r'make check SUITE="?([^"]*)"?')

# As root on the access point, in the guide's order.
ATTACH = "sudo tc qdisc replace dev wlan0 root lasack"
ON_AN_ACCESS_POINT = {
    "ackwrr weights auto": "sudo tc qdisc replace dev wlan0 root ackwrr weights auto",
    "tc -s class show dev wlan0": f"{ATTACH}; tc -s class show dev wlan0",
    "sudo modprobe sch_lasack": "sudo modprobe sch_lasack",
    "sudo tc qdisc del dev wlan0 root": f"{ATTACH}; sudo tc qdisc del dev wlan0 root",
    "tc qdisc del dev wlan0 root": f"{ATTACH}; tc qdisc del dev wlan0 root",
    # Packets that are in flight keep the module for a moment.
    "sudo modprobe -r sch_lasack": "sleep 1; sudo modprobe -r sch_lasack; "
    "test ! -e /sys/module/sch_lasack",
}
IN_A_CHECKOUT = {". .venv/bin/activate": "(. .venv/bin/activate && apbed --help)"}
# Of these the test, or why there is none.
ELSEWHERE = {
    "apbed run demo": "tests/experiments/test_demo.py",
    "apbed run demo --backend vng": "tests/stock/test_vng.py",
    "apbed run demo --backend ssh --grid FILE": "tests/grid/test_emulated.py",
    "apbed run demo --executor dask://HOST:PORT": "tests/executor/test_dask.py",
    "make check": "the runner of all these tests",
    "make check-all": "the runner of all these tests",
    "make install": "tests/install/test_install.py",
    "sudo dkms autoinstall": "tests/system/test_packages.py",
    "tc -s": "a part of a command",
}


def spans(guide: Path) -> Iterator[str]:
    """The commands and the options of lasack outside of the guide's blocks."""
    options = set(OPTION.findall((TOP / "tc" / "q_lasack.c").read_text()))
    text = "\n".join(line for _, line, code in lines(guide) if not code)
    for span in SPAN.findall(text):
        first, *more = span.split()
        if COMMAND.match(span) or span in ON_AN_ACCESS_POINT or (more and first in options):
            yield span


def loose(guide: Path) -> list[str]:
    """Those that are in no block of the guide."""
    said = "\n".join(block.text for block in blocks(guide.read_text()))
    return [span for span in dict.fromkeys(spans(guide)) if span not in said]


def script(guide: Path, place: str) -> str:
    """What runs those of a guide that are for one place."""
    known = {"access-point": ON_AN_ACCESS_POINT, "checkout": IN_A_CHECKOUT}[place]
    return "".join(
        f": {guide.name} {span.split()[0]}\n{known.get(span) or f'{ATTACH} {span}'}\n"
        for span in loose(guide)
        if span in known or (place == "access-point" and not COMMAND.match(span))
    )


def unknown(guide: Path) -> list[str]:
    """Commands of which nobody has said where they are run."""
    return [
        span
        for span in loose(guide)
        if COMMAND.match(span)
        and span not in ON_AN_ACCESS_POINT | IN_A_CHECKOUT | ELSEWHERE
        and not SUITES.fullmatch(span)
    ]
