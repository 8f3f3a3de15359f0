# SPDX-License-Identifier: GPL-2.0-only
"""Traffic of known size between namespaces: downloads, uploads and datagrams, by flowgen."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from access_point import Cell

BYTES = 600_000  # each way; nearly a second of 802.11b
PULSES = 100
PULSE_S = 0.02
STUCK_S = 60.0
# Of a transfer at least so many packets come through the access point's queue.
PACKETS = BYTES // 1500


@dataclass(frozen=True)
class Pair:
    """A client, and the server that it exchanges data with: namespaces, "" for the first."""

    client: str
    client_address: str
    server: str
    server_address: str


def flowgen(namespace: str, *words: str) -> list[str]:
    """Its command line."""
    prefix = ["ip", "netns", "exec", namespace] if namespace else []
    return [*prefix, "flowgen", *words]


class Exchange:
    """A download, an upload and datagrams for each pair, at once.

    The datagrams go to the clients, `pulses` to each.
    """

    def __init__(self, made: Cell, pairs: Sequence[Pair], pulses: int = PULSES) -> None:
        self.made, self.scratch, self.pairs, self.pulses = made, made.scratch, pairs, pulses
        self._servers: list[subprocess.Popen[bytes]] = []
        self._clients: dict[str, subprocess.Popen[bytes]] = {}
        for server in {pair.server for pair in pairs}:
            self._serve(server, "7001", f"served-{server}")
        for pair in pairs:
            self._serve(pair.client, "7002", f"heard-{pair.client}")
        time.sleep(0.1)
        for pair in pairs:
            self._begin(pair)

    def _serve(self, namespace: str, port: str, log: str) -> None:
        words = ("serve", "--port", port, "--out", str(self.scratch / log))
        self._servers.append(self._start(namespace, *words))

    def _start(self, namespace: str, *words: str) -> subprocess.Popen[bytes]:
        return self.made.start(*flowgen(namespace, *words), ready=0)

    def _begin(self, pair: Pair) -> None:
        here = ("--host", pair.server_address, "--port", "7001", "--bytes", str(BYTES))
        log = str(self.scratch / f"flow-{pair.client}")
        for direction in ("down", "up"):
            words = ("--id", f"{pair.client}-{direction}", "--dir", direction, "--out", log)
            client = self._start(pair.client, "run", *words, *here)
            self._clients[f"{pair.client} {direction}"] = client
        there = ("--host", pair.client_address, "--port", "7002", "--bytes", "160")
        words = ("--id", pair.client, "--count", str(self.pulses), "--every", str(PULSE_S))
        pulse = self._start(pair.server, "pulse", *words, *there, "--out", "/dev/null")
        self._clients[f"{pair.client} pulse"] = pulse

    def wait(self) -> list[str]:
        """Until all has been sent and the queues have had time to become empty; what failed."""
        wrong = []
        end = time.monotonic() + STUCK_S
        for name, client in self._clients.items():
            try:
                if client.wait(max(end - time.monotonic(), 0)):
                    wrong.append(f"{name}: flowgen failed")
            except subprocess.TimeoutExpired:
                wrong.append(f"{name}: not done after {STUCK_S:g} s")
        time.sleep(2)
        return wrong

    def running(self) -> int:
        """How many of the clients have not ended."""
        return sum(client.poll() is None for client in self._clients.values())

    def end(self, dropped: int | None = 0) -> list[str]:
        """End the servers; what did not arrive.

        Of all datagrams as many as were `dropped` may be missing, or with None any number, but
        never the last one of a client.
        """
        for server in self._servers:
            self.made.stop(server)
        wrong, missing = [], 0
        for pair in self.pairs:
            wrong += self._transfers(pair)
            heard = records(self.scratch / f"heard-{pair.client}")
            count = sum(len(record["us"]) for record in heard if "us" in record)
            missing += self.pulses - count
            if not any(record.get("end_s") for record in heard):
                wrong.append(f"{pair.client}: the last datagram is missing; {count} arrived")
        if dropped is not None and not 0 <= missing <= dropped:
            wrong.append(f"{missing} datagrams are missing, and {dropped} packets were dropped")
        return wrong

    def _transfers(self, pair: Pair) -> list[str]:
        flows = [r for r in records(self.scratch / f"flow-{pair.client}") if r["event"] == "flow"]
        whole = [r for r in flows if r["bytes"] == BYTES and r["end_s"] and not r["error"]]
        if len(whole) == 2:
            return []
        return [f"{pair.client}: {len(whole)} of 2 transfers ended: {flows}"]


def records(path: Path) -> list[dict[str, Any]]:
    """What flowgen has written; nothing if it has not."""
    lines = path.read_text().splitlines() if path.exists() else []
    return [json.loads(line) for line in lines]
