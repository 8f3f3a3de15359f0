# SPDX-License-Identifier: GPL-2.0-only
"""TCP segments and pings, counted at both ends.

Loss of DATA is 1 - received / sent of segments with payload, retransmissions included in both
(TCP_INFO: tcpi_data_segs_in of the receiver, tcpi_data_segs_out of the sender), as
up-down-fairness has it in Figs. 4 and 8: what the air, its retry limit and every queue lost. A
flow that ends by time leaves at most a window on its way, which counts as lost. Of a QUIC-like
flow a segment is a datagram with payload; its two ends count those themselves.
"""

from __future__ import annotations

from collections.abc import Sequence

from apbed.analysis import delays
from apbed.analysis.run_directory import FlowTrace, Json

DIRECTIONS = ("down", "up")


def by_direction(traces: Sequence[FlowTrace]) -> Json:
    """`tcp_segments` of a RUN, of all connections and transfers that both ends have counted."""
    tcp = [one for one in traces if one.plan.quic_bytes is None]
    return {way: _summed([one for one in tcp if one.plan.dir == way]) for way in DIRECTIONS}


def of_flow(trace: FlowTrace) -> Json:
    """Of one connection: loss and retransmitted share."""
    found = _summed([trace]) or {"loss": None, "retransmitted_share": None}
    return {"data_loss": found["loss"], "retransmitted_share": found["retransmitted_share"]}


def of_ping(trace: FlowTrace, begin_s: float) -> Json | None:
    """Of all pings of a run: how many were lost on each way, and how long each way took, in ms."""
    if trace.plan.dir != "ping" or not trace.plan.bytes:
        return None
    sent = trace.datagrams
    turned = trace.turn["bytes"] // trace.plan.bytes if trace.turn else 0
    answered = trace.receiver["bytes"] // trace.plan.bytes if trace.receiver else 0
    return {
        "sent": sent,
        "lost_up": sent - turned,
        "lost_down": turned - answered,
        "loss": (sent - answered) / sent if sent else None,
        "up_ms": delays.summary_ms(trace.turns, begin_s, sent),
        "down_ms": delays.summary_ms(trace.returns, begin_s, turned),
    }


def _summed(traces: Sequence[FlowTrace]) -> Json | None:
    """None if no connection was counted at both ends."""
    counted = [
        (trace.sender, trace.receiver)
        for trace in traces
        if trace.sender and trace.receiver
        if trace.sender.get("segments") and trace.receiver.get("segments") is not None
    ]
    if not counted:
        return None
    sent = sum(sender["segments"] for sender, _ in counted)
    received = sum(receiver["segments"] for _, receiver in counted)
    retransmitted = sum(sender["retrans"] or 0 for sender, _ in counted)
    return {
        "sent": sent,
        "received": received,
        "retransmitted": retransmitted,
        "loss": max(0.0, 1 - received / sent),
        "retransmitted_share": retransmitted / sent,
    }
