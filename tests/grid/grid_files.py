# SPDX-License-Identifier: GPL-2.0-only
"""The grid file of nodes that stand in for real ones, and the keys that lead and nodes have."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

SSH_PORT = 22


def radio(name: str) -> int | None:
    """The number of a node's radio: 0 is the access point's. None: it has none."""
    if name == "ap":
        return 0
    return int(name[3:]) if name.startswith("sta") else None


def keys(root: Path, place: Path) -> None:
    """Keys of the lead and of the hosts, and the users a sshd needs; on the host, before boot."""
    for name in ("lead", "host"):
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(place / name)]
        subprocess.run(words, check=True)
        (place / name).chmod(0o600)
    users = "root:x:0:0:root:/root:/bin/sh\nsshd:x:100:65534::/run/sshd:/usr/sbin/nologin\n"
    (place / "passwd").write_text(users)
    assert (root / "usr/sbin/sshd").exists()


def write(
    place: Path,
    nodes: Mapping[str, tuple[str, int]],
    kernel: str,
    arch: str,
    lease_s: int,
    radio_lines: str = 'country = "00"\n',
) -> Path:
    """The grid file and ssh's configuration for nodes by name, each at (address, port)."""
    key = " ".join((place / "host.pub").read_text().split()[:2])
    lines = ["IdentityFile " + str(place / "lead"), f"UserKnownHostsFile {place}/known_hosts"]
    known = "".join(f"{_known(*where)} {key}\n" for where in nodes.values())
    (place / "known_hosts").write_text(known)
    (place / "ssh_config").write_text("\n".join([*lines, "IdentitiesOnly yes", ""]))
    text = f'schema = 1\nname = "lab"\nkernel = "{kernel}"\narch = "{arch}"\n'
    text += f'directory = "/run/apbed"\nlease_s = {lease_s}\n'
    text += f'ssh_config = "ssh_config"\n[radio]\nchannel = 1\n{radio_lines}'
    for name, (address, port) in nodes.items():
        number = radio(name)
        text += "[[station]]\n" if name.startswith("sta") else f"[{name}]\n"
        text += f'host = "{address}"\nport = {port}\n'
        text += f'wlan = "wlan{number}"\n' if number is not None else ""
        text += 'driver = "mac80211_hwsim"\n' if number is not None else ""
        text += 'wired = "eth1"\n' if name in ("ap", "wired") else ""
    path = place / "grid.toml"
    path.write_text(text)
    return path


def _known(address: str, port: int) -> str:
    """A host as known_hosts names it (sshd(8))."""
    return address if port == SSH_PORT else f"[{address}]:{port}"
