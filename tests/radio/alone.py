# SPDX-License-Identifier: GPL-2.0-only
"""The times of an 802.11b access point that sends alone, by the standard."""

from __future__ import annotations

from apbed.papers import anomaly

PAYLOAD_BYTES, HEADER_BYTES = 1400, 20 + 8  # UDP's; with IP and UDP
MEAN_BACKOFF_US = anomaly.SLOT_US * (anomaly.CW_MIN - 1) / 2
# A run in which the access point sends nothing at all is invalid.
PROBE = """
[[flow]]
id = "probe"
station = "sta1"
dir = "pulse_down"
every_s = 1.0
bytes = 64
"""


def cycle_us(rate_mbps: float) -> float:
    """From one frame to the next."""
    return MEAN_BACKOFF_US + anomaly.exchange_us(PAYLOAD_BYTES + HEADER_BYTES, rate_mbps)
