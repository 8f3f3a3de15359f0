# SPDX-License-Identifier: GPL-2.0-only
"""What of a scenario real air and real nodes can do; the rest only the lab's medium can."""

from __future__ import annotations

import re
from collections.abc import Iterator

from apbed.errors import ApbedError
from apbed.grid.file import Grid
from apbed.scenario.plan import Plan

# Rates in Mb/s that `iw set bitrates legacy-...` takes, by the profile that has them.
RATE = re.compile(r"(?:dsss|hrdsss|ofdm|erp-ofdm)-(\d+)(?:-short)?")
LAST_24GHZ = 14  # channel
DSSS = ("dsss", "hrdsss")
DSSS_BASIC: tuple[int, ...] = (10, 20, 55, 110)  # hostapd's unit is 100 kb/s
OFDM_BASIC: tuple[int, ...] = (60, 120, 240)


def refuse(plan: Plan, grid: Grid) -> None:
    """ApbedError naming the first key that a grid cannot carry out."""
    for why in _reasons(plan, grid):
        raise ApbedError(f"--backend ssh: {why}; only the lab can (--backend uml)")


def _reasons(plan: Plan, grid: Grid) -> Iterator[str]:
    medium = plan.medium
    if not medium.eifs:
        yield "medium.eifs = false: real radios have their own EIFS"
    if medium.edca != "off":
        yield f"medium.edca = {medium.edca!r}: a grid's radios have the driver's access categories"
    if medium.access != "dcf":
        yield f"medium.access = {medium.access!r}: real radios have DCF"
    if medium.rts >= 0:
        yield f"medium.rts = {medium.rts}: nothing sets it on a grid yet"
    if medium.channel != "ideal":
        yield f"medium.channel = {medium.channel!r}: real air has its own losses"
    if medium.hidden or medium.stations:
        yield "medium.hidden and medium.stations: real radios are where they are"
    if plan.queues:
        yield "radio = 'queues': real radios have the driver's queues"
    if medium.record:
        yield "medium.record = true: there is no medium to record"
    if plan.tcp.mtu or plan.tcp.window_segments or plan.wired.initcwnd:
        yield "tcp.mtu, tcp.window_segments, wired.initcwnd: nothing sets them on a grid yet"
    if plan.users:
        yield "[users]: a grid's records have no think times yet"
    if plan.sleeps:
        yield "[[sleep]]: a real station sleeps as its driver does"
    if any(flow.pulse for flow in plan.flows):
        yield "a flow of pulses: one-way delays need one clock for all nodes"
    if any(flow.quic_bytes for flow in plan.flows):
        yield "a QUIC-like flow: it was never tried on real machines"
    if medium.phy.startswith(DSSS) and grid.radio.channel > LAST_24GHZ:
        yield f"medium.phy = {medium.phy!r}: channel {grid.radio.channel} is at 5 GHz"
    if medium.phy.startswith("vht"):
        yield f"medium.phy = {medium.phy!r}: hostapd is set up for 802.11n at most yet"
    if plan.ap.tx_status_delay_ms or plan.station.tx_status_delay_ms:
        yield "tx_status_delay_ms: real drivers tell when they do"


def rate_words(plan: Plan, grid: Grid) -> list[str]:
    """What `iw dev DEVICE set bitrates` gets; nothing where the driver is to choose."""
    found = RATE.fullmatch(plan.medium.phy)
    if plan.medium.rates == "kernel" or not found:
        return []
    band = "2.4" if grid.radio.channel <= LAST_24GHZ else "5"
    return [f"legacy-{band}", found[1]]


def hostapd_lines(plan: Plan, grid: Grid) -> list[str]:
    """hostapd's words for the profile: the mode, and 802.11n where the scenario has it."""
    lines = [f"channel={grid.radio.channel}", "beacon_int=100"]
    if grid.radio.channel > LAST_24GHZ:
        mode, basic = "a", OFDM_BASIC
    elif plan.medium.phy.startswith(DSSS):
        mode, basic = "b", DSSS_BASIC
    else:
        mode, basic = "g", OFDM_BASIC
    if words := rate_words(plan, grid):
        # The kernel refuses a rate alone unless it is a basic one (mac80211/cfg.c).
        rates = sorted({*basic, int(words[1]) * 10})
        lines.append("basic_rates=" + " ".join(map(str, rates)))
    lines.append(f"hw_mode={mode}")
    if plan.medium.phy.startswith("ht"):
        return [*lines, "ieee80211n=1", "wmm_enabled=1"]
    return [*lines, "wmm_enabled=0"]
