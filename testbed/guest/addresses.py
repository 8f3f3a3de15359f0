# SPDX-License-Identifier: GPL-2.0-only
"""Names, numbers and addresses of a cell's machines."""

from __future__ import annotations

from dataclasses import dataclass

from apbed.scenario.plan import Plan

SSID = "lasack"
PORT = 5001  # of flowgen's servers
GATEWAY_WIRED, GATEWAY_AIR = "10.0.0.1", "10.1.0.1"  # the access point's two sides
WIRED_ADDRESS = "10.0.0.2"


@dataclass(frozen=True)
class Channel:
    """Where a cell is: its primary channel."""

    number: int
    frequency_mhz: int


CHANNEL_B_G_N = Channel(1, 2412)
CHANNEL_AC = Channel(36, 5180)  # the first of the 80 MHz around channel 42


def channel(plan: Plan) -> Channel:
    """802.11ac has no 2.4 GHz."""
    return CHANNEL_AC if plan.sessions_ac else CHANNEL_B_G_N


def station_number(name: str) -> int:
    """sta3 is number 3, of its radio, device and address."""
    return int(name.removeprefix("sta"))


def station_address(name: str) -> str:
    return f"10.1.0.{10 + station_number(name)}"


def radio_address(number: int) -> str:
    """mac80211_hwsim's address of radio `number` (mac80211_hwsim.c, new radio)."""
    return f"02:00:00:00:{number:02x}:00"
