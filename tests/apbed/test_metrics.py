# SPDX-License-Identifier: GPL-2.0-only
"""Metrics against definitions and hand computation, on fabricated run directories."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from apbed.analysis import delays, fairness, metrics, summary, validity
from apbed.errors import ApbedError
from tests.apbed import fabricated_run as fabricated


def test_jain_index_of_the_source() -> None:
    """Jain 1984: 1 for equal shares, k/n when k of n share equally, independent of scale."""
    assert fairness.jain_index([3.0, 3.0, 3.0]) == pytest.approx(1.0)
    assert fairness.jain_index([1.0] * 20 + [0.0] * 80) == pytest.approx(0.2)
    assert fairness.jain_index([1.0, 2.0]) == pytest.approx(fairness.jain_index([100.0, 200.0]))
    assert fairness.jain_index([1.0, 2.0]) == pytest.approx(9 / 10)
    assert fairness.jain_index([]) is None
    assert fairness.jain_index([0.0, 0.0]) is None


def test_ratio_is_per_connection() -> None:
    """Equal numbers: up-down-fairness's ratio of the totals; unequal ones: of the means."""
    assert fairness.ratio_down_up([1.0, 3.0], [2.0, 6.0]) == pytest.approx(4 / 8)
    assert fairness.ratio_down_up([1.0], [1.0, 1.0, 1.0]) == pytest.approx(1.0)
    assert fairness.ratio_down_up([], [1.0]) is None
    assert fairness.ratio_down_up([1.0], []) is None
    assert fairness.ratio_down_up([1.0], [0.0]) is None
    assert fairness.ratio_down_up([0.0], [1.0]) == 0.0


def test_coefficient_of_variation_of_known_samples() -> None:
    """2, 4, 4, 4, 5, 5, 7, 9: mean 5, population standard deviation 2. It has no unit."""
    samples = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]
    assert fairness.coefficient_of_variation(samples) == pytest.approx(0.4)
    assert fairness.coefficient_of_variation([10 * x for x in samples]) == pytest.approx(0.4)
    assert fairness.coefficient_of_variation([3.0, 3.0]) == 0
    assert fairness.coefficient_of_variation([]) is None
    assert fairness.coefficient_of_variation([0.0, 0.0]) is None


def test_jain_by_second_of_two_who_take_turns() -> None:
    """Each second one has all: 1/2, though both have the same in the end. A second in which nobody
    has anything says nothing."""
    assert fairness.jain_by_second([[2.0, 0.0, 0.0], [0.0, 2.0, 0.0]]) == {"mean": 0.5, "min": 0.5}
    assert fairness.jain_by_second([[1.0, 1.0], [1.0, 2.0]]) == pytest.approx(
        {"mean": (1 + 9 / 10) / 2, "min": 9 / 10}
    )
    assert fairness.jain_by_second([[0.0], [0.0]]) is None


def test_windows_are_whole_seconds() -> None:
    """From 1 s to 3.5 s: the seconds that begin at 1 and 2."""
    series: fairness.Series = [[0.5, 9.0], [1.5, 1.0], [2.5, None], [3.5, 9.0]]
    assert fairness.windows(series, 1.0, 3.5) == [1.0, 0.0]
    assert fairness.windows(series, 1.2, 3.0) == [0.0]
    assert fairness.windows(series, 3.2, 3.9) is None


def test_percentiles_of_a_thousand_datagrams() -> None:
    """1 to 1000 ms. Percentiles are of ranks 0 to 999: 99.9 % is at rank 998.001, so the next."""
    found = delays.summary_ms([(1.0, [1000 * ms for ms in range(1, 1001)])], 0.0, 1000)
    assert found == pytest.approx(
        {"n": 1000, "lost": 0, "p50": 501, "p90": 901, "p99": 991, "p99.9": 1000, "max": 1000}
    )


def test_nothing_sent_in_the_window_has_no_delay() -> None:
    """Two datagrams, both before it: none is lost, so nothing is called lost."""
    assert delays.summary_ms([(1.0, [1000, 2000])], 5.0, 2) is None
    lost = delays.summary_ms([(1.0, [1000])], 5.0, 2)
    assert lost is not None and (lost["n"], lost["lost"], lost["p50"]) == (0, 1, None)


def test_a_percentile_among_the_lost_is_not_known() -> None:
    """Two of 1000 never came: 99.9 % is one of them, 99 % is not."""
    found = delays.summary_ms([(1.0, [1000 * ms for ms in range(1, 999)])], 0.0, 1000)
    assert found is not None
    assert (found["n"], found["lost"], found["p99"]) == (998, 2, 991)
    assert found["p99.9"] is None and found["max"] is None


def test_a_frame_that_comes_late_is_as_bad_as_a_lost_one() -> None:
    """Of 20 frames sent 2 came before the window, 15 in it, 3 of these after more than 50 ms, and
    3 never: (3 + 3) / (15 + 3). Exactly 50 ms are in time."""
    came = [(1.0, [90_000, 10_000]), (2.0, [10_000] * 11 + [50_000, 50_001, 60_000, 700_000])]
    found = delays.in_time(came, 1.0, 20, 0.05)
    assert found == {"late": 3, "lost": 3, "share": pytest.approx(6 / 18)}
    assert delays.in_time([], 1.0, 0, 0.05) is None


def test_round_trip_times_are_those_of_the_window() -> None:
    """0.1 to 10 ms, and 9 s before the window; percentiles as those of datagrams."""
    found = delays.samples_ms([(1.0, [9_000_000]), (2.0, [100 * k for k in range(1, 101)])], 1.0)
    expected = {"n": 100, "p50": 5.1, "p90": 9.1, "p99": 10.0, "p99.9": 10.0, "max": 10.0}
    assert found == pytest.approx(expected)
    assert delays.samples_ms([(1.0, [5])], 1.0) is None


def test_frames_of_a_call_and_times_within_a_connection(tmp_path: Path) -> None:
    """Of four frames with three datagrams each, two came in time, one after 80 ms, one not whole.
    An upload's sender saw 20 and 40 ms, half of which are at most 40 (the least that is)."""
    path = fabricated.run_directory(tmp_path / "run")
    run = json.loads((path / "run.json").read_text())
    call = {"dir": "pulse", "bytes": 1250, "count": 4, "datagrams": 3, "late_s": 0.05}
    run["plan"]["flows"][1] = run["plan"]["flows"][1] | call
    fabricated.write(path / "run.json", run)
    at = fabricated.T0_S + 6
    came = {"event": "delays", "side": "receiver", "t_s": at, "us": [3000, 4000, 80_000]}
    end = {"event": "flow", "start_s": at, "first_byte_s": at, "end_s": at, "retrans": None}
    sent = end | {"side": "sender", "bytes": 12 * 1250, "error": None}
    arrived = end | {"side": "receiver", "bytes": 11 * 1250, "error": None}
    text = "".join(json.dumps({"id": "up2"} | line) + "\n" for line in (came, sent, arrived))
    (path / "flows" / "up2.jsonl").write_text(text)
    rtts = {"id": "up1", "event": "rtts", "side": "sender", "t_s": at, "us": [20_000, 40_000]}
    with (path / "flows" / "up1.jsonl").open("a") as record:
        record.write(json.dumps(rtts) + "\n")
    up, call_up, *_ = metrics.measure(path)["flows"]
    assert call_up["late_frames"] == {"late": 1, "lost": 1, "share": 0.5}
    assert call_up["delay_ms"]["lost"] == 1 and call_up["rtt_ms"] is None
    assert up["late_frames"] is None
    assert (up["rtt_ms"]["n"], up["rtt_ms"]["p50"], up["rtt_ms"]["max"]) == (2, 40.0, 40.0)


def test_fairness_between_stations(tmp_path: Path) -> None:
    """Connections of 1, 1, 2 and 2 Mb/s. With both of 1 Mb/s at one station, all three have 2."""
    path = fabricated.run_directory(tmp_path / "run", down=2.0, up=1.0, noise=0.0)
    assert metrics.measure(path)["jain_stations"] == pytest.approx(36 / (4 * 10), rel=1e-3)
    run = json.loads((path / "run.json").read_text())
    run["plan"]["flows"][1]["station"] = run["plan"]["flows"][0]["station"]
    fabricated.write(path / "run.json", run)
    assert metrics.measure(path)["jain_stations"] == pytest.approx(1.0, rel=1e-3)


def test_goodput_between_samples_is_on_the_line() -> None:
    """10 Mb in 10 s and then nothing: 1 Mb/s inside, half of it when half the window is empty."""
    curve = [(100.0, 0.0), (110.0, 1.25e6)]
    assert metrics.goodput_mbps(curve, 102.5, 107.5) == pytest.approx(1.0)
    assert metrics.goodput_mbps(curve, 105.0, 115.0) == pytest.approx(0.5)
    assert metrics.goodput_mbps(curve, 120.0, 130.0) == 0.0


def test_series_has_gaps_where_there_is_no_flow() -> None:
    """A flow from 1.5 s to 3 s after t0: unknown before and after, not zero."""
    series = metrics.goodput_series([(11.5, 0.0), (13.0, 187500.0)], 10.0, 5.0)
    rates = [rate for _, rate in series]
    assert [moment for moment, _ in series] == [0.5, 1.5, 2.5, 3.5, 4.5]
    assert rates[0] is None and rates[3] is None and rates[4] is None
    assert rates[1:3] == [pytest.approx(0.5), pytest.approx(1.0)]


@pytest.mark.parametrize(("words", "rates"), fabricated.MEASURED.items())
def test_measured_run(tmp_path: Path, words: str, rates: tuple[float, float]) -> None:
    """What was written comes out, with the ratio and the index that follow from it."""
    down, up = rates
    found = metrics.measure(fabricated.run_directory(tmp_path / "run", words, down, up, noise=0.0))
    expected = {"down": 2 * down, "up": 2 * up, "total": 2 * (down + up)}
    assert found["goodput_mbps"] == pytest.approx(expected, rel=1e-4)
    assert found["ratio_down_up"] == pytest.approx(down / up, rel=1e-4)
    jain = (2 * (down + up)) ** 2 / (4 * 2 * (down**2 + up**2))
    assert found["jain"] == pytest.approx(jain, rel=1e-4)
    flow = found["flows"][0]
    assert (flow["id"], flow["station"], flow["dir"]) == ("up1", "sta1", "up")
    assert flow["goodput_mbps"] == pytest.approx(up, rel=1e-4)
    assert flow["start_s"] == pytest.approx(0.004)
    assert flow["retrans"] == 17
    assert len(flow["goodput_series"]) == 40
    assert found["response_time_s"]["down"]["n"] == 0
    assert found["medium"]["airtime_share"] == pytest.approx(
        {"success": 33 / 40, "collision": 1.6 / 40, "broadcast": 0.4 / 40, "idle": 5 / 40}
    )
    assert found["medium"]["digest"] == "0000000000000001"
    assert found["qdisc"][1]["kind"] == words.split()[0]


def test_window_leaves_out_the_warmup(tmp_path: Path) -> None:
    """All bytes in the first four seconds: none in the window from 5 s to 40 s."""
    path = fabricated.run_directory(tmp_path / "run")
    start = fabricated.T0_S
    line = {"id": "up1", "dir": "up", "side": "receiver", "event": "flow", "bytes": 10**6}
    line |= {
        "start_s": start,
        "first_byte_s": start,
        "end_s": start + 4,
        "retrans": None,
        "error": None,
    }
    (path / "flows" / "up1.jsonl").write_text(json.dumps(line) + "\n")
    flow = metrics.measure(path)["flows"][0]
    assert flow["goodput_mbps"] == 0.0
    assert flow["bytes"] == 10**6
    assert flow["retrans"] is None


def test_flow_cut_short_counts_until_the_end_of_the_run(tmp_path: Path) -> None:
    """SIGTERM came at t1: bytes of an unfinished flow were counted then."""
    path = fabricated.run_directory(tmp_path / "run")
    start = fabricated.T0_S
    line = {"id": "up1", "dir": "up", "side": "receiver", "event": "flow", "bytes": 40 * 125000}
    line |= {"start_s": start, "first_byte_s": start, "end_s": None, "retrans": None, "error": None}
    (path / "flows" / "up1.jsonl").write_text(json.dumps(line) + "\n")
    flow = metrics.measure(path)["flows"][0]
    assert flow["goodput_mbps"] == pytest.approx(1.0)
    assert flow["end_s"] is None


def test_an_upload_that_never_connected_got_nothing(tmp_path: Path) -> None:
    """It counts as 0 Mb/s and the run stays valid: without it the worst runs would be left out."""
    path = fabricated.run_directory(tmp_path / "run")
    before = metrics.measure(path)
    start = fabricated.T0_S
    line = {"id": "up1", "dir": "up", "side": "sender", "event": "flow", "bytes": 0}
    line |= {"start_s": start, "first_byte_s": None, "end_s": None, "retrans": 3, "error": None}
    (path / "flows" / "up1.jsonl").write_text(json.dumps(line) + "\n")
    found = metrics.measure(path)
    assert validity.why_invalid(path) is None
    assert found["flows"][0]["goodput_mbps"] == 0.0 and found["flows"][0]["bytes"] == 0
    assert found["ratio_down_up"] == pytest.approx(
        before["ratio_down_up"] * before["goodput_mbps"]["up"] / found["goodput_mbps"]["up"]
    )


def test_response_time_runs_from_the_clients_start_to_the_last_byte(tmp_path: Path) -> None:
    """Only finished sized transfers count."""
    path = fabricated.run_directory(tmp_path / "run")
    run = json.loads((path / "run.json").read_text())
    for flow in run["plan"]["flows"]:
        del flow["seconds"]
        flow["bytes"] = 100_000
    fabricated.write(path / "run.json", run)
    for name, direction, seconds in (
        ("up1", "up", 2.0),
        ("up2", "up", None),
        ("down1", "down", 1.0),
        ("down2", "down", 4.0),
    ):
        client, server = ("sender", "receiver") if direction == "up" else ("receiver", "sender")
        start = fabricated.T0_S
        line = {"id": name, "dir": direction, "event": "flow", "bytes": 1, "error": None}
        line |= {"first_byte_s": start, "retrans": 0}
        line |= {"end_s": None if seconds is None else start + seconds}
        ends = [line | {"side": client, "start_s": start}]
        ends.append(line | {"side": server, "start_s": start + 0.5})
        (path / "flows" / f"{name}.jsonl").write_text("".join(json.dumps(e) + "\n" for e in ends))
    times = metrics.measure(path)["response_time_s"]
    assert (times["up"]["n"], times["up"]["mean"]) == (1, pytest.approx(2.0))
    assert (times["down"]["n"], times["down"]["mean"]) == (2, pytest.approx(2.5))


def test_delays_of_a_call(tmp_path: Path) -> None:
    """Of 101 datagrams 100 came after the warm-up and took 1 to 100 ms, one of 9 s before it. Half
    of them took at most 51 ms, the least of which that is true. What the tap saw is the queue's and
    no receiver's: it missed 99, so half of all never left it."""
    path = fabricated.run_directory(tmp_path / "run")
    run = json.loads((path / "run.json").read_text())
    pulse = {"dir": "pulse_down", "bytes": 160, "count": 101}
    run["plan"]["flows"][2] = run["plan"]["flows"][2] | pulse
    fabricated.write(path / "run.json", run)
    late, early = fabricated.T0_S + 6, fabricated.T0_S + 1
    lines: list[dict[str, Any]] = [
        {"event": "delays", "side": "receiver", "t_s": early, "us": [9_000_000]},
        {
            "event": "delays",
            "side": "receiver",
            "t_s": late,
            "us": [1000 * k for k in range(1, 65)],
        },
        {
            "event": "delays",
            "side": "receiver",
            "t_s": late,
            "us": [1000 * k for k in range(65, 101)],
        },
        {"event": "delays", "side": "tap", "t_s": late, "us": [500, 1500]},
        {"event": "sample", "side": "tap", "t_s": late, "bytes": 10**9},
    ]
    sent = {"event": "flow", "side": "sender", "bytes": 101 * 160, "start_s": fabricated.T0_S}
    sent |= {"first_byte_s": fabricated.T0_S, "end_s": late, "retrans": None, "error": None}
    received = sent | {"side": "receiver"}
    text = "".join(json.dumps({"id": "down1"} | line) + "\n" for line in [*lines, sent, received])
    (path / "flows" / "down1.jsonl").write_text(text)
    up, _, down, _ = metrics.measure(path)["flows"]
    assert up["delay_ms"] is None and up["queue_delay_ms"] is None
    assert down["delay_ms"] == pytest.approx(
        {"n": 100, "lost": 0, "p50": 51.0, "p90": 91.0, "p99": 100.0, "p99.9": 100.0, "max": 100.0}
    )
    assert down["queue_delay_ms"] == {"n": 2, "lost": 99} | dict.fromkeys(
        ("p50", "p90", "p99", "p99.9", "max")
    )
    assert down["bytes"] == 101 * 160
    # Of each record: the middle of the second before it, median, maximum.
    assert down["delay_series"] == [
        [pytest.approx(middle), median, maximum]
        for middle, median, maximum in ((0.5, 9000, 9000), (5.5, 32.5, 64), (5.5, 82.5, 100))
    ]
    assert up["delay_series"] == []


def test_goodput_from_second_to_second(tmp_path: Path) -> None:
    """From 5 s on, uploads have 1 and 3 Mb/s by turns, so a deviation of 1 from a mean of 2, one
    has 1 when the other has 3. A download has a steady 2, and one got nothing.

    Jain's index of 1, 3, 2 and 0 is 36 / (4 * 14) in every second."""
    path = fabricated.run_directory(tmp_path / "run")
    rates: dict[str, list[float]] = {"up1": [1, 3], "up2": [3, 1], "down1": [2, 2], "down2": [0, 0]}
    for name, turns in rates.items():
        each = [9.0] * 5 + [turns[second % 2] for second in range(5, 40)]
        fabricated.write_seconds(path, name, name[:-1], each)
    found = metrics.measure(path)
    covs = {flow["id"]: flow["goodput_cov_1s"] for flow in found["flows"]}
    # 18 seconds of one rate and 17 of the other: mean 2 -+ 1/35.
    shift = 1 / 35
    deviation = (1 - shift**2) ** 0.5
    assert covs["up1"] == pytest.approx(deviation / (2 + shift), rel=1e-4)
    assert covs["up2"] == pytest.approx(deviation / (2 - shift), rel=1e-4)
    assert covs["down1"] == pytest.approx(0, abs=1e-6) and covs["down2"] is None
    smooth = found["second_by_second"]
    assert smooth["goodput_cov"] is None  # to starve somebody is not smooth
    assert smooth["jain"] == pytest.approx({"mean": 36 / 56, "min": 36 / 56}, rel=1e-4)


def test_the_mean_of_the_coefficients(tmp_path: Path) -> None:
    """1 and 3 Mb/s by turns over 30 s, three steady ones: 0.5 and three times 0."""
    path = fabricated.run_directory(tmp_path / "run")
    for name in ("up1", "up2", "down1", "down2"):
        each = [9.0] * 5 + [
            (1.0 + 2 * (second % 2)) if name == "up1" else 2.0 for second in range(35)
        ]
        fabricated.write_seconds(path, name, name[:-1], each)
    found = metrics.measure(path)
    (up1,) = (flow["goodput_cov_1s"] for flow in found["flows"] if flow["id"] == "up1")
    assert found["second_by_second"]["goodput_cov"] == pytest.approx(up1 / 4, abs=1e-6)
    assert up1 == pytest.approx(0.5, abs=0.01)


def test_a_flow_that_comes_or_goes_is_in_no_window(tmp_path: Path) -> None:
    path = fabricated.run_directory(tmp_path / "run", down=1.0, up=2.0, noise=0.0)
    run = json.loads((path / "run.json").read_text())
    run["plan"]["flows"][0]["seconds"] = 20.0
    fabricated.write(path / "run.json", run)
    found = metrics.measure(path)
    assert found["flows"][0]["goodput_cov_1s"] is None
    assert found["second_by_second"]["jain"]["mean"] == pytest.approx(16 / (3 * 6), rel=1e-4)
    (path / "flows" / "up2.jsonl").unlink()
    assert metrics.measure(path)["second_by_second"] == {"goodput_cov": None, "jain": None}


def test_airtime_by_station_and_of_tcp_acks(tmp_path: Path) -> None:
    """Of 40 s of attempts, ACKs took 1 + 3. To and from sta1 were 18 s, to and from sta2 18 too, in
    two access categories; 4 s were the access point's to all."""
    path = fabricated.run_directory(tmp_path / "run")
    names = ("airtime_s", "airtime_to_s", "tcp_ack_airtime_s")
    radios = {"ap": (20, 20, 3), "sta1": (10, 8, 1), "sta2": (6, 8, 0), "sta2-vo": (4, 0, 0)}
    counted = [
        {"name": name, "data_frames_in": 12000 * (name == "ap")}
        | dict(zip(names, seconds, strict=True))
        for name, seconds in radios.items()
    ]
    fabricated.edit(path / "medium.json", stations=counted)
    medium = metrics.measure(path)["medium"]
    assert medium["tcp_ack_airtime_share"] == pytest.approx(4 / 40)
    assert medium["station_airtime_share"] == pytest.approx({"sta1": 0.5, "sta2": 0.5})
    run = json.loads((path / "run.json").read_text())
    run["plan"]["ap"]["security"] = "wpa2"
    fabricated.write(path / "run.json", run)
    medium = metrics.measure(path)["medium"]
    assert medium["tcp_ack_airtime_share"] is None and medium["station_airtime_share"] is not None


def test_a_medium_of_before_says_no_shares(tmp_path: Path) -> None:
    medium = metrics.measure(fabricated.run_directory(tmp_path / "run"))["medium"]
    assert medium["tcp_ack_airtime_share"] is None and medium["station_airtime_share"] is None


def test_one_unknown_flow_makes_the_totals_unknown(tmp_path: Path) -> None:
    """Missing is null, never zero."""
    path = fabricated.run_directory(tmp_path / "run")
    (path / "flows" / "down1.jsonl").unlink()
    found = metrics.measure(path)
    assert found["goodput_mbps"]["down"] is None
    assert found["goodput_mbps"]["total"] is None
    assert found["goodput_mbps"]["up"] > 0
    assert found["ratio_down_up"] is None and found["jain"] is None
    assert found["flows"][2]["goodput_mbps"] is None and found["flows"][2]["bytes"] is None


def test_tcp_counters_are_the_kernels(tmp_path: Path) -> None:
    """Those that tell how TCP fared, of each machine; None when the guest left none."""
    path = fabricated.run_directory(tmp_path / "run")
    assert metrics.measure(path)["tcp"] == {"wired": {"TCPTimeouts": 2, "InSegs": 9000}}
    (path / "counters.json").unlink()
    assert metrics.measure(path)["tcp"] is None


def test_connections_that_come_or_go_are_not_compared(tmp_path: Path) -> None:
    """One upload stops and one download starts inside the window: the ratio and the index are
    of the other two, the totals of all."""
    path = fabricated.run_directory(tmp_path / "run", down=1.0, up=2.0, noise=0.0)
    run = json.loads((path / "run.json").read_text())
    for flow in run["plan"]["flows"]:
        flow |= {"up1": {"seconds": 20.0}, "down1": {"start_s": 20.0, "seconds": 20.0}}.get(
            flow["id"], {}
        )
    fabricated.write(path / "run.json", run)
    for name, mbps in (("up1", 0.1), ("down1", 0.2)):
        fabricated.write_flow(path, name, name[:-1], mbps, random.Random(1), 0.0)
    found = metrics.measure(path)
    assert found["ratio_down_up"] == pytest.approx(1 / 2, rel=1e-4)
    assert found["jain"] == pytest.approx(9 / 10, rel=1e-4)
    assert found["goodput_mbps"]["total"] == pytest.approx(1 + 2 + 0.1 + 0.2, rel=1e-4)
    assert [flow["whole"] for flow in found["flows"]] == [False, True, False, True]


def test_empty_run_directory_measures_to_nothing(tmp_path: Path) -> None:
    """A run that died at once is all nulls."""
    found = metrics.measure(tmp_path)
    assert found["goodput_mbps"] == {"down": None, "up": None, "total": None}
    assert found["flows"] == [] and found["medium"] is None and found["qdisc"] is None


def test_one_direction_only(tmp_path: Path) -> None:
    """Without uploads the total is the downloads' and there is no ratio."""
    path = fabricated.run_directory(tmp_path / "run", down=1.0, noise=0.0)
    run = json.loads((path / "run.json").read_text())
    run["plan"]["flows"] = [flow for flow in run["plan"]["flows"] if flow["dir"] == "down"]
    fabricated.write(path / "run.json", run)
    found = metrics.measure(path)
    assert found["goodput_mbps"]["up"] is None
    assert found["goodput_mbps"]["total"] == pytest.approx(2.0, rel=1e-4)
    assert found["ratio_down_up"] is None
    assert found["jain"] == pytest.approx(1.0)


def test_summary_is_written_whole_in_the_planned_order(tmp_path: Path) -> None:
    """Schema 1, the manifest's runs only, plain JSON without NaN."""
    directory = fabricated.experiment(tmp_path, seeds=(1, 2))
    fabricated.run_directory(directory / "runs" / "of-an-earlier-plan")
    result = summary.summarize(directory)
    assert json.loads((directory / "summary.json").read_text()) == result
    assert [path.name for path in directory.iterdir() if "partial" in path.name] == []
    planned = json.loads((directory / "manifest.json").read_text())["runs"]
    assert [run["id"] for run in result["runs"]] == planned
    assert (result["schema"], result["scenario"]) == (1, "demo")
    run = result["runs"][0]
    assert run["valid"] is True and run["why_invalid"] is None
    assert run["params"]["qdisc"] == "pfifo limit 100"
    assert run["virtual_s"] == 43.9


def test_equal_runs_have_equal_summaries(tmp_path: Path) -> None:
    """However long they took: wall and processor times stay out."""
    directory = fabricated.experiment(tmp_path)
    first = summary.summarize(directory)
    for run_dir in (directory / "runs").iterdir():
        fabricated.edit(run_dir / "status.json", wall_s=99.9, processor_s=88.8)
    assert summary.summarize(directory) == first


def test_summary_of_nothing_says_what_to_do(tmp_path: Path) -> None:
    """One line for a directory that holds no runs."""
    with pytest.raises(ApbedError, match="apbed run"):
        summary.summarize(tmp_path)
