# SPDX-License-Identifier: GPL-2.0-only
"""The runs of a directory as the exports need them: measured, judged, with their datagrams."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from apbed.analysis.run_directory import FlowTrace, Json, read_flows, read_object, read_plan
from apbed.analysis.summary import run_directories, summarize_run
from apbed.errors import ApbedError
from apbed.scenario.plan import Plan


@dataclass(frozen=True)
class Result:
    """One valid run. Times in `traces` are seconds on the guest's clock, `t0_s` too."""

    id: str
    params: Json
    plan: Plan
    t0_s: float
    summary: Json  # a RUN of summary.json
    traces: list[FlowTrace]  # of the planned flows, transfers apart
    stations: list[Json]  # what the medium counted for each


@dataclass(frozen=True)
class Invalid:
    """A run that cannot be used, and why."""

    id: str
    params: Json
    why: str


@dataclass(frozen=True)
class Experiment:
    """The runs of one directory, in the manifest's order."""

    scenario: str
    title: str
    runs: list[Result | Invalid]

    @property
    def valid(self) -> list[Result]:
        """The runs that have measurements."""
        return [run for run in self.runs if isinstance(run, Result)]

    @property
    def invalid(self) -> list[Invalid]:
        """The runs that have none."""
        return [run for run in self.runs if isinstance(run, Invalid)]


def read(directory: Path) -> Experiment:
    """The runs of what `apbed run` wrote: DIR itself, or one of DIR/runs.

    Raises ApbedError if it is neither, or if no run is valid.
    """
    if not directory.is_dir():
        raise ApbedError(f"{directory}: {'not a' if directory.exists() else 'no such'} directory")
    single = (directory / "run.json").exists()
    run_dirs = [directory] if single else run_directories(directory)
    manifest = read_object(directory / "manifest.json") or {}
    scenario = str((read_object(run_dirs[0] / "run.json") or {}).get("scenario", ""))
    runs = [_read_run(run_dir) for run_dir in run_dirs]
    found = Experiment(scenario, str(manifest.get("title", scenario)), runs)
    if not found.valid:
        first = found.invalid[0]
        raise ApbedError(f"{directory} has no valid run to export; {first.id}: {first.why}")
    return found


def _read_run(run_dir: Path) -> Result | Invalid:
    summary = summarize_run(run_dir)
    plan = read_plan(run_dir)
    if not summary["valid"] or plan is None:
        return Invalid(summary["id"], summary["params"], str(summary["why_invalid"]))
    guest = read_object(run_dir / "guest.json") or {}
    if not {"t0_s", "t1_s"} <= guest.keys():
        why = "guest.json does not say when its flows began and ended"
        return Invalid(summary["id"], summary["params"], why)
    medium = read_object(run_dir / "medium.json") or {}
    return Result(
        id=summary["id"],
        params=summary["params"],
        plan=plan,
        t0_s=float(guest["t0_s"]),
        summary=summary,
        traces=read_flows(run_dir, plan.flows),
        stations=medium.get("stations", []),  # none on a grid
    )
