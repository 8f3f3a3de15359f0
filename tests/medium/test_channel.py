# SPDX-License-Identifier: GPL-2.0-only
"""dcfmedium's channels and its Reed-Solomon coding against their probabilities."""

from __future__ import annotations

from math import exp
from pathlib import Path
from typing import Any

import pytest

from apbed.papers import reed_solomon
from tests.medium.dcfmedium import assert_refused, saturate

MPDU_BYTES = 1000 + 36
ACK_BYTES = 14


CELL = ("--stations", "1", "--phy", "dsss-2", "--payload", "1000")


def sender(*words: str, seconds: int = 1000) -> dict[str, Any]:
    """One station's counters; nobody contends, so all that is lost is the channel's."""
    stats = saturate(*CELL, "--seconds", str(seconds), *words)
    counters: dict[str, Any] = stats["stations"][0]
    assert counters["tx"] == counters["delivered"] + counters["lost"]
    return counters


def shares(counters: dict[str, Any]) -> tuple[float, float]:
    """Share of the frames lost, and of the ACKs to those that arrived."""
    lost = counters["lost"] - counters["acks_lost"]
    return lost / counters["tx"], counters["acks_lost"] / (counters["tx"] - lost)


def test_independent_loss() -> None:
    data, ack = shares(sender("--channel", "loss=0.1"))
    assert data == pytest.approx(0.1, rel=0.02)
    assert ack == pytest.approx(0.1, rel=0.02)


def test_bit_errors_become_frame_errors_by_length() -> None:
    data, ack = shares(sender("--channel", "ber=1e-4"))
    assert data == pytest.approx(reed_solomon.plain_frame_loss(MPDU_BYTES, 1e-4), rel=0.02)
    assert ack == pytest.approx(reed_solomon.plain_frame_loss(ACK_BYTES, 1e-4), rel=0.1)


def test_gilbert_elliott_of_channel_errors() -> None:
    """A frame survives if the state is good when it begins and stays so for its 4336 us."""
    words = "ge,good=0.1,bad=0.0333,ber-good=0,ber-bad=0.5"
    counters = sender("--channel", words, "--retry", "1", seconds=4000)
    survives = 0.1 / 0.1333 * exp(-0.004336 / 0.1)
    data, _ = shares(counters)
    assert 1 - data == pytest.approx(survives, rel=0.02)


@pytest.mark.parametrize("ber", [0.01, 0.014, 0.018])
def test_fec_follows_the_reed_solomon_bound(ber: float) -> None:
    """RS(255,181), 71 % as in channel-errors, always in the bad state."""
    channel = f"ge,good=0.001,bad=100000,ber-good=0,ber-bad={ber}"
    coded = sender("--channel", channel, "--fec", "255,181", "--retry", "1", seconds=2000)
    data, ack = shares(coded)
    model = reed_solomon.coded_frame_loss(255, 181, MPDU_BYTES, ber)
    assert data == pytest.approx(model, rel=0.03 if ber > 0.01 else 0.2)
    assert ack == pytest.approx(reed_solomon.coded_frame_loss(255, 181, ACK_BYTES, ber), rel=0.03)
    plain = sender("--channel", channel, "--retry", "1", seconds=100)
    assert plain["delivered"] == 0 < plain["tx"]


def test_fec_costs_its_rate() -> None:
    """Coded, a frame takes 1036 + 5 * 74 + 54 bytes, its ACK 14 + 6."""
    counters = sender("--channel", "ge,good=0.001,bad=100000", "--fec", "255,181", seconds=10)
    data_us, ack_us = 192 + 8 * (1036 + 5 * 74 + 54) / 2, 192 + 8 * 20 / 2
    mean_us = counters["airtime_s"] / counters["tx"] * 1e6
    assert mean_us == pytest.approx(data_us + 10 + ack_us, rel=0.001)


def test_a_trace_is_played_by_the_clock(tmp_path: Path) -> None:
    """Ten seconds without errors, then nothing passes."""
    trace = tmp_path / "trace"
    trace.write_text("# seconds, bit error rate\n0 0\n10 0.5\n")
    whole = sender("--channel", f"trace={trace}", seconds=20)
    assert whole["delivered"] == pytest.approx(sender(seconds=10)["delivered"], abs=1)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--channel", "loss=2"), "'2' is not a probability"),
        (("--channel", "ge,good=1"), "needs good=SECONDS and bad=SECONDS"),
        (("--channel", "ge,good=1,bad=1,worse=1"), "no field 'worse=1'"),
        (("--channel", "fading"), "no channel 'fading'"),
        (("--channel", "trace=/nowhere"), "cannot read /nowhere"),
        (("--fec", "255,181"), "needs --channel ge"),
        (("--fec", "181,255"), "is not N,K"),
    ],
)
def test_bad_usage_is_one_line_and_exit_2(words: tuple[str, ...], says: str) -> None:
    assert_refused(says, "saturate", *CELL, *words)
