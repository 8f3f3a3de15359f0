# SPDX-License-Identifier: GPL-2.0-only
"""The fairness that chance leaves in a short window.

Principle: stations with equal chances deliver N frames each in a window on average, and what they
do deliver differs by chance. Deliveries are a renewal process, so their number has a variance of
N c^2, with c the coefficient of variation of the time between two of them (D. R. Cox, Renewal
Theory, 1962, section 3.3). With that spread Jain's index is 1 / (1 + (1 - 1/n) c^2 / N) on average.

Time is counted in slots and transmissions of the cell, which all stations see alike. A backoff
uniform over W values and its transmission take U = 1 .. W of it; each attempt fails with p, and
the window stays. A delivery takes K attempts, geometric, so c^2 = (1 - p) var(U) / E(U)^2 + p.
"""

from __future__ import annotations


def uniform_backoff(window: float, collision_probability: float) -> float:
    """c^2 for a backoff uniform over `window` values, 1/3 if that is large and nothing collides."""
    return (1 - collision_probability) * (window - 1) / (3 * (window + 1)) + collision_probability


MEMORYLESS = 1.0  # c^2 where each slot has the same chance, whatever collides


def jain(stations: int, frames: float, variation: float) -> float:
    """Jain's index on average: `frames` delivered by each in the window, `variation` is c^2."""
    return 1 / (1 + (1 - 1 / stations) * variation / frames)
