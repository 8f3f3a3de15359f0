#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""The bound of packets in flight that lasack has if it is given none.

Principle: on Wi-Fi it has one, or it would hold nothing. As the child of a queue discipline that
has a bound it has none: with two, the child holds packets back when it is its turn.

Run by watched.sh, where the modules are loaded:

    default_bound.py HWSIM [SETUP]...

HWSIM is the path of mac80211_hwsim.ko, or its name for modprobe. A SETUP is one of several-queues,
at-the-root, below-a-bound.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))

from access_point import Cell
from lab_network import run
from setups import Absent, Setup, run_setups

HOLDS = "who is given no bound has the right one"
DEFAULT_QDISC = Path("/proc/sys/net/core/default_qdisc")


def bounds() -> dict[str, str]:
    """The option `inflight` of each lasack and ackwrr on wlan0, by its parent."""
    words = ["tc", "qdisc", "show", "dev", "wlan0"]
    shown = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    found = {}
    for line in shown.splitlines():
        said = line.split()
        if said[1] in ("lasack", "ackwrr"):
            parent = said[said.index("parent") + 1] if "parent" in said else "root"
            found[f"{said[1]} {parent}"] = said[said.index("inflight") + 1]
    return found


def differs(expected: Mapping[str, str]) -> list[str]:
    """What is wrong if the bounds are not these."""
    found = bounds()
    return [] if found == expected else [f"{found}, not {expected}"]


def replace(*words: str) -> None:
    run("tc", "qdisc", "replace", "dev", "wlan0", *words)


def several_queues(made: Cell) -> list[str]:
    """The kernel's own mq: each queue has a lasack, all without a handle."""
    before = DEFAULT_QDISC.read_text()
    DEFAULT_QDISC.write_text("lasack\n")
    try:
        made.radios(1)
        run("ip", "link", "set", "wlan0", "up")
    finally:
        DEFAULT_QDISC.write_text(before)
    queues = len(list(Path("/sys/class/net/wlan0/queues").glob("tx-*")))
    if queues < 2:
        raise Absent("this kernel's mac80211 has one queue")
    return differs({f"lasack :{queue}": "auto" for queue in range(1, queues + 1)})


def at_the_root(made: Cell) -> list[str]:
    """Whatever its handle is, and whatever was there before."""
    made.radios(1)
    wrong = []
    for handle in ("ffff:", "2:"):
        replace("root", "handle", handle, "lasack")
        wrong += differs({"lasack root": "auto"})
    return wrong


def below_a_bound(made: Cell) -> list[str]:
    """As ackwrr's child."""
    made.radios(1)
    wrong = []
    for bound, below in (("auto", "off"), ("5p", "off"), ("off", "auto")):
        given = bound.removesuffix("p")  # tc's unit
        replace("root", "handle", "1:", "ackwrr", "weights", "auto", "inflight", given)
        replace("parent", "1:1", "handle", "11:", "lasack")
        wrong += differs({"ackwrr root": bound, "lasack 1:1": below})
        run("tc", "qdisc", "del", "dev", "wlan0", "root")
    return wrong


SETUPS: dict[str, Setup] = {
    "several-queues": several_queues,
    "at-the-root": at_the_root,
    "below-a-bound": below_a_bound,
}


if __name__ == "__main__":
    sys.exit(run_setups(SETUPS, HOLDS, sys.argv[1:]))
