# SPDX-License-Identifier: GPL-2.0-only
"""Several scenarios, one after the other: what is still to run, and how long it should take.

Principle: each scenario has a directory of its own, exactly as `apbed run` leaves it. So runs that
are done are kept as the runner keeps them, and what was interrupted goes on by the same command.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from apbed.errors import ApbedError
from apbed.run import runner
from apbed.scenario import catalogue, parse
from apbed.scenario.parse import Run, Scenario

FOLDER = "air"  # of the scenarios: the loads that users know
SET_UP_S = 4.0  # virtual seconds before t0: association, and a second to settle
# Processor seconds for a virtual second of a busy cell, until runs of the load say better:
# Documentation/measurements/laboratory.md.
COST = {"hrdsss-11": 0.25, "ofdm-54": 1.0, "erp-ofdm-54": 1.0, "ht20": 1.5}
COST_OF_OTHERS = 1.5

Known = Callable[[str], Mapping[str, str]]


def unknown(_name: str) -> Mapping[str, str]:
    """Of a campaign that has only what is below its own directory."""
    return {}


@dataclass(frozen=True)
class Load:
    """A scenario of the campaign: each run's inputs hash, and the ids of those that are done:
    below `out`, or earlier and elsewhere, as a record says."""

    scenario: Scenario
    out: Path
    inputs: Mapping[str, str]
    kept: frozenset[str]
    recorded: frozenset[str]

    @property
    def open(self) -> list[Run]:
        """The runs that are not done yet."""
        done = self.kept | self.recorded
        return [run for run in self.scenario.runs if run.id not in done]

    @property
    def here(self) -> Scenario:
        """The scenario with the runs that are below `out`, or are to be."""
        runs = [run for run in self.scenario.runs if run.id not in self.recorded]
        return dataclasses.replace(self.scenario, runs=runs)

    @property
    def virtual_s(self) -> float:
        """Of the runs that are not done yet."""
        return sum(run.plan.duration_s + SET_UP_S for run in self.open)

    @property
    def expected_s(self) -> float:
        """Wall time of these, one at a time: at the speed of this load's earlier runs, if any."""
        phys = {run.plan.medium.phy for run in self.scenario.runs}
        guess = max(COST.get(phy, COST_OF_OTHERS) for phy in phys)
        return self.virtual_s * (_measured_cost(self.out) or guess)


def loads(
    out: Path,
    settings: Sequence[str],
    *,
    short: bool,
    names: Sequence[str] = (),
    known: Known = unknown,
) -> list[Load]:
    """The campaign's loads, the longest first. `names`: only these. `known`: the inputs of runs
    that were made elsewhere, by their ids, for a load's name; those with today's inputs are done.
    ApbedError for an unknown load or if something is missing that runs need."""
    files = {path.stem: path for path in catalogue.files() if path.parent.name == FOLDER}
    if unknown := [name for name in names if name not in files]:
        raise ApbedError(f"no load {unknown[0]!r}; expected some of: {', '.join(files)}")
    found = []
    for name, path in files.items():
        if not names or name in names:
            scenario = parse.load(path, settings, short=short)
            inputs = runner.inputs(scenario)
            kept = frozenset(runner.finished(out / name, inputs))
            earlier = {run_id for run_id, said in known(name).items() if inputs.get(run_id) == said}
            found.append(Load(scenario, out / name, inputs, kept, frozenset(earlier - kept)))
    return sorted(found, key=lambda load: load.expected_s, reverse=True)


def _measured_cost(out: Path) -> float | None:
    """Wall seconds for a virtual second, over all runs below `out` that ended; None without any."""
    wall_s = virtual_s = 0.0
    for path in out.glob("runs/*/status.json"):
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            status = json.loads(path.read_text())
            if status["state"] == "done":
                virtual_s += float(status["virtual_s"])
                wall_s += float(status["wall_s"])
    return wall_s / virtual_s if virtual_s else None
