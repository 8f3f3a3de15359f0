# SPDX-License-Identifier: GPL-2.0-only
"""QUIC uploads beside TCP downloads: equal if lasack observes what the stations send.

Equal means within 10 %. What is charged leaves less than half of that: a QUIC-like datagram of
1200 bytes has 1168 of payload, and every second one brings an ACK of 48 bytes, charged as well. So
an upload gets 2336 bytes of payload for 2448 charged, and a download as much as it is charged.

The servers take 64 kB ahead. lasack cannot tell a QUIC sender to send less, so with windows of
megabytes connections are equal only over minutes: Documentation/measurements/lasack.md.
"""

from __future__ import annotations

import pytest

from tests.experiments.campaign import Run, carried_out

EQUAL = 0.1
SHORT = ("seed=1", "duration_s=9", "warmup_s=3", "quic.window=65536")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    """By case: lasack with and without `observe`."""
    cases = 'case=["lasack", "lasack observe"]'
    found = carried_out("quic", tmp_path_factory.mktemp("quic") / "out", *SHORT, cases)
    return {run["params"]["case"]: run for run in found}


def connections(run: Run) -> list[float]:
    """Mb/s of the two uploads and the two downloads."""
    found = [flow["goodput_mbps"] for flow in run["flows"] if flow["whole"]]
    assert len(found) == 4
    return found


def test_observed_uploads_are_equal_to_downloads(runs: dict[str, Run]) -> None:
    run = runs["lasack observe"]
    assert run["ratio_down_up"] == pytest.approx(1, rel=EQUAL)
    mean = sum(connections(run)) / 4
    assert connections(run) == pytest.approx([mean] * 4, rel=EQUAL)


def test_unobserved_uploads_win(runs: dict[str, Run]) -> None:
    """They look like a slow stream of small datagrams."""
    assert runs["lasack"]["ratio_down_up"] < 1 - EQUAL
