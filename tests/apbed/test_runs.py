# SPDX-License-Identifier: GPL-2.0-only
"""Runs that must be refused, runs that must repeat, and runs that must not be repeated."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from apbed.analysis import summary
from apbed.cli import listing, main
from apbed.errors import ApbedError
from apbed.kernels import lab
from apbed.run import bench, runner
from apbed.scenario import catalogue, parse
from tests.apbed.marked_processes import processes_marked

SHORT = ["duration_s=4", "warmup_s=1", "ap.qdisc=pfifo limit 100"]
PULSES = """
schema = 1
name = "pulses"
title = "an unsaturated scripted source"
duration_s = 6.0
[ap]
inflight = 1
qdisc = "lasack limit 100 inflight off"
[station]
count = 2
"""


def one_run(out: Path, *settings: str, word: str = "demo") -> dict[str, Any]:
    """Run a scenario of one point and return its RUN."""
    plan = parse.load(catalogue.find(word), settings)
    assert len(plan.runs) == 1
    runner.run_all(plan, out, jobs=1)
    (run,) = summary.summarize(out)["runs"]
    return dict(run)


def pulses(tmp_path: Path) -> Path:
    """Two stations that each send one datagram every few milliseconds."""
    path = tmp_path / "pulses.toml"
    text = PULSES
    for number, every_s in ((1, 0.013), (2, 0.017)):
        text += f'[[flow]]\nid = "pulse{number}"\nstation = "sta{number}"\ndir = "pulse"\n'
        text += f"count = 300\nevery_s = {every_s}\nbytes = 1000\n"
    path.write_text(text)
    return path


def test_packets_that_do_not_pass_the_qdisc_make_a_run_invalid(tmp_path: Path) -> None:
    """A scenario may not say so; a module that failed to load once left such a device."""
    scenario = parse.load(catalogue.find("demo"), [*SHORT, "ap.inflight=0"])
    (whole,) = scenario.runs
    ap = dataclasses.replace(whole.plan.ap, qdisc="noqueue")
    bypassed = dataclasses.replace(whole, plan=dataclasses.replace(whole.plan, ap=ap))
    runner.run_all(dataclasses.replace(scenario, runs=[bypassed]), tmp_path, jobs=1)
    (run,) = summary.summarize(tmp_path)["runs"]
    assert run["valid"] is False
    assert run["why_invalid"].startswith("no packet went through noqueue")


def test_a_missing_module_makes_a_run_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(bench.MODULES_OF, "lasack", ("inflight",))
    run = one_run(tmp_path, *SHORT, "ap.qdisc=lasack limit 100 inflight off")
    assert run["valid"] is False
    assert "lasack limit 100 inflight off" in run["why_invalid"]
    assert "qdisc kind is unknown" in run["why_invalid"]


def test_an_unknown_qdisc_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [f"--set={word}" for word in (*SHORT, "ap.qdisc=lasak limit 100")]
    assert main(["run", "demo", "--out", str(tmp_path), *words]) == 1
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("apbed:")]
    assert len(lines) == 1
    assert "lasak" in lines[0]


def test_a_profile_the_medium_does_not_know_is_one_line(tmp_path: Path) -> None:
    run = one_run(tmp_path, *SHORT, "medium.phy=hrdsss-12")
    assert run["valid"] is False
    assert "no profile 'hrdsss-12'; there are dsss-2, hrdsss-11," in run["why_invalid"]


def test_a_medium_that_dies_makes_a_run_fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = bench.find("default")
    short_lived = tmp_path / "dcfmedium"
    short_lived.write_text(f'#!/bin/sh\nexec timeout -s KILL 3 {whole.dcfmedium} "$@"\n')
    short_lived.chmod(0o755)
    mortal = dataclasses.replace(whole, dcfmedium=short_lived)
    monkeypatch.setattr(bench, "find", lambda *_: mortal)
    run = one_run(tmp_path / "out", *SHORT)
    assert run["valid"] is False
    assert "dcfmedium ended during the run" in run["why_invalid"]


def test_same_seed_same_medium_decisions(tmp_path: Path) -> None:
    """Wherever the run lies: a name of another length is other work for the guest."""
    path = str(pulses(tmp_path))
    places = {"a": 1, "a/longer/way/down": 1, "b": 2}
    digests = [
        one_run(tmp_path / place, f"seed={seed}", word=path)["medium"]["digest"]
        for place, seed in places.items()
    ]
    assert digests[0] == digests[1]
    assert digests[0] != digests[2]
    # Gathering entropy ends a tick earlier or later by what the guest did until then.
    logs = [next((tmp_path / place).glob("runs/*/dmesg.log")).read_text() for place in places]
    assert all("[    0.000000] random: crng init done" in log for log in logs)


def test_a_finished_run_is_kept_until_its_inputs_change(tmp_path: Path) -> None:
    def states(*settings: str) -> list[str]:
        plan = parse.load(catalogue.find("demo"), [*SHORT, *settings])
        heard: list[runner.Event] = []
        runner.run_all(plan, tmp_path, jobs=1, notify=heard.append)
        return [event.state for event in heard if event.state != "running"]

    assert states() == ["done"]
    assert states() == ["kept"]
    # What a run is called by may be asked for only later; the run is the same.
    (path,) = tmp_path.glob("runs/*/run.json")
    known = json.loads(path.read_text())
    path.write_text(json.dumps(known | {"params": {"seed": 1}}))
    assert states() == ["kept"]
    assert json.loads(path.read_text()) == known
    assert states("medium.retry=3") == ["done"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_nothing(number: signal.Signals, tmp_path: Path) -> None:
    # Who is started in the background of a shell, as CI may be, is deaf to SIGINT.
    words = ["env", "--default-signal=INT", sys.executable, "-m", "apbed", "run", "demo"]
    words += ["--out", str(tmp_path)]
    words += [f"--set={word}" for word in ("duration_s=4000", "ap.qdisc=pfifo limit 100")]
    marked = os.environ | {"LAB_TEST_MARK": str(tmp_path)}
    command = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=marked)
    progress = tmp_path / "runs" / "pfifo-limit-100_seed-1" / "progress"
    while not (progress.exists() and progress.read_text().strip().isdigit()):
        assert command.poll() is None
        time.sleep(0.2)
    command.send_signal(number)
    _, said = command.communicate()
    assert command.returncode == 130
    assert said.splitlines()[-1] == "apbed: interrupted"
    assert list((tmp_path / "runs").iterdir()) == []
    assert processes_marked(tmp_path) == []


def test_a_run_says_what_it_was(tmp_path: Path) -> None:
    run = one_run(tmp_path, *SHORT)
    assert run["params"]["qdisc"] == "pfifo limit 100"
    assert run["params"]["kernel"] == lab.kernel().release
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert set(manifest["kernels"]["default"]["sha256"]) >= {
        "dcfmedium",
        "sch_lasack.ko",
        "cell.py",
        "plan.py",
    }
    # Less than it took, but for a tick; the last second may be missing.
    (processor_s,), (wall_s,) = (manifest[name].values() for name in ("processor_s", "wall_s"))
    assert 0 < processor_s < wall_s + 0.1


def test_one_campaign_per_directory(tmp_path: Path) -> None:
    plan = parse.load(catalogue.find("demo"), SHORT)
    refused: list[str] = []

    def second(event: runner.Event) -> None:
        if event.state == "running" and not refused:
            with pytest.raises(ApbedError) as error:
                runner.run_all(plan, tmp_path, jobs=1)
            refused.append(str(error.value))

    runner.run_all(plan, tmp_path, jobs=1, notify=second)
    assert refused == [f"{tmp_path} is in use by another apbed run; wait, or give --out"]


def test_threads_are_gone_after_a_campaign(tmp_path: Path) -> None:
    before = threading.active_count()
    one_run(tmp_path, *SHORT)
    assert threading.active_count() == before


@pytest.mark.parametrize("file", ["run.json", "status.json"])
def test_a_record_of_another_shape_is_no_finished_run(tmp_path: Path, file: str) -> None:
    run_dir = tmp_path / "runs" / "one"
    run_dir.mkdir(parents=True)
    (run_dir / "run.json").write_text('{"inputs_hash": "abc"}')
    (run_dir / "status.json").write_text('{"state": "done"}')
    assert runner.finished(tmp_path, {"one": "abc"}) == {"one"}
    for text in ("{}", "[]", "3", "null", '"done"', '{"state": "done'):
        (run_dir / file).write_text(text)
        assert runner.finished(tmp_path, {"one": "abc"}) == set()


@pytest.mark.parametrize(
    ("script", "line"),
    [
        ("echo first >&2; echo why >&2; exit 3", "sh failed with status 3: why"),
        ("exit 1", "sh failed with status 1"),
        ("kill -TERM $$", "sh was ended by Terminated"),
    ],
)
@pytest.mark.parametrize("text", [True, False])
def test_a_program_that_fails_is_one_line(
    script: str,
    line: str,
    text: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def run(_args: argparse.Namespace) -> int:
        return subprocess.run(
            ["sh", "-c", script], check=True, capture_output=True, text=text
        ).returncode

    monkeypatch.setattr(listing, "run", run)
    assert main(["list"]) == 1
    assert capsys.readouterr().err == f"apbed: {line}\n"


def test_what_several_processors_need(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Only QEMU has them, and in real time runs must not take them from each other."""
    out = ["--out", str(tmp_path / "out")]
    assert main(["run", "demo", "--cpus", "2", *out]) == 1
    assert "--cpus: only the machines of --backend vng" in capsys.readouterr().err
    assert main(["run", "demo", "--backend", "vng", "--cpus", "2", "--jobs", "2", *out]) == 1
    assert "one run at a time" in capsys.readouterr().err
    for word in ("0", "9", "two"):
        with pytest.raises(SystemExit):
            main(["run", "demo", "--backend", "vng", "--cpus", word, *out])
        assert f"'{word}': expected 1 to 8" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
