# SPDX-License-Identifier: GPL-2.0-only
"""Saturation throughput, collisions and drops of real DCF, by the model that fits n.

One station is renewal theory, two an exact Markov chain (dcf_pair), more a mean-field model
(dcf_crowd); those modules name their sources.
"""

from __future__ import annotations

from dataclasses import dataclass

from apbed.papers.dcf_crowd import crowd
from apbed.papers.dcf_pair import pair
from apbed.papers.phy import Phy


@dataclass(frozen=True)
class Saturation:
    """A model's answer for n stations that always have a frame."""

    throughput_mbps: float  # payload
    collision_probability: float  # of an attempt
    drop_probability: float  # of a frame


def saturation(
    n: int, payload_bytes: int, phy: Phy, *, eifs: bool, rts: bool = False, attempts: int = 7
) -> Saturation:
    """`n` stations, `attempts` transmissions at most; observers of a collision wait EIFS or DIFS.

    A payload of `payload_bytes` is what LLC/SNAP carries.
    """
    windows = phy.windows(attempts)
    success_us = phy.difs_us + phy.success_us(payload_bytes, rts)
    collision_us = phy.ack_timeout_us + phy.collision_us(payload_bytes, rts)
    if n == 1:
        idle_us = phy.slot_us * (windows[0] - 1) / 2
        return Saturation(8 * payload_bytes / (success_us + idle_us), 0.0, 0.0)
    if n == 2:
        two = pair(windows)
        mean_us = two.success * success_us + (1 - two.success) * collision_us
        mean_us += two.idle_slots * phy.slot_us
        throughput = two.success * 8 * payload_bytes / mean_us
        return Saturation(throughput, two.collision_probability, two.drop_probability)
    observers_us = phy.eifs_us if eifs else phy.difs_us
    many = crowd(n, windows, (observers_us - phy.ack_timeout_us) / phy.slot_us)
    success_us += many.idle_after_success * phy.slot_us
    collision_us += many.idle_after_collision * phy.slot_us
    mean_us = many.success * success_us + (1 - many.success) * collision_us
    throughput = many.success * 8 * payload_bytes / mean_us
    return Saturation(throughput, many.collision_probability, many.drop_probability)
