# SPDX-License-Identifier: GPL-2.0-only
"""flowgen's times, and what is left of a flow that is cut short, in a lab kernel's virtual time.

Between client and server is a link with a rate, because in virtual time an unlimited one carries
without end at one instant, and windows are small enough that it loses nothing. A program that
polls would stop virtual time for good, so each of these tests is also one that nothing polls.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from apbed.checkout import BUILD
from apbed.kernels import lab
from apbed.kernels.cache import LabKernel
from apbed.kernels.watchdog import Watchdog

MS = 0.001  # what a scheduler of processes without cost may add, and far more
RATE_MBPS, WINDOW = 200, 65536  # WINDOW in bytes, of each connection
QUEUE_S = WINDOW * 8 / (RATE_MBPS * 1e6)  # for which one connection's packets can wait
ARRIVALS = [
    (f"t{number}", ("up", "down")[number % 2], 1000 + 7 * number, number * 0.004)
    for number in range(100)
]

SCRIPT = """\
set -e
ip netns add far
ip link add dev0 type veth peer name dev0 netns far
for side in near:1 far:2; do
    on=
    [ ${{side%:*}} = near ] || on="ip netns exec far"
    $on ip addr add 10.9.0.${{side#*:}}/24 dev dev0
    $on ip link set dev0 up
    $on tc qdisc add dev dev0 root netem rate {rate}mbit limit 10000
    $on sysctl -qw "net.ipv4.tcp_rmem=4096 {window} {window}"
done

# server NAME: one whose lines are in NAME.server
server() {{
    ip netns exec far {flowgen} serve --port 7001 --interval 0.1 --out $1.server &
    server=$!
    name=$1
    sleep 0.1
}}

# Its last acknowledgements come first.
stop() {{
    sleep 0.1
    kill -TERM $server
    wait $server
}}

# client NAME COMMAND OPTION...: its lines in NAME.client, its status in NAME.status
client() {{
    lines=$1 command=$2
    shift 2
    status=0
    {flowgen} $command --host 10.9.0.2 --port 7001 "$@" > $lines.client 2> $lines.said || status=$?
    echo $status > $lines.status
}}

# in_seconds S: the moment of CLOCK_MONOTONIC so much later, in $moment
in_seconds() {{
    moment=$(awk -v after=$1 '{{ printf "%.9f", $1 + after }}' /proc/uptime)
}}

# A process behind a shell function would not get the signal.
client_in_background() {{
    lines=$1 command=$2
    shift 2
    {flowgen} $command --host 10.9.0.2 --port 7001 "$@" > $lines.client 2> $lines.said &
    client=$!
}}

end_client() {{
    status=0
    wait $client || status=$?
    echo $status > $lines.status
}}

for dir in up down; do
    server timed-$dir
    client timed-$dir run --id f --dir $dir --seconds 0.95 --interval 0.1
    stop
    for size in "--seconds 30" "--bytes 1000G"; do
        cut=cut-$dir-${{size%% *}}
        server $cut
        client_in_background $cut run --id f --dir $dir $size
        sleep 0.3
        kill -TERM $client
        end_client
        stop
    done
done

server told
in_seconds 1
echo $moment > told.moment
client told run --id f --dir down --bytes 1k --start-at $moment
stop

server many
for number in $(seq 0 29); do
    size="--seconds 0.5"
    [ $((number % 3)) -ne 0 ] || size="--bytes 200k"
    dir=up
    [ $((number % 2)) -eq 0 ] || dir=down
    {flowgen} run --host 10.9.0.2 --port 7001 --id f$number --dir $dir $size > many.$number &
    clients="$clients $!"
done
for one in $clients; do
    wait $one
done
stop

server listed
in_seconds 1
echo $moment > listed.moment
client listed run --list arrivals --start-at $moment
stop

server cut-list
client_in_background cut-list run --list cut
sleep 0.3
kill -TERM $client
end_client
stop

server cut-server
client_in_background cut-server run --id f --dir down --seconds 30
sleep 0.2
stop
end_client

server pulse
client pulse pulse --id p --count 20 --every 0.02 --bytes 160
stop

server held-up
client_in_background held-up pulse --id p --count 100 --every 0.01 --bytes 160
sleep 0.005
kill -STOP $server
sleep 0.3
kill -CONT $server
end_client
stop

# From here on it takes 20 ms there, and none back.
tc qdisc change dev dev0 root netem rate {rate}mbit limit 10000 delay 20ms

server far
client far run --id f --dir up --seconds 1.9
client ping pulse --id p --echo --count 10 --every 0.02 --bytes 64 --interval 0.1
stop

server frames
client frames pulse --id p --count 20 --every 0.02 --bytes 1250 --datagrams 3
stop

server paged
client paged run --pages pages
stop

server talker
client talker pulse --id p --every 0.05 --bytes 100 --bursts spurts
stop

# 10 Mb/s, 20 ms there and back: the queue of 40 packets makes it 58.
tc qdisc change dev dev0 root netem rate 10mbit limit 40 delay 20ms
ip netns exec far tc qdisc change dev dev0 root netem rate 10mbit limit 40
for dir in up down; do
    server quic-$dir
    client quic-$dir quic --id q --dir $dir --seconds 20 --interval 0.1
    stop
done
server quic-window
client quic-window quic --id q --dir up --seconds 5 --bytes 1032 --window 10000
stop
for dev in "" "ip netns exec far"; do
    $dev tc qdisc change dev dev0 root netem rate 10mbit limit 10000 loss 5%
done
server quic-loss
client quic-loss quic --id q --dir up --seconds 20
stop
tc qdisc change dev dev0 root netem rate {rate}mbit limit 10000 delay 20ms
ip netns exec far tc qdisc change dev dev0 root netem rate {rate}mbit limit 10000

# Nobody has this address.
client quic-starved quic --id s --dir up --seconds 0.5 --host 10.9.0.99
status=0
{flowgen} run --host 10.9.0.99 --port 7001 --id s --dir up --seconds 0.5 \\
    > starved.client 2> starved.said || status=$?
echo $status > starved.status

server idle
in_seconds 1000
client_in_background waiting run --id w --dir up --seconds 1 --start-at $moment
waiting=$client
ip netns exec far /usr/bin/python3 -c '
import socket, time
with socket.create_server(("10.9.0.2", 7002)):
    time.sleep(1000)
' &
sleep 1
{flowgen} run --host 10.9.0.2 --port 7002 --id s --dir up --seconds 100 \\
    --interval 1000 > stuck.client &
stuck=$!
sleep 2
# Processor time and context switches: a process that wakes up has one more.
for when in before after; do
    for pid in $server $waiting $stuck; do
        cut -d ' ' -f 14,15 /proc/$pid/stat
        grep ctxt_switches /proc/$pid/status
    done > idle.$when
    sleep 30
done
kill $waiting $stuck
"""


@pytest.fixture(scope="module")
def out(lab_kernel: LabKernel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the guest has left everybody's lines."""
    place = tmp_path_factory.mktemp("flowgen")
    (place / "arrivals").write_text(
        "".join(f"{i} {d} {n} {offset:.9f}\n" for i, d, n, offset in ARRIVALS)
    )
    (place / "cut").write_text("done down 1000 0\nshort down 1000000000000 0\nlater up 1000 60\n")
    (place / "pages").write_text("a.1 down 9000 0.1\na.2 up 500000 -\nb down 100 0.2\n")
    (place / "spurts").write_text("0.1 2\n0.6 1\n")
    flowgen = BUILD / "bin" / "flowgen"
    script = SCRIPT.format(flowgen=flowgen, rate=RATE_MBPS, window=WINDOW)
    (place / "script.sh").write_text(script)
    console = place / "console"
    guest = lab.Guest(lab_kernel, ["sh", str(place / "script.sh")], place, place, console=console)
    done = lab.boot(guest, Watchdog())
    assert done.status == 0, done.why or console.read_text()
    return place


def lines(path: Path) -> list[dict[str, Any]]:
    """JSON lines."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def record(entries: list[dict[str, Any]], name: str) -> dict[str, Any]:
    """The one "flow" line of a flow."""
    (found,) = (entry for entry in entries if entry["id"] == name and entry["event"] == "flow")
    return found


def ends(out: Path, case: str, status: int = 0) -> tuple[list[dict[str, Any]], ...]:
    """The client's lines and the server's; the client must have ended so."""
    assert (out / f"{case}.status").read_text() == f"{status}\n", (out / f"{case}.said").read_text()
    return lines(out / f"{case}.client"), lines(out / f"{case}.server")


@pytest.mark.parametrize("direction", ["up", "down"])
def test_timed_flow_ends_at_both_ends(out: Path, direction: str) -> None:
    """The flow lasts what was asked, and the receiver's samples lead to its total."""
    ours, theirs = ends(out, f"timed-{direction}")
    client, other = record(ours, "f"), record(theirs, "f")
    assert client["end_s"] - client["start_s"] == pytest.approx(0.95, abs=MS)
    # The reset waits in the queue behind the last data.
    assert other["end_s"] == pytest.approx(client["end_s"], abs=QUEUE_S + MS)
    receiving, sender = (theirs, client) if direction == "up" else (ours, other)
    receiver = record(receiving, "f")
    series = [entry for entry in receiving if entry["id"] == "f" and entry["event"] == "sample"]
    assert len(series) == 9
    for number, sample in enumerate(series, 1):
        assert sample["t_s"] - receiver["start_s"] == pytest.approx(0.1 * number, abs=MS)
    counts = [sample["bytes"] for sample in series]
    assert counts[0] > 0 and counts == sorted(counts) and counts[-1] <= receiver["bytes"]
    # The reset loses what was received and not read, and acknowledgements on their way.
    assert sender["bytes"] == pytest.approx(receiver["bytes"], rel=0.05)
    assert 0.5 * RATE_MBPS <= receiver["bytes"] * 8e-6 / 0.95 <= RATE_MBPS


def test_a_flow_that_starved_has_no_error(out: Path) -> None:
    """But whoever started it is told."""
    assert (out / "starved.status").read_text() == "1\n"
    assert "flow s: no connection within its time" in (out / "starved.said").read_text()
    found = record(lines(out / "starved.client"), "s")
    assert (found["bytes"], found["connected_s"], found["error"]) == (0, None, None)


def test_flow_starts_when_told(out: Path) -> None:
    """--start-at is a moment of CLOCK_MONOTONIC."""
    moment = float((out / "told.moment").read_text())
    flow = record(ends(out, "told")[0], "f")
    assert moment <= flow["start_s"] <= moment + MS


def test_one_server_serves_many_flows_at_once(out: Path) -> None:
    """Thirty flows of both kinds and directions, at the same time."""
    entries = lines(out / "many.server")
    for number in range(30):
        client = record(lines(out / f"many.{number}"), f"f{number}")
        for flow in (record(entries, f"f{number}"), client):
            assert flow["error"] is None
            assert flow["bytes"] > 0 if number % 3 else flow["bytes"] == 200_000


def test_one_process_makes_all_listed_flows(out: Path) -> None:
    """A hundred arrivals of both directions: each at its time, whole, with both ends' records."""
    origin = float((out / "listed.moment").read_text())
    ours, theirs = ends(out, "listed")
    for name, direction, size, offset in ARRIVALS:
        client, other = record(ours, name), record(theirs, name)
        assert client["bytes"] == other["bytes"] == size
        assert client["dir"] == other["dir"] == direction
        assert client["side"] == ("sender" if direction == "up" else "receiver")
        assert client["error"] is None and client["end_s"] is not None
        assert origin + offset - 1e-6 <= client["start_s"] <= origin + offset + MS
    assert len(ours) == len(theirs) == len(ARRIVALS)


def test_an_interrupted_list_reports_every_flow(out: Path) -> None:
    """One ends, one is cut short, one had not begun: three records."""
    entries, _ = ends(out, "cut-list")
    assert record(entries, "done")["end_s"] is not None
    assert record(entries, "short")["end_s"] is None and record(entries, "short")["bytes"] > 0
    assert record(entries, "later")["start_s"] is None


@pytest.mark.parametrize("direction", ["up", "down"])
@pytest.mark.parametrize("size", ["--seconds", "--bytes"])
def test_interrupted_flow_has_no_end(out: Path, direction: str, size: str) -> None:
    """SIGTERM at the client writes what is known; the server's record follows the reset."""
    ours, theirs = ends(out, f"cut-{direction}-{size}")
    flow, other = record(ours, "f"), record(theirs, "f")
    assert flow["end_s"] is None and flow["error"] is None and flow["bytes"] > 0
    assert other["bytes"] > 0 and other["error"] is None
    assert (other["end_s"] is None) == (size == "--bytes")


@pytest.mark.parametrize("direction", ["up", "down"])
def test_a_quic_flow_fills_the_link(out: Path, direction: str) -> None:
    """With NewReno over a queue of a round trip, more than 0.9 of what the link carries, as TCP's
    sawtooth would (a queue of the bandwidth-delay product is never empty). Payload counts once."""
    ours, theirs = ends(out, f"quic-{direction}")
    client, other = record(ours, "q"), record(theirs, "q")
    sender, receiver = (client, other) if direction == "up" else (other, client)
    assert client["end_s"] - client["start_s"] == pytest.approx(20, abs=MS)
    carried = 10e6 / 8 * 20 * (1200 - 32) / (1200 + 28 + 14)
    assert 0.9 * carried < receiver["bytes"] < carried
    # What is not acknowledged yet is at most two windows.
    assert 0 <= receiver["bytes"] - sender["bytes"] < 2 * (20e-3 * 10e6 / 8 + 40 * 1200)
    assert sender["retrans"] > 0 and sender["mss"] == 1200 - 32
    assert (sender["segments"] - sender["retrans"]) * 1168 >= receiver["bytes"]
    assert sender["ignored"] == receiver["ignored"] == 0
    rtts = [us for entry in (*ours, *theirs) if entry["event"] == "rtts" for us in entry["us"]]
    assert min(rtts) >= 20_000 and max(rtts) <= 20_000 + 40 * 1242 * 8 / 10 + 25_000


def test_a_quic_receiver_takes_no_more_than_its_window(out: Path) -> None:
    """10 chunks of 1000 bytes a round trip of 20 ms and a packet's time: about 3.8 Mb/s."""
    found = record(ends(out, "quic-window")[1], "q")
    round_trip_s = 0.02 + (1032 + 28 + 14) * 8 / 10e6
    assert found["bytes"] == pytest.approx(10 * 1000 * 5 / round_trip_s, rel=0.1)


def test_a_quic_flow_finds_what_is_lost(out: Path) -> None:
    """5 % of all packets, ACKs too, are lost at random: as many are sent again; no hole stays."""
    ours, theirs = ends(out, "quic-loss")
    sender, receiver = record(ours, "q"), record(theirs, "q")
    assert 1 - receiver["segments"] / sender["segments"] == pytest.approx(0.05, abs=0.015)
    assert sender["retrans"] / sender["segments"] == pytest.approx(0.05, abs=0.015)
    assert receiver["bytes"] > 0.9 * (receiver["segments"] * 1168)


def test_a_quic_flow_that_starved_has_no_error(out: Path) -> None:
    assert (out / "quic-starved.status").read_text() == "1\n"
    assert "flow s: no connection within its time" in (out / "quic-starved.said").read_text()
    found = record(lines(out / "quic-starved.client"), "s")
    assert (found["bytes"], found["connected_s"], found["error"]) == (0, None, None)


def test_server_writes_unfinished_flows_at_sigterm(out: Path) -> None:
    """A flow cut short by the server's end has no end there and failed at the client."""
    ours, theirs = ends(out, "cut-server", status=1)
    flow = record(theirs, "f")
    assert flow["end_s"] is None and flow["bytes"] > 0
    assert "closed by the server" in (out / "cut-server.said").read_text()
    assert "closed by the server" in record(ours, "f")["error"]


def test_pulse_keeps_its_schedule(out: Path) -> None:
    """20 datagrams of 160 bytes, one each 20 ms, are 3200 bytes in 19 intervals."""
    sent, received = (record(entries, "p") for entries in ends(out, "pulse"))
    assert sent["bytes"] == received["bytes"] == 3200
    for end in (sent, received):
        assert end["end_s"] - end["first_byte_s"] == pytest.approx(19 * 0.02, abs=MS)
        assert end["retrans"] is None and end["error"] is None


def test_the_receiver_of_a_pulse_knows_how_long_each_datagram_took(out: Path) -> None:
    """Held up for 0.3 s, 5 ms after the first of 100 datagrams that leave every 10 ms: the next
    ones waited for what was left of it. Each is written down once, before the flow's own line."""
    _, entries = ends(out, "held-up")
    delays = [us for entry in entries if entry["event"] == "delays" for us in entry["us"]]
    assert len(delays) == 100 and min(delays) >= 0
    for number in range(1, 30):
        assert delays[number] == pytest.approx(305_000 - number * 10_000, abs=1000)
    assert max([delays[0], *delays[31:]]) < 1000
    assert entries[-1]["event"] == "flow"


def test_a_sender_knows_its_round_trip_time(out: Path) -> None:
    """Five samples a second: of 1.9 s nine. A packet of a window of 64 KiB waits for 20 ms of
    delay, and in the link's queue for at most the rest of its window."""
    ours, theirs = ends(out, "far")
    assert not [entry for entry in theirs if entry["event"] == "rtts"]
    samples = [us for entry in ours if entry["event"] == "rtts" for us in entry["us"]]
    assert len(samples) == 9
    for us in samples:
        assert 20_000 <= us <= 20_000 + (QUEUE_S + MS) * 1e6
    assert {entry["side"] for entry in ours} == {"sender"}


def test_a_ping_takes_both_ways(out: Path) -> None:
    """20 ms there, and nothing but its own 92 bytes at 200 Mb/s back; the server
    times the way there."""
    (ours,) = (lines(out / "ping.client"),)
    sent, answered = (entry for entry in ours if entry["event"] == "flow")
    assert (sent["side"], answered["side"]) == ("sender", "receiver")
    assert sent["bytes"] == answered["bytes"] == 640
    records = [entry for entry in ours if entry["event"] == "delays"]
    # Four answers come in the first 0.1 s, at 20, 40, 60 and 80 ms; the fifth of them closes it.
    assert [len(entry["us"]) for entry in records] == [4, 5, 1]
    delays = [us for entry in records for us in entry["us"]]
    for us in delays:
        assert us == pytest.approx(20_000 + 2 * 106 * 8 / RATE_MBPS, abs=MS * 1e6)
    turned = [entry for entry in lines(out / "far.server") if entry["id"] == "p"]
    assert {entry["side"] for entry in turned} == {"turn"}
    there = [us for entry in turned if entry["event"] == "delays" for us in entry["us"]]
    back = [us for entry in ours if entry["event"] == "returns" for us in entry["us"]]
    assert len(there) == len(back) == len(delays)
    for us, way_there, way_back in zip(delays, there, back, strict=True):
        assert us == pytest.approx(way_there + way_back, abs=2)
        assert way_there == pytest.approx(20_000 + 106 * 8 / RATE_MBPS, abs=MS * 1e6)


def test_a_frame_takes_as_long_as_its_slowest_datagram(out: Path) -> None:
    """20 frames of three datagrams: the third waits for the two before it, 51 us each."""
    ours, theirs = ends(out, "frames")
    assert record(ours, "p")["bytes"] == record(theirs, "p")["bytes"] == 20 * 3 * 1250
    delays = [us for entry in theirs if entry["event"] == "delays" for us in entry["us"]]
    assert len(delays) == 20
    for us in delays:
        assert us == pytest.approx(20_000 + 3 * 1292 * 8 / RATE_MBPS, abs=20)


def test_a_page_waits_for_the_one_before(out: Path) -> None:
    """Two objects at once, then a page 0.2 s after both are there."""
    found, theirs = ends(out, "paged")
    first, second, last = (record(found, name) for name in ("a.1", "a.2", "b"))
    assert first["bytes"] == 9000 and second["bytes"] == 500_000 and last["bytes"] == 100
    assert first["start_s"] == pytest.approx(second["start_s"], abs=MS)
    there_s = max(first["end_s"], second["end_s"])
    assert there_s + 0.2 <= last["start_s"] <= there_s + 0.2 + MS
    assert record(theirs, "a.1")["segments"] > 0


def test_a_talker_speaks_in_spurts(out: Path) -> None:
    """Two datagrams, silence, one more: at 0.1, 0.15 and 0.6 s."""
    sent, received = (record(entries, "p") for entries in ends(out, "talker"))
    assert sent["bytes"] == received["bytes"] == 300
    assert sent["first_byte_s"] - sent["start_s"] == pytest.approx(0.1, abs=MS)
    assert sent["end_s"] - sent["start_s"] == pytest.approx(0.6, abs=MS)


def test_nothing_polls(out: Path) -> None:
    """An idle server, a waiting client and a sender whose peer does not read sleep for 30 s."""
    before = (out / "idle.before").read_text()
    assert len(before.splitlines()) == 3 * 3
    assert (out / "idle.after").read_text() == before
