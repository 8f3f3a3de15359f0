# SPDX-License-Identifier: GPL-2.0-only
"""How much of a time the processors had nothing to do.

Where code takes time, a cell is as fast as the processor, unless that was idle now and then.
In User-mode Linux, code takes none.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

STAT = Path("/proc/stat")


@dataclass(frozen=True)
class Times:
    """Ticks of all processors since the boot (proc(5), /proc/stat)."""

    idle: int
    all: int


def times(stat: Path = STAT) -> Times:
    """Up to now."""
    _, *words = stat.read_text().splitlines()[0].split()
    ticks = list(map(int, words[:8]))  # guest's ticks are among user's
    return Times(idle=ticks[3] + ticks[4], all=sum(ticks))


def idle_share(start: Times, end: Times) -> float | None:
    """Between two moments; None if no tick passed."""
    passed = end.all - start.all
    return round((end.idle - start.idle) / passed, 3) if passed else None
