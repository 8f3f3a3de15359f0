# SPDX-License-Identifier: GPL-2.0-only
"""lasack-doctor in a lab kernel, on systems that were prepared to have one fault each, or none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from apbed.kernels import lab
from apbed.kernels.cache import LabKernel
from apbed.kernels.watchdog import Watchdog

REPOSITORY = Path(__file__).resolve().parents[3]

LOAD = """\
set -e
for module in inflight sch_inflight sch_lasack sch_ackwrr; do insmod {modules}/$module.ko; done
export TC_LIB_DIR={tree}/build/tc
doctor={tree}/build/bin/lasack-doctor
quiet='sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1'
$quiet
# look NAME WORD...: as JSON and as text, with the exit code.
look() {{
    name=$1
    shift
    $doctor "$@" --json > $name.json && code=0 || code=$?
    echo $code > $name.exit
}}
# follow NAME: types what it said to type, with a rate and a class.
follow() {{
    /usr/bin/python3 -c '
import json, sys
for finding in json.load(open(sys.argv[1]))["devices"][0]["findings"]:
    for command in finding["type"]:
        print(command.replace("RATE", "1mbit").replace("CLASS", "1:1"))
' $1.json > $1.typed
    PATH={tree}/build/bin:$PATH
    . ./$1.typed >> followed
}}
# The far ends are addresses that nobody has, so nobody answers.
flood() {{
    {tree}/build/bin/flowgen pulse --id x --host $1 --port 9 --count $2 --every $3 \
        --bytes 1400 > pulse.log
}}
"""

# Two radios make a cell, the third is a station that nobody answers.
CELL = """\
insmod {hwsim} radios=3
{medium}
sleep 0.1
printf 'interface=wlan0\\nssid=lab\\nhw_mode=b\\nchannel=1\\n' > /run/hostapd.conf
hostapd -B /run/hostapd.conf > hostapd.log
ip address add 10.1.0.1/24 dev wlan0
ip netns add sta
iw phy phy1 set netns name sta
ip netns exec sta $quiet
ip netns exec sta ip address add 10.1.0.11/24 dev wlan1
ip netns exec sta ip link set wlan1 up
ip netns exec sta iw dev wlan1 set power_save off
ip netns exec sta iw dev wlan1 connect -w lab 2412 > connect.log
ip neighbour replace 10.1.0.12 lladdr 02:00:00:00:01:00 dev wlan0
sleep 1
"""

MEDIUM = "{tree}/build/bin/dcfmedium hwsim --phy hrdsss-11 > ready &"

FAULTS = """\
look bare wlan0 -s 0.1
tc qdisc replace dev wlan0 root lasack
look untried wlan0 -s 0.1
# 11 Mb/s offered, about 6 possible
flood 10.1.0.12 1200 0.001 &
sleep 0.5
look well -s 0.3
$doctor -s 0.1 > well.txt
cp $doctor /run/doctor
setpriv --reuid 65534 --regid 65534 --clear-groups /run/doctor -s 0.1 --json > nobody.json
wait $!
tc qdisc replace dev wlan0 root lasack inflight off
look unbounded wlan0 -s 0.1
tc qdisc replace dev wlan0 root handle 7: inflight
look alone wlan0 -s 0.1
tc qdisc replace dev wlan0 parent 7:1 fq_codel
look child wlan0 -s 0.1

tc qdisc replace dev wlan0 root cake
look cake-unlimited wlan0 -s 0.1
tc qdisc replace dev wlan0 root cake bandwidth 4mbit
look cake wlan0 -s 0.1
tc qdisc replace dev wlan0 root handle 1: htb default 1
tc class replace dev wlan0 parent 1: classid 1:1 htb rate 4mbit
look htb wlan0 -s 0.1
follow htb
look htb-cured wlan0 -s 0.1
tc qdisc replace dev wlan0 parent 1:1 fq_codel
look htb-fq_codel wlan0 -s 0.1
tc qdisc replace dev wlan0 root handle 2: tbf rate 4mbit burst 3000 limit 60000
look tbf wlan0 -s 0.1
follow tbf
look tbf-cured wlan0 -s 0.1
tc qdisc replace dev wlan0 root handle 3: mq
tc qdisc replace dev wlan0 parent 3:3 lasack
look mq wlan0 -s 0.1
follow mq
look mq-cured wlan0 -s 0.1
tc qdisc replace dev wlan0 root handle 4: mq
for minor in 1 2 3 4; do tc qdisc replace dev wlan0 parent 4:$minor lasack; done
look mq-each wlan0 -s 0.1
tc qdisc replace dev wlan0 root handle 5: prio
tc qdisc replace dev wlan0 parent 5:2 lasack inflight off limit 77
look prio wlan0 -s 0.1
follow prio
look prio-cured wlan0 -s 0.1
tc qdisc show dev wlan0 > prio.shown
tc qdisc replace dev wlan0 root lasack

ip link add wan0 type dummy
ip address add 192.0.2.1/24 dev wan0
ip link set wan0 up
ip neighbour replace 192.0.2.2 lladdr 02:00:00:00:00:02 dev wan0
ip route add default via 192.0.2.2
tc qdisc replace dev wan0 root tbf rate 1mbit burst 3000 limit 60000
flood 198.51.100.1 750 0.002 &
sleep 0.5
look wan wlan0 -s 0.2
$doctor wlan0 -s 0.1 > wan.txt || true
follow wan
sleep 0.3
look managed wlan0 -s 0.2
wait $!

ip link add br0 type bridge
ip link set wlan0 master br0
tc qdisc replace dev br0 root lasack
look bridge br0 -s 0.1
follow bridge
tc qdisc show dev br0 > bridge.shown
ip link set wlan0 nomaster

ip link set wlan2 up
iw dev wlan2 set power_save on
look asleep wlan2 -s 0.1
iw dev wlan2 set power_save off
look awake wlan2 -s 0.1
ip link set wlan2 down
look down wlan2 -s 0.1

# Any name that the kernel takes, pasted by root.
ip link add 'a;$(reboot)' type dummy
look hostile 'a;$(reboot)' -s 0.1
for words in 'nosuch' 'lo extra' '--seconds 0 lo' '--nonsense' '--seconds'; do
    $doctor $words 2>> said || echo $? >> codes
done
$doctor wlan0 -s 0.1 > /dev/full 2>> said || echo $? >> codes
"""

# Without a medium hwsim orphans each packet; the emulated driver frees it after its bus.
TOO_SOON = """\
tc qdisc replace dev wlan0 root lasack
flood 10.1.0.12 200 0.001
look none wlan0 -s 0.1
follow none
look none-cured wlan0 -s 0.1
insmod {modules}/inflight/tests/emulated_driver.ko behaviour=bus queues=4
ip address add 10.9.0.1/24 dev emu0
ip link set emu0 up
ip neighbour add 10.9.0.2 dev emu0 lladdr 02:00:00:00:00:02
tc qdisc replace dev emu0 root handle 1: lasack inflight 16
flood 10.9.0.2 600 0.00001
look bus emu0 -s 0.1
follow bus
look bus-cured emu0 -s 0.1
rmmod mac80211_hwsim
$doctor 2>> said || echo $? >> codes
"""


def play(kernel: LabKernel, out: Path, script: str, medium: str) -> Path:
    """Run a script in the lab; what it wrote is in the directory returned."""
    modules = REPOSITORY / "build" / "modules" / f"{kernel.release}-um"
    words = {"tree": REPOSITORY, "modules": modules, "hwsim": kernel.hwsim}
    console = out / "console.log"
    text = (LOAD + CELL + script).format(**words, medium=medium.format(**words))
    guest = lab.Guest(kernel, ["sh", "-c", text], out, workdir=out, seed=1, console=console)
    result = lab.boot(guest, Watchdog(limit_s=120))
    assert result.status == 0, f"{result.why}: {console.read_text()}"
    return out


@pytest.fixture(scope="module")
def faults(lab_kernel: LabKernel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return play(lab_kernel, tmp_path_factory.mktemp("faults"), FAULTS, MEDIUM)


@pytest.fixture(scope="module")
def too_soon(lab_kernel: LabKernel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return play(lab_kernel, tmp_path_factory.mktemp("too_soon"), TOO_SOON, "")


def found(place: Path, name: str) -> tuple[int, dict[str, Any]]:
    """Exit code and the one report."""
    page = json.loads((place / f"{name}.json").read_text())
    assert page["schema"] == 1
    (report,) = page["devices"]
    return int((place / f"{name}.exit").read_text()), report


def states(report: dict[str, Any]) -> dict[str, str]:
    return {finding["about"]: finding["state"] for finding in report["findings"]}


def finding(report: dict[str, Any], about: str) -> dict[str, Any]:
    (one,) = (finding for finding in report["findings"] if finding["about"] == about)
    return dict(one)


def problems(report: dict[str, Any]) -> dict[str, list[str]]:
    """What is wrong, and what to type."""
    return {f["about"]: f["type"] for f in report["findings"] if f["state"] == "problem"}


def test_all_well(faults: Path) -> None:
    code, report = found(faults, "well")
    assert code == 0 and problems(report) == {}
    assert (report["device"], report["role"]) == ("wlan0", "access point")
    assert (report["driver"], report["qdisc"]) == ("mac80211_hwsim", "lasack")
    assert report["backpressure"] == "air"
    assert set(states(report).values()) <= {"ok"}
    # lasack's own limit is the most that can wait; a packet on average would be no queue.
    assert 1 < report["waiting_packets"] < 20000
    assert finding(report, "queue")["said"].startswith("The queue is here: ")


def test_text_is_for_80_columns(faults: Path) -> None:
    lines = (faults / "well.txt").read_text().splitlines()
    assert lines[0] == "wlan0: access point on phy0, driver mac80211_hwsim"
    assert max(map(len, lines)) <= 80
    assert [line.split()[0] for line in lines[1:] if line[0] != " "] == ["ok"] * 9
    assert (
        "    tc qdisc replace dev wan0 root cake bandwidth RATE\n"
        in (faults / "wan.txt").read_text()
    )


def test_no_qdisc(faults: Path) -> None:
    code, report = found(faults, "bare")
    assert code == 1
    assert problems(report) == {"qdisc": ["tc qdisc replace dev wlan0 root lasack"]}
    assert report["backpressure"] is None


def test_untried_is_no_problem(faults: Path) -> None:
    code, report = found(faults, "untried")
    assert code == 0 and report["backpressure"] == "untried"
    assert states(report)["backpressure"] == "unknown"
    assert states(report)["queue"] == "unknown"


def test_no_bound(faults: Path) -> None:
    code, report = found(faults, "unbounded")
    assert code == 1
    assert problems(report) == {"qdisc": ["tc qdisc replace dev wlan0 root lasack inflight auto"]}


def test_inflight_needs_a_scheduler(faults: Path) -> None:
    code, report = found(faults, "alone")
    assert code == 1
    assert problems(report) == {"qdisc": ["tc qdisc replace dev wlan0 parent 7:1 fq_codel"]}
    code, report = found(faults, "child")
    assert code == 0 and states(report)["qdisc"] == "ok"


def assert_cured(place: Path, name: str) -> None:
    """What was said to be typed could be typed, and then nothing is wrong with that."""
    code, report = found(place, f"{name}-cured")
    assert code == 0 and states(report)["qdisc"] == "ok"


LIMITED = "limits the rate, so packets wait in"


def test_cake_needs_a_rate(faults: Path) -> None:
    code, report = found(faults, "cake-unlimited")
    assert code == 1
    assert problems(report) == {"qdisc": ["tc qdisc replace dev wlan0 root lasack"]}
    code, report = found(faults, "cake")
    assert code == 0 and states(report)["qdisc"] == "note"
    assert finding(report, "qdisc")["said"].startswith(f"cake {LIMITED} it. Unlike lasack, cake")
    assert finding(report, "backpressure")["said"].startswith("Not needed: cake sends at its rate")


def test_a_rate_needs_a_scheduler(faults: Path) -> None:
    code, report = found(faults, "htb")
    assert code == 1
    assert problems(report) == {
        "qdisc": [
            "tc class show dev wlan0",
            "tc qdisc replace dev wlan0 parent CLASS lasack inflight off",
        ]
    }
    assert_cured(faults, "htb")
    code, report = found(faults, "htb-fq_codel")
    assert code == 0 and states(report)["qdisc"] == "note"
    assert finding(report, "qdisc")["said"].startswith(f"htb {LIMITED} fq_codel. Unlike lasack")
    code, report = found(faults, "tbf")
    assert code == 1
    typed = ["tc qdisc replace dev wlan0 parent 2:1 lasack inflight off"]
    assert problems(report) == {"qdisc": typed}
    assert_cured(faults, "tbf")
    assert finding(found(faults, "tbf-cured")[1], "qdisc")["said"] == f"tbf {LIMITED} lasack."


def test_every_queue_of_mq_counts(faults: Path) -> None:
    code, report = found(faults, "mq")
    assert code == 1 and report["qdisc"] == "mq"
    assert problems(report) == {"qdisc": ["tc qdisc replace dev wlan0 root lasack"]}
    assert finding(report, "qdisc")["said"].startswith("lasack is below 1 of the 4 queues of mq.")
    assert_cured(faults, "mq")
    code, report = found(faults, "mq-each")
    assert code == 0 and finding(report, "qdisc")["said"] == "lasack is below mq."


def test_no_bound_as_a_child(faults: Path) -> None:
    """The tree stays, and so do the other options."""
    code, report = found(faults, "prio")
    assert code == 1
    typed = ["tc qdisc replace dev wlan0 parent 5:2 lasack inflight auto"]
    assert problems(report) == {"qdisc": typed}
    assert_cured(faults, "prio")
    shown = (faults / "prio.shown").read_text()
    assert "qdisc prio 5: root" in shown and "parent 5:2 limit 77p" in shown


def test_queue_on_the_wan(faults: Path) -> None:
    """1 Mb/s of 5.6 that are offered: tbf's 60000 bytes are 41 frames of 1442, all but one full."""
    code, report = found(faults, "wan")
    assert code == 1
    assert problems(report) == {"queue": ["tc qdisc replace dev wan0 root cake bandwidth RATE"]}
    said = finding(report, "queue")["said"]
    assert said.startswith("The queue is on wan0, the way to the Internet: 41 packets")


def test_managed_queue_on_the_wan_is_no_problem(faults: Path) -> None:
    code, report = found(faults, "managed")
    assert code == 0 and states(report)["queue"] == "note"
    assert finding(report, "queue")["said"].endswith("Its queue discipline keeps it short.")


def test_wrong_device(faults: Path) -> None:
    code, report = found(faults, "bridge")
    assert code == 1 and report["role"] == "bridge"
    assert problems(report) == {"device": ["tc qdisc del dev br0 root", "lasack-doctor wlan0"]}
    assert "lasack" not in (faults / "bridge.shown").read_text()
    assert "wlan0: access point" in (faults / "followed").read_text()


def test_power_save(faults: Path) -> None:
    _, report = found(faults, "asleep")
    assert report["role"] == "station"
    assert problems(report)["power_save"] == ["iw dev wlan2 set power_save off"]
    assert states(found(faults, "awake")[1])["power_save"] == "ok"


def test_device_is_down(faults: Path) -> None:
    code, report = found(faults, "down")
    assert code == 1 and problems(report)["device"] == ["ip link set wlan2 up"]


def test_names_are_quoted(faults: Path) -> None:
    _, report = found(faults, "hostile")
    assert report["device"] == "a;$(reboot)"
    assert finding(report, "device")["said"].startswith("'a;$(reboot)' is no Wi-Fi device.")


def shaper(device: str, major: int) -> list[str]:
    """What is said to be typed where the driver does not hold packets until the air."""
    return [
        f"tc qdisc replace dev {device} root handle {major}: htb default 1",
        f"tc class replace dev {device} parent {major}: classid {major}:1 htb rate RATE",
        f"tc qdisc replace dev {device} parent {major}:1 lasack inflight off",
    ]


def test_no_back_pressure(too_soon: Path) -> None:
    code, report = found(too_soon, "none")
    assert code == 1 and report["backpressure"] == "none"
    assert problems(report) == {"backpressure": shaper("wlan0", 1)}
    assert_cured(too_soon, "none")
    report = found(too_soon, "none-cured")[1]
    assert report["qdisc"] == "htb" and states(report)["backpressure"] == "ok"


def test_bus_only(too_soon: Path) -> None:
    """On a device that stands for such a driver, but is no Wi-Fi device. 1: is taken."""
    code, report = found(too_soon, "bus")
    assert code == 1 and report["backpressure"] == "bus"
    assert set(problems(report)) == {"backpressure", "device"}
    assert problems(report)["backpressure"] == shaper("emu0", 2)
    report = found(too_soon, "bus-cured")[1]
    assert report["qdisc"] == "htb" and states(report)["backpressure"] == "ok"


def test_without_root(faults: Path) -> None:
    """All but what only root may see."""
    (report,) = json.loads((faults / "nobody.json").read_text())["devices"]
    assert report["backpressure"] == "air" and states(report)["queue"] == "ok"
    assert problems(report) == {}


def test_refusals(faults: Path, too_soon: Path) -> None:
    assert (faults / "said").read_text().splitlines() == [
        "lasack-doctor: no device nosuch, ip link lists them; see lasack-doctor --help",
        "lasack-doctor: unexpected argument extra; see lasack-doctor --help",
        "lasack-doctor: --seconds 0: give 0.1 to 60; see lasack-doctor --help",
        "lasack-doctor: --nonsense is not an option; see lasack-doctor --help",
        "lasack-doctor: --seconds needs a value; see lasack-doctor --help",
        "lasack-doctor: cannot write: No space left on device",
    ]
    assert (faults / "codes").read_text().split() == ["2"] * 5 + ["1"]
    said = "lasack-doctor: no Wi-Fi device here; name a device: lasack-doctor DEVICE\n"
    assert (too_soon / "said").read_text() == said
