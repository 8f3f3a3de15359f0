# SPDX-License-Identifier: GPL-2.0-only
"""Do runs repeat? Runs the cells of repeats.toml under several conditions and compares them.

    python -m tests.experiments.repeats OUT CONDITION... [--set KEY=VALUE]... [--jobs N]
    python -m tests.experiments.repeats OUT --compare

CONDITION is any name; two have a meaning: `loaded` keeps every processor busy meanwhile, `deep`
runs in a directory far below OUT with 60 kB more of environment. So `quiet`, then `apt install
locales-all`, then `packages` is a third. `--compare` prints what differs and ends with status 1 if
anything does, or if a run is missing somewhere.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SCENARIO = Path(__file__).with_suffix(".toml")
DEEP = "a/directory/far/below/the/first/one"
ENVIRONMENT_BYTES = 60000


def place(out: Path, condition: str) -> Path:
    """Where the runs of a condition lie."""
    return out / condition / DEEP if condition == "deep" else out / condition


@contextmanager
def busy_processors() -> Iterator[None]:
    """One process on each processor that never waits."""
    spin = [sys.executable, "-c", "while True: pass"]
    spinning = [subprocess.Popen(spin) for _ in os.sched_getaffinity(0)]
    try:
        yield
    finally:
        for process in spinning:
            process.kill()
            process.wait()


def fingerprint(run_dir: Path) -> dict[str, str]:
    """What must be equal: the medium's digest, the guest's memory, its machines' tcp_rmem."""
    log = (run_dir / "dmesg.log").read_text()
    guest = json.loads((run_dir / "guest.json").read_text())
    return {
        "digest": json.loads((run_dir / "medium.json").read_text())["digest"],
        "memory": next(line for line in log.splitlines() if " Memory: " in line),
        "tcp_rmem": json.dumps(guest["tcp_rmem"], sort_keys=True),
        "t0_s": str(guest["t0_s"]),
    }


def fingerprints(out: Path) -> dict[str, dict[str, str]]:
    """Of each run below `out`; a run that did not end is missing."""
    found = {}
    for run_dir in sorted((out / "runs").glob("*")):
        if (run_dir / "medium.json").exists() and (run_dir / "guest.json").exists():
            found[run_dir.name] = fingerprint(run_dir)
    return found


def differences(found: dict[str, dict[str, dict[str, str]]]) -> list[str]:
    """One line for each run and value that is not equal in all conditions."""
    said = []
    for run in sorted({run for runs in found.values() for run in runs}):
        for key in ("digest", "memory", "tcp_rmem", "t0_s"):
            values = {name: runs.get(run, {}).get(key, "missing") for name, runs in found.items()}
            if len(set(values.values())) > 1:
                said.append(f"{run}: {key}: {values}")
    return said


def carry_out(out: Path, condition: str, settings: list[str], jobs: int) -> None:
    """Run all cells under one condition; what is done already is kept."""
    command = [sys.executable, "-m", "apbed", "run", str(SCENARIO), f"--jobs={jobs}"]
    command += ["--out", str(place(out, condition)), *(f"--set={word}" for word in settings)]
    environment = dict(os.environ)
    if condition == "deep":
        environment |= {f"LARGER_{k}": "x" * 1000 for k in range(ENVIRONMENT_BYTES // 1000)}
    if condition == "loaded":
        with busy_processors():
            subprocess.run(command, env=environment, check=False)
    else:
        subprocess.run(command, env=environment, check=False)


def compare(out: Path) -> int:
    """Print what differs between the conditions below `out`; 0 if nothing does."""
    found = {path.name: fingerprints(place(out, path.name)) for path in sorted(out.iterdir())}
    said = differences(found)
    for line in said:
        print(line)
    counts = ", ".join(f"{name} {len(runs)}" for name, runs in found.items())
    print(f"runs: {counts}; differences: {len(said)}")
    return 1 if said or not found else 0


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("condition", nargs="*")
    parser.add_argument("--set", dest="settings", action="append", default=[])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--compare", action="store_true")
    options = parser.parse_args()
    for condition in options.condition:
        carry_out(options.out, condition, options.settings, options.jobs)
    return compare(options.out) if options.compare else 0


if __name__ == "__main__":
    raise SystemExit(main())
