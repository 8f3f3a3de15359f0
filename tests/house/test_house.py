# SPDX-License-Identifier: GPL-2.0-only
"""The tree keeps the rules of its floor plan, and each rule notices its breach."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.house import floor_plan

REPOSITORY = Path(__file__).resolve().parents[2]
Rule = Callable[[Path], list[str]]

CORE = "testbed/medium/core"
PACKAGES = {"testbed/apbed/run/__init__.py": "", "testbed/apbed/analysis/__init__.py": ""}


def build(root: Path, files: dict[str, str]) -> Path:
    """A tree of these files, by path."""
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


@pytest.mark.parametrize("rule", floor_plan.RULES, ids=lambda rule: rule.__name__)
def test_the_tree_keeps(rule: Rule) -> None:
    assert rule(REPOSITORY) == [], rule.__doc__


def test_the_tree_is_read() -> None:
    """What the rules see: every language, every room, and edges between modules."""
    files = floor_plan.sources(REPOSITORY)
    assert {Path(path).suffix for path in files} == floor_plan.SOURCES
    assert {path.split("/")[0] for path in files} >= {"kernel", "tc", "testbed", "tests", "tools"}
    assert set(files) >= floor_plan.DATA
    included = floor_plan.includes(REPOSITORY)
    assert f"{CORE}/mac.h" in included["testbed/medium/saturate.c"]
    assert f"{CORE}/phy/phy.h" in included[f"{CORE}/mac.c"]
    imported = floor_plan.imports(REPOSITORY)
    assert "tests.house.floor_plan" in imported["tests.house.test_house"]


@pytest.mark.parametrize(
    ("rule", "files", "breach"),
    [
        (
            floor_plan.c_circles,
            {
                "k/a.c": '#include "b.h"\n',
                "k/b.c": '#include "in/c.h"\n',
                "k/in/c.h": "",
                "k/b.h": "",
            }
            | {"k/in/c.c": '#  include "../a.h"\n', "k/a.h": ""},
            "k/a -> k/b -> k/in/c -> k/a",
        ),
        (
            floor_plan.c_circles,
            {"k/inc/x.h": '#include "y.h"\n', "k/src/y.h": '#include "inc/x.h"\n'},
            "k/inc/x -> k/src/y -> k/inc/x",
        ),
        (
            floor_plan.medium_core,
            {f"{CORE}/mac.c": "#include <string.h>\n#include <linux/nl80211.h>\n"},
            f"{CORE}/mac.c includes <linux/nl80211.h>",
        ),
        (
            floor_plan.medium_core,
            {f"{CORE}/mac.c": '#include "options.h"\n', "testbed/medium/options.h": ""},
            f"{CORE}/mac.c includes testbed/medium/options.h",
        ),
        (floor_plan.long_files, {"k/a.c": "\n" * 501, "k/b.c": "\n" * 500}, "k/a.c has 501 lines"),
        (
            floor_plan.large_folders,
            {f"k/{i}.{kind}": "" for i in range(21) for kind in "ch"}
            | {f"p/{i}.py": "" for i in range(20)}
            | {"p/__init__.py": ""},
            "k has 21 modules",
        ),
        (
            floor_plan.python_circles,
            {"testbed/apbed/a.py": "from apbed import b\n"}
            | {"testbed/apbed/b.py": "def late() -> None:\n    from .c import name\n"}
            | {"testbed/apbed/c.py": "import apbed.a\n", "testbed/apbed/__init__.py": ""},
            "apbed.a -> apbed.b -> apbed.c -> apbed.a",
        ),
        (
            floor_plan.python_circles,
            {"selftests/tcp/x.py": "import y\n", "selftests/lib/y.py": "from x import name\n"},
            "selftests.lib.y -> selftests.tcp.x -> selftests.lib.y",
        ),
        (
            floor_plan.run_and_analysis,
            PACKAGES
            | {"testbed/apbed/run/runner.py": "from apbed import plan\n"}
            | {"testbed/apbed/plan.py": "from apbed.analysis import report\n"}
            | {"testbed/apbed/analysis/report.py": "", "testbed/apbed/__init__.py": ""},
            "apbed.run.runner comes to import apbed.analysis.report",
        ),
        (
            floor_plan.run_and_analysis,
            PACKAGES | {"testbed/apbed/analysis/report.py": "import apbed.run\n"},
            "apbed.analysis.report comes to import apbed.run",
        ),
        (floor_plan.run_and_analysis, {}, "there is no apbed.run\nthere is no apbed.analysis"),
    ],
)
def test_a_breach_is_noticed(
    tmp_path: Path, rule: Rule, files: dict[str, str], breach: str
) -> None:
    assert "\n".join(rule(build(tmp_path, files))) == breach


def test_what_is_no_breach(tmp_path: Path) -> None:
    """x.c includes x.h; products and hidden folders are nobody's; two headers use a third."""
    build(tmp_path, {"k/a.c": '#include "a.h"\n#include "b.h"\n', "k/a.h": '#include "b.h"\n'})
    build(tmp_path, {"k/b.h": "#include <linux/tcp.h>\n", "build/long.c": "\n" * 900})
    build(tmp_path, {".venv/long.py": "\n" * 900, "k/a.mod.c": "\n" * 900})
    rules = [rule for rule in floor_plan.RULES if rule is not floor_plan.run_and_analysis]
    assert [rule(tmp_path) for rule in rules] == [[]] * len(rules)
