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
from apbed.processes import IDLE_S, ProcessorTime
from tests.grid import grid_files, laboratory, machines

CPUS = 2
BOOT_S = 300.0  # processor seconds of a machine
LOOK_S = 2.0
LEAD = "192.0.2.1"  # QEMU's end of the network to the nodes
Nodes = Mapping[str, tuple[str, int]]


@contextlib.contextmanager
def cell(kernel: DistroKernel, place: Path, stations: int) -> Iterator[Nodes]:
    """The nodes by name, each at (address, port) of its sshd; consoles in PLACE/MACHINE.log."""
    grid_files.keys(laboratory.programs(), place)
    names = ["ap", *(f"sta{number}" for number in range(1, stations + 1))]
    air, host = {name: free_port() for name in names}, {"wired": free_port()}
    started: dict[Path, subprocess.Popen[str]] = {}
    one, other = socket.socketpair()
    with one, other, contextlib.ExitStack() as stack:
        for name, ports, wire in (("air", air, one), ("host", host, other)):
            console = place / f"{name}.log"
            started[console] = stack.enter_context(machine(kernel, console, ports, wire))
        for console, process in started.items():
            wait_until_ready(console, process)
        yield {name: ("127.0.0.1", port) for name, port in (air | host).items()}


@contextlib.contextmanager
def machine(
    kernel: DistroKernel, console: Path, ports: Mapping[str, int], wire: socket.socket
) -> Iterator[subprocess.Popen[str]]:
    """Nodes in one machine, each reached by a port of 127.0.0.1. Its eth1 is the wire."""
    words = ["/usr/bin/python3", str(REPOSITORY / "tests/grid/emulated_machine.py")]
    words += [str(console.parent), str(laboratory.programs()), *ports]
    kept = [wire.fileno()]
    devices = network(ports, wire.fileno())
    with (
        console.open("w") as log,
        shared_root.started(kernel, words, CPUS, devices, inherited=kept, console=log) as process,
    ):
        yield process


def network(ports: Mapping[str, int], wire: int) -> list[str]:
    """eth0 leads to the lead, eth1 to the other machine by a file descriptor."""
    forward = [
        f"hostfwd=tcp:127.0.0.1:{port}-{machines.address(name)}:22" for name, port in ports.items()
    ]
    user = [
        "user",
        "id=lead",
        "net=192.0.2.0/24",
        "ipv6=off",
        f"host={LEAD}",
        "restrict=on",
        *forward,
    ]
    return [
        *("-netdev", ",".join(user), "-device", "virtio-net-pci,netdev=lead"),
        *("-netdev", f"socket,id=wire,fd={wire}"),
        *("-device", f"virtio-net-pci,netdev=wire,mac=52:54:00:00:01:{wire % 256:02x}"),
    ]


def free_port() -> int:
    """A port of this host's that nothing uses now."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def wait_until_ready(console: Path, process: subprocess.Popen[str]) -> None:
    """RuntimeError with the end of the console if a machine does not start."""
    work = ProcessorTime(process.pid)
    while "nodes are ready" not in (said := console.read_text(errors="replace")):
        stuck = work.used_s() > BOOT_S or work.idle_s() > IDLE_S
        if stuck or process.poll() is not None or shared_root.STATUS in said:
            raise RuntimeError(f"{console.stem} does not start: {said[-1000:]}")
        time.sleep(LOOK_S)


def states(place: Path, nodes: Nodes) -> machines.States:
    """What a run may change, by node."""
    return {
        name: machines.lines_of(ssh(place, *where, machines.STATE + PROCESSES))
        for name, where in nodes.items()
    }


# Everything in the node's network but sshd and this script. Few programs: each takes long here.
PROCESSES = """\
ls -l /proc/[0-9]*/ns/net 2> /dev/null |
	awk -v ours="$(readlink /proc/self/ns/net)" \\
		'$NF == ours { split($(NF - 2), part, "/"); print part[3] }' |
	while read -r pid; do
		echo "process $(cat "/proc/$pid/comm")"
		tr '\\0' ' ' < "/proc/$pid/cmdline" | grep -o ' node.sh '
	done 2> /dev/null | grep -vxE 'process (sshd|sh|ls|awk|cat|grep|sort|)' | sort
"""


def ssh(place: Path, address: str, port: int, script: str) -> str:
    """What a script says on a node."""
    words = ["ssh", "-F", str(place / "ssh_config"), "-p", str(port), f"root@{address}", "sh", "-s"]
    done = subprocess.run(words, input=script, capture_output=True, text=True, check=True)
    return done.stdout
