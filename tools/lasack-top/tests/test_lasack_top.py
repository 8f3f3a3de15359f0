# SPDX-License-Identifier: GPL-2.0-only
"""lasack-top in a lab kernel: what it says of flows whose sizes are known from their ends,
below which parents it finds lasack, and how it leaves a terminal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from terminal_screen import last_screen

from apbed.kernels import lab
from apbed.kernels.cache import LabKernel
from apbed.kernels.watchdog import Watchdog

REPOSITORY = Path(__file__).resolve().parents[3]

# The request that each flow begins with (struct request in tools/flowgen/flow.c), and TCP's FIN,
# which an ACK acknowledges like a byte (RFC 9293, 3.4).
REQUEST_BYTES, FIN = 72, 1
FLOWS = {"up1": 900_000, "up2": 1_200_000, "down1": 1_050_000, "down2": 1_350_000}

# What tc prints of every queue discipline and lasack-top does not.
TC_ALONE = {"refcnt", "requeues"}

LOAD = """\
set -e
for module in inflight sch_inflight sch_lasack sch_ackwrr; do insmod {modules}/$module.ko; done
export TC_LIB_DIR={tree}/build/tc
top={tree}/build/bin/lasack-top
"""

CELL = """\
quiet='sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1'
$quiet
insmod {hwsim} radios=5
{tree}/build/bin/dcfmedium hwsim --phy hrdsss-11 > ready &
sleep 0.1
printf 'interface=wlan0\\nssid=lab\\nhw_mode=b\\nchannel=1\\n' > /run/hostapd.conf
hostapd -B /run/hostapd.conf > hostapd.log
ip address add 10.1.0.1/24 dev wlan0
# What a packet counts for at least is none of its own bytes: the paper's rules charge nothing else.
tc qdisc replace dev wlan0 root lasack mode paper limit 100 inflight 1
{tree}/build/bin/flowgen serve --port 5001 --out server.jsonl &
n=0
for flow in {flows}; do
    n=$((n + 1)) id=${{flow%:*}} bytes=${{flow#*:}}
    ip netns add sta$n
    iw phy phy$n set netns name sta$n
    on="ip netns exec sta$n"
    $on $quiet
    $on ip address add 10.1.0.1$n/24 dev wlan$n
    $on ip link set wlan$n up
    $on iw dev wlan$n set power_save off
    $on iw dev wlan$n connect -w lab 2412 > connect$n.log
    $on {tree}/build/bin/flowgen run --id $id --host 10.1.0.1 --port 5001 --dir ${{id%?}} \
        --bytes $bytes --start-at 20 --out flows.jsonl &
    clients="$clients $!"
done
sleep $((22 - $(cut -d. -f1 /proc/uptime)))
mkdir -p /dev/pts
mount -t devpts devpts /dev/pts
TERM=vt100 script -qc "stty rows 24 cols 80; timeout --foreground -s INT 2.5 $top" \
    screen.raw < /dev/null > /run/script &
screen=$!
$top --once --json > during.json
timeout 2.5 $top --device wlan0 --json > stream.json || [ $? = 124 ]
$top --once > during.txt
wait $screen $clients
sleep 1
$top --once --json > after.json
"""

# Each parent in turn; two packets make a flow.
PARENTS = """\
ip link add dev0 numtxqueues 2 type dummy
ip address add 10.9.0.1/24 dev dev0
ip link set dev0 up
ip neighbour replace 10.9.0.2 lladdr 02:00:00:00:00:02 dev dev0
look() {{
    {tree}/build/bin/flowgen pulse --id x --host 10.9.0.2 --port 9 --count 2 --every 0.01 \
        --bytes 100 > pulse.log
    $top --once --json > $1.json
    $top --once > $1.txt
    tc qdisc del dev dev0 root
}}
tc qdisc replace dev dev0 root handle 7: lasack
cp $top /run/top
setpriv --reuid 65534 --regid 65534 --clear-groups /run/top --once > nobody.txt
look root
tc qdisc replace dev dev0 root handle 1: htb default 1
tc class add dev dev0 parent 1: classid 1:1 htb rate 10mbit
tc qdisc replace dev dev0 parent 1:1 handle 7: lasack
look htb
tc qdisc replace dev dev0 root handle 1: inflight limit 5
tc qdisc replace dev dev0 parent 1:1 handle 7: lasack inflight off
look inflight
tc qdisc replace dev dev0 root handle 1: ackwrr weights 3 1
tc qdisc replace dev dev0 parent 1:1 handle 7: lasack
tc -s -j qdisc show dev dev0 > tc.json
look ackwrr
sysctl -qw net.core.default_qdisc=lasack
tc qdisc replace dev dev0 root handle 1: mq
look mq
sysctl -qw net.core.default_qdisc=pfifo_fast
tc qdisc replace dev dev0 root pfifo
for words in '' '--device dev0' '--device nosuch'; do
    $top --once $words 2>> said && exit 1
done
tc qdisc replace dev dev0 root lasack
tc qdisc replace dev lo root lasack
$top --once 2>> said && exit 1
tc qdisc del dev lo root
$top --once > /dev/full 2>> said && exit 1
$top | head -n 1 > head.txt
mkdir -p /dev/pts
mount -t devpts devpts /dev/pts
/usr/bin/python3 {tree}/tools/lasack-top/tests/lasack_top_terminal.py $top > terminal.json
"""


def play(kernel: LabKernel, out: Path, script: str) -> Path:
    """Run a script in the lab; what it wrote is in the directory returned."""
    flows = " ".join(f"{name}:{size}" for name, size in FLOWS.items())
    modules = REPOSITORY / "build" / "modules" / f"{kernel.release}-um"
    words = {"tree": REPOSITORY, "modules": modules, "hwsim": kernel.hwsim, "flows": flows}
    console = out / "console.log"
    command = ["sh", "-c", (LOAD + script).format(**words)]
    guest = lab.Guest(kernel, command, out, workdir=out, seed=1, console=console)
    result = lab.boot(guest, Watchdog(limit_s=120))
    assert result.status == 0, f"{result.why}: {console.read_text()}"
    return out


def objects(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture(scope="module")
def cell(lab_kernel: LabKernel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return play(lab_kernel, tmp_path_factory.mktemp("cell"), CELL)


@pytest.fixture(scope="module")
def bench(lab_kernel: LabKernel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return play(lab_kernel, tmp_path_factory.mktemp("bench"), PARENTS)


def flows_by_name(page: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The table's TCP flows by flowgen's names, which follow from the stations."""
    stations = {f"10.1.0.1{n}": name for n, name in enumerate(FLOWS, start=1)}
    tcp = [flow for flow in page["flows"] if flow["protocol"] == 6]
    return {stations[flow["to"]["address"]]: flow for flow in tcp}


@pytest.mark.parametrize("moment", ["during", "after"])
def test_directions(cell: Path, moment: str) -> None:
    (page,) = objects(cell / f"{moment}.json")
    assert page["schema"] == 1 and page["device"] == "wlan0" and page["interval_s"] is None
    seen = {name: flow["direction"] for name, flow in flows_by_name(page).items()}
    assert seen == {name: name[:-1] for name in FLOWS}
    assert all(flow["from"] == {"address": "10.1.0.1", "port": 5001} for flow in page["flows"])
    assert all(flow["rate_bps"] is None for flow in page["flows"])


def test_bytes_are_the_flows_own(cell: Path) -> None:
    """Uploads to the byte; downloads but for what TCP sent again (retransmissions of at most
    1460 bytes, a device's 1500 without headers)."""
    flows = flows_by_name(objects(cell / "after.json")[0])
    ends = [end for end in objects(cell / "server.jsonl") if end["event"] == "flow"]
    assert {end["id"]: end["bytes"] for end in ends} == FLOWS
    for end in ends:
        flow, size = flows[end["id"]], FLOWS[end["id"]]
        if end["dir"] == "up":
            assert size + REQUEST_BYTES <= flow["received_bytes"] <= size + REQUEST_BYTES + FIN
            assert flow["sent_bytes"] == 0
        else:
            assert size <= flow["sent_bytes"] <= size + 1460 * end["retrans"]
            assert REQUEST_BYTES <= flow["received_bytes"] <= REQUEST_BYTES + FIN
        assert flow["attained_bytes"] == flow["sent_bytes"] + flow["received_bytes"]


def test_rates_are_growth(cell: Path) -> None:
    first, second, third = objects(cell / "stream.json")
    assert first["interval_s"] is None
    for before, now in ((first, second), (second, third)):
        assert now["interval_s"] == pytest.approx(1.0, abs=0.01)
        assert len(flows_by_name(now)) == len(FLOWS)
        then = flows_by_name(before)
        for name, flow in flows_by_name(now).items():
            growth = flow["attained_bytes"] - then[name]["attained_bytes"]
            # The interval has three digits after the point.
            assert flow["rate_bps"] == pytest.approx(8 * growth / now["interval_s"], rel=0.001)
        assert sum(flow["rate_share"] for flow in now["flows"]) == pytest.approx(1, abs=0.01)


def test_table_is_for_80_columns(cell: Path) -> None:
    lines = (cell / "during.txt").read_text().splitlines()
    assert max(map(len, lines)) <= 80
    table = [line.split() for line in lines[lines.index("") + 2 :]]
    assert sorted(row[0] for row in table) == ["down", "down", "up", "up"]
    assert any(line.startswith("in flight ") and " of 1, " in line for line in lines)


def test_screen(cell: Path) -> None:
    """The last of three tables, with the first line bold and the heading reverse."""
    screen = last_screen(cell / "screen.raw")
    lines = screen.text()
    assert "wlan0, lasack 8001: root" in lines[0]
    assert {"1" in attributes for _, attributes in screen.cells[0][: len(lines[0])]} == {True}
    heading = next(n for n, line in enumerate(lines) if line.startswith("DIR"))
    assert {"7" in attributes for _, attributes in screen.cells[heading]} == {True}
    table = [line.split() for line in lines[heading + 1 : -1] if line]
    assert sorted(row[0] for row in table) == ["down", "down", "up", "up"]
    assert all(float(row[5]) > 0 for row in table)  # Mb/s
    assert lines[-1] == "q quit   a attained  r rate  b backlog   sorted by attained"


@pytest.mark.parametrize(
    ("parent", "places"),
    [
        ("root", [("lasack", "7:", "root")]),
        ("htb", [("lasack", "7:", "1:1")]),
        ("inflight", [("inflight", "1:", "root"), ("lasack", "7:", "1:1")]),
        ("ackwrr", [("ackwrr", "1:", "root"), ("lasack", "7:", "1:1")]),
        ("mq", [("lasack", "0:", "1:1"), ("lasack", "0:", "1:2")]),
    ],
)
def test_parents(bench: Path, parent: str, places: list[tuple[str, str, str]]) -> None:
    (page,) = objects(bench / f"{parent}.json")
    seen = [(qdisc["kind"], qdisc["handle"], qdisc["parent"]) for qdisc in page["qdiscs"]]
    assert sorted(seen) == places
    pulses = [flow for flow in page["flows"] if flow["protocol"] == 17]
    assert [flow["to"] for flow in pulses] == [{"address": "10.9.0.2", "port": 9}]
    assert pulses[0]["sent_bytes"] == 200
    assert pulses[0]["direction"] == "unknown"


def test_classes_of_ackwrr(bench: Path) -> None:
    """Two datagrams of 100 bytes, with 42 of headers each, are no ACKs."""
    (page,) = objects(bench / "ackwrr.json")
    seen = [(one["class"], one["weight"], one["packets"], one["bytes"]) for one in page["classes"]]
    assert seen == [("1:1", 3, 2, 284), ("1:2", 1, 0, 0)]


def test_counters_have_tcs_names(bench: Path) -> None:
    """What tc says of the queue disciplines before any packet, options too: no less, no more."""
    (page,) = objects(bench / "ackwrr.json")
    shown = {qdisc["kind"]: qdisc for qdisc in json.loads((bench / "tc.json").read_text())}
    for qdisc in page["qdiscs"]:
        tcs = shown[qdisc["kind"]]
        assert qdisc.keys() - {"parent"} == tcs.keys() - {"parent", "root", *TC_ALONE}
        assert qdisc["options"] == tcs["options"]


def test_the_bound_above_is_shown(bench: Path) -> None:
    said = "\nin flight 0 of 5, throttled 0, stalled 0, back-pressure "
    assert said in (bench / "inflight.txt").read_text()


def test_no_privilege_is_needed(bench: Path) -> None:
    assert "dev0, lasack 7: root" in (bench / "nobody.txt").read_text()


def test_refusals(bench: Path) -> None:
    attach = "attach one: tc qdisc replace dev DEVICE root lasack"
    assert (bench / "said").read_text().splitlines() == [
        f"lasack-top: no device has a lasack or ackwrr; {attach}",
        f"lasack-top: no lasack or ackwrr on dev0; {attach}",
        "lasack-top: no device nosuch; ip link lists them",
        "lasack-top: several devices have a lasack or ackwrr, choose one with --device: lo, dev0",
        "lasack-top: cannot write: No space left on device",
    ]


def test_a_reader_that_goes_ends_it(bench: Path) -> None:
    """The script would not have ended otherwise."""
    assert len((bench / "head.txt").read_text().splitlines()) == 1


def test_terminal_is_left_as_it_was(bench: Path) -> None:
    ways: dict[str, dict[str, Any]] = json.loads((bench / "terminal.json").read_text())
    for way, found in ways.items():
        assert found["was_raw"], way
        assert found["settings_restored"], way
        assert (found["screen"], found["cursor"]) == ("rmcup", "cnorm"), way
    exits = {way: found["exit"] for way, found in ways.items()}
    assert exits == {
        "q": 0,
        "ctrl_c": -2,
        "ctrl_z": None,
        "SIGINT": -2,
        "SIGTERM": -15,
        "resize": 0,
        "sort": 0,
        "gone": 1,
    }
    assert ways["ctrl_z"]["stopped"] and ways["ctrl_z"]["raw_again"]
    assert ways["gone"]["said"].endswith("lasack-top: no lasack or ackwrr on dev0 any more\r\n")
