# SPDX-License-Identifier: GPL-2.0-only
"""QUIC uploads beside TCP downloads: equal and smooth, because lasack observes what stations send
and tells who sends too fast.

Equal means within 10 %. What is charged leaves less than half of that: a QUIC-like datagram of
1200 bytes has 1168 of payload, and every second one brings an ACK of 48 bytes, charged as well. So
an upload gets 2336 bytes of payload for 2448 charged, and a download as much as it is charged.

The servers take 1 MiB ahead, seconds of this cell. Only losses make the uploads' windows smaller.
"""

from __future__ import annotations

import pytest

from tests.experiments.campaign import Run, carried_out

EQUAL = 0.1
SMOOTH = 0.15  # coefficient of variation in windows of a second
BLOATED_MS = 300  # three of lasack's targets; a window of 1 MiB alone takes seconds
SHORT = ("seed=1", "duration_s=16", "warmup_s=6")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    """By case: lasack, also without what is its default on Wi-Fi."""
    cases = 'case=["lasack", "lasack observe off"]'
    found = carried_out("quic", tmp_path_factory.mktemp("quic") / "out", *SHORT, cases)
    return {run["params"]["case"]: run for run in found}


def connections(run: Run) -> list[float]:
    """Mb/s of the two uploads and the two downloads."""
    found = [flow["goodput_mbps"] for flow in run["flows"] if flow["whole"]]
    assert len(found) == 4
    return found


def test_observed_uploads_are_equal_to_downloads(runs: dict[str, Run]) -> None:
    run = runs["lasack"]
    assert run["ratio_down_up"] == pytest.approx(1, rel=EQUAL)
    mean = sum(connections(run)) / 4
    assert connections(run) == pytest.approx([mean] * 4, rel=EQUAL)


def test_observed_uploads_do_not_bloat_themselves(runs: dict[str, Run]) -> None:
    """Each second is even, and no window of a megabyte waits for its ACKs."""
    run = runs["lasack"]
    assert run["second_by_second"]["goodput_cov"] < SMOOTH
    rtts = [flow["rtt_ms"]["p50"] for flow in run["flows"] if flow["quic"]]
    assert len(rtts) == 2 and max(rtts) < BLOATED_MS


def test_unobserved_uploads_win(runs: dict[str, Run]) -> None:
    """They look like a slow stream of small datagrams."""
    assert runs["lasack observe off"]["ratio_down_up"] < 1 - EQUAL
