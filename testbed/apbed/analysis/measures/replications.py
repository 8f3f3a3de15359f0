# SPDX-License-Identifier: GPL-2.0-only
"""What the seeds of a scenario say together: means with 95 % intervals, and paired differences.

Method: independent replications. Each seed is one observation; the half-width is t(0.975, n - 1)
s / sqrt(n) (A. Law, "Simulation Modeling and Analysis", section 9.4.1). Runs of one seed meet the
same load, so two cases are compared by their difference in each seed (common random numbers,
section 11.2), whose interval is computed alike. Invalid runs are left out.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from itertools import combinations

from scipy.stats import t as student

from apbed.analysis.run_directory import Json

CONFIDENCE = 0.95
# What is averaged: paths into a RUN of summary.json.
FIGURES = (
    "goodput_mbps.total",
    "goodput_mbps.down",
    "goodput_mbps.up",
    "ratio_down_up",
    "jain",
    "response_time_s.down.mean",
    "response_time_s.down.spread_90_10",
    "response_time_s.up.mean",
    "response_time_s.up.spread_90_10",
    "tcp_segments.down.loss",
    "tcp_segments.up.loss",
    "tcp_segments.down.retransmitted_share",
    "tcp_segments.up.retransmitted_share",
    "ping_loss",
    "late_share",
    "medium.collision_probability",
)
CONTENDER = ("case", "qdisc", "inflight", "medium.access")  # what is compared, not what it meets


def interval(values: Sequence[float]) -> Json:
    """How many, their mean, and the half-width of its 95 % interval: None of fewer than two."""
    n = len(values)
    mean = sum(values) / n
    if n < 2:
        return {"n": n, "mean": mean, "half_width_95": None}
    spread = math.sqrt(sum((value - mean) ** 2 for value in values) / (n - 1))
    quantile = float(student.ppf((1 + CONFIDENCE) / 2, n - 1))
    return {"n": n, "mean": mean, "half_width_95": quantile * spread / math.sqrt(n)}


def over_seeds(runs: Sequence[Json]) -> list[Json]:
    """For each point of the sweep but the seed: its `params` and an interval of each figure."""
    points: dict[str, list[Json]] = {}
    for run in _valid(runs):
        points.setdefault(_key(_without_seed(run)), []).append(run)
    return [
        {"params": _without_seed(ours[0]), "figures": _intervals([_figures(run) for run in ours])}
        for ours in points.values()
    ]


def paired(runs: Sequence[Json]) -> list[Json]:
    """For each two contenders that met the same seeds: intervals of second minus first."""
    groups: dict[str, dict[str, dict[str, Json]]] = {}
    for run in _valid(runs):
        params = _without_seed(run)
        contender = {key: params.pop(key) for key in CONTENDER if key in params}
        by_seed = groups.setdefault(_key(params), {}).setdefault(_key(contender), {})
        by_seed[_key(run["params"].get("seed"))] = run
    found = []
    for place, contenders in groups.items():
        for first, second in combinations(contenders, 2):
            one, other = contenders[first], contenders[second]
            differences = [
                _difference(_figures(one[seed]), _figures(other[seed]))
                for seed in one
                if seed in other
            ]
            if len(differences) > 1:
                words = {"first": json.loads(first), "second": json.loads(second)}
                params = {"params": json.loads(place)}
                found.append(params | words | {"figures": _intervals(differences)})
    return found


def _valid(runs: Sequence[Json]) -> list[Json]:
    return [run for run in runs if run["valid"]]


def _without_seed(run: Json) -> Json:
    return {key: value for key, value in run["params"].items() if key != "seed"}


def _key(value: object) -> str:
    return json.dumps(value, sort_keys=True)


def _figures(run: Json) -> dict[str, float]:
    """Those that are known of a run."""
    found = {}
    for path in FIGURES:
        value: object = run
        for name in path.split("."):
            value = value.get(name) if isinstance(value, dict) else None
        if isinstance(value, int | float):
            found[path] = float(value)
    return found


def _difference(first: dict[str, float], second: dict[str, float]) -> dict[str, float]:
    return {path: second[path] - first[path] for path in first if path in second}


def _intervals(each: Sequence[dict[str, float]]) -> Json:
    known = [path for path in FIGURES if any(path in one for one in each)]
    return {path: interval([one[path] for one in each if path in one]) for path in known}
