# SPDX-License-Identifier: GPL-2.0-only
"""[[case]]: what cases say, files of them that scenarios share, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from apbed.errors import ApbedError
from apbed.scenario.plan import Plan
from tests.apbed.scenario.test_scenario import CELL, load

CASES = (
    CELL
    + """
[[case]]
name = "today"
ap = { qdisc = "noqueue", radio = "queues" }

[[case]]
name = "a bound"
ap.inflight = "auto"
medium.retry = 4
"""
)


def test_each_case_runs_with_its_values(tmp_path: Path) -> None:
    """Times the seeds; what a case does not say is as the file has it."""
    plan = load(tmp_path, CASES, "seed=[1, 2]", "case=a bound")
    assert [run.id for run in plan.runs] == ["a-bound_seed-1", "a-bound_seed-2"]
    runs = {run.id: run for run in load(tmp_path, CASES, "seed=[1, 2]").runs}
    names = ("today", "a-bound")
    assert list(runs) == [f"{case}_seed-{seed}" for seed in (1, 2) for case in names]
    today, bound = runs["today_seed-2"], runs["a-bound_seed-2"]
    base = load(tmp_path, CELL).runs[0].plan
    assert today.params["case"] == "today" and today.params["qdisc"] == "noqueue"
    assert (today.plan.ap.radio, today.plan.ap.inflight) == ("queues", 0)
    assert today.plan.medium == base.medium
    assert bound.params["inflight"] == "auto"
    assert (bound.plan.ap.qdisc, bound.plan.ap.radio) == (base.ap.qdisc, "direct")
    assert bound.plan.medium.retry == 4 != base.medium.retry
    assert Plan.from_json(bound.plan.to_json()) == bound.plan


def test_a_case_may_set_a_sysctl(tmp_path: Path) -> None:
    """Only its own runs have it."""
    name = "wired.sysctl.net.ipv4.tcp_congestion_control"
    plan = load(tmp_path, CASES + f'{name} = "reno"\n')
    reno = {one.params["case"]: one.plan.wired.sysctls for one in plan.runs}
    assert reno == {"today": {}, "a bound": {"net.ipv4.tcp_congestion_control": "reno"}}


def test_set_goes_before_a_case(tmp_path: Path) -> None:
    plan = load(tmp_path, CASES, "ap.inflight=3", "medium.retry=[5, 6]", "case=a bound")
    assert [run.plan.ap.inflight for run in plan.runs] == [3, 3]
    assert [run.plan.medium.retry for run in plan.runs] == [5, 6]
    assert [run.id for run in plan.runs] == [
        f"a-bound_medium.retry-{limit}_seed-1" for limit in (5, 6)
    ]


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ('name = "today"', "", "case 1: name is missing"),
        ('name = "a bound"', 'name = "today"', "case 2: expected a name that no other case has, "),
        ("medium.retry = 4", "medium.retry = 0", "case 'a bound': medium.retry = 0: expected at"),
        ("medium.retry = 4", "medium.retry = [4, 7]", "case 'a bound': medium.retry = [4, 7]: exp"),
        ("medium.retry = 4", "medium.rate = 4", "case 'a bound': unknown key 'medium.rate'; did"),
        ("medium.retry = 4", "title = 'x'", "case 'a bound': unknown key 'title'; "),
        ('"noqueue", radio = "queues"', '"noqueue"', "ap.qdisc = 'noqueue': expected ap.radio"),
        ('inflight = "auto"', 'inflight = "all"', "case 'a bound': ap.inflight = 'all': expected a "
         "whole number or 'auto'"),
    ],
)  # fmt: skip
def test_a_bad_case_is_one_line(tmp_path: Path, old: str, new: str, line: str) -> None:
    assert old in CASES
    with pytest.raises(ApbedError) as refused:
        load(tmp_path, CASES.replace(old, new, 1))
    assert str(refused.value).startswith(f"cell.toml: {line}")
    assert "\n" not in str(refused.value)


def test_what_acts_in_some_cases_only_is_no_mistake(tmp_path: Path) -> None:
    """Nor is a file's key that --set, or the choice of a case, leaves idle; one of a case is."""
    text = CASES.replace("[ap]", "[ap]\nhw_frames = 64\nstall_ms = 2000")
    assert len(load(tmp_path, text).runs) == 2
    bound = "case=a bound"
    for settings in (["case=today"], [bound], ["ap.inflight=0"], [bound, "ap.radio=direct"]):
        assert load(tmp_path, text, *settings).runs
    with pytest.raises(ApbedError, match=r"ap.stall_ms = 300: expected only with ap.inflight"):
        load(tmp_path, text, "ap.inflight=0", "ap.stall_ms=300")
    assert load(tmp_path, text, "ap.inflight=0", "ap.stall_ms=100").runs
    with pytest.raises(ApbedError, match=r"case 'a bound': ap.hw_frames = 9: expected only with"):
        load(tmp_path, CASES.replace("medium.retry = 4", "ap.hw_frames = 9"))
    with pytest.raises(ApbedError, match=r"case 'today': ap.stall_ms = 9000: expected only with"):
        load(tmp_path, CASES.replace('"queues" }', '"queues", stall_ms = 9000 }'))
    inside = CASES.replace("medium.retry = 4", "ap.stall_ms = 9000")
    assert [run.plan.ap.stall_ms for run in load(tmp_path, inside).runs] == [100, 9000]


def test_scenarios_share_a_file_of_cases(tmp_path: Path) -> None:
    """It is found from where the scenario is; the case's values hold as if they stood there."""
    (tmp_path / "shared.toml").write_text("schema = 1\n" + CASES.removeprefix(CELL))
    text = CELL.replace("[ap]", 'cases = "shared.toml"\n[ap]')
    found = {run.params["case"]: run.plan for run in load(tmp_path, text).runs}
    alone = {run.params["case"]: run.plan for run in load(tmp_path, CASES).runs}
    assert found == alone and len(found) == 2
    more = text + '[[case]]\nname = "own"\nap = { qdisc = "pfifo" }\n'
    assert [run.params["case"] for run in load(tmp_path, more).runs] == [*found, "own"]


def test_cases_of_several_files_and_some_of_them(tmp_path: Path) -> None:
    """They come one after the other; `case` names those that are run, and --set goes before it."""
    shared = "schema = 1\n" + CASES.removeprefix(CELL)
    (tmp_path / "one.toml").write_text(shared)
    (tmp_path / "two.toml").write_text(shared.replace('name = "', 'name = "another '))
    text = CELL.replace("[ap]", 'cases = ["one.toml", "two.toml"]\n[ap]')
    every = [run.params["case"] for run in load(tmp_path, text).runs]
    assert len(every) == 4 and every[2:] == [f"another {name}" for name in every[:2]]
    some = text.replace("[ap]", f'case = ["{every[3]}", "{every[0]}"]\n[ap]')
    assert [run.params["case"] for run in load(tmp_path, some).runs] == [every[3], every[0]]
    word = f'case=["{every[1]}"]'
    assert [run.params["case"] for run in load(tmp_path, some, word).runs] == [every[1]]
    own = '{ name = "short", ap = { qdisc = "pfifo limit 5" } }'
    mixed = load(tmp_path, text.replace("[ap]", f'case = [{own}, "{every[1]}"]\n[ap]'))
    assert [run.params["case"] for run in mixed.runs] == ["short", every[1]]
    assert mixed.runs[0].plan.ap.qdisc == "pfifo limit 5"


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("cases = []", "cell.toml: cases: expected the name of a file, or a list of such names"),
        ("cases = 1", "cell.toml: cases: expected the name of a file, or a list of such names"),
        ('cases = ["shared.toml", "shared.toml"]', "cell.toml: case 3: expected a name that no"),
        ('cases = "shared.toml"\ncase = ["none"]', "cell.toml: case = 'none': expected one of"),
        ('cases = "shared.toml"\ncase = "today"', "cell.toml: case: expected a list of names and"),
        ('cases = "shared.toml"\ncase = ["today", {}]', "cell.toml: case 3: name is missing"),
    ],
)
def test_cases_that_cannot_be_are_one_line(tmp_path: Path, line: str, why: str) -> None:
    (tmp_path / "shared.toml").write_text("schema = 1\n" + CASES.removeprefix(CELL))
    with pytest.raises(ApbedError) as caught:
        load(tmp_path, CELL.replace("[ap]", f"{line}\n[ap]"))
    assert str(caught.value).startswith(why)


@pytest.mark.parametrize(
    ("shared", "line"),
    [
        ("schema = 2", "cell.toml: cases: shared.toml: expected schema = 1"),
        ("schema = 1\nseed = 1", "cell.toml: cases: shared.toml: unknown key 'seed'"),
        ("[[case]", "cell.toml: cases: shared.toml: "),
        (None, "cell.toml: cases: shared.toml: "),
    ],
)
def test_a_bad_file_of_cases_is_one_line(tmp_path: Path, shared: str | None, line: str) -> None:
    if shared is not None:
        (tmp_path / "shared.toml").write_text(shared)
    with pytest.raises(ApbedError) as caught:
        load(tmp_path, CELL.replace("[ap]", 'cases = "shared.toml"\n[ap]'))
    assert str(caught.value).startswith(line)


def test_a_case_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ApbedError, match="case = 'tomorrow': expected one of today, a bound"):
        load(tmp_path, CASES, "case=tomorrow")
    with pytest.raises(ApbedError, match="unknown key 'case'"):
        load(tmp_path, CELL, "case=today")
