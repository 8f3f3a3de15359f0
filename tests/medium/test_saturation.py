# SPDX-License-Identifier: GPL-2.0-only
"""dcfmedium's saturated stations against models, a published table, and bookkeeping."""

from __future__ import annotations

from math import ceil
from pathlib import Path
from typing import Any

import pytest

from apbed.papers import bianchi
from apbed.papers.phy import HRDSSS_11, OFDM_54
from apbed.papers.saturation import saturation
from tests.medium.dcfmedium import assert_refused, saturate


def cell(
    stations: int, *, phy: str = "hrdsss-11", payload: int = 1500, seconds: int = 100, **more: str
) -> dict[str, Any]:
    """Statistics of a run; `more` are further options."""
    words = ["--stations", str(stations), "--phy", phy, "--payload", str(payload)]
    words += ["--seconds", str(seconds)]
    for option, value in more.items():
        words += [f"--{option}", value]
    return saturate(*words)


def drop_share(stats: dict[str, Any]) -> float:
    """Share of the frames that were given up."""
    return float(stats["drops"] / (stats["drops"] + stats["delivered"]))


PHYS = {"hrdsss-11": HRDSSS_11, "ofdm-54": OFDM_54}


@pytest.mark.parametrize("eifs", [True, False], ids=["eifs", "difs"])
@pytest.mark.parametrize("rts", [False, True], ids=["basic", "rts"])
@pytest.mark.parametrize("phy", PHYS)
@pytest.mark.parametrize("stations", [1, 2, 5, 10, 20, 50])
def test_saturation_follows_the_model(stations: int, phy: str, rts: bool, eifs: bool) -> None:
    """Throughput and collisions within 1.5 % of Bianchi's model with freezing and the standard's
    waits, and drops within 10 % from 20 stations on, where its independence holds for seven
    collisions in a row; test_drops.py has them all."""
    threshold = "0" if rts else "4096"
    seconds = 1500 if stations <= 5 else 400
    stats = cell(stations, phy=phy, seconds=seconds, eifs="on" if eifs else "off", rts=threshold)
    model = saturation(stations, 1500, PHYS[phy], eifs=eifs, rts=rts)
    assert stats["throughput_mbps"] == pytest.approx(model.throughput_mbps, rel=0.015)
    assert stats["collision_probability"] == pytest.approx(model.collision_probability, rel=0.015)
    if stations >= 20:
        assert drop_share(stats) == pytest.approx(model.drop_probability, rel=0.1)


# ns-3, src/wifi/examples/reference/bianchi_11b_difs.txt: 11 Mb/s, 1500 bytes, ACK 248 us, no
# retry limit. Unlike Bianchi it models that who has just sent can send again after DIFS alone.
@pytest.mark.parametrize(
    ("stations", "mbps"), [(5, 6.4734), (10, 6.1774), (20, 5.7819), (30, 5.5289), (50, 5.1745)]
)
def test_throughput_follows_ns3_reference(stations: int, mbps: float) -> None:
    stats = cell(stations, eifs="off", retry="255")
    assert stats["throughput_mbps"] == pytest.approx(mbps, rel=0.005)


def test_throughput_with_eifs_follows_ns3_reference() -> None:
    """Its EIFS has the ACK at 2 Mb/s, 56 us less than the standard's."""
    assert cell(5, retry="255")["throughput_mbps"] == pytest.approx(6.38, rel=0.01)


@pytest.mark.parametrize("stations", [2, 3, 5, 8, 10, 15, 20, 30, 40])
def test_collision_probability_follows_http_queueing(stations: int) -> None:
    """Its eqs. 1 and 2, RTS before each frame (Fig 1)."""
    stats = cell(stations, seconds=400, payload=1038, rts="0")
    assert stats["collision_probability"] == pytest.approx(
        bianchi.collision_probability(stations), rel=0.05
    )


@pytest.mark.parametrize("stations", [20, 30, 40])
def test_drops_follow_http_queueing(stations: int) -> None:
    """P_drop = P_C^7 (Fig 2). With fewer stations a collision makes the next one likelier."""
    stats = cell(stations, seconds=2500, payload=1038, rts="0")
    model = bianchi.collision_probability(stations) ** 7
    assert drop_share(stats) == pytest.approx(model, rel=0.05)


@pytest.mark.parametrize(("payload", "tcp_bits"), [(1038, 8000), (38, 0)])
def test_exchange_takes_http_queueings_time(payload: int, tcp_bits: int) -> None:
    """T_TCPdata and T_TCPack without DIFS. The paper's RTS has 20 bits too many, and the standard
    counts whole microseconds (17.3.4); with its 36 bytes around an MSDU a segment is 1038."""
    stats = cell(1, payload=payload, rts="0", seconds=10)
    frame_us = (272 + 320 + tcp_bits) / 11
    standard_us = bianchi.tcp_exchange_us(tcp_bits, rts_bits=160) - 50
    standard_us += ceil(frame_us) - frame_us
    mean_us = stats["airtime_s"]["success"] / stats["delivered"] * 1e6
    assert mean_us == pytest.approx(standard_us, abs=1e-4)
    assert bianchi.tcp_exchange_us(tcp_bits) - 50 - standard_us == pytest.approx(
        20 / 2 - (ceil(frame_us) - frame_us)
    )


def test_same_seed_same_digest_other_seed_other() -> None:
    first, again, other = cell(5), cell(5), cell(5, seed="2")
    assert first == again
    assert first["digest"] != other["digest"]
    assert len(first["digest"]) >= 16


@pytest.mark.parametrize("retry", ["1", "2", "7"])
def test_counters_add_up(retry: str) -> None:
    stats = cell(20, retry=retry)
    for sta in stats["stations"]:
        assert sta["tx"] == sta["delivered"] + sta["collisions"] + sta["unanswered"]
        assert sta["backlog_start"] + sta["frames_in"] == (
            sta["delivered"] + sta["drops"] + sta["broadcasts"] + sta["backlog"]
        )
        assert sta["drops"] <= sta["collisions"]
        assert sta["bytes_in"] == 1536 * sta["frames_in"] == 1536 * sta["data_frames_in"]
    for key in ("tx", "collisions", "drops", "delivered"):
        assert stats[key] == sum(sta[key] for sta in stats["stations"])
    assert stats["collision_probability"] == pytest.approx(
        stats["collisions"] / stats["tx"], abs=1e-6
    )
    assert sum(stats["airtime_s"].values()) == pytest.approx(stats["virtual_s"], abs=1e-6)
    assert not any(stats["integrity"].values())
    if retry == "1":
        assert stats["drops"] == stats["collisions"] > 0


def test_an_hour_of_fifty_stations_adds_up() -> None:
    stats = cell(50, seconds=3600)
    assert sum(stats["airtime_s"].values()) == pytest.approx(3600, abs=1e-6)
    for sta in stats["stations"]:
        assert sta["tx"] == sta["delivered"] + sta["collisions"]
        assert sta["frames_in"] == sta["delivered"] + sta["drops"] + sta["backlog"]
        # First attempts are those of frames that are done, and perhaps of the one in hand.
        assert 0 <= sta["tx"] - sta["retries"] - sta["delivered"] - sta["drops"] <= 1


def test_stations_share_alike() -> None:
    delivered = [sta["delivered"] for sta in cell(5, seconds=400)["stations"]]
    assert max(delivered) / min(delivered) < 1.05


def test_rts_pays_off_only_in_crowds() -> None:
    """Bianchi 2000, section VI: RTS/CTS costs few stations and helps many."""
    assert (
        cell(2, rts="0")["throughput_mbps"] < cell(2)["throughput_mbps"]
        and cell(100, rts="0")["throughput_mbps"] > cell(100)["throughput_mbps"]
    )


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "no command"),
        (("saturated",), "no command 'saturated'"),
        (("saturate",), "needs --stations, --phy and --payload"),
        (("saturate", "--stations", "0"), "--stations: '0'"),
        (("saturate", "--stations", "-1"), "--stations: '-1'"),
        (("saturate", "--stations", "5x"), "--stations: '5x'"),
        (("saturate", "--payload", "2297"), "from 1 to 2296"),
        (("saturate", "--seconds", "0"), "--seconds: '0'"),
        (("saturate", "--seconds", "nan"), "--seconds: 'nan'"),
        (("saturate", "--eifs", "maybe"), "neither 'on' nor 'off'"),
        (("saturate", "--phy", "ht40"), "there are dsss-2, hrdsss-11"),
        (("saturate", "surplus"), "no argument 'surplus'"),
        (("saturate", "--bogus"), "'--bogus' is no option"),
        (("saturate", "--seed"), "'--seed' is no option, or lacks its value"),
        (("hwsim",), "needs --phy"),
        (("hwsim", "--phy", "hrdsss-11", "--station", "02:00"), "not a station's address"),
        (
            ("hwsim", "--phy", "hrdsss-11", "--station", "02:00:00:00:00:00,retries=3"),
            "no field 'retries'",
        ),
        (
            ("hwsim", "--phy", "hrdsss-11", "--station", "02:00:00:00:00:00,name=a b"),
            "name 'a b'",
        ),
        (
            ("hwsim", "--phy", "hrdsss-11", "--station", "02:00:00:00:00:00,cwmin=64,cwmax=32"),
            "cwmax 32 is below cwmin 64",
        ),
        (
            (
                *("hwsim", "--phy", "hrdsss-11"),
                *("--station", "02:00:00:00:00:00", "--station", "02:00:00:00:00:00,name=b"),
            ),
            "have the same address",
        ),
    ],
)
def test_bad_usage_is_one_line_and_exit_2(words: tuple[str, ...], says: str) -> None:
    assert_refused(says, *words)


def test_no_hwsim_is_one_line_and_exit_1(tmp_path: Path) -> None:
    if Path("/sys/module/mac80211_hwsim").exists():
        pytest.skip("this machine has mac80211_hwsim loaded")
    hwsim = ["hwsim", "--phy", "hrdsss-11"]
    assert_refused("modprobe mac80211_hwsim", *hwsim, status=1)
    stats = tmp_path / "no" / "stats.json"
    assert_refused("--stats: cannot write", *hwsim, "--stats", stats, status=1)
