# SPDX-License-Identifier: GPL-2.0-only
"""How long datagrams took, over a run and from second to second.

Principle: a datagram that never came took longer than any. A percentile is the least delay that at
least so many of the datagrams did not exceed; among the lost it is None.
"""

from __future__ import annotations

import math
from statistics import median

import numpy as np

from apbed.analysis.run_directory import Delays, Json

PERCENTILES = (50, 90, 99, 99.9)
NAMES = tuple(f"p{rank:g}" for rank in PERCENTILES)


def summary_ms(delays: Delays, begin_s: float, sent: int) -> Json | None:
    """Delays in ms of the datagrams that came after a moment (to flowgen's interval between
    records): how many (`n`), how many of all that were `sent` never came (`lost`), percentiles and
    maximum. Of fewer than 1000 datagrams p99.9 is the maximum."""
    each = sorted(us / 1000 for at_s, entry in delays if at_s > begin_s for us in entry)
    if not sent:
        return None
    lost = max(0, sent - sum(len(entry) for _, entry in delays))
    whole = [*each, *[math.inf] * lost]
    figures = np.percentile(whole, PERCENTILES, method="higher").tolist() if whole else []
    found: Json = {"n": len(each), "lost": lost} | dict.fromkeys(NAMES)
    found |= {name: x for name, x in zip(NAMES, figures, strict=False) if math.isfinite(x)}
    return found | {"max": each[-1] if each and not lost else None}


def series_ms(delays: Delays, t0_s: float) -> list[list[float]]:
    """[[s after t0, median, maximum]...] of each of flowgen's records in which datagrams came; the
    moment is the middle of the second before the record."""
    return [
        [round(at_s - t0_s - 0.5, 6), median(entry) / 1000, max(entry) / 1000]
        for at_s, entry in delays
        if entry
    ]
