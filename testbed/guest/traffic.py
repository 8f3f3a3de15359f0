# SPDX-License-Identifier: GPL-2.0-only
"""flowgen's servers and clients: a plan's flows and transfers."""

from __future__ import annotations

import subprocess
from pathlib import Path

from apbed.scenario.plan import Flow, Plan, Programs
from guest.addresses import PORT, WIRED_ADDRESS, station_address
from guest.commands import namespace
from guest.programs import Running


class Traffic:
    """Everything that sends, from t0 on."""

    def __init__(self, run_dir: Path, plan: Plan, programs: Programs, running: Running) -> None:
        self.run_dir, self.plan, self.programs, self.running = run_dir, plan, programs, running
        self.stations = plan.stations
        self.clients: list[subprocess.Popen[bytes]] = []

    def start(self, t0: float) -> None:
        """One server behind the access point, and the clients, whose time begins at `t0`."""
        flowgen = self.programs.flowgen
        records = self.run_dir / "flows"
        records.mkdir()
        called = {flow.station for flow in self.plan.flows if flow.dir == "pulse_down"}
        for name in ["wired", *sorted(called)]:
            record = records / ("server.jsonl" if name == "wired" else f"server-{name}.jsonl")
            serve = serve_words(flowgen, str(record))
            with namespace(name):
                self.running.start(f"flowgen-{record.stem}", serve)
        if called:
            tap = [flowgen, "tap", "--dev", "wlan0", "--out", str(records / "tap.jsonl")]
            self.running.start("flowgen-tap", tap)
        for flow in self.plan.flows:
            down = flow.dir == "pulse_down"
            host = station_address(flow.station) if down else WIRED_ADDRESS
            words = flow_words(flowgen, flow, host, t0, str(records / f"{flow.id}.jsonl"))
            if flow.bursts:
                spurts = self.run_dir / f"bursts-{flow.id}.list"
                spurts.write_text(burst_list(flow))
                words += ["--bursts", str(spurts)]
            self.client("wired" if down else flow.station, flow.id, words)
        for station in self.stations:
            self.transfers(station, t0, "workload", "--list", transfer_list(self.plan, station))
            self.transfers(station, t0, "users", "--pages", page_list(self.plan, station))

    def transfers(self, station: str, t0: float, kind: str, option: str, lines: str) -> None:
        """One process for all transfers of a station's workload or user: there may be hundreds."""
        if not lines:
            return
        name = f"{kind}-{station}"
        listed = self.run_dir / f"{name}.list"
        listed.write_text(lines)
        record = self.run_dir / "flows" / f"{name}.jsonl"
        words = list_words(self.programs.flowgen, option, str(listed), t0, str(record))
        self.client(station, name, words)

    def client(self, machine: str, name: str, words: list[str]) -> None:
        """Start a client of a server; `end` ends it."""
        log = (self.run_dir / f"flow-{name}.log").open("w")
        with namespace(machine):
            self.clients.append(subprocess.Popen(words, stdout=log, stderr=log))

    def end(self) -> None:
        """End what still runs; each side then records what it has, in no virtual time."""
        for client in self.clients:
            client.terminate()
        for client in self.clients:
            client.wait()
        self.running.stop_all("flowgen-")


def serve_words(flowgen: str, record: str) -> list[str]:
    """The command of a server that answers flows and writes into `record`."""
    return [flowgen, "serve", "--port", str(PORT), "--out", record]


def flow_words(flowgen: str, flow: Flow, host: str, t0: float, record: str) -> list[str]:
    """The command of one flow's client; `t0` is on the clock of the machine that runs it."""
    command = "pulse" if flow.pulse else "quic" if flow.quic_bytes else "run"
    words = [flowgen, command, "--id", flow.id]
    words += ["--host", host, "--port", str(PORT)]
    words += ["--start-at", f"{t0 + flow.start_s:.9f}", "--out", record]
    words += ["--dscp", str(flow.dscp)] if flow.dscp is not None else []
    if flow.pulse:
        words += [] if flow.bursts else ["--count", str(flow.count)]
        words += ["--every", str(flow.every_s)]
        words += ["--datagrams", str(flow.datagrams)] if flow.datagrams else []
        words += ["--echo"] if flow.dir == "ping" else []
        return [*words, "--bytes", str(flow.bytes)]
    if flow.quic_bytes:
        words += ["--bytes", str(flow.quic_bytes)]
        words += ["--window", str(flow.quic_window)] if flow.quic_window else []
    size = ["--bytes", str(flow.bytes)] if flow.bytes is not None else []
    return [*words, "--dir", flow.dir, *(size or ["--seconds", str(flow.seconds)])]


def transfer_list(plan: Plan, station: str) -> str:
    """A station's transfers as flowgen's --list takes them; "" if it has none."""
    return "".join(
        f"{one.id} {one.dir} {one.bytes} {one.start_s:.9f}\n"
        for one in plan.transfers
        if one.station == station
    )


def page_list(plan: Plan, station: str) -> str:
    """A user's pages as flowgen's --pages takes them; "" if there is no user."""
    return "".join(
        f"{one.id} {one.dir} {one.bytes} {'-' if one.think_s is None else f'{one.think_s:.9f}'}\n"
        for one in plan.users
        if one.station == station
    )


def burst_list(flow: Flow) -> str:
    """A talker's spurts as flowgen's --bursts takes them."""
    return "".join(f"{at_s:.9f} {count}\n" for at_s, count in flow.bursts or ())


def list_words(flowgen: str, option: str, listed: str, t0: float, record: str) -> list[str]:
    """The command of a client for all transfers of the file `listed`: --list or --pages."""
    words = [flowgen, "run", option, listed, "--host", WIRED_ADDRESS, "--port", str(PORT)]
    return [*words, "--start-at", f"{t0:.9f}", "--out", record]
