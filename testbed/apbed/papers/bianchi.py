# SPDX-License-Identifier: GPL-2.0-only
"""Collision probability of the DCF from models of one equation, and http-queueing's exchange times.

Principle: every attempt of a saturated station collides with the same probability p,
whatever its backoff stage. One equation gives the attempt rate for a p, another p for the
attempt rate; their common solution is the model's answer. Two such models:

- G. Bianchi, "Performance Analysis of the IEEE 802.11 Distributed Coordination Function",
  IEEE JSAC 18(3), 2000, with the finite retry limit of H. Wu et al., IEEE INFOCOM 2002;
- http-queueing, eqs. 1 and 2.

apbed.papers.saturation has what these leave out. Times are microseconds, lengths bytes.
"""

from __future__ import annotations

from dataclasses import dataclass

from scipy.optimize import brentq

from apbed.papers.phy import HRDSSS_11, Phy

ATTEMPTS = 7  # m of http-queueing, Table 1


@dataclass(frozen=True)
class Saturation:
    """Bianchi's answer for n stations that always have a frame."""

    attempt_probability: float  # tau: a station begins in a given slot
    collision_probability: float  # p: an attempt collides
    throughput_mbps: float  # payload


def attempt_probability(p: float, windows: tuple[int, ...]) -> float:
    """Tau for collision probability p: attempts per frame over slots per frame.

    The i-th attempt has a window of `windows[i]` values, a mean backoff of (W - 1) / 2 slots,
    and takes one more itself. As many windows as attempts (the retry limit M).
    """
    weights = [p**i for i in range(len(windows))]
    slots = sum(w * (1 + (window - 1) / 2) for w, window in zip(weights, windows, strict=True))
    return sum(weights) / slots


def saturation(
    n: int, payload_bytes: int, *, eifs: bool, phy: Phy = HRDSSS_11, attempts: int = 7
) -> Saturation:
    """Bianchi's fixed point and throughput for `n` stations, basic access.

    A payload of `payload_bytes` is what LLC/SNAP carries. After a collision the medium is
    idle for EIFS (`eifs`) or DIFS before anyone counts again.
    """
    windows = phy.windows(attempts)

    def excess(p: float) -> float:
        return p - (1 - (1 - attempt_probability(p, windows)) ** (n - 1))

    p = float(brentq(excess, 0.0, 1.0)) if n > 1 else 0.0
    tau = attempt_probability(p, windows)
    idle = (1 - tau) ** n
    success = n * tau * (1 - tau) ** (n - 1)
    success_us = phy.success_us(payload_bytes, rts=False) + phy.difs_us
    collision_us = phy.collision_us(payload_bytes, rts=False)
    collision_us += phy.eifs_us if eifs else phy.difs_us
    mean_us = idle * phy.slot_us + success * success_us + (1 - idle - success) * collision_us
    return Saturation(tau, p, success * 8 * payload_bytes / mean_us)


def mean_backoff_slots(p: float, cw_min: int = 32, gamma: int = 5, m: int = ATTEMPTS) -> float:
    """T_b of http-queueing, eq. 1, in slots, when an attempt collides with probability `p`.

    CWmax = 2^gamma CWmin; a frame is dropped at its m-th collision.
    """
    # The sum over the doubling stages has no pole at p = 1/2 in this form.
    doubling = sum((2 * p) ** k for k in range(gamma))
    return (
        (1 - p) * cw_min * doubling / 2
        - (1 - p**gamma) / 2
        + ((cw_min << gamma) - 1) / 2 * (p**gamma - p**m)
    )


def collision_probability(n: int) -> float:
    """P_C of http-queueing, eqs. 1 and 2, for `n` backlogged nodes.

    Eq. 1 is the mean backoff T_b in slots; a node then begins in a slot with probability
    1 / T_b, and eq. 2 closes the loop.
    """

    def excess(p: float) -> float:
        return p - (1 - (1 - 1 / mean_backoff_slots(p)) ** (n - 1))

    return float(brentq(excess, 0.0, 0.9)) if n > 1 else 0.0


def tcp_exchange_us(tcp_bits: int, rts_bits: int = 180) -> float:
    """http-queueing, section 2.3: T_TCPdata with 8000 `tcp_bits`, T_TCPack with none.

    DIFS, then RTS, CTS, the frame and its ACK. The paper's constants: 320 bits of TCP/IP
    header, 272 of MAC header and FCS, and an RTS of 180 bits, where the standard's has 160.
    """
    plcp_us, sifs_us, control_mbps, data_mbps = 144 + 48, 10, 2, 11
    rts_us = plcp_us + rts_bits / control_mbps
    cts_us = ack_us = plcp_us + 112 / control_mbps
    frame_us = plcp_us + (272 + 320 + tcp_bits) / data_mbps
    return 50 + rts_us + sifs_us + cts_us + sifs_us + frame_us + sifs_us + ack_us
