# SPDX-License-Identifier: GPL-2.0-only
"""How long frames of datagrams took, over a run and from second to second.

A frame is what leaves at one moment, often a single datagram. Principle: one that never came,
or not whole, took longer than any. A percentile is the delay of rank p (n - 1) + 1, rounded up, of
n in order; among the lost it is None.
"""

from __future__ import annotations

import math
from statistics import median

import numpy as np

from apbed.analysis.run_directory import Delays, Json

PERCENTILES = (50, 90, 99, 99.9)
NAMES = tuple(f"p{rank:g}" for rank in PERCENTILES)


def summary_ms(delays: Delays, begin_s: float, sent: int) -> Json | None:
    """Delays in ms of the frames that came after a moment (to flowgen's interval between
    records): how many (`n`), how many of all that were `sent` never came (`lost`), percentiles and
    maximum, which is null if any was lost. Of fewer than 1000 frames p99.9 is the maximum. None
    if none came and none was lost."""
    each = sorted(us / 1000 for at_s, entry in delays if at_s > begin_s for us in entry)
    lost = max(0, sent - sum(len(entry) for _, entry in delays))
    whole = [*each, *[math.inf] * lost]
    if not whole:
        return None
    figures = np.percentile(whole, PERCENTILES, method="higher").tolist()
    found: Json = {"n": len(each), "lost": lost} | dict.fromkeys(NAMES)
    found |= {name: x for name, x in zip(NAMES, figures, strict=False) if math.isfinite(x)}
    return found | {"max": each[-1] if each and not lost else None}


def in_time(delays: Delays, begin_s: float, sent: int, late_s: float) -> Json | None:
    """What a call hears and sees of its frames. `late`: of those that came after a moment, how many
    took longer than `late_s`; `lost`: of all that were `sent`, how many never came whole; `share`:
    both over all these frames. None if none was sent."""
    each = [us for at_s, entry in delays if at_s > begin_s for us in entry]
    lost = max(0, sent - sum(len(entry) for _, entry in delays))
    late = sum(us > late_s * 1e6 for us in each)
    if not each and not lost:
        return None
    return {"late": late, "lost": lost, "share": (late + lost) / (len(each) + lost)}


def samples_ms(rtts: Delays, begin_s: float) -> Json | None:
    """TCP's smoothed round-trip times in ms, sampled after a moment: `n`, percentiles, maximum."""
    each = sorted(us / 1000 for at_s, entry in rtts if at_s > begin_s for us in entry)
    if not each:
        return None
    figures = np.percentile(each, PERCENTILES, method="higher").tolist()
    return {"n": len(each)} | dict(zip(NAMES, figures, strict=True)) | {"max": each[-1]}


def series_ms(delays: Delays, t0_s: float) -> list[list[float]]:
    """[[s after t0, median, maximum]...] of each of flowgen's records in which datagrams came; the
    moment is the middle of the second before the record."""
    return [
        [round(at_s - t0_s - 0.5, 6), median(entry) / 1000, max(entry) / 1000]
        for at_s, entry in delays
        if entry
    ]
