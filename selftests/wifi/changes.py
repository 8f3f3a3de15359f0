#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""An access point that changes in the middle of traffic: lasack goes on, and nothing stays stuck.

Principle: downloads, uploads and a stream of datagrams are under way when it happens. What the
radio lost meanwhile TCP sends again, so all transfers end. The last datagram, sent well after the
change, arrives. Afterwards no packet is queued or in flight, and of every packet that came lasack
knows what became of it.

Run by watched.sh, where the modules are loaded:

    changes.py HWSIM [SETUP]...

HWSIM is the path of mac80211_hwsim.ko, or its name for modprobe. A SETUP is one of
channel-switch, quiet-channel-switch, roaming, restart, crash, suspend.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))

import access_point as ap
from access_point import CHANNELS_MHZ, RETRIES, Cell
from exchange import PACKETS, PULSE_S, Exchange, Pair
from setups import Absent, Setup, run_setups

HOLDS = "traffic goes on, nothing stays queued"
BEFORE_S = 1.0  # of traffic; the transfers take several times as long
DURING_S = 12.0  # in which datagrams are sent
SUSPEND, SUSPEND_TEST = Path("/sys/power/state"), Path("/sys/power/pm_test")
BEACONS = "5"  # that announce a switch


def findings(
    made: Cell,
    pairs: Sequence[Pair],
    devices: Sequence[str],
    change: Callable[[], None],
    lossless: bool = False,
) -> list[str]:
    """Traffic with a change in its middle, and then what is not as it should be."""
    exchange = Exchange(made, pairs, pulses=int(DURING_S / PULSE_S))
    time.sleep(BEFORE_S)
    wrong = []
    if exchange.running() < 3 * len(pairs):
        wrong.append("a transfer ended before the change")
    change()
    wrong += exchange.wait()
    for device in devices:
        wrong += ap.left(device, PACKETS, "air", lossless)
    return wrong + exchange.end(0 if lossless else None)


def bridged(made: Cell, access_points: int = 1, retries: str = RETRIES) -> None:
    """Radios, and a wire with a server that the access points are to be bridged to."""
    ap.wire("wired")
    ap.address("wired", "eth0", "10.1.0.1/24")
    ap.bridge("br0", "eth0")
    made.radios(2, access_points, retries)


def all_join(made: Cell, join: Callable[[int], None]) -> list[Pair]:
    """Every station, with an address; the server is on the wire."""
    pairs = []
    for number in made.stations:
        join(number)
        here = f"10.1.0.1{number}"
        ap.address(f"sta{number}", f"wlan{number}", f"{here}/24")
        pairs.append(Pair(f"sta{number}", here, "wired", "10.1.0.1"))
    return pairs


def channel(device: str) -> str:
    """What iw says of it."""
    words = ["iw", "dev", device, "info"]
    said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    return next((line.strip() for line in said.splitlines() if "channel" in line), "no channel")


def switch(made: Cell, *words: str, retries: str = RETRIES) -> list[str]:
    """The access point announces another channel and goes there with its stations."""
    bridged(made, retries=retries)
    made.access_point("bridge=br0\n")

    def change() -> None:
        made.control("chan_switch", BEACONS, str(CHANNELS_MHZ[6]), *words)
        ap.wait_until(lambda: "channel 6 " in channel("wlan0"), "still on channel 1")

    return findings(made, all_join(made, made.supplicant), ["wlan0"], change)


def channel_switch(made: Cell) -> list[str]:
    """Everybody sends until the switch."""
    return switch(made)


def quiet_channel_switch(made: Cell) -> list[str]:
    """Nobody sends from the announcement to the switch, so the device's queues are stopped.

    dcfmedium takes a radio to be on the channel that it last sent on, so at first a station hears
    nothing but beacons on the new one. If they wait too long behind frames that nobody answers, the
    stations lose the access point, and wpa_supplicant makes them join again.
    """
    return switch(made, "blocktx", retries="7")


def roaming(made: Cell) -> list[str]:
    """A station moves to another access point of the same network, on another channel.

    The first one is not told. It keeps packets for a station that is gone, and sends them until
    hostapd notices that none arrives. The other station stays.
    """
    bridged(made, access_points=2, retries="7")
    for device, number in (("wlan0", 1), ("wlan1", 6)):
        made.access_point("bridge=br0\ndisassoc_low_ack=1\n", device, number)
    first, second = ap.mac_address("wlan0"), ap.mac_address("wlan1")

    def join(number: int) -> None:
        made.supplicant(number)
        made.roam(number, first)

    pairs, moving = all_join(made, join), made.stations[0]
    return findings(made, pairs, ["wlan0", "wlan1"], lambda: made.roam(moving, second))


def restart(made: Cell) -> list[str]:
    """hostapd ends as it should, and starts anew: the device is down in between."""
    return hostapd_ends(made, signal.SIGTERM)


def crash(made: Cell) -> list[str]:
    """hostapd is killed: the device stays up, as an access point, until another one starts."""
    return hostapd_ends(made, signal.SIGKILL)


def hostapd_ends(made: Cell, by: signal.Signals) -> list[str]:
    """... and comes back a second later; the stations join again by themselves."""
    bridged(made)
    made.access_point("bridge=br0\n")

    def change() -> None:
        made.stop(made.hostapd["wlan0"], by)
        time.sleep(1)
        made.start_hostapd()
        for number in made.stations:
            made.wait_joined(number)

    return findings(made, all_join(made, made.supplicant), ["wlan0"], change)


def suspend(made: Cell) -> list[str]:
    """The machine sleeps; as it does so, the kernel ends the access point.

    The kernel's own test of suspending wakes it up: all programs are frozen and all devices
    suspended, and it goes no further. Afterwards hostapd is told to begin again.
    """
    if not SUSPEND_TEST.exists():
        raise Absent("this kernel cannot test suspending (CONFIG_PM_SLEEP_DEBUG)")
    bridged(made)
    made.access_point("bridge=br0\n")

    def change() -> None:
        SUSPEND_TEST.write_text("devices\n")
        Path("/sys/module/suspend/parameters/pm_test_delay").write_text("1\n")
        SUSPEND.write_text("freeze\n")
        SUSPEND_TEST.write_text("none\n")
        made.control("disable")
        made.control("enable")
        for number in made.stations:
            made.wait_joined(number)

    return findings(made, all_join(made, made.supplicant), ["wlan0"], change)


SETUPS: dict[str, Setup] = {
    "channel-switch": channel_switch,
    "quiet-channel-switch": quiet_channel_switch,
    "roaming": roaming,
    "restart": restart,
    "crash": crash,
    "suspend": suspend,
}


if __name__ == "__main__":
    sys.exit(run_setups(SETUPS, HOLDS, sys.argv[1:]))
