# SPDX-License-Identifier: GPL-2.0-only
"""dcfmedium's links of their own and fading, by the command line, against the error model."""

from __future__ import annotations

from math import exp, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from apbed.papers import error_rate
from tests.medium.dcfmedium import assert_refused, output, saturate

MPDU_BYTES, ACK_BYTES = 1536, 14
DATA, ACK = ("DSSS", 11), ("DSSS", 2)
CELL = ("--stations", "1", "--sink", "--phy", "hrdsss-11", "--payload", "1500")
SEND, BACK = "sta1:sink", "sink:sta1"


def sender(*words: str) -> dict[str, Any]:
    """The statistics of the one station that sends."""
    stats = saturate(*CELL, "--seconds", "100", *words)
    station: dict[str, Any] = stats["stations"][0]
    return station


def assert_share(hits: int, tries: int, probability: float) -> None:
    """Within four standard deviations of a binomial."""
    assert abs(hits - tries * probability) <= 4 * sqrt(tries * probability * (1 - probability))


def test_a_link_has_a_direction() -> None:
    """Data meets the link to the sink, its ACK the one back; each other link is the channel's."""
    station = sender("--channel", "snr=30", "--link", f"{SEND},snr=4")
    data_lost = 1 - exp(MPDU_BYTES * error_rate.octets(4.0)[DATA])
    assert 0.02 < data_lost < 0.98
    assert_share(station["lost"], station["tx"], data_lost)
    assert station["acks_lost"] == 0
    station = sender("--channel", "snr=30", "--link", f"{BACK},snr=-3")
    ack_lost = 1 - exp(ACK_BYTES * error_rate.octets(-3.0)[ACK])
    assert 0.02 < ack_lost < 0.98
    assert_share(station["acks_lost"], station["tx"], ack_lost)
    assert station["lost"] == station["acks_lost"]


def test_a_link_replaces_the_snr_of_its_stations() -> None:
    """Also one that is better than its worse end; of two values the last counts."""
    words = ("--channel", "snr=-10", "--link", f"{BACK},snr=30", "--link", f"{SEND},snr=-10")
    station = sender(*words, "--link", f"{SEND},snr=4")
    assert_share(station["lost"], station["tx"], 1 - exp(MPDU_BYTES * error_rate.octets(4.0)[DATA]))


def test_a_link_loses_with_its_probability() -> None:
    station = sender(
        "--channel", "loss=0.5", "--link", f"{SEND},loss=0.2", "--link", f"{BACK},loss=0"
    )
    assert_share(station["lost"], station["tx"], 0.2)
    assert station["acks_lost"] == 0
    assert sender("--channel", "loss=0", "--link", f"{SEND},loss=1")["delivered"] == 0


def test_fading_spreads_each_frame() -> None:
    """Losses are the mean of the model over a normal SNR, for data and ACK each."""
    snr_db, fading_db = 6.0, 3.0
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    weights = weights / weights.sum()
    octets = [error_rate.octets(float(snr_db + fading_db * z)) for z in nodes]
    arrives = float(
        sum(w * exp(MPDU_BYTES * o[DATA]) for w, o in zip(weights, octets, strict=True))
    )
    acked = float(sum(w * exp(ACK_BYTES * o[ACK]) for w, o in zip(weights, octets, strict=True)))
    steady = exp(MPDU_BYTES * error_rate.octets(snr_db)[DATA])
    assert abs(steady - arrives) > 0.1
    station = sender("--channel", f"snr={snr_db},fading={fading_db}")
    assert_share(station["lost"], station["tx"], 1 - arrives * acked)


def test_replay_knows_links(tmp_path: Path) -> None:
    trace = str(tmp_path / "trace")
    saturate(
        *CELL,
        "--seconds",
        "5",
        "--channel",
        "snr=30,fading=2",
        "--link",
        f"{SEND},snr=5",
        "--record",
        trace,
    )
    output("replay", trace)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--link", "sta1"], "--link: 'sta1' is not A:B,snr=DB or A:B,loss=P"),
        (["--link", "sta1:sink"], "--link: 'sta1:sink' is not A:B,snr=DB or A:B,loss=P"),
        (["--link", "sta1:b:c,snr=1"], "--link: 'sta1:b:c,snr=1' is not A:B"),
        (["--link", f"{SEND},ber=1"], "--link: 'ber=1' is neither snr=DB nor loss=P"),
        (["--link", f"{SEND},loss=1.1"], "--link: loss: '1.1' is not a probability"),
        (["--link", f"{SEND},snr=61"], "--link: snr: '61' is not a number of dB"),
        (["--link", "sta1:sta1,snr=6"], "--link: 'sta1' has no link to itself"),
        (["--link", f"{SEND},snr=6"], "--link: snr needs --channel snr=DB"),
        (["--channel", "snr=6", "--link", f"{SEND},loss=0"], "--link: loss needs --channel loss=P"),
        (["--channel", "snr=6", "--link", "sta1:sta2,snr=6"], "--link: there is no station 'sta2'"),
        (["--channel", "snr=6,fading=-1"], "--channel: fading: '-1' is below 0"),
        (["--channel", "snr=6,slow=1"], "--channel: no field 'slow=1'; snr has fading"),
    ],
)
def test_a_wrong_link_is_one_line(words: list[str], says: str) -> None:
    assert_refused(says, "saturate", *CELL, *words)
