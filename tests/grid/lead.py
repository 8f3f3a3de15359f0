# SPDX-License-Identifier: GPL-2.0-only
"""Inside a lab kernel: the lead's part of the tests. Runs cases on nodes, some of them broken.

    lead.py PLACE ROOT HWSIM STATIONS SCENARIO CASE...

PLACE holds the keys and gets CASE/ with each campaign, and CASE.json: how the command ended, what
was said, why a run failed, and for each node the lines in which it differs from what it was before.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from apbed.errors import ApbedError
from apbed.run import runner
from apbed.run.machines import Backend
from apbed.scenario import parse
from tests.grid import grid_files, machines
from tests.grid.machines import Machine

LEASE_S = 6
CUT_S = 1.0
SLOW_S = 3
Fault = Callable[[Machine], None]


def fill(node: Machine) -> None:
    """No byte is left in the node's /run."""
    node.inside("cat /dev/zero > /run/fill 2> /dev/null")


def cut_later(node: Machine) -> None:
    """The link to the lead is lost in the middle of the step, which a SLOW program draws out."""
    threading.Timer(CUT_S, node.cut).start()


def lose_modules(node: Machine) -> None:
    """What was uploaded has no modules."""
    node.inside("find /run/apbed/files -name '*.ko' -delete")


def kill_session(node: Machine) -> None:
    """The session dies without a word; its watch lives."""
    watch = int(node.inside("cut -d' ' -f1 /run/apbed/watch"))
    for pid in node.named("node.sh"):
        if pid != watch:
            os.kill(pid, signal.SIGKILL)


def kill_all(node: Machine) -> None:
    """Everything that apbed has started dies at once, the watch too."""
    for pid in [*node.named("node.sh"), *node.processes()]:
        os.kill(pid, signal.SIGKILL)


def interrupt(_node: Machine) -> None:
    """Ctrl-C."""
    os.kill(os.getpid(), signal.SIGINT)


def vanish(_node: Machine) -> None:
    """The lead dies."""
    os.kill(os.getpid(), signal.SIGKILL)


FAULTS: dict[str, Fault] = {
    "cut": Machine.cut,
    "cut-later": cut_later,
    "absent": lose_modules,
    "full": fill,
    "session": kill_session,
    "all": kill_all,
    "interrupt": interrupt,
    "vanish": vanish,
}
# What stands in for a program of a node that fails.
FAKES = {
    "insmod": "echo 'insmod: ERROR: could not insert module: Invalid module format'; exit 1",
    "hostapd": "echo 'nl80211: Could not configure driver mode'; exit 1",
    "wpa_supplicant": "exec sleep 1000",
    "uname": "echo 6.1.0-0",
}
# A program of the node that takes SLOW_S in a step, so that a fault comes in the middle of it.
SLOW = {"check": "df", "put-back": "ip"}
# What a case changes in the scenario, by what it breaks or by the step.
SETTINGS = {
    "wpa2": ["ap.security=wpa2"],
    "capture": ["medium.pcap=true"],
    "qdisc": ["ap.qdisc=lasak limit 100"],
}
# What one changes in the grid file. US allows 30 dBm here, 00 allows 20.
RADIO = {"power": 'country = "US"\ntxpower_dbm = 10\n'}


class Lead:
    """Runs one campaign after the other and compares the nodes."""

    def __init__(self, place: Path, scenario: Path, nodes: list[Machine]) -> None:
        self.place, self.scenario, self.nodes = place, scenario, nodes
        self.before = machines.states(nodes)

    def case(self, name: str) -> None:
        """A case is WHAT or FAULT@PHASE, and :NODE."""
        fault, _, where = name.partition(":")[0].partition("@")
        air = [RADIO[fault]] if fault in RADIO else []
        arch = "none" if fault == "unbuilt" else "um"  # no such folder of modules
        reached, release = machines.reached(self.nodes), os.uname().release
        grid = grid_files.write(self.place, reached, release, arch, LEASE_S, *air)
        phase, victim = where, name.partition(":")[2]
        node = next((one for one in self.nodes if one.name == victim), self.nodes[-1])
        self.prepare(fault, phase, node)
        settings = SETTINGS.get(fault, []) + SETTINGS.get(phase, [])
        out = self.place / name.split(":")[0] if fault != "resume" else self.place / phase
        found: dict[str, Any] = {"case": name, "events": []}

        def heard(event: runner.Event) -> None:
            if event.state != "running":
                found["events"].append(event.state)
                return
            step = (out / "runs" / event.run.id / "progress").read_text().strip()
            if fault in FAULTS and step == phase:
                found["injected"] = step
                for one in self.victims(fault, node):
                    FAULTS[fault](one)

        def campaign() -> None:
            try:
                plan = parse.load(self.scenario, settings)
                found["done"] = runner.run_all(plan, out, 1, heard, Backend("ssh", grid))
            except ApbedError as error:
                found["error"] = str(error)
            except KeyboardInterrupt:
                found["error"] = "interrupted"

        if fault == "vanish":
            found["error"] = f"status {self.apart(campaign)}"
        else:
            campaign()
        ends = sorted(out.glob("runs/*/status.json"))
        found["why"] = [json.loads(path.read_text())["why"] for path in ends]
        said = sorted(out.glob("runs/*/guest.json"))
        found["notes"] = [json.loads(path.read_text())["notes"] for path in said]
        time.sleep(2 * LEASE_S)
        self.repair(fault, phase, node)
        # Before the link is mended: each node has put itself back alone.
        found["left"] = [one.name for one in self.nodes if one.inside("ls -d /run/apbed")]
        node.mend()
        time.sleep(machines.ADDRESSES_S)
        found["differences"] = machines.compared(self.before, machines.states(self.nodes))
        (self.place / f"{name}.json").write_text(json.dumps(found, indent=1))
        print(f"{time.monotonic():.1f} {name}: {json.dumps(found)}", flush=True)

    def prepare(self, fault: str, phase: str, node: Machine) -> None:
        """Break what is broken from the beginning."""
        if fault == "address":
            node.inside("ip address add 198.51.100.1/24 dev wlan1")
        elif fault == "off":
            node.cut()
        elif fault == "stranger":  # the next case writes the file again
            known = self.place / "known_hosts"
            ours = (self.place / "lead.pub").read_text().split()[1]
            lines = [line.split() for line in known.read_text().splitlines()]
            for words in lines:
                words[2] = ours if words[0] == node.address else words[2]
            known.write_text("".join(" ".join(words) + "\n" for words in lines))
        for program, script in self.fakes(fault, phase).items():
            for one in self.victims(fault, node):
                fake = one.programs / program
                fake.parent.mkdir(exist_ok=True)
                fake.write_text(f"#!/bin/sh\n{script}\n")
                fake.chmod(0o755)

    def fakes(self, fault: str, phase: str) -> dict[str, str]:
        """What stands in for programs of a node in this case."""
        if fault in FAKES:
            return {fault: FAKES[fault]}
        if fault != "cut-later":
            return {}
        real = shutil.which(SLOW[phase], path=machines.PATH)
        return {SLOW[phase]: f'sleep {SLOW_S}; exec {real} "$@"'}

    def victims(self, fault: str, node: Machine) -> list[Machine]:
        """Who is broken. A module that one loads, all have loaded: they share a kernel."""
        return self.nodes if fault in ("insmod", "absent") else [node]

    def repair(self, fault: str, phase: str, node: Machine) -> None:
        """Undo what the case has broken, and nothing that apbed has changed."""
        if fault == "full":
            node.inside("rm -f /run/fill")
        elif fault == "address":
            node.inside("ip address del 198.51.100.1/24 dev wlan1")
        elif fault == "all":  # nobody is left who could; the next session does it
            self.case("after")
        for program in self.fakes(fault, phase):
            for one in self.victims(fault, node):
                (one.programs / program).unlink()

    def apart(self, campaign: Callable[[], None]) -> int:
        """Run it in a process of its own; its status."""
        pid = os.fork()
        if not pid:
            campaign()
            os._exit(0)
        return os.waitpid(pid, 0)[1]


def main(place: str, root: str, hwsim: str, stations: str, scenario: str, *cases: str) -> None:
    """Set up the nodes once, and run all cases on them."""
    keys = Path(place)
    with machines.cell(keys, Path(root), int(stations), Path(hwsim)) as nodes:
        lead = Lead(keys, Path(scenario), nodes)
        for name in cases:
            lead.case(name)


if __name__ == "__main__":
    main(*sys.argv[1:])
