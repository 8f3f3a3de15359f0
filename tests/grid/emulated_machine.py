# SPDX-License-Identifier: GPL-2.0-only
"""Inside a stock kernel: the nodes of this machine, until it is switched off.

    emulated_machine.py PLACE ROOT NODE...

eth0 is the network to the lead, eth1 the wire between access point and wired host.
"""

from __future__ import annotations

import contextlib
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "testbed"))

from tests.grid import machines
from tests.grid.machines import Machine, command

DRIVERS = ("virtio_net", "bridge", "veth")


def main(place: Path, root: Path, names: list[str]) -> None:
    for driver in DRIVERS:
        command("modprobe", driver)
    nodes = [Machine(place, root, name) for name in names]
    machines.bridge()
    command("ip", "link", "set", "eth0", "master", "lead", "up")
    stations = sum(name.startswith("sta") for name in names)
    with contextlib.ExitStack() as stack:
        if "ap" in names:
            stack.enter_context(machines.air(stations, ["modprobe", "mac80211_hwsim"]))
        for one in nodes:
            one.connect()
        command("ip", "link", "set", "eth1", "netns", nodes[0].name)
        stack.enter_context(machines.switched_on(nodes))
        print(f"{', '.join(names)}: nodes are ready", flush=True)
        while True:
            time.sleep(1000.0)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
