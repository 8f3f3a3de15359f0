#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""One Wi-Fi cell inside a lab kernel: builds it, runs its flows, writes down what happened.

Principle: real hostapd, real mac80211 and real TCP in one network namespace per machine of
up-down-fairness's test bed (its Fig. 1): the access point in the first one, `wired` behind it, and
`sta1`, `sta2`... around it. Only the air is ours: dcfmedium decides what arrives, and when.

Every wait here blocks. A process that polls would stop virtual time (`time-travel=inf-cpu`).

    cell.py RUN_DIR       reads RUN_DIR/plan.json
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PORT = 5001
SSID = "lasack"
CHANNEL, FREQUENCY_MHZ = 1, 2412
WIRED_ADDRESS = "10.0.0.2"
SETTLE_S = 1.0  # at least, between the last association and the first flow
STEP_S = 0.1  # each step of the set-up begins at a multiple of this, t0 at one of SETTLE_S
JOIN_TRIES = 8
JOIN_SETTLE_S = 0.02  # hostapd authorizes a station when its answer was acknowledged

HOSTAPD_CONF = f"""\
interface=wlan0
driver=nl80211
ssid={SSID}
hw_mode=b
channel={CHANNEL}
beacon_int=100
wmm_enabled=0
"""


class CellError(Exception):
    """One line that says what could not be set up."""


def run(words: list[str], env: dict[str, str] | None = None) -> str:
    """Run a command to its end and return its output; CellError with its last line if it fails."""
    done = subprocess.run(words, capture_output=True, text=True, env=env, check=False)
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise CellError(f"`{shlex.join(words)}` failed: {said[0] if said else done.returncode}")
    return done.stdout


def attempt(words: list[str]) -> None:
    """Run a command whose failure shows elsewhere."""
    subprocess.run(words, capture_output=True, check=False)


def inside(namespace: str | None, words: list[str]) -> list[str]:
    """The same command inside a network namespace (None: the access point's)."""
    return words if namespace is None else ["ip", "netns", "exec", namespace, *words]


def air_words(medium: dict[str, Any]) -> list[str]:
    """What the scenario says of rates, categories, RTS and losses; the rest is dcfmedium's."""
    words = []
    if medium["rates"] != "fixed":
        words += ["--rates", medium["rates"]]
    if medium["edca"] != "off":
        words += ["--edca", medium["edca"]]
    if medium["rts"] >= 0:
        words += ["--rts", str(medium["rts"])]
    if medium["channel"] != "ideal":
        words += ["--channel", medium["channel"]]
    for pair in medium["hidden"]:
        words += ["--hidden", pair]
    return words


def hostapd_conf(medium: dict[str, Any]) -> str:
    """802.11b, or g where the kernel is to choose among its rates; TIDs need WMM."""
    conf = HOSTAPD_CONF
    if medium["rates"] == "kernel" and medium["phy"].startswith("erp-"):
        conf = conf.replace("hw_mode=b", "hw_mode=g")
    if medium["edca"] != "off":
        conf = conf.replace("wmm_enabled=0", "wmm_enabled=1")
    return conf


def radio_address(number: int) -> str:
    """mac80211_hwsim's address of radio `number` (mac80211_hwsim.c, new radio)."""
    return f"02:00:00:00:{number:02x}:00"


def served_stations(dump: str) -> set[str]:
    """Addresses that `iw dev DEVICE station dump` calls associated and authorized."""
    served = set()
    for entry in dump.split("Station ")[1:]:
        lines = {tuple(line.split()) for line in entry.splitlines()}
        if {("associated:", "yes"), ("authorized:", "yes")} <= lines:
            served.add(entry.split()[0])
    return served


class Cell:
    """The machines of one plan, set up in order and taken down by the kernel's end."""

    def __init__(self, run_dir: Path, plan: dict[str, Any]) -> None:
        self.run_dir = run_dir
        self.plan = plan
        self.tools: dict[str, Any] = plan["programs"]
        self.stations = [f"sta{k}" for k in range(1, plan["station"]["count"] + 1)]
        self.tc_env = dict(os.environ, TC_LIB_DIR=self.tools["tc_lib_dir"])
        self.running: list[tuple[str, subprocess.Popen[str]]] = []
        self.clients: list[subprocess.Popen[bytes]] = []
        self.asleep: set[str] = set()  # stations in power save
        self.tries: dict[str, int] = {}  # station -> attempts to associate it

    def start(self, name: str, words: list[str], ready: str | None = None) -> None:
        """Start a program that must live until `stop`; wait for its line `ready`."""
        log = (self.run_dir / f"{name}.log").open("w")
        process = subprocess.Popen(
            words, stdout=subprocess.PIPE if ready else log, stderr=log, text=True
        )
        self.running.append((name, process))
        if ready:
            assert process.stdout is not None
            for line in process.stdout:
                if ready in line:
                    return
            raise CellError(f"{name} ended before it was ready: {last_line(log.name)}")

    def check(self) -> None:
        """CellError when a program that must live has ended."""
        for name, process in self.running:
            if (status := process.poll()) is not None:
                said = last_line(str(self.run_dir / f"{name}.log"))
                raise CellError(f"{name} ended during the run with status {status}: {said}")

    def stop(self, name: str) -> None:
        """End one program and hear its last word."""
        for entry in [entry for entry in self.running if entry[0] == name]:
            self.running.remove(entry)
            entry[1].send_signal(signal.SIGTERM)
            if status := entry[1].wait():
                said = last_line(str(self.run_dir / f"{name}.log"))
                raise CellError(f"{name} failed with status {status}: {said}")

    def radios(self) -> None:
        """Load the kernel modules: one radio for the access point and one per station."""
        for module in self.tools["modules"]:
            run(["insmod", module])
        run(["insmod", self.tools["hwsim"], f"radios={len(self.stations) + 1}"])

    def medium(self) -> None:
        """Put the radios on the air of dcfmedium; without it hwsim's own would be perfect."""
        medium = self.plan["medium"]
        words = [self.tools["dcfmedium"], "hwsim", "--phy", medium["phy"]]
        words += ["--eifs", "on" if medium["eifs"] else "off", "--retry", str(medium["retry"])]
        words += ["--seed", str(self.plan["seed"]), "--stats", str(self.run_dir / "medium.json")]
        words += ["--losses-from", "mark"]
        words += air_words(medium)
        if medium["pcap"]:
            words += ["--pcap", str(self.run_dir / "air.pcapng")]
        if medium["record"]:
            words += ["--record", str(self.run_dir / "arrivals.txt")]
        fields = medium["stations"]
        for number, name in enumerate(["ap", *self.stations]):
            said = f",{fields[name]}" if name in fields else ""
            if number and (attempts := self.plan["station"]["retry"]):
                said = f",retry={attempts}{said}"
            words += ["--station", f"{radio_address(number)},name={name}{said}"]
        self.start("dcfmedium", words, ready="ready")

    def machines(self) -> None:
        """The namespaces, the wire behind the access point and the stations' radios."""
        run(["sysctl", "-qw", "net.ipv4.ip_forward=1", "net.ipv6.conf.all.disable_ipv6=1"])
        for name in ["wired", *self.stations]:
            run(["ip", "netns", "add", name])
            quiet = "net.ipv6.conf.all.disable_ipv6=1"
            run(inside(name, ["sysctl", "-qw", quiet, "net.ipv6.conf.default.disable_ipv6=1"]))
            if chosen := sysctls(self.plan["wired" if name == "wired" else "station"]):
                run(inside(name, ["sysctl", "-qw", *chosen]))
        run(["ip", "link", "add", "eth0", "type", "veth", "peer", "eth0", "netns", "wired"])
        # An Ethernet port hands the access point frames, not segments of 64 kB.
        for namespace in (None, "wired"):
            run(inside(namespace, ["ethtool", "-K", "eth0", "tso", "off", "gso", "off"]))
        configure(None, "eth0", "10.0.0.1")
        configure("wired", "eth0", WIRED_ADDRESS)
        self.route("wired", "10.0.0.1", self.plan["wired"]["window"])
        for number, name in enumerate(self.stations, start=1):
            run(["iw", "phy", f"phy{number}", "set", "netns", "name", name])
        if delay_ms := self.plan["wired"]["delay_ms"]:
            for namespace in (None, "wired"):
                netem = ["root", "netem", "limit", "100000", "delay", f"{delay_ms}ms"]
                run(inside(namespace, ["tc", "qdisc", "replace", "dev", "eth0", *netem]))

    def route(self, namespace: str, gateway: str, window: int) -> None:
        """The way out, with what TCP asks of its peers there: segment size, receive window."""
        words = ["ip", "route", "add", "default", "via", gateway]
        if mss := self.plan["tcp"]["mss"]:
            words += ["advmss", str(mss)]
        if window:
            words += ["window", str(window)]
        run(inside(namespace, words))

    def associate(self) -> None:
        """hostapd on the access point, then each station joins by cfg80211's own connect."""
        conf = Path("/run/hostapd.conf")
        conf.write_text(hostapd_conf(self.plan["medium"]))
        self.start("hostapd", ["hostapd", str(conf)], ready="AP-ENABLED")
        configure(None, "wlan0", "10.1.0.1")
        for number, name in enumerate(self.stations, start=1):
            device = f"wlan{number}"
            configure(name, device, station_address(name))
            run(inside(name, ["iw", "dev", device, "set", "power_save", "off"]))
            self.join(name)
            self.route(name, "10.1.0.1", self.plan["station"]["window"])
        self.neighbours()
        known = self.associated()
        if lost := [name for name in self.stations if name not in known]:
            raise CellError(f"not associated before t0: {', '.join(lost)}")

    def join(self, name: str) -> None:
        """Associate a station; again when a collision took an answer. CellError names it.

        `iw connect -w` returns 0 for a scan without an answer too, so the access point is asked.
        """
        iw = ["iw", "dev", f"wlan{station_number(name)}"]
        for tries in range(1, JOIN_TRIES + 1):
            self.tries[name] = tries
            attempt(inside(name, [*iw, "connect", "-w", SSID, str(FREQUENCY_MHZ)]))
            time.sleep(JOIN_SETTLE_S)
            if name in self.associated():
                return
            attempt(inside(name, [*iw, "disconnect"]))
        raise CellError(f"{name} did not associate in {JOIN_TRIES} tries")

    def associated(self) -> set[str]:
        """The stations that the access point serves."""
        served = served_stations(run(["iw", "dev", "wlan0", "station", "dump"]))
        return {name for name in self.stations if radio_address(station_number(name)) in served}

    def neighbours(self) -> None:
        """Permanent neighbours: ARP's random timers would differ from run to run."""
        wire = {side: link_address(side, "eth0") for side in (None, "wired")}
        known: list[tuple[str | None, str, str, str]] = [
            (None, "eth0", WIRED_ADDRESS, wire["wired"]),
            ("wired", "eth0", "10.0.0.1", wire[None]),
        ]
        for number, name in enumerate(self.stations, start=1):
            known.append((None, "wlan0", station_address(name), radio_address(number)))
            known.append((name, f"wlan{number}", "10.1.0.1", radio_address(0)))
        for namespace, device, address, lladdr in known:
            words = ["ip", "neigh", "replace", address, "lladdr", lladdr, "dev", device]
            run(inside(namespace, [*words, "nud", "permanent"]))

    def queues(self) -> None:
        """The scheduler under test on the access point, and the stations' own queue."""
        self.attach(None, "wlan0", self.plan["ap"])
        for number, name in enumerate(self.stations, start=1):
            self.attach(name, f"wlan{number}", self.plan["station"])

    def attach(self, namespace: str | None, device: str, queue: dict[str, Any]) -> None:
        """`qdisc` at the root, or below a bound of `inflight` packets to the radio."""
        replace = ["tc", "qdisc", "replace", "dev", device]
        where = ["root"]
        if queue["inflight"]:
            bound = ["root", "handle", "1:", "inflight", "limit", str(queue["inflight"])]
            run(inside(namespace, [*replace, *bound]), env=self.tc_env)
            where = ["parent", "1:1"]
        words = [*replace, *where, "handle", "2:", *shlex.split(queue["qdisc"])]
        run(inside(namespace, words), env=self.tc_env)

    def flows(self, t0: float) -> None:
        """One server behind the access point, and the clients, whose time begins at `t0`."""
        flowgen = self.tools["flowgen"]
        records = self.run_dir / "flows"
        records.mkdir()
        called = {flow["station"] for flow in self.plan["flows"] if flow["dir"] == "pulse_down"}
        for name in ["wired", *sorted(called)]:
            record = records / ("server.jsonl" if name == "wired" else f"server-{name}.jsonl")
            serve = [flowgen, "serve", "--port", str(PORT), "--out", str(record)]
            self.start(f"flowgen-{record.stem}", inside(name, serve))
        if called:
            tap = [flowgen, "tap", "--dev", "wlan0", "--out", str(records / "tap.jsonl")]
            self.start("flowgen-tap", tap)
        for flow in self.plan["flows"]:
            kind = flow["dir"]
            pulse, down = kind.startswith("pulse"), kind == "pulse_down"
            words = [flowgen, "pulse" if pulse else "run", "--id", flow["id"]]
            host = station_address(flow["station"]) if down else WIRED_ADDRESS
            words += ["--host", host, "--port", str(PORT)]
            words += ["--start-at", f"{t0 + flow['start_s']:.9f}"]
            words += ["--out", str(records / f"{flow['id']}.jsonl")]
            if pulse:
                words += ["--count", str(flow["count"]), "--every", str(flow["every_s"])]
                words += ["--bytes", str(flow["bytes"])]
            else:
                size = ["--bytes", str(flow["bytes"])] if "bytes" in flow else []
                words += ["--dir", kind, *(size or ["--seconds", str(flow["seconds"])])]
            self.client("wired" if down else flow["station"], flow["id"], words)
        for station in self.stations:
            self.transfers(station, t0)

    def transfers(self, station: str, t0: float) -> None:
        """One process for all transfers of a station's workload: there may be hundreds."""
        lines = [
            f"{one['id']} {one['dir']} {one['bytes']} {one['start_s']:.9f}\n"
            for one in self.plan["transfers"]
            if one["station"] == station
        ]
        if not lines:
            return
        name = f"workload-{station}"
        listed = self.run_dir / f"{name}.list"
        listed.write_text("".join(lines))
        words = [self.tools["flowgen"], "run", "--list", str(listed)]
        words += ["--host", WIRED_ADDRESS, "--port", str(PORT), "--start-at", f"{t0:.9f}"]
        words += ["--out", str(self.run_dir / "flows" / f"{name}.jsonl")]
        self.client(station, name, words)

    def client(self, namespace: str, name: str, words: list[str]) -> None:
        """Start a client of a server; `end_flows` ends it."""
        log = (self.run_dir / f"flow-{name}.log").open("w")
        client = subprocess.Popen(inside(namespace, words), stdout=log, stderr=log)
        self.clients.append(client)

    def end_flows(self) -> None:
        """End what still runs; each side then records what it has, in no virtual time."""
        for client in self.clients:
            client.terminate()
        for client in self.clients:
            client.wait()
        for name in [name for name, _ in self.running if name.startswith("flowgen-")]:
            self.stop(name)

    def power_save(self, now_s: float) -> None:
        """Send the stations to sleep that are due, seconds after t0, or wake them up."""
        for sleep in self.plan["sleeps"]:
            asleep = sleep["start_s"] <= now_s < sleep["start_s"] + sleep["seconds"]
            if asleep != (sleep["station"] in self.asleep):
                self.asleep ^= {sleep["station"]}
                phy = f"phy{station_number(sleep['station'])}"
                control = Path(f"/sys/kernel/debug/ieee80211/{phy}/hwsim/ps")
                control.write_text("1" if asleep else "0")

    def snapshot(self, name: str) -> None:
        """The access point's queue as `tc` shows it now."""
        words = ["tc", "-s", "-j", "qdisc", "show", "dev", "wlan0"]
        (self.run_dir / name).write_text(run(words, env=self.tc_env))

    def watch(self, t0: float) -> None:
        """Keep the queue's state at this moment too, if the plan asks for that."""
        if not self.plan["ap"]["watch"]:
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

    def mark_medium(self) -> None:
        """Start the medium's statistics, digest and random streams anew."""
        dict(self.running)["dcfmedium"].send_signal(signal.SIGUSR1)


def sysctls(role: dict[str, Any]) -> list[str]:
    """NAME=VALUE of each sysctl the plan has for a role's namespaces."""
    return [f"{name}={value}" for name, value in role["sysctls"].items()]


def mib_counters(text: str) -> dict[str, int]:
    """Tcp and TcpExt of /proc/net/snmp and netstat: a line of names, then one of values."""
    lines = [line.split() for line in text.splitlines()]
    found: dict[str, int] = {}
    for names, values in zip(lines[::2], lines[1::2], strict=True):
        if names[0] in ("Tcp:", "TcpExt:"):
            found |= dict(zip(names[1:], map(int, values[1:]), strict=True))
    return found


def station_number(name: str) -> int:
    """sta3 is number 3, of its radio, device and address."""
    return int(name.removeprefix("sta"))


def station_address(name: str) -> str:
    return f"10.1.0.{10 + station_number(name)}"


def configure(namespace: str | None, device: str, address: str) -> None:
    run(inside(namespace, ["ip", "address", "add", f"{address}/24", "dev", device]))
    run(inside(namespace, ["ip", "link", "set", device, "up"]))


def link_address(namespace: str | None, device: str) -> str:
    shown = json.loads(run(inside(namespace, ["ip", "-j", "link", "show", device])))
    return str(shown[0]["address"])


def last_line(path: str) -> str:
    lines = Path(path).read_text(errors="replace").strip().splitlines()
    return lines[-1] if lines else "it said nothing"


def next_multiple(moment: float, step: float) -> float:
    """The first multiple of `step` seconds that is not before `moment`."""
    return math.ceil(moment / step) * step


def sleep_until(moment: float) -> None:
    """Block until CLOCK_MONOTONIC reads `moment` seconds."""
    if (left := moment - time.monotonic()) > 0:
        time.sleep(left)


def seconds_between(start: float, end: float) -> Iterator[float]:
    """Every whole second after `start`, up to `end`."""
    moment = start
    while moment < end:
        moment = min(moment + 1.0, end)
        yield moment


def measure(cell: Cell, record: dict[str, Any]) -> None:
    """Set up, run the flows from t0 to t1, and keep what the queue and the medium counted."""
    progress = cell.run_dir / "progress"
    for step in (cell.radios, cell.medium, cell.machines, cell.associate, cell.queues):
        sleep_until(next_multiple(time.monotonic(), STEP_S))
        progress.write_text(f"{step.__name__}\n")
        step()
    t0 = next_multiple(time.monotonic() + SETTLE_S, SETTLE_S)
    t1 = t0 + cell.plan["duration_s"]
    record |= {"t0_s": t0, "t1_s": t1}
    cell.flows(t0)
    sleep_until(t0)
    cell.mark_medium()
    cell.snapshot("qdisc_start.json")
    for moment in seconds_between(t0, t1):
        sleep_until(moment)
        cell.power_save(moment - t0)
        progress.write_text(f"{moment - t0:.0f}\n")
        cell.check()
        cell.watch(t0)
    cell.end_flows()
    cell.snapshot("qdisc.json")
    cell.counters()
    record |= {"tcp_rmem": cell.receive_buffers(), "tries": cell.tries}
    cell.stop("dcfmedium")


def main(run_dir: Path) -> int:
    plan = json.loads((run_dir / "plan.json").read_text())
    kinds = ["inflight"] if plan["ap"]["inflight"] else []
    record: dict[str, Any] = {
        "schema": 1,
        "kernel_release": os.uname().release,
        "qdisc_expected": [*kinds, shlex.split(plan["ap"]["qdisc"])[0]],
        "errors": [],
    }
    cell = Cell(run_dir, plan)
    try:
        measure(cell, record)
    except (CellError, OSError) as error:
        record["errors"].append(str(error))
        for name, _ in list(cell.running):
            with contextlib.suppress(CellError):
                cell.stop(name)
    (run_dir / "guest.json").write_text(json.dumps(record, indent=1) + "\n")
    return 1 if record["errors"] else 0


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])))
