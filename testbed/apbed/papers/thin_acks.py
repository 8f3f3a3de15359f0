# SPDX-License-Identifier: GPL-2.0-only
"""What an upload alone in its cell can gain from thinner ACKs, without RTS.

Principle: eq. 8 of http-queueing (apbed.papers.http_queueing), with the exchanges of basic access.
Of d segments one meets the ACK of the access point: then both contend, and their chain is solved
exactly (apbed.papers.dcf_pair); the others find nobody and wait half a window. The wire takes no
time and nobody else sends, so this is an upper bound for a receiver that does send an ACK for d
segments.
Whether a frame has 7 attempts or 16 makes no difference in eight digits, but 16 take a minute.
"""

from __future__ import annotations

from apbed.papers.dcf_pair import pair
from apbed.papers.phy import HRDSSS_11, Phy

HEADER_BYTES = 20 + 20 + 12  # IPv4, TCP, timestamps


def throughput_mbps(
    d: float, payload_bytes: int = 1000, attempts: int = 7, phy: Phy = HRDSSS_11
) -> float:
    """Payload of one upload with an ACK for every `d` segments, at least 1."""
    data_us = phy.difs_us + phy.success_us(payload_bytes + HEADER_BYTES, rts=False)
    ack_us = phy.difs_us + phy.success_us(HEADER_BYTES, rts=False)
    two = pair(phy.windows(attempts))
    collision_us = phy.ack_timeout_us + phy.collision_us(payload_bytes + HEADER_BYTES, rts=False)
    # for each frame that is delivered while both contend
    contention_us = (two.idle_slots * phy.slot_us + (1 - two.success) * collision_us) / two.success
    alone_us = phy.slot_us * (phy.cw_min - 1) / 2
    segment_us = data_us + (ack_us + 2 * contention_us) / d + (d - 1) / d * alone_us
    return 8 * payload_bytes / segment_us


def gain(d: float, before: float) -> float:
    """Of an ACK for `d` segments over one for `before`, as a share."""
    return throughput_mbps(d) / throughput_mbps(before) - 1
