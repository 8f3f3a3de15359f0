# SPDX-License-Identifier: GPL-2.0-only
"""dcfmedium's A-MPDUs against the closed form of one saturated station."""

from __future__ import annotations

from typing import Any

import pytest

from apbed.papers import ampdu
from apbed.papers.reed_solomon import plain_frame_loss
from tests.medium.dcfmedium import saturate

PHYS = {"ht20": ampdu.HT20, "vht80": ampdu.VHT80}


def one_station(phy: str, *more: str) -> dict[str, Any]:
    """Statistics of one station with 1500-byte payloads."""
    return saturate("--stations", "1", "--phy", phy, "--payload", "1500", *more)


@pytest.mark.parametrize("phy", PHYS)
@pytest.mark.parametrize("mpdus", [1, 2, 3, 4, 8, 16, 32, 64])
def test_throughput_is_the_closed_form(mpdus: int, phy: str) -> None:
    stats = one_station(phy, "--ampdu", str(mpdus), "--seconds", "20")
    model = ampdu.throughput_mbps(mpdus, 1500, PHYS[phy])
    assert stats["throughput_mbps"] == pytest.approx(model, rel=0.005)
    sender = stats["stations"][0]
    if mpdus == 1:
        assert sender["ampdus"] == 0
    else:
        length = sender["ampdu_mpdus"] / sender["ampdus"]
        assert length == ampdu.longest_ampdu(mpdus, 1500, PHYS[phy])


def test_time_limits_an_ampdu() -> None:
    """65 Mb/s for 1 ms: 36 us and 241 symbols of 260 bits, five MPDUs of 1538 bytes."""
    sender = one_station("ht20", "--ppdu", "1000", "--seconds", "5")["stations"][0]
    assert sender["ampdu_mpdus"] == 5 * sender["ampdus"]


@pytest.mark.parametrize("ber", [1e-6, 1e-5])
def test_only_lost_mpdus_are_sent_again(ber: float) -> None:
    """Each MPDU is lost for itself; the block ack names those that arrived."""
    stats = one_station("vht80", "--ampdu", "32", "--channel", f"ber={ber}", "--seconds", "20")
    sender = stats["stations"][0]
    loss = plain_frame_loss(1538, ber)
    block_ack_loss = plain_frame_loss(32, ber)
    data_lost = sender["lost"] - sender["acks_lost"]
    assert data_lost / sender["tx"] == pytest.approx(loss, rel=0.03)
    assert sender["delivered"] / sender["tx"] == pytest.approx(
        (1 - loss) * (1 - block_ack_loss), rel=0.005
    )
    model = ampdu.throughput_mbps(32, 1500, ampdu.VHT80, mpdu_loss=loss)
    assert stats["throughput_mbps"] == pytest.approx(model, rel=0.03)
