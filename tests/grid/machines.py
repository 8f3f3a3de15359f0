# SPDX-License-Identifier: GPL-2.0-only
"""Inside a lab kernel: nodes with sshd, radios on dcfmedium's air, and how they are broken.

Each node is a network namespace and a mount namespace with files of its own in /run. They share
the kernel, so its modules, its log and its regulatory domain are the same for all.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from apbed.checkout import BUILD
from guest.addresses import radio_address
from tests.grid.grid_files import SSH_PORT, radio

LEAD = "192.0.2.1"  # on the bridge that leads to every node's sshd
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
ADDRESSES_S = 4.0  # IPv6 has found that nobody else has its addresses
RUN_KB = 65536  # a node's /run
NO_PROGRAM = 127  # exit status

SSHD_CONFIG = """\
HostKey {keys}/host
AuthorizedKeysFile {keys}/lead.pub
ListenAddress {address}
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
PrintMotd no
SetEnv PATH={path} LD_LIBRARY_PATH={libraries}
"""
START = """\
set -e
mount -t tmpfs -o size={kb}k tmpfs /run
mkdir /run/sshd
mount --bind {keys}/passwd /etc/passwd
exec {sshd} -D -E /run/sshd/log -f {keys}/{name}.conf
"""
# What a run may have changed, as lines to compare.
STATE = """\
ip -d address show | sed -E 's/(numtxqueues|gso_max|tso_max|gro_max|group|valid_lft).*//'
ip route show table all; ip neigh show nud permanent; ip rule
tc qdisc show
iw dev; for p in /sys/class/ieee80211/*; do iw phy "${p##*/}" info | grep -i retry; done
for d in /sys/class/net/wlan*; do iw dev "${d##*/}" get power_save; done
iw reg get | head -n 2; awk '{ print "module", $1 }' /proc/modules | sort
find /run -not -path '*/sshd*' 2> /dev/null | sort
grep -rs '' /proc/sys/net
"""
# A device that was never up has no queue yet, nor its power.
WARM = (
    "for d in wlan0 wlan1 wlan2 wlan3 wlan4 eth1; do ip link set $d up && ip link set $d down; done"
)
# They change by themselves.
RESTLESS = ("/proc/sys/net/netfilter/nf_conntrack_count", "tcp_fastopen_key", "stable_secret")

States = dict[str, list[str]]


class Machine:
    """A node: sshd in namespaces of its own, at an address on the lead's bridge."""

    def __init__(self, keys: Path, root: Path, name: str) -> None:
        self.keys, self.root, self.name = keys, root, name
        self.address = address(name)
        self.radio = radio(name)
        self.programs = keys / f"bin-{name}"  # before all others in the node's PATH
        self._process: subprocess.Popen[bytes] | None = None

    def connect(self) -> None:
        """Namespace, and the link to the lead."""
        command("ip", "netns", "add", self.name)
        link = f"c-{self.name}"
        command(*f"ip link add {link} type veth peer name ctl0 netns {self.name}".split())
        command("ip", "link", "set", link, "master", "lead", "up")
        for words in (
            f"address add {self.address}/24 dev ctl0",
            "link set ctl0 up",
            "link set lo up",
        ):
            command("ip", "-n", self.name, *words.split())

    def start(self) -> None:
        """sshd."""
        libraries = ":".join(str(self.root / part) for part in LIBRARIES)
        path = f"{self.programs}:{self.root}/sbin:{self.root}/usr/bin:{PATH}"
        (self.keys / f"{self.name}.conf").write_text(
            SSHD_CONFIG.format(keys=self.keys, address=self.address, path=path, libraries=libraries)
        )
        script = START.format(
            kb=RUN_KB, keys=self.keys, name=self.name, sshd=self.root / "usr/sbin/sshd"
        )
        words = ["ip", "netns", "exec", self.name, "unshare", "-m", "sh", "-c", script]
        self._process = subprocess.Popen(words, env=os.environ | {"LD_LIBRARY_PATH": libraries})

    def wait_for_sshd(self) -> None:
        """Until the process is in its namespaces and is sshd."""
        assert self._process is not None
        while Path(f"/proc/{self._process.pid}/comm").read_text().strip() != "sshd":
            time.sleep(0.5)
            assert self._process.poll() is None, f"sshd of {self.name} has ended"

    def state(self) -> list[str]:
        """What a run may change, as it is now."""
        lines = self.inside(STATE).splitlines()
        lines += [f"process {name}" for name in sorted(self.processes().values())]
        lines += ["process node.sh" for _ in self.named("node.sh")]
        return lines_of("\n".join(lines))

    def inside(self, script: str) -> str:
        """What a script says in the node's namespaces and root, which may be a chroot."""
        assert self._process is not None
        words = ["nsenter", "-m", "-n", "-r", "-t", str(self._process.pid), "sh", "-c", script]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode == NO_PROGRAM:
            raise RuntimeError(f"{self.name}: {done.stderr.strip()}")
        return done.stdout

    def processes(self) -> dict[int, str]:
        """Everything that runs in the node's network but its sshd, by process."""
        names = {pid: (Path(f"/proc/{pid}/comm")).read_text().strip() for pid in self.all_pids()}
        return {pid: name for pid, name in names.items() if name not in ("sshd", "nsenter", "sh")}

    def named(self, word: str) -> list[int]:
        """The processes with this word in their command line."""
        lines = {pid: Path(f"/proc/{pid}/cmdline").read_bytes() for pid in self.all_pids()}
        return [pid for pid, line in lines.items() if word.encode() in line.split(b"\0")]

    def all_pids(self) -> list[int]:
        """Those of sshd too."""
        assert self._process is not None
        ours = Path(f"/proc/{self._process.pid}/ns/net").readlink()
        found = []
        for place in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if (place / "ns/net").readlink() == ours:
                    found.append(int(place.name))
        return found

    def cut(self) -> None:
        """The link to the lead is lost."""
        command("ip", "link", "set", f"c-{self.name}", "down")

    def mend(self) -> None:
        """It is back."""
        command("ip", "link", "set", f"c-{self.name}", "up")


LIBRARIES = ("usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu")


def address(name: str) -> str:
    """Of a node's sshd."""
    return {"ap": "192.0.2.10", "wired": "192.0.2.11"}.get(name) or f"192.0.2.{11 + int(name[3:])}"


def command(*words: str) -> str:
    """Run a command that must succeed."""
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{shlex.join(words)}: {done.stderr.strip()}")
    return done.stdout


def lines_of(said: str) -> list[str]:
    """What STATE said, without what changes by itself."""
    return [line for line in said.splitlines() if not any(word in line for word in RESTLESS)]


def reached(machines: list[Machine]) -> dict[str, tuple[str, int]]:
    """Where each node's sshd is."""
    return {one.name: (one.address, SSH_PORT) for one in machines}


def states(machines: list[Machine]) -> States:
    """What a run may change, by node."""
    return {one.name: one.state() for one in machines}


def compared(before: States, after: States) -> States:
    """By node, the lines that are not as before."""
    found = {}
    for name in before:
        old, new = Counter(before[name]), Counter(after[name])
        lines = [f"- {line}" for line in (old - new).elements()]
        lines += [f"+ {line}" for line in (new - old).elements()]
        if lines:
            found[name] = lines
    return found


@contextlib.contextmanager
def cell(keys_at: Path, root: Path, stations: int, hwsim: Path) -> Iterator[list[Machine]]:
    """All nodes of a cell in one kernel, and the lead beside them."""
    names = ["ap", "wired", *(f"sta{number}" for number in range(1, stations + 1))]
    machines = [Machine(keys_at, root, name) for name in names]
    with air(stations, ["insmod", str(hwsim)]):
        bridge()
        command("ip", "address", "add", f"{LEAD}/24", "dev", "lead")
        for one in machines:
            one.connect()
        wire = ["eth1", "netns", "ap", "type", "veth", "peer", "name", "eth1", "netns", "wired"]
        command("ip", "link", "add", *wire)
        with switched_on(machines):
            yield machines


@contextlib.contextmanager
def air(stations: int, load: list[str]) -> Iterator[None]:
    """Radios, loaded by insmod or modprobe, and dcfmedium between them."""
    command(*load, f"radios={stations + 1}")
    words = [str(BUILD / "bin/dcfmedium"), "hwsim", "--phy", "hrdsss-11", "--seed", "1"]
    for number in range(stations + 1):
        name = f"sta{number}" if number else "ap"
        words += ["--station", f"{radio_address(number)},name={name}"]
    medium = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert medium.stdout is not None
    while "ready" not in medium.stdout.readline():
        pass
    try:
        yield
    finally:
        medium.terminate()
        medium.wait()


def bridge() -> None:
    """The network that leads to every node's sshd."""
    command("ip", "link", "add", "lead", "type", "bridge")
    command("ip", "link", "set", "lead", "up")


@contextlib.contextmanager
def switched_on(machines: list[Machine]) -> Iterator[None]:
    """Each node with its devices and its sshd."""
    for one in machines:
        if one.radio is not None:
            command("iw", "phy", f"phy{one.radio}", "set", "netns", "name", one.name)
        if one.name in ("ap", "wired"):
            off = ["ethtool", "-K", "eth1", "tso", "off", "gso", "off"]
            command("ip", "netns", "exec", one.name, *off)
    for one in machines:
        one.start()
    for one in machines:
        one.wait_for_sshd()
        one.inside(WARM)
    time.sleep(ADDRESSES_S)
    try:
        yield
    finally:
        for one in machines:
            for pid in one.all_pids():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
