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
    kinds: dict[str, list[Run]] = {}
    for run in carried_out("pareto", OUT / "pareto"):
        kinds.setdefault(run["params"]["qdisc"].split()[0], []).append(run)
    assert {kind: len(entries) for kind, entries in kinds.items()} == dict.fromkeys(
        ("pfifo", "fq_codel", "lasack"), 5
    )
    ours = kinds["lasack"]
    for other in ("pfifo", "fq_codel"):
        assert short_p90(ours, "down") <= 0.35 * short_p90(kinds[other], "down")
    assert short_p90(ours, "up") <= 1.15 * short_p90(kinds["fq_codel"], "up")
    open_ends = [
        one["bytes"] for run in ours for one in run["transfers"] if one["response_s"] is None
    ]
    assert all(size >= LONG_BYTES for size in open_ends)
