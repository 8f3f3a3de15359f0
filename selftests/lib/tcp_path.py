# SPDX-License-Identifier: GPL-2.0-only
"""A path between two of the kernel's own TCPs: a queue with a rate, a delay, losses.

Principle: sender, router and receiver are namespaces with sysctls and counters of their own.
The router's queue towards the receiver has the rate, the limit and the random losses, its queue
towards the sender the whole round trip, so that the limit counts waiting packets only
(tc-netem(8)). In the lab's virtual time nothing else takes time. One packet is one segment:
segmentation offload is off at the sender, GRO is a choice at the receiver.
"""

from __future__ import annotations

import ctypes
import os
import random
import socket
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from lab_network import Broken, run

SENDER, ROUTER, RECEIVER = "sender", "router", "receiver"
PORT = 7000
CHUNK = 1 << 16
BUFFERS = "4096 131072 8388608"
IPPROTO_MPTCP = 262
# Of the sender: what a withheld ACK could cause. Of both: what crosses the path.
COUNTERS = (
    "TCPTimeouts", "TCPLossProbes", "TCPSpuriousRTOs", "TCPDSACKRecv", "TCPDSACKOldSent",
    "RetransSegs", "OutSegs", "InSegs", "TCPAcksWithheld", "TCPRcvCoalesce",
)  # fmt: skip


@dataclass(frozen=True)
class Link:
    """rate_mbps and limit (packets) of the bottleneck, rtt_ms of the empty path, loss in
    percent of data (drop_every()) and at random of ACKs; `buffer`: the receiver's SO_RCVBUF;
    `gro` there; `batch_ms`: the bottleneck sends in bursts that far apart, as an
    aggregating radio does."""

    rate_mbps: float = 100
    rtt_ms: float = 20
    limit: int = 300
    loss: float = 0
    ack_loss: float = 0
    gro: bool = False
    buffer: int = 0
    batch_ms: float = 0


@dataclass(frozen=True)
class Skip:
    """The receiver's sysctls."""

    skip: int = 0
    every: int = 2
    after: int = 64
    ramp: int = 0


@dataclass(frozen=True)
class Transfer:
    """One transfer: seconds from connect() to its last byte, counters of both ends."""

    bytes: int
    seconds: float
    sender: Mapping[str, int] = field(default_factory=dict)
    receiver: Mapping[str, int] = field(default_factory=dict)

    @property
    def timeouts(self) -> int:
        return self.sender["TCPTimeouts"]

    @property
    def dsacks(self) -> int:
        """D-SACKs the sender got: each tells of a segment that was sent in vain."""
        return self.sender["TCPDSACKRecv"]


_libc = ctypes.CDLL(None, use_errno=True)


@contextmanager
def namespace(name: str) -> Iterator[None]:
    """Sockets made and counters read here are those of the namespace."""
    home = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    there = os.open(f"/run/netns/{name}", os.O_RDONLY)
    try:
        if _libc.setns(there, 0):
            raise Broken(f"setns {name}: {os.strerror(ctypes.get_errno())}")
        yield
    finally:
        _libc.setns(home, 0)
        os.close(there)
        os.close(home)


def counters(name: str) -> dict[str, int]:
    """The namespace's own, those of COUNTERS."""
    found: dict[str, int] = {}
    with namespace(name):
        for table in ("netstat", "snmp"):
            lines = Path(f"/proc/thread-self/net/{table}").read_text().splitlines()
            for names, values in zip(lines[::2], lines[1::2], strict=True):
                if names.startswith(("Tcp:", "TcpExt:")):
                    found |= zip(names.split()[1:], map(int, values.split()[1:]), strict=True)
    return {counter: found.get(counter, 0) for counter in COUNTERS}


def sysctl(name: str, **values: object) -> None:
    """net.ipv4.NAME of a namespace."""
    with namespace(name):
        for key, value in values.items():
            Path(f"/proc/sys/net/ipv4/{key}").write_text(f"{value}\n")


def build() -> None:
    """sender - router - receiver, no limits yet."""
    for name in (SENDER, ROUTER, RECEIVER):
        subprocess.run(["ip", "netns", "del", name], capture_output=True)
        run("ip", "netns", "add", name)
    for name, near, far, subnet in ((SENDER, "s0", "rs", 1), (RECEIVER, "d0", "rr", 2)):
        run("ip", "link", "add", near, "netns", name, "type", "veth", "peer", "name", far,
            "netns", ROUTER)  # fmt: skip
        run("ip", "-n", name, "addr", "add", f"10.8.{subnet}.2/24", "dev", near)
        run("ip", "-n", ROUTER, "addr", "add", f"10.8.{subnet}.1/24", "dev", far)
        run("ip", "-n", name, "link", "set", near, "up")
        run("ip", "-n", ROUTER, "link", "set", far, "up")
        run("ip", "-n", name, "route", "add", "default", "via", f"10.8.{subnet}.1")
        for end, device in ((name, near), (ROUTER, far)):
            run("ip", "netns", "exec", end, "ethtool", "-K", device, "tso", "off", "gso", "off")
    sysctl(ROUTER, ip_forward=1)
    for name in (SENDER, RECEIVER):
        sysctl(name, tcp_rmem=BUFFERS, tcp_wmem=BUFFERS, tcp_no_metrics_save=1)


def shape(path: Link) -> None:
    """Make the path so."""
    words = f"rate {path.rate_mbps * 1e6:.0f}bit limit {path.limit}"
    words += f" slot {path.batch_ms}ms {path.batch_ms}ms" if path.batch_ms else ""
    run("tc", "-n", ROUTER, "qdisc", "replace", "dev", "rr", "root", "netem", *words.split())
    lose_acks(path, 0)
    gro = "on" if path.gro else "off"
    run("ip", "netns", "exec", RECEIVER, "ethtool", "-K", "d0", "gro", gro)
    for name, value in (("gro_flush_timeout", 300_000), ("napi_defer_hard_irqs", 100)):
        knob = f"/sys/class/net/d0/{name}"
        run(
            "ip", "netns", "exec", RECEIVER, "sh", "-c", f"echo {value if path.gro else 0} > {knob}"
        )


def lose_acks(path: Link, percent: float) -> None:
    """Lose so many of the ACKs from here on."""
    words = f"delay {path.rtt_ms}ms limit 100000"
    words += f" loss {percent}%" if percent else ""
    run("tc", "-n", ROUTER, "qdisc", "replace", "dev", "rs", "root", "netem", *words.split())


def drop_every(periods: Sequence[int]) -> None:
    """Drop each n-th data packet on its way into the router, for each of the periods n.

    Counted anew from here: two transfers after two calls lose the same packets, so that what
    differs between them is not their luck.
    """
    subprocess.run(["tc", "-n", ROUTER, "qdisc", "del", "dev", "rs", "clsact"], capture_output=True)
    if not periods:
        return
    run("tc", "-n", ROUTER, "qdisc", "add", "dev", "rs", "clsact")
    words = [f"action gact pipe random determ drop {period}" for period in periods]
    run("tc", "-n", ROUTER, "filter", "add", "dev", "rs", "ingress", "matchall",
        *" ".join(words).split())  # fmt: skip


def periods(percent: float, seed: int, count: int = 6) -> list[int]:
    """For drop_every(): losses of so many percent in all. Of many periods that have nothing to
    do with each other, the intervals between losses are near to random ones (Palm-Khinchin)."""
    if not percent:
        return []
    rng = random.Random(seed)
    shares = [rng.uniform(0.3, 1.7) for _ in range(count)]
    return [round(100 * sum(shares) / share / percent) for share in shares]


def configure(skip: Skip) -> None:
    """The receiver's sysctls."""
    sysctl(RECEIVER, tcp_ack_every=skip.every, tcp_ack_skip=skip.skip,
           tcp_ack_skip_after=skip.after, tcp_ack_skip_ramp=skip.ramp)  # fmt: skip


def transfer(path: Link, size: int, congestion: str, protocol: int = 0) -> Transfer:
    """Send `size` bytes by one new connection; the receiver reads as they come.

    ACKs are lost from its start on, but not the SYN/ACK, which skipping has no say in.
    """
    before = {name: counters(name) for name in (SENDER, RECEIVER)}
    with namespace(RECEIVER):
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, protocol)
    with namespace(SENDER):
        source = socket.socket(socket.AF_INET, socket.SOCK_STREAM, protocol)
    with listener, source:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if path.buffer:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, path.buffer)
        listener.bind(("", PORT))
        listener.listen()
        source.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion.encode())
        start = time.monotonic()
        writer = threading.Thread(target=_send, args=(source, size), daemon=True)
        writer.start()
        accepted, _ = listener.accept()
        if path.ack_loss:
            lose_acks(path, path.ack_loss)
        left = size
        with accepted:
            while left and (data := accepted.recv(CHUNK)):
                left -= len(data)
            seconds = time.monotonic() - start
            writer.join()
        if path.ack_loss:
            lose_acks(path, 0)
        if left:
            raise Broken(f"{left} of {size} bytes did not arrive")
    time.sleep(2)  # for the last segments: the next transfer's counters are its own
    after = {name: counters(name) for name in (SENDER, RECEIVER)}
    told = {
        name: {key: after[name][key] - before[name][key] for key in COUNTERS}
        for name in (SENDER, RECEIVER)
    }
    return Transfer(size, seconds, told[SENDER], told[RECEIVER])


def _send(source: socket.socket, size: int) -> None:
    source.connect(("10.8.2.2", PORT))
    data = bytes(CHUNK)
    while size:
        size -= source.send(data[: min(size, CHUNK)])
    source.shutdown(socket.SHUT_WR)
