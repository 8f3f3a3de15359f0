# SPDX-License-Identifier: GPL-2.0-only
"""Who wins, from made-up runs: what is written follows from them, won or lost."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from apbed.analysis.verdict import judge, overview
from apbed.analysis.verdict import page as verdict_page
from apbed.analysis.verdict.judge import EVEN, LOST, WON

MEASURES = {one.name: one for one in judge.MEASURES}
RIVAL = "mac80211 airtime AQL"


def run(case: str, seed: int, total: float, ratio: float, p99: float | None) -> dict[str, Any]:
    """One RUN of summary.json, as far as the verdict looks at it."""
    delay = {"n": 100, "lost": 0 if p99 else 9, "p50": 10.0, "p99": p99}
    flow = {"id": "d", "station": "sta1", "dir": "down", "whole": True, "goodput_mbps": total}
    flow |= {"delay_ms": None, "late_frames": None, "rtt_ms": {"p90": 40.0}, "delay_series": []}
    upload = flow | {"id": "u", "station": "sta3", "dir": "up"}
    pulse = {"id": "p", "station": "sta2", "dir": "pulse_down", "whole": False, "delay_ms": delay}
    pulse |= {
        "goodput_mbps": 0.1,
        "late_frames": {"late": 1, "lost": 1, "share": 0.5},
        "rtt_ms": None,
    }
    return {
        "id": f"{case}_{seed}",
        "params": {"case": case, "qdisc": case.split()[0], "seed": seed, "kernel": "6.1"},
        "valid": True,
        "why_invalid": None,
        "duration_s": 15.0,
        "goodput_mbps": {"down": total, "up": 0.0, "total": total},
        "ratio_down_up": ratio,
        "jain": 1.0,
        "jain_stations": 1.0,
        "second_by_second": {"goodput_cov": None, "jain": {"mean": 1.0}},
        "flows": [flow, upload, pulse],
        "transfers": [],
        "response_time_s": {},
        "medium": {"station_airtime_share": {"sta1": 0.9, "sta3": 0.1}},
    }


Values = Sequence[tuple[float, float, float | None]]  # total, ratio and p99 of each seed


def load(ours: Values, theirs: Values, rival: str = RIVAL) -> judge.Load:
    """A load of two contenders."""
    runs = [
        run(case, seed, *one)
        for case, values in ((rival, theirs), ("lasack", ours))
        for seed, one in enumerate(values, start=1)
    ]
    (found,) = judge.loads("game", "A game", {"runs": runs})
    return found


def outcomes(found: judge.Load) -> dict[str, str]:
    return {one.measure.name: one.outcome for one in found.comparisons()}


def test_every_seed_must_say_so() -> None:
    """More total in both seeds; a ratio of 0.8 is nearer to 1 than 2 (and than 0.4), a delay won in
    one seed and lost in the other is even."""
    found = load([(6.0, 0.8, 20.0), (7.0, 1.25, 50.0)], [(5.0, 2.0, 30.0), (5.5, 0.4, 30.0)])
    told = outcomes(found)
    assert (told["total"], told["down/up"], told["delay p99"]) == (WON, WON, EVEN)
    (total,) = (one for one in found.comparisons() if one.measure.name == "total")
    assert (total.ours.mean, total.ours.low, total.ours.high) == (6.5, 6.0, 7.0)
    assert (total.theirs.mean, total.pairs) == (5.25, 2)


def test_less_than_a_hundredth_is_even() -> None:
    """5.00 against 5.04 in both seeds: 0.8 %; 5.00 against 5.06: 1.2 %."""
    near = load([(5.0, 1.0, 9.0)] * 2, [(5.04, 1.0, 9.0)] * 2)
    far = load([(5.0, 1.0, 9.0)] * 2, [(5.06, 1.0, 9.0)] * 2)
    assert outcomes(near)["total"] == EVEN and outcomes(far)["total"] == LOST


def test_only_seeds_of_both_are_compared() -> None:
    """The second seed is ours alone; of one seed the range is that value."""
    found = load([(5.0, 1.0, 9.0), (99.0, 1.0, 9.0)], [(6.0, 1.0, 9.0)])
    (total,) = (one for one in found.comparisons() if one.measure.name == "total")
    assert (total.outcome, total.pairs, total.ours.mean, total.ours.high) == (LOST, 1, 5.0, 5.0)


def test_a_seed_in_which_one_lacks_is_no_win() -> None:
    """Uploads that got nothing are the worst ratio; a value that only one has decides nothing."""
    starved = load([(5.0, 0.0, 9.0)] * 4 + [(5.0, 1.0, 9.0)], [(5.0, 0.5, 9.0)] * 5)
    for one in (run for row in starved.rows for run in row.runs):
        if one["ratio_down_up"] == 0.0:
            one["ratio_down_up"] = None
            one["flows"][1]["goodput_mbps"] = 0.0
    assert MEASURES["down/up"].of(starved.rows[1].runs[0]) == math.inf
    assert outcomes(starved)["down/up"] == EVEN  # lost in four seeds, won in one
    delays = load([(5.0, 1.0, 9.0)] * 5, [(5.0, 1.0, 90.0)] * 5)
    delays.rows[0].runs[2]["flows"][2]["delay_ms"] = None
    told = {one.measure.name: one for one in delays.comparisons()}["delay p99"]
    assert (told.outcome, told.pairs, told.seeds) == (EVEN, 4, 5)
    assert "even: only 4 of 5 seeds have it" in page([delays])


def test_far_on_both_sides_is_not_near_one() -> None:
    """0.5 and 1.5 by turns have the mean 1, and each seed is far from it."""
    found = load([(5.0, 0.5, 9.0), (5.0, 1.5, 9.0)] * 2, [(5.0, 1.02, 9.0)] * 4)
    assert outcomes(found)["down/up"] == LOST
    (row,) = judge.best(MEASURES["down/up"], found.rows)
    assert judge.contender(row) == RIVAL
    sides = load([(5.0, 0.7, 9.0)] * 5, [(5.0, 1.43, 9.0)] * 5)
    assert outcomes(sides)["down/up"] == EVEN  # 0.7 and 1 / 1.43 are alike


def test_nobody_takes_the_place_of_a_rival_that_failed() -> None:
    """What is not compared is named above the counts, and not left out of them quietly."""
    runs = [run(case, 1, 5.0, ratio, 9.0) for case, ratio in (("lasack", 0.9), ("fq_codel", 0.02))]
    broken = {"valid": False, "why_invalid": "a warning"}
    (failed,) = judge.loads("game", "A game", {"runs": [*runs, run(RIVAL, 1, 5, 1, 9) | broken]})
    assert failed.rival is None and not failed.comparisons()
    good = load([(5.0, 0.9, 20.0)], [(6.0, 0.4, 90.0)])
    said = " ".join(page([good, failed]).split())
    assert "under one load" in said
    assert (
        "**Not compared**, and in none of these counts: game (it has no valid run of what an "
        "access point runs today)." in said
    )
    worse = {"runs": [run("lasack", 1, 5, 1, 9) | broken, run(RIVAL, 1, 5, 1, 9) | broken]}
    (nothing,) = judge.loads("voice", "A call", worse)
    text = page([good, nothing])
    assert "voice (it has no valid run of lasack)" in " ".join(text.split())
    assert "## voice" in text and "Invalid: lasack, seed 1: a warning." in text


def test_what_never_came_is_the_worst() -> None:
    """A p99 among lost datagrams loses against any delay, and is even with another such."""
    lost = load([(5.0, 1.0, None)], [(5.0, 1.0, 900.0)])
    both = load([(5.0, 1.0, None)], [(5.0, 1.0, None)])
    assert outcomes(lost)["delay p99"] == LOST and outcomes(both)["delay p99"] == EVEN


@pytest.mark.parametrize(
    ("better", "worse"), [(1.0, 0.5), (2.0, 0.49), (0.5, 2.01), (0.01, 0.0), (1.1, math.inf)]
)
def test_a_ratio_is_judged_by_its_logarithm(better: float, worse: float) -> None:
    """2 and 1/2 are equally far from 1; nothing at all is the farthest."""
    cost = MEASURES["down/up"].cost
    assert cost(better) < cost(worse)


def test_values_of_a_run() -> None:
    """As the table of metrics.md has them; None where a run has no such thing."""
    one = run("lasack", 1, 5.0, 0.9, 30.0)
    found = {name: measure.of(one) for name, measure in MEASURES.items()}
    assert found["late or lost"] == 50.0 and found["round trip p90"] == 40.0
    assert found["delay p50"] == 10.0 and found["delay p99"] == 30.0
    for name in ("CoV in 1 s", "download time p50", "unfinished", "TCP ACKs"):
        assert found[name] is None
    one["response_time_s"] = {"down": {"n": 4, "p50": 0.2, "p90": None, "unfinished": 3}}
    assert MEASURES["download time p50"].of(one) == 0.2
    assert MEASURES["download time p90"].of(one) == math.inf
    assert MEASURES["unfinished"].of(one) == 3
    assert MEASURES["small download p90"].of(one) is None
    few = {"n": 2, "unfinished": 0, "p90": 0.1}
    one["response_time_s"]["down"]["by_size"] = {"under_100kB": few}
    one["response_time_s"]["up"] = one["response_time_s"]["down"] | {
        "by_size": {"under_100kB": few | {"n": 0}}
    }
    assert MEASURES["small download p90"].of(one) == 0.1
    assert MEASURES["small upload p90"].of(one) is None
    assert found["Jain, airtime"] == pytest.approx(1 / (2 * (0.81 + 0.01)))


@pytest.mark.parametrize(("name", "value"), [("down/up", 0.9), ("Jain in 1 s", 1.0)])
def test_unlike_stations_connections_are_not_compared(name: str, value: float) -> None:
    """One station with two connections beside one with a single one: its connections get less.
    Nor is a connection compared with itself, or a station."""
    one = run("lasack", 1, 5.0, 0.9, 30.0)
    assert MEASURES[name].of(one) == value
    one["flows"].append(dict(one["flows"][0], id="d2"))
    assert MEASURES[name].of(one) is None
    one["flows"].append(dict(one["flows"][1], id="u2"))
    assert MEASURES[name].of(one) == value
    assert MEASURES["Jain, stations"].of(one) == 1.0
    one["flows"] = one["flows"][:1]
    assert MEASURES[name].of(one) is None and MEASURES["Jain, stations"].of(one) is None


def test_without_mac80211s_queues_the_rival_is_fq_codel() -> None:
    """As with direct radios, above which nothing waits in mac80211."""
    found = load([(5.0, 1.0, 9.0)], [(4.0, 1.0, 9.0)], rival="fq_codel")
    assert found.rival is not None and found.rival.name == "fq_codel"
    assert outcomes(found)["total"] == WON
    alone = load([(5.0, 1.0, 9.0)], [(4.0, 1.0, 9.0)], rival="sfq")
    assert alone.rival is None and alone.comparisons() == []


def test_other_stations_are_another_load() -> None:
    """Contenders are compared only with those that meet the same stations."""
    runs = [
        run(case, 1, total, 1.0, 9.0)
        for case, total in (
            (RIVAL, 4.0),
            ("lasack", 5.0),
            (f"{RIVAL} / stations today", 6.0),
            ("lasack / stations today", 5.0),
        )
    ]
    plain, today = judge.loads("rrul", "One station", {"runs": runs})
    assert (plain.name, today.name) == ("rrul", "rrul, stations today")
    assert outcomes(plain)["total"] == WON and outcomes(today)["total"] == LOST
    text = page([plain, today])
    assert "[rrul, stations today](#rrul-stations-today)" in text
    assert text.count("\n| lasack |") == 2 and " / " not in text


def test_the_same_as_json() -> None:
    """What is beyond measuring is the word "lost", which JSON can say."""
    found = load([(5.0, 0.9, None)], [(6.0, 0.4, 90.0)])
    told = json.loads(json.dumps(judge.to_json([found], commits([found])), allow_nan=False))
    assert told["schema"] == 2
    (game,) = told["loads"]
    assert (game["name"], game["beside"]) == ("game", RIVAL)
    assert [one["commits"] for one in game["contenders"]] == [["0123456"], ["0123456"]]
    assert [one["case"] for one in game["contenders"]] == [RIVAL, "lasack"]
    one = game["contenders"][1]["measures"]
    assert one["total"] == {"mean": 5.0, "low": 5.0, "high": 5.0, "seeds": 1}
    assert one["delay p99"]["mean"] == "lost" and "unfinished" not in one
    assert game["outcomes"]["total"] == LOST and game["outcomes"]["down/up"] == WON


def commits(loads: Sequence[judge.Load]) -> dict[str, str]:
    """One for all runs."""
    rows = [(load.scenario, row) for load in loads for row in load.rows]
    return {f"{name}/{run['id']}": "0123456" for name, row in rows for run in row.runs}


def page(loads: Sequence[judge.Load], **changes: Any) -> str:
    known: dict[str, Any] = {
        "commits": commits(loads),
        "phys": dict.fromkeys(("game", "rrul", "voice"), "hrdsss-11"),
        "commands": ["apbed air"],
        "date": "1 May 2026",
        "stale": frozenset(),
        "missing": 0,
        "unmeasured": (),
    }
    return verdict_page.page(loads, verdict_page.Origin(**(known | changes)), None)


def test_the_page_says_what_is_lost_as_what_is_won() -> None:
    """Both stand in the paragraph at its top and in the overview, in bold, with both values."""
    text = page([load([(5.0, 0.9, 20.0)] * 2, [(6.0, 0.4, 90.0)] * 2)])
    top = " ".join(text.split("Written on")[0].split())
    assert "under one load, on 802.11b, loses 1" in top
    assert (
        "**Where it wins**, by the median over the loads: downloads get 0.90 of what uploads get, "
        "not 0.40 (won under 1 of 1); 99 of 100 datagrams take at most 20.0 ms, not 90.0 (won "
        "under 1 of 1)."
    ) in top
    assert (
        "**Where it loses**, by the worst load: the total is 5.00 Mb/s, not 6.00, in game (lost "
        "under 1 of 1)."
    ) in top
    assert "| total | 0 | 1: game | 0 |" in text and "| down/up | 1: game | 0 | 0 |" in text
    assert "`tc qdisc replace dev wlan0 root noqueue`" in top
    (row,) = (line for line in text.splitlines() if line.startswith("| [game](#game)"))
    assert "**won** 0.90 : 0.40" in row and "**lost** 5.00 : 6.00" in row and "even" in row
    assert "Commit 0123456." in text and "\n    apbed air\n" in text
    assert not re.search(r"\| *\|", text), "an empty cell"
    assert max(len(line) for line in text.splitlines() if not line.startswith("|")) <= 120


def test_the_loads_of_an_outcome_are_counted() -> None:
    """Two of three loads are won: the first paragraph has these, and the next the third one."""
    won, more, lost = (load([(total, 1.0, 9.0)], [(6.0, 1.0, 9.0)]) for total in (7.0, 8.0, 5.0))
    text = page([won, more, lost])
    top = " ".join(text.split("Written on")[0].split())
    assert "under 3 loads, 3 on 802.11b," in top
    assert (
        "by the median over the loads: the total is 7.00 Mb/s, not 6.00 (won under 2 of 3)." in top
    )
    assert "the total is 5.00 Mb/s, not 6.00, in game (lost under 1 of 3)." in top
    assert "| total | 2: game; game | 1: game | 0 |" in text


def test_many_loads_of_an_outcome_have_no_names() -> None:
    """Four are counted; a profile that has no name of a standard keeps its own."""
    text = page([load([(7.0, 1.0, 9.0)], [(6.0, 1.0, 9.0)])] * 4, phys={"game": "ht40"})
    assert "| total | 4 | 0 | 0 |" in text
    assert "under 4 loads, 4 on ht40," in " ".join(text.split())


def test_all_that_are_best_are_bold() -> None:
    """Both have the same total; the ratio is one's alone."""
    text = page([load([(5.0, 0.9, 20.0)], [(5.0, 0.4, 90.0)])])
    (ours,) = (line for line in text.splitlines() if line.startswith("| lasack |"))
    (theirs,) = (line for line in text.splitlines() if line.startswith(f"| {RIVAL} |"))
    assert "**5.00**" in ours and "**5.00**" in theirs
    assert "**0.90**" in ours and "| 0.40 |" in theirs


def test_nothing_lost_needs_no_advice() -> None:
    text = page([load([(7.0, 0.9, 20.0)], [(6.0, 0.4, 90.0)])])
    assert (
        "**Where it loses**, by the worst load: nowhere. **What to do then:** nothing was lost."
        in " ".join(text.split())
    )


def named(name: str, totals: tuple[float, float], scenario: str = "game") -> judge.Load:
    """A load of that name and scenario, with lasack's and the rival's total."""
    found = load([(totals[0], 1.0, 9.0)] * 2, [(totals[1], 1.0, 9.0)] * 2)
    return dataclasses.replace(found, name=name, scenario=scenario)


def test_the_worst_loss_is_told_and_where_the_others_are() -> None:
    """By a sixth in rrul, by a half in voice, by a quarter in game: half of them by a quarter."""
    loads = [
        named("rrul", (5.0, 6.0), "rrul"),
        named("voice", (3.0, 6.0), "voice"),
        named("game", (3.0, 4.0)),
    ]
    assert (
        "the total is 3.00 Mb/s, not 6.00, in voice (lost under 3 of 3, half of them by at least "
        "25 %: rrul, voice and game)."
    ) in " ".join(page(loads).split())


def test_what_other_stations_spare_is_told() -> None:
    """The total is lost beside stations with a FIFO, not beside stations as they are today."""
    loads = [named("game", (5.0, 6.0)), named("game, stations today", (6.0, 6.0))]
    words = " ".join(page(loads).split())
    assert "as in Linux laptops today, this is not lost: game: total." in words
    assert "These are 1 scenarios" not in words and "this is not lost" not in page(loads[:1])


def test_the_picture_has_a_cell_for_each_comparison() -> None:
    """Losses have a sign and a colour of their own, as wins have; names are short."""
    loads = [
        named("game, mix dl2-ul2, wired.delay_ms 10.0", (5.0, 6.0)),
        named("game, stations today", (7.0, 6.0)),
    ]
    panel, *_ = overview.picture(loads).axes
    signs = Counter(text.get_text() for text in panel.texts)
    told = Counter(one.outcome for load in loads for one in load.comparisons())
    assert signs == {overview.SIGNS[word][0]: count for word, count in told.items()}
    assert told[LOST] == told[WON] == 1 and len(panel.patches) == told.total()
    names = [label.get_text() for label in panel.get_yticklabels()]
    assert names == ["game, dl2-ul2, 20 ms", "game, stations today"]


def test_a_difference_has_its_interval() -> None:
    """-1 and -3: the mean is -2, s is the root of 2, and t(0.975, 1) is 12.71 (Student)."""
    found = load([(5.0, 1.0, 9.0), (4.0, 1.0, 9.0)], [(6.0, 1.0, 9.0), (7.0, 1.0, 9.0)])
    text = page([found])
    (row,) = (line for line in text.splitlines() if line.startswith("| *difference*"))
    assert "| -2.00 ±12.7 |" in row
    (told,) = [one for one in found.comparisons() if one.measure.name == "total"]
    assert told.difference is not None
    assert told.difference.half_width == pytest.approx(
        12.706 * math.sqrt(2) / math.sqrt(2), rel=1e-4
    )


def test_a_value_beyond_measuring_has_no_difference() -> None:
    found = load([(5.0, 1.0, None)] * 2, [(5.0, 1.0, 9.0)] * 2)
    (told,) = [one for one in found.comparisons() if one.measure.name == "delay p99"]
    assert told.difference is None


def test_what_prints_like_the_best_is_bold_too() -> None:
    text = page([load([(5.001, 0.9, 20.0)], [(5.0, 0.4, 90.0)])])
    assert text.count("**5.00**") == 2


def test_what_is_not_measured_or_old_is_said() -> None:
    """Runs that lack, loads without any, rows of older code, and those that are invalid."""
    found = load([(5.0, 0.9, 20.0)], [(6.0, 0.4, 90.0)])
    stale = frozenset({"game/lasack_1"})
    text = page([found], missing=3, unmeasured=("rrul", "voice"), stale=stale)
    said = " ".join(text.split())
    assert "**3 runs of the plan are not done**" in said
    assert "There is no record of these loads yet: rrul and voice." in said
    assert "| lasack * |" in text and f"| {RIVAL} |" in text
    broken = run("lasack", 1, 1.0, 1.0, 1.0) | {"valid": False, "why_invalid": "a warning"}
    (bad,) = judge.loads("game", "A game", {"runs": [broken, run(RIVAL, 1, 5.0, 1.0, 9.0)]})
    assert "Invalid: lasack, seed 1: a warning." in page([bad])


# A better and a worse value of each measure.
DIRECTIONS = {
    "down/up": (1.0, 2.0),
    "Jain, stations": (0.9, 0.5),
    "total": (6.0, 5.0),
    "CoV in 1 s": (0.1, 0.4),
    "Jain in 1 s": (0.9, 0.5),
    "delay p50": (10.0, 50.0),
    "delay p99": (10.0, 50.0),
    "late or lost": (1.0, 20.0),
    "round trip p90": (10.0, 50.0),
    "download time p50": (0.2, 3.0),
    "download time p90": (0.2, 3.0),
    "small download p90": (0.2, 3.0),
    "small upload p90": (0.2, 3.0),
    "unfinished": (0.0, 4.0),
    "Jain, airtime": (0.9, 0.5),
    "TCP ACKs": (5.0, 15.0),
}


def test_each_measure_has_a_direction() -> None:
    assert DIRECTIONS.keys() == MEASURES.keys()


@pytest.mark.parametrize("name", DIRECTIONS)
def test_the_better_value_costs_less(name: str) -> None:
    good, bad = DIRECTIONS[name]
    assert MEASURES[name].cost(good) < MEASURES[name].cost(bad)
