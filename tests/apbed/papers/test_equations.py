# SPDX-License-Identifier: GPL-2.0-only
"""`apbed model PAPER EQUATION`: printed numbers, identities, limits; what the command does."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from apbed.cli import main
from apbed.errors import ApbedError
from apbed.papers import bianchi, equations, flow_sizes
from apbed.papers.equation import Equation, Printed
from apbed.papers.phy import HRDSSS_11

# http-queueing numbers 1 to 17 and A.1 to A.3; layer2-layer3 1 and 2; ack-skipping 1.
NUMBERED = {
    "http-queueing": [*(str(number) for number in range(1, 18)), "A.1", "A.2", "A.3"],
    "layer2-layer3": ["1", "2"],
    "ack-skipping": ["1"],
}
EXCHANGES_S = (1050 + 8592 / 11 + 1050 + 592 / 11) * 1e-6  # section 2.3, a segment and an ACK
L = 8000  # bits of a segment


def first(paper: str, number: str, **values: float) -> float:
    """The first figure of an equation."""
    return equations.find(paper, number).at(values)[0]


def http(number: str, **values: float) -> float:
    return first("http-queueing", number, **values)


@pytest.mark.parametrize("paper", NUMBERED)
def test_every_numbered_equation_is_there(paper: str) -> None:
    numbers = [one.number for one in equations.of_paper(paper)]
    assert set(NUMBERED[paper]) <= set(numbers)
    assert len(numbers) == len(set(numbers))


PRINTED = [(equation, one) for equation in equations.EQUATIONS for one in equation.printed]


@pytest.mark.parametrize(
    ("equation", "one"), PRINTED, ids=[f"{equation.name}: {one.value}" for equation, one in PRINTED]
)
def test_what_the_paper_prints_comes_out(equation: Equation, one: Printed) -> None:
    """To the printed digits; section VII-B's shares of bytes are said in words, to 2 points."""
    ours = equation.at(one.at)[one.figure]
    if equation.paper == "layer2-layer3":
        assert ours == pytest.approx(one.value, abs=0.02)
    else:  # ack-skipping cuts 17.69 % off to 17.6 %
        assert abs(ours - one.value) < 10**-one.digits


def test_no_printed_number_is_left_out() -> None:
    assert [(equation.name, one.value) for equation, one in PRINTED] == [
        ("http-queueing 2", 0.060),
        ("http-queueing 6", 0.060),
        ("layer2-layer3 1", 0.4),
        ("layer2-layer3 2", 0.8),
        ("ack-skipping 1", 0.03),
        ("ack-skipping 1", 0.176),
    ]


@pytest.mark.parametrize("equation", equations.EQUATIONS, ids=lambda one: one.name)
def test_every_equation_has_a_table(equation: Equation) -> None:
    rows = equation.table({})
    assert rows
    width = len(equation.parameters) + len(equation.figures)
    assert all(len(row) == width and all(map(math.isfinite, row)) for row in rows)


def test_equation_1_without_collisions_is_half_a_window() -> None:
    """31 / 2 slots of 20 us; and by the sum over the stages, eq. 1's origin, in general."""
    assert http("1", p=0) == pytest.approx(0.310)
    p, windows = 0.3, [32 << min(stage, 5) for stage in range(7)]
    drawn = sum(p**stage * (1 - p) * (window - 1) / 2 for stage, window in enumerate(windows))
    assert http("1", p=p) == pytest.approx(0.020 * drawn)


def test_equation_2_is_a_fixed_point() -> None:
    for n in (2, 5, 20):
        p, backoff_ms = equations.find("http-queueing", "2").at({"n": n})
        assert p == pytest.approx(1 - (1 - 0.020 / backoff_ms) ** (n - 1), rel=1e-9)
        assert http("P_drop", n=n) == pytest.approx(p**7)
    assert http("6") == pytest.approx(http("2", n=2))
    assert http("2", n=1) == 0


def test_equations_3_to_5_by_hand() -> None:
    """DIFS 50, the PLCP 192, RTS 90 and SIFS 10 us around T_b; geometric collisions."""
    for n in (2, 10):
        p, backoff_ms = equations.find("http-queueing", "2").at({"n": n})
        assert http("3", n=n) == pytest.approx(backoff_ms + 0.342)
        series = sum(k * (1 - p) * p**k for k in range(500))
        assert http("4", n=n) == pytest.approx(http("3", n=n) * series)
        attempts = sum(k * (1 - p) * p ** (k - 1) for k in range(1, 500))
        assert http("5", n=n) == pytest.approx(backoff_ms / n * attempts)


def test_equations_7_8_10_and_12_agree_where_they_meet() -> None:
    assert http("8", d=1) == pytest.approx(http("7"))
    assert http("10", n_c=1) == pytest.approx(http("7"))
    for n_c in (1, 2, 10):
        assert http("12", n_c=n_c, d=1) == pytest.approx(http("10", n_c=n_c))
        assert http("11", n_c=n_c, d=1, k=2) == pytest.approx(http("9", n_c=n_c, k=2))
        both = equations.find("http-queueing", "12").at({"n_c": n_c, "d": 3})
        assert both[1] == pytest.approx(n_c * both[0])


def test_equation_8_has_the_slot_time() -> None:
    """Without ACKs a segment costs its exchange and 310 us; as printed it would cost 15.5 s."""
    alone_s = (1050 + 8592 / 11 + 310) * 1e-6
    assert http("8", d=100) < L / alone_s / 1e6
    assert http("8", d=100) == pytest.approx(L / alone_s / 1e6, rel=0.02)


def test_equation_9_is_binomial() -> None:
    """Many connections: Poisson, e^-1 / (k - 1)!; and they sum to 1."""
    for k in (1, 2, 3):
        assert http("9", n_c=100, k=k) == pytest.approx(math.exp(-1) / math.factorial(k - 1), 0.02)
    assert sum(http("11", n_c=5, d=3, k=k) for k in range(1, 7)) == pytest.approx(1)


def test_equation_13_by_hand() -> None:
    """Twice DIFS, PLCP, 310 us, 320 bits at 11 Mb/s, SIFS, PLCP, 112 bits at 2 Mb/s."""
    assert http("13") == pytest.approx(2 * (50 + 192 + 310 + 320 / 11 + 10 + 192 + 56) / 1000)


def test_equation_15_is_14_of_whole_segments() -> None:
    for kb in (1, 30):
        assert http("14", size_kb=kb) == pytest.approx(http("15", mean_kb=kb))


def chain_of_stations(n: int, think_s: float, mean_bits: float) -> tuple[np.ndarray, float]:
    """Fig. 7 by its generator matrix: the stationary distribution, and the rate of arrivals."""
    states, rates = n, [0.0]
    for k in range(1, n):
        rates.append(1e6 * http("10", n_c=k) * k / mean_bits)
    generator = np.zeros((states, states))
    for k in range(states):
        if k < n - 1:
            generator[k, k + 1] = (n - 1 - k) / think_s
        if k:
            generator[k, k - 1] = rates[k]
        generator[k, k] = -generator[k].sum()
    balance = np.vstack([generator.T, np.ones(states)])
    pi, *_ = np.linalg.lstsq(balance, np.append(np.zeros(states), 1.0), rcond=None)
    return pi, float(sum(weight * (n - 1 - k) / think_s for k, weight in enumerate(pi)))


@pytest.mark.parametrize("n", [2, 11, 31])
def test_equations_16_and_17_solve_the_chain_of_figure_7(n: int) -> None:
    pi, arrivals = chain_of_stations(n, 10.0, 240_000)
    for k, weight in enumerate(pi):
        assert http("16", n=n, k=k) == pytest.approx(weight, rel=1e-6, abs=1e-12)
    active = sum(k * weight for k, weight in enumerate(pi))
    assert http("17", n=n) == pytest.approx(http("13") / 1000 + active / arrivals, rel=1e-6)


def test_equation_17_as_the_issue_has_it() -> None:
    """Worked out beforehand: 0.113 s with 11 nodes, 0.145 s with 31."""
    assert round(http("17", n=11), 3) == 0.113
    assert round(http("17", n=31), 3) == 0.145


def test_appendix() -> None:
    """A.1 sums to 1 and is half as likely at its ends; A.2 is A.3; 2.25 to 2.37 Mb/s, rising."""
    for w in (1, 4, 50):
        pi = [http("A.1", w=w, alpha=alpha) for alpha in range(w + 1)]
        assert sum(pi) == pytest.approx(1)
        assert pi[0] == pi[w] == pytest.approx(1 / (2 * w))
        assert http("A.2", w=w) == pytest.approx(http("A.3", w=w), rel=1e-12)
        mbps, phi_ms = equations.find("http-queueing", "A.3").at({"w": w})
        assert mbps == pytest.approx(L / (EXCHANGES_S + phi_ms / 1000) / 1e6)
    assert round(http("A.3", w=1), 2) == 2.25
    assert round(http("A.3", w=10**9), 2) == 2.37
    assert http("A.3", w=10**9) == pytest.approx(http("7"))
    assert http("W*=d", d=1) == pytest.approx(http("A.3", w=1))
    # Nobody sends ACKs: eq. 8's and W*=d's limits are one.
    assert http("W*=d", d=100) == pytest.approx(http("8", d=100), rel=0.01)


def test_sizes_of_layer2_layer3() -> None:
    """Section IV-A: mean 40, CoV close to 6 and 1; F from 0 to 1; f is F's slope."""
    assert flow_sizes.pareto(6).variation == pytest.approx(6, abs=0.1)
    assert flow_sizes.exponential(6).variation == pytest.approx(34 / 40, rel=1e-3)
    for distribution in (flow_sizes.pareto, flow_sizes.exponential):
        assert distribution(6).below == pytest.approx(0, abs=1e-12)
        end = distribution(13_000)
        assert (end.below, end.bytes_below) == pytest.approx((1, 1))
        slope = (distribution(51).below - distribution(49).below) / 2
        assert distribution(50).density == pytest.approx(slope, rel=2e-3)


def test_bianchi_without_a_limit_is_his_equation_7() -> None:
    """tau = 2 (1 - 2p) / ((1 - 2p)(W + 1) + p W (1 - (2p)^m)), W = 32, m = 5."""
    p = 0.2
    rest = 1 - 2 * p
    printed = 2 * rest / (rest * 33 + p * 32 * (1 - (2 * p) ** 5))
    assert bianchi.attempt_probability(p, HRDSSS_11.windows(60)) == pytest.approx(printed)
    assert first("bianchi", "7", p=0) == pytest.approx(2 / 33)
    p, tau = equations.find("bianchi", "9").at({"n": 10})
    assert p == pytest.approx(1 - (1 - tau) ** 9)
    assert tau == pytest.approx(first("bianchi", "7", p=p))
    assert first("bianchi", "13", n=10) == bianchi.saturation(10, 1000, eifs=False).throughput_mbps


def test_equal_turns_are_one_to_n() -> None:
    assert first("up-down-fairness", "share", n=4) == 1 / 4


def test_the_command_prints_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["model", "ack-skipping", "1", "--set", "flows=[1, 3]"]) == 0
    out = capsys.readouterr().out
    assert "| 3 | 32 | 0.17694 |" in out
    assert "300ms" in out
    assert main(["model", "http-queueing"]) == 0
    assert all(f"| {one} |" in capsys.readouterr().out for one in ("A.3",))


def test_the_command_prints_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["model", "http-queueing", "6", "--json"]) == 0
    table = json.loads(capsys.readouterr().out)
    assert (table["paper"], table["equation"], table["columns"]) == ("http-queueing", "6", ["P_C"])
    assert round(table["rows"][0][0], 3) == 0.060
    assert table["printed"][0]["printed"] == 0.060
    assert main(["model", "bianchi", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["equations"]) == 3


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["http-queueing", "18"], "http-queueing has no equation '18'"),
        (["http-queueing", "8", "--set", "x=1"], "no parameter 'x'; it has: d"),
        (["http-queueing", "8", "--set", "d=0"], "d = 0: expected 1 to 100"),
        (["http-queueing", "8", "--set", "d=1.5"], "d = 1.5: expected a whole number"),
        (["http-queueing", "8", "--set", "d=inf"], "d = inf: expected 1 to 100"),
        (["http-queueing", "8", "--set", "d=nan"], "d = nan: expected 1 to 100"),
        (["http-queueing", "A.1", "--set", "w=1000000000"], "w = 1e+09: expected 1 to 1e+06"),
        (["http-queueing", "A.2", "--set", "w=1000000000"], "w = 1e+09: expected 1 to 1e+06"),
        (["http-queueing", "8", "--set", f"d={10**400}"], "expected NAME=NUMBER"),
        (["http-queueing", "8", "--set", "d=two"], "--set d=two: expected NAME=NUMBER"),
        (["http-queueing", "8", "--set", "d=[]"], "--set d=[]: expected NAME=NUMBER"),
        (["http-queueing", "--set", "d=1"], "--set: expected an EQUATION, too"),
        (["bianchi", "--beside", "out/none"], "bianchi: nothing is compared"),
    ],
)
def test_the_command_refuses(
    words: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["model", *words]) == 1
    assert why in capsys.readouterr().err


def test_a_directory_without_runs_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["model", "http-queueing", "--beside", str(tmp_path)]) == 1
    assert "no summary" in capsys.readouterr().err


def test_no_such_paper() -> None:
    with pytest.raises(ApbedError, match="no paper 'http-queuing'; did you mean 'http-queueing'"):
        equations.find("http-queuing", "1")
