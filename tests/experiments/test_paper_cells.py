# SPDX-License-Identifier: GPL-2.0-only
"""What the papers' cells are made of, in the lab: each key against a model, or against what the
medium alone does with the same words (`dcfmedium saturate`)."""

from __future__ import annotations

from statistics import fmean
from typing import Any

import pytest

from apbed.papers import http_queueing
from tests.experiments.campaign import OUT, Run, carried_out
from tests.medium.dcfmedium import saturate

PHY = "hrdsss-11"
CELL = """
schema = 1
name = "{name}"
title = "a cell of the papers"
duration_s = {duration_s}
warmup_s = 1.0
[medium]
phy = "hrdsss-11"
[ap]
inflight = 1
qdisc = "pfifo limit {limit}"
[station]
count = {stations}
"""
# 802.11b carries no 7 Mb/s, and a station among five no 2.
UP = '[[flow]]\nid = "up"\nstation = "each"\ndir = "udp"\nrate_mbps = {}\nbytes = 1472\n'
ALL_UP, ONE_UP = UP.format(2), UP.format(7)
# The access point must have sent something, or the run proves nothing.
PING = '[[flow]]\nid = "ping"\nstation = "sta1"\ndir = "ping"\nevery_s = 0.5\nbytes = 64\n'
DOWN = '[[flow]]\nid = "down"\nstation = "sta1"\ndir = "udp_down"\nrate_mbps = 6\nbytes = 1472\n'
# http-queueing's: an ACK for each segment of 1000 bytes, headers of 40, RTS before every frame.
HTTP = (
    "medium.rts=0",
    "tcp.mss=1000",
    "station.sysctl.net.ipv4.tcp_ack_every=1",
    "wired.sysctl.net.ipv4.tcp_timestamps=0",
)


def cell(
    name: str, text: str, *settings: str, stations: int = 1, duration_s: int = 5, limit: int = 100
) -> list[Run]:
    """The runs of a scenario of that name; finished ones are kept between calls."""
    out = OUT / "paper-cells" / name
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{name}.toml"
    cut = CELL.format(name=name, stations=stations, duration_s=duration_s, limit=limit)
    path.write_text(cut + text)
    return carried_out(path, out, *settings)


def of(runs: list[Run], key: str) -> dict[Any, Run]:
    return {run["params"][key]: run for run in runs}


def packets_mbps(run: Run) -> dict[str, float]:
    """Of each flow of datagrams, with the headers that `dcfmedium saturate` counts as payload."""
    flows = [flow for flow in run["flows"] if flow["dir"] != "ping"]
    return {flow["id"]: flow["goodput_mbps"] * 1500 / 1472 for flow in flows}


@pytest.fixture(scope="module")
def methods() -> dict[Any, Run]:
    """Five stations and their access point, all with frames to send, by access method."""
    settings = ('medium.access=["dcf", "idle-sense", "aap"]', "warmup_s=0")
    return of(cell("access", ALL_UP + DOWN, *settings, stations=5), "medium.access")


@pytest.mark.parametrize("access", ["dcf", "idle-sense", "aap"])
def test_an_access_method_is_the_mediums(methods: dict[Any, Run], access: str) -> None:
    """Collisions and the access point's share as with six saturated stations and no kernel, for as
    long: the windows need some ten seconds to settle. Then AAP's access point has twice what all
    its stations have (layer2-layer3, section II); tests/medium has that."""
    words = ("--stations", "6", "--phy", PHY, "--payload", "1500", "--seconds", "5")
    alone = [saturate(*words, "--access", access, "--seed", str(seed)) for seed in range(1, 7)]
    run, mbps = methods[access], packets_mbps(methods[access])
    collisions = fmean(one["collision_probability"] for one in alone)
    assert run["medium"]["collision_probability"] == pytest.approx(collisions, abs=0.02)
    throughput = fmean(one["throughput_mbps"] for one in alone)
    assert sum(mbps.values()) == pytest.approx(throughput, rel=0.04)
    delivered = [[station["delivered"] for station in one["stations"]] for one in alone]
    share = fmean(each[0] / sum(each) for each in delivered)
    assert mbps["down"] / sum(mbps.values()) == pytest.approx(share, abs=0.03)


def test_an_idle_target_is_what_idle_sense_holds() -> None:
    """More idle slots are fewer collisions, as many as in the medium alone. Before t0 and between
    datagrams nobody contends; were such gaps heard, the windows would stay small: 0.23 collide."""
    (run,) = cell(
        "target", ALL_UP + PING, "medium.access=idle-sense", "medium.idle_target=12", stations=5
    )
    words = ("--stations", "5", "--phy", PHY, "--payload", "1500", "--seconds", "5", "--sink")
    far = saturate(*words, "--access", "idle-sense", "--idle-target", "12")
    near = saturate(*words, "--access", "idle-sense")
    expected = far["collision_probability"]
    assert expected < 0.9 * near["collision_probability"]
    assert run["medium"]["collision_probability"] == pytest.approx(expected, abs=0.02)


CHANNEL = "ge,good=0.1,bad=0.0333,ber-good=1e-6,ber-bad=1e-2"


def test_fec_carries_frames_over_a_bad_link() -> None:
    """channel-errors' channel: coded frames pass while it is bad, plain ones do not."""
    words = ("--stations", "1", "--phy", PHY, "--payload", "1500", "--sink", "--channel", CHANNEL)
    runs = cell(
        "fec",
        ONE_UP + PING,
        f"medium.channel={CHANNEL}",
        'medium.fec=["", "255,181"]',
        duration_s=9,
    )
    for fec, run in of(runs, "medium.fec").items():
        coded = ("--fec", fec) if fec else ()
        alone = saturate(*words, *coded, "--seconds", "200")
        mbps = sum(packets_mbps(run).values())
        assert mbps == pytest.approx(alone["throughput_mbps"], rel=0.12)


def test_retry_has_a_long_and_a_short_limit() -> None:
    """With RTS before every frame, a third of all frames lost, and one attempt after RTS/CTS."""
    words = ("--stations", "1", "--phy", PHY, "--payload", "1500", "--sink")
    settings = ("medium.rts=0", "medium.channel=loss=0.3", 'medium.retry=["7/1", 7]')
    for retry, run in of(cell("retry", ONE_UP + PING, *settings), "medium.retry").items():
        alone = saturate(
            *words, "--rts", "0", "--channel", "loss=0.3", "--retry", str(retry), "--seconds", "60"
        )
        expected = alone["drops"] / alone["tx"]
        assert run["medium"]["drops"] / run["medium"]["tx"] == pytest.approx(expected, abs=0.03)


@pytest.mark.parametrize("window", [1, 8])
def test_a_download_with_w_star_is_as_eq_a3_says(window: int) -> None:
    """2.25 Mb/s at W* = 1 to 2.35 at 8: http-queueing, eq. A.3."""
    down = '[[flow]]\nid = "down"\nstation = "sta1"\ndir = "down"\n'
    (run,) = cell(f"window-{window}", down, *HTTP, f"tcp.window_segments={window}")
    expected = http_queueing.capped(window) / 1e6
    assert run["goodput_mbps"]["down"] == pytest.approx(expected, rel=0.03)


def test_a_user_waits_as_eq_14_says() -> None:
    """One user, W* = 1, against http-queueing's session delay. Each further segment costs as much
    as eq. 14 says, within 4 %. To open a session costs up to four short frames more: RTS before SYN
    and SYN-ACK, the handshake's own ACK, and the request, which the paper leaves out."""
    users = '[users]\nfiles = 30\nthink_s = 0.05\nsizes = "list"\nlist_bytes = [12_000, 40_000]\n'
    settings = (*HTTP, "tcp.window_segments=1", "users.warmup_files=2")
    (run,) = cell("user", users, *settings, duration_s=8)
    assert run["users"] == {"files": 30, "asked": 30}
    pages = run["transfers"]
    assert len(pages) == 28
    short, long = (
        fmean(one["response_s"] for one in pages if one["bytes"] == size)
        for size in (12_000, 40_000)
    )
    says_s = [http_queueing.session_s(8 * size) for size in (12_000, 40_000)]
    assert long - short == pytest.approx(says_s[1] - says_s[0], rel=0.04)
    short_frame_s = http_queueing.TCP_ACK_S + http_queueing.FRESH_BACKOFF_S
    assert 0 < short - says_s[0] < 4 * short_frame_s
    ends = [one["start_s"] + one["response_s"] for one in pages]
    assert all(one["start_s"] > end for one, end in zip(pages[1:], ends, strict=False))


def test_the_wire_has_a_rate_and_packets_a_size() -> None:
    """2 Mb/s of frames with 14 bytes of Ethernet: 1948 of each 2014 are payload."""
    down = '[[flow]]\nid = "down"\nstation = "sta1"\ndir = "down"\n'
    (run,) = cell("wire", down, "wired.rate_mbps=2", "tcp.mtu=2000")
    assert run["goodput_mbps"]["down"] == pytest.approx(2 * 1948 / 2014, rel=0.005)


def test_an_initial_window_saves_round_trips() -> None:
    """Ten segments: 1 + 2 + 4 + 3 need three round trips of 100 ms more than ten at once."""
    down = '[[flow]]\nid = "down"\nstation = "sta1"\ndir = "down"\nbytes = 14_480\n'
    runs = of(cell("initcwnd", down, "wired.delay_ms=50", "wired.initcwnd=[1, 10]", duration_s=2),
              "wired.initcwnd")  # fmt: skip
    took_s = {many: run["transfers"][0]["response_s"] for many, run in runs.items()}
    assert took_s[1] - took_s[10] == pytest.approx(0.3, abs=0.03)


def test_pings_are_lost_where_the_queue_is_full() -> None:
    """Three downloads keep a short queue of the access point full: only answers are lost. A
    talker's datagrams that take longer than any can are late."""
    flows = '[[flow]]\nid = "down"\nstation = "each"\ndir = "down"\n'
    flows += '[[flow]]\nid = "ping"\nstation = "sta1"\ndir = "ping"\nevery_s = 0.02\nbytes = 64\n'
    flows += '[[flow]]\nid = "talk"\nstation = "sta1"\ndir = "voice"\nrate_kbps = 32\nbytes = 200\n'
    flows += "on_s = 1.0\noff_s = 0.2\nlate_s = 1e-6\n"
    (run,) = cell("ping", flows, stations=3, limit=10)
    found = {flow["id"]: flow for flow in run["flows"]}
    ping = found["ping"]["ping"]
    assert ping["sent"] == 200 and ping["lost_up"] == 0 and ping["lost_down"] > 0
    assert run["ping_loss"] == ping["lost_down"] / 200
    there_and_back = found["ping"]["delay_ms"]["p50"]
    assert ping["up_ms"]["p50"] < ping["down_ms"]["p50"] < there_and_back
    assert found["talk"]["late_frames"]["share"] == run["late_share"] == 1
    assert (
        run["tcp_segments"]["down"]["loss"]
        > run["tcp_segments"]["down"]["retransmitted_share"] / 2
        > 0
    )
