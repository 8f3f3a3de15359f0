# SPDX-License-Identifier: GPL-2.0-only
"""A load's measured runs in one small file, which is committed: FOLDER/SCENARIO.json.xz (schema 2).

Principle: what a page says can be made again from the record alone, long after its runs are gone.
So a record says of each run what it was a function of, and has all of its summary but what makes
that large: every transfer, and every second.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from apbed.analysis.run_directory import Json, read_object
from apbed.errors import ApbedError

SCHEMA = 2
SUFFIX = ".json.xz"
UNKNOWN = "unknown"  # in place of a commit
SERIES = ("goodput_series", "delay_series")  # of a flow: a value for each second


@dataclass(frozen=True)
class Record:
    """The runs of one scenario."""

    scenario: str
    title: str
    commits: Mapping[str, str]  # by a run's id: of the code that made it
    inputs: Mapping[str, str]  # the inputs hash of each, by its id
    runs: tuple[Json, ...]  # RUNs of summary.json, without transfers and series

    def of(self, run_ids: Collection[str]) -> Record:
        """Only these runs."""
        runs = tuple(run for run in self.runs if run["id"] in run_ids)
        ids = [run["id"] for run in runs]
        return Record(
            self.scenario,
            self.title,
            {run_id: self.commits[run_id] for run_id in ids},
            {run_id: self.inputs[run_id] for run_id in ids},
            runs,
        )

    def joined(self, earlier: Record, order: Iterable[str]) -> Record:
        """With those of an earlier record's runs that are not in this one, in this
        order. Old ones stay until they are made again: the page marks them."""
        more = [run for run in earlier.runs if run["id"] not in self.inputs]
        known = {run["id"]: run for run in (*self.runs, *more)}
        commits, hashes = {**earlier.commits, **self.commits}, {**earlier.inputs, **self.inputs}
        ids = sorted(known, key=[*order, *known].index)
        return Record(
            self.scenario,
            self.title,
            {run_id: commits[run_id] for run_id in ids},
            {run_id: hashes[run_id] for run_id in ids},
            tuple(known[run_id] for run_id in ids),
        )

    def stale(self, inputs: Mapping[str, str]) -> set[str]:
        """The ids of the runs whose inputs differ from these, which are today's."""
        return {run_id for run_id, known in self.inputs.items() if inputs.get(run_id) != known}


def of_runs(directory: Path, title: str, commits: Mapping[str, str], summary: Json) -> Record:
    """The record of the runs below `directory`, whose summary is given. `commits`: by id."""
    runs = tuple(_without_series(run) for run in summary["runs"])
    said = {run["id"]: read_object(directory / "runs" / run["id"] / "run.json") for run in runs}
    inputs = {run_id: str((one or {}).get("inputs_hash")) for run_id, one in said.items()}
    known = {run_id: commits.get(run_id, UNKNOWN) for run_id in said}
    return Record(summary["scenario"], title, known, inputs, runs)


def write(folder: Path, record: Record) -> Path:
    """Write it whole or not at all; equal records are equal files."""
    folder.mkdir(parents=True, exist_ok=True)
    told = {"schema": SCHEMA} | {name: getattr(record, name) for name in Record.__annotations__}
    text = json.dumps(told, separators=(",", ":"), allow_nan=False)
    path = folder / (record.scenario + SUFFIX)
    partial = path.with_suffix(".partial")
    partial.write_bytes(lzma.compress(text.encode(), preset=9))
    partial.replace(path)
    return path


def read(folder: Path, scenario: str) -> Record | None:
    """The record of a scenario, or None if there is none. ApbedError if it cannot be read."""
    path = folder / (scenario + SUFFIX)
    if not path.exists():
        return None
    try:
        told: dict[str, Any] = json.loads(lzma.decompress(path.read_bytes()))
        if told.pop("schema") != SCHEMA:
            raise ValueError("another schema")
        return Record(**told | {"runs": tuple(told["runs"])})
    except (OSError, lzma.LZMAError, ValueError, KeyError, TypeError) as error:
        raise ApbedError(f"{path} is no record of runs ({error}); remove it") from None


def _without_series(run: Json) -> Json:
    flows = [flow | {name: [] for name in SERIES} for flow in run["flows"]]
    return run | {"flows": flows, "transfers": []}
