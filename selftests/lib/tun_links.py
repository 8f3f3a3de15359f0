# SPDX-License-Identifier: GPL-2.0-only
"""Runs tests of the kernel's TCP receiver over TUN devices: IPv4 and IPv6, with GRO and without."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import ack_skip
from arguments import known
from ktap import Ktap, skip_all
from lab_network import Broken
from tcp_peer import exact_timers, open_tun

SYSCTL = Path("/proc/sys/net/ipv4")


@dataclass(frozen=True)
class Link:
    """Where a connection goes: a TUN descriptor, AF_INET or AF_INET6, the peer's port."""

    tun: int
    family: int
    port: int


class Absent(Exception):  # noqa: N818 - no error of the program
    """What this kernel does not have."""


Test = Callable[[Link], None]

VARIANTS = [(family, gro) for family in (socket.AF_INET, socket.AF_INET6) for gro in (False, True)]
ROW = 8  # tests that differ in one number only follow each other; the next row differs in another


def variant_of_turn(number: int) -> tuple[socket.AddressFamily, bool]:
    """Address family and GRO of that test if each has one link only.

    Each row begins one link later, or a column would have the same one in all of them.
    """
    return VARIANTS[(number + number // ROW) % len(VARIANTS)]


def run_over_links(tests: Sequence[tuple[str, Test]]) -> int:
    """Each test, or those named on the command line, by IPv4 and IPv6, without and with GRO."""
    turns = "--turns" in sys.argv
    wanted = known("test", [word for word in sys.argv[1:] if word != "--turns"], dict(tests))
    if reason := ack_skip.why_not():
        return skip_all(reason)
    cases = [
        (name, run, family, gro)
        for family, gro in VARIANTS
        for number, (name, run) in enumerate(tests)
        if name in wanted and (not turns or variant_of_turn(number) == (family, gro))
    ]
    ktap = Ktap(len(cases))
    exact_timers()
    tuns: dict[bool, int] = {}
    for gro in (False, True):
        name = f"tun{int(gro)}"
        tuns[gro] = open_tun(name, gro)
        Path(f"/proc/sys/net/ipv6/conf/{name}/accept_dad").write_text("0\n")
    for number, (name, run, family, gro) in enumerate(cases, 1):
        device = f"tun{int(gro)}"
        for command in (
            f"addr flush dev tun{int(not gro)}",
            f"addr replace 10.9.0.1/24 dev {device}",
            f"-6 addr replace fd09::1/64 dev {device} nodad",
            f"link set {device} up",
        ):
            subprocess.run(["ip", *command.split()], check=True)
        words = f"{name} {'ipv4' if family == socket.AF_INET else 'ipv6'}{' gro' if gro else ''}"
        try:
            run(Link(tuns[gro], family, 40000 + number))
            ktap.result(True, words)
        except Absent as what:
            ktap.skip(words, str(what))
        except Broken as problem:
            ktap.result(False, words, str(problem))
    return ktap.end()
