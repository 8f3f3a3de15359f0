# SPDX-License-Identifier: GPL-2.0-only
"""[[figure]]: what a scenario file may say, and what the report makes of runs made by hand."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from apbed.analysis.figures import metrics, section
from apbed.analysis.figures.claims import Verdict, decide, named, placed
from apbed.analysis.figures.points import interval, points
from apbed.analysis.metrics import segment_bytes
from apbed.errors import ApbedError
from apbed.scenario import catalogue, figures, parse
from apbed.scenario.figures import Figure

SCENARIO = """
schema = 1
name = "small"
title = "Small"
duration_s = 10.0
seed = [1, 2, 3]
mix = "dl1-ul1"
[medium]
retry = [1, 2, 3]
[ap]
qdisc = ["pfifo limit 50", "pfifo limit 100"]
"""
FIGURE = """
[[figure]]
id = "F2"
title = "Ratio against attempts"
x = "medium.retry"
y = "ratio_down_up"
series = "ap.qdisc"
"""


def loaded(folder: Path, text: str, *settings: str, short: bool = False) -> parse.Scenario:
    path = folder / "small.toml"
    path.write_text(text)
    return parse.load(path, settings, short=short)


def figure(folder: Path, more: str = "", text: str = FIGURE) -> Figure:
    """The one figure of the small scenario, with `more` in its table."""
    (only,) = loaded(folder, SCENARIO + text + more).figures
    return only


def run(retry: int, limit: int, seed: int, ratio: float | None, **more: Any) -> dict[str, Any]:
    params = {"qdisc": f"pfifo limit {limit}", "medium.retry": retry, "seed": seed}
    return {"params": params, "valid": True, "ratio_down_up": ratio} | more


def claimed(folder: Path, words: str, runs: list[dict[str, Any]]) -> Verdict:
    """The verdict on a claim about these runs."""
    ours = figure(folder, f'[[figure.expect]]\nclaim = "c"\nexpect = "reproduced"\n{words}\n')
    return decide(ours, ours.expect[0], points(ours, runs))


def test_every_figure_of_the_papers_is_read() -> None:
    """And its full and short versions can be planned; run ids stay short enough for a folder."""
    for path in catalogue.files():
        if path.parent.name == "papers":
            for short in (False, True):
                scenario = parse.load(path, short=short)
                assert scenario.figures, path.name
                assert max(len(one.id) for one in scenario.runs) < 200
            full, few = parse.load(path), parse.load(path, short=True)
            assert virtual_s(few) < virtual_s(full)


def virtual_s(scenario: parse.Scenario) -> float:
    return sum(one.plan.duration_s for one in scenario.runs)


def test_a_figure_goes_to_the_manifest_and_back(tmp_path: Path) -> None:
    more = 'model = "up-down-fairness share n=medium.retry"\nprinted = [{ x = 1, y = 0.5 }]\n'
    more += '[[figure.expect]]\nclaim = "c"\ntest = "between 0 1"\nexpect = "contradicted"\n'
    one = figure(tmp_path, more)
    assert Figure.from_json(json.loads(json.dumps(one.to_json()))) == one
    with pytest.raises(ValueError, match="a broken figure"):
        Figure.from_json({"id": "F2"})


def test_a_models_parameter_may_be_more_than_a_keys_value(tmp_path: Path) -> None:
    """Of n uploads and a download, up-down-fairness gives the download 1 / n."""
    plain, more = (
        figure(tmp_path, f'model = "up-down-fairness share n=medium.retry{words}"\n')
        for words in ("", "+1")
    )
    runs = three(1, 50, 0.9) + three(2, 50, 0.5)
    (_, second), (first, _) = (
        [one.model[0] for one in points(each, runs)] for each in (plain, more)
    )
    assert first == second is not None
    assert Figure.from_json(json.loads(json.dumps(more.to_json()))) == more


def test_a_run_has_the_figures_keys_swept_or_not(tmp_path: Path) -> None:
    """--set and [short] may leave one value, and the figure still finds its axis."""
    scenario = loaded(tmp_path, SCENARIO + FIGURE, "medium.retry=2")
    assert {one.params["medium.retry"] for one in scenario.runs} == {2}
    assert all("medium" not in one.id for one in scenario.runs)


IN_STEP = '[sweep]\nzip = [["medium.retry", "station.count"]]\n[station]\ncount = [1, 2, {}]\n'


def test_a_key_that_goes_in_step_with_the_axis_need_not_be_named(tmp_path: Path) -> None:
    text = SCENARIO + IN_STEP.format(3) + FIGURE
    (one,) = loaded(tmp_path, text).figures
    assert "station.count" not in one.keys
    # The other way round two values of x are one point, unless each tells of the other.
    turned = FIGURE.replace("medium.retry", "station.count")
    assert loaded(tmp_path, SCENARIO + IN_STEP.format(3) + turned).figures
    with pytest.raises(ApbedError, match=r"medium\.retry is swept; name it in x"):
        loaded(tmp_path, SCENARIO + IN_STEP.format(2) + turned)


THREE_IN_STEP = """
[sweep]
zip = [["medium.retry", "station.count", "tcp.window_segments"]]
[station]
count = [1, 1, 2]
[tcp]
window_segments = [8, 9, 9]
"""


@pytest.mark.parametrize(
    ("panel", "missing"),
    [
        ('"tcp.window_segments"', None),  # with the axis it tells medium.retry
        ('"wired.delay_ms"', "medium.retry"),  # the axis alone does not
    ],
)
def test_keys_that_go_in_step_are_told_by_several(
    panel: str, missing: str | None, tmp_path: Path
) -> None:
    turned = FIGURE.replace("medium.retry", "station.count") + f"panel = {panel}\n"
    text = SCENARIO + THREE_IN_STEP + turned
    if missing is None:
        assert loaded(tmp_path, text).figures
        return
    with pytest.raises(ApbedError, match=f"{re.escape(missing)} is swept"):
        loaded(tmp_path, text)


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ('colour = "red"', "unknown key 'colour'"),
        ('model = "http-queueing"', "http-queueing has no equation ''"),
        ('model = "http-queueing 8 e=medium.retry"', "'e=medium.retry': expected NAME=KEY"),
        ('model = "http-queueing 8 d=station.count"', "unknown key 'station.count'"),
        ('model = "http-queueing 8 d=station.count+1"', "unknown key 'station.count'"),
        ('model = "http-queueing 8 d=medium.retry+x"', "expected d=medium.retry+NUMBER"),
        ('model = "http-queueing 10/3"', "'http-queueing 10/3': expected one of 2 figures"),
        ('model = "http-queueing 10/"', "expected one of 2 figures"),
        ("printed = [{ x = 1 }]", "expected x and y"),
        ('printed = [{ x = 1, y = 2, mix = "dl1-ul1" }]', "unknown key 'mix'"),
        ('scale = "square"', "scale = 'square': expected one of linear, log"),
        ('where.ap.qdisk = "x"', "unknown key 'ap.qdisk'; did you mean 'ap.qdisc'?"),
        ('[[figure.expect]]\ntest = "rises"', "claim is missing"),
        ('[[figure.expect]]\nclaim = "c"\ntest = "about 1"', "test = 'about 1': expected one of"),
        ('[[figure.expect]]\nclaim = "c"\ntest = "above others"', "than: expected with"),
        ('[[figure.expect]]\nclaim = "c"\ntest = "rises"\nthan.ap.qdisc = "x"', "than: expected"),
        ('[[figure.expect]]\nclaim = "c"\ntest = "within 9 % of model"', "there is no model"),
        ('[[figure.expect]]\nclaim = "c"\ntest = "within 9 % of printed"', "nothing is printed"),
        ('[[figure.expect]]\nclaim = "c"\ntest = "rises"\nexpect = "maybe"', "expect = 'maybe'"),
        ('[[figure.expect]]\nclaim = "c"\ntest = "rises"\nleast = 1.5', "least = 1.5"),
        (FIGURE, "expected one that no other figure has"),
        ("model = 5", "model = 5: expected an equation or a list of them"),
        ("model = [5]", "model = [5]: expected an equation or a list of them"),
        ("where = 5", "where = 5: expected a table"),
        ('names = "x"', "names = 'x': expected a table"),
        ("printed = 5", "printed = 5: expected a list of tables"),
        ("expect = [1]", "expect = [1]: expected a list of tables"),
        ('[[figure.expect]]\nclaim = "c"\ntest = "rises"\nof = 3', "of = 3: expected a table"),
    ],
)
def test_a_figure_that_cannot_be_is_refused(more: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(ApbedError, match=re.escape(why)):
        figure(tmp_path, more)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('series = "ap.qdisc"', "", "ap.qdisc is swept; name it in x, series, panel or where"),
        ('y = "ratio_down_up"', 'y = "ratio"', "y = 'ratio': expected one of"),
        ('x = "medium.retry"', 'x = "size_percentile"', "y = 'ratio_down_up': expected one of"),
        ('id = "F2"', 'id = "a b"', "expected letters, digits"),
        ('title = "Ratio against attempts"', "", "title is missing"),
        ('series = "ap.qdisc"', "series = 1", "series = 1: expected a key or a list"),
    ],
)
def test_a_figure_that_lacks_something_is_refused(
    old: str, new: str, why: str, tmp_path: Path
) -> None:
    with pytest.raises(ApbedError, match=re.escape(why)):
        figure(tmp_path, text=FIGURE.replace(old, new))


def test_intervals_are_students() -> None:
    """1, 2, 3: mean 2, s = 1, t(0.975, 2) = 4.303 of the tables, so 2 plus and minus 2.484."""
    one = interval([1.0, 2.0, 3.0])
    assert (one.mean, one.n) == (2.0, 3)
    assert one.ends == pytest.approx((2 - 4.303 / 3**0.5, 2 + 4.303 / 3**0.5), abs=1e-3)
    assert interval([5.0]).ends == (5.0, 5.0)


def test_points_have_their_seeds_models_and_printed_numbers(tmp_path: Path) -> None:
    more = 'model = "up-down-fairness share n=medium.retry"\n'
    more += 'printed = [{ x = 2, y = 0.4, ap = { qdisc = "pfifo limit 50" } }]\n'
    runs = [run(2, limit, seed, seed / limit) for limit in (50, 100) for seed in (1, 2)]
    runs.append(run(2, 50, 3, 9.0) | {"valid": False})
    runs.append(run(3, 50, 1, None))
    small, large = points(figure(tmp_path, more), runs)
    assert small.values == {1: 0.02, 2: 0.04}
    assert (small.series, small.x, small.model) == (("pfifo limit 50",), 2, (0.5,))
    assert (small.printed, large.printed) == (0.4, None)


def test_a_model_takes_values_of_where_too(tmp_path: Path) -> None:
    """Two nodes get half of what one gets; a list of values is no value."""
    share = 'model = "up-down-fairness share n=medium.retry"\n'
    text = FIGURE.replace('x = "medium.retry"', 'x = "ap.qdisc"').replace("series", "# ")
    for where, model in (("2", 0.5), ("[2, 3]", None)):
        ours = figure(tmp_path, f"{share}where.medium.retry = {where}\n", text)
        (only,) = points(ours, [run(2, 50, 1, 1.0)])
        assert only.model == (model,)


def test_a_model_may_be_an_equations_second_column(tmp_path: Path) -> None:
    """Equation 10 has what each of n_c downloads gets, then what all get."""
    all_and_each = ["http-queueing 10/2 n_c=medium.retry", "http-queueing 10 n_c=medium.retry"]
    (only,) = points(figure(tmp_path, f"model = {all_and_each}\n"), [run(3, 50, 1, 1.0)])
    assert only.model[0] and only.model[1] and only.model[0] == pytest.approx(3 * only.model[1])


def test_names_are_not_of_numbers_on_the_x_axis(tmp_path: Path) -> None:
    ours = figure(tmp_path, 'names = { 2 = "two", "pfifo limit 50" = "short" }\n')
    assert (placed(ours, 2), placed(ours, 2.5), named(ours, "pfifo limit 50")) == (
        "2",
        "2.5",
        "short",
    )


def test_where_leaves_runs_out(tmp_path: Path) -> None:
    runs = [run(2, limit, 1, 1.0) for limit in (50, 100)]
    (only,) = points(figure(tmp_path, 'where.ap.qdisc = ["pfifo limit 50"]\n'), runs)
    assert only.series == ("pfifo limit 50",)


def three(retry: int, limit: int, *ratios: float) -> list[dict[str, Any]]:
    """A run for each of these values, seeds 1, 2..."""
    return [run(retry, limit, seed, ratio) for seed, ratio in enumerate(ratios, 1)]


@pytest.mark.parametrize(
    ("ratios", "verdict"),
    [
        ((0.99, 1.00, 1.01), "reproduced"),
        ((0.39, 0.40, 0.41), "contradicted"),
        ((0.70, 0.80, 0.90), "undecided"),
    ],
)
def test_the_interval_decides(ratios: tuple[float, ...], verdict: str, tmp_path: Path) -> None:
    """0.8 plus and minus 0.25 is neither in nor out of 0.85 to 1.15."""
    one = claimed(tmp_path, 'test = "between 0.85 1.15"', three(1, 50, *ratios))
    assert (one.verdict, one.seeds, one.tested) == (verdict, 3, 1)
    assert one.as_expected is (verdict == "reproduced")


def test_a_claim_of_points_that_were_not_run(tmp_path: Path) -> None:
    words = 'test = "above 1"\nof.medium.retry = 3'
    assert claimed(tmp_path, words, three(1, 50, 2.0)).verdict == "not run"


def test_one_point_that_fails_contradicts_unless_fewer_are_enough(tmp_path: Path) -> None:
    runs = three(1, 50, 2.0) + three(2, 50, 2.0) + three(3, 50, 0.5)
    assert claimed(tmp_path, 'test = "above 1"', runs).verdict == "contradicted"
    enough = claimed(tmp_path, 'test = "above 1"\nleast = 2', runs)
    assert (enough.verdict, enough.passed, enough.tested) == ("reproduced", 2, 3)
    assert "0.5 at pfifo limit 50, medium.retry 3" in enough.hardest


def test_others_are_compared_seed_by_seed(tmp_path: Path) -> None:
    """Seeds differ by 1, lines by 0.1: unpaired intervals overlap, paired ones do not."""
    runs = three(1, 50, 1.0, 2.0, 3.0) + three(1, 100, 1.1, 2.12, 3.08)
    words = 'of.ap.qdisc = "pfifo limit 100"\nthan.ap.qdisc = "pfifo limit 50"\n'
    assert claimed(tmp_path, words + 'test = "above others"', runs).verdict == "direction only"
    assert claimed(tmp_path, words + 'test = "below others"', runs).verdict == "contradicted"


def test_others_may_have_to_be_so_much_apart(tmp_path: Path) -> None:
    """28, 29 and 30 % more than the other, seed by seed: 29 %, plus and minus 2.5. With one seed
    that is 0, nothing is known of it."""
    runs = three(1, 50, 1.0, 2.0, 3.0) + three(1, 100, 1.28, 2.58, 3.90)
    words = 'of.ap.qdisc = "pfifo limit 100"\nthan.ap.qdisc = "pfifo limit 50"\n'
    cases = {"above others by 26 %": "reproduced", "above others by 32 %": "contradicted"}
    cases |= {"above others by 29 %": "undecided", "below others by 1 %": "contradicted"}
    for test, verdict in cases.items():
        one = claimed(tmp_path, words + f'test = "{test}"', runs)
        assert one.verdict == verdict, test
    assert one.hardest.startswith("0.29 (0.265 to 0.315) at")
    fewer = 'of.ap.qdisc = "pfifo limit 50"\nthan.ap.qdisc = "pfifo limit 100"\n'
    fewer += 'test = "below others by 21 %"'  # 1 - 1/1.28 = 0.219
    assert claimed(tmp_path, fewer, runs[:1] + runs[3:4]).verdict == "reproduced"
    nothing = three(1, 50, 0.0) + three(1, 100, 1.0)
    test = words + 'test = "above others by 9 %"'
    assert claimed(tmp_path, test, nothing).verdict == "not run"


def test_rises_falls_and_extremes(tmp_path: Path) -> None:
    runs = three(1, 50, 1.0) + three(2, 50, 3.0) + three(3, 50, 2.0)
    verdicts = {
        words: claimed(tmp_path, f'test = "{words}"', runs).verdict
        for words in ("rises", "falls", "most at 2", "least at 2", "least at 1")
    }
    assert verdicts == {
        "rises": "contradicted",
        "falls": "contradicted",
        "most at 2": "direction only",
        "least at 2": "contradicted",
        "least at 1": "direction only",
    }


def test_what_is_equal_is_neither_above_nor_below(tmp_path: Path) -> None:
    """A flat line neither rises nor falls, and has no least."""
    flat = three(1, 50, 1.0) + three(2, 50, 1.0)
    for words in ("rises", "falls", "most at 2", "least at 2"):
        assert claimed(tmp_path, f'test = "{words}"', flat).verdict == "contradicted", words
    both = three(1, 50, 1.0) + three(1, 100, 1.0)
    words = 'of.ap.qdisc = "pfifo limit 100"\nthan.ap.qdisc = "pfifo limit 50"\n'
    for test in ("above others", "below others"):
        assert claimed(tmp_path, words + f'test = "{test}"', both).verdict == "contradicted", test


def test_near_the_model_and_the_printed_number(tmp_path: Path) -> None:
    more = 'model = "up-down-fairness share n=medium.retry"\nprinted = [{ x = 2, y = 0.4 }]\n'
    more += '[[figure.expect]]\nclaim = "m"\ntest = "within 10 % of model"\nexpect = "reproduced"\n'
    more += '[[figure.expect]]\nclaim = "p"\ntest = "within 10 % of printed"\nexpect = "reproduced"'
    ours = figure(tmp_path, more)
    found = points(ours, three(2, 50, 0.46))
    verdicts = [decide(ours, claim, found) for claim in ours.expect]
    assert [one.verdict for one in verdicts] == ["reproduced", "contradicted"]
    assert verdicts[1].hardest.startswith("0.15 at")


def test_late_datagrams_of_all_calls_count_alike() -> None:
    """A flow that is no call does not count, and what was lost is among what was sent."""
    calls = [(90, 0, 10), (300, 30, 0)]
    flows: list[dict[str, Any]] = [
        {"late_frames": {"late": late, "lost": lost}, "delay_ms": {"n": n}}
        for n, late, lost in calls
    ]
    bulk = {"late_frames": None, "delay_ms": None}
    share = metrics.OF_RUN["late_share_all"]
    assert share({"flows": [*flows, bulk]}) == pytest.approx(40 / 400)
    assert share({"flows": [bulk]}) is None


def test_every_metric_of_the_schema_is_computed() -> None:
    assert set(metrics.OF_RUN) == set(figures.METRICS)


def test_packets_by_hand() -> None:
    """11.584 Mb/s are 1000 packets of 1448 bytes a second."""
    one = {"segment_bytes": 1448, "goodput_mbps": {"up": 11.584, "down": 5.792}}
    assert metrics.OF_RUN["packets_per_s.up"](one) == pytest.approx(1000)
    assert metrics.OF_RUN["ratio_of_totals"](one) == pytest.approx(0.5)


def test_segments_are_the_mss_without_timestamps(tmp_path: Path) -> None:
    plain = loaded(tmp_path, SCENARIO).runs[0].plan
    assert segment_bytes(plain) == 1448  # 1500 less 40 of headers and 12 of options
    without = ("wired.sysctl.net.ipv4.tcp_timestamps=0", "tcp.mss=1000")
    assert segment_bytes(loaded(tmp_path, SCENARIO, *without).runs[0].plan) == 1000


def transfer(size: int, seconds: float | None) -> dict[str, Any]:
    return {"dir": "down", "bytes": size, "response_s": seconds}


def test_curves_have_bins_of_as_many_transfers() -> None:
    """Ten by size, two bins of five: 1 s each but one of 6 s; one of the larger never ended."""
    small = [transfer(size, 1.0) for size in range(4)] + [transfer(4, 6.0)]
    large = [transfer(10 + size, 3.0) for size in range(4)] + [transfer(20, None)]
    one = {"transfers": [*large, *small]}
    assert metrics.size_bins("response_by_size_s.down", [one]) == 2
    assert metrics.curve("response_by_size_s.down", one, 2) == [(25.0, 2.0), (75.0, 3.0)]
    # 10th and 90th percentile of 1, 1, 1, 1, 6, on the line between ranks: 1 and 4.
    assert metrics.curve("spread_by_size_s.down", one, 2)[0][1] == pytest.approx(3.0)
    assert metrics.curve("ended_by_size.down", one, 2) == [(25.0, 1.0), (75.0, 0.8)]
    assert metrics.OF_RUN["transfer_mbps.down"](one) == pytest.approx(
        sum(8e-6 * t["bytes"] / t["response_s"] for t in one["transfers"] if t["response_s"]) / 9
    )


def test_curves_of_all_seeds_have_the_same_places(tmp_path: Path) -> None:
    """97 and 103 transfers fill 19 and 20 bins; both have 19."""
    text = FIGURE.replace('x = "medium.retry"', 'x = "size_percentile"\npanel = "medium.retry"')
    text = text.replace('y = "ratio_down_up"', 'y = "response_by_size_s.down"')
    ours = figure(tmp_path, "", text)
    runs = [
        run(2, 50, seed, 1.0) | {"transfers": [transfer(size, 1.0) for size in range(count)]}
        for seed, count in ((1, 97), (2, 103))
    ]
    found = points(ours, runs)
    assert len(found) == 19 and all(set(point.values) == {1, 2} for point in found)


def test_two_runs_at_one_place_are_refused(tmp_path: Path) -> None:
    """Else the last would stand for both."""
    twice = [run(2, 50, 1, 1.0, id="a"), run(2, 50, 1, 2.0, id="b")]
    with pytest.raises(ApbedError, match="F2: b and another run with seed 1 are at one place"):
        points(figure(tmp_path), twice)


def test_a_place_without_a_valid_run_is_not_decided(tmp_path: Path) -> None:
    """Two of three points would pass; if the third has no valid run, nobody knows."""
    more = '[[figure.expect]]\nclaim = "c"\ntest = "above 1"\nexpect = "reproduced"\n'
    ours = figure(tmp_path, more)
    good = three(1, 50, 2.0) + three(2, 50, 2.0)
    broken = [one | {"valid": False} for one in three(3, 50, 2.0)]
    for runs, verdict in ((good, "reproduced"), (good + broken, "undecided")):
        section.sections(tmp_path, {"runs": runs}, {"figures": [ours.to_json()]})
        (kept,) = json.loads((tmp_path / "figures.json").read_text())["figures"]
        assert kept["claims"][0]["verdict"] == verdict


def test_a_rival_without_a_valid_run_is_not_beaten(tmp_path: Path) -> None:
    """Above the other in one of two places; in the second the other has no valid run."""
    words = 'of.ap.qdisc = "pfifo limit 100"\nthan.ap.qdisc = "pfifo limit 50"\n'
    words = f'[[figure.expect]]\nclaim = "c"\nexpect = "reproduced"\n{words}test = "above others"\n'
    ours = figure(tmp_path, words)
    good = [*three(1, 100, 2.0), *three(1, 50, 1.0), *three(2, 100, 2.0)]
    broken = [one | {"valid": False} for one in three(2, 50, 1.0)]
    for runs, verdict in ((good, "direction only"), (good + broken, "undecided")):
        section.sections(tmp_path, {"runs": runs}, {"figures": [ours.to_json()]})
        (kept,) = json.loads((tmp_path / "figures.json").read_text())["figures"]
        assert kept["claims"][0]["verdict"] == verdict


def test_one_seed_in_common_of_several_decides_nothing(tmp_path: Path) -> None:
    words = 'of.ap.qdisc = "pfifo limit 100"\nthan.ap.qdisc = "pfifo limit 50"\n'
    runs = three(1, 50, 1.0, 1.0, 1.0)
    runs += [run(1, 100, seed, 0.5) for seed in (3, 4, 5)]
    assert claimed(tmp_path, words + 'test = "above others"', runs).verdict == "undecided"


def test_the_report_draws_every_figure_and_keeps_its_numbers(tmp_path: Path) -> None:
    """From a manifest and a summary alone; one page, its pictures inside."""
    more = 'model = "up-down-fairness share n=medium.retry"\nprinted = [{ x = 2, y = 0.4 }]\n'
    more += '[[figure.expect]]\nclaim = "a < b"\ntest = "above 2"\nexpect = "reproduced"\n'
    ours = figure(tmp_path, more)
    runs = three(1, 50, 0.9, 1.0, 1.1) + three(2, 50, 0.5, 0.5, 0.5)
    html = "\n".join(section.sections(tmp_path, {"runs": runs}, {"figures": [ours.to_json()]}))
    assert "<h2>F2: Ratio against attempts</h2>" in html
    assert "<b>contradicted</b><small>expected: reproduced</small>" in html
    assert "a &lt; b" in html and 'src="data:image/svg+xml;base64,' in html
    assert "+25.0%" in html  # 0.5 beside 0.4
    (kept,) = json.loads((tmp_path / "figures.json").read_text())["figures"]
    assert [one["mean"] for one in kept["points"]] == pytest.approx([1.0, 0.5])
    assert kept["claims"][0]["verdict"] == "contradicted"
    rows = (tmp_path / "figure-F2.csv").read_text().splitlines()
    assert rows[0] == "ap.qdisc,medium.retry,mean,low,high,n,up-down-fairness share,printed"
    assert (tmp_path / "figure-F2.png").stat().st_size > 1000
    assert section.sections(tmp_path, {"runs": runs}, {}) == []


def test_a_figure_of_which_nothing_ran_says_so(tmp_path: Path) -> None:
    html = section.sections(tmp_path, {"runs": []}, {"figures": [figure(tmp_path).to_json()]})
    assert "Not run." in html[0]
    assert not (tmp_path / "figure-F2.svg").exists()


def test_a_broken_manifest_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ApbedError, match="run the scenario again"):
        section.sections(tmp_path, {"runs": []}, {"figures": [{"id": "F2"}]})
