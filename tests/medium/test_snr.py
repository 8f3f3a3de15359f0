# SPDX-License-Identifier: GPL-2.0-only
"""dcfmedium's frame losses by SNR, and the equations they come from, against other sources."""

from __future__ import annotations

import itertools
from math import exp, sqrt
from typing import Any

import numpy as np
import pytest

from apbed.papers import error_rate
from tests.medium.dcfmedium import ROOT, assert_refused, saturate

MPDU_BYTES, ACK_BYTES = 1536, 14


def sender(*words: str) -> dict[str, Any]:
    """The statistics of the first of two stations; the other one only answers."""
    stats = saturate("--payload", "1500", "--stations", "1", *words)
    station: dict[str, Any] = stats["stations"][0]
    return station


def assert_share(hits: int, tries: int, probability: float) -> None:
    """Within four standard deviations of a binomial."""
    assert abs(hits - tries * probability) <= 4 * sqrt(tries * probability * (1 - probability))


@pytest.mark.parametrize(
    ("phy", "snr_db", "data", "ack"),
    [
        ("dsss-2", 1.0, ("DSSS", 2), ("DSSS", 2)),
        ("hrdsss-11", 4.0, ("DSSS", 11), ("DSSS", 2)),
        ("ofdm-6", 3.0, ("OFDM", 6), ("OFDM", 6)),
        ("ofdm-54", 21.0, ("OFDM", 54), ("OFDM", 24)),
        ("erp-ofdm-18", 8.0, ("OFDM", 18), ("OFDM", 12)),
    ],
)
def test_losses_are_the_models(
    phy: str, snr_db: float, data: tuple[str, float], ack: tuple[str, float]
) -> None:
    station = sender("--phy", phy, "--channel", f"snr={snr_db}", "--seconds", "100")
    octets = error_rate.octets(snr_db)
    arrives = exp(MPDU_BYTES * octets[data])
    acked = arrives * exp(ACK_BYTES * octets[ack])
    assert 0.02 < 1 - acked < 0.98
    assert_share(station["lost"], station["tx"], 1 - acked)
    assert_share(station["acks_lost"], station["tx"], arrives - acked)


@pytest.mark.parametrize(
    ("phy", "snr_db", "mbps"), [("ht20", 22.5, ("HT", 65)), ("vht80", 28.5, ("VHT", 390))]
)
def test_mpdus_of_an_aggregate_are_lost_one_by_one(
    phy: str, snr_db: float, mbps: tuple[str, float]
) -> None:
    station = sender("--phy", phy, "--channel", f"snr={snr_db}", "--seconds", "20")
    arrives = exp((MPDU_BYTES + 2) * error_rate.octets(snr_db)[mbps])
    assert 0.02 < 1 - arrives < 0.5
    assert_share(station["lost"], station["tx"], 1 - arrives)
    assert station["delivered"] > 0


def test_the_worse_end_of_a_link_counts() -> None:
    """One far station: what it sends and what is sent to it is lost alike, the rest is not."""
    stats = saturate(
        *("--payload", "1500", "--stations", "3", "--phy", "hrdsss-11", "--channel", "snr=30"),
        *("--station", "2,snr=4", "--seconds", "60"),
    )
    stations = stats["stations"]  # each sends to the next
    lost = [s["lost"] / (s["tx"] - s["collisions"]) for s in stations]
    expected = error_rate.frame_loss(error_rate.octets(4.0)["DSSS", 11], MPDU_BYTES)
    assert lost[0] == pytest.approx(expected, rel=0.1)
    assert lost[1] == pytest.approx(expected, rel=0.1)
    assert lost[2] == 0


def test_the_table_of_the_c_test_is_the_models() -> None:
    source = (ROOT / "testbed" / "medium" / "tests" / "test_error_rate.c").read_text()
    assert [row for row in error_rate.rows() if row not in source] == []


@pytest.mark.parametrize(
    ("code", "leading"),
    [
        ("1/2", {10: 11, 12: 38, 14: 193, 16: 1331}),
        ("2/3", {6: 1, 7: 16, 8: 48, 9: 158, 10: 642}),
        ("3/4", {5: 8, 6: 31, 7: 160, 8: 892}),
        ("5/6", {4: 14, 5: 69, 6: 654, 7: 4996}),
    ],
)
def test_spectra_begin_as_published(code: str, leading: dict[int, int]) -> None:
    """Frenger, Orten and Ottosson 1999 (1/2); Haccoun and Begin 1989 (punctured)."""
    counted = error_rate.spectrum(code)
    assert {weight: counted[weight] for weight in leading} == leading
    assert min(counted) == min(leading)


def cck_words(mbps: float) -> np.ndarray:
    """All code words of clause 17: 17.4.6.6, with the phases of Tables 17-9 and 17-10."""
    quarters = [k * np.pi / 2 for k in range(4)]
    if mbps == 11:
        phases = list(itertools.product(quarters, repeat=4))
    else:
        phases = [
            (p1, d2 * np.pi + np.pi / 2, 0.0, d3 * np.pi)
            for p1, d2, d3 in itertools.product(quarters, (0, 1), (0, 1))
        ]
    sums = [
        (a + b + c + d, a + c + d, a + b + d, a + d + np.pi, a + b + c, a + c, a + b + np.pi, a)
        for a, b, c, d in phases
    ]
    return np.exp(1j * np.array(sums))


def detected_wrongly(mbps: float, esn0: float, symbols: int) -> float:
    """Maximum likelihood detection of random words in noise, simulated."""
    words, rng = cck_words(mbps), np.random.default_rng(1)
    sent = rng.integers(len(words), size=symbols)
    noise = rng.normal(size=(symbols, 8, 2)) @ np.array([1, 1j]) * sqrt(8 / esn0 / 2)
    likeliest = ((words[sent] + noise) @ words.conj().T).real.argmax(axis=1)
    return float(np.mean(likeliest != sent))


@pytest.mark.parametrize("esn0", [4.0, 6.0, 8.0])
def test_cck_at_5_5_is_biorthogonal(esn0: float) -> None:
    wrong = detected_wrongly(5.5, esn0, 100_000)
    assert_share(round(wrong * 100_000), 100_000, error_rate.biorthogonal_16_error(esn0))


@pytest.mark.parametrize("esn0", [10.0, 14.0, 18.0])
def test_cck_at_11_is_nearly_two_of_those(esn0: float) -> None:
    """Detection of 256 words is better than the formula, by less than 0.2 dB."""
    wrong = detected_wrongly(11, esn0, 100_000)
    formula, better = (
        1 - (1 - error_rate.biorthogonal_16_error(e / 2)) ** 2 for e in (esn0, esn0 * 10**0.02)
    )
    assert better < wrong < formula


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--channel", "snr=x"], "--channel: snr: 'x' is not a number of dB from -30 to 60"),
        (["--channel", "snr=61"], "--channel: snr: '61' is not a number of dB"),
        (["--station", "1,snr=5"], "--station: snr needs --channel snr=DB"),
        (["--channel", "snr=5", "--station", "1,snr=-31"], "--station: snr: '-31'"),
    ],
)
def test_a_wrong_snr_is_one_line(words: list[str], says: str) -> None:
    cell = ["--payload", "1500", "--stations", "2", "--phy", "hrdsss-11"]
    assert_refused(says, "saturate", *cell, *words)
