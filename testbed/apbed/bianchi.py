# SPDX-License-Identifier: GPL-2.0-only
"""Saturation throughput and collision probability of the DCF, from models.

Principle: every attempt of a saturated station collides with the same probability p,
whatever its backoff stage. One equation gives the attempt rate for a p, another p for the
attempt rate; their common solution is the model's answer. Two such models:

- G. Bianchi, "Performance Analysis of the IEEE 802.11 Distributed Coordination Function",
  IEEE JSAC 18(3), 2000, with the finite retry limit of H. Wu et al., IEEE INFOCOM 2002;
- paper 000 (a queueing model for HTTP over 802.11), eqs. 1 and 2.

Times are microseconds, lengths bytes, rates Mb/s (= bits per microsecond).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from scipy.optimize import brentq

MAC_OVERHEAD_BYTES = 24 + 8 + 4  # MAC header, LLC/SNAP, FCS
ACK_BYTES = 14


@dataclass(frozen=True)
class Dcf:
    """The constants of one PHY that the models need; windows count their values."""

    slot_us: float
    sifs_us: float
    plcp_us: float  # preamble and PLCP header
    data_mbps: float
    control_mbps: float  # of the ACK to a data frame
    lowest_mbps: float  # lowest mandatory rate: EIFS is reckoned with it
    cw_min: int
    cw_max: int

    @property
    def difs_us(self) -> float:
        """DIFS = SIFS + 2 slots (802.11-2012, 9.3.7)."""
        return self.sifs_us + 2 * self.slot_us

    @property
    def eifs_us(self) -> float:
        """EIFS = SIFS + ACK at the lowest mandatory rate + DIFS (802.11-2012, 9.3.7)."""
        return self.sifs_us + self.airtime_us(ACK_BYTES, self.lowest_mbps) + self.difs_us

    def airtime_us(self, mpdu_bytes: int, mbps: float) -> float:
        """TXTIME of a DSSS or HR/DSSS frame (802.11-2012, 17.3.4)."""
        return self.plcp_us + ceil(8 * mpdu_bytes / mbps)


# Paper 000, Table 1, which is 802.11-2012 clause 17 with the long preamble.
HRDSSS_11 = Dcf(
    slot_us=20,
    sifs_us=10,
    plcp_us=144 + 48,
    data_mbps=11,
    control_mbps=2,
    lowest_mbps=1,
    cw_min=32,
    cw_max=1024,
)


@dataclass(frozen=True)
class Saturation:
    """A model's answer for n stations that always have a frame."""

    attempt_probability: float  # tau: a station begins in a given slot
    collision_probability: float  # p: an attempt collides
    throughput_mbps: float  # payload


def attempt_probability(p: float, dcf: Dcf, attempts: int) -> float:
    """Tau for collision probability p: attempts per frame over slots per frame.

    At stage i the window is min(2^i CWmin, CWmax), its mean backoff (W - 1) / 2 slots, and
    the attempt itself takes one more. `attempts` is the retry limit M (attempts in all).
    """
    weights = [p**i for i in range(attempts)]
    windows = [min(dcf.cw_min << i, dcf.cw_max) for i in range(attempts)]
    slots = sum(w * (1 + (window - 1) / 2) for w, window in zip(weights, windows, strict=True))
    return sum(weights) / slots


def saturation(
    n: int, payload_bytes: int, *, eifs: bool, dcf: Dcf = HRDSSS_11, attempts: int = 7
) -> Saturation:
    """Bianchi's fixed point and throughput for `n` stations, basic access.

    A payload of `payload_bytes` is what LLC/SNAP carries. After a collision the medium is
    idle for EIFS (`eifs`) or DIFS before anyone counts again.
    """

    def excess(p: float) -> float:
        return p - (1 - (1 - attempt_probability(p, dcf, attempts)) ** (n - 1))

    p = float(brentq(excess, 0.0, 1.0)) if n > 1 else 0.0
    tau = attempt_probability(p, dcf, attempts)
    idle = (1 - tau) ** n
    success = n * tau * (1 - tau) ** (n - 1)
    data_us = dcf.airtime_us(payload_bytes + MAC_OVERHEAD_BYTES, dcf.data_mbps)
    ack_us = dcf.airtime_us(ACK_BYTES, dcf.control_mbps)
    success_us = data_us + dcf.sifs_us + ack_us + dcf.difs_us
    collision_us = data_us + (dcf.eifs_us if eifs else dcf.difs_us)
    mean_us = idle * dcf.slot_us + success * success_us + (1 - idle - success) * collision_us
    return Saturation(tau, p, success * 8 * payload_bytes / mean_us)


def collision_probability(n: int, cw_min: int = 32, gamma: int = 5, m: int = 7) -> float:
    """P_C of paper 000, eqs. 1 and 2, for `n` backlogged nodes.

    Eq. 1 is the mean backoff T_b in slots; a node then begins in a slot with probability
    1 / T_b, and eq. 2 closes the loop. CWmax = 2^gamma CWmin; a frame is dropped at its
    m-th collision.
    """

    def mean_backoff_slots(p: float) -> float:
        # eq. 1; the sum over the doubling stages has no pole at p = 1/2 in this form.
        doubling = sum((2 * p) ** k for k in range(gamma))
        return (
            (1 - p) * cw_min * doubling / 2
            - (1 - p**gamma) / 2
            + ((cw_min << gamma) - 1) / 2 * (p**gamma - p**m)
        )

    def excess(p: float) -> float:
        return p - (1 - (1 - 1 / mean_backoff_slots(p)) ** (n - 1))

    return float(brentq(excess, 0.0, 0.9)) if n > 1 else 0.0
