# SPDX-License-Identifier: GPL-2.0-only
"""Runs the points of a scenario in machines of their own, several at once, and resumes.

Principle: a run is a pure function of its inputs (plan, kernel, modules, tools), whose hash
stands in its run.json; a finished run with the same hash is never run again. The runner
starts things and writes down how they ended; it never computes a metric.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shlex
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from apbed.checkout import GUEST
from apbed.errors import ApbedError
from apbed.kernels.watchdog import INTERRUPTED, Boot, Watchdog
from apbed.run import bench
from apbed.run.bench import Bench
from apbed.run.executor import LOCAL, Executor
from apbed.run.machines import Backend
from apbed.run.order import Order
from apbed.scenario import plan
from apbed.scenario.parse import Run, Scenario

Notify = Callable[["Event"], None]


@dataclass(frozen=True)
class Event:
    """What an observer hears: `state` is running, done, failed or kept."""

    run: Run
    state: str
    virtual_s: float = 0.0
    wall_s: float = 0.0
    why: str | None = None


def unheard(_event: Event) -> None:
    """The observer of a campaign nobody watches."""


def run_all(
    scenario: Scenario,
    out: Path,
    jobs: int,
    notify: Notify = unheard,
    backend: Backend = bench.LAB,
    executor: Executor = LOCAL,
) -> bool:
    """Run what is not done yet below `out`; true when every run was carried out.

    `backend` says in which machines, `executor` on which hosts. `notify` hears of every change,
    from the pool's threads. Raises ApbedError before anything starts if something is missing.
    Ctrl-C ends all running guests.
    """
    benches = {name: bench.find(name, backend) for name in {run.kernel for run in scenario.runs}}
    for run in scenario.runs:
        benches[run.kernel].machine.accept(run.plan)
        benches[run.kernel].programs(run.plan)
    for entry in benches.values():
        executor.accept(entry)
    digests = {name: entry.digests() for name, entry in benches.items()}
    out.mkdir(parents=True, exist_ok=True)
    cancel = threading.Event()
    with _only_user(out), ThreadPoolExecutor(max_workers=jobs) as pool:
        manifest = _manifest(scenario, out, benches, digests, backend, executor)
        _write(out / "manifest.json", manifest)
        futures = []
        for run in scenario.runs:
            entry, ours = benches[run.kernel], digests[run.kernel]
            one = _Job(scenario, run, entry, ours, out, notify, cancel, backend, executor)
            futures.append(pool.submit(one.carry_out))
        try:
            done = [future.result() for future in as_completed(futures)]
        except BaseException:
            cancel.set()
            for future in futures:
                future.cancel()
            raise
        _write(out / "manifest.json", manifest | _costs(scenario, out))
        return all(done)


def inputs(scenario: Scenario, backend: Backend = bench.LAB) -> dict[str, str]:
    """The inputs hash that each of the scenario's runs has today, by its id.

    Raises ApbedError if something is missing that runs need.
    """
    benches = {name: bench.find(name, backend) for name in {run.kernel for run in scenario.runs}}
    digests = {name: entry.digests() for name, entry in benches.items()}
    return {
        run.id: inputs_hash(run, benches[run.kernel], digests[run.kernel]) for run in scenario.runs
    }


def finished(out: Path, inputs: Mapping[str, str]) -> set[str]:
    """The ids of those runs below `out` that `run_all` would keep: done, with these inputs."""
    return {run_id for run_id, known in inputs.items() if _is_done(out / "runs" / run_id, known)}


def inputs_hash(run: Run, entry: Bench, digests: dict[str, str]) -> str:
    """Of everything a run is a function of: plan, kernel, its modules and tools."""
    unused = entry.unused(run.plan)
    files = {name: digest for name, digest in digests.items() if name not in unused}
    inputs = json.dumps([run.plan.to_json(), entry.machine.key, files], sort_keys=True)
    return hashlib.sha256(inputs.encode()).hexdigest()


@contextlib.contextmanager
def _only_user(out: Path) -> Iterator[None]:
    """Hold `out` for this campaign; ApbedError if another one has it. Leaves no lock file."""
    descriptor = os.open(out, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise ApbedError(f"{out} is in use by another apbed run; wait, or give --out") from None
    else:
        yield
    finally:
        os.close(descriptor)


@dataclass(frozen=True)
class _Job:
    """One run on its way: what it is, what it runs on, and who hears of it."""

    scenario: Scenario
    run: Run
    bench: Bench
    digests: dict[str, str]
    out: Path
    notify: Notify
    cancel: threading.Event
    backend: Backend
    executor: Executor

    @property
    def run_dir(self) -> Path:
        return self.out / "runs" / self.run.id

    def carry_out(self) -> bool:
        """Run it unless it is done already; true when it is done, false when it failed."""
        hashed = inputs_hash(self.run, self.bench, self.digests)
        record = {
            "schema": 2,
            "id": self.run.id,
            "scenario": self.scenario.name,
            "params": self.run.params | {"kernel": self.bench.machine.release},
            "inputs_hash": hashed,
            "plan": self.run.plan.to_json(),
        }
        if _is_done(self.run_dir, hashed):
            # A figure may ask since for parameters that it did not name before.
            _write(self.run_dir / "run.json", record)
            self.notify(Event(self.run, "kept"))
            return True
        if self.cancel.is_set():
            return False
        shutil.rmtree(self.run_dir, ignore_errors=True)
        self.run_dir.mkdir(parents=True)
        plan.write(self.run_dir / "plan.json", self.run.plan, self.bench.programs(self.run.plan))
        _write(self.run_dir / "run.json", record)
        return self.boot()

    def boot(self) -> bool:
        """Boot the guest and write its status.json; true when it came to its end."""
        run_dir, machine = self.run_dir.resolve(), self.bench.machine
        order = Order(GUEST / "cell.py", run_dir, self.bench.files(), self.run.plan.seed)
        progress = self.progress(time.monotonic())
        watchdog = Watchdog(machine.stall_s, progress=progress, cancel=self.cancel)
        try:
            result = self.executor.boot(self.bench, order, watchdog)
        except ApbedError as error:
            self.record(Boot(None, str(error), 0.0, None), str(error))
            raise
        why = result.why or _guest_error(self.run_dir, result.status)
        if why == INTERRUPTED:
            shutil.rmtree(self.run_dir)
            return False
        self.record(result, why)
        return why is None

    def record(self, result: Boot, why: str | None) -> None:
        """Write status.json, and tell who listens."""
        state = "failed" if why else "done"
        status = {
            "schema": 1,
            "state": state,
            "why": why,
            "virtual_s": result.virtual_s,
            "wall_s": round(result.wall_s, 3),
            "processor_s": None if result.processor_s is None else round(result.processor_s, 2),
        }
        if self.backend.cpus > 1:
            status |= {"real_time": True, "waited_s": result.waited_s}
        _write(self.run_dir / "status.json", status)
        self.notify(Event(self.run, state, result.virtual_s or 0.0, result.wall_s, why))

    def progress(self, started: float) -> Callable[[], object]:
        """What the watchdog looks at: the guest's step, then each virtual second of the flows."""
        path = self.run_dir / "progress"

        def read() -> object:
            said = path.read_text().split() if path.exists() else []
            word = said[-1] if said else ""
            virtual_s = float(word) if word.isdigit() else 0.0
            self.notify(Event(self.run, "running", virtual_s, time.monotonic() - started))
            return word

        return read


def _guest_error(run_dir: Path, status: int | None) -> str | None:
    """The guest's own one line about what failed, or None."""
    if status == 0:
        return None
    try:
        return str(json.loads((run_dir / "guest.json").read_text())["errors"][0])
    except (OSError, ValueError, LookupError, TypeError):
        return f"the guest's script failed with status {status}; see console.log"


def _is_done(run_dir: Path, inputs_hash: str) -> bool:
    try:
        run = json.loads((run_dir / "run.json").read_text())
        status = json.loads((run_dir / "status.json").read_text())
        return bool(run["inputs_hash"] == inputs_hash and status["state"] == "done")
    except (OSError, ValueError, LookupError, TypeError):  # none, or of another shape
        return False


def _manifest(
    scenario: Scenario,
    out: Path,
    benches: dict[str, Bench],
    digests: dict[str, dict[str, str]],
    backend: Backend,
    executor: Executor,
) -> dict[str, Any]:
    command = ["apbed", "run", scenario.word, "--out", str(out)]
    command += [] if backend.name == "uml" else ["--backend", backend.name]
    command += ["--grid", str(backend.grid)] if backend.grid else []
    command += ["--cpus", str(backend.cpus)] if backend.cpus > 1 else []
    command += ["--executor", executor.word] if executor is not LOCAL else []
    command += [f"--set={word}" for word in scenario.settings]
    return {
        "schema": 1,
        "scenario": scenario.name,
        "title": scenario.title,
        "source": scenario.source,
        "seeds": sorted({run.plan.seed for run in scenario.runs}),
        "runs": [run.id for run in scenario.runs],
        "inputs": {
            run.id: inputs_hash(run, benches[run.kernel], digests[run.kernel])
            for run in scenario.runs
        },
        "kernels": {
            name: {
                "release": entry.machine.release,
                "key": entry.machine.key,
                "machine": entry.machine.what,
                "sha256": digests[name],
            }
            for name, entry in benches.items()
        },
        "command": shlex.join(command),
        "figures": [figure.to_json() for figure in scenario.figures],
        "grid": str(backend.grid) if backend.grid else None,
    }


def _costs(scenario: Scenario, out: Path) -> dict[str, dict[str, float]]:
    """The machine's wall and processor time that each run took, where it is known.

    Not in summary.json: equal runs have equal ones.
    """
    found: dict[str, dict[str, float]] = {"wall_s": {}, "processor_s": {}}
    for run in scenario.runs:
        with contextlib.suppress(OSError, ValueError, TypeError):
            status = json.loads((out / "runs" / run.id / "status.json").read_text())
            for name, by_run in found.items():
                if status.get(name) is not None:
                    by_run[run.id] = status[name]
    return found


def _write(path: Path, table: dict[str, Any]) -> None:
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(table, indent=1) + "\n")
    partial.replace(path)
