# SPDX-License-Identifier: GPL-2.0-only
"""Frame loss over a channel with independent bit errors, plain and Reed-Solomon coded.

RS(n, k) over octets with bounded distance decoding corrects (n - k) / 2 wrong octets of n
(R. E. Blahut, Theory and Practice of Error Control Codes, 1983, ch. 7). A frame is cut into words
of k octets and is lost if one of them is.
"""

from __future__ import annotations

from scipy.stats import binom


def plain_frame_loss(frame_bytes: int, ber: float) -> float:
    """Probability that one of the frame's bits is wrong."""
    return float(1 - (1 - ber) ** (8 * frame_bytes))


def word_loss(n: int, k: int, ber: float) -> float:
    """Probability that more octets of a word are wrong than the code corrects."""
    return float(binom.sf((n - k) // 2, n, 1 - (1 - ber) ** 8))


def coded_frame_loss(n: int, k: int, frame_bytes: int, ber: float) -> float:
    """Probability that a frame in words of RS(n, k) is lost; the last word has its share of the
    parity octets, rounded up, as a punctured code."""
    whole, rest = divmod(frame_bytes, k)
    kept = (1 - word_loss(n, k, ber)) ** whole
    parity = -(-rest * (n - k) // k)
    return float(1 - kept * (1 - word_loss(rest + parity, rest, ber)))
