# SPDX-License-Identifier: GPL-2.0-only
"""The flows and sleeps of one run, from a scenario's [[flow]], [[sleep]] and mix."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from apbed.errors import ApbedError
from apbed.scenario import datagrams
from apbed.scenario.keys import DSCP, FLOW_KEYS, QUIC, SLEEP_KEYS, checked, refuse_unknown
from apbed.scenario.plan import Flow, Sleep
from apbed.scenario.workload import TRANSFERS_MAX

Table = dict[str, Any]
LAST_DATAGRAM_S = 1.0  # before the end: what is on its way then would count as lost
RECORDS = ("server", "tap")  # flowgen's own files beside those of the flows
COUNT_MAX = 10**9  # datagrams of a flow, whether it says how many or not
QUIC_BYTES = 1200  # of a datagram: the least that every path carries (RFC 9000, section 14)
QUIC_RANGE = (256, 65507)  # what flowgen takes


@dataclass(frozen=True)
class Cell:
    """What flows must fit into."""

    stations: list[str]
    duration_s: float
    seed: int
    datagram_bytes: int  # of flows of datagrams that do not say it; 0: they must
    quic_window: int  # bytes that QUIC's receivers take ahead; 0: many

    def check_station(self, name: str) -> None:
        """ApbedError for a station that the cell does not have."""
        if name not in self.stations:
            raise ApbedError(f"station = {name!r}: expected one of {self.stations}")


def of_mix(word: str, later_s: float = 0.0) -> list[Table]:
    """The [[flow]] tables of "dl2-ul2" (up-down-fairness): each connection has its own station.

    Each connection begins `later_s` seconds after the one before.
    """
    if not word:
        return []
    match = re.fullmatch(r"dl(\d{1,2})-ul(\d{1,2})", word)
    downs, ups = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 1 <= downs + ups <= 64:
        raise ApbedError(f"mix = {word!r}: expected such as 'dl2-ul1', 1 to 64 connections in all")
    ids = [("up", k) for k in range(1, ups + 1)] + [("down", k) for k in range(1, downs + 1)]
    return [
        {
            "id": f"{way}{k}",
            "station": f"sta{number}",
            "dir": way,
            "start_s": (number - 1) * later_s,
        }
        for number, (way, k) in enumerate(ids, start=1)
    ]


def of_tables(tables: Sequence[Table], cell: Cell, sized: Sequence[Flow]) -> tuple[Flow, ...]:
    """The flows of one run; each lasts as long as the run unless its table says otherwise.

    `sized`: the other transfers of the run, whose names are taken.
    """
    if not tables and not sized:
        raise ApbedError("nothing is sent; a scenario needs a [[flow]], a [workload] or [users]")
    flows = tuple(
        flow
        for number, table in enumerate(tables, start=1)
        for its_own in _for_each(table, cell)
        for flow in _connections(number, its_own, cell)
    )
    ids = [flow.id for flow in flows]
    taken = {*RECORDS, *(f"server-{name}" for name in cell.stations)}
    taken |= {transfer.id for transfer in sized}
    for flow_id in ids:
        if flow_id in taken:
            raise ApbedError(f"flow.id = {flow_id!r}: expected a name no other flow has")
        taken.add(flow_id)
    return flows


def sleep(number: int, table: Table, cell: Cell) -> Sleep:
    """One [[sleep]]: a station in power save from start_s on, for so many seconds."""
    try:
        found = Sleep(**checked(SLEEP_KEYS, table))
        cell.check_station(found.station)
        if found.start_s >= cell.duration_s:
            raise ApbedError("it would start after the end of the run")
    except ApbedError as error:
        raise ApbedError(f"sleep {number}: {error}") from error
    return found


def _for_each(table: Table, cell: Cell) -> list[Table]:
    """A table of station "each" is one for every station: ID-sta1, ID-sta2 stagger_s later..."""
    if table.get("station") != "each":
        if "stagger_s" in table:
            raise ApbedError("stagger_s: expected only with station = 'each'")
        return [table]
    single = {key: value for key, value in table.items() if key != "stagger_s"}
    later_s = FLOW_KEYS["stagger_s"].check("stagger_s", table.get("stagger_s", 0.0))
    begin_s = FLOW_KEYS["start_s"].check("start_s", table.get("start_s", 0.0))
    return [
        single
        | {"id": f"{table.get('id', '')}-{name}", "station": name}
        | {"start_s": begin_s + number * later_s}
        for number, name in enumerate(cell.stations)
    ]


def _connections(number: int, table: Table, cell: Cell) -> list[Flow]:
    """What one table asks for: one flow, a talker's two, or with renew_s one after the other."""
    try:
        refuse_unknown(table, FLOW_KEYS)
        lost_anyway = str(table.get("dir")).startswith("udp")
        last_s = cell.duration_s - (0 if lost_anyway else LAST_DATAGRAM_S)
        if cell.datagram_bytes and table.get("dir") not in ("up", "down"):
            table = {"bytes": cell.datagram_bytes} | table
        pulses = datagrams.pulses(table, last_s, cell.seed)
    except ApbedError as error:
        raise ApbedError(f"flow {number}: {error}") from error
    return [flow for pulse in pulses for flow in _connection(number, pulse, cell)]


def _connection(number: int, table: Table, cell: Cell) -> list[Flow]:
    spoken = {"bursts": tuple(table["bursts"])} if "bursts" in table else {}
    try:
        values = checked(FLOW_KEYS, {key: table[key] for key in table if key != "bursts"})
        if not re.fullmatch(r"[A-Za-z0-9_.-]{1,32}", values["id"]):
            raise ApbedError(f"id = {values['id']!r}: expected letters, digits, - . _, at most 32")
        cell.check_station(values["station"])
        every_s = values.pop("renew_s", None)
        if mark := values.get("dscp"):
            values["dscp"] = DSCP[mark]
        values = {"start_s": 0.0} | _with_transport(values, cell.quic_window or None) | spoken
        flow = Flow(**values)
        if every_s is not None and (flow.pulse or not every_s):
            raise ApbedError("renew_s: expected more than 0, and only for connections")
        flow = _complete(flow, cell.duration_s)
        return [flow] if every_s is None else _renewed(flow, every_s, cell.duration_s)
    except ApbedError as error:
        raise ApbedError(f"flow {number}: {error}") from error


def _with_transport(values: Table, window: int | None) -> Table:
    """A table whose direction says QUIC too, with both apart; `bytes` are a datagram's there."""
    if values["dir"] not in QUIC:
        return values
    size, (low, high) = values.pop("bytes", QUIC_BYTES), QUIC_RANGE
    if not low <= size <= high:
        raise ApbedError(f"bytes = {size}: expected {low} to {high} with {values['dir']!r}")
    return values | {"dir": QUIC[values["dir"]], "quic_bytes": size, "quic_window": window}


def _complete(flow: Flow, duration_s: float) -> Flow:
    """The flow with its end, or ApbedError if its values contradict each other."""
    if flow.pulse:
        for key in ("every_s", "bytes"):
            if not getattr(flow, key):
                raise ApbedError(f"{key} is missing; a pulse flow needs every_s and bytes")
        if flow.count is None:
            last_s = duration_s - LAST_DATAGRAM_S
            fit = (last_s - flow.start_s) / (flow.every_s or 1) + 1e-9
            if fit > COUNT_MAX:
                raise ApbedError(f"every_s: {fit:.0f} datagrams; expected at most {COUNT_MAX}")
            flow = replace(flow, count=math.floor(fit))
        if (flow.count or 0) < 1:
            raise ApbedError("count: expected at least 1, or a run long enough for one")
        if flow.dir == "ping" and (flow.datagrams or 1) > 1:
            raise ApbedError("datagrams: expected 1 with dir = 'ping', which sends them singly")
        return flow
    if flow.dscp is not None and flow.quic_bytes:
        raise ApbedError("dscp: expected only for TCP and for datagrams, not with QUIC")
    for key in ("datagrams", "late_s"):
        if getattr(flow, key) is not None:
            raise ApbedError(f"{key}: expected only for datagrams: pulse, pulse_down or ping")
    if flow.seconds is not None and flow.bytes is not None:
        raise ApbedError("give seconds or bytes, not both")
    if flow.start_s >= duration_s or flow.seconds == 0:
        raise ApbedError("it would start after the end of the run")
    if flow.bytes is None and flow.seconds is None:
        return replace(flow, seconds=duration_s - flow.start_s)
    return flow


def _renewed(flow: Flow, every_s: float, duration_s: float) -> list[Flow]:
    """The connections of a flow, one after the other: ID-1, ID-2..."""
    lasts_s = duration_s if flow.seconds is None else flow.seconds
    end_s = min(flow.start_s + lasts_s, duration_s)
    begun = (end_s - flow.start_s) / every_s - 1e-9
    if begun > TRANSFERS_MAX:
        raise ApbedError(f"renew_s: {begun:.0f} connections; expected at most {TRANSFERS_MAX}")
    starts = [flow.start_s + every_s * k for k in range(math.ceil(begun))]
    return [
        replace(
            flow,
            id=f"{flow.id}-{k}",
            start_s=at,
            seconds=None if flow.bytes is not None else min(every_s, end_s - at),
        )
        for k, at in enumerate(starts, start=1)
    ]
