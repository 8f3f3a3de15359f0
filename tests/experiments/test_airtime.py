# SPDX-License-Identifier: GPL-2.0-only
"""A station at 1 Mb/s beside others at 11 Mb/s: lasack shares the airtime, not the bytes.

A full frame takes 12.8 ms at 1 Mb/s and 1.57 ms at 11 Mb/s. So with equal bytes the slow station
has 8 of 10 parts of the airtime. With equal airtime each has a third, and the slow one an eighth of
the others' bytes (Heusse et al., "Performance Anomaly of 802.11b", INFOCOM 2003).

A download and an upload of the same bytes at the same rate do not have the same airtime: there are
more TCP ACKs of the download, because lasack leaves out some of the upload's. So only the slow
station has exactly its part; the others have equal bytes.

What slow start has put into the queue of the slow station leaves it within ten seconds. These are
the warm-up.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.experiments.campaign import carried_out

pytestmark = pytest.mark.usefixtures("lab_kernel")

BUSY = ("sta1", "sta2", "sta3")


def test_slow_station_has_its_part_of_the_airtime(tmp_path: Path) -> None:
    (run,) = carried_out(
        "slow-station",
        tmp_path / "out",
        "seed=1",
        "duration_s=20",
        "warmup_s=10",
        'case=["lasack"]',
    )
    shares = [run["medium"]["station_airtime_share"][name] for name in BUSY]
    assert shares[0] == pytest.approx(sum(shares) / len(shares), rel=0.05)
    goodput = {flow["id"]: flow["goodput_mbps"] for flow in run["flows"]}
    assert goodput["down2"] == pytest.approx(goodput["up1"], rel=0.05)
    assert goodput["down2"] == pytest.approx(goodput["down1"] * 12.79 / 1.567, rel=0.02)
