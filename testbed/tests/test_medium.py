# SPDX-License-Identifier: GPL-2.0-only
"""dcfmedium's saturated stations against models, a published table, and bookkeeping."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from apbed import bianchi

MEDIUM = Path(__file__).resolve().parents[2] / "build" / "bin" / "dcfmedium"


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([MEDIUM, *words], capture_output=True, text=True, check=False)


def saturate(stations: int, *, seconds: int = 100, seed: int = 1, **more: str) -> dict[str, Any]:
    """Statistics of 1500-byte payloads over hrdsss-11."""
    words = ["saturate", "--stations", str(stations), "--phy", "hrdsss-11", "--payload", "1500"]
    words += ["--seconds", str(seconds), "--seed", str(seed), "--json"]
    for option, value in more.items():
        words += [f"--{option}", value]
    done = run(*words)
    assert done.returncode == 0, done.stderr
    stats: dict[str, Any] = json.loads(done.stdout)
    return stats


@pytest.mark.parametrize("eifs", [True, False])
@pytest.mark.parametrize("stations", [1, 2, 5, 10, 20])
def test_throughput_follows_bianchi(stations: int, eifs: bool) -> None:
    stats = saturate(stations, eifs="on" if eifs else "off")
    model = bianchi.saturation(stations, 1500, eifs=eifs)
    assert stats["throughput_mbps"] == pytest.approx(model.throughput_mbps, rel=0.03)


# ns-3, src/wifi/examples/reference/bianchi_11b_difs.txt: 11 Mb/s, 1500 bytes, ACK 248 us, no
# retry limit. Unlike Bianchi it models that who has just sent can send again after DIFS alone.
@pytest.mark.parametrize(
    ("stations", "mbps"), [(5, 6.4734), (10, 6.1774), (20, 5.7819), (30, 5.5289), (50, 5.1745)]
)
def test_throughput_follows_ns3_reference(stations: int, mbps: float) -> None:
    stats = saturate(stations, eifs="off", retry="255")
    assert stats["throughput_mbps"] == pytest.approx(mbps, rel=0.005)


def test_throughput_with_eifs_follows_ns3_reference() -> None:
    """Its EIFS has the ACK at 2 Mb/s, 56 us less than the standard's."""
    assert saturate(5, retry="255")["throughput_mbps"] == pytest.approx(6.38, rel=0.01)


def test_collision_probability_of_two_follows_paper_000() -> None:
    stats = saturate(2, seconds=400)
    assert stats["collision_probability"] == pytest.approx(
        bianchi.collision_probability(2), rel=0.05
    )


def test_paper_000_prints_0060_for_two() -> None:
    assert bianchi.collision_probability(2) == pytest.approx(0.060, abs=0.0005)


def test_same_seed_same_digest_other_seed_other() -> None:
    first, again, other = saturate(5), saturate(5), saturate(5, seed=2)
    assert first == again
    assert first["digest"] != other["digest"]
    assert len(first["digest"]) >= 16


@pytest.mark.parametrize("retry", ["1", "2", "7"])
def test_counters_add_up(retry: str) -> None:
    stats = saturate(20, retry=retry)
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


def test_drops_are_collisions_to_the_power_of_the_limit() -> None:
    """Paper 000: P_drop = P_C^m, here of frames at M = 2 with 10 stations."""
    stats = saturate(10, retry="2", seconds=400)
    frames = stats["drops"] + stats["delivered"]
    model = bianchi.saturation(10, 1500, eifs=True, attempts=2)
    assert stats["drops"] / frames == pytest.approx(model.collision_probability**2, rel=0.1)


def test_stations_share_alike() -> None:
    delivered = [sta["delivered"] for sta in saturate(5, seconds=400)["stations"]]
    assert max(delivered) / min(delivered) < 1.05


def test_rts_pays_off_only_in_crowds() -> None:
    """Bianchi 2000, section VI: RTS/CTS costs few stations and helps many."""
    assert (
        saturate(2, rts="0")["throughput_mbps"] < saturate(2)["throughput_mbps"]
        and saturate(100, rts="0")["throughput_mbps"] > saturate(100)["throughput_mbps"]
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
    done = run(*words)
    assert done.returncode == 2
    assert done.stdout == ""
    assert says in done.stderr
    assert done.stderr.startswith("dcfmedium: ")
    assert done.stderr.count("\n") == 1


def test_no_hwsim_is_one_line_and_exit_1(tmp_path: Path) -> None:
    if Path("/sys/module/mac80211_hwsim").exists():
        pytest.skip("this machine has mac80211_hwsim loaded")
    done = run("hwsim", "--phy", "hrdsss-11")
    assert done.returncode == 1
    assert "modprobe mac80211_hwsim" in done.stderr
    assert done.stderr.count("\n") == 1
    done = run("hwsim", "--phy", "hrdsss-11", "--stats", str(tmp_path / "no" / "stats.json"))
    assert done.returncode == 1
    assert "--stats: cannot write" in done.stderr
