# SPDX-License-Identifier: GPL-2.0-only
"""dcfmedium's EDCA: against the contention-zone model, against a chain that is exact for two
contenders, and its internal collisions."""

from __future__ import annotations

from math import sqrt

import pytest

from apbed.papers.edca import Category, Radios, shares, windows
from apbed.papers.edca_pair import pair
from tests.medium.dcfmedium import assert_refused, saturate


def cell(stations: int) -> list[str]:
    return ["--stations", str(stations), "--phy", "ofdm-54", "--payload", "1500"]


def category(text: str) -> Category:
    """AIFSN:CWMIN:CWMAX with the seven attempts of the default retry limit."""
    aifsn, cw_min, cw_max = map(int, text.split(":"))
    return Category(aifsn, windows(cw_min, cw_max, 7))


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
    model = shares([Radios(stations, tuple(category(kind) for kind in kinds))])
    for i, share in enumerate(model.successes):
        delivered = sum(s["delivered"] for s in stats["stations"][i :: len(kinds)])
        assert delivered / stats["delivered"] == pytest.approx(share, rel=0.05)


def contender(number: int, text: str) -> tuple[str, str]:
    """AIFSN:CWMIN:CWMAX for one station of `saturate`."""
    aifsn, cw_min, cw_max = text.split(":")
    return "--station", f"{number},aifsn={aifsn},cwmin={cw_min},cwmax={cw_max}"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("3:16", "3:16"),
        ("2:8", "2:16"),
        ("3:4", "3:16"),
        ("2:16", "3:16"),
        ("2:4", "3:16"),
        ("2:16", "3:8"),
        ("1:4", "3:16"),
    ],
)
def test_two_contenders_are_exact(first: str, second: str) -> None:
    """Constant windows, so that no stage of backoff is left to a model."""
    aifsn, cw = zip(*(map(int, text.split(":")) for text in (first, second)), strict=True)
    words = [f"{kind}:{window}" for kind, window in zip((first, second), cw, strict=True)]
    both = [*contender(1, words[0]), *contender(2, words[1])]
    stats = saturate(*cell(2), "--seconds", "100", "--eifs", "off", *both)
    model = pair((cw[0], cw[1]), aifsn[1] - aifsn[0])
    delivered = [s["delivered"] for s in stats["stations"]]
    together = stats["stations"][0]["tx"] - delivered[0]
    times = sum(delivered) + together
    # Frozen counts hold the shares closer together than independent draws would.
    chance = 4 * sqrt(model.first * (1 - model.first) / sum(delivered))
    assert delivered[0] / sum(delivered) == pytest.approx(model.first, abs=chance)
    chance = 4 * sqrt(model.together * (1 - model.together) / times)
    assert together / times == pytest.approx(model.together, abs=chance)


# AIFSN:CWMIN:CWMAX of best effort: as hostapd's access points have it, as the stations do, and one
# made a small AAP. The model knows no ACK timeout and no EIFS, so AIFSN are equal, EIFS is off. It
# takes stations for independent, which windows of 8 values beside many stations are not.
@pytest.mark.parametrize(
    ("access_point", "stations"),
    [
        *(("3:16:64", stations) for stations in (1, 2, 5, 10, 20)),
        *(("3:16:1024", stations) for stations in (1, 2, 5, 10, 20)),
        *(("3:8:16", stations) for stations in (1, 2, 5, 10)),
    ],
)
def test_an_access_point_with_a_set_of_its_own(access_point: str, stations: int) -> None:
    others = "3:16:1024"
    words = [word for n in range(stations) for word in contender(n + 2, others)]
    words += ["--eifs", "off", "--seconds", "100", *contender(1, access_point)]
    stats = saturate(*cell(stations + 1), *words)
    model = shares([Radios(1, (category(access_point),)), Radios(stations, (category(others),))])
    share = stats["stations"][0]["delivered"] / stats["delivered"]
    assert share == pytest.approx(model.successes[0], rel=0.05)


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


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--edca", "ap=default"), "ap=default: needs an --edca for all others, too"),
        (("--edca", "off", "--edca", "ap=default"), "needs an --edca for all others, too"),
        (("--edca", "default", "--edca", "sta1=default"), "there is no such --station"),
        (("--edca", "default", "--edca", "a=default"), "there is no such --station"),
        (("--edca", "default", "--edca", "ap=3:16:64"), "'3:16:64' has not all of background"),
        (("--edca", "default", "--edca", "ap=3:16"), "'3:16' is not default or 1 to 4 of"),
    ],
)
def test_a_set_for_one_radio_is_checked(words: tuple[str, ...], says: str) -> None:
    radio = ("--station", "02:00:00:00:00:00,name=ap")
    assert_refused(says, "hwsim", "--phy", "ofdm-54", *radio, *words)
