# SPDX-License-Identifier: GPL-2.0-only
"""dcfmedium's EDCA against the contention-zone model, and its internal collisions."""

from __future__ import annotations

import pytest

from apbed.papers.edca import Category, shares
from tests.medium.dcfmedium import assert_refused, saturate


def cell(stations: int) -> list[str]:
    return ["--stations", str(stations), "--phy", "ofdm-54", "--payload", "1500"]


def category(text: str) -> Category:
    """AIFSN:CWMIN:CWMAX with the seven attempts of the default retry limit."""
    aifsn, cw_min, cw_max = map(int, text.split(":"))
    return Category(aifsn, tuple(min(cw_min << i, cw_max) for i in range(7)))


@pytest.mark.parametrize("eifs", ["on", "off"])
@pytest.mark.parametrize("stations", [1, 2, 5, 10])
@pytest.mark.parametrize(
    "categories",
    [
        "3:32:1024,2:32:1024",  # AIFS alone
        "3:64:1024,3:32:1024",  # the window alone
        "4:64:1024,3:32:1024",
        "5:128:1024,4:128:1024,3:64:1024,2:64:1024",
    ],
)
def test_shares_follow_the_zone_model(categories: str, stations: int, eifs: str) -> None:
    words = ["--seconds", "100", "--edca", categories, "--eifs", eifs]
    stats = saturate(*cell(stations), *words)
    kinds = categories.split(",")
    model = shares(stations, [category(kind) for kind in kinds])
    for i, share in enumerate(model.successes):
        delivered = sum(s["delivered"] for s in stats["stations"][i :: len(kinds)])
        assert delivered / stats["delivered"] == pytest.approx(share, rel=0.05)


def test_one_radio_collides_only_within() -> None:
    """What one station's categories send never meets in the air; the highest never yields."""
    stats = saturate(*cell(1), "--seconds", "100", "--edca", "default")
    assert stats["collisions"] == 0
    internal = [s["internal_collisions"] for s in stats["stations"]]
    assert internal[-1] == 0
    assert all(internal[:-1])
    for s in stats["stations"]:
        assert s["tx"] == s["delivered"]
        assert s["frames_in"] == s["delivered"] + s["drops"] + s["backlog"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--edca", "3:32"), "'3:32' is not default or 1 to 4 of AIFSN:CWMIN:CWMAX"),
        (("--edca", "0:32:64"), "is not default"),
        (("--edca", "2:64:32"), "is not default"),
        (("--edca", "default", "--access", "aap"), "exclude each other"),
        (("--edca", "default", "--stations", "33"), "more than 128 categories"),
    ],
)
def test_bad_usage_is_one_line_and_exit_2(words: tuple[str, ...], says: str) -> None:
    assert_refused(says, "saturate", *cell(1), *words)
