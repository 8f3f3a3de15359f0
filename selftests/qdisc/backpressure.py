#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""What each kind of Wi-Fi driver does with its packets is found out, by every qdisc with a bound.

Principle: a device that frees its packets as the driver would (kernel/inflight/tests/
emulated_driver.c) is saturated, with one queue and byte queue limits and with four queues, so
that packets are dequeued in bulk either way. What must be shown follows from the driver. No
packet may be left, no reference on the module, and no socket may be short of memory.

Run by watched.sh inside a lab kernel, where the modules are loaded:

    backpressure.py [BEHAVIOUR]...
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))

from ktap import Ktap
from lab_network import Broken, insert, run, tc

DEVICE = "emu0"
NEAR, FAR = "10.9.0.1", "10.9.0.2"
DRIVER = "inflight/tests/emulated_driver"
# By the number of queues.
KINDS = {
    1: ("inflight limit 16",),
    4: ("lasack inflight 16", "ackwrr inflight 16"),
}
PACKETS = 600  # of these 450 fill the driver's own queue: more than a chip may hold
BYTES = 1472  # a frame of 1514
STUCK_S = 60.0  # 16 packets each half second take 19 s
MOST = 0.9  # a packet that is sent by another task, or has the address of another, is missed
REFERENCES = Path("/sys/module/inflight/refcnt")


@dataclass(frozen=True)
class Driver:
    """What must come out. `early`, `lost`: whether most packets are, or none."""

    behaviour: str
    backpressure: str
    early: bool = False
    lost: bool = False


DRIVERS = (
    Driver("air", "air"),
    Driver("late", "air"),
    Driver("bus", "bus"),
    Driver("orphan", "none", early=True),
    Driver("copy", "none", early=True),
    Driver("worker", "none"),
    Driver("move", "air", lost=True),
    Driver("clone", "air", lost=True),
)


@contextmanager
def driver(behaviour: str, queues: int) -> Iterator[None]:
    """The device, up, with a peer that is never there."""
    insert(DRIVER, f"behaviour={behaviour}", f"queues={queues}")
    try:
        run("sysctl", "-qw", f"net.ipv6.conf.{DEVICE}.disable_ipv6=1")
        run("ip", "addr", "add", f"{NEAR}/24", "dev", DEVICE)
        run("ip", "link", "set", DEVICE, "up")
        run("ip", "neigh", "add", FAR, "dev", DEVICE, "lladdr", "02:00:00:00:00:02",
            "nud", "permanent")  # fmt: skip
        yield
    finally:
        run("rmmod", "emulated_driver")


def send() -> None:
    """PACKETS datagrams as fast as the socket's memory allows."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.settimeout(STUCK_S)
        for number in range(PACKETS):
            try:
                sender.sendto(bytes(BYTES), (FAR, 9))
            except TimeoutError:
                raise Broken(f"packet {number}: the socket gets no memory back") from None


def shown() -> dict[str, int | str]:
    """The statistics of the qdisc at the root."""
    words = ["tc", "-s", "-j", "qdisc", "show", "dev", DEVICE, "root"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    (qdisc,) = json.loads(done.stdout)
    return dict(qdisc)


def wait_empty() -> dict[str, int | str]:
    """The statistics when nothing is out any more."""
    deadline = time.monotonic() + STUCK_S
    while time.monotonic() < deadline:
        qdisc = shown()
        if not qdisc["in_flight"] and not qdisc["qlen"]:
            return qdisc
        time.sleep(0.05)
    raise Broken(f"still out: {qdisc['in_flight']} packets of {qdisc['tracked']}")


def findings(expected: Driver, kind: str) -> list[str]:
    """What is wrong with one qdisc above the driver."""
    references = REFERENCES.read_text()
    tc(f"qdisc replace dev {DEVICE} root handle 1: {kind}")
    send()
    qdisc = wait_empty()
    tc(f"qdisc del dev {DEVICE} root")
    time.sleep(1)  # the driver's own queue, and the tracker's grace period
    wrong = {
        "backpressure": expected.backpressure,
        "tracked": PACKETS,
        "untracked": 0,
    }
    said = [f"{name} is {qdisc[name]}, not {value}" for name, value in wrong.items()
            if qdisc[name] != value]  # fmt: skip
    for name, most in {"early": expected.early, "lost": expected.lost}.items():
        count = int(qdisc[name])
        if count < MOST * PACKETS if most else count:
            said.append(f"{name} is {count} of {PACKETS}")
    if REFERENCES.read_text() != references:
        said.append("a reference on the module is left")
    return [f"{kind}: {line}" for line in said]


def main(arguments: Sequence[str]) -> int:
    """All drivers, or those named."""
    drivers = [row for row in DRIVERS if not arguments or row.behaviour in arguments]
    ktap = Ktap(len(drivers) * len(KINDS), nested=True)
    for row in drivers:
        for queues, kinds in KINDS.items():
            said: list[str] = []
            try:
                with driver(row.behaviour, queues):
                    for kind in kinds:
                        said += findings(row, kind)
            except Broken as broken:
                said.append(str(broken))
            ktap.result(not said, f"{row.behaviour}, {queues} queues: {row.backpressure}", *said)
    return ktap.end()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
