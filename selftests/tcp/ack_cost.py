#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""What the ACK-skip series costs where it is off: processor time of transfers beside stock (KTAP).

Principle: the lab kernel is an ordinary process, so the host accounts for all of its work. A stock
and a patched kernel move the same bytes at the same time, and only the ratio within such a pair
is used: what else the machine does meets both. Each segment is
one packet (no GSO, no GRO), so that every one passes the decisions about its ACK. The time of a
boot without a transfer is taken off. The confidence interval is the order statistics' own of a
median (David and Nagaraja, Order Statistics, 7.1): it assumes no distribution. It fails if all of
the interval is above MOST, and also if it is wider than UNDECIDED, as it then tells nothing: on a
busy machine, or of too few or too short transfers.

Usage: ack_cost.py [--kernel V] [--pairs N] [--megabytes M] [--skip K] [--against stock|patched]
"""

from __future__ import annotations

import argparse
import os
import socket
import statistics
import subprocess
import sys
from math import comb
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))

from ktap import Ktap

APBED = os.environ.get("APBED", ".venv/bin/apbed")
CHUNK = bytes(1 << 18)
PORT = 7001
CONNECTION_MB = 64
# Of stock's processor time. What is added where it is off, some 20 instructions for a segment that
# takes 3 us, is less than this.
MOST = 1.01
# Width of the interval, so that what passes costs 3 % at most. On a busy machine, 12 ratios of one
# kernel beside itself had a standard deviation of 0.023, which makes it 0.019 wide of 40 pairs.
UNDECIDED = 0.02
CONFIDENCE = 0.95  # fewer than six pairs never have it
SO_RCVBUFFORCE, RECEIVE_BUFFER = 33, 1 << 26


def connect(listener: socket.socket) -> None:
    """One connection's bytes. Late in a long one the reader always has the socket, and the
    backlog merges segments before anything is decided."""
    if not os.fork():
        with socket.create_connection(("127.0.0.1", PORT)) as sender:
            for _ in range((CONNECTION_MB << 20) // len(CHUNK)):
                sender.sendall(CHUNK)
        os._exit(0)
    connection, _ = listener.accept()
    got = 0
    buffer = bytearray(len(CHUNK))
    while count := connection.recv_into(buffer):
        got += count
    os.wait()
    if got != CONNECTION_MB << 20:
        raise RuntimeError(f"{got} bytes came")


def transfer(megabytes: int, skip: int) -> None:
    """In the guest: that much over the loopback, an Ethernet packet at a time."""
    if skip:
        Path("/proc/sys/net/ipv4/tcp_ack_skip").write_text(f"{skip}\n")
    # Each second segment has its ACK if time passes between them and the window stays open.
    for command in (
        "ip link set dev lo up mtu 1500 gso_max_segs 1",
        "tc qdisc add dev lo root netem delay 1ms limit 10000",
    ):
        subprocess.run(command.split(), check=True)
    listener = socket.create_server(("127.0.0.1", PORT))
    listener.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, RECEIVE_BUFFER)
    for _ in range(0, megabytes, CONNECTION_MB):
        connect(listener)
    counters = [line.split() for line in Path("/proc/net/snmp").read_text().splitlines()]
    names, values = (row for row in counters if row[0] == "Tcp:")
    tcp = dict(zip(names[1:], map(int, values[1:]), strict=True))
    print(f"{tcp['InSegs']} segments, {tcp['RetransSegs']} again")


def start(kernel: str, kind: str, megabytes: int, skip: int) -> subprocess.Popen[bytes]:
    """One boot and transfer."""
    stock = ["--stock"] if kind == "stock" else []
    guest = [__file__, "--guest", f"--megabytes={megabytes}", f"--skip={skip}"]
    command = [APBED, "boot", "--kernel", kernel, "--seed", "1", *stock]
    return subprocess.Popen(
        [*command, "--", "/usr/bin/python3", *guest],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def cpu_s(process: subprocess.Popen[bytes]) -> float:
    """Processor seconds of it and its children, once it has ended."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{process.args!r}: status {process.returncode}")
    return usage.ru_utime + usage.ru_stime


def pair_s(number: int, kernel: str, megabytes: int, kinds: list[tuple[str, int]]) -> list[float]:
    """Processor seconds of both `kinds` (kernel, tcp_ack_skip) at the same time."""
    order = (0, 1) if number % 2 else (1, 0)
    processes = {i: start(kernel, kinds[i][0], megabytes, kinds[i][1]) for i in order}
    return [cpu_s(processes[i]) for i in (0, 1)]


def median_interval(sample: list[float]) -> tuple[float, float, float]:
    """The two order statistics that hold the median at least so often, and how often."""
    ordered, n = sorted(sample), len(sample)
    outside = 0.0
    low = 0
    while low < n // 2:
        more = outside + 2 * comb(n, low) / 2**n
        if more > 1 - CONFIDENCE:
            break
        outside, low = more, low + 1
    low = max(low - 1, 0)
    return ordered[low], ordered[n - 1 - low], 1 - (outside or 2 / 2**n)


def judge(ratios: list[float]) -> tuple[str, list[str]]:
    """The figures, and what does not hold."""
    low, high, sure = median_interval(ratios)
    figures = f"median {statistics.median(ratios):.4f}, {low:.4f} to {high:.4f}"
    figures += f" with {100 * sure:.0f} % confidence, {len(ratios)} pairs"
    wrong = []
    if sure < CONFIDENCE:
        wrong.append("undecided: too few pairs")
    elif low > MOST:
        wrong.append(f"it costs more than {MOST:g}")
    elif high - low > UNDECIDED:
        wrong.append(f"undecided: {high - low:.4f} wide, more than {UNDECIDED:g}")
    return figures, wrong


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kernel", default="6.1")
    parser.add_argument("--pairs", type=int, default=40)
    parser.add_argument("--megabytes", type=int, default=2048)
    parser.add_argument("--skip", type=int, default=0)
    parser.add_argument("--against", choices=("stock", "patched"), default="stock")
    parser.add_argument("--guest", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.guest:
        transfer(args.megabytes, args.skip)
        return 0
    kinds = [(args.against, 0), ("patched", args.skip)]
    boot_s = statistics.median(
        seconds for number in range(3) for seconds in pair_s(number, args.kernel, 0, kinds)
    )
    ktap = Ktap(1)
    ratios = []
    for number in range(args.pairs):
        before, after = (s - boot_s for s in pair_s(number, args.kernel, args.megabytes, kinds))
        ratios.append(after / before)
        ktap.comment(f"{after:.3f} s / {before:.3f} s = {ratios[-1]:.4f}")
    ktap.comment(f"boot {boot_s:.2f} s, taken off each")
    figures, wrong = judge(ratios)
    ktap.result(
        not wrong, f"not shown to cost more than {MOST:g} of {args.against}", figures, *wrong
    )
    return ktap.end()


if __name__ == "__main__":
    sys.exit(main())
