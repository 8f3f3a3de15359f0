# SPDX-License-Identifier: GPL-2.0-only
"""What a self-test's command line says wrong is one line and status 2, before anything is done."""

from __future__ import annotations

import subprocess

import pytest

from apbed.checkout import REPOSITORY

KINDS = "choose from lasack, inflight, ackwrr"
TREES = "choose from lasack, inflight, tbf, prio"
WIFI = "say mac80211_hwsim, or the path of its module"
SETUPS = "no set-up nonsense: choose from"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("qdisc/fuzz_netlink.py 10 1 lasack nonsense", f"no kind nonsense: {KINDS}"),
        ("qdisc/fuzz_netlink.py lasack", "REQUESTS is a whole number, not lasack"),
        ("qdisc/refusals.py nonsense", f"no kind nonsense: {KINDS}"),
        ("qdisc/random_operations.py 10 1 nonsense", f"no tree nonsense: {TREES}"),
        # Trees that are there with --stopping alone.
        ("qdisc/random_operations.py 10 1 mq", f"no tree mq: {TREES}"),
        ("qdisc/random_operations.py --stopping 10 1 nonsense", "lasack-off, ackwrr-off, mq"),
        ("qdisc/random_operations.py prio", "STEPS is a whole number, not prio"),
        ("wifi/access_points.py", WIFI),
        ("wifi/access_points.py hwsim.ko bridged nonsense", f"{SETUPS} bridged"),
        ("wifi/changes.py", WIFI),
        ("wifi/changes.py hwsim.ko nonsense", f"{SETUPS} channel-switch"),
        ("wifi/default_bound.py", WIFI),
        ("wifi/default_bound.py hwsim.ko nonsense", f"{SETUPS} several-queues"),
        ("wifi/fairness.py", WIFI),
        ("wifi/fairness.py hwsim.ko nonsense", f"{SETUPS} wpa2"),
        ("tcp/tcp_ack_skip.py --turns nonsense", "no test nonsense: choose from one_ack_for"),
        ("tcp/tcp_ack_skip_edges.py nonsense", "no test nonsense: choose from slow_start"),
        ("tcp/tcp_ack_skip_safety.py --skips 1,3", "the first of --skips is 0"),
        ("tcp/tcp_ack_skip_safety.py --skips 0,three", "--skips is a whole number, not three"),
        ("tcp/tcp_ack_skip_safety.py reno nonsense", "no cell has all of reno nonsense"),
    ],
)
def test_bad_usage_is_one_line_and_exit_2(words: str, says: str) -> None:
    # Should one begin all the same, it finds no program to change this machine's network with.
    program = f"{REPOSITORY}/selftests/{words}".split()
    done = subprocess.run(
        ["/usr/bin/python3", *program],
        capture_output=True,
        text=True,
        env={"PATH": "/nonexistent", "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"{program[0].rpartition('/')[2]}: ")
    assert says in line
