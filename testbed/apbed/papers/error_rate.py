# SPDX-License-Identifier: GPL-2.0-only
"""Frame errors of 802.11's modulations over white Gaussian noise, independent of dcfmedium's code.

The equations are those dcfmedium states (testbed/medium/error_rate.c), solved by other means: the
distance spectra are counted path by path on the punctured trellis, Marcum's function is a
non-central chi-square distribution, the biorthogonal integral is scipy's quadrature. `python -m
apbed.papers.error_rate` prints the values that tests/test_error_rate.c holds.

SNR as there: in 22 MHz for DSSS and HR/DSSS, per subcarrier for OFDM.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from math import log1p, sqrt

import numpy as np
from scipy import integrate, stats
from scipy.special import ive

GENERATORS = (0o133, 0o171)
# Which of the two coded bits of each input bit are sent (802.11-2012, 18.3.5.6; 5/6: 20.3.11.6).
PUNCTURING: dict[str, tuple[tuple[int, int], ...]] = {
    "1/2": ((1, 1),),
    "2/3": ((1, 1), (1, 0)),
    "3/4": ((1, 1), (1, 0), (0, 1)),
    "5/6": ((1, 1), (1, 0), (0, 1), (1, 0), (0, 1)),
}
TERMS = 10


@dataclass(frozen=True)
class Rate:
    """One rate of OFDM, HT or VHT."""

    points: int  # of the constellation
    code: str


OFDM = {
    6: Rate(2, "1/2"),
    9: Rate(2, "3/4"),
    12: Rate(4, "1/2"),
    18: Rate(4, "3/4"),
    24: Rate(16, "1/2"),
    36: Rate(16, "3/4"),
    48: Rate(64, "2/3"),
    54: Rate(64, "3/4"),
}
HT = [
    *(Rate(2, "1/2"), Rate(4, "1/2"), Rate(4, "3/4"), Rate(16, "1/2")),
    *(Rate(16, "3/4"), Rate(64, "2/3"), Rate(64, "3/4"), Rate(64, "5/6")),
]
VHT = [*HT, Rate(256, "3/4"), Rate(256, "5/6")]


@cache
def spectrum(code: str) -> dict[int, int]:
    """Weights of the paths that leave the all-zero state and come back to it once, how many.

    Summed over the places of the puncturing pattern where they can leave; the first TERMS weights.
    """
    pattern = PUNCTURING[code]
    highest = 2
    while True:
        counts = _count_paths(pattern, highest)
        if counts and highest == min(counts) + TERMS - 1:
            return counts
        highest += 1


def _count_paths(pattern: tuple[tuple[int, int], ...], highest: int) -> dict[int, int]:
    found: dict[int, int] = defaultdict(int)
    for start in range(len(pattern)):
        first = 1 << 6
        paths = {(first >> 1, _weight(first, pattern[start])): 1}
        step = start + 1
        while paths:
            longer: dict[tuple[int, int], int] = defaultdict(int)
            for (state, weight), n in paths.items():
                for bit in (0, 1):
                    register = bit << 6 | state
                    total = weight + _weight(register, pattern[step % len(pattern)])
                    if total > highest:
                        continue
                    if register >> 1:
                        longer[register >> 1, total] += n
                    else:
                        found[total] += n
            paths = longer
            step += 1
    return dict(found)


def _weight(register: int, sent: tuple[int, int]) -> int:
    return sum(
        (register & g).bit_count() & 1 for g, one in zip(GENERATORS, sent, strict=True) if one
    )


def coded_bit_error(points: int, snr: float) -> float:
    """Of a coded bit, Gray coding, nearest neighbours, hard decision."""
    if points == 2:
        return float(stats.norm.sf(sqrt(2 * snr)))
    bits = points.bit_length() - 1
    neighbours = 4 / bits * (1 - 1 / sqrt(points))
    return float(neighbours * stats.norm.sf(sqrt(3 * snr / (points - 1))))


def _wrong_path(distance: int, p: float) -> float:
    more_than_half = float(stats.binom.sf(distance // 2, distance, p))
    if distance % 2:
        return more_than_half
    return more_than_half + float(stats.binom.pmf(distance // 2, distance, p)) / 2


def ofdm_octet(rate: Rate, snr_db: float) -> float:
    """Log of the probability that an octet has no error."""
    p = coded_bit_error(rate.points, 10 ** (snr_db / 10))
    event = sum(n * _wrong_path(weight, p) for weight, n in spectrum(rate.code).items())
    per_bit = log1p(-min(event, 1 - np.finfo(float).eps)) / len(PUNCTURING[rate.code])
    return 8 * per_bit


def dqpsk_bit_error(ebn0: float) -> float:
    a2, b2 = 2 * ebn0 * (1 - sqrt(0.5)), 2 * ebn0 * (1 + sqrt(0.5))
    marcum = float(stats.ncx2.sf(b2, 2, a2))
    ab = sqrt(a2 * b2)
    return marcum - float(ive(0, ab)) * float(np.exp(ab - (a2 + b2) / 2)) / 2


def biorthogonal_16_error(esn0: float) -> float:
    """Symbol error of 8 orthogonal signals and their negatives."""
    mean = sqrt(2 * esn0)

    def error(v: float) -> float:
        tail = 2 * float(stats.norm.sf(v))
        others = float(-np.expm1(7 * np.log1p(-tail))) if tail < 1 else 1.0
        return others * float(stats.norm.pdf(v - mean))

    low = max(0.0, mean - 10)
    middle = [low + (mean + 10 - low) * k / 8 for k in range(1, 8)]
    value, _ = integrate.quad(error, low, mean + 10, points=middle, epsabs=0, epsrel=1e-10)
    return float(value + stats.norm.sf(mean))


def dsss_octet(mbps: float, snr_db: float) -> float:
    """Log of the probability that an octet of clause 16 or 17 has no error."""
    snr = float(10 ** (snr_db / 10))
    if mbps == 1:
        return 8 * log1p(-0.5 * float(np.exp(-22 * snr)))
    if mbps == 2:
        return 8 * log1p(-dqpsk_bit_error(11 * snr))
    symbols = biorthogonal_16_error(16 * snr if mbps == 5.5 else 8 * snr)
    return 2 * log1p(-symbols)


def frame_loss(octet: float, octets: int) -> float:
    """Of a frame of `octets`, given the logarithm for one."""
    return float(-np.expm1(octets * octet))


def octets(snr_db: float) -> dict[tuple[str, float], float]:
    """By format and rate in Mb/s: each DSSS and OFDM rate, and what HT and VHT have beyond."""
    found = {("DSSS", mbps): dsss_octet(mbps, snr_db) for mbps in (1, 2, 5.5, 11)}
    found |= {("OFDM", float(mbps)): ofdm_octet(rate, snr_db) for mbps, rate in OFDM.items()}
    found["HT", 65] = ofdm_octet(HT[7], snr_db)
    found["VHT", 351] = ofdm_octet(VHT[8], snr_db)
    found["VHT", 390] = ofdm_octet(VHT[9], snr_db)
    return found


def rows() -> list[str]:
    """For tests/test_error_rate.c: format, rate in 100 kb/s, SNR in dB, and the logarithm."""
    return [
        f"{{ PHY_FORMAT_{kind}, {10 * mbps:.0f}, {snr_db}, {value:.9e} }},"
        for snr_db in range(-6, 36, 3)
        for (kind, mbps), value in octets(snr_db).items()
        if -30 < value < -1e-12
    ]


if __name__ == "__main__":
    print("\n".join(rows()))
