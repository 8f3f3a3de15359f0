# SPDX-License-Identifier: GPL-2.0-only
"""A run as a data file of flent (https://flent.org), which plots it.

The file is gzipped JSON, version 4 of the format (flent's manual, "Data file format"). A run is
written as a result of flent's test rrul_be_nflows, the one with any number of uploads and
downloads: its series have the test's names. The delay of the first pulse is the one-way delay of
the test's VoIP series, that of the first ping there and back its ICMP ping, though of UDP.
"""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from apbed.analysis.metrics import SERIES_STEP_S
from apbed.analysis.run_directory import FlowTrace, Json
from apbed.errors import ApbedError
from apbed.export.results import Experiment, Result
from apbed.kernels.lab import BOOT_TIME_NS

FORMAT_VERSION = 4
TEST = "rrul_be_nflows"
SUFFIX = ".flent.gz"
DIRECTIONS = {"up": "upload", "down": "download"}
DELAY, PING = "VoIP::delay", "Ping (ms) ICMP"

Series = list[float | None]  # a value for each of x_values
Points = list[tuple[float, float]]  # (s after t0, value)


def write_files(experiment: Experiment, directory: Path) -> None:
    """DIRECTORY/RUN.flent.gz of each valid run; ApbedError if one has nothing that flent draws."""
    directory.mkdir()
    for run in experiment.valid:
        if not run.plan.flows:
            raise ApbedError(
                f"{run.id} has transfers only, and flent draws none of them; "
                "--csv and --sqlite have their response times"
            )
        text = json.dumps(_data_file(experiment, run), indent=1, allow_nan=False) + "\n"
        # Without the time of writing, equal runs give equal files.
        (directory / f"{run.id}{SUFFIX}").write_bytes(gzip.compress(text.encode(), mtime=0))


def _data_file(experiment: Experiment, run: Result) -> Json:
    flows = run.summary["flows"]
    x_values = [t_s for t_s, _ in flows[0]["goodput_series"]]
    results: dict[str, Series] = {}
    points: dict[str, Points] = {}
    about: dict[str, dict[str, str]] = {}
    for name, flow in _streams(flows).items():
        results[name] = [rate for _, rate in flow["goodput_series"]]
        points[name] = [(t_s, rate) for t_s, rate in flow["goodput_series"] if rate is not None]
        about[name] = {"FLOW": flow["id"], "STATION": flow["station"], "UNITS": "Mbits/s"}
    results |= _totals(results)
    for name, ways in ((DELAY, ("pulse", "pulse_down")), (PING, ("ping",))):
        for first in [trace for trace in run.traces if trace.plan.dir in ways][:1]:
            points[name] = _delay_points(run, first)
            results[name] = _per_second(points[name], x_values)
            about[name] = {"FLOW": first.plan.id, "STATION": first.plan.station, "UNITS": "ms"}
    return {
        "version": FORMAT_VERSION,
        "metadata": _metadata(experiment, run, about),
        "x_values": x_values,
        "results": results,
        "raw_values": {name: _raw(run, found) for name, found in points.items()},
    }


def _streams(flows: Sequence[Json]) -> dict[str, Json]:
    """The TCP flows by the names that the test gives its streams: "TCP upload BE::1"..."""
    found: dict[str, Json] = {}
    for way, word in DIRECTIONS.items():
        ours = [flow for flow in flows if flow["dir"] == way]
        found |= {f"TCP {word} BE::{k}": flow for k, flow in enumerate(ours, start=1)}
    return found


def _totals(streams: dict[str, Series]) -> dict[str, Series]:
    """The sums and means that the test computes from its streams."""
    found: dict[str, Series] = {}
    for word in DIRECTIONS.values():
        ours = [each for name, each in streams.items() if name.startswith(f"TCP {word} ")]
        if ours:
            found[f"TCP {word} sum"] = _combine(ours, mean=False)
            found[f"TCP {word} avg"] = _combine(ours, mean=True)
    if streams:
        found["TCP totals"] = _combine(list(streams.values()), mean=False)
    return found


def _combine(series: Sequence[Series], mean: bool) -> Series:
    combined: Series = []
    for values in zip(*series, strict=True):
        known = [value for value in values if value is not None]
        total = sum(known) if known else None
        combined.append(total / len(known) if mean and total is not None else total)
    return combined


def _delay_points(run: Result, pulse: FlowTrace) -> Points:
    """When a datagram's delay was recorded, and the delay in ms, for each that came."""
    return [(round(t_s - run.t0_s, 9), us / 1000) for t_s, each in pulse.delays for us in each]


def _per_second(points: Points, x_values: Sequence[float]) -> Series:
    """The mean of what falls into each step around its middle; None where nothing does. A record
    of flowgen is of the step before it."""
    steps: dict[int, list[float]] = defaultdict(list)
    for t_s, value in points:
        steps[int((t_s - SERIES_STEP_S / 2) // SERIES_STEP_S)].append(value)
    found = [steps.get(int(x // SERIES_STEP_S)) for x in x_values]
    return [sum(each) / len(each) if each else None for each in found]


def _raw(run: Result, points: Points) -> list[Json]:
    """Values with their times in seconds since 1970, as flent has those of its programs."""
    t0_s = BOOT_TIME_NS / 1e9 + run.t0_s
    return [{"t": round(t0_s + t_s, 6), "val": value} for t_s, value in points]


def _metadata(experiment: Experiment, run: Result, about: dict[str, dict[str, str]]) -> Json:
    """`TIME` is the guest's clock, whose date is the same in each run."""
    started = datetime.fromtimestamp(BOOT_TIME_NS // 10**9, UTC) + timedelta(seconds=run.t0_s)
    time = started.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    ways = [flow["dir"] for flow in run.summary["flows"]]
    parameters = {f"{word}_streams": str(ways.count(way)) for way, word in DIRECTIONS.items()}
    if DELAY in about:
        parameters["voip_host"] = about[DELAY]["STATION"]
    return {
        "NAME": TEST,
        "TITLE": run.id,
        "BATCH_NAME": experiment.scenario,
        "BATCH_TITLE": experiment.title,
        "NOTE": ", ".join(f"{name}={value}" for name, value in run.params.items()),
        "DATA_FILENAME": f"{run.id}{SUFFIX}",
        "TIME": time,
        "T0": time,
        "LENGTH": run.plan.duration_s,
        "TOTAL_LENGTH": run.plan.duration_s,
        "STEP_SIZE": SERIES_STEP_S,
        "HOST": "wired",
        "HOSTS": ["wired"],
        "LOCAL_HOST": "ap",
        "IP_VERSION": 4,
        "TEST_PARAMETERS": parameters,
        "SERIES_META": about,
        "LASACK": run.params,
    }
