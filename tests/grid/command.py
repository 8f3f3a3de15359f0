# SPDX-License-Identifier: GPL-2.0-only
"""Inside a lab kernel: one command of apbed's on nodes, which must then be as they were.

    command.py PLACE ROOT HWSIM STATIONS WORD...

Runs `apbed WORD... --backend ssh --grid PLACE/grid.toml --out PLACE/campaign`. Status 1 if that
fails or a node differs from what it was before.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from apbed.checkout import REPOSITORY
from tests.grid import grid_files, machines

LEASE_S = 6


def main(place: Path, root: Path, hwsim: Path, stations: int, words: list[str]) -> int:
    with machines.cell(place, root, stations, hwsim) as nodes:
        before = machines.states(nodes)
        grid = grid_files.write(place, machines.reached(nodes), os.uname().release, "um", LEASE_S)
        command = [str(REPOSITORY / ".venv/bin/apbed"), *words, "--backend", "ssh"]
        command += ["--grid", str(grid), "--out", str(place / "campaign")]
        status = passed_on(command)
        time.sleep(machines.ADDRESSES_S)
        differences = machines.compared(before, machines.states(nodes))
    for name, lines in differences.items():
        print(f"{name} is not as it was:", *lines, sep="\n  ")
    if not differences:
        print(f"All {len(nodes)} nodes are as they were before.")
    return 1 if status or differences else 0


def passed_on(command: list[str]) -> int:
    """Run a command that has no terminal, and print what it says; its exit status."""
    pipe, same = subprocess.PIPE, subprocess.STDOUT
    with subprocess.Popen(command, text=True, stdout=pipe, stderr=same) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
    return process.returncode


if __name__ == "__main__":
    at, programs, module, number, *rest = sys.argv[1:]
    sys.exit(main(Path(at), Path(programs), Path(module), int(number), rest))
