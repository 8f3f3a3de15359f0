#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Access points as people set them up: nothing is lost in lasack, and nothing stays stuck.

Principle: downloads, uploads and a stream of datagrams go through hostapd's access point on
simulated radios. Everything of a fixed size arrives whole. Afterwards no packet is queued or in
flight, and of every packet that came lasack knows what became of it.

Run by watched.sh inside a lab kernel, where the modules are loaded:

    access_points.py HWSIM [SETUP]...

HWSIM is the path of mac80211_hwsim.ko; a SETUP is one of bridged, ipv6, two-names.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))

from ktap import Ktap
from lab_network import Broken, run

ROOT = Path(__file__).resolve().parents[2]
BIN = ROOT / "build" / "bin"
FREQUENCY_MHZ = "2412"  # channel 1
BYTES = 600_000  # each way; nearly a second of 802.11b
PULSES = 100
RETRIES = "30"  # attempts, so that the medium itself loses nothing
STUCK_S = 60.0
HOSTAPD = "interface=wlan0\nssid=lab\nhw_mode=b\nchannel=1\n"


@dataclass
class Cell:
    """One access point, in the first namespace, with what is around it."""

    hwsim: str
    scratch: Path
    daemons: list[subprocess.Popen[bytes]] = field(default_factory=list)
    servers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self, *words: str, ready: float = 0.1) -> None:
        """A program that runs until the cell ends."""
        self.daemons.append(self._spawn(words))
        time.sleep(ready)

    def serve(self, namespace: str, port: str, out: Path) -> None:
        """A server of flowgen; stop_serving() makes it write its last records."""
        words = flowgen(namespace, "serve", "--port", port, "--out", str(out))
        self.servers.append(self._spawn(words))
        time.sleep(0.1)

    def stop_serving(self) -> None:
        """End the servers."""
        stop(self.servers)

    def _spawn(self, words: Sequence[str]) -> subprocess.Popen[bytes]:
        with (self.scratch / "daemons.log").open("ab") as log:
            return subprocess.Popen(words, stdout=log, stderr=log)

    def radios(self, stations: int, medium: bool = True) -> None:
        """The access point's radio and one for each station, each in a namespace `staN`."""
        run("insmod", self.hwsim, f"radios={stations + 1}")
        if medium:
            words = ("hwsim", "--phy", "hrdsss-11", "--retry", RETRIES, "--seed", "1")
            self.start(str(BIN / "dcfmedium"), *words)
        for number in range(1, stations + 1):
            run("ip", "netns", "add", f"sta{number}")
            # The kernel does not use a phy's number twice.
            phy = Path(f"/sys/class/net/wlan{number}/phy80211/name").read_text().strip()
            run("iw", "phy", phy, "set", "netns", "name", f"sta{number}")

    def access_point(self, conf: str) -> None:
        """hostapd with these settings, lasack on each of its devices."""
        path = self.scratch / "hostapd.conf"
        path.write_text(conf)
        self.start("hostapd", str(path), ready=1.0)
        for line in conf.splitlines():
            name, _, value = line.partition("=")
            if name in ("interface", "bss"):
                run("tc", "qdisc", "replace", "dev", value, "root", "lasack")

    def join(self, number: int, ssid: str = "lab") -> None:
        """A station associates; Broken if it is not authorized in the end."""
        device, inside = f"wlan{number}", ("ip", "netns", "exec", f"sta{number}")
        run(*inside, "ip", "link", "set", device, "up")
        run(*inside, "iw", "dev", device, "set", "power_save", "off")
        for _ in range(8):
            words = [*inside, "iw", "dev", device, "connect", "-w", ssid, FREQUENCY_MHZ]
            subprocess.run(words, capture_output=True)
            time.sleep(0.1)
            link = subprocess.run(
                [*inside, "iw", "dev", device, "link"], capture_output=True, text=True
            )
            if "Connected to" in link.stdout:
                return
        raise Broken(f"sta{number} does not associate")

    def end(self) -> None:
        stop(self.servers)
        stop(self.daemons)
        spaces = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True).stdout
        for line in spaces.splitlines():
            subprocess.run(["ip", "netns", "del", line.split()[0]], capture_output=True)
        time.sleep(0.5)  # the radios come back
        for device in ("br0", "eth0"):
            subprocess.run(["ip", "link", "del", device], capture_output=True)
        subprocess.run(["rmmod", "mac80211_hwsim"], capture_output=True)


def stop(running: list[subprocess.Popen[bytes]]) -> None:
    """End programs, the last first."""
    while running:
        program = running.pop()
        program.send_signal(signal.SIGTERM)
        program.wait()


@contextmanager
def cell(hwsim: str) -> Iterator[Cell]:
    """A cell that leaves nothing behind."""
    with tempfile.TemporaryDirectory(prefix="access-point-") as scratch:
        made = Cell(hwsim, Path(scratch))
        try:
            yield made
        finally:
            made.end()


@dataclass(frozen=True)
class Pair:
    """A station, and the server that it exchanges data with."""

    station: int
    server: str  # the server's namespace, "" for the access point
    server_address: str
    station_address: str


def flowgen(namespace: str, *words: str) -> list[str]:
    prefix = ["ip", "netns", "exec", namespace] if namespace else []
    return [*prefix, str(BIN / "flowgen"), *words]


def exchange(made: Cell, pairs: Sequence[Pair]) -> list[str]:
    """A download, an upload and datagrams for each pair, at once; what did not arrive."""
    served = {pair.server: made.scratch / f"served-{pair.server}" for pair in pairs}
    for server, out in served.items():
        made.serve(server, "7001", out)
    running: dict[str, subprocess.Popen[bytes]] = {}
    for pair in pairs:
        name, heard = f"sta{pair.station}", made.scratch / f"heard-{pair.station}"
        made.serve(name, "7002", heard)
        here = ["--host", pair.server_address, "--port", "7001", "--bytes", str(BYTES)]
        for direction in ("down", "up"):
            log = str(made.scratch / f"flow-{pair.station}")
            words = ["--id", f"{name}-{direction}", "--dir", direction, "--out", log]
            client = flowgen(name, "run", *words, *here)
            running[f"{name} {direction}"] = subprocess.Popen(client)
        there = ["--host", pair.station_address, "--port", "7002", "--every", "0.02"]
        words = ["--id", name, "--count", str(PULSES), "--bytes", "160", "--out", "/dev/null"]
        pulse = flowgen(pair.server, "pulse", *words, *there)
        running[f"{name} pulse"] = subprocess.Popen(pulse)
    wrong = [f"{name}: flowgen failed" for name, p in running.items() if p.wait(STUCK_S)]
    time.sleep(2)
    return wrong


def arrived(made: Cell, pairs: Sequence[Pair]) -> list[str]:
    """What flowgen's records lack, once its servers have ended."""
    wrong = []
    for pair in pairs:
        flows = [r for r in records(made.scratch / f"flow-{pair.station}") if r["event"] == "flow"]
        whole = [r for r in flows if r["bytes"] == BYTES and r["end_s"] and not r["error"]]
        if len(whole) != 2:
            wrong.append(f"sta{pair.station}: {len(whole)} of 2 transfers ended: {flows}")
        heard = [r for r in records(made.scratch / f"heard-{pair.station}") if "us" in r]
        count = sum(len(record["us"]) for record in heard)
        if count != PULSES:
            wrong.append(f"sta{pair.station}: {count} of {PULSES} datagrams arrived")
    return wrong


def records(path: Path) -> list[dict[str, Any]]:
    lines = path.read_text().splitlines() if path.exists() else []
    return [json.loads(line) for line in lines]


def left(device: str) -> list[str]:
    """What is wrong with lasack on a device where traffic has ended."""
    words = ["tc", "-s", "-j", "qdisc", "show", "dev", device, "root"]
    said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    (shown,) = json.loads(said)
    wrong = [
        f"{device}: {name} is {shown[name]}"
        for name in ("qlen", "backlog", "in_flight", "stalled", "overflow", "purged", "lost")
        if shown[name]
    ]
    accounted = shown["packets"] + shown["drops"] + shown["purged"]
    if shown["enqueued"] != accounted:
        wrong.append(f"{device}: enqueued {shown['enqueued']}, accounted for {accounted}")
    if shown["packets"] < BYTES / 1500:
        wrong.append(f"{device}: only {shown['packets']} packets went through lasack")
    return wrong


def findings(made: Cell, pairs: Sequence[Pair], devices: Sequence[str]) -> list[str]:
    """Traffic, and then what is not as it should be."""
    wrong = exchange(made, pairs)
    for device in devices:
        wrong += left(device)
    made.stop_serving()
    return wrong + arrived(made, pairs)


def wire(namespace: str) -> None:
    """eth0 here to eth0 in a namespace of its own, as an Ethernet port: frames, no segments."""
    run("ip", "netns", "add", namespace)
    run("ip", "link", "add", "eth0", "type", "veth", "peer", "name", "eth0", "netns", namespace)
    run("ethtool", "-K", "eth0", "tso", "off", "gso", "off")
    inside = ("ip", "netns", "exec", namespace)
    run(*inside, "ethtool", "-K", "eth0", "tso", "off", "gso", "off")
    for words in ((), inside):
        run(*words, "ip", "link", "set", "eth0", "up")


def address(namespace: str, device: str, value: str) -> None:
    nodad = ["nodad"] if ":" in value else []
    prefix = ["ip", "-n", namespace] if namespace else ["ip"]
    run(*prefix, "address", "add", value, "dev", device, *nodad)


def two_stations(made: Cell, at: str, server: str, stations: str, prefix: int) -> list[Pair]:
    """Both join, with the addresses STATIONS1 and STATIONS2; SERVER is in the namespace @at."""
    pairs = []
    for number in (1, 2):
        made.join(number)
        address(f"sta{number}", f"wlan{number}", f"{stations}{number}/{prefix}")
        pairs.append(Pair(number, at, server, f"{stations}{number}"))
    return pairs


def bridged(made: Cell) -> list[str]:
    """The access point has no address: what comes from the wire is bridged to the air."""
    wire("wired")
    run("ip", "link", "add", "br0", "type", "bridge")
    run("ip", "link", "set", "eth0", "master", "br0")
    run("ip", "link", "set", "br0", "up")
    made.radios(2)
    made.access_point(f"{HOSTAPD}bridge=br0\n")
    address("wired", "eth0", "10.1.0.1/24")
    pairs = two_stations(made, "wired", "10.1.0.1", "10.1.0.1", 24)
    return findings(made, pairs, ["wlan0"])


def ipv6(made: Cell) -> list[str]:
    """IPv6 alone; TCP's connections are flows of their own."""
    made.radios(2)
    made.access_point(HOSTAPD)
    address("", "wlan0", "fd00::1/64")
    wrong = findings(made, two_stations(made, "", "fd00::1", "fd00::1", 64), ["wlan0"])
    classes = subprocess.run(
        ["tc", "-s", "class", "show", "dev", "wlan0"], capture_output=True, text=True
    ).stdout
    if classes.count("protocol 6 ") != 4 or "fd00::" not in classes:
        wrong.append(f"not four TCP flows over IPv6: {classes}")
    return wrong


def two_names(made: Cell) -> list[str]:
    """Two network names on one radio: a device and a lasack for each.

    dcfmedium knows one address for each radio, so the air is hwsim's own, on which nothing
    collides and nothing waits.
    """
    made.radios(2, medium=False)
    made.access_point(f"{HOSTAPD}bssid=02:00:00:00:00:00\nbss=wlan0_1\nssid=guests\n")
    pairs = []
    for number, (device, ssid) in enumerate((("wlan0", "lab"), ("wlan0_1", "guests")), start=1):
        made.join(number, ssid)
        address("", device, f"10.{number}.0.1/24")
        address(f"sta{number}", f"wlan{number}", f"10.{number}.0.2/24")
        pairs.append(Pair(number, "", f"10.{number}.0.1", f"10.{number}.0.2"))
    return findings(made, pairs, ["wlan0", "wlan0_1"])


SETUPS: dict[str, Callable[[Cell], list[str]]] = {
    "bridged": bridged,
    "ipv6": ipv6,
    "two-names": two_names,
}


def main(arguments: Sequence[str]) -> int:
    """All set-ups, or those named."""
    hwsim, names = arguments[0], arguments[1:] or list(SETUPS)
    ktap = Ktap(len(names), nested=True)
    os.environ.setdefault("TC_LIB_DIR", str(ROOT / "build" / "tc"))
    for name in names:
        try:
            with cell(hwsim) as made:
                said = SETUPS[name](made)
        except (Broken, subprocess.SubprocessError) as broken:
            said = [str(broken)]
        ktap.result(not said, f"{name}: everything arrives, nothing stays queued", *said)
    return ktap.end()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
