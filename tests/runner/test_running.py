# SPDX-License-Identifier: GPL-2.0-only
"""Suites run side by side, and end when they make no progress; not when they are slow."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from apbed import processes
from tests.runner import running
from tests.runner.running import RunningSuite, Suite, run_suites
from tests.runner.totals import Totals


@pytest.fixture(autouse=True)
def always_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "LOOK_S", 0.0)


def run(out: Path, *suites: Suite, jobs: int = 1) -> list[RunningSuite]:
    return list(run_suites(suites, jobs, out))


def test_failure_before_a_pipe_is_seen(tmp_path: Path) -> None:
    (ended,) = run(tmp_path, Suite("pipe", "false | cat"))
    assert ended.totals() == Totals(failed=1)


def test_suite_that_works_in_silence_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "SILENT_S", 0.5)
    (ended,) = run(tmp_path, Suite("spins", "echo 1 passed; bash -c 'while :; do :; done'"))
    assert ended.totals() == Totals(1, 1)
    said = (tmp_path / "spins.log").read_text()
    assert "spins: stopped: 0.5 s of processor time without a line of output" in said


def test_suite_that_waits_for_nothing_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "IDLE_S", 0.5)
    (ended,) = run(tmp_path, Suite("waits", "echo 1 passed; sleep 1000 & wait"))
    assert ended.totals() == Totals(1, 1)
    assert "waits: stopped: no processor time used for" in (tmp_path / "waits.log").read_text()


def test_suite_that_goes_on_talking_is_not_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its work is six times what it may do in silence."""
    monkeypatch.setattr(running, "SILENT_S", 1.0)
    work = "import time\nfor i in range(20):\n  while time.process_time() < i * 0.3: pass\n"
    talks = f"/usr/bin/python3 -uc '{work}  print(i)' && echo 1 passed"
    (ended,) = run(tmp_path, Suite("talks", talks))
    assert ended.totals() == Totals(1)


def test_as_many_suites_at_a_time_as_said(tmp_path: Path) -> None:
    """The first ends only because the second runs beside it; the third waits for one to end."""
    go, third = tmp_path / "go", tmp_path / "third.log"
    first = Suite("first", f"until [ -e {go} ]; do sleep 0.05; done; echo 1 passed")
    second = Suite("second", f"sleep 0.5; [ ! -e {third} ] && touch {go} && echo 1 passed")
    ended = run(tmp_path, first, second, Suite("third", "echo 1 passed"), jobs=2)
    assert sum((one.totals() for one in ended), Totals()) == Totals(3)


def test_what_was_begun_is_ended_when_interrupted(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    hang = Suite("hang", f"echo $$ > {pid}; echo 1 passed; sleep 61")
    quick = Suite("quick", f"until [ -s {pid} ]; do sleep 0.05; done")
    runs = run_suites([quick, hang], 2, tmp_path)
    next(runs)
    runs.close()
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)
