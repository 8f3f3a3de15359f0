# SPDX-License-Identifier: GPL-2.0-only
"""hostapd's access points and their stations on simulated radios, in one machine.

The first namespace has the access points, and each station `staN` has one of its own. N is the
number of its radio; the access points have the first radios.
"""

from __future__ import annotations

import json
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lab_network import Broken, run

CHANNELS_MHZ = {1: 2412, 6: 2437}
RETRIES = "30"  # attempts, so that the medium itself loses nothing
JOIN_S = 30.0
STEP_S = 0.1

CONF = """\
interface={device}
ssid=lab
hw_mode=b
channel={channel}
ctrl_interface={scratch}/hostapd
"""
PASSPHRASE = "least attained service"
# hostapd's settings for WPA2, and what a station has to say for it instead of OPEN.
WPA2 = f"wpa=2\nwpa_key_mgmt=WPA-PSK\nrsn_pairwise=CCMP\nwpa_passphrase={PASSPHRASE}\n"
WPA2_STATION = f'key_mgmt=WPA-PSK\n\tpsk="{PASSPHRASE}"'
OPEN = "key_mgmt=NONE"
SUPPLICANT_CONF = """\
ctrl_interface={scratch}/wpa-{name}
network={{
	ssid="lab"
	{security}
	scan_freq={frequencies}
	freq_list={frequencies}
}}
"""


@dataclass
class Cell:
    """Access points in the first namespace, with what is around them."""

    hwsim: str  # MODULE[:PARAMETER=VALUE]...; the module by its path, or its name for modprobe
    scratch: Path
    access_points: int = 1
    stations: range = range(0)
    programs: list[subprocess.Popen[bytes]] = field(default_factory=list)
    hostapd: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    medium: subprocess.Popen[bytes] | None = None  # dcfmedium

    def start(self, *words: str, ready: float = 0.1) -> subprocess.Popen[bytes]:
        """A program that runs until it ends, the cell does, or stop() is called."""
        with (self.scratch / "log").open("ab") as log:
            program = subprocess.Popen(words, stdout=log, stderr=log)
        self.programs.append(program)
        time.sleep(ready)
        return program

    def stop(self, program: subprocess.Popen[bytes], by: signal.Signals = signal.SIGTERM) -> None:
        """End a program that start() has started."""
        self.programs.remove(program)
        program.send_signal(by)
        program.wait()

    def radios(
        self,
        stations: int,
        access_points: int = 1,
        retries: str = RETRIES,
        medium: Sequence[str] = (),
    ) -> None:
        """Radios on the air of dcfmedium, which has the options `medium` more.

        Without `retries` they are on hwsim's own, which loses nothing.
        """
        count = access_points + stations
        module, *parameters = self.hwsim.split(":")
        load = "insmod" if module.endswith(".ko") else "modprobe"
        run(load, module, f"radios={count}", *parameters)
        if retries:
            words = ("--phy", "hrdsss-11", "--retry", retries, "--seed", "1", *medium)
            self.medium = self.start("dcfmedium", "hwsim", *words)
        self.access_points, self.stations = access_points, range(access_points, count)
        for number in self.stations:
            run("ip", "netns", "add", f"sta{number}")
            # The kernel does not use a phy's number twice.
            phy = Path(f"/sys/class/net/wlan{number}/phy80211/name").read_text().strip()
            run("iw", "phy", phy, "set", "netns", "name", f"sta{number}")

    def end_medium(self) -> None:
        """dcfmedium ends, and has written all that it records."""
        if not self.medium:
            raise Broken("there is no dcfmedium to end")
        self.stop(self.medium)
        self.medium = None

    def access_point(self, more: str = "", device: str = "wlan0", channel: int = 1) -> None:
        """hostapd with these settings more, lasack on each of its devices."""
        conf = CONF.format(device=device, channel=channel, scratch=self.scratch) + more
        (self.scratch / f"{device}.conf").write_text(conf)
        self.start_hostapd(device)
        for line in conf.splitlines():
            name, _, value = line.partition("=")
            if name in ("interface", "bss"):
                put_lasack(value)

    def start_hostapd(self, device: str = "wlan0") -> None:
        """hostapd with the settings that the device had before."""
        conf = str(self.scratch / f"{device}.conf")
        self.hostapd[device] = self.start("hostapd", conf, ready=1.0)

    def control(self, *words: str, device: str = "wlan0") -> str:
        """What hostapd answers to hostapd_cli; Broken unless it is OK or no single word."""
        scratch = str(self.scratch)
        command = ["hostapd_cli", "-s", scratch, "-p", f"{scratch}/hostapd", "-i", device, *words]
        done = subprocess.run(command, capture_output=True, text=True)
        said = done.stdout.strip()
        if said in ("", "FAIL", "UNKNOWN COMMAND"):
            raise Broken(f"hostapd_cli {' '.join(words)}: {said or done.stderr.strip()}")
        return said

    def join(self, number: int, ssid: str = "lab") -> None:
        """A station associates by itself; Broken if it is not associated in the end."""
        iw = ("ip", "netns", "exec", f"sta{number}", "iw", "dev", f"wlan{number}")
        self.up(number)
        for _ in range(8):
            words = [*iw, "connect", "-w", ssid, str(CHANNELS_MHZ[1])]
            subprocess.run(words, capture_output=True)
            time.sleep(STEP_S)
            link = subprocess.run([*iw, "link"], capture_output=True, text=True)
            if "Connected to" in link.stdout:
                return
        raise Broken(f"sta{number} does not associate")

    def up(self, number: int) -> None:
        """A station's device, which does not sleep."""
        inside, device = ("ip", "netns", "exec", f"sta{number}"), f"wlan{number}"
        run(*inside, "ip", "link", "set", device, "up")
        run(*inside, "iw", "dev", device, "set", "power_save", "off")

    def supplicant(self, number: int, security: str = OPEN) -> None:
        """wpa_supplicant keeps a station associated."""
        name = f"sta{number}"
        self.up(number)
        conf = self.scratch / f"{name}.conf"
        frequencies = " ".join(map(str, CHANNELS_MHZ.values()))
        conf.write_text(
            SUPPLICANT_CONF.format(
                scratch=self.scratch, name=name, security=security, frequencies=frequencies
            )
        )
        words = ("wpa_supplicant", "-D", "nl80211", "-i", f"wlan{number}", "-c", str(conf))
        self.start("ip", "netns", "exec", name, *words, ready=0.5)
        self.wait_joined(number)

    def wait_joined(self, number: int, bssid: str = "") -> None:
        """Until wpa_supplicant has associated the station, with this access point or with any."""

        def joined() -> bool:
            said = self.supplicant_says(number, "status")
            return "wpa_state=COMPLETED" in said and f"bssid={bssid}" in said

        wait_until(joined, f"sta{number} does not associate with {bssid or 'anybody'}")

    def roam(self, number: int, bssid: str) -> None:
        """Tell wpa_supplicant to take the station to another access point, which it looks for."""

        frequencies = ",".join(map(str, CHANNELS_MHZ.values()))

        def heard() -> bool:
            self.supplicant_says(number, "scan", f"freq={frequencies}")
            time.sleep(1)
            return bssid in self.supplicant_says(number, "scan_results")

        wait_until(heard, f"sta{number} does not hear {bssid}")
        self.supplicant_says(number, "roam", bssid)
        self.wait_joined(number, bssid)

    def supplicant_says(self, number: int, *words: str) -> str:
        """The answer of a station's wpa_supplicant."""
        scratch = str(self.scratch)
        command = ["wpa_cli", "-s", scratch, "-p", f"{scratch}/wpa-sta{number}"]
        command += ["-i", f"wlan{number}", *words]
        return subprocess.run(command, capture_output=True, text=True).stdout

    def end(self) -> None:
        """Leave nothing behind."""
        while self.programs:
            self.stop(self.programs[-1])
        spaces = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True).stdout
        for line in spaces.splitlines():
            subprocess.run(["ip", "netns", "del", line.split()[0]], capture_output=True)
        time.sleep(0.5)  # the radios come back
        for device in Path("/sys/class/net").iterdir():
            if device.name.startswith(("br", "eth")):
                subprocess.run(["ip", "link", "del", device.name], capture_output=True)
        module = Path(self.hwsim.partition(":")[0]).stem
        subprocess.run(["rmmod", module], capture_output=True)


@contextmanager
def cell(hwsim: str) -> Iterator[Cell]:
    """A cell that leaves nothing behind."""
    with tempfile.TemporaryDirectory(prefix="access-point-") as scratch:
        made = Cell(hwsim, Path(scratch))
        try:
            yield made
        finally:
            made.end()


def wait_until(holds: Callable[[], bool], otherwise: str) -> None:
    """Broken if it does not hold in time."""
    for _ in range(int(JOIN_S / STEP_S)):
        if holds():
            return
        time.sleep(STEP_S)
    raise Broken(otherwise)


def wait_for_device(device: str) -> None:
    """Until hostapd has made a device."""
    wait_until(Path("/sys/class/net", device).exists, f"no device {device}")


def put_lasack(device: str) -> None:
    """lasack at the root of a device, with its defaults where the rates that it is told are true.

    The kernel's own hwsim tells those that mac80211 chose, while dcfmedium sends at others. Then
    airtime would be shared by wrong prices.
    """
    unit = () if Path("/sys/module/lab_radio").exists() else ("unit", "bytes")
    run("tc", "qdisc", "replace", "dev", device, "root", "lasack", *unit)


def mac_address(device: str, namespace: str = "") -> str:
    """The address of a device."""
    prefix = ["ip", "netns", "exec", namespace] if namespace else []
    words = [*prefix, "cat", f"/sys/class/net/{device}/address"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()


def wire(namespace: str, device: str = "eth0", inside: str = "") -> None:
    """An Ethernet port here, or in the namespace `inside`, to eth0 in a namespace of its own.

    It carries frames, no segments.
    """
    run("ip", "netns", "add", namespace)
    here = ["-n", inside] if inside else []
    peer = ("peer", "name", "eth0", "netns", namespace)
    run("ip", *here, "link", "add", device, "type", "veth", *peer)
    for space, name in ((inside, device), (namespace, "eth0")):
        prefix = ("ip", "netns", "exec", space) if space else ()
        run(*prefix, "ethtool", "-K", name, "tso", "off", "gso", "off")
        run(*prefix, "ip", "link", "set", name, "up")


def bridge(name: str, *ports: str, namespace: str = "") -> None:
    """A bridge of these devices."""
    ip = ["ip", "-n", namespace] if namespace else ["ip"]
    run(*ip, "link", "add", name, "type", "bridge")
    for port in ports:
        run(*ip, "link", "set", port, "master", name)
    run(*ip, "link", "set", name, "up")


def address(namespace: str, device: str, value: str) -> None:
    """Give a device an address, at once usable."""
    nodad = ["nodad"] if ":" in value else []
    prefix = ["ip", "-n", namespace] if namespace else ["ip"]
    run(*prefix, "address", "add", value, "dev", device, *nodad)


def statistics(device: str) -> dict[str, Any]:
    """lasack's, of a device."""
    words = ["tc", "-s", "-j", "qdisc", "show", "dev", device, "root"]
    said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    (shown,) = json.loads(said)
    if shown["kind"] != "lasack":
        raise Broken(f"{device} has no lasack, but {shown['kind']}")
    return dict(shown)


def left(device: str, packets: int, backpressure: str, lossless: bool = True) -> list[str]:
    """What is wrong with lasack on a device where traffic has ended.

    At least so many packets must have been sent, and `backpressure` must be known for what it is
    by then. Without `lossless` some packets may have been dropped.
    """
    shown = statistics(device)
    must_be_none = ["qlen", "backlog", "in_flight", "counted", "stalled", "overflow", "lost"]
    must_be_none += ["purged"] if lossless else []
    wrong = [f"{device}: {name} is {shown[name]}" for name in must_be_none if shown[name]]
    accounted = shown["packets"] + shown["drops"] + shown["purged"]
    if shown["enqueued"] != accounted:
        wrong.append(f"{device}: enqueued {shown['enqueued']}, accounted for {accounted}")
    if shown["backpressure"] != backpressure:
        wrong.append(f"{device}: backpressure is {shown['backpressure']}, not {backpressure}")
    if shown["packets"] < packets:
        wrong.append(f"{device}: only {shown['packets']} packets went through lasack")
    return wrong
