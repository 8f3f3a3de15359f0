# SPDX-License-Identifier: GPL-2.0-only
"""Nodes' clocks, and flowgen's records on the lead's clock instead of a node's.

Principle: a node reads its clock between two readings of ours; the best of a few tries, by the
time it took, is off by at most half that time (as in D. L. Mills, "Internet Time Synchronization:
The Network Time Protocol", RFC 1129, 1989, section 4).
"""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from apbed.grid.session import NodeError, Session

TRIES = 4
CLOCK = "sed -n 's/^now at \\([0-9]*\\) nsecs$/\\1/p;/^now at/q' /proc/timer_list"
DIGITS = re.compile(r"\d{1,19}")
MOMENTS = ("t_s", "start_s", "connected_s", "first_byte_s", "end_s")
COUNTS = ("schema", "bytes", "retrans", "segments", "mss")
LINE_MAX = 2**16  # bytes


@dataclass(frozen=True)
class Clock:
    """A node's CLOCK_MONOTONIC less ours, in s, and by how much that may be wrong."""

    offset_s: float
    error_s: float


def clock(session: Session) -> Clock:
    """Read a node's clock."""
    found = []
    for _ in range(TRIES):
        before = time.monotonic()
        said = session.shell(CLOCK).strip()
        took = time.monotonic() - before
        if not DIGITS.fullmatch(said):
            raise NodeError(f"{session.node.name}: its clock cannot be read")
        found.append(Clock(int(said) / 1e9 - (before + took / 2), took / 2))
    return min(found, key=lambda one: one.error_s)


def to_our_clock(source: Path, target: Path, offset_s: float) -> None:
    """Copy a file of flowgen's with its moments on our clock; ValueError if it is none."""
    with source.open("rb") as lines, target.open("w") as out:
        for number, line in enumerate(iter(lambda: lines.readline(LINE_MAX), b""), start=1):
            entry = _record(line)
            if entry is None:
                raise ValueError(f"{source.name} line {number} is not a flow record")
            for key in MOMENTS:
                if (moment := entry.get(key)) is not None:
                    entry[key] = round(moment - offset_s, 9)
            out.write(json.dumps(entry) + "\n")


def _record(line: bytes) -> dict[str, Any] | None:
    """A line's entry, or None if a value of it is of another type than flowgen's."""
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not line.endswith(b"\n") or not isinstance(entry, dict):
        return None
    return entry if all(map(_is_fit, entry, entry.values())) else None


def _is_fit(key: str, value: object) -> bool:
    if key in MOMENTS:
        return value is None or (type(value) in (int, float) and abs(float(str(value))) < 1e10)
    if key in COUNTS:
        return value is None or type(value) is int
    if key == "us":
        return isinstance(value, list) and all(type(one) is int for one in value)
    return value is None or isinstance(value, str)
