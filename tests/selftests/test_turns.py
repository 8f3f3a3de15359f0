# SPDX-License-Identifier: GPL-2.0-only
"""With --turns, as `make check` runs them, the TCP tests meet every kind of link."""

from __future__ import annotations

import re
import sys
from collections import defaultdict

from apbed.checkout import REPOSITORY

sys.path += [f"{REPOSITORY}/selftests/{folder}" for folder in ("lib", "tcp")]

from tcp_ack_skip import TESTS
from tun_links import VARIANTS, variant_of_turn


def test_each_number_meets_every_link() -> None:
    """However many segments have one ACK, and however many ACKs are skipped."""
    by_every, by_skipped = defaultdict(set), defaultdict(set)
    for number, (name, _) in enumerate(TESTS):
        if found := re.fullmatch(r"one_ack_for_(\d)_times_(\d)", name):
            by_every[found[1]].add(variant_of_turn(number))
            by_skipped[found[2]].add(variant_of_turn(number))
    assert list(by_every) == list("1234")
    assert list(by_skipped) == list("12345678")
    for links in (*by_every.values(), *by_skipped.values()):
        assert links == set(VARIANTS)
