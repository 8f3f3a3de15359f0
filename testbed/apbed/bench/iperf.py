# SPDX-License-Identifier: GPL-2.0-only
"""Throughput through a veth device on the distribution's kernel with several processors.

Principle: four TCP connections at once show what the lock of a discipline costs, which cycles a
packet do not. The processors are emulated, so only the ratio between disciplines is a result;
they take turns, and the ratio is made inside a round (testbed/guest/iperf.sh).
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from apbed.bench.cells import REFERENCE
from apbed.bench.figures import SCHEMA, Spread, spread
from apbed.checkout import GUEST
from apbed.errors import ApbedError
from apbed.kernels import distro

KINDS = (REFERENCE, "cake", "lasack inflight off", "lasack inflight 64", "ackwrr inflight off")
LINE = re.compile(r"^iperf (on|off) (\d+) ([1-9]\d*)$")
LIMIT_S = 3600  # of processor time


@dataclass(frozen=True)
class Throughput:
    """What one kind carried, with GSO or without."""

    kind: str
    gso: bool
    mbps: Spread
    ratio: Spread  # to the reference


def parse(kinds: Sequence[str], rounds: int, lines: Sequence[str]) -> list[Throughput]:
    """By GSO, then by kind; ApbedError if the guest did not come to its end, or iperf3 failed."""
    if not any(line.startswith("done ") for line in lines):
        said = [line.strip() for line in lines if line.strip()] or ["nothing"]
        raise ApbedError(f"iperf did not end; the guest's last line: {said[-1][:200]}")
    mbps: dict[tuple[bool, str], list[float]] = {}
    for match in filter(None, (LINE.match(line.strip()) for line in lines)):
        key = match[1] == "on", kinds[int(match[2])]
        mbps.setdefault(key, []).append(int(match[3]) / 1000)
    points = [(gso, kind) for gso in (True, False) for kind in kinds]
    for gso, kind in points:
        if (count := len(mbps.get((gso, kind), ()))) != rounds:
            words = f'"{kind}", GSO {"on" if gso else "off"}: {count} of {rounds} rounds'
            raise ApbedError(f"iperf3 failed in the guest, {words}; its console says why")
    return [
        Throughput(
            kind, gso, spread(mbps[gso, kind]), _ratio(mbps[gso, kind], mbps[gso, REFERENCE])
        )
        for gso, kind in points
    ]


def _ratio(values: Sequence[float], base: Sequence[float]) -> Spread:
    return spread([value / reference for value, reference in zip(values, base, strict=True)])


def run(kinds: Sequence[str], cpus: int, rounds: int, seconds: int, out: Path) -> list[Throughput]:
    """Boot the kernel and measure each kind `rounds` times for `seconds` of the guest's time.

    That is the host's time with several processors; with one, instructions are the clock, so a
    busy host changes nothing, but nobody waits for a lock either.
    """
    kernel = distro.find()
    modules = distro.built_modules(kernel)
    (out / "kinds").write_text("".join(f"{kind}\n" for kind in kinds))
    words = [sys.executable, "-m", "apbed", "distro", "boot", "--cpus", str(cpus)]
    words += ["--limit", str(LIMIT_S), "--", "sh", str(GUEST / "iperf.sh"), str(modules)]
    words += [str((out / "kinds").resolve()), str(rounds), str(seconds)]
    with (out / "console").open("w") as console:
        subprocess.run(words, stdout=console, stderr=subprocess.STDOUT)
    return parse(kinds, rounds, (out / "console").read_text(errors="replace").splitlines())


def to_json(results: Sequence[Throughput], cpus: int, about: dict[str, str]) -> dict[str, Any]:
    """The whole result."""
    return {
        "schema": SCHEMA,
        "unit": "Mb/s",
        **about,
        "processors": cpus,
        "reference": REFERENCE,
        "throughput": [asdict(result) for result in results],
    }


def to_markdown(results: Sequence[Throughput], cpus: int) -> str:
    """A table: a line for each kind, with GSO and without."""
    lines = [f"| iperf3 -P 4, {cpus} processors, Mb/s | GSO on | GSO off |", "|---|---|---|"]
    for kind in dict.fromkeys(result.kind for result in results):
        entries = [
            f"{result.mbps.median:.0f} ({result.mbps.low:.0f}-{result.mbps.high:.0f}) "
            f"{result.ratio.median:.2f}x"
            for result in results
            if result.kind == kind
        ]
        lines.append(f"| {kind} | {' | '.join(entries)} |")
    return "\n".join(lines) + "\n"
