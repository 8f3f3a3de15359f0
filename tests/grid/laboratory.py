# SPDX-License-Identifier: GPL-2.0-only
"""`apbed run --backend ssh` on nodes of a lab kernel, each with an sshd.

    .venv/bin/python -m tests.grid.laboratory --out DIR --stations 4 run demo --set duration_s=12

Everything after the options goes to apbed in the guest, with --backend, --grid and --out added.
DIR gets console.log and campaign/. Exit status 1: the command failed, or a node is not as it was.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from apbed.checkout import REPOSITORY
from apbed.errors import ApbedError
from apbed.kernels import lab
from apbed.kernels.cache import LabKernel, whole
from apbed.kernels.packages import Apt, cache_root
from apbed.kernels.watchdog import Boot, Watchdog
from apbed.processes import signals_as_interrupt
from tests.grid import grid_files

PACKAGES = ("openssh-server", "wpasupplicant", "tcpdump")
STALL_S = 900.0  # processor seconds without a line of output


def programs() -> Path:
    """sshd, wpa_supplicant and tcpdump for the nodes: unpacked below one root, not installed."""
    final = cache_root() / "nodes"
    if not final.exists():
        final.parent.mkdir(parents=True, exist_ok=True)
        apt = Apt("this system")
        with whole(final) as directory:
            apt.unpack(apt.lacking(*PACKAGES), directory)
    return final


def boot(
    kernel: LabKernel, script: str, place: Path, stations: int, words: Sequence[str], console: Path
) -> Boot:
    """Run a script of this folder in the guest: SCRIPT PLACE ROOT HWSIM STATIONS WORD..."""
    root = programs()
    grid_files.keys(root, place)
    command = [str(REPOSITORY / ".venv/bin/python"), str(REPOSITORY / "tests/grid" / script)]
    command += [str(place), str(root), str(kernel.hwsim), str(stations), *words]
    guest = lab.Guest(kernel, command, place, console=console)
    return lab.boot(guest, Watchdog(STALL_S))


def main() -> int:
    parser = argparse.ArgumentParser(description="Runs apbed on nodes of a lab kernel.")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument("--stations", type=int, default=4, metavar="N")
    parser.add_argument("words", nargs=argparse.REMAINDER, metavar="WORD", help="run SCENARIO ...")
    args = parser.parse_args()
    shutil.rmtree(args.out, ignore_errors=True)  # keys of former nodes too
    args.out.mkdir(parents=True)
    place, console = args.out.resolve(), args.out / "console.log"
    try:
        with signals_as_interrupt():
            kernel = lab.kernel()
            result = boot(kernel, "command.py", place, args.stations, args.words, console)
    except ApbedError as error:
        print(f"laboratory: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("laboratory: interrupted", file=sys.stderr)
        return 130
    print(console.read_text(errors="replace"), end="")
    if result.why:
        print(f"laboratory: {result.why}", file=sys.stderr)
    return 1 if result.status is None else result.status


if __name__ == "__main__":
    sys.exit(main())
