# SPDX-License-Identifier: GPL-2.0-only
"""The sums `make check` prints, from the formats its suites speak.

The KTAP streams are the examples of Documentation/dev-tools/ktap.rst and of
Documentation/dev-tools/kunit/ of the kernel.
"""

from __future__ import annotations

import pytest

from tests.runner.totals import Totals, totals

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


def test_suite_that_skips_everything_has_failed_unless_it_may() -> None:
    lines = ["KTAP version 1", "1..0 # SKIP no such device"]
    assert totals(lines, 0) == Totals(failed=1, skipped=1)
    assert totals(lines, 0, may_skip=True) == Totals(skipped=1)
    assert totals(["3 skipped in 0.1s"], 0) == Totals(failed=1)
    assert totals(["ok 1 a # SKIP no device"], 0) == Totals(failed=1, skipped=1)


def test_each_skip_is_named_with_its_reason() -> None:
    ktap = ["1..3", "ok 1 - no leak # SKIP no kmemleak", "ok 2 log", "ok 3 silent # SKIP"]
    assert totals(ktap, 0).skips == ("no leak: no kmemleak", "silent: no reason given")
    assert totals(["1..0 # SKIP no apt"], 0, may_skip=True).skips == ("all: no apt",)
    pytest_says = ["SKIPPED [2] tests/a.py:7: no ftrace", "2 passed, 2 skipped in 0.1s"]
    assert totals(pytest_says, 0).skips == ("tests/a.py:7: no ftrace (2 tests)",)


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


# What the kernel's tools/testing/selftests/kselftest/runner.sh prints of a program that ends with
# KSFT_SKIP, its own lines indented by tests/stock/selftests_guest.py.
KSELFTEST_SKIP = """\
TAP version 13
1..2
# selftests: lasack/qdisc: attacks.sh
    KTAP version 1
    1..0 # SKIP no KUnit
ok 1 selftests: lasack/qdisc: attacks.sh # SKIP
# selftests: lasack/qdisc: gso.sh
    KTAP version 1
    1..1
    ok 1 whole
ok 2 selftests: lasack/qdisc: gso.sh
"""


def test_a_program_skipped_by_kselftest_is_counted_once_with_its_reason() -> None:
    found = totals(KSELFTEST_SKIP.splitlines(), status=0)
    assert found == Totals(passed=1, skipped=1)
    assert found.skips == ("selftests: lasack/qdisc: attacks.sh: no KUnit",)


def test_kselftests_status_for_skipped_is_no_failure() -> None:
    lines = ["KTAP version 1", "1..0 # SKIP no apt"]
    assert totals(lines, status=4, may_skip=True) == Totals(skipped=1)
    assert totals(lines, status=4) == Totals(failed=1, skipped=1)
    assert totals(["1..2", "ok 1 a", "ok 2 b # SKIP c"], status=4).failed == 1
