# SPDX-License-Identifier: GPL-2.0-only
"""The flows of a run on a cell of nodes: started, watched, ended, and their records fetched."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from apbed.grid.cell import GridCell
from apbed.grid.nodes import at_once
from apbed.grid.records import Clock, clock, to_our_clock
from apbed.grid.session import Interrupted, NodeError, Session
from guest.addresses import WIRED_ADDRESS
from guest.commands import next_multiple, seconds_between
from guest.network import mib_counters
from guest.traffic import flow_words, list_words, serve_words

START_S = 3.0  # from the last reading of the clocks to t0
EACH_S = 0.1  # and more for each client to start
END_S = 0.5  # after t1: flows with an end of their own have recorded it
RECORD_MAX = 64 * 2**20  # bytes
CAPTURE_MAX = 512 * 2**20
LOG_MAX = 4 * 2**20
COUNT = re.compile(r"[0-9]{1,18}")


class Measurement:
    """What is sent and counted in a cell that is set up."""

    def __init__(
        self, cell: GridCell, run_dir: Path, cancel: threading.Event, tell: Callable[[], None]
    ) -> None:
        self.cell, self.plan, self.run_dir, self.cancel = cell, cell.plan, run_dir, cancel
        self.tell = tell  # called when `progress` has changed
        self.senders = [cell.wired, *cell.stations]
        self.clocks: dict[str, Clock] = {}
        self.records: list[tuple[Session, str]] = []  # where each file of flowgen's is
        self.clients: list[tuple[Session, str]] = []

    def carry_out(self, progress: Path) -> dict[str, Any]:
        """Run the flows; what guest.json says of them."""
        self._step(progress, "clocks")
        for session in self.senders:
            self.clocks[session.node.name] = clock(session)
        t0 = next_multiple(time.monotonic() + START_S + EACH_S * len(self.plan.flows), 1.0)
        t1 = t0 + self.plan.duration_s
        self._start(t0)
        self._wait(t0)
        first = self._snapshot("qdisc_start.json")
        for moment in seconds_between(t0, t1):
            self._wait(moment)
            self._step(progress, f"{moment - t0:.0f}")
            self._watch(t0)
        frames = self._snapshot("qdisc.json") - first
        self._wait(t1 + END_S)
        self._end()
        self._step(progress, "fetch")
        self._fetch()
        return {"t0_s": t0, "t1_s": t1, "frames_sent": frames} | self._facts()

    def _step(self, progress: Path, name: str) -> None:
        """Write down what comes now, and tell who watches."""
        progress.write_text(f"{name}\n")
        self.tell()

    def _start(self, t0: float) -> None:
        flowgen = self.cell.programs.flowgen
        wired = self.cell.wired
        wired.start("server", serve_words(flowgen, wired.path("out/server.jsonl")))
        self.records.append((wired, "server.jsonl"))
        for number, flow in enumerate(self.plan.flows, start=1):
            session = self.cell.nodes[flow.station]
            record = f"{flow.id}.jsonl"
            at = t0 + self.clocks[flow.station].offset_s
            words = flow_words(flowgen, flow, WIRED_ADDRESS, at, session.path(f"out/{record}"))
            self._client(session, f"client{number}", words, record)
        sending = {one.station for one in self.plan.transfers}
        for session in self.cell.stations:
            name = session.node.name
            if name in sending:
                record = f"workload-{name}.jsonl"
                at = t0 + self.clocks[name].offset_s
                listed, out = session.path("files/transfers.list"), session.path(f"out/{record}")
                self._client(
                    session, "workload", list_words(flowgen, "--list", listed, at, out), record
                )
        if time.monotonic() > t0:
            raise NodeError("the grid is too slow: the flows' time came before all were started")

    def _client(self, session: Session, name: str, words: list[str], record: str) -> None:
        session.start(name, words)
        self.clients.append((session, name))
        self.records.append((session, record))

    def _wait(self, moment: float) -> None:
        """Until our clock reads `moment`; Interrupted if the campaign is to end, or a node."""
        if self.cancel.wait(max(0.0, moment - time.monotonic())):
            raise Interrupted
        for session in self.cell.nodes.values():
            session.check()

    def _snapshot(self, name: str) -> int:
        """Keep the access point's queue as it is now; frames it has sent its stations so far.

        Both are read by one order, so that few packets pass in between.
        """
        device = self.cell.ap.node.wlan
        both = f"tc -s -j qdisc show dev {device}; echo; iw dev {device} station dump"
        plugins = f"TC_LIB_DIR={self.cell.programs.tc_lib_dir}"
        said = self.cell.ap.shell(f"export {plugins}; {both}")
        listed, _, dump = said.strip().partition("\n")
        (self.run_dir / name).write_text(json.dumps(queues(self.cell.ap, listed), indent=1))
        return sent_frames(self.cell.ap, dump)

    def _watch(self, t0: float) -> None:
        """Keep the queue's state at this moment too, if the plan asks for that."""
        if not self.plan.ap.watch:
            return
        words = ["tc", "-s", "-j", "qdisc", "show", "dev", self.cell.ap.node.wlan]
        said = self.cell.ap.run(words, self.cell.programs.tc_lib_dir)
        state = {"t_s": time.monotonic() - t0, "qdisc": queues(self.cell.ap, said)}
        with (self.run_dir / "qdisc_watched.jsonl").open("a") as log:
            log.write(json.dumps(state) + "\n")

    def _end(self) -> None:
        """End what still runs; each side then records what it has."""
        at_once(lambda one: one[0].stop(one[1]), self.clients)
        failed = self.cell.wired.stop("server")
        if self.cell.captured:
            self.cell.captured.stop("tcpdump")
        for session in self.cell.nodes.values():
            refuse_if_full(session)
        if failed:
            raise NodeError(f"wired: flowgen's server ended with status {failed}")

    def _fetch(self) -> None:
        """Records on our clock in flows/, captures, counters, and what the kernels logged."""
        raw, flows = self.run_dir / "nodes", self.run_dir / "flows"
        flows.mkdir(exist_ok=True)
        for session, name in self.records:
            found = raw / f"{session.node.name}-{name}"
            session.fetch(name, RECORD_MAX, found)
            try:
                to_our_clock(found, flows / name, self.clocks[session.node.name].offset_s)
            except ValueError as error:
                raise NodeError(f"{session.node.name}: {error}") from error
            found.unlink()
        if self.cell.captured:
            self.cell.captured.fetch("air.pcap", CAPTURE_MAX, self.run_dir / "air.pcap")
        for session, name in [
            (self.cell.ap, "hostapd"),
            *((station, "wpa_supplicant") for station in self.cell.stations),
        ]:
            session.fetch(f"{name}.log", LOG_MAX, raw / f"{session.node.name}-{name}.log")

    def _facts(self) -> dict[str, Any]:
        """Counters into counters.json; the windows and clocks for guest.json."""
        counters = {}
        for session in self.senders:
            said = session.shell("cat /proc/net/snmp /proc/net/netstat")
            try:
                counters[session.node.name] = mib_counters(said)
            except (ValueError, IndexError):
                raise NodeError(f"{session.node.name}: its TCP counters are broken") from None
        (self.run_dir / "counters.json").write_text(json.dumps(counters, indent=1) + "\n")
        windows = {
            session.node.name: " ".join(session.shell("cat /proc/sys/net/ipv4/tcp_rmem").split())
            for session in self.senders
        }
        clocks = {
            name: {"offset_s": round(one.offset_s, 9), "error_s": round(one.error_s, 9)}
            for name, one in self.clocks.items()
        }
        return {"tcp_rmem": windows, "clocks": clocks}


def refuse_if_full(session: Session) -> None:
    """NodeError if the node has no space left: what it recorded ends somewhere."""
    if session.attempt("echo > room && rm room")[0]:
        raise NodeError(f"{session.node.name}: no space left in {session.grid.directory}")


def queues(session: Session, said: str) -> list[dict[str, Any]]:
    """What `tc -s -j qdisc show` said; NodeError if it is something else."""
    try:
        found = json.loads(said)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, list) or not all(map(_is_queue, found)):
        raise NodeError(f"{session.node.name}: tc showed no queues")
    return found


def _is_queue(entry: object) -> bool:
    return (
        isinstance(entry, dict)
        and isinstance(entry.get("kind"), str)
        and isinstance(entry.get("handle", ""), str)
        and isinstance(entry.get("packets", 0), int)
    )


def sent_frames(session: Session, dump: str) -> int:
    """Frames sent to all stations, by `iw dev DEVICE station dump`; NodeError if it is none."""
    lines = (line.split() for line in dump.splitlines())
    counts = [words[2:] for words in lines if words[:2] == ["tx", "packets:"]]
    if not counts or not all(len(one) == 1 and COUNT.fullmatch(one[0]) for one in counts):
        raise NodeError(f"{session.node.name}: iw showed no counts of its stations")
    return sum(int(one[0]) for one in counts)
