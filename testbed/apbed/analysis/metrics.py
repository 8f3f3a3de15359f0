# SPDX-License-Identifier: GPL-2.0-only
"""What a run measured: goodput, fairness, response times, the medium's counts.

Goodput is payload of connections read by the receiver inside the measurement window, "excluding
retransmissions" as in up-down-fairness (its footnote 2). The window is
[t0 + warmup, t0 + duration]; the byte count at a moment between two samples is taken on
the straight line between them. Missing data is None, never zero.

Formulas and sources: fairness.py, airtime.py, delays.py and Documentation/reference/metrics.md.
A datagram's delay is one-way, by the one clock of all the guest's machines; one sent down has a
queueing delay as well, until it leaves the access point's queue.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from apbed.analysis import airtime, delays, own_queues, response
from apbed.analysis.fairness import (
    coefficient_of_variation,
    jain_by_second,
    jain_index,
    ratio_down_up,
    windows,
)
from apbed.analysis.measures import segments
from apbed.analysis.run_directory import (
    FlowTrace,
    Json,
    read_flows,
    read_list,
    read_object,
    read_plan,
)
from apbed.scenario.plan import Flow, Plan

MTU_BYTES, IP_TCP_BYTES = 1500, 40  # of Ethernet; headers without options
TIMESTAMP_BYTES = 12  # RFC 7323, appendix A
SERIES_STEP_S = 1.0  # flowgen's interval between samples
# Of the kernel's MIB, what tells how TCP fared; tcp_ack_skip's own where the kernel has it.
TCP_COUNTERS = (
    "InSegs",
    "OutSegs",
    "RetransSegs",
    "TCPTimeouts",
    "TCPLossProbes",
    "TCPDSACKRecv",
    "TCPDSACKOldSent",
    "TCPAcksWithheld",
)

Curve = list[tuple[float, float]]  # (time in s, cumulative bytes), times not decreasing


@dataclass(frozen=True)
class Window:
    """When a run's flows went, t0 to t1, and when they were measured, from `begin_s` to `end_s`.

    Seconds on the guest's clock.
    """

    t0_s: float
    t1_s: float
    begin_s: float
    end_s: float


def cumulative_curve(trace: FlowTrace, t1_s: float) -> Curve | None:
    """Bytes received by each moment. A flow cut short was counted at t1, when it was ended."""
    record = trace.client if trace.unheard else trace.receiver
    if record is None or record["start_s"] is None:
        return None
    points = [(record["start_s"], 0)]
    if record["first_byte_s"] is not None:
        points.append((record["first_byte_s"], 0))
    points += trace.samples
    end_s = record["end_s"]
    points.append((t1_s if end_s is None else end_s, record["bytes"]))
    return sorted((float(t), float(count)) for t, count in points)


def goodput_mbps(curve: Curve, begin_s: float, end_s: float) -> float:
    """Mean goodput in Mb/s between two moments; before and after a flow nothing arrives."""
    times = [t for t, _ in curve]
    counts = [count for _, count in curve]
    begin, end = np.interp([begin_s, end_s], times, counts)
    return float(end - begin) * 8 / 1e6 / (end_s - begin_s)


def goodput_series(curve: Curve, t0_s: float, duration_s: float) -> list[list[float | None]]:
    """[[middle of the step in s after t0, Mb/s]...]; None where the flow did not exist."""
    edges = np.arange(t0_s, t0_s + duration_s + SERIES_STEP_S / 2, SERIES_STEP_S)
    first, last = curve[0][0], curve[-1][0]
    series: list[list[float | None]] = []
    for begin, end in pairwise(edges.tolist()):
        alive = first < end and last > begin
        rate = round(goodput_mbps(curve, begin, end), 6) if alive else None
        series.append([round((begin + end) / 2 - t0_s, 6), rate])
    return series


def medium_summary(medium: Json | None, encrypted: bool) -> Json | None:
    """The medium's counts, with airtime as shares: of the marked time what it was used for, of the
    attempts' airtime what TCP ACKs took (unknown of `encrypted` ones) and each station's part."""
    if medium is None:
        return None
    used: dict[str, float] = medium.get("airtime_s") or {}
    total = sum(used.values())
    names = ("collision_probability", "tx", "drops", "digest")
    return {name: medium.get(name) for name in names} | {
        "airtime_share": {name: spent / total for name, spent in used.items()} if total else None,
        "tcp_ack_airtime_share": None if encrypted else airtime.tcp_ack_share(medium),
        "station_airtime_share": airtime.station_shares(medium),
    }


def tcp_counters(counters: Json | None) -> Json | None:
    """Of each machine with connections, from boot to the end of the run."""
    if counters is None:
        return None
    return {
        name: {key: found[key] for key in TCP_COUNTERS if key in found}
        for name, found in counters.items()
    }


def segment_bytes(plan: Plan) -> int:
    """Payload of a full TCP segment: the MSS, less 12 bytes where both ends use timestamps."""
    name = "net.ipv4.tcp_timestamps"
    stamped = all(int(one.sysctls.get(name, 1)) for one in (plan.wired, plan.station))
    return (plan.tcp.mss or (plan.tcp.mtu or MTU_BYTES) - IP_TCP_BYTES) - (
        TIMESTAMP_BYTES if stamped else 0
    )


def measure(run_dir: Path) -> Json:
    """What summary.json says of one run's results, from its run directory."""
    plan, window = read_plan(run_dir), _window(run_dir)
    planned, sized = (plan.flows, plan.sized) if plan else ((), ())
    traces = read_flows(run_dir, planned + sized)
    users = traces[len(traces) - len(plan.users) :] if plan and plan.users else []
    arrived = traces[len(planned) : len(traces) - len(users)]
    asked = [trace for trace in users if trace.asked]
    flows = [_flow(trace, plan, window) for trace in traces[: len(planned)] if plan]
    down, up = (_connections(flows, direction) for direction in ("down", "up"))
    known = None if down is None or up is None else down + up
    t0_s = window.t0_s if window else None
    transfers = response.sized_transfers([*traces[: len(planned)], *arrived], t0_s)
    transfers += response.fetched_pages(users, t0_s, plan.warmup_files if plan else 0)
    return {
        "goodput_mbps": _goodputs(flows, [*arrived, *asked], window),
        "offered_mbps": _offered(plan.transfers if plan else (), plan),
        "segment_bytes": segment_bytes(plan) if plan else None,
        "ratio_down_up": None if down is None or up is None else ratio_down_up(down, up),
        "jain": None if known is None else jain_index(known),
        "jain_stations": None if known is None else jain_index(_by_station(flows)),
        "second_by_second": _second_by_second(flows, plan) if plan else None,
        "flows": flows,
        "transfers": transfers,
        "response_time_s": response.by_direction(transfers),
        "users": {"files": len(users), "asked": len(asked)} if users else None,
        "tcp_segments": segments.by_direction(traces),
        "ping_loss": _worst(flows, "ping", "loss"),
        "late_share": _worst(flows, "late_frames", "share"),
        "tcp": tcp_counters(read_object(run_dir / "counters.json")),
        "medium": medium_summary(
            read_object(run_dir / "medium.json"),
            encrypted=plan is not None and plan.ap.security != "open",
        ),
        "qdisc": read_list(run_dir / "qdisc.json"),
        "mac80211": own_queues.summary(run_dir),
    }


def _window(run_dir: Path) -> Window | None:
    """None if the run did not come to its flows, or nobody knows what it was to do."""
    plan, guest = read_plan(run_dir), read_object(run_dir / "guest.json") or {}
    if plan is None or "t0_s" not in guest or "t1_s" not in guest:
        return None
    t0_s, t1_s = float(guest["t0_s"]), float(guest["t1_s"])
    return Window(t0_s, t1_s, t0_s + plan.warmup_s, t0_s + plan.duration_s)


def _flow(trace: FlowTrace, plan: Plan, window: Window | None) -> Json:
    t0_s = window.t0_s if window else None
    flow: Json = {
        "id": trace.plan.id,
        "station": trace.plan.station,
        "dir": trace.plan.dir,
        "quic": trace.plan.quic_bytes is not None,
        "whole": _lasts(trace.plan, plan),
        "bytes": 0 if trace.unheard else trace.receiver["bytes"] if trace.receiver else None,
        "start_s": _since(t0_s, trace.client, "start_s"),
        "end_s": _since(t0_s, trace.receiver, "end_s"),
        "goodput_mbps": None,
        "goodput_series": [],
        "goodput_cov_1s": None,
        "retrans": trace.sender["retrans"] if trace.sender else None,
        "delay_ms": None,
        "queue_delay_ms": None,
        "late_frames": None,
        "rtt_ms": None,
        "delay_series": [],
        "ping": segments.of_ping(trace, window.begin_s) if window else None,
    }
    curve = cumulative_curve(trace, window.t1_s) if window else None
    if curve is not None and window is not None:
        flow["goodput_mbps"] = goodput_mbps(curve, window.begin_s, window.end_s)
        flow["goodput_series"] = goodput_series(curve, window.t0_s, plan.duration_s)
        seconds = windows(flow["goodput_series"], plan.warmup_s, plan.duration_s)
        if seconds and flow["whole"]:
            flow["goodput_cov_1s"] = coefficient_of_variation(seconds)
        flow["rtt_ms"] = delays.samples_ms(trace.rtts, window.begin_s)
        flow["delay_ms"] = delays.summary_ms(trace.delays, window.begin_s, trace.frames)
        if late_s := trace.plan.late_s:
            flow["late_frames"] = delays.in_time(trace.delays, window.begin_s, trace.frames, late_s)
        flow["delay_series"] = delays.series_ms(trace.delays, window.t0_s)
        if trace.plan.dir == "pulse_down":
            flow["queue_delay_ms"] = delays.summary_ms(trace.waits, window.begin_s, trace.frames)
    return flow | segments.of_flow(trace)


def _worst(flows: Sequence[Json], name: str, share: str) -> float | None:
    """The largest share of its kind among the flows; None if there is no such flow."""
    known = [flow[name][share] for flow in flows if flow[name] and flow[name][share] is not None]
    return max(known, default=None)


def _second_by_second(flows: Sequence[Json], plan: Plan) -> Json:
    """How smooth the connections of the whole window are: the mean of their coefficients of
    variation, and Jain's index among them in each second. One that got nothing has no coefficient;
    then nor has the run, for it would look smoother than one in which that got a little."""
    lasting = [flow for flow in flows if flow["whole"] and flow["dir"] in ("down", "up")]
    each = [windows(flow["goodput_series"], plan.warmup_s, plan.duration_s) for flow in lasting]
    known = [seconds for seconds in each if seconds is not None]
    if not known or len(known) < len(each):
        return {"goodput_cov": None, "jain": None}
    covs = [flow["goodput_cov_1s"] for flow in lasting]
    return {
        "goodput_cov": None if None in covs else sum(covs) / len(covs),
        "jain": jain_by_second(known),
    }


def _goodputs(flows: Sequence[Json], workload: Sequence[FlowTrace], window: Window | None) -> Json:
    """Mb/s of each direction and of both, flows and the workload's transfers together."""
    received = [(flow["dir"], flow["goodput_mbps"]) for flow in flows]
    received += [(trace.plan.dir, _received(trace, window)) for trace in workload]
    goodputs = {
        direction: [mbps for way, mbps in received if way == direction]
        for direction in ("down", "up")
    }
    goodputs["total"] = goodputs["down"] + goodputs["up"]
    return {name: None if None in each else _total(each) for name, each in goodputs.items()}


def _received(trace: FlowTrace, window: Window | None) -> float | None:
    """Goodput in Mb/s of a transfer over the whole window."""
    if window is None:
        return None
    curve = cumulative_curve(trace, window.t1_s)
    return None if curve is None else goodput_mbps(curve, window.begin_s, window.end_s)


def _offered(workload: Sequence[Flow], plan: Plan | None) -> float | None:
    """What the workload's transfers amount to in Mb/s over the run; None without a workload."""
    if not workload or plan is None:
        return None
    return sum(one.bytes or 0 for one in workload) * 8 / 1e6 / plan.duration_s


def _since(t0_s: float | None, record: Json | None, key: str) -> float | None:
    if t0_s is None or record is None or record[key] is None:
        return None
    return round(float(record[key]) - t0_s, 9)


def _lasts(flow: Flow, plan: Plan) -> bool:
    """Whether a connection is there in the whole window, by plan: only those can be compared."""
    return (
        flow.seconds is not None
        and flow.start_s <= plan.warmup_s
        and flow.start_s + flow.seconds >= plan.duration_s
    )


def _connections(flows: Sequence[Json], direction: str) -> list[float] | None:
    """Goodputs of a direction's connections of the whole window; None when one is not known."""
    goodputs = [
        flow["goodput_mbps"] for flow in flows if flow["dir"] == direction and flow["whole"]
    ]
    return None if None in goodputs else goodputs


def _by_station(flows: Sequence[Json]) -> list[float]:
    """The sum of each station's goodputs, of the connections of the whole window."""
    sums: dict[str, float] = {}
    for flow in flows:
        if flow["whole"] and flow["dir"] in ("down", "up"):
            sums[flow["station"]] = sums.get(flow["station"], 0.0) + flow["goodput_mbps"]
    return list(sums.values())


def _total(goodputs: Sequence[float] | None) -> float | None:
    return sum(goodputs) if goodputs else None
