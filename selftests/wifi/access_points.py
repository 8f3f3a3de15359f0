#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Access points as people set them up: nothing is lost in lasack, and nothing stays stuck.

Principle: downloads, uploads and a stream of datagrams go through hostapd's access point on
simulated radios. Every transfer arrives whole, and of the datagrams all but those that lasack has
dropped because they were late. Afterwards no packet is queued or in flight, and of every packet
that came lasack knows what became of it.

Run by watched.sh, where the modules are loaded:

    access_points.py HWSIM [SETUP]...

HWSIM is the path of mac80211_hwsim.ko, or its name for modprobe. A SETUP is one of bridged, ipv6,
two-names, two-names-without-medium, vlan, four-address, nat.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))

import access_point as ap
from access_point import CHANNELS_MHZ, Cell
from exchange import PACKETS, Exchange, Pair
from lab_network import run
from setups import Absent, Setup, run_setups

SECOND_ADDRESS = "42:00:00:00:00:00"  # of the first radio of hwsim
HOLDS = "everything arrives, nothing stays queued"
# The stations' addresses do not leave: outside, each has one of eth0's. What the flowtable
# knows goes from one device to the other without the rules.
NAT = """\
table ip lab {
	flowtable known { hook ingress priority 0; devices = { eth0, wlan0 }; }
	chain forward {
		type filter hook forward priority 0;
		ip protocol { tcp, udp } flow add @known
	}
	chain from_outside {
		type nat hook prerouting priority -100;
		iif eth0 dnat to ip daddr map { 10.9.0.11 : 10.1.0.11, 10.9.0.12 : 10.1.0.12 }
	}
	chain to_outside {
		type nat hook postrouting priority 100;
		oif eth0 snat to ip saddr map { 10.1.0.11 : 10.9.0.11, 10.1.0.12 : 10.9.0.12 }
	}
}
"""
FORWARD = Path("/proc/sys/net/ipv4/ip_forward")
CONNECTIONS = Path("/proc/net/nf_conntrack")


def findings(
    made: Cell,
    pairs: Sequence[Pair],
    devices: Sequence[str],
    meanwhile: Callable[[], list[str]] = list,
    backpressure: str = "air",
) -> list[str]:
    """Traffic, and then what is not as it should be; `meanwhile` looks while it flows."""
    exchange = Exchange(made, pairs)
    time.sleep(1)
    wrong = meanwhile() + exchange.wait()
    for device in devices:
        wrong += ap.left(device, PACKETS, backpressure)
    late = sum(ap.statistics(device)["late"] for device in devices)
    return wrong + exchange.end(dropped=late)


def all_join(made: Cell, at: str, server: str, net: str, prefix: int) -> list[Pair]:
    """Every station, with the address NET and its number; SERVER is in the namespace @at."""
    pairs = []
    for number in made.stations:
        made.join(number)
        name = f"sta{number}"
        ap.address(name, f"wlan{number}", f"{net}{number}/{prefix}")
        pairs.append(Pair(name, f"{net}{number}", at, server))
    return pairs


def bridged(made: Cell) -> list[str]:
    """The access point has no address: what comes from the wire is bridged to the air."""
    ap.wire("wired")
    ap.bridge("br0", "eth0")
    made.radios(2)
    made.access_point("bridge=br0\n")
    ap.address("wired", "eth0", "10.1.0.1/24")
    return findings(made, all_join(made, "wired", "10.1.0.1", "10.1.0.1", 24), ["wlan0"])


def ipv6(made: Cell) -> list[str]:
    """IPv6 alone; TCP's connections are flows of their own."""
    made.radios(2)
    made.access_point()
    ap.address("", "wlan0", "fd00::1/64")
    pairs = all_join(made, "", "fd00::1", "fd00::1", 64)
    return findings(made, pairs, ["wlan0"], four_flows_over_ipv6)


def four_flows_over_ipv6() -> list[str]:
    """Of both stations lasack must know a download and an upload, while they are open."""
    words = ["tc", "-s", "class", "show", "dev", "wlan0"]
    classes = subprocess.run(words, capture_output=True, text=True).stdout
    if classes.count("protocol 6 from fd00::") == 4:
        return []
    return [f"not four TCP flows over IPv6: {classes}"]


def two_names(made: Cell) -> list[str]:
    """Two network names on one radio: a device and a lasack for each.

    A radio of hwsim has a second address, by which dcfmedium hands frames over to it. As the
    second network's, it is a station of its own to dcfmedium. Only the first one sends.
    """
    guests = f"{SECOND_ADDRESS},name=guests,freq={CHANNELS_MHZ[1]}"
    made.radios(2, medium=("--station", guests))
    return two_networks(made, "air")


def two_names_without_medium(made: Cell) -> list[str]:
    """The same on hwsim's own air, on which nothing collides and nothing waits."""
    made.radios(2, retries="")
    return two_networks(made, "none")


def two_networks(made: Cell, backpressure: str) -> list[str]:
    """A station in each."""
    first = "bssid=02:00:00:00:00:00\n"
    made.access_point(f"{first}bss=wlan0_1\nbssid={SECOND_ADDRESS}\nssid=guests\n")
    pairs = []
    for number, (device, ssid) in enumerate((("wlan0", "lab"), ("wlan0_1", "guests")), start=1):
        made.join(number, ssid)
        ap.address("", device, f"10.{number}.0.1/24")
        ap.address(f"sta{number}", f"wlan{number}", f"10.{number}.0.2/24")
        pairs.append(Pair(f"sta{number}", f"10.{number}.0.2", "", f"10.{number}.0.1"))
    return findings(made, pairs, ["wlan0", "wlan0_1"], backpressure=backpressure)


def vlan(made: Cell) -> list[str]:
    """One station in a VLAN of its own, and one in none: two devices (AP_VLAN), one address.

    Each device has a lasack. The packets of both go through the one queue of the radio.
    """
    made.radios(2)
    accepted, vlans = made.scratch / "accepted", made.scratch / "vlans"
    accepted.write_text(f"{ap.mac_address('wlan1', 'sta1')} 7\n")
    vlans.write_text("7 wlan0.7 br7\n")
    made.access_point(f"dynamic_vlan=1\naccept_mac_file={accepted}\nvlan_file={vlans}\n")
    ap.put_lasack("wlan0.7")
    ap.address("", "br7", "10.7.0.1/24")
    ap.address("", "wlan0", "10.1.0.1/24")
    pairs = []
    for number, net in ((1, "10.7.0"), (2, "10.1.0")):
        made.join(number)
        ap.address(f"sta{number}", f"wlan{number}", f"{net}.2/24")
        pairs.append(Pair(f"sta{number}", f"{net}.2", "", f"{net}.1"))
    return findings(made, pairs, ["wlan0", "wlan0.7"])


def four_address(made: Cell) -> list[str]:
    """A station that is a bridge, with two hosts behind it, beside an ordinary one.

    hostapd makes a device (AP_VLAN) for the first. To its lasack each host is a station.
    """
    made.radios(2)
    ap.bridge("br0")
    made.access_point("bridge=br0\nwds_sta=1\n")
    ap.address("", "br0", "10.1.0.1/24")
    run("ip", "netns", "exec", "sta1", "iw", "dev", "wlan1", "set", "4addr", "on")
    for host in (3, 4):
        ap.wire(f"host{host}", f"eth{host}", inside="sta1")
        ap.address(f"host{host}", "eth0", f"10.1.0.1{host}/24")
    ap.bridge("br1", "wlan1", "eth3", "eth4", namespace="sta1")
    made.join(1)
    ap.wait_for_device("wlan0.sta1")
    ap.put_lasack("wlan0.sta1")
    made.join(2)
    ap.address("sta2", "wlan2", "10.1.0.12/24")
    spaces = (("host3", 13), ("host4", 14), ("sta2", 12))
    pairs = [Pair(name, f"10.1.0.{last}", "", "10.1.0.1") for name, last in spaces]
    wrong = findings(made, pairs, ["wlan0", "wlan0.sta1"])
    if (stations := ap.statistics("wlan0.sta1")["stations"]) < 2:
        wrong.append(f"lasack of wlan0.sta1 knows {stations} stations, not both hosts")
    return wrong


@contextmanager
def nat_rules() -> Iterator[None]:
    """NAT with a flowtable between eth0 and wlan0; Absent if there is no nftables."""
    if not shutil.which("nft"):
        raise Absent("no program nft")
    listed = subprocess.run(["nft", "list", "tables"], capture_output=True, text=True)
    if listed.returncode:
        raise Absent(f"no nftables (CONFIG_NF_TABLES): {listed.stderr.strip()}")
    subprocess.run(["nft", "-f", "-"], input=NAT, text=True, check=True)
    FORWARD.write_text("1\n")
    try:
        yield
    finally:
        FORWARD.write_text("0\n")
        run("nft", "delete", "table", "ip", "lab")


def nat(made: Cell) -> list[str]:
    """A router with NAT, whose flowtable (in software) forwards what it knows."""
    ap.wire("wired")
    ap.address("wired", "eth0", "10.9.0.1/24")
    for value in ("10.9.0.2/24", "10.9.0.11/24", "10.9.0.12/24"):
        ap.address("", "eth0", value)
    made.radios(2)
    made.access_point()
    ap.address("", "wlan0", "10.1.0.1/24")
    with nat_rules():
        inside = all_join(made, "wired", "10.9.0.1", "10.1.0.1", 24)
        for pair in inside:
            run("ip", "-n", pair.client, "route", "add", "default", "via", "10.1.0.1")
        outside = {pair: pair.client_address.replace("10.1.", "10.9.") for pair in inside}
        pairs = [replace(pair, client_address=where) for pair, where in outside.items()]
        return findings(made, pairs, ["wlan0"], known_to_flowtable)


def known_to_flowtable() -> list[str]:
    """Of both stations it must know a download, an upload and the datagrams."""
    known = CONNECTIONS.read_text().count("[OFFLOAD]")
    return [] if known == 6 else [f"the flowtable knows {known} connections, not 6"]


SETUPS: dict[str, Setup] = {
    "bridged": bridged,
    "ipv6": ipv6,
    "two-names": two_names,
    "two-names-without-medium": two_names_without_medium,
    "vlan": vlan,
    "four-address": four_address,
    "nat": nat,
}


if __name__ == "__main__":
    sys.exit(run_setups(SETUPS, HOLDS, sys.argv[1:]))
