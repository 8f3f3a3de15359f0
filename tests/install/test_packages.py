# SPDX-License-Identifier: GPL-2.0-only
"""Debian packages: built, clean by lintian's word, installed and purged in a root of their own."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from apbed.kernels import distro

REPOSITORY = Path(__file__).resolve().parents[2]
DEBS = REPOSITORY / "build" / "deb"
NEEDED = ("dh_dkms", "dkms", "lintian", "unshare")
MODULES = ("inflight", "sch_inflight", "sch_lasack", "sch_ackwrr", "tcp_ackskip")
TOOLS = {
    "/etc/bash_completion.d/lasack",
    "/etc/default/lasack",
    "/etc/network/if-up.d/lasack",
    "/usr/bin/lasack-doctor",
    "/usr/bin/lasack-top",
    "/usr/lib/NetworkManager/dispatcher.d/50-lasack",
    "/usr/lib/systemd/system/hostapd.service.d/lasack.conf",
    "/usr/lib/systemd/system/hostapd@.service.d/lasack.conf",
    "/usr/lib/systemd/system/lasack@.service",
    "/usr/lib/udev/rules.d/80-lasack.rules",
    "/usr/libexec/lasack/attach",
}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def packages() -> Path:
    """The folder with the packages, newly built."""
    if lacking := [name for name in NEEDED if not shutil.which(name)]:
        pytest.skip(f"this machine has no {', '.join(lacking)}")
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")}
    command = ["make", "-C", str(REPOSITORY), "deb"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return DEBS


@pytest.fixture(scope="module")
def played(packages: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What was there before, while the packages were installed, and after they were purged."""
    if os.geteuid():
        pytest.skip("only root may make a root of its own")
    out = tmp_path_factory.mktemp("packages")
    script = REPOSITORY / "tests" / "install" / "packages.sh"
    command = ["unshare", "-m", *map(str, (script, packages, distro.find().build_dir, out))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    logs = "".join(log.read_text() for log in sorted(out.glob("*.log")))
    assert done.returncode == 0, f"{done.stdout}{done.stderr}{logs}"
    return out


def files(listing: Path) -> dict[str, str]:
    """Kind, mode, size and target of each file."""
    return dict(line.split(" ", 1) for line in listing.read_text().splitlines())


def test_lintian_finds_nothing(packages: Path) -> None:
    (changes,) = packages.glob("*.changes")
    command = ["lintian", "--fail-on", "error,warning", str(changes)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_what_is_installed(played: Path) -> None:
    before, installed = files(played / "before"), files(played / "installed")
    assert set(files(played / "before")) <= set(installed)
    new = set(installed) - set(before)
    assert new >= TOOLS
    for name in ("lasack", "ackwrr", "inflight"):
        assert sum(path.endswith(f"/tc/q_{name}.so") for path in new) == 1
        assert f"/usr/share/man/man8/tc-{name}.8.gz" in new
    kernel = (played / "dkms").read_text().split(", ")[1]
    for name in MODULES:
        assert f"/usr/lib/modules/{kernel}/updates/dkms/{name}.ko" in new


def test_what_is_installed_is_found(played: Path) -> None:
    """tc finds its plugin, modprobe the module by the name that the kernel asks for."""
    assert (played / "tc").read_text().startswith("Usage: ... lasack [ limit PACKETS ]")
    assert (played / "doctor").read_text().startswith("Usage: lasack-doctor ")
    loaded = [Path(line.split()[1]).name for line in (played / "modprobe").read_text().splitlines()]
    assert loaded == ["inflight.ko", "sch_lasack.ko"]


def test_purge_leaves_nothing(played: Path) -> None:
    assert files(played / "after") == files(played / "before")
