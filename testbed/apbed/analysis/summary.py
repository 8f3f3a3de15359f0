# SPDX-License-Identifier: GPL-2.0-only
"""DIR/summary.json: every run of an experiment, measured and judged (schema 1)."""

from __future__ import annotations

import json
from pathlib import Path

from apbed.analysis.measures import replications
from apbed.analysis.metrics import measure
from apbed.analysis.run_directory import Json, read_object, read_plan
from apbed.analysis.validity import why_invalid
from apbed.errors import ApbedError


def summarize(directory: Path) -> Json:
    """Measure all of DIR/runs, write DIR/summary.json whole or not at all, and return it.

    Raises ApbedError when DIR holds no runs.
    """
    run_dirs = run_directories(directory)
    manifest = read_object(directory / "manifest.json") or {}
    first = read_object(run_dirs[0] / "run.json") or {}
    runs = [summarize_run(run_dir) for run_dir in run_dirs]
    result: Json = {
        "schema": 1,
        "scenario": manifest.get("scenario", first.get("scenario")),
        "runs": runs,
        "not_carried_out": not_carried_out(directory),
        "over_seeds": replications.over_seeds(runs),
        "paired": replications.paired(runs),
    }
    partial = directory / "summary.json.partial"
    partial.write_text(json.dumps(result, indent=1, allow_nan=False) + "\n")
    partial.replace(directory / "summary.json")
    return result


def summarize_run(run_dir: Path) -> Json:
    """One RUN of summary.json."""
    run = read_object(run_dir / "run.json") or {}
    status = read_object(run_dir / "status.json") or {}
    plan = read_plan(run_dir)
    why = why_invalid(run_dir)
    return {
        "id": run.get("id", run_dir.name),
        "params": run.get("params", {}),
        "valid": why is None,
        "why_invalid": why,
        "virtual_s": status.get("virtual_s"),
        "duration_s": plan.duration_s if plan else None,
        "warmup_s": plan.warmup_s if plan else None,
    } | measure(run_dir)


def not_carried_out(directory: Path) -> list[str]:
    """The ids of the manifest's runs that nobody began, or only with other inputs than it says."""
    manifest = read_object(directory / "manifest.json") or {}
    planned: list[str] = manifest.get("runs", [])
    return [one for one in planned if not _carried_out(directory, one, manifest)]


def _carried_out(directory: Path, run_id: str, manifest: Json) -> bool:
    run = read_object(directory / "runs" / run_id / "run.json")
    wanted = manifest.get("inputs", {}).get(run_id)
    return run is not None and wanted in (None, run.get("inputs_hash"))


def run_directories(directory: Path) -> list[Path]:
    """Those of the manifest's runs, in its order, or all there are if there is no manifest.

    Runs of an earlier plan in the same place, or with other inputs, are left out. Raises ApbedError
    when none is left.
    """
    found = {path.parent.name: path.parent for path in sorted(directory.glob("runs/*/run.json"))}
    manifest = read_object(directory / "manifest.json") or {}
    planned = manifest.get("runs", list(found))
    run_dirs = [
        found[run_id]
        for run_id in planned
        if run_id in found and _carried_out(directory, run_id, manifest)
    ]
    if not run_dirs:
        raise ApbedError(f"{directory} holds no runs; `apbed run SCENARIO --out DIR` makes some")
    return run_dirs
