# SPDX-License-Identifier: GPL-2.0-only
"""The target of Idle Sense.

M. Heusse, F. Rousseau, R. Guillier and A. Duda, "Idle Sense: An Optimal Access Method for High
Throughput and Fairness in Rate Diverse Wireless LANs", ACM SIGCOMM 2005, eqs. 4 to 6.
"""

from __future__ import annotations

from math import exp, expm1

from scipy.optimize import brentq


def target_idle_slots(collision_slots: float) -> float:
    """Mean idle slots between transmissions at which throughput is highest, for many stations.

    `collision_slots` is the length of a collision over that of a slot.
    """
    x = float(brentq(lambda x: 1 - x - (1 - 1 / collision_slots) * exp(-x), 1e-9, 1.0))
    return exp(-x) / -expm1(-x)
