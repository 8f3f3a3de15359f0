# SPDX-License-Identifier: GPL-2.0-only
"""QUIC-like flows: from the scenario to flowgen's command, and counted like TCP's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from apbed.analysis import metrics
from apbed.analysis.measures import segments
from apbed.analysis.run_directory import FlowTrace
from apbed.errors import ApbedError
from apbed.scenario import parse
from apbed.scenario.plan import Flow, Plan
from guest.addresses import PORT
from guest.traffic import flow_words
from tests.apbed import fabricated_run as fabricated

CELL = """
schema = 1
name = "cell"
title = "a QUIC upload"
duration_s = 10
[ap]
qdisc = "fq_codel"
[station]
count = 1
[[flow]]
id = "one"
station = "sta1"
dir = "quic_up"
"""


def flow(tmp_path: Path, *settings: str, more: str = "", way: str = "quic_up") -> Flow:
    path = tmp_path / "cell.toml"
    path.write_text(CELL.replace("quic_up", way) + more)
    plan = parse.load(path, settings).runs[0].plan
    assert Plan.from_json(plan.to_json()) == plan
    return plan.flows[0]


def test_a_flow_is_a_connection_of_its_direction(tmp_path: Path) -> None:
    """It lasts to the end and has datagrams of 1200 bytes unless the scenario says otherwise."""
    assert flow(tmp_path) == Flow("one", "sta1", "up", 0.0, seconds=10.0, quic_bytes=1200)
    found = flow(tmp_path, "quic.window=300000", more="start_s = 4\nbytes = 1400", way="quic_down")
    assert found == Flow(
        "one", "sta1", "down", 4.0, seconds=6.0, quic_bytes=1400, quic_window=300000
    )
    assert flow(tmp_path, "datagrams.bytes=800").quic_bytes == 800


def test_its_command(tmp_path: Path) -> None:
    found = flow(tmp_path, "quic.window=300000")
    assert flow_words("flowgen", found, "10.0.0.1", 5.0, "out") == (
        f"flowgen quic --id one --host 10.0.0.1 --port {PORT} --start-at 5.000000000 --out out "
        "--bytes 1200 --window 300000 --dir up --seconds 10.0"
    ).split(" ")


@pytest.mark.parametrize(
    ("more", "line"),
    [
        ("bytes = 100", "bytes = 100: expected 256 to 65507 with 'quic_up'"),
        ("bytes = 70000", "bytes = 70000: expected 256 to 65507 with 'quic_up'"),
        ("rate_mbps = 1", "rate_mbps: expected only with dir = udp"),
        ("late_s = 1", "late_s: expected only for datagrams"),
        ("start_s = 10", "it would start after the end of the run"),
    ],
)
def test_what_it_cannot_have(tmp_path: Path, more: str, line: str) -> None:
    with pytest.raises(ApbedError) as refused:
        flow(tmp_path, more=more)
    assert str(refused.value).startswith(f"cell.toml: flow 1: {line}")


def test_its_datagrams_are_no_tcp_segments() -> None:
    """They have a loss of their own, and none in the sums of TCP."""
    plan = Flow("one", "sta1", "up", 0.0, seconds=10.0, quic_bytes=1200)
    sender = {"segments": 100, "retrans": 5, "mss": 1168}
    trace = FlowTrace(plan, receiver={"segments": 90}, sender=sender)
    assert segments.by_direction([trace]) == {"down": None, "up": None}
    assert segments.of_flow(trace) == {
        "data_loss": pytest.approx(0.1),
        "retransmitted_share": pytest.approx(0.05),
    }


def test_its_goodput_counts_like_tcps(tmp_path: Path) -> None:
    """The same records give the same ratio and index whether up1 is TCP's or not."""
    run = fabricated.run_directory(tmp_path / "runs" / "one")
    tcp = metrics.measure(run)
    path = run / "run.json"
    table = json.loads(path.read_text())
    for one in table["plan"]["flows"]:
        if one["dir"] == "up":
            one["quic_bytes"] = 1200
    path.write_text(json.dumps(table))
    found = metrics.measure(run)
    assert {one["id"]: one["quic"] for one in found["flows"] if one["quic"]} == {
        one["id"]: True for one in found["flows"] if one["dir"] == "up"
    }
    for figure in ("ratio_down_up", "jain", "goodput_mbps", "second_by_second"):
        assert found[figure] == tcp[figure] and found[figure] is not None
