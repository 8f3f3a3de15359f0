# SPDX-License-Identifier: GPL-2.0-only
"""Make the measurements of Documentation/measurements again: `make measurements [NAME=...]`.

Principle: a figure is worth what its commit and command are. Both are written into
out/measurements/NAME/measured.txt with what the commands printed; pictures are copied beside
the pages. Tables are typed from there. Uncommitted changes are refused, because then no commit
says what was measured.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

TOP = Path(__file__).resolve().parent.parent
PAGES = TOP / "Documentation" / "measurements"
OUT = TOP / "out" / "measurements"


def main(names: list[str]) -> int:
    """Measure what is named, or everything; 1 if a command failed."""
    known = {entry["name"]: entry for entry in load()}
    if unknown := [name for name in names if name not in known]:
        return _fail(f"no measurement {unknown[0]!r}; there are: {', '.join(known)}")
    commit = _git("rev-parse", "--short", "HEAD")
    if _git("status", "--porcelain"):
        return _fail("uncommitted changes: commit first, so that the figures have a commit")
    for name in names or list(known):
        print(f"{name}: {known[name]['virtual_s']} virtual seconds")
        if not _measure(known[name], commit):
            return _fail(f"{name} failed: see {(OUT / name / 'measured.txt').relative_to(TOP)}")
    return 0


def load() -> list[dict[str, Any]]:
    """The entries of commands.toml."""
    table = tomllib.loads((PAGES / "commands.toml").read_text())
    entries: list[dict[str, Any]] = table["measurement"]
    return entries


def _measure(entry: dict[str, Any], commit: str) -> bool:
    out = OUT / entry["name"]
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    with (out / "measured.txt").open("w") as log:
        log.write(f"commit {commit}\n{time.strftime('%Y-%m-%d', time.gmtime())}\n")
        for line in entry["commands"]:
            command = line.replace("{out}", str(out.relative_to(TOP))).strip()
            log.write(f"\n$ {command}\n")
            log.flush()
            words = shlex.split(command)
            done = subprocess.run(words, cwd=TOP, stdout=log, stderr=subprocess.STDOUT, check=False)
            if done.returncode:
                return False
    for made, picture in entry.get("pictures", {}).items():
        if (out / made).is_dir():
            shutil.copytree(out / made, PAGES / picture, dirs_exist_ok=True)
        else:
            shutil.copyfile(out / made, PAGES / picture)
    return True


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=TOP, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def _fail(message: str) -> int:
    print(f"measurements: {message}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
