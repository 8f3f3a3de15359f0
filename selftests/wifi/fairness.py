#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""A download gets as much as an upload through lasack, and less without it.

Principle: one station downloads while another one uploads, through hostapd's access point, over
dcfmedium, where whoever has a frame contends for the air. Then the same without lasack, so that it
is known that there was something to be fair about.

Run by watched.sh, where the modules are loaded:

    fairness.py HWSIM [SETUP]...

HWSIM is the path of mac80211_hwsim.ko, or its name for modprobe. A SETUP is wpa2.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))

import access_point as ap
from access_point import Cell
from air_capture import data_by_kind
from exchange import PACKETS, flowgen, records
from lab_network import Broken, run
from setups import Setup, run_setups

HOLDS = "down/up is near 1 with lasack, and not with pfifo"
LASACK_AT_LEAST, LASACK_AT_MOST = 0.85, 1.15
# The access point and the station that uploads have the air equally often. With an ACK for two
# packets a first-in first-out queue gives a download half of what an upload has.
PFIFO_AT_MOST = 0.7
PFIFO = ("root handle 1: inflight limit 1", "parent 1:1 pfifo limit 100")
WARM_UP_S, MEASURED_S = 3, 10
STUCK_S = 60.0
RETRIES = "7"  # attempts, as usual; then a frame is lost
SERVER, PORT = "10.1.0.1", "7001"


def read(log: Path, flow: str) -> int:
    """Bytes that a flow's receiver has read since the warm-up."""
    samples = [
        record["bytes"]
        for record in records(log)
        if record["event"] == "sample" and record["id"] == flow
    ]
    if len(samples) < WARM_UP_S + MEASURED_S:
        raise Broken(f"{flow}: nothing was received for so long: {samples}")
    return int(samples[WARM_UP_S + MEASURED_S - 1] - samples[WARM_UP_S - 1])


def down_to_up(made: Cell, name: str) -> float:
    """The first station uploads and the second one downloads; the ratio of what they carried."""
    logs = {direction: made.scratch / f"{name}-{direction}" for direction in ("up", "down")}
    served = made.scratch / f"{name}-served"
    server = made.start(*flowgen("wired", "serve", "--port", PORT, "--out", str(served)))
    clients = []
    for number, (direction, log) in zip(made.stations, logs.items(), strict=True):
        words = ["--id", direction, "--dir", direction, "--host", SERVER, "--port", PORT]
        # A second more, because the last sample may come too late for the end.
        words += ["--seconds", str(WARM_UP_S + MEASURED_S + 1), "--out", str(log)]
        clients.append(made.start(*flowgen(f"sta{number}", "run", *words), ready=0))
    for client in clients:
        client.wait(STUCK_S)
    time.sleep(2)  # the queues become empty
    made.stop(server)
    down, up = read(logs["down"], "down"), read(served, "up")
    if not up:
        raise Broken(f"nothing was uploaded: {name}")
    return down / up


def compared(made: Cell) -> list[str]:
    """Of lasack, and then of pfifo."""
    found = down_to_up(made, "lasack")
    wrong = ap.left("wlan0", PACKETS, "air", lossless=False)
    if not LASACK_AT_LEAST <= found <= LASACK_AT_MOST:
        wrong.append(f"lasack: down/up is {found:.2f}")
    for words in PFIFO:
        run("tc", "qdisc", "replace", "dev", "wlan0", *words.split())
    found = down_to_up(made, "pfifo")
    if found > PFIFO_AT_MOST:
        wrong.append(f"pfifo: down/up is {found:.2f}, so there was nothing to make fair")
    return wrong


def wpa2(made: Cell) -> list[str]:
    """hostapd and wpa_supplicant agree on keys; from then on no data is sent without them."""
    capture = made.scratch / "air.pcapng"
    ap.wire("wired")
    ap.address("wired", "eth0", f"{SERVER}/24")
    ap.bridge("br0", "eth0")
    made.radios(2, retries=RETRIES, medium=("--pcap", str(capture)))
    made.access_point(f"bridge=br0\n{ap.WPA2}")
    for number in made.stations:
        made.supplicant(number, ap.WPA2_STATION)
        ap.address(f"sta{number}", f"wlan{number}", f"10.1.0.1{number}/24")
    wrong = compared(made)
    made.end_medium()
    data = data_by_kind(capture)
    if data["open"] or data["encrypted"] < PACKETS:
        wrong.append(f"data frames: {dict(data)}")
    return wrong


SETUPS: dict[str, Setup] = {"wpa2": wpa2}


if __name__ == "__main__":
    sys.exit(run_setups(SETUPS, HOLDS, sys.argv[1:]))
