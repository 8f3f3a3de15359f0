# SPDX-License-Identifier: GPL-2.0-only
"""pareto.toml: the sizes of layer2-layer3 at 70 % load. The bounds are the project's own aims.

Documentation/measurements/short-flows.md has the figures. Half an hour of virtual time;
test_short_flows.py has a shorter load."""

from __future__ import annotations

import pytest

from apbed.analysis.response import distribution
from tests.experiments.campaign import OUT, Run, carried_out

SHORT_BYTES, LONG_BYTES = 100_000, 1_000_000


def short_p90(runs: list[Run], direction: str) -> float:
    """90th percentile in s over the short transfers of all seeds together."""
    transfers = [one for run in runs for one in run["transfers"]]
    short = [one for one in transfers if one["dir"] == direction and one["bytes"] < SHORT_BYTES]
    return float(distribution(short)["p90"])


@pytest.mark.slow
def test_short_transfers_of_five_seeds() -> None:
    """The aims, as the paper orders service: among flows. Between stations first, as by default,
    a station's short uploads wait with its large transfers; they take no longer than under FIFO."""
    kinds: dict[str, list[Run]] = {}
    for run in carried_out("pareto", OUT / "pareto"):
        kinds.setdefault(run["params"]["qdisc"], []).append(run)
    assert all(len(runs) == 5 for runs in kinds.values())
    fifo, fq_codel = kinds["pfifo limit 50"], kinds["fq_codel"]
    by_station = kinds["lasack limit 50 inflight off"]
    by_flow = kinds["lasack limit 50 inflight off fair flow"]
    for ours in (by_station, by_flow):
        for other in (fifo, fq_codel):
            assert short_p90(ours, "down") <= 0.35 * short_p90(other, "down")
        open_ends = [
            one["bytes"] for run in ours for one in run["transfers"] if one["response_s"] is None
        ]
        assert all(size >= LONG_BYTES for size in open_ends)
    assert short_p90(by_flow, "up") <= 1.15 * short_p90(fq_codel, "up")
    assert short_p90(by_station, "up") <= short_p90(fifo, "up")
