# SPDX-License-Identifier: GPL-2.0-only
"""Two saturated EDCA contenders whose windows are constant: exact, by a Markov chain.

Principle: the state is what is left of both counts when the medium has been idle for the shorter
AIFS. The smaller count sends and draws anew; of the other count, each slot boundary after its own
AIFS is gone, also the one at which the first begins (IEEE Std 802.11-2012, 9.19.2.3). If both come
to an end together both draw anew, and go on when their ACK has not come: as that timeout is longer
than AIFS up to AIFSN 3, both begin together then. EIFS is off.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Pair:
    """What becomes of the times at which someone begins."""

    first: float  # the first contender alone, of those that one alone begins
    together: float  # both, of all


def _step(left: tuple[int, int], late: int, windows: tuple[int, int]) -> tuple[int, Array]:
    """Who sends from a state, -1 for both, and the counts after it with their probabilities.

    `late`: so many slots after the first contender the second one begins to count.
    """
    after = np.zeros(windows)
    begins = left[0], left[1] + late
    slot = min(begins)
    if begins[0] == begins[1]:
        after[:] = 1 / after.size
        return -1, after
    if begins[0] < begins[1]:
        after[:, left[1] - max(0, slot - late + 1)] = 1 / windows[0]
        return 0, after
    after[left[0] - (slot + 1), :] = 1 / windows[1]
    return 1, after


def pair(windows: tuple[int, int], late: int) -> Pair:
    """`windows` count their values; the second contender has an AIFSN larger by `late`."""
    states = windows[0] * windows[1]
    chain = np.zeros((2 * states, 2 * states))  # the second half: after a collision
    sends = np.zeros((2 * states, 2))
    for state in range(2 * states):
        again, counts = divmod(state, states)
        left = divmod(counts, windows[1])
        who, after = _step((left[0], left[1]), 0 if again else late, windows)
        chain[state, states:] = after.ravel() if who < 0 else 0
        chain[state, :states] = after.ravel() if who >= 0 else 0
        if who >= 0:
            sends[state, who] = 1
    balance = np.vstack([chain.T - np.eye(2 * states), np.ones(2 * states)])
    stationary = np.linalg.lstsq(balance, np.append(np.zeros(2 * states), 1.0), rcond=None)[0]
    alone = stationary @ sends
    return Pair(float(alone[0] / alone.sum()), float(1 - alone.sum()))
