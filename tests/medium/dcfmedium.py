# SPDX-License-Identifier: GPL-2.0-only
"""dcfmedium as its tests call it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
BIN = ROOT / "build" / "bin"
DCFMEDIUM = BIN / "dcfmedium"

Words = str | Path


def run(*words: Words) -> subprocess.CompletedProcess[str]:
    """The program with these words, whatever comes of it."""
    assert DCFMEDIUM.exists(), f"there is no {DCFMEDIUM}: make medium"
    return subprocess.run([DCFMEDIUM, *words], capture_output=True, text=True, check=False)


def output(*words: Words) -> str:
    """What it prints; it must succeed and complain of nothing."""
    done = run(*words)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def statistics(*words: Words) -> dict[str, Any]:
    """The statistics of a command that has --json."""
    stats: dict[str, Any] = json.loads(output(*words, "--json"))
    return stats


def saturate(*words: Words) -> dict[str, Any]:
    """The statistics of a saturated cell."""
    return statistics("saturate", *words)


def assert_refused(says: str, *words: Words, status: int = 2) -> None:
    """It does nothing but end with one line that says why: 2 for wrong words, 1 for the world."""
    done = run(*words)
    assert (done.returncode, done.stdout) == (status, "")
    assert says in done.stderr
    assert done.stderr.startswith("dcfmedium: ")
    assert done.stderr.count("\n") == 1
