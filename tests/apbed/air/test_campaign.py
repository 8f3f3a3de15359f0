# SPDX-License-Identifier: GPL-2.0-only
"""What `apbed air` plans: which loads, how many runs, how long; and that what is done is kept."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from apbed.cli import main
from apbed.errors import ApbedError
from apbed.run import bench, campaign, runner
from apbed.scenario import catalogue, parse

TODAY = "mac80211 airtime AQL / stations today"  # whose stations have no queue discipline of ours
SHORT_CASES = 6


def status(directory: Path, virtual_s: float, wall_s: float) -> None:
    directory.mkdir(parents=True)
    said = {"state": "done", "virtual_s": virtual_s, "wall_s": wall_s}
    (directory / "status.json").write_text(json.dumps(said))


def test_the_longest_comes_first(tmp_path: Path) -> None:
    """A measured cost replaces the guess: 100 s of wall time for 10 virtual ones."""
    status(tmp_path / "game" / "runs" / "x", 10.0, 100.0)
    found = campaign.loads(tmp_path, [], short=True, names=["rrul", "game", "mixes-54"])
    assert [load.scenario.name for load in found] == ["game", "mixes-54", "rrul"]
    game = found[0]
    assert len(game.open) == SHORT_CASES * 2
    assert game.virtual_s == SHORT_CASES * 2 * (15 + campaign.SET_UP_S)
    assert game.expected_s == pytest.approx(10 * game.virtual_s)


def test_the_short_version_takes_twenty_minutes(tmp_path: Path) -> None:
    """On two processors, by the guess for loads without runs; each load has the same contenders,
    of which mixes has some."""
    found = campaign.loads(tmp_path, [], short=True)
    assert sum(load.expected_s for load in found) / 2 < 20 * 60
    cases = {
        load.scenario.name: {run.params["case"] for run in load.scenario.runs} for load in found
    }
    assert {frozenset(one) for name, one in cases.items() if name != "mixes"} == {
        frozenset(cases["game"])
    }
    assert len(cases["game"]) == SHORT_CASES


def test_full_runs_have_five_seeds(tmp_path: Path) -> None:
    (load,) = campaign.loads(tmp_path, ["case=lasack"], short=False, names=["rrul"])
    assert sorted(run.plan.seed for run in load.open) == [1, 2, 3, 4, 5]
    assert {run.plan.duration_s for run in load.open} == {40.0}


def test_an_unknown_load_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ApbedError, match=r"no load 'demo'; expected some of: .*rrul"):
        campaign.loads(tmp_path, [], short=True, names=["demo"])


def test_every_load_has_the_two_that_are_compared(tmp_path: Path) -> None:
    """lasack everywhere, and mac80211's own queues or, with the direct radio, fq_codel."""
    for load in campaign.loads(tmp_path, [], short=True):
        cases = {str(run.params["case"]) for run in load.scenario.runs}
        assert "lasack" in cases and cases & {"mac80211 airtime AQL", "fq_codel"}, (
            load.scenario.name
        )


def test_datagrams_begin_where_the_measurement_begins(tmp_path: Path) -> None:
    """What is lost is known of all of a stream's datagrams only: none may be of the warm-up."""
    ways = ("pulse", "pulse_down", "ping", "voice")
    for load in campaign.loads(tmp_path, [], short=False):
        plan = load.scenario.runs[0].plan
        starts = {flow.id: flow.start_s for flow in plan.flows if flow.dir in ways}
        assert all(start >= plan.warmup_s for start in starts.values()), load.scenario.name


def test_what_is_done_is_kept_until_its_inputs_change(tmp_path: Path) -> None:
    """Only a run that ended well, and only with the same plan and programs."""
    words = ["case=lasack", "seed=[1,2]"]
    scenario = parse.load(catalogue.find("rrul"), words)
    entry = bench.find("default")
    first, second = scenario.runs
    for run, state in ((first, "done"), (second, "failed")):
        place = tmp_path / "runs" / run.id
        place.mkdir(parents=True)
        inputs = runner.inputs_hash(run, entry, entry.digests())
        (place / "run.json").write_text(json.dumps({"inputs_hash": inputs}))
        (place / "status.json").write_text(json.dumps({"state": state}))
    assert runner.finished(tmp_path, runner.inputs(scenario)) == {first.id}
    longer = parse.load(catalogue.find("rrul"), [*words, "duration_s=41.0"])
    assert runner.finished(tmp_path, runner.inputs(longer)) == set()


def test_other_defaults_of_hostapd_are_other_inputs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only for the runs whose guests read them."""
    scenario = parse.load(catalogue.find("rrul"), ["case=lasack", "seed=1"])
    with_edca = parse.load(catalogue.find("marks"), ["case=lasack", "seed=1"])
    before = runner.inputs(scenario), runner.inputs(with_edca)
    changed = tmp_path / "hostapd.py"
    changed.write_text(bench.EDCA.read_text().replace('"cwmin": 15', '"cwmin": 7'))
    monkeypatch.setattr(bench, "EDCA", changed)
    assert runner.inputs(scenario) == before[0]
    assert runner.inputs(with_edca) != before[1]


@pytest.mark.parametrize(
    "module, others",
    [
        ("sch_lasack", {"lasack": True, "cake": False, TODAY: False}),
        ("inflight", {"lasack": True, "cake": True, TODAY: False}),
        ("sch_ackwrr", {"lasack": False, "cake": False, TODAY: False}),
    ],
)
def test_another_module_is_another_input_of_the_runs_that_load_it(
    module: str, others: dict[str, bool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = bench.find("default")
    changed = tmp_path / f"{module}.ko"
    changed.write_bytes(b"other")
    partial = dataclasses.replace(whole, modules=whole.modules | {module: changed})
    for case, expected in others.items():
        scenario = parse.load(catalogue.find("rrul"), [f"case={case}", "seed=1"])
        monkeypatch.setattr(bench, "find", lambda *_: whole)
        before = runner.inputs(scenario)
        monkeypatch.setattr(bench, "find", lambda *_: partial)
        assert (runner.inputs(scenario) != before) is expected, case


def test_what_a_run_loads_is_among_its_inputs() -> None:
    """Of all scenarios' runs, and what it does not load is not."""
    entry = bench.find("default")
    paths = {str(path): f"{name}.ko" for name, path in entry.modules.items()}
    plugins = {path.name for path in entry.tc_lib_dir.glob("q_*.so")}
    seen = set()
    for path in catalogue.files():
        for run in parse.load(path).runs:
            loaded = {paths[word] for word in entry.programs(run.plan).modules if word in paths}
            unused = entry.unused(run.plan)
            assert unused & set(paths.values()) == set(paths.values()) - loaded, run.id
            used = {f"q_{name[4:-3]}.so" for name in loaded if name.startswith("sch_")}
            assert plugins - unused == used, run.id
            seen.add(frozenset(loaded))
    assert len(seen) > 3


def test_dry_run_starts_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "air"
    words = [
        "air",
        "--short",
        "--dry-run",
        "--loads",
        "game slow-station",
        "--out",
        str(out),
        "--jobs",
        "2",
    ]
    assert main(words) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["load", "runs", "done", "virtual", "s", "expected"]
    assert [line.split()[:3] for line in lines[1:3]] == [
        [load, str(SHORT_CASES * 2), "0"] for load in ("game", "slow-station")
    ]
    assert "with 2 at a time" in lines[3] and len(lines) == 4
    assert not out.exists()


def test_a_page_needs_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["air", "--report", "--loads", "rrul", "--out", str(tmp_path)]
    assert main(words) == 1
    assert "has no runs; leave out --report" in capsys.readouterr().err
