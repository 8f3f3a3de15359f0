# SPDX-License-Identifier: GPL-2.0-only
"""http-queueing's throughput and session delay of TCP downloads through an 802.11b access point.

Principle: a station is backlogged or not, and how often frames collide follows from how many are;
the time a segment takes is averaged over that number. Each receiver sends an ACK for `d` segments.
Equation numbers are the paper's; its constants (Table 1) are in bianchi.py. Its eq. 8 lacks the
slot time of the last term; here it has it. Times are seconds, sizes bits, rates b/s.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, comb, floor

from apbed.papers import bianchi

SEGMENT_BITS = 8000  # L_TCP
HEADER_BITS = 320  # L_IPH, TCP and IP
RTS_BITS, ACK_BITS = 180, 112
DATA_BPS, CONTROL_BPS = 11e6, 2e6
SLOT_S, SIFS_S, DIFS_S, PLCP_S = 20e-6, 10e-6, 50e-6, 192e-6
CW_MIN = 32
FRESH_BACKOFF_S = SLOT_S * (CW_MIN - 1) / 2  # the mean before a first attempt

DATA_S = bianchi.tcp_exchange_us(SEGMENT_BITS) / 1e6  # T_TCPdata, section 2.3
TCP_ACK_S = bianchi.tcp_exchange_us(0) / 1e6  # T_TCPack


@dataclass(frozen=True)
class Contention:
    """What a delivered frame costs beside its exchange, with `n` backlogged nodes."""

    collision_probability: float  # P_C, eqs. 1 and 2
    backoff_s: float  # T_tbo, eq. 5
    wasted_s: float  # T_W, eq. 4

    @property
    def total_s(self) -> float:
        return self.backoff_s + self.wasted_s


def contention(n: int) -> Contention:
    """Eqs. 3 to 5 for `n` backlogged nodes."""
    p = bianchi.collision_probability(n)
    mean_s = mean_backoff_s(p)
    return Contention(p, mean_s / (n * (1 - p)), collision_s(n) * p / (1 - p))


def single(d: float = 1) -> float:
    """S_TCP(1, d), eqs. 7 and 8: one download, its window much larger than `d`."""
    exchange_s = DATA_S + (TCP_ACK_S + 2 * contention(2).total_s) / d
    return SEGMENT_BITS / (exchange_s + (d - 1) / d * FRESH_BACKOFF_S)


def backlogged(connections: int, d: float = 1) -> list[float]:
    """pi_k, eqs. 9 and 11: probability that k = 1, 2... nodes are backlogged; one is the AP."""
    busy = 1 / (d * connections)
    return [
        comb(connections, k) * busy**k * (1 - busy) ** (connections - k)
        for k in range(connections + 1)
    ]


def each(connections: int, d: float = 1) -> float:
    """S_TCP(n_c, d), eqs. 10 and 12: one of `connections` downloads, a station each, W* = d."""
    total = 0.0
    for k, weight in enumerate(backlogged(connections, d), start=1):
        segment_s = DATA_S + TCP_ACK_S / d + (d + 1) / d * contention(k).total_s
        total += weight / (connections * segment_s)
    return SEGMENT_BITS * total


def throughput(connections: int, d: float) -> float:
    """All downloads together: eq. 8 for one of them, eq. 12 for several, as in Figs. 3 and 6."""
    return single(d) if connections == 1 else connections * each(connections, d)


def capped(window: int) -> float:
    """S of one download, d = 1, that is limited to `window` segments, eq. A.3."""
    return SEGMENT_BITS / (TCP_ACK_S + DATA_S + resolution_s(window))


def setup_s() -> float:
    """E[T_setup], eq. 13: SYN and SYN-ACK, without RTS."""
    frame_s = DIFS_S + PLCP_S + FRESH_BACKOFF_S + HEADER_BITS / DATA_BPS
    return 2 * (frame_s + SIFS_S + PLCP_S + ACK_BITS / CONTROL_BPS)


def session_s(size_bits: float) -> float:
    """E[T_session], eq. 14: one transfer alone, a segment at a time (W* = 1)."""
    whole, begun = floor(size_bits / SEGMENT_BITS), ceil(size_bits / SEGMENT_BITS)
    round_s = DATA_S + TCP_ACK_S + SLOT_S * (CW_MIN - 1)
    unused_bits = SEGMENT_BITS - size_bits % SEGMENT_BITS
    return setup_s() + begun * round_s - (begun - whole) * unused_bits / DATA_BPS


def mean_session_s(mean_bits: float) -> float:
    """The same for a mean size, eq. 15."""
    round_s = DATA_S + TCP_ACK_S + SLOT_S * (CW_MIN - 1)
    return setup_s() + mean_bits / SEGMENT_BITS * round_s


def active(stations: int, think_s: float, mean_bits: float) -> list[float]:
    """pi_k, eq. 16: probability that k = 0, 1... of `stations` (the paper's n - 1) download."""
    weights = [1.0]
    for k in range(1, stations + 1):
        finish = k * each(k) / mean_bits  # mu_k
        weights.append(weights[-1] * (stations - k + 1) / think_s / finish)
    return [weight / sum(weights) for weight in weights]


def concurrent_session_s(stations: int, think_s: float, mean_bits: float) -> float:
    """E[T_session], eq. 17, by Little's law.

    The paper prints the rate of all arrivals as lambda times the sum of (k + 1) pi_k; those who may
    begin one while k are active are the n - 1 - k others, as in its Fig. 7 and eq. 16.
    """
    pi = active(stations, think_s, mean_bits)
    mean_active = sum(k * weight for k, weight in enumerate(pi))
    arrivals = sum((stations - k) * weight for k, weight in enumerate(pi)) / think_s
    return setup_s() + mean_active / arrivals


def mean_backoff_s(p: float) -> float:
    """T_b, eq. 1, when an attempt collides with probability `p`."""
    return SLOT_S * bianchi.mean_backoff_slots(p)


def drop_probability(n: int) -> float:
    """P_drop = P_C^m, section 3 and Fig. 2, with `n` backlogged nodes."""
    return bianchi.collision_probability(n) ** bianchi.ATTEMPTS


def collision_s(n: int) -> float:
    """T_coll, eq. 3, with `n` backlogged nodes."""
    mean_s = mean_backoff_s(bianchi.collision_probability(n))
    return DIFS_S + mean_s + PLCP_S + RTS_BITS / CONTROL_BPS + SIFS_S


def chain(window: int) -> list[float]:
    """pi of eq. A.1: probability that a = 0, 1... of `window` segments wait at the sender."""
    inner = [1 / window] * (window - 1)
    return [1 / (2 * window), *inner, 1 / (2 * window)]


def capped_by_chain(window: int) -> float:
    """S of one download limited to `window` segments, eq. A.2: the sum over the chain's states."""
    only_ack, *both, only_data = chain(window)  # a = 0: all wait at the receiver, as ACKs
    acknowledged = sum(both) / 2 + only_ack
    exchanges_s = (DATA_S + TCP_ACK_S) / 2 + (contention(2).total_s if both else 0)
    spent_s = sum(both) * exchanges_s
    spent_s += only_ack * (TCP_ACK_S + FRESH_BACKOFF_S) + only_data * (DATA_S + FRESH_BACKOFF_S)
    return SEGMENT_BITS * acknowledged / spent_s


def resolution_s(window: int) -> float:
    """phi(W*), the appendix, Fig. A.2: backoff and collisions of a segment and its ACK."""
    phi_s = 2 * (window - 1) * contention(2).total_s + SLOT_S * (CW_MIN - 1)
    return phi_s / window


def in_turns(d: float) -> float:
    """S of one download with W* = d, the other curve of Fig. A.3, which has no number.

    The sender's d segments and the receiver's ACK for them take turns, so nobody ever meets:
    d + 1 exchanges, each after a fresh backoff. For d = 1 it is eq. A.3 with W* = 1.
    """
    return SEGMENT_BITS / (DATA_S + TCP_ACK_S / d + (d + 1) / d * FRESH_BACKOFF_S)
