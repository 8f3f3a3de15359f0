# SPDX-License-Identifier: GPL-2.0-only
"""Users and talkers as they are drawn, the keys of the papers' cells, and what is refused."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from statistics import fmean

import pytest

from apbed.errors import ApbedError
from apbed.scenario import datagrams
from apbed.scenario.plan import Plan
from apbed.scenario.users import page_of
from guest.network import window_sysctls, wire_words
from guest.radios import air_words
from guest.traffic import burst_list, page_list
from tests.apbed.scenario.test_scenario import CELL, load

USERS = (
    "users.files=40",
    "users.think_s=2",
    "users.sizes=pareto",
    "users.min_bytes=10000",
    "users.alpha=1.5",
)
VOICE = """
[[flow]]
id = "call"
station = "sta1"
dir = "voice"
both = true
rate_kbps = 32
bytes = 200
on_s = 1.0
off_s = 1.35
late_s = 0.5
"""


def test_users_are_the_same_for_every_scheduler(tmp_path: Path) -> None:
    """Each station has its own; a page's objects have its think time once, then none."""
    runs = load(
        tmp_path,
        CELL,
        *USERS,
        "users.objects=3",
        "ap.qdisc=[fq, sfq]".replace("fq, sfq", '"a","b"'),
    ).runs
    one, other = (run.plan for run in runs)
    assert one.users == other.users and len(one.users) == 120
    assert Plan.from_json(one.to_json()) == one
    assert [flow.think_s is None for flow in one.users[:6]] == [False, True, True] * 2
    assert [page_of(flow) for flow in one.users[:6]] == [1, 1, 1, 2, 2, 2]
    lines = page_list(one, "sta1").splitlines()
    assert lines[1].split()[::3] == ["sta1-file-1.2", "-"]
    two = load(tmp_path, CELL, *USERS, "station.count=2").runs[0].plan.users
    assert [flow.bytes for flow in two[:40]] != [flow.bytes for flow in two[40:]]


def test_pareto_sizes_and_exponential_thoughts_have_their_means(tmp_path: Path) -> None:
    """http-queueing, section 4: 30 kB of exponent 1.5 from 10 kB on; median 10 kB 2^(2/3)."""
    settings = [word for word in USERS if "files" not in word]
    users = load(tmp_path, CELL, *settings, "users.files=20000").runs[0].plan.users
    sizes = sorted(flow.bytes or 0 for flow in users)
    assert sizes[0] >= 10_000
    assert sizes[10_000] == pytest.approx(10_000 * 2 ** (1 / 1.5), rel=0.03)
    assert fmean(flow.think_s or 0 for flow in users) == pytest.approx(2, rel=0.03)


def test_spurts_are_as_long_as_ns2s() -> None:
    """Exponential means of 1.0 and 1.35 s (channel-errors, section 3.3): of the time, 1.0 / 2.35
    is speech, at least one datagram a spurt: E[max(1, round(X))] of mean 20 is 20.0 within 1 %."""
    found = datagrams.spurts(1.0, 1.35, 0.05, 20_000.0, "1")
    spoken = fmean(count for _, count in found)
    assert spoken == pytest.approx(20.02, rel=0.03)
    assert len(found) == pytest.approx(20_000 / (spoken * 0.05 + 1.35), rel=0.03)
    assert all(b > a + count * 0.05 for (a, count), (b, _) in pairwise(found))
    assert datagrams.spurts(1.0, 1.35, 0.05, 20_000.0, "2") != found


def test_a_call_speaks_both_ways(tmp_path: Path) -> None:
    """32 kb/s in datagrams of 200 bytes: one every 50 ms."""
    plan = load(tmp_path, CELL + VOICE).runs[0].plan
    up, down = plan.flows[1:]
    assert [(flow.id, flow.dir) for flow in (up, down)] == [
        ("call-up", "pulse"),
        ("call-down", "pulse_down"),
    ]
    assert up.every_s == 0.05 and up.bursts != down.bursts and up.late_s == 0.5
    assert Plan.from_json(plan.to_json()) == plan
    assert up.count == sum(int(line.split()[1]) for line in burst_list(up).splitlines())


def test_udp_is_a_pulse_at_its_rate(tmp_path: Path) -> None:
    """8 Mb/s of 1000 bytes: one each ms, to the end."""
    text = CELL.replace('dir = "up"', 'dir = "udp_down"\nrate_mbps = 8.0\nbytes = 1000')
    (flow,) = load(tmp_path, text).runs[0].plan.flows
    assert (flow.dir, flow.every_s, flow.count) == ("pulse_down", 0.001, 10000)


@pytest.mark.parametrize(
    ("new", "line"),
    [
        ('dir = "voice"', "flow 1: rate_kbps is missing; dir = 'voice' needs it"),
        ('dir = "udp"\nbytes = 9', "flow 1: rate_mbps is missing; dir = 'udp' needs it"),
        (
            'dir = "udp"\nbytes = 900\nrate_mbps = 1\non_s = 1.0',
            "flow 1: on_s: expected off_s, too",
        ),
        ('dir = "up"\non_s = 1.0', "flow 1: on_s: expected only with dir = udp, udp_down, voice"),
        (
            'dir = "udp"\nbytes = 900\nrate_mbps = 1\nboth = true',
            "flow 1: both: expected only with dir = 'voice'",
        ),
    ],
)
def test_a_rate_that_cannot_be_is_one_line(tmp_path: Path, new: str, line: str) -> None:
    with pytest.raises(ApbedError) as refused:
        load(tmp_path, CELL.replace('dir = "up"', new))
    assert str(refused.value).startswith(f"cell.toml: {line}")


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        (["medium.access=eca"], "medium.access = 'eca': expected one of dcf, aap, idle-sense"),
        (
            ["medium.access=aap", "medium.edca=default"],
            "medium.access = 'aap': expected medium.edca = 'off' with it",
        ),
        (["medium.idle_target=5"], "medium.idle_target: expected medium.access = 'aap' or"),
        (["medium.fec=255,181"], "medium.fec: expected medium.channel = 'ge,...'"),
        (["medium.retry=7/"], "medium.retry = '7/': expected a whole number"),
        (["tcp.mtu=20"], "tcp.mtu = 20: expected 0, or at least 68"),
        (["tcp.mtu=1000", "tcp.mss=1000"], "tcp.mss = 1000: expected at most 960"),
        ([*USERS, "users.warmup_files=40"], "users.warmup_files: expected less than users.files"),
        ([*USERS, "users.files=50000", "station.count=2"], "users: 100000 transfers; expected"),
        (["users.files=4"], "users.think_s is missing"),
    ],
)
def test_what_does_not_go_together_is_one_line(
    tmp_path: Path, settings: list[str], line: str
) -> None:
    with pytest.raises(ApbedError) as refused:
        load(tmp_path, CELL, *settings)
    assert str(refused.value).startswith(f"cell.toml: {line}")


def test_what_the_guest_is_told(tmp_path: Path) -> None:
    """In dcfmedium's and tc's words."""
    channel = "medium.channel=ge,good=0.1,bad=0.03"
    settings = ("medium.fec=255,181", channel, "medium.access=aap", "medium.idle_target=4.5")
    plan = load(tmp_path, CELL, *settings, "wired.rate_mbps=5", "medium.retry=7/4").runs[0].plan
    assert plan.medium.retry == "7/4"
    words = air_words(plan.medium)
    assert words[-4:] == ["--fec", "255,181", "--idle-target", "4.5"]
    netem = "tc qdisc replace dev eth0 root netem limit 100000 rate 5.0mbit"
    assert wire_words("eth0", plan.wired) == netem.split()
    assert wire_words("eth0", load(tmp_path, CELL).runs[0].plan.wired) == []
    assert window_sysctls(plan.tcp) == {}
