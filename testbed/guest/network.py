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
    station_number,
)
from guest.commands import (
    address_commands,
    batch,
    link_address,
    namespace,
    run,
    set_sysctls,
    sysctl,
)

NO_IPV6 = "net.ipv6.conf.all.disable_ipv6"


class Network:
    """A namespace for each machine; the access point is the first one, with no name."""

    def __init__(self, run_dir: Path, plan: Plan, programs: Programs) -> None:
        self.run_dir, self.plan = run_dir, plan
        self.stations = plan.stations
        self.tc_env = dict(os.environ, TC_LIB_DIR=programs.tc_lib_dir)

    def machines(self) -> None:
        """The namespaces, the wire behind the access point and the stations' radios."""
        set_sysctls({"net.ipv4.ip_forward": 1, NO_IPV6: 1})
        names = ["wired", *self.stations]
        veth = ["ip", "link", "add", "eth0", "type", "veth", "peer", "eth0", "netns", "wired"]
        batch([*(["ip", "netns", "add", name] for name in names), veth])
        for name in names:
            role = self.plan.wired if name == "wired" else self.plan.station
            quiet: dict[str, int | str] = {NO_IPV6: 1, "net.ipv6.conf.default.disable_ipv6": 1}
            with namespace(name):
                set_sysctls(quiet | window_sysctls(self.plan.tcp) | role.sysctls)
        self.wire()
        for number, name in enumerate(self.stations, start=1):
            run(["iw", "phy", f"phy{number}", "set", "netns", "name", name])
        if self.plan.tcp.mtu:
            self.devices()

    def wire(self) -> None:
        """Both ends of the wire, and the wired machine's way out."""
        wired = self.plan.wired
        route = route_words("default", GATEWAY_WIRED, self.plan.tcp, wired.window)
        route += ["initcwnd", str(wired.initcwnd)] if wired.initcwnd else []
        ends = {None: (GATEWAY_WIRED, []), "wired": (WIRED_ADDRESS, [route])}
        words = wire_words("eth0", wired)
        for name, (address, routes) in ends.items():
            with namespace(name):
                # An Ethernet port hands the access point frames, not segments of 64 kB.
                run(["ethtool", "-K", "eth0", "tso", "off", "gso", "off"])
                batch([*address_commands("eth0", address), *routes])
                if words:
                    run(words)

    def devices(self) -> None:
        """The largest packet of every device."""
        devices = {None: ["eth0", "wlan0"], "wired": ["eth0"]} | {
            name: [f"wlan{number}"] for number, name in enumerate(self.stations, start=1)
        }
        mtu = ["mtu", str(self.plan.tcp.mtu)]
        for name, own in devices.items():
            with namespace(name):
                batch([["ip", "link", "set", device, *mtu] for device in own])

    def station(self, name: str) -> None:
        """A station's address on the air, its way out, and the access point as its neighbour."""
        device = f"wlan{station_number(name)}"
        route = route_words("default", GATEWAY_AIR, self.plan.tcp, self.plan.station.window)
        neighbour = neighbour_words(device, GATEWAY_AIR, radio_address(0))
        batch([*address_commands(device, station_address(name)), route, neighbour])

    def neighbours(self) -> None:
        """Permanent neighbours: ARP's random timers would differ from run to run."""
        wire: dict[str | None, str] = {}
        for side in (None, "wired"):
            with namespace(side):
                wire[side] = link_address("eth0")
        own = [neighbour_words("eth0", WIRED_ADDRESS, wire["wired"])]
        for number, name in enumerate(self.stations, start=1):
            own.append(neighbour_words("wlan0", station_address(name), radio_address(number)))
        batch(own)
        with namespace("wired"):
            batch([neighbour_words("eth0", GATEWAY_WIRED, wire[None])])

    def queues(self) -> None:
        """The scheduler under test on the access point, and the stations' own queue."""
        self.attach(None, "wlan0", self.plan.ap)
        for number, name in enumerate(self.stations, start=1):
            self.attach(name, f"wlan{number}", self.plan.station)

    def attach(self, name: str | None, device: str, queue: AccessPoint | Stations) -> None:
        """The queue of a machine's radio."""
        with namespace(name):
            batch(queue_words(device, queue), self.tc_env)

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
        found = {}
        for name in ["wired", *self.stations]:
            with namespace(name):
                tables = [Path("/proc/net", table).read_text() for table in ("snmp", "netstat")]
            found[name] = mib_counters("".join(tables))
        (self.run_dir / "counters.json").write_text(json.dumps(found, indent=1) + "\n")

    def receive_buffers(self) -> dict[str, str]:
        """tcp_rmem of every machine: the window that it advertises follows from it."""
        found = {}
        for name in ["wired", *self.stations]:
            with namespace(name):
                found[name] = " ".join(sysctl("net.ipv4.tcp_rmem").read_text().split())
        return found


def route_words(destination: str, gateway: str, tcp: Tcp, window: int) -> list[str]:
    """A route, with what TCP asks of its peers there: segment size, receive window."""
    words = ["ip", "route", "add", destination, "via", gateway]
    if tcp.mss:
        words += ["advmss", str(tcp.mss)]
    return [*words, "window", str(window)] if window else words


def neighbour_words(device: str, address: str, link: str) -> list[str]:
    """A permanent neighbour."""
    words = ["ip", "neigh", "replace", address, "lladdr", link, "dev", device]
    return [*words, "nud", "permanent"]


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
    scheduler = [*replace, *where, *handle, *shlex.split(queue.qdisc)]
    children = (queue.child, queue.ack_child) if isinstance(queue, AccessPoint) else ()
    attached = [
        [*replace, "parent", f"2:{minor}", *shlex.split(child)]
        for minor, child in enumerate(children, 1)
        if child
    ]
    return [*bound, scheduler, *attached]


def mib_counters(text: str) -> dict[str, int]:
    """Tcp and TcpExt of /proc/net/snmp and netstat: a line of names, then one of values."""
    lines = [line.split() for line in text.splitlines()]
    found: dict[str, int] = {}
    for names, values in zip(lines[::2], lines[1::2], strict=True):
        if names[0] in ("Tcp:", "TcpExt:"):
            found |= dict(zip(names[1:], map(int, values[1:]), strict=True))
    return found
