# SPDX-License-Identifier: GPL-2.0-only
"""What mac80211 counts of its own queues, for radios that pull from them (debugfs).

Principle: the counters are read once a virtual second and at the end, by this process, so that
reading costs no virtual time and starts nothing.
"""

from __future__ import annotations

import json
import os
import re
import time
from pathlib import Path

from apbed.scenario.plan import Plan
from guest.addresses import radio_address, station_number

DEBUGFS = Path("/sys/kernel/debug/ieee80211")
# Of net/mac80211/debugfs_sta.c, sta_aqm_read(): its column -> our name; summed over the TIDs.
COLUMNS = {
    "backlog-packets": "backlog_packets",
    "backlog-bytes": "backlog_bytes",
    "drops": "codel_drops",
    "marks": "codel_marks",
    "overlimit": "overlimit_drops",
    "tx-packets": "tx_packets",
    "tx-bytes": "tx_bytes",
}

Counters = dict[str, int | dict[str, int]]


class OwnQueues:
    """The queues of the radios that have some: of the access point, of the stations, or of all."""

    def __init__(self, run_dir: Path, plan: Plan) -> None:
        self.run_dir = run_dir
        self.peers: dict[str, list[str]] = {}  # machine -> those it sends to
        if plan.ap.radio == "queues":
            self.peers["ap"] = plan.stations
        if plan.station.radio == "queues":
            self.peers |= {name: ["ap"] for name in plan.stations}
        self.samples: list[dict[str, object]] = []

    def sample(self, t0: float) -> None:
        """Read all counters now."""
        if not self.peers:
            return
        found = {
            machine: {peer: counters(machine, peer) for peer in peers}
            for machine, peers in self.peers.items()
        }
        self.samples.append({"t_s": time.monotonic() - t0, "queues": found})

    def write(self, t0: float) -> None:
        """mac80211.json: the samples, the last one of now."""
        if not self.peers:
            return
        self.sample(t0)
        table = {"schema": 1, "samples": self.samples}
        (self.run_dir / "mac80211.json").write_text(json.dumps(table) + "\n")


def number(name: str) -> int:
    """The number of a machine's radio and device: the access point's is 0."""
    return 0 if name == "ap" else station_number(name)


def counters(machine: str, peer: str) -> Counters:
    """What mac80211 of `machine` counts of the frames for `peer`, by name."""
    own = number(machine)
    directory = DEBUGFS / f"phy{own}" / f"netdev:wlan{own}" / "stations"
    directory /= radio_address(number(peer))
    found: Counters = {}
    found |= queue_counters(read_at_once(directory / "aqm"))
    found |= airtimes(read_at_once(directory / "airtime"))
    if (directory / "aql").exists():  # only of a radio with AQL
        found |= pending(read_at_once(directory / "aql"))
    return found


def read_at_once(path: Path) -> str:
    """A file of debugfs by one system call, shorter than 64 KiB.

    mac80211 prints it anew for each call. If a number has got another digit by the second one, it
    has more bytes than the first one has read, and their end is read twice.
    """
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return os.read(descriptor, 65536).decode()
    finally:
        os.close(descriptor)


def queue_counters(text: str) -> Counters:
    """Of `aqm`: on 6.1 a line of parameters; one of names, then one for each TID."""
    lines = [line.split() for line in text.splitlines()]
    names, *rows = lines[next(at for at, line in enumerate(lines) if line[0] == "tid") :]
    columns = {name: names.index(column) for column, name in COLUMNS.items()}
    found: Counters = {
        name: sum(int(row[place]) for row in rows) for name, place in columns.items()
    }
    # The flags come last: 0x2(RUN AMPDU NO-AMSDU).
    return found | {"ampdu_sessions": len(re.findall(r"[( ]AMPDU\b", text))}


def airtimes(text: str) -> Counters:
    """Of `airtime`: what the driver registered, in microseconds."""
    found = dict(re.findall(r"^([RT]X): (\d+) us$", text, re.MULTILINE))
    return {"airtime_tx_us": int(found["TX"]), "airtime_rx_us": int(found["RX"])}


def pending(text: str) -> Counters:
    """Of `aql`, by access category: estimated airtime in hardware, and the limits of a station."""
    depths = re.findall(r"(\w\w): (\d+) us", text)
    limits = re.findall(r"(\w\w): (\d+)/(\d+)", text)
    return {
        "aql_pending_us": {category: int(us) for category, us in depths},
        "aql_low_us": {category: int(low) for category, low, _ in limits},
        "aql_high_us": {category: int(high) for category, _, high in limits},
    }
