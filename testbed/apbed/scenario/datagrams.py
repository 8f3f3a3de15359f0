# SPDX-License-Identifier: GPL-2.0-only
"""Datagrams at a rate: what `dir = "udp"` and `dir = "voice"` say becomes a pulse.

A talker speaks and is silent in turn, for exponential times (channel-errors, section 3.3, after
Gruber and Strawczynski). A spurt is its length over the time of a datagram, rounded, at least one
datagram, as ns-2's exponential on/off source has it; silence begins when the last one's time is
over. Spurts are drawn before anything runs, from the run's seed and the flow's id.
"""

from __future__ import annotations

import random
from typing import Any

from apbed.errors import ApbedError
from apbed.scenario.keys import FLOW_KEYS, RATED, checked

Table = dict[str, Any]
RATE_KEYS = ("rate_mbps", "rate_kbps", "on_s", "off_s", "both")


def pulses(table: Table, last_s: float, seed: int) -> list[Table]:
    """The [[flow]] tables of pulses that a rate means: one, or with `both` one each way.

    `last_s`: when the last datagram may leave. Other tables stay as they are.
    """
    word = table.get("dir")
    if word not in RATED:
        if given := [key for key in RATE_KEYS if key in table]:
            raise ApbedError(f"{given[0]}: expected only with dir = {', '.join(RATED)}")
        return [table]
    values = checked(FLOW_KEYS, table)
    every_s = _every_s(values, voice=word.startswith("voice"))
    plain = {key: value for key, value in table.items() if key not in (*RATE_KEYS, "seconds")}
    plain |= {"every_s": every_s, "dir": "pulse_down" if word.endswith("_down") else "pulse"}
    last_s = min(last_s, values.get("start_s", 0.0) + values.get("seconds", last_s))
    if not values.get("both"):
        return [_spoken(plain, values, last_s, seed)]
    if word != "voice":
        raise ApbedError("both: expected only with dir = 'voice'")
    ways = {"up": "pulse", "down": "pulse_down"}
    return [
        _spoken(plain | {"id": f"{values['id']}-{way}", "dir": pulse}, values, last_s, seed)
        for way, pulse in ways.items()
    ]


def spurts(on_s: float, off_s: float, every_s: float, length_s: float, seed: str) -> list[Any]:
    """[[start in s, datagrams]...] of one talker, who first speaks or is silent as in the long run.

    The last datagram leaves before `length_s`.
    """
    draw = random.Random(f"apbed voice {seed}")
    found: list[Any] = []
    now_s = 0.0 if draw.random() < on_s / (on_s + off_s) else draw.expovariate(1 / off_s)
    while now_s < length_s:
        count = max(1, round(draw.expovariate(1 / on_s) / every_s))
        fits = max(1, min(count, int((length_s - now_s) / every_s)))
        found.append((round(now_s, 9), fits))
        now_s += count * every_s + draw.expovariate(1 / off_s)
    return found


def _every_s(values: Table, *, voice: bool) -> float:
    key = "rate_kbps" if voice else "rate_mbps"
    for needed in (key, "bytes", *(("on_s", "off_s") if voice else ())):
        if not values.get(needed):
            raise ApbedError(f"{needed} is missing; dir = {values['dir']!r} needs it")
    return float(values["bytes"] * 8 / (values[key] * (1e3 if voice else 1e6)))


def _spoken(plain: Table, values: Table, last_s: float, seed: int) -> Table:
    """The table with its spurts, or of a constant rate with how many datagrams there are."""
    length_s = last_s - values.get("start_s", 0.0)
    if length_s <= 0:
        raise ApbedError("it would start after the end of the run")
    if not values.get("on_s"):
        return plain | {"count": max(1, int(length_s / plain["every_s"] + 1e-9))}
    if not values.get("off_s"):
        raise ApbedError("on_s: expected off_s, too")
    on_s, off_s, every_s = values["on_s"], values["off_s"], plain["every_s"]
    found = spurts(on_s, off_s, every_s, length_s, f"{plain['id']} {seed}")
    if not found:
        raise ApbedError("not one talk spurt before the end of the run")
    return plain | {"bursts": found, "count": sum(count for _, count in found)}
