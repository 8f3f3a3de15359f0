# SPDX-License-Identifier: GPL-2.0-only
"""The two writers of KTAP, selftests/lib/ktap.py and ktap.sh, as the runner reads them."""

from __future__ import annotations

import subprocess

import pytest

from apbed.checkout import REPOSITORY
from tests.runner.totals import Totals, totals

LIB = REPOSITORY / "selftests" / "lib"
PYTHON = f"""\
import sys
sys.path.insert(0, "{LIB}")
from ktap import Ktap
ktap = Ktap({{plan}})
ktap.result(True, "holds")
ktap.result(False, "breaks", "two lines\\nof why")
ktap.skip("no leak", "no kmemleak")
sys.exit(ktap.end())
"""
SHELL = f"""\
. {LIB}/ktap.sh
ktap_begin {{plan}}
ktap_result 0 holds
ktap_result 1 breaks /dev/stdin <<END
two lines
of why
END
ktap_skip "no leak" "no kmemleak"
ktap_end
"""
EXPECTED = ["ok 1 holds", "not ok 2 breaks", "ok 3 no leak # SKIP no kmemleak"]


def said(*words: str) -> tuple[list[str], int]:
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.stderr == ""
    return done.stdout.splitlines(), done.returncode


@pytest.mark.parametrize("plan", ["", "3"])
@pytest.mark.parametrize(
    "writer", [["/usr/bin/python3", "-c", PYTHON], ["sh", "-c", SHELL], ["bash", "-c", SHELL]]
)
def test_both_say_the_same(writer: list[str], plan: str) -> None:
    *shell, script = writer
    lines, status = said(*shell, script.format(plan=plan))
    assert [line for line in lines if "ok " in line] == EXPECTED
    assert [line for line in lines if line.startswith("# ")] == ["# two lines", "# of why"]
    assert lines[0] == "KTAP version 1"
    assert lines[1 if plan else -1] == "1..3"
    assert status == 1
    counted = totals(lines, status)
    assert counted == Totals(passed=1, failed=1, skipped=1)
    assert counted.skips == ("no leak: no kmemleak",)


def test_a_plan_not_kept_has_failed() -> None:
    lines, status = said("sh", "-c", f". {LIB}/ktap.sh; ktap_begin 3; ktap_result 0 a; ktap_end")
    assert totals(lines, status) == Totals(passed=1, failed=2)


def test_what_was_not_built_fails() -> None:
    lines, status = said("sh", "-c", f". {LIB}/ktap.sh; ktap_missing sch_lasack.ko; echo ok 1 x")
    assert totals(lines, status) == Totals(failed=1)
