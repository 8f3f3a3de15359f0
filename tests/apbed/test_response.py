# SPDX-License-Identifier: GPL-2.0-only
"""Response times by direction and size, against hand computation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from apbed.analysis import metrics, response, validity
from apbed.analysis.run_directory import FlowTrace
from apbed.scenario.plan import Flow
from tests.apbed import fabricated_run as fabricated


def transfer(size: int, seconds: float | None, direction: str = "down") -> dict[str, Any]:
    """A transfer as `sized_transfers` gives it."""
    return {
        "id": "t",
        "dir": direction,
        "bytes": size,
        "start_s": 0.0,
        "response_s": seconds,
        "gave_up": False,
    }


def test_distribution_by_hand() -> None:
    """On the line between ranks: of 0..10 s the 10th percentile is 1, the 99th 9.9."""
    ended = [transfer(9000, float(seconds)) for seconds in (3, 1, 2, 0, 4, 5, 7, 6, 8, 10, 9)]
    found = response.distribution([*ended, transfer(9000, None), transfer(9000, None)])
    assert found == {
        "n": 11,
        "unfinished": 2,
        "mean": 5.0,
        "p10": 1.0,
        "p50": 5.0,
        "p90": 9.0,
        "p99": pytest.approx(9.9),
        "spread_90_10": 8.0,
    }
    none = response.distribution([transfer(9000, None)])
    assert (none["n"], none["unfinished"]) == (0, 1)
    assert all(none[key] is None for key in ("mean", "p10", "p50", "p90", "p99"))


def test_classes_begin_at_their_lower_bound() -> None:
    """99,999 bytes are under 100 kB, 100,000 are not; a direction sees only its own."""
    found = response.by_direction(
        [
            transfer(99_999, 1.0),
            transfer(100_000, 2.0),
            transfer(999_999, 4.0),
            transfer(1_000_000, None),
            transfer(50_000, 8.0, "up"),
        ]
    )
    sizes = found["down"]["by_size"]
    assert list(sizes) == ["under_100kB", "100kB_to_1MB", "from_1MB"]
    assert [entry["n"] for entry in sizes.values()] == [1, 2, 0]
    assert [entry["unfinished"] for entry in sizes.values()] == [0, 0, 1]
    assert [entry["mean"] for entry in sizes.values()] == [1.0, 3.0, None]
    assert (found["down"]["n"], found["down"]["unfinished"]) == (3, 1)
    assert found["up"]["by_size"]["under_100kB"]["p50"] == 8.0


def test_conditional_response_time_by_hand() -> None:
    """Four bins of two: what did not end is in its bin and not in its mean."""
    given = [transfer(size, seconds) for size, seconds in zip(range(8), range(8), strict=True)]
    given[5] = transfer(5, None)
    given[6] = given[7] = transfer(7, None)
    assert response.conditional(given[::-1], 4) == [
        (12.5, 0.5),
        (37.5, 2.5),
        (62.5, 4.0),
        (87.5, None),
    ]
    assert response.conditional([], 4) == []
    assert [middle for middle, _ in response.conditional(given[:3], 20)] == pytest.approx(
        [100 / 6, 50, 500 / 6]
    )


def test_size_at_a_percentile() -> None:
    """Of 0..10 bytes half do not exceed 5."""
    assert response.size_at([transfer(size, 1.0) for size in range(11)], 50) == 5.0


@pytest.fixture
def loaded(tmp_path: Path) -> Path:
    """A run with four long flows and a workload of four transfers, two of them open at the end."""
    path = fabricated.run_directory(tmp_path / "run", noise=0.0)
    fabricated.add_transfers(
        path,
        [("down", 25_000, 0.5), ("down", 25_000, None), ("up", 25_000, 2.0), ("up", 25_000, None)],
    )
    return path


def test_a_workload_is_measured_beside_the_long_flows(loaded: Path) -> None:
    """Its bytes are in the totals; ratio and index stay those of the four connections."""
    alone = metrics.measure(fabricated.run_directory(loaded.parent / "alone", noise=0.0))
    found = metrics.measure(loaded)
    assert [flow["id"] for flow in found["flows"]] == ["up1", "up2", "down1", "down2"]
    assert found["ratio_down_up"] == alone["ratio_down_up"]
    assert found["jain"] == alone["jain"]
    per_transfer = 25_000 * 8 / 1e6 / (fabricated.DURATION_S - fabricated.WARMUP_S)
    for way, arrived in (("down", 1), ("up", 1), ("total", 2)):
        gained = found["goodput_mbps"][way] - alone["goodput_mbps"][way]
        assert gained == pytest.approx(arrived * per_transfer)
    assert found["offered_mbps"] == pytest.approx(4 * 25_000 * 8 / 1e6 / fabricated.DURATION_S)
    assert alone["offered_mbps"] is None and alone["transfers"] == []


def test_response_time_runs_from_the_clients_start_to_the_last_byte(loaded: Path) -> None:
    """Not from the server's, and only finished transfers have one; the others are counted."""
    found = metrics.measure(loaded)
    times = [one["response_s"] for one in found["transfers"]]
    assert times == [pytest.approx(0.5), None, pytest.approx(2.0), None]
    for way, seconds in (("down", 0.5), ("up", 2.0)):
        entry = found["response_time_s"][way]
        assert (entry["n"], entry["unfinished"]) == (1, 1)
        assert entry["p50"] == pytest.approx(seconds)


def test_an_upload_whose_syn_was_lost_is_unfinished_and_the_run_is_valid(loaded: Path) -> None:
    """But an upload that was acknowledged or ended must have a record of its receiver."""
    assert validity.why_invalid(loaded) is None
    plan = Flow("t", "sta1", "up", 0.0, bytes=1000)
    client = {"bytes": 0, "end_s": None}
    assert FlowTrace(plan, sender=client).unheard
    assert not FlowTrace(plan, sender=client | {"bytes": 1}).unheard
    assert not FlowTrace(plan, sender=client | {"end_s": 3.0}).unheard
    assert not FlowTrace(plan).unheard
    assert not FlowTrace(plan, sender=client, receiver=client).unheard
    starved = Flow("t", "sta1", "up", 0.0, seconds=9.0)
    assert FlowTrace(starved, sender=client | {"end_s": 9.0}).unheard
    assert not FlowTrace(starved, sender=client | {"bytes": 1}).unheard


@pytest.mark.parametrize(("number", "side"), [(2, "receiver"), (4, "sender")])
def test_a_transfer_that_tcp_gave_up_on_is_unfinished_and_the_run_is_valid(
    loaded: Path, number: int, side: str
) -> None:
    """It starved, so it is a result. The end that is left alone may tell of it too."""
    starved = f"transfer-{number}"
    error = "cannot connect: Connection timed out"
    fabricated.end_transfer(loaded, starved, side, error)
    assert validity.why_invalid(loaded) is None
    found = metrics.measure(loaded)
    assert [one["id"] for one in found["transfers"] if one["gave_up"]] == [starved]
    way, other = ("down", "up") if number == 2 else ("up", "down")
    entry = found["response_time_s"][way]
    assert (entry["n"], entry["unfinished"], entry["gave_up"]) == (1, 1, 1)
    assert found["response_time_s"][other]["gave_up"] == 0


def test_any_other_error_of_a_transfer_makes_a_run_invalid(loaded: Path) -> None:
    """Unless its other end gave up: then it was left alone. A flow without a size may not end."""
    fabricated.end_transfer(loaded, "transfer-2", "receiver", "cannot connect: Connection refused")
    why = validity.why_invalid(loaded)
    assert why == "flow transfer-2 failed at the receiver: cannot connect: Connection refused"
    timed_out = "connection lost: Connection timed out"
    fabricated.end_transfer(loaded, "transfer-2", "sender", timed_out)
    assert validity.why_invalid(loaded) is None
    path = loaded / "flows" / "up1.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps(line | {"error": timed_out}) + "\n" for line in lines))
    assert (validity.why_invalid(loaded) or "").startswith("flow up1 failed")


def test_a_transfer_without_records_makes_a_run_invalid(loaded: Path) -> None:
    """A workload's transfers are held to what the flows are held to."""
    records = loaded / "flows" / "workload-sta1.jsonl"
    kept = [line for line in records.read_text().splitlines() if "transfer-3" not in line]
    records.write_text("\n".join(kept) + "\n")
    why = validity.why_invalid(loaded)
    assert why == "flow transfer-3 has no record of its receiver"
    assert metrics.measure(loaded)["goodput_mbps"]["up"] is None


def test_a_transfer_that_never_started_makes_a_run_invalid(loaded: Path) -> None:
    """Arrivals are all before the end: the generator was late, which is no scheduler's fault."""
    records = loaded / "flows" / "workload-sta1.jsonl"
    lines = [json.loads(line) for line in records.read_text().splitlines()]
    late = [line | {"start_s": None} if line["id"] == "transfer-4" else line for line in lines]
    records.write_text("".join(json.dumps(line) + "\n" for line in late))
    assert validity.why_invalid(loaded) == "flow transfer-4 was not started in time"
