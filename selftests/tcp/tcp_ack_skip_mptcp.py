#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""MPTCP's ACKs are skipped like TCP's (KTAP).

Runs as root in a lab kernel with the ACK-skip series. MPTCP reads its subflows by itself and
asks TCP for ACKs by a condition of its own (mptcp_subflow_could_cleanup()); TCP then decides. The
same bytes over the same path must come with as many segments per ACK as TCP's.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))

import ack_skip
from ktap import Ktap, skip_all
from lab_network import Broken
from tcp_path import (
    IPPROTO_MPTCP,
    RECEIVER,
    Link,
    Skip,
    build,
    configure,
    namespace,
    shape,
    transfer,
)

SIZE = 20_000_000
PATH = Link(rate_mbps=100, rtt_ms=0, limit=1000, buffer=200_000)  # the window is full, no loss
CONTROL = "cubic"


def subflows() -> int:
    """MPTCP connections the receiver has accepted so far."""
    with namespace(RECEIVER):
        lines = Path("/proc/thread-self/net/netstat").read_text().splitlines()
    for names, values in zip(lines[::2], lines[1::2], strict=True):
        if names.startswith("MPTcpExt:"):
            return int(values.split()[names.split().index("MPCapableACKRX")])
    raise Broken("this kernel has no MPTCP")


def per_ack(skip: int, protocol: int) -> float:
    """Segments per ACK of a whole transfer, start and end included."""
    configure(Skip(skip, after=0))
    before = subflows()
    done = transfer(PATH, SIZE, CONTROL, protocol)
    if (subflows() > before) != (protocol == IPPROTO_MPTCP):
        raise Broken("not the protocol that was asked for")
    return done.receiver["InSegs"] / done.receiver["OutSegs"]


def main() -> int:
    if reason := ack_skip.why_not():
        return skip_all(reason)
    skips = (0, 1, 3, 7)
    ktap = Ktap(len(skips))
    build()
    shape(PATH)
    base = 0.0
    for skip in skips:
        tcp, mptcp = per_ack(skip, 0), per_ack(skip, IPPROTO_MPTCP)
        base = mptcp if skip == 0 else base
        good = abs(mptcp / tcp - 1) <= 0.02 and mptcp >= base * min(skip + 1, 1.9)
        figures = f"{tcp:.2f} segments per ACK of TCP, {mptcp:.2f} of MPTCP"
        ktap.result(good, f"mptcp skip {skip}", figures)
    return ktap.end()


if __name__ == "__main__":
    sys.exit(main())
