# SPDX-License-Identifier: GPL-2.0-only
"""What least attained service does to long flows, and what the floor and the bound by station
do about it: call.toml, starvation.toml and power-save.toml. The bounds are the project's own aims,
set before anything was measured; Documentation/measurements/long-flows.md has the figures."""

from __future__ import annotations

from pathlib import Path

import pytest

from apbed.analysis.fairness import jain_index
from apbed.scenario import catalogue
from tests.experiments.campaign import Run, carried_out

SERVICES = 3  # mean times the access point needs for a packet: the most a call's packet may wait
TIMES_ALONE = 30  # the most a starved upload may take
LOSS_TO_A_SLEEPER = 0.02
JAIN = 0.98
MOST_OF_A_PART = 2  # times what a connection has in the mean, at most
# The rules of layer2-layer3 alone let a long call wait: that shows that the load can.
PLAIN = "lasack mode paper limit 100 inflight off"
DEFAULT = "lasack limit 100 inflight off"
KEPT = "lasack limit 100 halflife 1s inflight off"


def by_qdisc(runs: list[Run]) -> dict[str, Run]:
    """The runs of one seed."""
    return {run["params"]["qdisc"]: run for run in runs}


def without_flow(name: str, word: str, tmp_path: Path) -> Path:
    """A copy of a scenario without the [[flow]] that holds `word`, and what follows it."""
    tables = catalogue.find(name).read_text().split("\n[[flow]]\n")
    path = tmp_path / f"{name}.toml"
    path.write_text("\n[[flow]]\n".join(table for table in tables if word not in table))
    return path


def flow(run: Run, name: str) -> Run:
    found: Run = next(one for one in run["flows"] if one["id"] == name)
    return found


def service_ms(run: Run) -> float:
    """The mean time the access point needs for a packet: its queue is never empty."""
    leaf = run["qdisc"][-1]
    return float(1000 * run["duration_s"] / leaf["packets"])


def check_call(runs: dict[str, Run]) -> None:
    """What a call's packet waits at the access point, 99 of 100, lost ones being the longest."""
    waits = {words: flow(run, "call-down")["queue_delay_ms"] for words, run in runs.items()}
    for words in (KEPT, DEFAULT):
        kept = waits[words]["p99"]
        assert kept is not None and kept < SERVICES * service_ms(runs[words])
    plain = waits[PLAIN]["p99"]
    assert plain is None or plain > SERVICES * service_ms(runs[PLAIN])


def test_a_call_keeps_its_priority(tmp_path: Path) -> None:
    """75 s: the second minute begins with four new connections, the call has had 480 kB."""
    check_call(by_qdisc(carried_out("call", tmp_path, "duration_s=75")))


@pytest.mark.slow
def test_a_call_of_ten_minutes_keeps_its_priority(tmp_path: Path) -> None:
    check_call(by_qdisc(carried_out("call", tmp_path)))


@pytest.mark.parametrize("name", ["many-connections", "connections-in-turn"])
def test_connections_of_a_station_are_equal(tmp_path: Path, name: str) -> None:
    """Fifty of them, none of which ends: all wait for so long that they ask for the floor."""
    (run,) = carried_out(name, tmp_path, 'case=["lasack"]', "seed=1")
    had = [one["goodput_mbps"] for one in run["flows"] if one["station"] == "sta1"]
    assert len(had) == 50
    index = jain_index(had)
    assert index is not None and index >= JAIN
    for one in had:
        assert one < MOST_OF_A_PART * sum(had) / len(had)


def upload_s(run: Run) -> float | None:
    """What the 2 MB took, None if they did not end."""
    upload = flow(run, "upload")
    return None if upload["end_s"] is None else upload["end_s"] - upload["start_s"]


def check_starvation(tmp_path: Path, seed: int) -> None:
    """Without the floor it starves: that shows that the load can."""
    seeded = f"seed={seed}"
    runs = by_qdisc(
        carried_out(
            "starvation", tmp_path / "loaded", seeded, 'ap.qdisc=["lasack floor off","lasack"]'
        )
    )
    (alone,) = carried_out(
        "starvation",
        tmp_path / "alone",
        seeded,
        "ap.qdisc=lasack",
        "workload.load_mbps=0.001",
        "duration_s=40",
    )
    most = TIMES_ALONE * (upload_s(alone) or 0)
    assert 0 < most < runs["lasack"]["duration_s"] - 20  # the runs are long enough to tell
    kept = upload_s(runs["lasack"])
    assert kept is not None and kept < most
    starved = upload_s(runs["lasack floor off"])
    assert starved is None or starved > most


def test_a_starved_upload_ends(tmp_path: Path) -> None:
    check_starvation(tmp_path, 1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [4, 12])  # 12: the upload stalls while it is new
def test_a_starved_upload_ends_with_other_arrivals(tmp_path: Path, seed: int) -> None:
    check_starvation(tmp_path, seed)


@pytest.mark.parametrize("seconds", [25, pytest.param(40, marks=pytest.mark.slow)])
def test_a_sleeper_costs_the_others_nothing(tmp_path: Path, seconds: int) -> None:
    """The same cell without a sleeping phone and its datagrams is the measure."""
    duration = f"duration_s={seconds}"
    (slept,) = carried_out("power-save", tmp_path / "held", duration)
    path = without_flow("power-save", 'id = "phone"', tmp_path)
    (free,) = carried_out(path, tmp_path / "free", duration)
    totals = [
        sum(flow(run, f"down{k}")["goodput_mbps"] for k in (1, 2, 3)) for run in (slept, free)
    ]
    assert totals[0] >= (1 - LOSS_TO_A_SLEEPER) * totals[1]
    # It slept: hardly any of its datagrams came through meanwhile.
    assert flow(slept, "phone")["delay_ms"]["p90"] is None
