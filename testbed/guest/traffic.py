# SPDX-License-Identifier: GPL-2.0-only
"""flowgen's servers and clients: a plan's flows and transfers."""

from __future__ import annotations

import subprocess
from pathlib import Path

from apbed.scenario.plan import Plan, Programs
from guest.addresses import PORT, WIRED_ADDRESS, station_address
from guest.commands import inside
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
            serve = [flowgen, "serve", "--port", str(PORT), "--out", str(record)]
            self.running.start(f"flowgen-{record.stem}", inside(name, serve))
        if called:
            tap = [flowgen, "tap", "--dev", "wlan0", "--out", str(records / "tap.jsonl")]
            self.running.start("flowgen-tap", tap)
        for flow in self.plan.flows:
            kind = flow.dir
            pulse, down = flow.pulse, kind == "pulse_down"
            words = [flowgen, "pulse" if pulse else "run", "--id", flow.id]
            host = station_address(flow.station) if down else WIRED_ADDRESS
            words += ["--host", host, "--port", str(PORT)]
            words += ["--start-at", f"{t0 + flow.start_s:.9f}"]
            words += ["--out", str(records / f"{flow.id}.jsonl")]
            if pulse:
                words += ["--count", str(flow.count), "--every", str(flow.every_s)]
                words += ["--bytes", str(flow.bytes)]
            else:
                size = ["--bytes", str(flow.bytes)] if flow.bytes is not None else []
                words += ["--dir", kind, *(size or ["--seconds", str(flow.seconds)])]
            self.client("wired" if down else flow.station, flow.id, words)
        for station in self.stations:
            self.transfers(station, t0)

    def transfers(self, station: str, t0: float) -> None:
        """One process for all transfers of a station's workload: there may be hundreds."""
        lines = [
            f"{one.id} {one.dir} {one.bytes} {one.start_s:.9f}\n"
            for one in self.plan.transfers
            if one.station == station
        ]
        if not lines:
            return
        name = f"workload-{station}"
        listed = self.run_dir / f"{name}.list"
        listed.write_text("".join(lines))
        words = [self.programs.flowgen, "run", "--list", str(listed)]
        words += ["--host", WIRED_ADDRESS, "--port", str(PORT), "--start-at", f"{t0:.9f}"]
        words += ["--out", str(self.run_dir / "flows" / f"{name}.jsonl")]
        self.client(station, name, words)

    def client(self, namespace: str, name: str, words: list[str]) -> None:
        """Start a client of a server; `end` ends it."""
        log = (self.run_dir / f"flow-{name}.log").open("w")
        client = subprocess.Popen(inside(namespace, words), stdout=log, stderr=log)
        self.clients.append(client)

    def end(self) -> None:
        """End what still runs; each side then records what it has, in no virtual time."""
        for client in self.clients:
            client.terminate()
        for client in self.clients:
            client.wait()
        self.running.stop_all("flowgen-")
