# SPDX-License-Identifier: GPL-2.0-only
"""Every numbered equation of the papers, and the few figures they state without a number.

Principle: the functions stand in the modules of their papers; here each gets its number, the
meaning and the unit of what goes in and comes out, what the paper prints for it, and how the
printed text is wrong where it is. channel-errors has no equation.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from dataclasses import replace

from apbed.errors import ApbedError
from apbed.papers import bianchi, flow_sizes, http_queueing, simultaneous_send
from apbed.papers.equation import Answer, Equation, Parameter, Printed
from apbed.papers.phy import HRDSSS_11

MBPS = "Mb/s"
NODES = Parameter("backlogged nodes", (1, 2, 3, 5, 10, 20, 30), 1, 100)
CONNECTIONS = Parameter("connections", (1, 2, 3, 5, 10, 15, 20), 1, 100)
EVERY = Parameter("segments per ACK", (1, 2, 3, 4, 5, 6, 7, 8, 9), 1, 100)
WINDOW = Parameter("largest window W*, segments", (1, 2, 3, 4, 5, 10, 20, 50, 1000), 1, 10**9)
# A.1 and A.2 have a state for each; TCP's largest window, 2^30 bytes, has 735,000 of 1460 bytes.
WINDOW_OF_CHAIN = replace(WINDOW, high=10**6)
NODES_IN_CELL = Parameter("nodes, with the access point", (11, 16, 21, 26, 31), 2, 100)
THINK = Parameter("mean think time, s", (10.0,), 0.001, 1e6, whole=False)
MEAN_KB = Parameter("mean size, kB", (30.0,), 0.001, 1e6, whole=False)
SEGMENTS = Parameter(
    "size, segments of 1500 bytes", (6, 10, 20, 40, 100, 246, 1000, 5139), 6, 13000
)

RTS_BITS = (
    "L_RTS is printed as 180 bits; the standard's RTS has 160. Computed with 180, as printed."
)
MUCH_LESS = "The text's replacement character is 'much larger than' (W* >> d)."
MENDED_WINDOW = "2 gamma CWmin in section 2.1 is 2^gamma CWmin: 1024 with Table 1's gamma = 5."


def _mbps(bits_per_second: float) -> Answer:
    return (bits_per_second / 1e6,)


def _ms(seconds: float) -> Answer:
    return (1e3 * seconds,)


def _fixed_point(n: int) -> Answer:
    p = bianchi.collision_probability(n)
    return (p, 1e3 * http_queueing.mean_backoff_s(p))


def _wasted(n: int) -> Answer:
    return _ms(http_queueing.contention(n).wasted_s)


def _backoff(n: int) -> Answer:
    return _ms(http_queueing.contention(n).backoff_s)


def _state(k: int, probabilities: list[float], first: int) -> Answer:
    """One entry of a distribution over `first`, `first` + 1...; nothing lies beyond its end."""
    place = k - first
    return (probabilities[place] if 0 <= place < len(probabilities) else 0.0,)


def _size(point: flow_sizes.Point) -> Answer:
    parts = (point.below, point.bytes_below, point.density, point.variation, point.parameter)
    return tuple(parts)


def _saturation(n: int) -> bianchi.Saturation:
    return bianchi.saturation(n, 1000, eifs=False)


def _http(
    number: str,
    meaning: str,
    figures: tuple[str, ...],
    parameters: dict[str, Parameter],
    solve: Callable[..., Answer],
    repaired: str = "",
    printed: tuple[Printed, ...] = (),
) -> Equation:
    return Equation("http-queueing", number, meaning, parameters, figures, solve, repaired, printed)


HTTP_QUEUEING = (
    _http(
        "1",
        "mean backoff T_b, if an attempt collides with probability p",
        ("T_b, ms",),
        {"p": Parameter("collision probability", (0.0, 0.06, 0.2, 0.4), 0, 0.99, whole=False)},
        lambda p: _ms(http_queueing.mean_backoff_s(p)),
        MENDED_WINDOW,
    ),
    _http(
        "2",
        "collision probability P_C of n backlogged nodes, with eq. 1 (Fig. 1)",
        ("P_C", "T_b, ms"),
        {"n": NODES},
        _fixed_point,
        printed=(Printed({"n": 2}, 0.060, 3, "section 3.1"),),
    ),
    _http(
        "P_drop",
        "probability that a frame is dropped, P_C^m (Fig. 2; no number)",
        ("P_drop",),
        {"n": NODES},
        lambda n: (http_queueing.drop_probability(n),),
    ),
    _http(
        "3",
        "time lost in a collision, T_coll",
        ("T_coll, ms",),
        {"n": NODES},
        lambda n: _ms(http_queueing.collision_s(n)),
        "T_coll contains T_b, and eqs. 7 to 12 add T_tbo, so a collision's backoff is counted "
        "twice. Computed as printed. " + RTS_BITS,
    ),
    _http(
        "4",
        "time a delivered packet loses in collisions, T_W",
        ("T_W, ms",),
        {"n": NODES},
        _wasted,
    ),
    _http(
        "5",
        "time a delivered packet spends in backoff, T_tbo",
        ("T_tbo, ms",),
        {"n": NODES},
        _backoff,
    ),
    _http(
        "6",
        "collision probability of two backlogged nodes",
        ("P_C",),
        {},
        lambda: (bianchi.collision_probability(2),),
        printed=(Printed({}, 0.060, 3, "section 3.1"),),
    ),
    _http(
        "7",
        "throughput of one download, an ACK for each segment",
        (MBPS,),
        {},
        lambda: _mbps(http_queueing.single(1)),
        RTS_BITS,
    ),
    _http(
        "8",
        "throughput of one download, an ACK for d segments (Fig. 3)",
        (MBPS,),
        {"d": EVERY},
        lambda d: _mbps(http_queueing.single(d)),
        "The last term, (CWmin - 1)/2, lacks T_slot; computed with it. " + MUCH_LESS,
    ),
    _http(
        "9",
        "probability that k of n_c connections' nodes and the access point are backlogged",
        ("pi_k",),
        {"n_c": CONNECTIONS, "k": Parameter("backlogged nodes", (1, 2, 3, 4), 1, 101)},
        lambda n_c, k: _state(k, http_queueing.backlogged(n_c), 1),
    ),
    _http(
        "10",
        "throughput of each of n_c downloads, an ACK for each segment; all (Fig. 5)",
        (MBPS, "all, Mb/s"),
        {"n_c": CONNECTIONS},
        lambda n_c: (http_queueing.each(n_c) / 1e6, n_c * http_queueing.each(n_c) / 1e6),
    ),
    _http(
        "11",
        "as eq. 9, an ACK for d segments",
        ("pi_k",),
        {"n_c": CONNECTIONS, "d": EVERY, "k": Parameter("backlogged nodes", (1, 2, 3), 1, 101)},
        lambda n_c, d, k: _state(k, http_queueing.backlogged(n_c, d), 1),
        "beta in the derivation (beta = (d+1)/d) is zeta.",
    ),
    _http(
        "12",
        "throughput of each of n_c downloads, an ACK for d segments; all (Fig. 6)",
        (MBPS, "all, Mb/s"),
        {"n_c": CONNECTIONS, "d": EVERY},
        lambda n_c, d: (
            http_queueing.each(n_c, d) / 1e6,
            n_c * http_queueing.each(n_c, d) / 1e6,
        ),
    ),
    _http(
        "13",
        "mean time of a connection's set-up",
        ("E[T_setup], ms",),
        {},
        lambda: _ms(http_queueing.setup_s()),
    ),
    _http(
        "14",
        "time of one transfer alone, W* = 1 (Table 2: its mean over Pareto sizes)",
        ("E[T_session], s",),
        {
            "size_kb": Parameter(
                "size, kB", (1.0, 10.0, 30.0, 100.0, 1000.0), 0.001, 1e7, whole=False
            )
        },
        lambda size_kb: (http_queueing.session_s(8000 * size_kb),),
        "The text starts from 'the maximum congestion window has a negligible impact'; eq. A.3 "
        "gives W* = 1 5 % less throughput than a large W*. " + MUCH_LESS,
    ),
    _http(
        "15",
        "the same for a mean size",
        ("E[T_session], s",),
        {"mean_kb": MEAN_KB},
        lambda mean_kb: (http_queueing.mean_session_s(8000 * mean_kb),),
    ),
    _http(
        "16",
        "probability that k of the n - 1 stations download (Fig. 7's chain)",
        ("pi_k",),
        {
            "n": NODES_IN_CELL,
            "k": Parameter("downloads at once", (0, 1, 2, 3), 0, 100),
            "think_s": THINK,
            "mean_kb": MEAN_KB,
        },
        lambda n, k, think_s, mean_kb: _state(
            k, http_queueing.active(n - 1, think_s, 8000 * mean_kb), 0
        ),
    ),
    _http(
        "17",
        "mean time of a transfer among the n - 1 stations' (Figs. 8 and 9)",
        ("E[T_session], s",),
        {"n": NODES_IN_CELL, "think_s": THINK, "mean_kb": MEAN_KB},
        lambda n, think_s, mean_kb: (
            http_queueing.concurrent_session_s(n - 1, think_s, 8000 * mean_kb),
        ),
        "The rate of arrivals is printed as lambda sum (k + 1) pi_k; those who may begin while k "
        "are active are n - 1 - k, as in Fig. 7 and eq. 16. Computed with these.",
    ),
    _http(
        "A.1",
        "probability that alpha of W* segments wait at the sender (Fig. A.1's chain)",
        ("pi",),
        {"w": WINDOW_OF_CHAIN, "alpha": Parameter("segments at the sender", (0, 1, 2), 0, 10**6)},
        lambda w, alpha: _state(alpha, http_queueing.chain(w), 0),
    ),
    _http(
        "A.2",
        "throughput of one download limited to W* segments, summed over A.1's states",
        (MBPS,),
        {"w": WINDOW_OF_CHAIN},
        lambda w: _mbps(http_queueing.capped_by_chain(w)),
    ),
    _http(
        "A.3",
        "the same in closed form; phi(W*) of Fig. A.2",
        (MBPS, "phi, ms"),
        {"w": WINDOW},
        lambda w: (http_queueing.capped(w) / 1e6, 1e3 * http_queueing.resolution_s(w)),
        "'Negligible impact of W*' in section 4.1 contradicts this equation.",
    ),
    _http(
        "W*=d",
        "throughput of one download with W* = d, Fig. A.3's other curve (no number)",
        (MBPS,),
        {"d": EVERY},
        lambda d: _mbps(http_queueing.in_turns(d)),
        "The text says only that the analysis 'may be extended'. With W* = d the two nodes take "
        "turns and never meet.",
    ),
)

SIZE_FIGURES = ("F(x)", "share of bytes", "f(x), 1/MSS", "CoV")
MEASURED_IN = "The density lacks its truncation to 6 to 13,000 segments; MSS here is a whole packet"
LAYER2_LAYER3 = (
    Equation(
        "layer2-layer3",
        "1",
        "Pareto sizes, mean 40 segments (Fig. 2)",
        {"x": SEGMENTS},
        (*SIZE_FIGURES, "alpha"),
        lambda x: _size(flow_sizes.pareto(x)),
        f"{MEASURED_IN} of 1500 bytes. alpha is not printed; the mean gives it.",
        (Printed({"x": 100}, 0.40, 1, "section VII-B", figure=1),),
    ),
    Equation(
        "layer2-layer3",
        "2",
        "exponential sizes, mean 40 segments (Fig. 2)",
        {"x": SEGMENTS},
        (*SIZE_FIGURES, "1/mu, MSS"),
        lambda x: _size(flow_sizes.exponential(x)),
        f"{MEASURED_IN} of 1500 bytes.",
        (Printed({"x": 100}, 0.80, 1, "section VII-B", figure=1),),
    ),
)

ACK_SKIPPING = (
    Equation(
        "ack-skipping",
        "1",
        "probability that two of N + 1 nodes choose the same of CW slots",
        {
            "flows": Parameter("uploads at once", (1, 2, 3), 1, 50),
            "slots": Parameter("slots of the window", (32,), 1, 1024),
        },
        ("probability",),
        lambda flows, slots: (simultaneous_send.same_slot_probability(flows, slots),),
        "'300ms' of backoff in section 4.3 is 310 us.",
        (
            Printed({"flows": 1, "slots": 32}, 0.03, 2, "section 2"),
            Printed({"flows": 3, "slots": 32}, 0.176, 3, "section 2"),
        ),
    ),
)

NO_LIMIT = "Bianchi's stations never give a frame up; computed with 7 attempts (Wu, 2002)."
BIANCHI = (
    Equation(
        "bianchi",
        "7",
        "probability that a station begins in a slot, if an attempt collides with p",
        {"p": Parameter("collision probability", (0.0, 0.1, 0.3), 0, 0.99, whole=False)},
        ("tau",),
        lambda p: (bianchi.attempt_probability(p, HRDSSS_11.windows(bianchi.ATTEMPTS)),),
        NO_LIMIT,
    ),
    Equation(
        "bianchi",
        "9",
        "collision probability of n saturated stations, with eq. 7",
        {"n": NODES},
        ("p", "tau"),
        lambda n: (_saturation(n).collision_probability, _saturation(n).attempt_probability),
    ),
    Equation(
        "bianchi",
        "13",
        "saturation throughput of n stations, 1000 bytes, 802.11b",
        {"n": NODES},
        (MBPS,),
        lambda n: (_saturation(n).throughput_mbps,),
    ),
)

UP_DOWN_FAIRNESS = (
    Equation(
        "up-down-fairness",
        "share",
        "downloads' over uploads' goodput, if access point and n stations send equally often",
        {"n": Parameter("uploading stations", (1, 2, 4), 1, 100)},
        ("ratio",),
        lambda n: (1 / n,),
        "Section III prints 1:(n+1) between downloads and uploads; the access point is one of "
        "n + 1 that send, so it is 1:n.",
    ),
)

EQUATIONS: tuple[Equation, ...] = (
    *HTTP_QUEUEING,
    *LAYER2_LAYER3,
    *ACK_SKIPPING,
    *UP_DOWN_FAIRNESS,
    *BIANCHI,
)
PAPERS = tuple(dict.fromkeys(one.paper for one in EQUATIONS))


def of_paper(paper: str) -> list[Equation]:
    """A paper's equations, in its order."""
    return [one for one in EQUATIONS if one.paper == paper]


def find(paper: str, number: str) -> Equation:
    """One equation; ApbedError if the paper has none of that number."""
    found = {one.number: one for one in of_paper(paper)}
    if not found:
        raise ApbedError(f"no paper {paper!r}{_nearest(paper, PAPERS)}")
    if number not in found:
        raise ApbedError(f"{paper} has no equation {number!r}{_nearest(number, found)}")
    return found[number]


def _nearest(word: str, known: Iterable[str]) -> str:
    names = list(known)
    close = difflib.get_close_matches(word, names, n=1)
    return f"; did you mean {close[0]!r}?" if close else f"; known: {', '.join(names)}"
