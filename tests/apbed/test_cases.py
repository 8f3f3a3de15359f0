# SPDX-License-Identifier: GPL-2.0-only
"""[[case]]: values that go together; and a bound that is found automatically."""

from __future__ import annotations

from pathlib import Path

import pytest

from apbed.errors import ApbedError
from apbed.scenario.plan import Plan
from guest.network import queue_words
from tests.apbed.test_scenario import CELL, load

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


def test_a_case_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ApbedError, match="case = 'tomorrow': expected one of today, a bound"):
        load(tmp_path, CASES, "case=tomorrow")
    with pytest.raises(ApbedError, match="unknown key 'case'"):
        load(tmp_path, CELL, "case=today")


def test_an_automatic_bound_is_inflights_own(tmp_path: Path) -> None:
    plan = load(tmp_path, CELL, "ap.inflight=auto", "ap.qdisc=fq_codel", "station.inflight=auto")
    (run,) = plan.runs
    replace = ["tc", "qdisc", "replace", "dev", "wlan0"]
    assert queue_words("wlan0", run.plan.ap) == [
        [*replace, "root", "handle", "1:", "inflight", "limit", "auto"],
        [*replace, "parent", "1:1", "handle", "2:", "fq_codel"],
    ]
    assert run.plan.station.inflight == "auto"
