# SPDX-License-Identifier: GPL-2.0-only
"""Runs repeat wherever and whenever they run, and every station is associated before t0."""

from __future__ import annotations

import compileall
import dataclasses
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from apbed.analysis import summary
from apbed.checkout import GUEST, PACKAGE
from apbed.kernels import ram_disk
from apbed.run import bench, runner
from apbed.scenario import catalogue, parse
from tests.experiments import repeats

pytestmark = pytest.mark.usefixtures("lab_kernel")

# Two of the cells of repeats.toml, cut short.
CELLS = [
    ("hrdsss-11", "lasack", 4),
    ("ht20", "ackwrr weights auto", 2),
    ("erp-ofdm-54", "inflight limit 64 stall 60s", 3),
]
EIGHT = """
schema = 1
name = "eight"
title = "eight stations that associate and send at once"
duration_s = 2.0
mix = "dl4-ul4"
[ap]
inflight = 1
qdisc = "pfifo limit 100"
[station]
count = 8
inflight = 1
qdisc = "pfifo limit 100"
"""


@pytest.mark.parametrize(("phy", "qdisc", "seconds"), CELLS, ids=[cell[0] for cell in CELLS])
def test_a_cell_repeats(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, phy: str, qdisc: str, seconds: int
) -> None:
    """The second run is deeper, has a larger environment and a busy machine.

    And its guest finds no compiled scripts.
    """
    words = [f"medium.phy={phy}", f"ap.qdisc={qdisc}", f"duration_s={seconds}"]
    plan = parse.load(catalogue.find(str(repeats.SCENARIO)), [*words, "warmup_s=0", "seed=1"])
    monkeypatch.setattr(runner, "GUEST", guest_scripts(tmp_path / "compiled"))
    assert compileall.compile_dir(tmp_path / "compiled", quiet=1)
    runner.run_all(plan, repeats.place(tmp_path, "quiet"), jobs=1)
    monkeypatch.setattr(runner, "GUEST", guest_scripts(tmp_path / "plain"))
    monkeypatch.setenv("LAB_TEST_LARGE", "x" * 100000)
    with repeats.busy_processors():
        runner.run_all(plan, repeats.place(tmp_path, "deep"), jobs=1)
    found = {
        name: repeats.fingerprints(repeats.place(tmp_path, name)) for name in ("quiet", "deep")
    }
    assert [len(runs) for runs in found.values()] == [1, 1]
    assert repeats.differences(found) == []


def test_the_guests_python_writes_nothing_beside_its_scripts() -> None:
    """Each attempt would take time in a guest, but only where nothing is compiled yet."""
    words = [*ram_disk.GUEST_PYTHON, "-c", "import sys; print(sys.dont_write_bytecode)"]
    assert subprocess.run(words, capture_output=True, text=True).stdout == "True\n"


def guest_scripts(to: Path) -> Path:
    """A copy of the guest's scripts and of what they import, without what Python compiled."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(PACKAGE, to / PACKAGE.name, ignore=ignored)
    return shutil.copytree(GUEST, to / GUEST.name, ignore=ignored)


def eight(tmp_path: Path, *settings: str) -> dict[str, Any]:
    path = tmp_path / "eight.toml"
    path.write_text(EIGHT)
    plan = parse.load(catalogue.find(str(path)), settings)
    runner.run_all(plan, tmp_path / "out", jobs=1)
    (run,) = summary.summarize(tmp_path / "out")["runs"]
    return dict(run)


def guest(tmp_path: Path) -> dict[str, Any]:
    """guest.json of the only run."""
    (path,) = (tmp_path / "out" / "runs").glob("*/guest.json")
    return dict(json.loads(path.read_text()))


def test_every_station_is_associated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where answers are lost, some station needs more than one try, and each gets it.

    Half of all frames are lost, from the start on instead of from t0 on.
    """
    whole = bench.find("default")
    lossy = tmp_path / "dcfmedium"
    lossy.write_text(f'#!/bin/sh\nexec {whole.dcfmedium} "$@" --losses-from start\n')
    lossy.chmod(0o755)
    early = dataclasses.replace(whole, dcfmedium=lossy)
    monkeypatch.setattr(bench, "find", lambda *_: early)
    eight(tmp_path, "medium.channel=loss=0.5")
    assert guest(tmp_path)["errors"] == []
    tries = guest(tmp_path)["tries"]
    assert len(tries) == 8
    assert max(tries.values()) > 1


def test_losses_begin_when_the_flows_do(tmp_path: Path) -> None:
    """Over a channel that loses nearly every frame all associate, and nothing else works."""
    eight(tmp_path, "medium.channel=loss=0.9999", "station.count=2", "mix=dl1-ul1")
    assert guest(tmp_path)["errors"] == []
    assert guest(tmp_path)["tries"] == {"sta1": 1, "sta2": 1}
    (medium,) = (tmp_path / "out" / "runs").glob("*/medium.json")
    stations = json.loads(medium.read_text())["stations"]
    assert max(one["tx"] for one in stations) > 0
    assert max(one["delivered"] for one in stations) == 0


def test_a_station_that_cannot_associate_is_named(tmp_path: Path) -> None:
    run = eight(tmp_path, "medium.hidden=ap:sta2", "station.count=2", "mix=dl1-ul1")
    assert not run["valid"]
    assert run["why_invalid"] == "sta2 did not associate in 8 tries"
