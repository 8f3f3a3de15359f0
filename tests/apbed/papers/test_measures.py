# SPDX-License-Identifier: GPL-2.0-only
"""Segments, pings, pages and seeds, against hand computation."""

from __future__ import annotations

from typing import Any

import pytest

from apbed.analysis import response
from apbed.analysis.figures.metrics import OF_RUN
from apbed.analysis.measures import replications, segments
from apbed.analysis.run_directory import FlowTrace
from apbed.scenario.plan import Flow


def connection(way: str, sent: int, retrans: int, received: int | None) -> FlowTrace:
    plan = Flow(id="f", station="sta1", dir=way, start_s=0.0)
    sender = {"segments": sent, "retrans": retrans, "mss": 1000, "bytes": 0}
    receiver = None if received is None else {"segments": received}
    return FlowTrace(plan, receiver=receiver, sender=sender)


def test_loss_is_of_the_segments_sent() -> None:
    """100 of which 90 came, and 50 of which 45: 15 in 150. What one end has not counted is not."""
    traces = [connection("down", 100, 8, 90), connection("down", 50, 4, 45)]
    traces += [connection("down", 70, 70, None), connection("up", 10, 0, 10)]
    found = segments.by_direction(traces)
    assert found["down"]["loss"] == pytest.approx(0.1)
    assert found["down"]["retransmitted_share"] == pytest.approx(0.08)
    assert found["up"] == {
        "sent": 10,
        "received": 10,
        "retransmitted": 0,
        "loss": 0.0,
        "retransmitted_share": 0.0,
    }
    assert segments.by_direction(traces[:3])["up"] is None
    assert segments.of_flow(traces[0])["data_loss"] == pytest.approx(0.1)


def test_pings_are_lost_on_either_way() -> None:
    """Of 10, 8 came there and 5 back: 2 and 3 lost."""
    plan = Flow("p", "sta1", "ping", 0.0, bytes=100, count=10, every_s=0.1)
    trace = FlowTrace(plan, sender={"bytes": 1000}, receiver={"bytes": 500}, turn={"bytes": 800})
    trace.turns, trace.returns = [(9.0, [1000] * 8)], [(9.0, [3000] * 5)]
    found = segments.of_ping(trace, 1.0)
    assert found is not None
    assert (found["lost_up"], found["lost_down"], found["loss"]) == (2, 3, 0.5)
    assert (found["up_ms"]["p50"], found["down_ms"]["p50"]) == (1.0, 3.0)
    nobody = segments.of_ping(FlowTrace(plan, sender={"bytes": 1000}), 1.0)
    assert nobody is not None and (nobody["lost_up"], nobody["loss"]) == (10, 1.0)


def test_the_slowest_pings_median_counts() -> None:
    """Not that of other datagrams. If half of them are lost, the median is not known."""
    flows: list[dict[str, Any]] = [
        {"dir": way, "delay_ms": {"p50": p50}} for way, p50 in (("ping", 30.0), ("ping", 37.0))
    ]
    others = [{"dir": "pulse", "delay_ms": {"p50": 99.0}}, {"dir": "ping", "delay_ms": None}]
    median = OF_RUN["ping_ms"]
    assert median({"flows": [*flows, *others]}) == 37.0
    assert median({"flows": others}) is None
    assert median({"flows": [*flows, {"dir": "ping", "delay_ms": {"p50": None}}]}) is None


def object_of(page: int, number: int, start_s: float | None, end_s: float | None) -> FlowTrace:
    plan = Flow(f"sta1-file-{page}.{number}", "sta1", "down", 0.0, bytes=10)
    if start_s is None:
        return FlowTrace(plan)
    return FlowTrace(plan, receiver={"start_s": start_s, "end_s": end_s, "error": None})


def test_a_page_takes_until_its_last_object() -> None:
    """From the first SYN; one that was not asked for is no page, one that did not end is open."""
    traces = [object_of(1, 1, 5.0, 6.0), object_of(1, 2, 5.0, 6.5)]
    traces += [object_of(2, 1, 7.0, 9.0), object_of(2, 2, 7.0, None), object_of(3, 1, None, None)]
    pages = response.fetched_pages(traces, 4.0, 0)
    assert [(one["id"], one["bytes"], one["start_s"], one["response_s"]) for one in pages] == [
        ("sta1-file-1", 20, 1.0, 1.5),
        ("sta1-file-2", 20, 3.0, None),
    ]
    assert [one["id"] for one in response.fetched_pages(traces, 4.0, 1)] == ["sta1-file-2"]


def test_starved_sizes_stand_apart() -> None:
    def one(size: int, took_s: float | None) -> dict[str, Any]:
        one = {"id": "t", "dir": "up", "bytes": size, "start_s": 0.0, "response_s": took_s}
        return one | {"gave_up": False}

    found = response.by_direction([one(10, 1.0), one(20, 2.0), one(5000, None)])["up"]
    assert (found["completed_bytes"]["n"], found["completed_bytes"]["max"]) == (2, 20)
    assert (found["starved_bytes"]["n"], found["starved_bytes"]["p50"]) == (1, 5000)
    assert [entry["percent"] for entry in found["by_percentile"]] == pytest.approx(
        [100 / 6, 50, 500 / 6]
    )


def run(qdisc: str, seed: int, total: float, *, valid: bool = True) -> dict[str, Any]:
    params = {"qdisc": qdisc, "seed": seed}
    return {"params": params, "valid": valid, "goodput_mbps": {"total": total}}


def test_an_interval_is_students() -> None:
    """1, 2, 3: s = 1, t(0.975, 2) = 4.303 (any table), so 2 +- 4.303 / sqrt(3)."""
    assert replications.interval([1.0, 2.0, 3.0]) == {
        "n": 3,
        "mean": 2.0,
        "half_width_95": pytest.approx(4.303 / 3**0.5, rel=1e-3),
    }
    assert replications.interval([5.0])["half_width_95"] is None


def test_seeds_are_paired() -> None:
    """The second is always 1 more, whatever the seed: no width at all. Invalid runs are out."""
    runs = [run("a", seed, 10.0 * seed) for seed in (1, 2, 3)]
    runs += [run("b", seed, 10.0 * seed + 1) for seed in (1, 2, 3)]
    runs.append(run("b", 4, 99.0, valid=False))
    (pair,) = replications.paired(runs)
    assert (pair["first"], pair["second"]) == ({"qdisc": "a"}, {"qdisc": "b"})
    difference = pair["figures"]["goodput_mbps.total"]
    assert (difference["n"], difference["mean"], difference["half_width_95"]) == (3, 1.0, 0.0)
    points = replications.over_seeds(runs)
    assert [point["figures"]["goodput_mbps.total"]["mean"] for point in points] == [20.0, 21.0]
