# SPDX-License-Identifier: GPL-2.0-only
"""Commands in the namespaces of a cell's machines, and the clock they run by."""

from __future__ import annotations

import json
import math
import shlex
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path


class CellError(Exception):
    """One line that says what could not be set up."""


def run(words: list[str], env: dict[str, str] | None = None) -> str:
    """Run a command to its end and return its output; CellError with its last line if it fails."""
    done = subprocess.run(words, capture_output=True, text=True, env=env, check=False)
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise CellError(f"`{shlex.join(words)}` failed: {said[0] if said else done.returncode}")
    return done.stdout


def attempt(words: list[str]) -> None:
    """Run a command whose failure shows elsewhere."""
    subprocess.run(words, capture_output=True, check=False)


def inside(namespace: str | None, words: list[str]) -> list[str]:
    """The same command inside a network namespace (None: the access point's)."""
    return words if namespace is None else ["ip", "netns", "exec", namespace, *words]


def configure(namespace: str | None, device: str, address: str) -> None:
    run(inside(namespace, ["ip", "address", "add", f"{address}/24", "dev", device]))
    run(inside(namespace, ["ip", "link", "set", device, "up"]))


def link_address(namespace: str | None, device: str) -> str:
    shown = json.loads(run(inside(namespace, ["ip", "-j", "link", "show", device])))
    return str(shown[0]["address"])


def last_line(path: str) -> str:
    lines = Path(path).read_text(errors="replace").strip().splitlines()
    return lines[-1] if lines else "it said nothing"


def next_multiple(moment: float, step: float) -> float:
    """The first multiple of `step` seconds that is not before `moment`."""
    return math.ceil(moment / step) * step


def sleep_until(moment: float) -> None:
    """Block until CLOCK_MONOTONIC reads `moment` seconds."""
    if (left := moment - time.monotonic()) > 0:
        time.sleep(left)


def seconds_between(start: float, end: float) -> Iterator[float]:
    """Every whole second after `start`, up to `end`."""
    moment = start
    while moment < end:
        moment = min(moment + 1.0, end)
        yield moment
