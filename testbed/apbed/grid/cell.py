# SPDX-License-Identifier: GPL-2.0-only
"""One run on real nodes: the cell of testbed/guest/cell.py, each machine of it a node.

Principle: the same commands as in the lab, said to nodes instead of namespaces. Whatever is
changed on a node is in its journal first, so this only builds up; nodes.sessions() takes down.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from pathlib import Path

from apbed.checkout import BUILD
from apbed.grid.air import Air
from apbed.grid.file import Grid
from apbed.grid.nodes import at_once
from apbed.grid.session import NodeError, Session
from apbed.scenario.plan import AccessPoint, Plan, Programs, Stations
from guest.addresses import GATEWAY_AIR, GATEWAY_WIRED, WIRED_ADDRESS, station_address
from guest.network import queue_words, route_words, wire_words
from guest.traffic import transfer_list

AIR_NET, WIRED_NET = "10.1.0.0/24", "10.0.0.0/24"
SNAP_BYTES = 256  # of each packet in a capture: its headers


class GridCell:
    """A plan on the sessions of its nodes, up to the first flow."""

    def __init__(
        self,
        grid: Grid,
        plan: Plan,
        programs: Programs,
        nodes: Mapping[str, Session],
        notes: list[str],
    ) -> None:
        self.grid, self.plan, self.programs, self.nodes = grid, plan, programs, nodes
        self.ap, self.wired = nodes["ap"], nodes["wired"]
        self.stations = [nodes[name] for name in plan.stations]
        self.air = Air(grid, plan, notes)
        self.captured: Session | None = None

    def steps(self) -> dict[str, Callable[[], None]]:
        """Everything before the first flow, in this order."""
        return {
            "upload": self.upload,
            "keep": self.keep,
            "modules": self.modules,
            "wire": self.wire,
            "access-point": self.access_point,
            "associate": self.associate,
            "queues": self.queues,
            "capture": self.capture,
        }

    def upload(self) -> None:
        """Programs, modules and configuration, to each node what it needs."""
        at_once(self._upload, self.nodes.values())

    def _upload(self, session: Session) -> None:
        name, stations = session.node.name, self.plan.stations
        files: dict[str, bytes] = {}
        if name in ("ap", *stations):
            for path in [*self.programs.modules, *map(str, sorted((BUILD / "tc").glob("q_*.so")))]:
                below = self._below(path)
                files[below] = (BUILD / below).read_bytes()
        if name in ("wired", *stations):
            below = self._below(self.programs.flowgen)
            files[below] = (BUILD / below).read_bytes()
        if name == "ap":
            files["hostapd.conf"] = self.air.hostapd_conf(session.node).encode()
        elif name in stations:
            files["wpa_supplicant.conf"] = self.air.supplicant_conf().encode()
            files["transfers.list"] = transfer_list(self.plan, name).encode()
        session.upload(files)
        if name in ("wired", *stations):
            session.shell(f"{shlex.quote(self.programs.flowgen)} --help > /dev/null")

    def _below(self, path: str) -> str:
        """A file's name below build/ here, and below DIRECTORY/files there."""
        there = Path(self.grid.directory, "files")
        return str(Path(path).relative_to(there if Path(path).is_relative_to(there) else BUILD))

    def keep(self) -> None:
        """What the run will change is in every journal before it is changed."""
        at_once(self._keep, self.nodes.values())

    def _keep(self, session: Session) -> None:
        node = session.node
        session.shell("keep_modules")
        for device in filter(None, (node.wlan, node.wired)):
            quiet = f"/proc/sys/net/ipv6/conf/{device}/disable_ipv6"
            session.shell(f"! [ -e {quiet} ] || {{ keep_setting {quiet} && echo 1 > {quiet}; }}")
            session.shell(f"keep_link {device}")
        if node.wlan:
            session.shell(f"keep_wifi {node.wlan}")
        if node.name == "ap" or node in self.grid.stations:
            self.air.keep(session)
        if node.name == "ap":
            self._set(session, "net.ipv4.ip_forward", 1)
        elif node.name != "monitor":
            # A node remembers a peer's window and threshold from run to run, a fresh kernel not.
            self._set(session, "net.ipv4.tcp_no_metrics_save", 1)
            role = self.plan.wired if node.name == "wired" else self.plan.station
            for key, value in role.sysctls.items():
                self._set(session, key, value)

    @staticmethod
    def _set(session: Session, key: str, value: int | str) -> None:
        path = "/proc/sys/" + key.replace(".", "/")
        words = f"printf '%s\\n' {shlex.quote(str(value))} > {path}"
        session.shell(f"keep_setting {path} && {words}")

    def modules(self) -> None:
        """Our modules, where a queue of ours may be asked for."""

        def load(session: Session) -> None:
            for path in self.programs.modules:
                # Nodes that are namespaces of one kernel share its modules.
                there = f"[ -e /sys/module/{Path(path).stem} ]"
                session.shell(f"{there} || insmod {shlex.quote(path)} || {there}")

        at_once(load, [self.ap, *self.stations])

    def wire(self) -> None:
        """Addresses and routes between access point and wired host, and the wire's delay."""
        ends = ((self.ap, GATEWAY_WIRED), (self.wired, WIRED_ADDRESS))
        for session, address in ends:
            device = session.node.wired
            session.run(["ip", "address", "add", f"{address}/24", "dev", device])
            session.run(["ip", "link", "set", device, "up"])
            if words := wire_words(device, self.plan.wired):
                self._queue(session, device, [words])
        self._route(self.wired, AIR_NET, GATEWAY_WIRED, self.plan.wired.window)

    def access_point(self) -> None:
        """hostapd, and the access point's address on the air."""
        self.air.serve(self.ap)
        self.ap.run(["ip", "address", "add", f"{GATEWAY_AIR}/24", "dev", self.ap.node.wlan])

    def associate(self) -> None:
        """The stations, one after the other."""
        for session in self.stations:
            device, address = session.node.wlan, station_address(session.node.name)
            self.air.join(session, self.ap)
            session.run(["ip", "address", "add", f"{address}/24", "dev", device])
            self._route(session, WIRED_NET, GATEWAY_AIR, self.plan.station.window)

    def _route(self, session: Session, net: str, gateway: str, window: int) -> None:
        """Only to the other side of the access point: the default route is the node's own."""
        words = route_words(net, gateway, self.plan.tcp, window)
        delete = shlex.quote(f"ip route del {net} via {gateway} 2> /dev/null; true")
        session.shell(f"keep {delete} && {shlex.join(words)}")

    def queues(self) -> None:
        """The scheduler under test on the access point, and the stations' own queue."""
        pairs: list[tuple[Session, AccessPoint | Stations]] = [(self.ap, self.plan.ap)]
        pairs += [(session, self.plan.station) for session in self.stations]
        for session, queue in pairs:
            self._queue(session, session.node.wlan, queue_words(session.node.wlan, queue))

    def _queue(self, session: Session, device: str, commands: list[list[str]]) -> None:
        delete = shlex.quote(f"tc qdisc del dev {device} root 2> /dev/null; true")
        session.shell(f"keep {delete}")
        for words in commands:
            session.run(words, self.programs.tc_lib_dir)

    def capture(self) -> None:
        """tcpdump, if the plan asks for it: by the monitor, else of the access point's device."""
        if not self.plan.medium.pcap:
            return
        self.captured = self.nodes.get("monitor", self.ap)
        device = self.captured.node.wlan
        if self.captured is not self.ap:
            frequency = str(self.air.frequency_mhz)
            self.captured.run(["ip", "link", "set", device, "down"])
            self.captured.run(["iw", "dev", device, "set", "type", "monitor"])
            self.captured.run(["ip", "link", "set", device, "up"])
            self.captured.run(["iw", "dev", device, "set", "freq", frequency])
        words = ["tcpdump", "-i", device, "-s", str(SNAP_BYTES), "-U", "-Z", "root"]
        self.captured.start("tcpdump", [*words, "-w", self.captured.path("out/air.pcap")])
        tries = "for i in 1 2 3 4 5; do grep -q listening out/tcpdump.log && exit 0; sleep 1; done"
        if self.captured.attempt(f"{tries}; exit 1")[0]:
            said = self.captured.shell("tail -n 1 out/tcpdump.log").strip()
            raise NodeError(f"{self.captured.node.name}: tcpdump does not capture: {said}")
