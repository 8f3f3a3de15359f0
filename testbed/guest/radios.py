# SPDX-License-Identifier: GPL-2.0-only
"""The radios of a cell, the medium between them, and who is associated with whom."""

from __future__ import annotations

import signal
import time
from pathlib import Path

from apbed.scenario import hostapd
from apbed.scenario.plan import Medium, Plan, Programs
from guest import categories
from guest.addresses import (
    GATEWAY_AIR,
    SSID,
    channel,
    radio_address,
    station_number,
)
from guest.commands import CellError, address_commands, attempt, batch, namespace, run
from guest.network import Network
from guest.programs import Running

JOIN_TRIES = 8
JOIN_SETTLE_S = 0.02  # hostapd authorizes a station when its answer was acknowledged
KEYS_STEP_S = 0.1
KEYS_S = 20.0  # wpa_supplicant scans, joins and agrees on keys; it tries again by itself
PASSPHRASE = "least attained service"

HOSTAPD_CONF = f"""\
interface=wlan0
driver=nl80211
ssid={SSID}
hw_mode=b
beacon_int=100
wmm_enabled=0
"""
# 80 MHz around channel 42; a country, because the world as such may not begin there.
HOSTAPD_AC = """\
country_code=US
ht_capab=[HT40+]
ieee80211ac=1
vht_oper_chwidth=1
vht_oper_centr_freq_seg0_idx=42
"""
# RSN with one cipher, so that nothing is left to choose; the keys outlast any run.
HOSTAPD_WPA2 = f"""\
wpa=2
wpa_key_mgmt=WPA-PSK
rsn_pairwise=CCMP
wpa_passphrase={PASSPHRASE}
wpa_group_rekey=0
"""
SUPPLICANT_CONF = f"""\
network={{
	ssid="{SSID}"
	psk="{PASSPHRASE}"
	key_mgmt=WPA-PSK
	proto=RSN
	pairwise=CCMP
	group=CCMP
	scan_freq=FREQUENCY
	freq_list=FREQUENCY
}}
"""


class Radios:
    """hwsim's radios on the air of dcfmedium; hostapd and the stations that join it."""

    def __init__(self, plan: Plan, programs: Programs, running: Running, network: Network) -> None:
        self.plan, self.programs = plan, programs
        self.running, self.network = running, network
        self.stations = plan.stations
        self.tries: dict[str, int] = {}  # station -> attempts to associate it
        self.asleep: set[str] = set()  # stations in power save

    def load(self) -> None:
        """Load the kernel modules: one radio for the access point and one per station."""
        for module in self.programs.modules:
            run(["insmod", module])
        if segments := self.plan.tcp.window_segments:
            run(["insmod", self.programs.window, f"segments={segments}"])
        words = [f"radios={len(self.stations) + 1}", *queue_words(self.plan)]
        run(["insmod", self.programs.hwsim, *words])

    def medium(self) -> None:
        """Put the radios on the air of dcfmedium; without it hwsim's own would be perfect."""
        medium = self.plan.medium
        words = [self.programs.dcfmedium, "hwsim", "--phy", medium.phy]
        words += ["--eifs", "on" if medium.eifs else "off", "--retry", str(medium.retry)]
        out = self.running.run_dir
        words += ["--seed", str(self.plan.seed), "--stats", str(out / "medium.json")]
        words += ["--losses-from", "mark"]
        words += air_words(medium)
        if medium.pcap:
            words += ["--pcap", str(out / "air.pcapng")]
        if medium.record:
            words += ["--record", str(out / "arrivals.txt")]
        fields = medium.stations
        for number, name in enumerate(["ap", *self.stations]):
            said = f",{fields[name]}" if name in fields else ""
            if medium.access != "dcf":
                is_ap_of_aap = medium.access == "aap" and not number
                said = f",access={'aap' if is_ap_of_aap else 'idle-sense'}{said}"
            if number and (attempts := self.plan.station.retry):
                said = f",retry={attempts}{said}"
            if delay_ms := (self.plan.station if number else self.plan.ap).tx_status_delay_ms:
                said = f",status-delay={round(1000 * delay_ms)}{said}"
            words += ["--station", f"{radio_address(number)},name={name}{said}"]
        self.running.start("dcfmedium", words, ready="ready")

    def mark(self) -> None:
        """Start the medium's statistics, digest and random streams anew."""
        self.running.signal("dcfmedium", signal.SIGUSR1)

    def freeze(self) -> None:
        """Let no more frames pass, so that the queue and the medium have counted the same ones.

        Where code takes time, the queue would go on emptying while its counters are read.
        """
        self.running.signal("dcfmedium", signal.SIGSTOP)

    def associate(self) -> None:
        """hostapd on the access point, then each station joins: in the open, or with keys."""
        conf = Path("/run/hostapd.conf")
        conf.write_text(hostapd_conf(self.plan))
        join = self.join_open if self.plan.ap.security == "open" else self.join_wpa2
        self.running.start("hostapd", ["hostapd", str(conf)], ready="AP-ENABLED")
        if stock_at_one_rate(self.plan, self.programs):
            # 1 Mb/s is a basic rate, and the kernel takes no set without one.
            run(["iw", "dev", "wlan0", "set", "bitrates", "legacy-2.4", "1", "11"])
        batch(address_commands("wlan0", GATEWAY_AIR))
        for number, name in enumerate(self.stations, start=1):
            device = f"wlan{number}"
            with namespace(name):
                self.network.station(name)
                run(["iw", "dev", device, "set", "power_save", "off"])
            join(name)
        self.network.neighbours()
        known = self.associated()
        if lost := [name for name in self.stations if name not in known]:
            raise CellError(f"not associated before t0: {', '.join(lost)}")
        categories.check(self.plan)

    def join_open(self, name: str) -> None:
        """Associate a station by cfg80211's own connect; again when a collision took an answer.

        CellError names a station that never got in. `iw connect -w` returns 0 for a scan without
        an answer too, so the access point is asked.
        """
        iw = ["iw", "dev", f"wlan{station_number(name)}"]
        frequency = str(channel(self.plan).frequency_mhz)
        for tries in range(1, JOIN_TRIES + 1):
            self.tries[name] = tries
            with namespace(name):
                attempt([*iw, "connect", "-w", SSID, frequency])
            time.sleep(JOIN_SETTLE_S + self.plan.ap.tx_status_delay_ms / 1000)
            if name in self.associated():
                return
            with namespace(name):
                attempt([*iw, "disconnect"])
        raise CellError(f"{name} did not associate in {JOIN_TRIES} tries")

    def join_wpa2(self, name: str) -> None:
        """Leave a station to wpa_supplicant; CellError if it has no keys in time."""
        conf = Path(f"/run/wpa_supplicant-{name}.conf")
        frequency = str(channel(self.plan).frequency_mhz)
        conf.write_text(SUPPLICANT_CONF.replace("FREQUENCY", frequency))
        words = ["wpa_supplicant", "-D", "nl80211", "-i", f"wlan{station_number(name)}"]
        with namespace(name):
            self.running.start(f"wpa_supplicant-{name}", [*words, "-c", str(conf)])
        self.tries[name] = 1
        for _ in range(round(KEYS_S / KEYS_STEP_S)):
            time.sleep(KEYS_STEP_S)
            if name in self.associated():
                return
        raise CellError(f"{name} has no keys after {KEYS_S:.0f} s; see wpa_supplicant-{name}.log")

    def associated(self) -> set[str]:
        """The stations that the access point serves."""
        served = served_stations(run(["iw", "dev", "wlan0", "station", "dump"]))
        return {name for name in self.stations if radio_address(station_number(name)) in served}

    def power_save(self, now_s: float) -> None:
        """Send the stations to sleep that are due, seconds after t0, or wake them up."""
        for sleep in self.plan.sleeps:
            asleep = sleep.start_s <= now_s < sleep.start_s + sleep.seconds
            if asleep != (sleep.station in self.asleep):
                self.asleep ^= {sleep.station}
                phy = f"phy{station_number(sleep.station)}"
                control = Path(f"/sys/kernel/debug/ieee80211/{phy}/hwsim/ps")
                control.write_text("1" if asleep else "0")


def queue_words(plan: Plan) -> list[str]:
    """Parameters of the lab's radio driver: the access point's value, then the stations'."""
    if not plan.queues:
        return []
    roles = (plan.ap, plan.station)
    frames = [role.hw_frames if role.radio == "queues" else 0 for role in roles]
    fairness = [int(role.airtime_fairness) for role in roles]
    limits = [int(role.aql) for role in roles]
    # Two A-MPDUs fill the hardware, as ath9k has it (ATH_AGGR_MIN_QDEPTH).
    together = [max(1, number // 2) if plan.sessions else 1 for number in frames]
    return [
        f"{name}={first},{others}"
        for name, (first, others) in {
            "hw_frames": frames,
            "aggregate": together,
            "airtime_fairness": fairness,
            "aql": limits,
        }.items()
    ]


def air_words(medium: Medium) -> list[str]:
    """What the scenario says of rates, categories, RTS, losses and idle slots."""
    words = []
    if medium.rates != "fixed":
        words += ["--rates", medium.rates]
    words += edca_words(medium.edca)
    if medium.rts >= 0:
        words += ["--rts", str(medium.rts)]
    if medium.channel != "ideal":
        words += ["--channel", medium.channel]
    if medium.fec:
        words += ["--fec", medium.fec]
    if medium.idle_target:
        words += ["--idle-target", f"{medium.idle_target:g}"]
    for pair in medium.hidden:
        words += ["--hidden", pair]
    return words


def edca_words(edca: str) -> list[str]:
    """Access categories: the same for all, or as hostapd has them for the access point and them."""
    if edca == "off":
        return []
    if not hostapd.wanted(edca):
        return ["--edca", edca]
    own = hostapd.medium_list(hostapd.access_point(edca))
    return ["--edca", hostapd.medium_list(hostapd.stations(edca)), "--edca", f"ap={own}"]


def hostapd_conf(plan: Plan) -> str:
    """802.11b; g where the kernel is to choose among its rates; n or ac for A-MPDU sessions."""
    medium, conf = plan.medium, HOSTAPD_CONF + f"channel={channel(plan).number}\n"
    if medium.rates == "kernel" and medium.phy.startswith("erp-"):
        conf = conf.replace("hw_mode=b", "hw_mode=g")
    if plan.sessions:
        mode = "hw_mode=a" if plan.sessions_ac else "hw_mode=g"
        conf = conf.replace("hw_mode=b", mode) + "ieee80211n=1\n"
    if plan.sessions_ac:
        conf += HOSTAPD_AC
    if plan.sessions or medium.edca != "off":
        conf = conf.replace("wmm_enabled=0", "wmm_enabled=1")
    if hostapd.wanted(medium.edca):
        conf += "".join(f"{line}\n" for line in hostapd.lines(medium.edca))
    if plan.ap.security == "wpa2":
        conf += HOSTAPD_WPA2
    return conf


def stock_at_one_rate(plan: Plan, programs: Programs) -> bool:
    """Whether the radios are the kernel's own, and the medium sends all data at 11 Mb/s.

    Then mac80211 must choose 11 Mb/s too. Linux 7.2 tells of a station the rate that mac80211
    chose, probes of others included, and not the one at which the medium sent. The price of
    airtime follows what is told. Our own radio tells the medium's rate.
    """
    medium = plan.medium
    stock = Path(programs.hwsim).name.startswith("mac80211_hwsim.")
    own = any("rate=" in said for said in medium.stations.values())
    return stock and medium.phy == "hrdsss-11" and medium.rates == "fixed" and not own


def served_stations(dump: str) -> set[str]:
    """Addresses that `iw dev DEVICE station dump` calls associated and authorized."""
    served = set()
    for entry in dump.split("Station ")[1:]:
        lines = {tuple(line.split()) for line in entry.splitlines()}
        if {("associated:", "yes"), ("authorized:", "yes")} <= lines:
            served |= set(entry.split()[:1])
    return served
