# SPDX-License-Identifier: GPL-2.0-only
"""What `make check` prints, and that no suite is without a line in tests/README.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from apbed.checkout import REPOSITORY
from tests.runner import __main__ as check
from tests.runner import suites
from tests.runner.running import Suite

SUITES = [
    Suite("a", "echo 3 passed"),
    Suite("b", "false"),
    Suite("c", "false", slow=True),
    Suite("d", "echo ok 1 works; echo ok 2 leaks '# SKIP' no kmemleak"),
    Suite("e", "echo 1..0 '# SKIP' no apt", may_skip="apt"),
    Suite("silent", "true"),
]


@pytest.fixture(autouse=True)
def out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(check, "OUT", tmp_path)


def test_last_line_is_the_sum(capsys: pytest.CaptureFixture[str]) -> None:
    assert check.main([], SUITES) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "4 passed, 2 failed, 2 skipped"
    assert check.main(["a"], SUITES) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "3 passed, 0 failed"


def test_suite_that_reports_nothing_fails(capsys: pytest.CaptureFixture[str]) -> None:
    assert check.main(["silent"], SUITES) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "0 passed, 1 failed"


def test_skips_are_named_before_the_sum(capsys: pytest.CaptureFixture[str]) -> None:
    assert check.main(["d", "e"], SUITES) == 0
    *_, first, second, total = capsys.readouterr().out.splitlines()
    assert {first, second} == {"skipped d: leaks: no kmemleak", "skipped e: all: no apt"}
    assert total == "1 passed, 0 failed, 2 skipped"


def test_several_suites_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert check.main(["a", "d"], SUITES) == 0
    assert check.main(["nonsense"], SUITES) == 1
    assert "choose from a, b, c" in capsys.readouterr().err


def test_the_readme_names_the_suites_there_are() -> None:
    text = (REPOSITORY / "tests" / "README.md").read_text()
    rows = re.findall(r"^\|[^|]*\|([^|]*)\|$", text, re.M)
    told = {name for row in rows for name in re.findall(r"`([^`]+)`", row)}
    assert told == {suite.name for suite in suites.suites()}


def test_every_pytest_file_is_in_a_suite() -> None:
    commands = [suite.command for suite in suites.suites() if "pytest -q " in suite.command]
    known = [command.split()[-1] for command in commands]  # with what is in them
    for path in REPOSITORY.glob("**/test_*.py"):
        folder = str(path.parent.relative_to(REPOSITORY))
        if not folder.startswith((".", "build", "out")):
            assert any(f"{folder}/".startswith(f"{one}/") for one in known)
