#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""One Wi-Fi cell inside a kernel: builds it, runs its flows, writes down what happened.

Principle: real hostapd, real mac80211 and real TCP in one network namespace per machine of
up-down-fairness's test bed (its Fig. 1): the access point in the first one, `wired` behind it, and
`sta1`, `sta2`... around it. Only the air is ours: dcfmedium decides what arrives, and when.

Every wait here blocks. A process that polls would stop virtual time (`time-travel=inf-cpu`), or
spend it (QEMU with `-icount`).

    cell.py RUN_DIR       reads RUN_DIR/plan.json
"""

from __future__ import annotations

import json
import os
import shlex
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # python3 -I leaves it out

from apbed.scenario.plan import Plan, Programs, read
from guest.commands import CellError, next_multiple, seconds_between, sleep_until
from guest.network import Network
from guest.own_queues import OwnQueues
from guest.processor import idle_share, times
from guest.programs import Running
from guest.radios import Radios
from guest.traffic import Traffic

SETTLE_S = 1.0  # at least, between the last association and the first flow
STEP_S = 0.1  # each step of the set-up begins at a multiple of this, t0 at one of SETTLE_S


class Cell:
    """The machines of one plan, set up in order and taken down by the kernel's end."""

    def __init__(self, run_dir: Path, plan: Plan, programs: Programs) -> None:
        self.run_dir, self.plan = run_dir, plan
        self.running = Running(run_dir)
        self.network = Network(run_dir, plan, programs)
        self.radios = Radios(plan, programs, self.running, self.network)
        self.own_queues = OwnQueues(run_dir, plan)
        self.traffic = Traffic(run_dir, plan, programs, self.running)

    def set_up(self, progress: Path) -> None:
        """Everything before the first flow, each step at a moment of its own."""
        steps = {
            "radios": self.radios.load,
            "medium": self.radios.medium,
            "machines": self.network.machines,
            "associate": self.radios.associate,
            "queues": self.network.queues,
        }
        for name, step in steps.items():
            sleep_until(next_multiple(time.monotonic(), STEP_S))
            progress.write_text(f"{name}\n")
            step()


def measure(cell: Cell, record: dict[str, Any]) -> None:
    """Set up, run the flows from t0 to t1, and keep what the queue and the medium counted."""
    progress = cell.run_dir / "progress"
    cell.set_up(progress)
    t0 = next_multiple(time.monotonic() + SETTLE_S, SETTLE_S)
    t1 = t0 + cell.plan.duration_s
    record |= {"t0_s": t0, "t1_s": t1}
    cell.traffic.start(t0)
    sleep_until(t0)
    begin = times()
    cell.radios.mark()
    cell.network.snapshot("qdisc_start.json")
    cell.own_queues.sample(t0)
    for moment in seconds_between(t0, t1):
        sleep_until(moment)
        cell.radios.power_save(moment - t0)
        progress.write_text(f"{moment - t0:.0f}\n")
        cell.running.check()
        cell.network.watch(t0)
        cell.own_queues.sample(t0)
    record["idle_share"] = idle_share(begin, times())
    cell.traffic.end()
    cell.radios.freeze()
    cell.network.snapshot("qdisc.json")
    cell.own_queues.write(t0)
    cell.network.counters()
    record |= {"tcp_rmem": cell.network.receive_buffers(), "tries": cell.radios.tries}
    record["processors"] = os.cpu_count()
    cell.running.stop("dcfmedium")


def main(run_dir: Path) -> int:
    plan, programs = read(run_dir / "plan.json")
    kinds = ["inflight"] if plan.ap.inflight else []
    record: dict[str, Any] = {
        "schema": 1,
        "kernel_release": os.uname().release,
        "qdisc_expected": [*kinds, shlex.split(plan.ap.qdisc)[0]],
        "errors": [],
    }
    cell = Cell(run_dir, plan, programs)
    try:
        measure(cell, record)
    except (CellError, OSError) as error:
        record["errors"].append(str(error))
        cell.running.abandon()
    (run_dir / "guest.json").write_text(json.dumps(record, indent=1) + "\n")
    return 1 if record["errors"] else 0


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])))
