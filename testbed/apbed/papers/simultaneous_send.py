# SPDX-License-Identifier: GPL-2.0-only
"""ack-skipping's estimate of how often a transmission fails because two nodes chose the same slot.

Principle: all of N + 1 nodes (N uploads and the access point, which sends their ACKs) have a frame
and draw from a fresh window of CW slots, whatever happened before. The counts that stay behind
when somebody else went first are left out; apbed.papers.saturation has them.
"""

from __future__ import annotations

CW_MIN = 32


def same_slot_probability(flows: int, window: int = CW_MIN) -> float:
    """Eq. 1 of ack-skipping: 1 - (CW - 1)! / ((CW - N - 1)! CW^N), at least two of N + 1 agree."""
    alone = 1.0
    for taken in range(1, flows + 1):
        alone *= 1 - taken / window
    return 1 - alone
