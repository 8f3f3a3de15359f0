# SPDX-License-Identifier: GPL-2.0-only
"""The machine of `--backend ssh`: real nodes, in real time, one run after the other."""

from __future__ import annotations

import json
import shlex
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from apbed.checkout import BUILD
from apbed.errors import ApbedError
from apbed.grid import checks, supported
from apbed.grid.cell import GridCell
from apbed.grid.file import Grid, Node
from apbed.grid.measure import Measurement
from apbed.grid.nodes import sessions
from apbed.grid.session import Interrupted, NodeError, NodeLostError, Session
from apbed.kernels.watchdog import INTERRUPTED, Boot, Watchdog
from apbed.run.order import Order
from apbed.scenario import plan as plans
from apbed.scenario.plan import Plan

AGAIN = "repeat the command to go on"


@dataclass(frozen=True)
class GridMachine:
    """A grid of nodes; "booting" it is setting them up for one run and putting them back."""

    grid: Grid
    alone: threading.Lock = field(default_factory=threading.Lock, compare=False)

    needs: tuple[Path, ...] = ()
    hwsim = Path("none")  # its radios are real
    stall_s = 0.0  # each wait for a node has its own limit

    @property
    def release(self) -> str:
        return self.grid.kernel

    @property
    def key(self) -> str:
        return self.grid.key

    @property
    def what(self) -> str:
        return f"the grid {self.grid.name} in real time"

    @property
    def modules(self) -> str:
        return f"{self.grid.kernel}-{self.grid.arch}"

    @property
    def make(self) -> str:
        return f"make -C kernel KDIR=HEADERS ARCH={self.grid.arch}"

    def inside(self, path: Path) -> Path:
        """Where a node has one of our files."""
        return Path(self.grid.directory, "files", path.relative_to(BUILD))

    def accept(self, plan: Plan) -> None:
        """ApbedError if a grid cannot do what the plan asks for, or this one has too few nodes."""
        supported.refuse(plan, self.grid)
        self.grid.chosen(plan.station.count)

    def boot(self, order: Order, watchdog: Watchdog) -> Boot:
        """Carry out one run. ApbedError if the grid cannot go on: no later run could either."""
        with self.alone:
            started = time.monotonic()
            plan, programs = plans.read(order.run_dir / "plan.json")
            console = order.run_dir / "console.log"
            chosen = self.grid.chosen(plan.station.count)
            if watchdog.cancel.is_set():
                return Boot(None, INTERRUPTED, 0.0, None)
            run = _Run(self.grid, plan, programs, order.run_dir, watchdog)
            why = run.carry_out(chosen)
            console.write_text("\n".join([*run.notes, *run.left, why or "done", ""]))
            if run.left:
                raise ApbedError("; ".join([*([why] if why else []), *run.left, AGAIN]))
            return Boot(
                0 if why is None else None,
                why,
                time.monotonic() - started,
                plan.duration_s if why is None else None,
            )


class _Run:
    """One run: what came of it, and what of the nodes could not be put back (`left`)."""

    def __init__(
        self,
        grid: Grid,
        plan: Plan,
        programs: plans.Programs,
        run_dir: Path,
        watchdog: Watchdog,
    ) -> None:
        self.grid, self.plan, self.programs = grid, plan, programs
        self.run_dir, self.watchdog = run_dir, watchdog
        self.notes: list[str] = []  # what the drivers do not let us set
        self.left: list[str] = []

    def _refuse_unfit(self, chosen: list[Node]) -> None:
        """ApbedError if something is wrong with a node; a session on one puts back an older's."""
        capture_s = self.plan.duration_s if self.plan.medium.pcap else 0.0
        found = checks.check(self.grid, chosen, capture_s=capture_s)
        if stale := [one.node for one in found if one.facts.all("stale")]:
            logs, cancel = self.run_dir / "nodes", self.watchdog.cancel
            with sessions(self.grid, stale, logs, cancel, self.left):
                pass
            found = checks.check(self.grid, chosen, capture_s=capture_s)
        wrong = [line for one in found for line in one.wrong]
        if wrong:
            more = f" (and {len(wrong) - 1} more: `apbed grid check`)" if len(wrong) > 1 else ""
            raise ApbedError(f"{wrong[0]}{more}; no node was changed")

    def carry_out(self, chosen: list[Node]) -> str | None:
        """None, or why there is no result; ApbedError if a node is lost."""
        cancel = self.watchdog.cancel
        try:
            self._step("check")
            self._refuse_unfit(chosen)
            self._step("connect")
            with sessions(self.grid, chosen, self.run_dir / "nodes", cancel, self.left) as nodes:
                try:
                    self._measure(nodes)
                finally:
                    self._step("put-back")
        except Interrupted:
            return INTERRUPTED
        except NodeLostError as error:
            others = "; ".join(self.left) or "all nodes are as they were"
            raise ApbedError(f"{error}; {others}; {AGAIN}") from error
        except NodeError as error:
            return str(error)
        return None

    def _measure(self, nodes: dict[str, Session]) -> None:
        marks = {name: session.shell("dmesg | tail -n 1") for name, session in nodes.items()}
        cell = GridCell(self.grid, self.plan, self.programs, nodes, self.notes)
        for name, step in cell.steps().items():
            self._step(name)
            step()
        measurement = Measurement(cell, self.run_dir, self.watchdog.cancel, self._tell)
        kinds = ["inflight"] if self.plan.ap.inflight else []
        record: dict[str, Any] = {
            "schema": 1,
            "kernel_release": self.grid.kernel,
            "qdisc_expected": [*kinds, shlex.split(self.plan.ap.qdisc)[0]],
            "errors": [],
        }
        record |= measurement.carry_out(self.run_dir / "progress")
        record["notes"] = self.notes
        (self.run_dir / "guest.json").write_text(json.dumps(record, indent=1) + "\n")
        logged = [
            f"{name}: {line}\n"
            for name, session in nodes.items()
            for line in _since(session.shell("dmesg | tail -c 500000"), marks[name])
        ]
        (self.run_dir / "dmesg.log").write_text("".join(logged))

    def _step(self, name: str) -> None:
        """Write down what comes now, and tell who watches."""
        (self.run_dir / "progress").write_text(f"{name}\n")
        self._tell()

    def _tell(self) -> None:
        if self.watchdog.progress:
            self.watchdog.progress()


def _since(log: str, mark: str) -> list[str]:
    """The lines of a kernel's log after the one that was its last."""
    _, found, new = log.rpartition(mark.strip()) if mark.strip() else ("", "", log)
    return (new if found else log).strip().splitlines()
