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

LEAD = "192.0.2.1"  # on the bridge that leads to every node's sshd
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
ADDRESSES_S = 4.0  # IPv6 has found that nobody else has its addresses
RUN_KB = 65536  # a node's /run

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


class Machine:
    """A node: sshd in namespaces of its own, at an address on the lead's bridge."""

    def __init__(self, keys: Path, root: Path, name: str, number: int) -> None:
        self.keys, self.root, self.name = keys, root, name
        self.address = f"192.0.2.{10 + number}"
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

    def state(self) -> list[str]:
        """What a run may change, as it is now."""
        lines = self.inside(STATE).splitlines()
        lines += [f"process {name}" for name in sorted(self.processes().values())]
        lines += ["process node.sh" for _ in self.named("node.sh")]
        return [line for line in lines if not any(word in line for word in RESTLESS)]

    def inside(self, script: str) -> str:
        """What a script says in the node's namespaces."""
        assert self._process is not None
        words = ["nsenter", "-m", "-n", "-t", str(self._process.pid), "sh", "-c", script]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
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


def command(*words: str) -> str:
    """Run a command that must succeed."""
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{shlex.join(words)}: {done.stderr.strip()}")
    return done.stdout


def keys(root: Path, place: Path) -> None:
    """Keys of the lead and of the hosts, and the users a sshd needs; on the host, before boot."""
    for name in ("lead", "host"):
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(place / name)]
        subprocess.run(words, check=True)
        (place / name).chmod(0o600)
    users = "root:x:0:0:root:/root:/bin/sh\nsshd:x:100:65534::/run/sshd:/usr/sbin/nologin\n"
    (place / "passwd").write_text(users)
    assert (root / "usr/sbin/sshd").exists()


def grid_file(place: Path, machines: list[Machine], kernel: str) -> Path:
    """The grid file and ssh's configuration of these machines."""
    known = (place / "host.pub").read_text().split()[:2]
    lines = ["IdentityFile " + str(place / "lead"), f"UserKnownHostsFile {place}/known_hosts"]
    (place / "known_hosts").write_text(
        "".join(f"{one.address} {' '.join(known)}\n" for one in machines)
    )
    (place / "ssh_config").write_text("\n".join([*lines, "IdentitiesOnly yes", ""]))
    text = f'schema = 1\nname = "lab"\nkernel = "{kernel}"\narch = "um"\n'
    text += 'directory = "/run/apbed"\nlease_s = 6\nssh_config = "ssh_config"\n'
    text += '[radio]\nchannel = 1\ncountry = "00"\n'
    for one in machines:
        number = 0 if one.name == "ap" else int(one.name[3:]) if one.name[:3] == "sta" else -1
        text += "[[station]]\n" if number > 0 else f"[{one.name}]\n"
        text += f'host = "{one.address}"\n'
        text += f'wlan = "wlan{number}"\ndriver = "mac80211_hwsim"\n' if number >= 0 else ""
        text += 'wired = "eth1"\n' if one.name in ("ap", "wired") else ""
    path = place / "grid.toml"
    path.write_text(text)
    return path


def states(machines: list[Machine]) -> dict[str, list[str]]:
    """What a run may change, by node."""
    return {one.name: one.state() for one in machines}


def differences(before: dict[str, list[str]], machines: list[Machine]) -> dict[str, list[str]]:
    """By node, the lines that are not as before."""
    found = {}
    for one in machines:
        old, new = Counter(before[one.name]), Counter(one.state())
        lines = [f"- {line}" for line in (old - new).elements()]
        lines += [f"+ {line}" for line in (new - old).elements()]
        if lines:
            found[one.name] = lines
    return found


@contextlib.contextmanager
def cell(keys_at: Path, root: Path, stations: int, hwsim: Path) -> Iterator[list[Machine]]:
    """Nodes with radios on the air of dcfmedium, the wire, and the lead's bridge."""
    command("insmod", str(hwsim), f"radios={stations + 1}")
    words = [str(BUILD / "bin/dcfmedium"), "hwsim", "--phy", "hrdsss-11", "--seed", "1"]
    for number in range(stations + 1):
        name = f"sta{number}" if number else "ap"
        words += ["--station", f"{radio_address(number)},name={name}"]
    medium = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert medium.stdout is not None
    while "ready" not in medium.stdout.readline():
        pass
    command("ip", "link", "add", "lead", "type", "bridge")
    command("ip", "address", "add", f"{LEAD}/24", "dev", "lead")
    command("ip", "link", "set", "lead", "up")
    names = ["ap", "wired", *(f"sta{number}" for number in range(1, stations + 1))]
    machines = [Machine(keys_at, root, name, number) for number, name in enumerate(names)]
    for one in machines:
        one.connect()
        if one.name != "wired":
            number = int(one.name[3:]) if one.name != "ap" else 0
            command("iw", "phy", f"phy{number}", "set", "netns", "name", one.name)
    wire = ["eth1", "netns", "ap", "type", "veth", "peer", "name", "eth1", "netns", "wired"]
    command("ip", "link", "add", *wire)
    for name in ("ap", "wired"):
        off = ["ethtool", "-K", "eth1", "tso", "off", "gso", "off"]
        command("ip", "netns", "exec", name, *off)
    for one in machines:
        one.start()
    time.sleep(1.0)
    for one in machines:
        one.inside(WARM)
    time.sleep(ADDRESSES_S)
    try:
        yield machines
    finally:
        for one in machines:
            for pid in one.all_pids():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        medium.terminate()
        medium.wait()
