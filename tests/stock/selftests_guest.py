#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""The guest's part of selftests.py: puts selftests/ into kselftest and runs its make.

selftests_guest.py SELFTESTS TARGET[/PROGRAM]...       SELFTESTS are a kernel tree's own
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
# Short versions: an emulated processor is slow. Of access points, what lab kernels cannot do.
ARGUMENTS = {
    "QDISC_CHURN_SH": "5",
    "ACKSKIP_GUEST_SH": "short",
    "ACCESS_POINTS_SH": "nat",
    "CHANGES_SH": "suspend",
}
# kselftest shows a program's own lines as diagnostics. As subtests, they are counted.
RESULT = re.compile(r"^# ( *)((?:not )?ok \d|1\.\.\d|K?TAP version)")
FAILED = re.compile(r"^not ok \d")


def prepare(selftests: Path) -> None:
    """What any machine has, and the tests in their place."""
    for name, there in (("fd", "/proc/self/fd"), ("stdout", "fd/1"), ("stderr", "fd/2")):
        Path("/dev", name).symlink_to(there)
    for kind in ("tracefs tracing", "securityfs security"):
        filesystem, name = kind.split()
        if (place := Path("/sys/kernel", name)).is_dir():
            subprocess.run(["mount", "-t", filesystem, "none", str(place)], check=True)
    shutil.copytree(CHECKOUT / "selftests", selftests / "lasack")


def environment() -> dict[str, str]:
    """How the tests find what is not installed, and how long they are to take."""
    build = CHECKOUT / "build"
    found = os.environ | {f"KSELFTEST_{key}_ARGS": value for key, value in ARGUMENTS.items()}
    path = f"{build / 'bin'}:{os.environ['PATH']}"
    return found | {"TC_LIB_DIR": str(build / "tc"), "PATH": path}


def run(selftests: Path, chosen: str) -> int:
    """Run a target, or one program of it; 1 if a program failed."""
    target, _, program = chosen.partition("/")
    words = ["make", "-s", "-C", str(selftests), f"TARGETS=lasack/{target}", "run_tests"]
    words += [f"TEST_PROGS={program}"] if program else []
    with (
        Path("progress").open("w", buffering=1) as said,
        subprocess.Popen(
            words,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        ) as make,
    ):
        assert make.stdout is not None
        failed = 0
        for line in make.stdout:
            said.write(RESULT.sub(r"    \1\2", line))
            failed |= FAILED.match(line) is not None
    return failed or int(make.returncode != 0)


def main(selftests: Path, targets: list[str]) -> int:
    prepare(selftests)
    return max([run(selftests, target) for target in targets])


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
