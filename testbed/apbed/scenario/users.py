# SPDX-License-Identifier: GPL-2.0-only
"""Users who fetch one page after the other: a closed loop, one user at each station.

Principle: sizes and think times are drawn before anything runs, from the run's seed alone, each
user's apart, so that every scheduler meets the same users. When a page is asked for follows from
the run: a think time after the page before it is there.

Source: http-queueing, section 4: a station downloads a file, then thinks for an exponential time.
A page may have several objects, fetched at once on a connection each.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from apbed.errors import ApbedError
from apbed.scenario.plan import Flow, station_names
from apbed.scenario.workload import TRANSFERS_MAX, sizes


@dataclass(frozen=True)
class Users:
    """What a scenario's [users] asks for."""

    files: int  # pages of each user
    think_s: float  # on average
    sizes: str  # as a workload's
    min_bytes: int
    max_bytes: int
    mean_bytes: float
    alpha: float
    list_bytes: list[Any]
    objects: int  # of a page, each of such a size
    warmup_files: int  # the first pages of each user, not measured


def pages(users: Users, stations: int, seed: int) -> tuple[Flow, ...]:
    """Every user's transfers in their order. ApbedError if they are too many."""
    count = users.files * users.objects * stations
    if count > TRANSFERS_MAX:
        raise ApbedError(f"users: {count} transfers; expected at most {TRANSFERS_MAX}")
    if users.warmup_files >= users.files:
        raise ApbedError("users.warmup_files: expected less than users.files")
    quantile, _mean = sizes("users", users)
    found = []
    for name in station_names(stations):
        volumes, thinks = (
            random.Random(f"apbed users {stream} {name} {seed}") for stream in ("sizes", "thinks")
        )
        for page in range(1, users.files + 1):
            for number in range(1, users.objects + 1):
                think_s = round(users.think_s * thinks.expovariate(1), 9) if number == 1 else None
                object_id = f".{number}" if users.objects > 1 else ""
                found.append(
                    Flow(
                        id=f"{name}-file-{page}{object_id}",
                        station=name,
                        dir="down",
                        start_s=0.0,
                        bytes=max(1, round(quantile(volumes.random()))),
                        think_s=think_s,
                    )
                )
    return tuple(found)


def page_of(transfer: Flow) -> int:
    """Which page of its user a transfer belongs to, from 1."""
    return int(transfer.id.rpartition("-")[2].partition(".")[0])
