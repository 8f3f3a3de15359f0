# SPDX-License-Identifier: GPL-2.0-only
"""Reads what a run left behind: the JSON files of DIR/runs/ID and the flow records.

Principle: reading never fails because a run did; what is missing or broken is None, and
validity.py says so. Nothing here starts or changes anything.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from apbed.scenario.plan import Flow, Plan

Json = dict[str, Any]
Delays = list[tuple[float, list[int]]]  # [(s, us of each datagram that came before)...]

# The keys a line of flowgen must have, by event.
FLOW_KEYS = {
    "sample": {"id", "side", "t_s", "bytes"},
    "delays": {"id", "side", "t_s", "us"},
    "rtts": {"id", "side", "t_s", "us"},
    "returns": {"id", "side", "t_s", "us"},
    "flow": {"id", "side", "bytes", "start_s", "first_byte_s", "end_s", "retrans", "error"},
}
# How an error in its records ends if TCP gave up, as no answer came to SYNs or retransmissions.
GAVE_UP = ": Connection timed out"


@dataclass
class FlowTrace:
    """One planned flow with what flowgen recorded at its two ends."""

    plan: Flow
    receiver: Json | None = None
    sender: Json | None = None
    samples: list[tuple[float, int]] = field(default_factory=list)  # (s, cumulative bytes)
    delays: Delays = field(default_factory=list)  # of frames, to the receiver; of pings, and back
    rtts: Delays = field(default_factory=list)  # of TCP, by its sender
    waits: Delays = field(default_factory=list)  # until they left the access point's queue
    turn: Json | None = None  # of pings, where they were sent back
    turns: Delays = field(default_factory=list)  # of pings, the way there
    returns: Delays = field(default_factory=list)  # and the way back

    @property
    def client(self) -> Json | None:
        """The record of the end that asked for the flow, where its time starts."""
        return self.receiver if self.plan.dir == "down" else self.sender

    @property
    def asked(self) -> bool:
        """Whether the client began; a user may not have come to its last pages."""
        return self.client is not None and self.client["start_s"] is not None

    @property
    def datagrams(self) -> int:
        """How many a pulse's sender gave to its socket; 0 of any other flow."""
        if self.sender is None or not self.plan.pulse or not self.plan.bytes:
            return 0
        return int(self.sender["bytes"]) // self.plan.bytes

    @property
    def frames(self) -> int:
        """How many frames of `datagrams` each these were."""
        return self.datagrams // (self.plan.datagrams or 1)

    @property
    def unheard(self) -> bool:
        """An upload of which nothing was acknowledged: it starved. The server, which knows a flow
        by its first bytes, has no record of it. A sized one that ended must have arrived."""
        client = self.client
        return (
            self.receiver is None
            and client is not None
            and not client["bytes"]
            and (self.plan.bytes is None or client["end_s"] is None)
        )

    @property
    def gave_up(self) -> bool:
        """Whether TCP ended a transfer with a size, at either end, because nothing came for too
        long: it starved. The other end may have an error too, since it was left alone."""
        ends = [one["error"] or "" for one in (self.sender, self.receiver) if one]
        transfer = self.plan.bytes is not None and self.plan.dir in ("down", "up")
        return transfer and any(error.endswith(GAVE_UP) for error in ends)


def read_object(path: Path) -> Json | None:
    """The JSON object in a file, or None."""
    value = _read(path)
    return value if isinstance(value, dict) else None


def read_list(path: Path) -> list[Json] | None:
    """The JSON list of objects in a file, or None."""
    value = _read(path)
    if isinstance(value, list) and all(isinstance(item, dict) for item in value):
        return value
    return None


def read_plan(run_dir: Path) -> Plan | None:
    """What the run was to do, or None if run.json does not say it in today's terms."""
    try:
        return Plan.from_json((read_object(run_dir / "run.json") or {})["plan"])
    except (KeyError, ValueError):
        return None


def read_flow_lines(run_dir: Path) -> Iterator[Json]:
    """Every line flowgen wrote in this run; raises ValueError naming a broken file."""
    for path in sorted((run_dir / "flows").glob("*.jsonl")):
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), start=1):
            try:
                entry = json.loads(line)
            except ValueError:
                entry = None
            if not isinstance(entry, dict) or not _is_whole(entry):
                raise ValueError(f"flows/{path.name} line {number} is not a flow record")
            yield entry


def read_flows(run_dir: Path, planned: Sequence[Flow]) -> list[FlowTrace]:
    """The planned flows in their order; what was not recorded stays None."""
    traces = {plan.id: FlowTrace(plan) for plan in planned}
    try:
        for entry in read_flow_lines(run_dir):
            trace = traces.get(entry["id"])
            if trace is None:
                continue
            if entry["event"] == "delays":
                places = {"tap": trace.waits, "turn": trace.turns}
                delays = places.get(entry["side"], trace.delays)
                delays.append((entry["t_s"], entry["us"]))
            elif entry["event"] == "rtts":
                trace.rtts.append((entry["t_s"], entry["us"]))
            elif entry["event"] == "returns":
                trace.returns.append((entry["t_s"], entry["us"]))
            elif entry["side"] == "tap" or (entry["side"], entry["event"]) == ("turn", "sample"):
                continue
            elif entry["side"] == "turn":
                trace.turn = entry
            elif entry["event"] == "sample":
                trace.samples.append((entry["t_s"], entry["bytes"]))
            elif entry["side"] == "receiver":
                trace.receiver = entry
            else:
                trace.sender = entry
    except ValueError:
        return [FlowTrace(plan) for plan in planned]
    return list(traces.values())


def _is_whole(entry: Json) -> bool:
    keys = FLOW_KEYS.get(str(entry.get("event")))
    return keys is not None and keys <= entry.keys()


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return None
