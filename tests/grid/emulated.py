# SPDX-License-Identifier: GPL-2.0-only
"""Stock kernels in two QEMU machines: the cell's air in one, the wired host in the other.

Principle: the wire between them is a socket pair of the host's, which each machine sees as a
network device. The lead is this process: QEMU's own network leads from a port of 127.0.0.1 to each
node's sshd. In one machine are the access point and all stations, because nothing carries frames
of mac80211_hwsim from machine to machine. Two processors each, so time is the host's.
"""

from __future__ import annotations

import contextlib
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from apbed.checkout import REPOSITORY
from apbed.kernels import shared_root
from apbed.kernels.distro import DistroKernel
from tests.grid import grid_files, laboratory, machines

CPUS = 2
BOOT_S = 300.0
LOOK_S = 2.0
LEAD = "192.0.2.1"  # QEMU's end of the network to the nodes
Nodes = Mapping[str, tuple[str, int]]


@contextlib.contextmanager
def cell(kernel: DistroKernel, place: Path, stations: int) -> Iterator[Nodes]:
    """The nodes by name, each at (address, port) of its sshd; consoles in PLACE/MACHINE.log."""
    root = laboratory.programs()
    grid_files.keys(root, place)
    on = {"air": ["ap", *(f"sta{one}" for one in range(1, stations + 1))], "host": ["wired"]}
    nodes = {name: ("127.0.0.1", free_port()) for names in on.values() for name in names}
    ends = socket.socketpair()
    with contextlib.ExitStack() as stack:
        for (machine, names), end in zip(on.items(), ends, strict=True):
            stack.enter_context(end)
            words = ["/usr/bin/python3", str(REPOSITORY / "tests/grid/emulated_machine.py")]
            words += [str(place), str(root), *names]
            console = stack.enter_context((place / f"{machine}.log").open("w"))
            stack.enter_context(
                shared_root.started(
                    kernel,
                    words,
                    CPUS,
                    devices(machine, {name: nodes[name][1] for name in names}, end.fileno()),
                    inherited=[end.fileno()],
                    console=console,
                )
            )
        for machine in on:
            wait_until_ready(place / f"{machine}.log")
        yield nodes


def devices(machine: str, ports: Mapping[str, int], wire: int) -> list[str]:
    """eth0 leads to the lead, eth1 is the wire, a file descriptor; ports lead to the nodes."""
    forward = [
        f"hostfwd=tcp:127.0.0.1:{port}-{machines.address(name)}:22" for name, port in ports.items()
    ]
    user = ["user", "id=lead", "net=192.0.2.0/24", f"host={LEAD}", "restrict=on", *forward]
    number = len(machine)  # another for each machine
    return [
        *("-netdev", ",".join(user)),
        *("-device", f"virtio-net-pci,netdev=lead,mac=52:54:00:00:00:{number:02x}"),
        *("-netdev", f"socket,id=wire,fd={wire}"),
        *("-device", f"virtio-net-pci,netdev=wire,mac=52:54:00:00:01:{number:02x}"),
    ]


def free_port() -> int:
    """A port of this host's that nothing uses now."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def wait_until_ready(console: Path) -> None:
    """RuntimeError with the end of the console if a machine does not start."""
    until = time.monotonic() + BOOT_S
    while "nodes are ready" not in (said := console.read_text(errors="replace")):
        if time.monotonic() > until or shared_root.STATUS in said:
            raise RuntimeError(f"{console.stem} does not start: {said[-1000:]}")
        time.sleep(LOOK_S)


def states(place: Path, nodes: Nodes) -> machines.States:
    """What a run may change, by node."""
    return {
        name: machines.lines_of(ssh(place, *where, machines.STATE + PROCESSES))
        for name, where in nodes.items()
    }


# Everything in the node's network but sshd and this script.
PROCESSES = """\
ours=$(readlink /proc/self/ns/net)
for at in /proc/[0-9]*; do
	[ "$(readlink "$at/ns/net")" != "$ours" ] || echo "process $(cat "$at/comm")"
done 2> /dev/null | grep -vxE 'process (sshd|sh|cat|)' | sort
"""


def ssh(place: Path, address: str, port: int, script: str) -> str:
    """What a script says on a node."""
    words = ["ssh", "-F", str(place / "ssh_config"), "-p", str(port), f"root@{address}", "sh", "-s"]
    done = subprocess.run(words, input=script, capture_output=True, text=True, check=True)
    return done.stdout
