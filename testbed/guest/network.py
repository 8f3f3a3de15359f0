# SPDX-License-Identifier: GPL-2.0-only
"""The machines of a cell: namespaces, the wire, routes, neighbours, queues and their counters."""

from __future__ import annotations

import json
import os
import shlex
import time
from pathlib import Path

from apbed.scenario.plan import AccessPoint, Plan, Programs, Stations, Tcp, Wired
from guest.addresses import (
    GATEWAY_AIR,
    GATEWAY_WIRED,
    WIRED_ADDRESS,
    radio_address,
    station_address,
)
from guest.commands import configure, inside, link_address, run


class Network:
    """A namespace for each machine; the access point is the first one, with no name."""

    def __init__(self, run_dir: Path, plan: Plan, programs: Programs) -> None:
        self.run_dir, self.plan = run_dir, plan
        self.stations = plan.stations
        self.tc_env = dict(os.environ, TC_LIB_DIR=programs.tc_lib_dir)

    def machines(self) -> None:
        """The namespaces, the wire behind the access point and the stations' radios."""
        run(["sysctl", "-qw", "net.ipv4.ip_forward=1", "net.ipv6.conf.all.disable_ipv6=1"])
        for name in ["wired", *self.stations]:
            run(["ip", "netns", "add", name])
            quiet = "net.ipv6.conf.all.disable_ipv6=1"
            run(inside(name, ["sysctl", "-qw", quiet, "net.ipv6.conf.default.disable_ipv6=1"]))
            role = self.plan.wired if name == "wired" else self.plan.station
            if sysctls := window_sysctls(self.plan.tcp) | role.sysctls:
                words = [f"{key}={value}" for key, value in sysctls.items()]
                run(inside(name, ["sysctl", "-qw", *words]))
        run(["ip", "link", "add", "eth0", "type", "veth", "peer", "eth0", "netns", "wired"])
        # An Ethernet port hands the access point frames, not segments of 64 kB.
        for namespace in (None, "wired"):
            run(inside(namespace, ["ethtool", "-K", "eth0", "tso", "off", "gso", "off"]))
        configure(None, "eth0", GATEWAY_WIRED)
        configure("wired", "eth0", WIRED_ADDRESS)
        wired = self.plan.wired
        self.route("wired", GATEWAY_WIRED, wired.window, wired.initcwnd)
        for number, name in enumerate(self.stations, start=1):
            run(["iw", "phy", f"phy{number}", "set", "netns", "name", name])
        self.devices()
        if words := wire_words("eth0", wired):
            for namespace in (None, "wired"):
                run(inside(namespace, words))

    def devices(self) -> None:
        """The largest packet of every device, if the plan says one."""
        if not (mtu := self.plan.tcp.mtu):
            return
        places: list[tuple[str | None, str]] = [(None, "eth0"), ("wired", "eth0"), (None, "wlan0")]
        places += [(name, f"wlan{number}") for number, name in enumerate(self.stations, start=1)]
        for namespace, device in places:
            run(inside(namespace, ["ip", "link", "set", device, "mtu", str(mtu)]))

    def route(self, namespace: str, gateway: str, window: int, initcwnd: int = 0) -> None:
        """The way out of a machine."""
        words = route_words("default", gateway, self.plan.tcp, window)
        words += ["initcwnd", str(initcwnd)] if initcwnd else []
        run(inside(namespace, words))

    def neighbours(self) -> None:
        """Permanent neighbours: ARP's random timers would differ from run to run."""
        wire = {side: link_address(side, "eth0") for side in (None, "wired")}
        known: list[tuple[str | None, str, str, str]] = [
            (None, "eth0", WIRED_ADDRESS, wire["wired"]),
            ("wired", "eth0", GATEWAY_WIRED, wire[None]),
        ]
        for number, name in enumerate(self.stations, start=1):
            known.append((None, "wlan0", station_address(name), radio_address(number)))
            known.append((name, f"wlan{number}", GATEWAY_AIR, radio_address(0)))
        for namespace, device, address, lladdr in known:
            words = ["ip", "neigh", "replace", address, "lladdr", lladdr, "dev", device]
            run(inside(namespace, [*words, "nud", "permanent"]))

    def queues(self) -> None:
        """The scheduler under test on the access point, and the stations' own queue."""
        self.attach(None, "wlan0", self.plan.ap)
        for number, name in enumerate(self.stations, start=1):
            self.attach(name, f"wlan{number}", self.plan.station)

    def attach(self, namespace: str | None, device: str, queue: AccessPoint | Stations) -> None:
        """The queue of a machine's radio."""
        for words in queue_words(device, queue):
            run(inside(namespace, words), env=self.tc_env)

    def snapshot(self, name: str) -> None:
        """The access point's queue as `tc` shows it now."""
        words = ["tc", "-s", "-j", "qdisc", "show", "dev", "wlan0"]
        (self.run_dir / name).write_text(run(words, env=self.tc_env))

    def watch(self, t0: float) -> None:
        """Keep the queue's state at this moment too, if the plan asks for that."""
        if not self.plan.ap.watch:
            return
        words = ["tc", "-s", "-j", "qdisc", "show", "dev", "wlan0"]
        state = {"t_s": time.monotonic() - t0, "qdisc": json.loads(run(words, env=self.tc_env))}
        with (self.run_dir / "qdisc_watched.jsonl").open("a") as log:
            log.write(json.dumps(state) + "\n")

    def counters(self) -> None:
        """The kernel's TCP counters of every machine that has connections, by their MIB names."""
        found = {
            name: mib_counters(run(inside(name, ["cat", "/proc/net/snmp", "/proc/net/netstat"])))
            for name in ["wired", *self.stations]
        }
        (self.run_dir / "counters.json").write_text(json.dumps(found, indent=1) + "\n")

    def receive_buffers(self) -> dict[str, str]:
        """tcp_rmem of every machine: the window that it advertises follows from it."""
        words = ["sysctl", "-n", "net.ipv4.tcp_rmem"]
        machines = ["wired", *self.stations]
        return {name: " ".join(run(inside(name, words)).split()) for name in machines}


def route_words(destination: str, gateway: str, tcp: Tcp, window: int) -> list[str]:
    """A route, with what TCP asks of its peers there: segment size, receive window."""
    words = ["ip", "route", "add", destination, "via", gateway]
    if tcp.mss:
        words += ["advmss", str(tcp.mss)]
    return [*words, "window", str(window)] if window else words


def window_sysctls(tcp: Tcp) -> dict[str, int | str]:
    """The congestion control that has no more than so many segments in flight."""
    return {"net.ipv4.tcp_congestion_control": "lab_window"} if tcp.window_segments else {}


def wire_words(device: str, wired: Wired) -> list[str]:
    """One end of a wire with a delay, a rate or both; none without."""
    netem = ["delay", f"{wired.delay_ms}ms"] if wired.delay_ms else []
    netem += ["rate", f"{wired.rate_mbps}mbit"] if wired.rate_mbps else []
    if not netem:
        return []
    return ["tc", "qdisc", "replace", "dev", device, "root", "netem", "limit", "100000", *netem]


def queue_words(device: str, queue: AccessPoint | Stations) -> list[list[str]]:
    """`qdisc` at the root, or below a bound of `inflight` packets to the radio."""
    replace = ["tc", "qdisc", "replace", "dev", device]
    bound, where = [], ["root"]
    if queue.inflight:
        limit = ["inflight", "limit", str(queue.inflight), "stall", f"{queue.stall_ms}ms"]
        bound, where = [[*replace, "root", "handle", "1:", *limit]], ["parent", "1:1"]
    handle = ["handle", "2:"] if queue.qdisc != "noqueue" else []
    return [*bound, [*replace, *where, *handle, *shlex.split(queue.qdisc)]]


def mib_counters(text: str) -> dict[str, int]:
    """Tcp and TcpExt of /proc/net/snmp and netstat: a line of names, then one of values."""
    lines = [line.split() for line in text.splitlines()]
    found: dict[str, int] = {}
    for names, values in zip(lines[::2], lines[1::2], strict=True):
        if names[0] in ("Tcp:", "TcpExt:"):
            found |= dict(zip(names[1:], map(int, values[1:]), strict=True))
    return found
