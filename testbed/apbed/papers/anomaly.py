# SPDX-License-Identifier: GPL-2.0-only
"""The performance anomaly: one slow station sets the pace of all.

M. Heusse, F. Rousseau, G. Berger-Sabbatel and A. Duda, "Performance Anomaly of 802.11b", IEEE
INFOCOM 2003, sections III and IV. N stations always have a frame; all but one send at the high
rate, one at the low one. Each gets the channel equally often, so each delivers as much as the
slow one does. 802.11b with long preambles; times are microseconds, lengths bytes.
"""

from __future__ import annotations

from math import ceil

SLOT_US, SIFS_US, DIFS_US, PLCP_US = 20, 10, 50, 192
CW_MIN = 32
MPDU_OVERHEAD_BYTES = 24 + 8 + 4  # MAC header, LLC/SNAP, FCS
ACK_BYTES = 14


def collision_probability(stations: int) -> float:
    """The paper's P_c(N): another station picks the same of CW_MIN slots."""
    return 1 - (1 - 1 / CW_MIN) ** (stations - 1)


def exchange_us(payload_bytes: int, rate_mbps: float) -> float:
    """DIFS, frame, SIFS and ACK; ACKs at 2 Mb/s, to frames at 1 Mb/s at that (9.7.6.5.2)."""
    data = PLCP_US + ceil(8 * (payload_bytes + MPDU_OVERHEAD_BYTES) / rate_mbps)
    ack = PLCP_US + 8 * ACK_BYTES / min(rate_mbps, 2)
    return DIFS_US + data + SIFS_US + ack


def throughput_mbps(stations: int, payload_bytes: int, fast_mbps: float, slow_mbps: float) -> float:
    """What each station delivers, fast or slow: X_f = X_s of section IV."""
    collides = collision_probability(stations)
    contention = SLOT_US * (1 + collides) / (2 * stations) * CW_MIN / 2
    fast = exchange_us(payload_bytes, fast_mbps) + contention
    slow = exchange_us(payload_bytes, slow_mbps) + contention
    jam = 2 / stations * slow + (1 - 2 / stations) * fast
    cycle = (stations - 1) * fast + slow + collides * jam * stations
    return 8 * payload_bytes / cycle
