# SPDX-License-Identifier: GPL-2.0-only
"""Throughput of one station that always has an A-MPDU to send, in closed form.

Each cycle is DIFS, the mean backoff of the smallest window, the A-MPDU, SIFS and the compressed
block ack (IEEE Std 802.11-2012, 8.6.1, 8.3.1.9, 9.12; TXTIME 20.4.3 and 802.11ac-2013, 22.4.3).
Times are microseconds, lengths bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

DELIMITER_BYTES = 4
MPDU_OVERHEAD_BYTES = 26 + 8 + 4  # QoS Data header, LLC/SNAP, FCS
ACK_BYTES, BLOCK_ACK_BYTES = 14, 32
SLOT_US, SIFS_US, DIFS_US = 9, 16, 34
MEAN_BACKOFF_SLOTS = 15 / 2
LONGEST_PPDU_US = 5484  # what a legacy L-SIG can announce
CONTROL_BITS_PER_SYMBOL = 96  # 24 Mb/s
LEGACY_PREAMBLE_US = 20


@dataclass(frozen=True)
class AggregatingPhy:
    """What distinguishes HT from VHT, and one rate from another."""

    preamble_us: int
    bits_per_symbol: int
    longest_bytes: int
    always_ampdu: bool  # VHT: a single MPDU has a delimiter, too


HT20 = AggregatingPhy(36, 260, 65535, always_ampdu=False)  # MCS 7, 65 Mb/s
VHT80 = AggregatingPhy(40, 1560, 1048575, always_ampdu=True)  # MCS 9, 390 Mb/s


def _txtime_us(preamble_us: int, bits_per_symbol: int, psdu_bytes: int) -> int:
    return preamble_us + 4 * ceil((16 + 8 * psdu_bytes + 6) / bits_per_symbol)


def psdu_bytes(mpdus: int, mpdu_bytes: int, phy: AggregatingPhy) -> int:
    """A delimiter before each MPDU, and all but the last padded to four bytes."""
    if mpdus == 1 and not phy.always_ampdu:
        return mpdu_bytes
    padded = 4 * ceil((DELIMITER_BYTES + mpdu_bytes) / 4)
    return (mpdus - 1) * padded + DELIMITER_BYTES + mpdu_bytes


def longest_ampdu(mpdus: int, payload_bytes: int, phy: AggregatingPhy) -> int:
    """How many of `mpdus` the limits of length and time let through."""
    mpdu = payload_bytes + MPDU_OVERHEAD_BYTES
    while mpdus > 1:
        psdu = psdu_bytes(mpdus, mpdu, phy)
        time_us = _txtime_us(phy.preamble_us, phy.bits_per_symbol, psdu)
        if psdu <= phy.longest_bytes and time_us <= LONGEST_PPDU_US:
            break
        mpdus -= 1
    return mpdus


def throughput_mbps(
    mpdus: int, payload_bytes: int, phy: AggregatingPhy, mpdu_loss: float = 0.0
) -> float:
    """Payload per time with up to `mpdus` per A-MPDU, of which `mpdu_loss` are sent again."""
    n = longest_ampdu(mpdus, payload_bytes, phy)
    psdu = psdu_bytes(n, payload_bytes + MPDU_OVERHEAD_BYTES, phy)
    response = BLOCK_ACK_BYTES if n > 1 else ACK_BYTES
    cycle_us = (
        DIFS_US
        + MEAN_BACKOFF_SLOTS * SLOT_US
        + _txtime_us(phy.preamble_us, phy.bits_per_symbol, psdu)
        + SIFS_US
        + _txtime_us(LEGACY_PREAMBLE_US, CONTROL_BITS_PER_SYMBOL, response)
    )
    return n * 8 * payload_bytes * (1 - mpdu_loss) / cycle_us
