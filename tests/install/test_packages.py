# SPDX-License-Identifier: GPL-2.0-only
"""Debian packages: built, clean by lintian's word, installed and purged in a root of their own.

DKMS builds the modules for the stock kernel of each line there, as after updates of the kernel.
"""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

import pytest

from apbed.kernels import compiler, distro
from apbed.kernels.distro import DistroKernel
from apbed.kernels.packages import VERSIONS
from tests.stock import availability

REPOSITORY = Path(__file__).resolve().parents[2]
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
    "/usr/lib/udev/rules.d/90-lasack.rules",
    "/usr/libexec/lasack/attach",
    "/usr/libexec/lasack/unload",
}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def kernels() -> list[DistroKernel]:
    """The stock kernel of each line, oldest first."""
    if reason := availability.why_not():
        pytest.skip(reason)
    return [distro.fetch(version) for version in VERSIONS]


@pytest.fixture(scope="module")
def played(
    packages: Path, kernels: list[DistroKernel], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """What was there before, while the packages were installed, and after they were purged."""
    if os.geteuid():
        pytest.skip("only root may make a root of its own")
    out = tmp_path_factory.mktemp("packages")
    for kernel in kernels:
        if not compiler.own(name := compiler.named(kernel.build_dir)):
            assert name is not None
            own_make(out / f"make-{kernel.release}", name, kernel)
    script = REPOSITORY / "tests" / "install" / "packages.sh"
    headers = [kernel.build_dir for kernel in kernels]
    command = ["unshare", "-m", *map(str, (script, packages, out, *headers))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    logs = "".join(log.read_text() for log in sorted(out.glob("*.log")))
    assert done.returncode == 0, f"{done.stdout}{done.stderr}{logs}"
    return out


def own_make(script: Path, name: str, kernel: DistroKernel) -> None:
    """A make that runs where a kernel's compiler is, and sees what DKMS does there."""
    places = [kernel.packages, Path("/var/lib/dkms"), Path("/usr/src"), Path("/lib/modules")]
    *words, inner = compiler.within(name, places, ["make"])
    command = shlex.join([*words, inner.rstrip() + ' "$@"', "make"])
    script.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
    script.chmod(0o755)


def files(listing: Path) -> dict[str, str]:
    """Kind, mode, size and target of each file."""
    return dict(line.split(" ", 1) for line in listing.read_text().splitlines())


def test_lintian_finds_nothing(packages: Path) -> None:
    (changes,) = packages.glob("*.changes")
    command = ["lintian", "--fail-on", "error,warning", str(changes)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_what_is_installed(played: Path, kernels: list[DistroKernel]) -> None:
    before, installed = files(played / "before"), files(played / "installed")
    assert set(files(played / "before")) <= set(installed)
    new = set(installed) - set(before)
    assert new >= TOOLS
    for name in ("lasack", "ackwrr", "inflight"):
        assert sum(path.endswith(f"/tc/q_{name}.so") for path in new) == 1
        assert f"/usr/share/man/man8/tc-{name}.8.gz" in new
    assert {path for path in new if path.startswith("/usr/lib/modules/")} == {
        f"/usr/lib/modules/{kernel.release}/updates/dkms/{name}.ko"
        for kernel in kernels
        for name in MODULES
    }
    assert (played / "dkms").read_text().count(": installed") == len(kernels) == 3


def test_what_is_installed_is_found(played: Path, kernels: list[DistroKernel]) -> None:
    """tc finds its plugin, modprobe the module by the name that the kernel asks for."""
    assert (played / "tc").read_text().startswith("Usage: ... lasack [ limit PACKETS ]")
    assert (played / "doctor").read_text().startswith("Usage: lasack-doctor ")
    for kernel in kernels:
        shown = (played / f"modprobe-{kernel.release}").read_text().splitlines()
        assert [Path(line.split()[1]).name for line in shown] == ["inflight.ko", "sch_lasack.ko"]
        assert (played / f"vermagic-{kernel.release}").read_text().split()[0] == kernel.release


def test_purge_leaves_nothing(played: Path) -> None:
    assert files(played / "after") == files(played / "before")
