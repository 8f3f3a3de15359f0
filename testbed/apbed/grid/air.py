# SPDX-License-Identifier: GPL-2.0-only
"""The cell's Wi-Fi on real nodes: hostapd, wpa_supplicant, and the radios' settings.

The passphrase of WPA2 is drawn for each run. It goes into the two configuration files, which are
on the nodes alone and as long as the run lasts.
"""

from __future__ import annotations

import secrets
import shlex
import time

from apbed.grid.file import Grid, Node
from apbed.grid.session import NodeError, Session
from apbed.grid.supported import hostapd_lines, rate_words
from apbed.scenario.plan import Plan
from guest.addresses import SSID
from guest.radios import served_stations

START_S = 10.0  # hostapd's patience, a change of the channel's rules included
JOIN_S = 30.0
LOOK_S = 0.5


def _until(country: str) -> str:
    """A line of node.sh's shell that waits for a country's rules; it fails if they do not come."""
    is_there = f'[ "$(country)" = {shlex.quote(country)} ]'
    return f"for i in 1 2 3 4 5; do {is_there} && break; sleep 1; done; {is_there}"


class Air:
    """The radios of a run's nodes."""

    def __init__(self, grid: Grid, plan: Plan, notes: list[str]) -> None:
        self.grid, self.plan, self.notes = grid, plan, notes
        self._passphrase = secrets.token_hex(16)

    def hostapd_conf(self, node: Node) -> str:
        """The access point's configuration."""
        lines = [f"interface={node.wlan}", "driver=nl80211", f"ssid={SSID}"]
        if self.grid.radio.country != "00":
            lines.append(f"country_code={self.grid.radio.country}")
        lines += hostapd_lines(self.plan, self.grid)
        if self.plan.ap.security == "wpa2":
            lines += ["wpa=2", "wpa_key_mgmt=WPA-PSK", "rsn_pairwise=CCMP"]
            lines.append(f"wpa_passphrase={self._passphrase}")
        return "\n".join(lines) + "\n"

    def supplicant_conf(self) -> str:
        """A station's configuration: this network on this channel, and no other."""
        lines = ["network={", f'\tssid="{SSID}"', f"\tscan_freq={self.frequency_mhz}"]
        if self.plan.ap.security == "wpa2":
            lines += ["\tkey_mgmt=WPA-PSK", "\tproto=RSN", f'\tpsk="{self._passphrase}"', "}"]
        else:
            lines += ["\tkey_mgmt=NONE", "}"]
        return "\n".join(lines) + "\n"

    @property
    def frequency_mhz(self) -> int:
        """The channel's centre (IEEE 802.11-2020, 15.4.4.3 and 17.3.8.4.2)."""
        channel = self.grid.radio.channel
        if channel == 14:
            return 2484
        return (2407 if channel < 14 else 5000) + 5 * channel

    def serve(self, ap: Session) -> None:
        """The access point, until it says that it is one."""
        self.regulate(ap)
        ap.start("hostapd", ["hostapd", ap.path("files/hostapd.conf")])
        until = time.monotonic() + START_S
        while ap.attempt("grep -q AP-ENABLED out/hostapd.log")[0]:
            if time.monotonic() > until:
                said = ap.shell("tail -n 1 out/hostapd.log").strip() or "it said nothing"
                raise NodeError(f"{ap.node.name}: hostapd is no access point: {said}")
            ap.pause(LOOK_S)
        self.settings(ap, self.plan.medium.retry)

    def join(self, station: Session, ap: Session) -> None:
        """Associate a station; NodeError if the access point does not serve it in time."""
        device = station.node.wlan
        self.regulate(station)
        address = station.shell(f"cat /sys/class/net/{device}/address").strip().lower()
        words = ["wpa_supplicant", "-D", "nl80211", "-i", device]
        station.start("wpa_supplicant", [*words, "-c", station.path("files/wpa_supplicant.conf")])
        until = time.monotonic() + JOIN_S
        dump = ["iw", "dev", ap.node.wlan, "station", "dump"]
        while address not in served_stations(ap.run(dump)):
            if time.monotonic() > until:
                raise NodeError(f"{station.node.name} did not associate in {JOIN_S:.0f} s")
            station.pause(LOOK_S)
        self.settings(station, self.plan.station.retry or self.plan.medium.retry)

    def keep(self, node: Session) -> None:
        """The power as it is now, before `regulate`: it follows the country, so it is put back
        after that, once the kernel has the country's rules and the device has seen them."""
        radio, device = self.grid.radio, node.node.wlan
        before = node.shell("country").strip()
        if radio.txpower_dbm or before != radio.country:
            node.attempt(f"keep_txpower {device}")  # a device that was never up has none
        if before != radio.country:
            anew = f"ip link set {device} down; ip link set {device} up"
            node.shell(f"keep {shlex.quote(anew)} && keep {shlex.quote(_until(before))}")

    def regulate(self, node: Session) -> None:
        """The regulatory domain, unless it is that already."""
        wanted = self.grid.radio.country
        if node.shell("country").strip() == wanted:
            return
        node.shell("keep_country")
        if node.attempt(f"iw reg set {wanted} && {_until(wanted)}")[0]:
            self.notes.append(f"{node.node.name}: the regulatory domain stays as it was")

    def settings(self, node: Session, retry: int | str) -> None:
        """Rate, retry and power, where the driver lets them be set; a note where it does not."""
        device = node.node.wlan
        phy = node.shell(f"cat /sys/class/net/{device}/phy80211/name").strip()
        first, _, second = str(retry).partition("/")
        limits = f"short {first} long {second or first}"
        wanted = [f"keep_retry {phy} && iw phy {phy} set retry {limits}"]
        names = [f"retry {retry}"]
        if words := rate_words(self.plan, self.grid):
            wanted.append(f"iw dev {device} set bitrates {' '.join(words)}")
            names.append(f"rate {words[1]} Mb/s")
        if dbm := self.grid.radio.txpower_dbm:
            power = f"iw dev {device} set txpower fixed {round(dbm * 100)}"
            wanted.append(f"keep_txpower {device} && {power}")
            names.append(f"power {dbm:g} dBm")
        if node.node.name != "ap":
            wanted.append(f"iw dev {device} set power_save off")
            names.append("power save off")
        for name, command in zip(names, wanted, strict=True):
            status, said = node.attempt(command)
            if status:
                why = said.decode(errors="replace").strip().splitlines() or ["no reason given"]
                self.notes.append(f"{node.node.name}: {name} is not set: {why[0]}")
