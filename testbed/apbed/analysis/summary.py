# SPDX-License-Identifier: GPL-2.0-only
"""DIR/summary.json: every run of an experiment, measured and judged (schema 1)."""

from __future__ import annotations

import json
from pathlib import Path

from apbed.analysis.metrics import measure
from apbed.analysis.run_directory import Json, read_object, read_plan
from apbed.analysis.validity import why_invalid
from apbed.errors import ApbedError


def summarize(directory: Path) -> Json:
    """Measure all of DIR/runs, write DIR/summary.json whole or not at all, and return it.

    Raises ApbedError when DIR holds no runs.
    """
    run_dirs = sorted(path.parent for path in directory.glob("runs/*/run.json"))
    if not run_dirs:
        raise ApbedError(f"{directory} holds no runs; `apbed run SCENARIO --out DIR` makes some")
    manifest = read_object(directory / "manifest.json") or {}
    first = read_object(run_dirs[0] / "run.json") or {}
    result: Json = {
        "schema": 1,
        "scenario": manifest.get("scenario", first.get("scenario")),
        "runs": [summarize_run(run_dir) for run_dir in _as_planned(manifest, run_dirs)],
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


def _as_planned(manifest: Json, run_dirs: list[Path]) -> list[Path]:
    """The manifest's runs in its order; runs of an earlier plan in the same place are left out."""
    found = {run_dir.name: run_dir for run_dir in run_dirs}
    planned = manifest.get("runs", list(found))
    return [found[run_id] for run_id in planned if run_id in found]
