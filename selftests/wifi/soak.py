#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Stations come, go, sleep and roam for hours while short connections begin and end: no memory is
lost, and of every packet lasack knows what became of it.

Principle: two access points share a bridge with a wired server. Each station begins connections at
random, of Pareto sizes, up or down. All the while a station drawn by lot leaves and comes back,
reassociates, roams, or begins or ceases to sleep. After each part of the soak nobody sends for
longer than the kernel remembers a connection. Then the memory in use is read. Something that
grows makes every part of the later half larger than all of the earlier half; by chance that happens
once in six with four parts, and once in 924 with twelve.

Run by watched.sh, where the modules are loaded:

    soak.py HWSIM [MINUTES [PARTS [SEED]]]

HWSIM is the path of mac80211_hwsim.ko, or its name for modprobe. MINUTES is the virtual time of a
part (60), PARTS how many there are (12).
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))

import access_point as ap
from access_point import Cell, cell
from arguments import refuse, whole
from exchange import flowgen
from ktap import Ktap, skip_all
from lab_network import Broken, run
from setups import PROGRAMS

STATIONS = 6
RATE_HZ = 2.0  # connections of a station begun in a second: a million of all in 24 hours
SMALLEST, LARGEST, SHAPE = 300, 1_000_000, 1.2  # of the sizes, bytes: 1.5 kB on average
STRETCH_S = 300.0  # for which a list of connections is drawn
STUCK_S = 120.0
EVENT_S = 10.0  # from one event to the next, on average
AWAY_S = 3.0
PACKETS = 3  # to a station at least: the handshake, data or its ACK, the end
END_AT_LEAST = 0.99  # TCP outlives the seconds for which a station is away
QUIET_S = 75.0  # TCP remembers an ended connection for 60 s
BEACONS = "beacon_int=200\n"  # half as many as usual: they are most of the frames
NAMES = ("no memory is lost", "lasack knows what became of every packet", "connections end")


class Soak:
    """The cell, and what has happened so far."""

    def __init__(self, made: Cell, rng: random.Random) -> None:
        self.made, self.rng = made, rng
        self.events: Counter[str] = Counter()
        self.begun = self.ended = 0

    def build(self) -> None:
        """Access points, server and stations."""
        ap.wire("wired")
        ap.address("wired", "eth0", "10.1.0.1/24")
        ap.bridge("br0", "eth0")
        self.made.radios(STATIONS, access_points=2, retries="7")
        for device, channel in (("wlan0", 1), ("wlan1", 6)):
            more = f"bridge=br0\ndisassoc_low_ack=1\n{BEACONS}"
            self.made.access_point(more, device, channel)
        self.made.start(*flowgen("wired", "serve", "--port", "7001", "--out", "/dev/null"))
        for number in self.made.stations:
            self.made.supplicant(number)
            ap.address(f"sta{number}", f"wlan{number}", f"10.1.0.1{number}/24")

    def stretch(self, seconds: float) -> None:
        """Connections of every station, and events, for so long; then all have ended."""
        clients = [self._client(number, seconds) for number in self.made.stations]
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            time.sleep(min(self.rng.expovariate(1 / EVENT_S), left))
            self._event()
        until = time.monotonic() + STUCK_S
        for client in clients:
            try:
                client.wait(max(until - time.monotonic(), 0))
            except subprocess.TimeoutExpired:
                self.events["client ended by us"] += 1
            self.made.stop(client)
        for number in self.made.stations:
            self._count(self._log(number))

    def _log(self, number: int) -> Path:
        return self.made.scratch / f"flows-sta{number}"

    def _client(self, number: int, seconds: float) -> subprocess.Popen[bytes]:
        lines: list[str] = []
        at = self.rng.expovariate(RATE_HZ)
        while at < seconds:
            size = min(int(SMALLEST * self.rng.paretovariate(SHAPE)), LARGEST)
            lines.append(f"f{len(lines)} {self.rng.choice(('up', 'down'))} {size} {at:.3f}\n")
            at += self.rng.expovariate(RATE_HZ)
        drawn = self.made.scratch / f"list-sta{number}"
        drawn.write_text("".join(lines))
        self.begun += len(lines)
        words = ("--list", str(drawn), "--host", "10.1.0.1", "--port", "7001")
        command = flowgen(f"sta{number}", "run", *words, "--out", str(self._log(number)))
        return self.made.start(*command, ready=0)

    def _count(self, log: Path) -> None:
        """Connections whose last byte has come."""
        for line in log.read_text().splitlines():
            record = json.loads(line)
            self.ended += record["event"] == "flow" and record["end_s"] is not None
        log.unlink()

    def _event(self) -> None:
        number = self.rng.choice(self.made.stations)
        name = self.rng.choice(("leave", "reassociate", "roam", "sleep", "wake"))
        self.events[name] += 1
        if name == "leave":
            self.made.supplicant_says(number, "disconnect")
            time.sleep(AWAY_S)
            self.made.supplicant_says(number, "reconnect")
        elif name == "reassociate":
            self.made.supplicant_says(number, "reassociate")
        elif name == "roam":
            bssid = ap.mac_address(self.rng.choice(("wlan0", "wlan1")))
            self.made.supplicant_says(number, "roam", bssid)
        else:
            inside, device = ("ip", "netns", "exec", f"sta{number}"), f"wlan{number}"
            state = "on" if name == "sleep" else "off"
            run(*inside, "iw", "dev", device, "set", "power_save", state)


def used_kb() -> int:
    """Memory in use that the kernel cannot give back by forgetting what is on disk, kB."""
    Path("/proc/sys/vm/drop_caches").write_text("3\n")
    fields = {}
    for line in Path("/proc/meminfo").read_text().splitlines():
        name, value = line.split(":")
        fields[name] = int(value.split()[0])
    idle = ("MemFree", "Buffers", "Cached", "SReclaimable")
    return fields["MemTotal"] - sum(fields[name] for name in idle)


def grows(used: list[int]) -> bool:
    """Whether all of the later half is above all of the earlier one."""
    half = len(used) // 2
    return min(used[-half:]) > max(used[:half])


def soak(made: Cell, ktap: Ktap, minutes: int, parts: int, seed: int) -> None:
    """One result for each name."""
    churn = Soak(made, random.Random(seed))
    churn.build()
    used = []
    for part in range(1, parts + 1):
        left = minutes * 60.0
        while left > 0:
            churn.stretch(min(STRETCH_S, left))
            left -= STRETCH_S
            ktap.comment(f"part {part}, {churn.ended} of {churn.begun} connections have ended")
        time.sleep(QUIET_S)
        used.append(used_kb())
        ktap.comment(f"part {part} of {parts}: {used[-1]} kB in use")
    ktap.comment(", ".join(f"{name} {count}" for name, count in churn.events.most_common()))
    ktap.result(not grows(used), NAMES[0])
    wrong = []
    for device in ("wlan0", "wlan1"):
        wrong += ap.left(device, 1, "air", lossless=False)
    packets = sum(ap.statistics(device)["packets"] for device in ("wlan0", "wlan1"))
    if packets < PACKETS * churn.ended:
        wrong.append(f"only {packets} packets went through lasack")
    ktap.result(not wrong, NAMES[1], *wrong)
    ktap.result(churn.ended > END_AT_LEAST * churn.begun, NAMES[2])


def main(words: list[str]) -> int:
    if not words:
        refuse("say mac80211_hwsim, or the path of its module")
    if missing := [program for program in PROGRAMS if not shutil.which(program)]:
        return skip_all(f"no program {missing[0]}")
    hwsim, *numbers = words
    names = ("MINUTES", "PARTS", "SEED")
    if len(numbers) > len(names):
        refuse(f"say at most {', '.join(names)} after the module")
    given = [whole(name, word) for name, word in zip(names, numbers, strict=False)]
    minutes, parts, seed = given + [60, 12, 1][len(given) :]
    if not minutes or parts < 2:
        refuse("MINUTES must be at least 1, and PARTS at least 2")
    ktap = Ktap(len(NAMES), nested=True)
    try:
        with cell(hwsim) as made:
            soak(made, ktap, minutes, parts, seed)
    except (Broken, subprocess.SubprocessError) as broken:
        while ktap.number < len(NAMES):
            ktap.result(False, NAMES[ktap.number], str(broken))
    return ktap.end()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
