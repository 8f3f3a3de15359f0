# SPDX-License-Identifier: GPL-2.0-only
"""What mac80211 itself does above dcfmedium, in a lab kernel: its rate control over links of some
SNR, and its access categories by the TIDs it gives."""

from __future__ import annotations

import json
from math import sqrt
from pathlib import Path
from typing import Any

import pytest

from apbed.kernels import lab
from apbed.kernels.cache import LabKernel
from apbed.kernels.watchdog import Watchdog
from apbed.papers.edca import Category, Radios, shares, windows
from tests.medium.dcfmedium import BIN, saturate, statistics

# An access point and two stations; `work` is what they do.
SCRIPT = """\
set -e
insmod {hwsim} radios=4
{bin}/dcfmedium hwsim {air} --stats medium.json --record arrivals.txt \
    --station 02:00:00:00:00:00,name=ap --station 02:00:00:00:01:00,name=sta1 \
    --station 02:00:00:00:02:00,name=sta2{far} > ready &
medium=$!
sleep 0.1
printf 'interface=wlan0\\nssid=lab\\nhw_mode={mode}\\nwmm_enabled={wmm}\\n' > /run/hostapd.conf
printf 'channel={channel}\\ncountry_code=US\\n' >> /run/hostapd.conf
hostapd -B /run/hostapd.conf > hostapd.log
ip address add 10.1.0.1/24 dev wlan0
for n in 1 2; do
    ip netns add sta$n
    iw phy phy$n set netns name sta$n
    on="ip netns exec sta$n"
    $on ip address add 10.1.0.1$n/24 dev wlan$n
    $on ip link set wlan$n up
    $on iw dev wlan$n set power_save off
    $on iw dev wlan$n connect -w lab {freq} > connect$n.log
done
{work}
sleep 0.5
kill $medium
wait $medium
"""

UPLOADS = """\
{bin}/flowgen serve --port 5001 > server.log &
server=$!
for n in 1 2; do
    ip netns exec sta$n {bin}/flowgen run --id up --host 10.1.0.1 --port 5001 --dir up \
        --bytes 1500k > up$n.log &
    flows="$flows $!"
done
sleep 0.5
kill -USR1 $medium
wait $flows
kill $server
"""

# Sockets that always have a datagram for the radio, as many as their send buffer lets wait.
BLAST = """\
import socket, sys, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
if len(sys.argv) == 1:
    s.bind(("10.1.0.1", 9))
    time.sleep(1000)
s.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, int(sys.argv[1]))
s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 20000)
s.connect(("10.1.0.1", 9))
end = time.monotonic() + 4
while time.monotonic() < end:
    s.send(bytes(1472))
"""
# 802.1D priorities 1, 0, 5 and 7 as the kernel takes them from the DSCP's upper bits.
BLASTS = """\
/usr/bin/python3 blast.py & sink=$!
for tos in 32 0 160 224; do
    ip netns exec sta1 /usr/bin/python3 blast.py $tos & flows="$flows $!"
done
sleep 1
kill -USR1 $medium
wait $flows
kill $sink
"""

# Both stations send to the access point all the time.
BOTH = """\
/usr/bin/python3 blast.py & sink=$!
for n in 1 2; do
    ip netns exec sta$n /usr/bin/python3 blast.py 0 & flows="$flows $!"
done
sleep 1
kill -USR1 $medium
wait $flows
kill $sink
"""

# A second cell beside the first, on another channel: sta2 changes over to it.
TWO_CELLS = """\
printf 'interface=wlan3\\nssid=other\\nhw_mode=b\\nchannel=6\\n' > /run/other.conf
ip netns add other
iw phy phy3 set netns name other
ip netns exec other hostapd -B /run/other.conf > other.log
ip netns exec other ip address add 10.1.0.1/24 dev wlan3
ip netns exec sta2 iw dev wlan2 disconnect
ip netns exec sta2 iw dev wlan2 connect -w other 2437 > connect3.log
ip netns exec other /usr/bin/python3 blast.py & other=$!
"""


def play(kernel: LabKernel, out: Path, **words: str | int) -> dict[str, Any]:
    """The script with these words; the medium's statistics, which must be intact."""
    script = SCRIPT.format(hwsim=kernel.hwsim, bin=BIN, **words)
    console = out / "console.log"
    guest = lab.Guest(kernel, ["sh", "-c", script], out, workdir=out, seed=1, console=console)
    result = lab.boot(guest, Watchdog(limit_s=240))
    assert result.status == 0, f"{result.why}: {console.read_text()}"
    stats: dict[str, Any] = json.loads((out / "medium.json").read_text())
    assert not any(stats["integrity"].values()), stats["integrity"]
    return stats


def assert_replayed(stats: dict[str, Any], out: Path) -> None:
    """The recording holds all that decided: rates, categories and losses too."""
    replayed = statistics("replay", out / "arrivals.txt")
    assert replayed["digest"] == stats["digest"]
    assert replayed["rates"] == stats["rates"]
    assert replayed["stations"] == stats["stations"]


def test_minstrel_finds_the_rate_for_an_snr(lab_kernel: LabKernel, tmp_path: Path) -> None:
    """At 30 dB the highest rate is free of errors. At 10 dB 18 Mb/s loses 1 frame in 1000, 24 Mb/s
    all but 1 % (apbed.papers.error_rate): mac80211 finds that out by our TX status alone, in the
    half second before counting begins."""
    stats = play(
        lab_kernel,
        tmp_path,
        air="--phy erp-ofdm-54 --rates kernel --channel snr=30",
        far=",snr=10",
        mode="g",
        wmm=0,
        channel=1,
        freq=2412,
        work=UPLOADS.format(bin=BIN),
    )
    assert stats["rates"] == "kernel"
    near, far = (s["attempts_by_rate"] for s in stats["stations"] if s["name"] in ("sta1", "sta2"))
    # Collisions look like losses and put frames on lower rates for a while: the right one's share
    # is 0.59 to 0.92 in six seeds. But it has more than all others together.
    assert near["54"] > 0.5 * sum(near.values())
    assert max(far, key=lambda rate: far[rate]) == "18"
    # What cannot work is tried, by the tenth of its frames that minstrel spends on that at most.
    assert 0 < sum(far.get(rate, 0) for rate in ("24", "36", "48", "54")) < 0.1 * sum(far.values())
    for side in ("up1", "up2"):
        flows = [json.loads(line) for line in (tmp_path / f"{side}.log").read_text().splitlines()]
        assert all(flow["error"] is None for flow in flows if flow["event"] == "flow")
    assert_replayed(stats, tmp_path)


def test_tids_share_the_air_as_edca_says(lab_kernel: LabKernel, tmp_path: Path) -> None:
    """Four saturating sockets of one station, one for each category, against the zone model."""
    kinds = "5:128:1024,4:128:1024,3:64:1024,2:64:1024"
    (tmp_path / "blast.py").write_text(BLAST)
    stats = play(
        lab_kernel,
        tmp_path,
        air=f"--phy ofdm-54 --edca {kinds}",
        far="",
        mode="a",
        wmm=1,
        channel=36,
        freq=5180,
        work=BLASTS,
    )
    delivered = {s["name"]: s["delivered"] for s in stats["stations"]}
    counts = [delivered[name] for name in ("sta1-bk", "sta1", "sta1-vi", "sta1-vo")]
    categories = []
    for kind in kinds.split(","):
        aifsn, low, high = (int(word) for word in kind.split(":"))
        categories.append(Category(aifsn, windows(low, high, 7)))
    total = sum(counts)
    assert total > 4000
    for count, share in zip(counts, shares([Radios(1, tuple(categories))]).successes, strict=True):
        chance = 4 * sqrt(total * share * (1 - share))
        assert abs(count - total * share) < 0.05 * total * share + chance
    assert_replayed(stats, tmp_path)


def saturated(*words: str) -> dict[str, Any]:
    """Two stations that always have such a frame for a third, without a kernel."""
    cell = ["--phy", "ofdm-54", "--payload", "1500", "--stations", "2", "--sink"]
    return saturate(*cell, "--seconds", "200", *words)


def test_hidden_stations_collide_as_in_saturate(lab_kernel: LabKernel, tmp_path: Path) -> None:
    """The core is the same, what fills its queues is not: a kernel's sockets here."""
    (tmp_path / "blast.py").write_text(BLAST)
    stats = play(
        lab_kernel,
        tmp_path,
        air="--phy ofdm-54 --hidden sta1:sta2",
        far="",
        mode="a",
        wmm=0,
        channel=36,
        freq=5180,
        work=BOTH,
    )
    expected = saturated("--hidden", "sta1:sta2")["collision_probability"]
    assert expected > 3 * saturated()["collision_probability"]
    assert stats["collision_probability"] == pytest.approx(expected, rel=0.1)
    assert_replayed(stats, tmp_path)


def test_cells_on_two_channels_do_not_hear_each_other(
    lab_kernel: LabKernel, tmp_path: Path
) -> None:
    """Each delivers what it would alone: 2 x 6.2 Mb/s, no collision."""
    (tmp_path / "blast.py").write_text(BLAST)
    stats = play(
        lab_kernel,
        tmp_path,
        air="--phy hrdsss-11",
        far="",
        mode="b",
        wmm=0,
        channel=1,
        freq=2412,
        work=TWO_CELLS + BOTH.replace("kill $sink", "kill $sink $other"),
    )
    senders = [s for s in stats["stations"] if s["name"] in ("sta1", "sta2")]
    for sender in senders:
        assert sender["collisions"] < 0.02 * sender["tx"]  # with its access point's few frames
        assert sender["delivered"] > 3 * 6.2e6 / 8 / 1500 * 0.95
    assert_replayed(stats, tmp_path)
