# SPDX-License-Identifier: GPL-2.0-only
"""Runs selftests/ in a stock kernel as kselftest does, and prints what they say (KTAP).

Principle: the guest has kselftest, selftests/ in its place in the kernel's tree, the modules where
modprobe looks, and all programs in memory. So it waits for nothing of the host's, and virtual
time passes by its own doing.

    .venv/bin/python -m tests.stock.selftests [--kernel LINE] TARGET[/PROGRAM]...
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from apbed.checkout import BUILD, REPOSITORY
from apbed.errors import ApbedError
from apbed.kernels import cache, distro, ram_disk
from apbed.kernels.distro import DistroKernel
from apbed.kernels.packages import VERSIONS
from apbed.kernels.ram_disk import RamGuest
from apbed.kernels.watchdog import Watchdog
from apbed.processes import signals_as_interrupt
from tests.runner.totals import KSFT_SKIP
from tests.stock import availability

GUEST_SCRIPT = Path(__file__).with_name("selftests_guest.py")
# Whose programs the tests call, and what Python imports. Each machine's Debian has them.
PACKAGES = (
    *("bash", "coreutils", "diffutils", "ethtool", "findutils", "grep", "iproute2", "kmod"),
    *("make", "perl-base", "procps", "sed", "util-linux"),
    *("hostapd", "iw", "nftables", "wpasupplicant"),
)
PYTHON_PACKAGES = "lib{python}-minimal lib{python}-stdlib"
LINKS = ("awk", "modinfo", "lsmod", "rmmod")  # programs that are links, which packages list as such
# Of the kernel's own, beside those that every guest has: devices, and what tdc's cases add.
KERNEL_MODULES = (
    *("dummy", "tun", "bridge", "ifb", "macvlan", "8021q", "mac80211_hwsim"),
    *("cls_basic", "cls_matchall", "cls_u32", "cls_flower", "act_mirred", "act_gact"),
    *("nf_tables", "nft_chain_nat", "nft_nat", "nft_flow_offload", "nf_flow_table_inet"),
    "crc32c_generic",  # what nf_tables needs, but does not say
)
MEMORY_MB = 1536
STALL_S = 1200.0  # processor seconds without a line


def main() -> int:
    parser = argparse.ArgumentParser(description="Runs selftests/ in a stock kernel (KTAP).")
    parser.add_argument("--kernel", choices=VERSIONS, help="line (default: the distribution's)")
    parser.add_argument("targets", nargs="+", metavar="TARGET[/PROGRAM]", help="below selftests/")
    args = parser.parse_args()
    if reason := availability.why_not():
        print(f"1..0 # SKIP {reason}")
        return KSFT_SKIP
    try:
        with signals_as_interrupt():
            return run(distro.find(args.kernel), args.targets)
    except ApbedError as error:
        print(f"Bail out! {error}")
        return 1


def run(kernel: DistroKernel, targets: list[str]) -> int:
    """Boot the kernel and print the results as they come; the exit status of the guest's part."""
    selftests = cache.selftests()
    with tempfile.TemporaryDirectory(prefix="selftests-") as name:
        out = Path(name)
        guest = RamGuest(
            kernel,
            GUEST_SCRIPT,
            [str(ram_disk.inside(selftests)), *targets],
            [*programs(), *ours(), *files_below(selftests.parents[2])],
            [name for name in KERNEL_MODULES if name in kernel.module_files()],
            out,
            seed=1,
            memory_mb=MEMORY_MB,
            installed=modules(kernel),
        )
        shown = Shown(out / "progress")
        result = ram_disk.boot(guest, Watchdog(STALL_S, progress=shown.print))
        shown.print()
    if result.why:
        print(f"Bail out! {result.why}")
    return 1 if result.status is None else result.status


class Shown:
    """The guest's lines, printed as they arrive on its serial line."""

    def __init__(self, path: Path) -> None:
        self.path, self.length = path, 0

    def print(self) -> int:
        """Print what is new; the length of all, for the watchdog."""
        said = self.path.read_bytes().replace(b"\r", b"") if self.path.exists() else b""
        if len(said) > self.length:
            sys.stdout.write(said[self.length :].decode(errors="replace"))
            sys.stdout.flush()
            self.length = len(said)
        return self.length


def programs() -> Iterator[Path]:
    """The files of the packages, without what is there to be read."""
    python = ram_disk.PYTHON.resolve().name
    names = [*PACKAGES, *PYTHON_PACKAGES.format(python=python).split()]
    listed = subprocess.run(["dpkg", "-L", *names], capture_output=True, text=True, check=True)
    paths = sorted(set(map(Path, listed.stdout.splitlines())))
    yield from (path for path in paths if path.is_file() and "share" not in path.parts)
    yield from map(ram_disk.program, LINKS)


def files_below(folder: Path) -> list[Path]:
    """All files but what Python has compiled."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return [path for path in files if "__pycache__" not in path.parts]


def ours() -> list[Path]:
    """selftests/, and what they call of the project."""
    return [
        *files_below(REPOSITORY / "selftests"),
        *(BUILD / "bin" / name for name in ("dcfmedium", "flowgen")),
        *sorted((BUILD / "tc").glob("q_*.so")),
    ]


def modules(kernel: DistroKernel) -> list[Path]:
    """Ours, with those that only tests load."""
    folder = BUILD / "modules" / f"{kernel.release}-x86_64"
    # Another suite may build there: os.walk() passes over a folder that is gone meanwhile.
    walked = os.walk(folder)
    found = sorted(Path(place, name) for place, _, names in walked for name in names)
    found = [path for path in found if path.suffix == ".ko"]
    if not found:
        raise ApbedError(f"no modules for {kernel.release}: run `make check-kernels`")
    return found


if __name__ == "__main__":
    sys.exit(main())
