# SPDX-License-Identifier: GPL-2.0-only
"""dcfmedium below mac80211_hwsim in a lab kernel: what the radios, the statistics, the
trace and mac80211 itself say of the same frames must agree."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from apbed.kernels import lab
from apbed.kernels.cache import LabKernel
from apbed.kernels.watchdog import Watchdog
from tests.medium.dcfmedium import BIN, output, statistics

# One access point, one declared station and one that is not; TCP both ways, then the end.
SCRIPT = """\
set -e
insmod {hwsim} radios=3
{bin}/dcfmedium hwsim {air} --stats medium.json --pcap air.pcapng --record arrivals.txt \
    --station 02:00:00:00:00:00,name=ap --station 02:00:00:00:01:00,name=sta1,retry=9 > ready &
medium=$!
sleep 0.1
{bin}/dcfmedium hwsim --phy hrdsss-11 2> second && exit 1
printf 'interface=wlan0\\nssid=lab\\nhw_mode=b\\nchannel=1\\n' > /run/hostapd.conf
hostapd -B /run/hostapd.conf > hostapd.log
ip address add 10.1.0.1/24 dev wlan0
{bin}/flowgen serve --port 5001 > server.log &
server=$!
for n in 1 2; do
    ip netns add sta$n
    iw phy phy$n set netns name sta$n
    on="ip netns exec sta$n"
    $on ip address add 10.1.0.1$n/24 dev wlan$n
    $on ip link set wlan$n up
    $on iw dev wlan$n set power_save off
    $on iw dev wlan$n connect -w lab 2412 > connect$n.log
    $on {bin}/flowgen run --id up --host 10.1.0.1 --port 5001 --dir up --bytes 300k > up$n.log &
    flow=$!
    $on {bin}/flowgen run --id down --host 10.1.0.1 --port 5001 --dir down --bytes 300k > down$n.log
    wait $flow
done
kill $server
sleep 0.5
ip netns exec sta1 iw dev wlan1 station dump > dump1
kill $medium
wait $medium
"""


@dataclass(frozen=True)
class Air:
    """What one cell left: the medium's statistics and everybody else's record."""

    out: Path
    stats: dict[str, Any]

    def station(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = next(s for s in self.stats["stations"] if s["name"] == name)
        return found

    def frames(self, display_filter: str) -> int:
        """How many frames of the trace tshark finds."""
        words = ["tshark", "-r", str(self.out / "air.pcapng"), "-Y", display_filter]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        return len(done.stdout.splitlines())


def play(kernel: LabKernel, out: Path, options: str) -> Air:
    """The script with these options of the medium."""
    script = SCRIPT.format(hwsim=kernel.hwsim, bin=BIN, air=options)
    console = out / "console.log"
    guest = lab.Guest(kernel, ["sh", "-c", script], out, workdir=out, seed=1, console=console)
    result = lab.boot(guest, Watchdog(limit_s=120))
    assert result.status == 0, f"{result.why}: {console.read_text()}"
    return Air(out, json.loads((out / "medium.json").read_text()))


@pytest.fixture(scope="module")
def air(lab_kernel: LabKernel, tmp_path_factory: pytest.TempPathFactory) -> Air:
    return play(lab_kernel, tmp_path_factory.mktemp("air"), "--phy hrdsss-11")


def test_ready_is_all_it_prints(air: Air) -> None:
    assert (air.out / "ready").read_text() == "ready\n"


def test_integrity(air: Air) -> None:
    assert not any(air.stats["integrity"].values())


def test_frames_add_up(air: Air) -> None:
    for station in air.stats["stations"]:
        ends = station["delivered"] + station["drops"] + station["broadcasts"]
        assert station["frames_in"] == ends + station["backlog"]
        assert station["queue_high_water"] < 200


def test_stations_are_declared_or_found(air: Air) -> None:
    limits = {s["name"]: s["retry_limit"] for s in air.stats["stations"]}
    assert limits == {"ap": 7, "sta1": 9, "02:00:00:00:02:00": 7}


def test_data_crossed_the_air(air: Air) -> None:
    """300 kB up in segments of at most 1448 bytes, and one ACK for every two of 300 kB down."""
    assert air.station("sta1")["data_frames_in"] >= 300_000 / 1448 + 300_000 / 1448 / 2


def test_trace_has_every_attempt(air: Air) -> None:
    attempts = sum(s["tx"] + s["broadcasts"] for s in air.stats["stations"])
    assert air.frames("wlan.fc.type != 1") == attempts


def test_trace_marks_collisions(air: Air) -> None:
    lost = sum(s["collisions"] + s["broadcast_collisions"] for s in air.stats["stations"])
    assert lost > 0
    assert air.frames("frame.interface_name == collided") == lost
    assert air.frames("radiotap.flags.badfcs == 1") == lost


def test_trace_has_the_acks(air: Air) -> None:
    acknowledged = sum(s["delivered"] for s in air.stats["stations"])
    assert air.frames("wlan.fc.type_subtype == 0x1d") == acknowledged


def test_wireshark_finds_nothing_wrong(air: Air) -> None:
    assert air.frames("_ws.malformed || _ws.expert.severity >= 0x00800000") == 0
    assert air.frames("wlan.fcs.status == Bad && radiotap.flags.badfcs == 0") == 0


def test_trace_marks_retries(air: Air) -> None:
    retries = sum(s["retries"] for s in air.stats["stations"])
    assert air.frames("wlan.fc.retry == 1") == retries


def test_mac80211_heard_of_retries(air: Air) -> None:
    """The TX status carries the attempts: mac80211's own count is the medium's."""
    found = re.search(r"tx retries:\s*(\d+)", (air.out / "dump1").read_text())
    assert found is not None
    assert int(found.group(1)) == air.station("sta1")["retries"] > 0


def test_explain_tells_what_is_sent(air: Air) -> None:
    told = output("explain", air.out / "air.pcapng", "--seconds", "1000")
    for what in ("beacon", "authentication", "ARP", "TCP SYN", "TCP data 1448 B", "TCP ack"):
        assert what in told
    collisions = re.search(r", (\d+) collisions", told)
    assert collisions is not None
    assert int(collisions.group(1)) == told.count("COLLISION") > 0


def replayed(air: Air) -> dict[str, Any]:
    """The statistics of the core alone, given what the radios handed in."""
    return statistics("replay", air.out / "arrivals.txt")


def test_replay_decides_the_same(air: Air) -> None:
    assert replayed(air) == air.stats


def test_a_second_medium_is_refused(air: Air) -> None:
    said = (air.out / "second").read_text()
    assert said == "dcfmedium: mac80211_hwsim has a medium already; stop it first\n"


def test_tcp_over_aggregates_and_losses(lab_kernel: LabKernel, tmp_path: Path) -> None:
    """A-MPDUs form from what queues, the channel loses MPDUs and ACKs; every byte arrives."""
    lossy = play(lab_kernel, tmp_path, "--phy ht20 --channel loss=0.05")
    assert not any(lossy.stats["integrity"].values())
    unheard = sum(
        s["collisions"] + s["broadcast_collisions"] + s["lost"] - s["acks_lost"]
        for s in lossy.stats["stations"]
    )
    assert lossy.frames("radiotap.flags.badfcs == 1 && wlan.fc.type != 1") == unheard > 0
    assert sum(s["acks_lost"] for s in lossy.stats["stations"]) > 0
    assert sum(s["ampdus"] for s in lossy.stats["stations"]) > 0
    assert replayed(lossy) == lossy.stats
    for side in ("up1", "down1", "up2", "down2"):
        flows = [json.loads(line) for line in (tmp_path / f"{side}.log").read_text().splitlines()]
        assert all(flow["error"] is None for flow in flows if flow["event"] == "flow")
