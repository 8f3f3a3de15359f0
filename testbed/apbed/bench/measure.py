# SPDX-License-Identifier: GPL-2.0-only
"""Runs qdisc_bench in a kernel and reads what it prints.

Principle: the guest is told in a plan of a few words what to do (testbed/guest/bench.sh) and
prints raw counts; statistics are made here (figures.py).
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from apbed.bench.cells import HARNESS, Cell, words
from apbed.checkout import BUILD, GUEST
from apbed.errors import ApbedError
from apbed.kernels import distro, lab
from apbed.kernels.watchdog import Watchdog

BATCH = 64  # packets, as in kernel/bench
TURN = re.compile(r"^bench(\d+) ([\d ]+) served (\d+) dropped (\d+)$")
MEMORY_FLOWS = 65535


@dataclass(frozen=True)
class Turn:
    """One turn of one kind: counts of its batches, packets served and dropped."""

    batches: tuple[int, ...]
    served: int
    dropped: int


@dataclass
class Raw:
    """What a kernel printed: by cell and kind, the turns in order of rounds."""

    release: str = ""
    turns: dict[str, dict[str, list[Turn]]] = field(default_factory=dict)
    memory: dict[str, int] = field(default_factory=dict)  # bytes with MEMORY_FLOWS flows


@dataclass(frozen=True)
class Order:
    """What to measure."""

    cells: Sequence[Cell]
    kinds: Sequence[str]
    rounds: int
    batches: int
    memory: bool = True

    @property
    def all_kinds(self) -> list[str]:
        """The harness first."""
        return [HARNESS, *self.kinds]


def plan(order: Order) -> Iterator[str]:
    """The lines for bench.sh."""
    yield f"devices {len(order.all_kinds)}"
    yield f"set rounds={order.rounds} batches={order.batches}"
    for number, cell in enumerate(order.cells):
        for device, kind in enumerate(order.all_kinds):
            yield f"qdisc {device} {words(kind, cell)}"
        yield "set " + " ".join(f"{name}={value}" for name, value in cell.settings().items())
        yield f"measure {number}"
    if order.memory:
        cell = Cell("memory", MEMORY_FLOWS, queued=1000)
        settings = {**cell.settings(), "rounds": 1, "batches": 16}
        yield "set " + " ".join(f"{name}={value}" for name, value in settings.items())
        for device, kind in enumerate(order.all_kinds):
            yield f"memory {device} {words(kind, cell)}"


def parse(order: Order, lines: Sequence[str]) -> Raw:
    """ApbedError if the guest did not come to its end."""
    raw = Raw()
    cell = ""
    for line in lines:
        match = TURN.match(line.strip())
        word, _, rest = line.strip().partition(" ")
        if match:
            kind = order.all_kinds[int(match[1])]
            batches = tuple(int(count) for count in match[2].split())
            turn = Turn(batches, int(match[3]), int(match[4]))
            raw.turns[cell].setdefault(kind, []).append(turn)
        elif word == "cell":
            cell = order.cells[int(rest)].name
            raw.turns[cell] = {}
        elif word == "memory":
            device, size = rest.split()
            raw.memory[order.all_kinds[int(device)]] = int(size)
        elif word == "done":
            raw.release = rest
    if not raw.release:
        said = [line.strip() for line in lines if line.strip()] or ["nothing"]
        raise ApbedError(f"the benchmark did not end; the guest's last line: {said[-1][:200]}")
    return raw


def _command(order: Order, out: Path, modules: Path) -> list[str]:
    if not (modules / "bench/qdisc_bench.ko").exists():
        raise ApbedError(f"no {modules}/bench/qdisc_bench.ko: run `make all`")
    (out / "plan").write_text("".join(f"{line}\n" for line in plan(order)))
    return ["sh", str(GUEST / "bench.sh"), str(modules), str((out / "plan").resolve())]


def _ended(order: Order, console: Path, ended_well: bool) -> Raw:
    """What the console says; ApbedError with the guest's own reason if it failed."""
    lines = console.read_text(errors="replace").splitlines()
    if ended_well:
        return parse(order, lines)
    said = [line for line in lines if line.startswith("bench.sh:")] or [f"see {console}"]
    raise ApbedError(f"the benchmark failed in the guest: {said[-1]}")


def in_lab(order: Order, out: Path, version: str | None = None) -> Raw:
    """Measure in the lab kernel: cycles of the processor itself."""
    kernel = lab.kernel(version)
    command = _command(order, out, BUILD / "modules" / f"{kernel.release}-um")
    console = out / "console"
    boot = lab.boot(lab.Guest(kernel, command, out, console=console), Watchdog(stall_s=300))
    return _ended(order, console, boot.status == 0)


def in_distribution(order: Order, out: Path) -> Raw:
    """Measure in the distribution's kernel under QEMU: instructions, one at a time."""
    kernel = distro.find()
    command = _command(order, out, distro.built_modules(kernel))
    words = [sys.executable, "-m", "apbed", "distro", "boot", "--limit", "3000", "--"]
    with (out / "console").open("w") as console:
        done = subprocess.run([*words, *command], stdout=console, stderr=subprocess.STDOUT)
    return _ended(order, out / "console", done.returncode == 0)
