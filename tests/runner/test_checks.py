# SPDX-License-Identifier: GPL-2.0-only
"""The sums `make check` prints, from the formats its suites speak.

The KTAP streams are the examples of Documentation/dev-tools/ktap.rst and of
Documentation/dev-tools/kunit/ of the kernel.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tests.runner import checks
from tests.runner.checks import RunningSuite, Suite, Totals, run_suites, totals

# ktap.rst, "Example KTAP output".
KTAP_EXAMPLE = """\
KTAP version 1
1..1
  KTAP version 1
  1..3
    KTAP version 1
    1..1
    # test_1: initializing test_1
    ok 1 test_1
  ok 1 example_test_1
    KTAP version 1
    1..2
    ok 1 test_1 # SKIP test_1 skipped
    ok 2 test_2
  ok 2 example_test_2
    KTAP version 1
    1..3
    ok 1 test_1
    # test_2: FAIL
    not ok 2 test_2
    ok 3 test_3 # SKIP test_3 skipped
  not ok 3 example_test_3
not ok 1 main_test
"""


def test_ktap_counts_innermost_results_once() -> None:
    assert totals(KTAP_EXAMPLE.splitlines(), 0) == Totals(passed=3, failed=1, skipped=2)


def test_ktap_in_a_kernel_log() -> None:
    log = [
        "[    0.010000]     # Subtest: tcp_segment",
        "[    0.010000]     ok 1 segment_ipv4",
        "[    0.010000]     not ok 2 segment_ipv6",
        "[    0.010000] not ok 1 tcp_segment",
    ]
    assert totals(log, 0) == Totals(passed=1, failed=1)


def test_ktap_that_skips_everything() -> None:
    assert totals(["KTAP version 1", "1..0 # SKIP no such device"], 0) == Totals(skipped=1)


def test_suite_that_fails_by_itself_counts() -> None:
    log = ["    ok 1 works", "not ok 1 suite_exit_leaks"]
    assert totals(log, 0) == Totals(passed=1, failed=1)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("=== 12 passed, 1 skipped in 3.21s ===", Totals(12, 0, 1)),
        ("2 failed, 10 passed, 1 warning, 3 errors in 0.5s", Totals(10, 5)),
        ("7 passed, 0 failed", Totals(7)),
        ("medium: 7 passed, 1 failed, 2 skipped", Totals(7, 1, 2)),
    ],
)
def test_lines_of_totals(line: str, expected: Totals) -> None:
    status = 1 if expected.failed else 0
    assert totals(["3 passed, 0 failed", line, "make: done"], status) == expected


def test_exit_status_overrules_the_count() -> None:
    assert totals(["7 passed, 0 failed"], 2) == Totals(7, 1)


def test_suite_that_is_one_test() -> None:
    assert totals(["all is well"], 0, single=True) == Totals(1)
    assert totals([], 1, single=True) == Totals(0, 1)
    assert totals(["Found 5 errors in 4 files"], 1, single=True) == Totals(0, 1)


def test_suite_that_says_nothing_has_failed() -> None:
    assert totals([], 0) == Totals(failed=1)
    assert totals(["all is well"], 0) == Totals(failed=1)


def test_results_that_were_planned_and_did_not_come_have_failed() -> None:
    cut_off = ["TAP version 13", "1..3", "ok 1 first"]
    assert totals(cut_off, 0) == Totals(passed=1, failed=2)
    assert totals([*cut_off, "ok 2 second", "ok 3 third", "1..1", "ok 1 next"], 0) == Totals(4)
    assert totals(["1..2"], 0) == Totals(failed=2)


@pytest.fixture
def out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(checks, "OUT", tmp_path)
    return tmp_path


def run(*suites: Suite, jobs: int = 1) -> list[RunningSuite]:
    return list(run_suites(suites, jobs))


@pytest.mark.usefixtures("out")
def test_failure_before_a_pipe_is_seen() -> None:
    (ended,) = run(Suite("pipe", "false | cat"))
    assert ended.totals() == Totals(failed=1)


def test_suite_over_its_time_is_stopped(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "SUITE_LIMIT_S", 0.2)
    begin = time.monotonic()
    (ended,) = run(Suite("hang", "echo 1 passed; sleep 60 & wait"))
    assert ended.totals() == Totals(1, 1)
    assert time.monotonic() - begin < 10
    assert "stopped after" in (out / "hang.log").read_text()


def test_as_many_suites_at_a_time_as_said(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first ends only because the second runs beside it; the third waits for one to end."""
    monkeypatch.setattr(checks, "SUITE_LIMIT_S", 20)
    first = Suite("first", f"until [ -e {out}/go ]; do sleep 0.05; done; echo 1 passed")
    second = Suite(
        "second", f"sleep 0.5; [ ! -e {out}/third.log ] && touch {out}/go && echo 1 passed"
    )
    ended = run(first, second, Suite("third", "echo 1 passed"), jobs=2)
    assert sum((one.totals() for one in ended), Totals()) == Totals(3)


def test_what_was_begun_is_ended_when_interrupted(out: Path) -> None:
    hang = Suite("hang", f"echo $$ > {out}/pid; echo 1 passed; sleep 61")
    runs = run_suites([Suite("quick", f"until [ -s {out}/pid ]; do sleep 0.05; done"), hang], 2)
    next(runs)
    runs.close()
    with pytest.raises(ProcessLookupError):
        os.kill(int((out / "pid").read_text()), 0)


def test_last_line_is_the_sum(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    known = [Suite("a", "echo 3 passed"), Suite("b", "false"), Suite("c", "false", slow=True)]
    monkeypatch.setattr(checks, "suites", lambda: known)
    monkeypatch.setattr(checks, "OUT", tmp_path)
    monkeypatch.setattr(checks, "REPOSITORY", tmp_path)
    assert checks.main([]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "3 passed, 1 failed"
    assert checks.main(["a"]) == 0
    assert checks.main(["nonsense"]) == 1
    assert "choose from a, b, c" in capsys.readouterr().err
