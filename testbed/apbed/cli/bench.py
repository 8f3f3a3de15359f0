# SPDX-License-Identifier: GPL-2.0-only
"""`apbed bench`: what a packet costs in each queue discipline."""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from apbed.analysis.plots import to_png, to_svg
from apbed.bench import cells, figures, iperf, measure
from apbed.bench.plot import cost_against_flows
from apbed.checkout import REPOSITORY, package
from apbed.errors import ApbedError

EXAMPLES = """\
examples:
  apbed bench                                    every cell and queue discipline
  apbed bench --quick --kinds "lasack;fq_codel"  under a minute, while tuning
  apbed bench --cells "100 flows, no hash" --kinds "lasack flows 4096;fq_codel"
  apbed bench --instructions --quick             the distribution's kernel, under QEMU
  apbed bench --iperf --cpus 4                   throughput through veth, in the same kernel
  apbed bench --list                             the cells and the queue disciplines

A cell is one combination of conditions. DIR gets bench.json and table.md. Without --quick, --cells,
--instructions and --iperf it also gets the plot bench.svg and bench.png.
"""
# Options that have no part in what an option chooses. The first that is given counts.
UNUSED = {
    "list": ("quick", "kinds", "cells", "rounds", "instructions", "iperf", "cpus", "kernel"),
    "iperf": ("cells", "instructions", "kernel"),
    "instructions": ("cpus", "kernel"),
}
CPUS = 4


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `apbed bench`."""
    parser = subparsers.add_parser(
        "bench",
        help="measure what a packet costs in each queue discipline",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--quick", action="store_true", help="few cells, queue disciplines, rounds")
    parser.add_argument("--kinds", metavar="KIND;KIND...", help="queue disciplines, in tc's words")
    parser.add_argument("--cells", metavar="CELL;CELL...", help="names as --list prints them")
    parser.add_argument(
        "--rounds",
        type=_at_least_one,
        metavar="N",
        help="turns of each queue discipline (default: 31; 11 with --quick, 3 with --instructions, "
        "5 with --iperf, 1 with --iperf --quick)",
    )
    parser.add_argument(
        "--instructions", action="store_true", help="count instructions in the stock kernel"
    )
    parser.add_argument(
        "--iperf", action="store_true", help="throughput of iperf3 -P 4 in the stock kernel"
    )
    parser.add_argument(
        "--cpus",
        type=_at_least_one,
        metavar="N",
        help=f"processors for --iperf (default: {CPUS}); 1: in virtual time",
    )
    parser.add_argument(
        "--kernel",
        metavar="VERSION",
        help="lab kernel line, for example 6.1; without --instructions and --iperf",
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        default=Path("out/bench"),
        help="directory of the results (default: out/bench)",
    )
    parser.add_argument("--list", action="store_true", help="list cells and queue disciplines")
    parser.set_defaults(func=run)


def _at_least_one(word: str) -> int:
    if not word.isdecimal() or int(word) < 1:
        raise argparse.ArgumentTypeError(f"{word!r}: expected a whole number of at least 1")
    return int(word)


def _refuse_unused(args: argparse.Namespace) -> None:
    """ApbedError for an option that would change nothing, and yet stand in the result."""
    chosen = next((name for name in UNUSED if getattr(args, name)), None)
    for name in UNUSED[chosen] if chosen else ("cpus",):
        if getattr(args, name) not in (None, False):
            without = f"without --{chosen}" if chosen else "only with --iperf"
            raise ApbedError(f"--{name}: expected {without}")


def _refuse_repeated(option: str, names: Sequence[str]) -> None:
    if twice := [name for name in names if names.count(name) > 1]:
        raise ApbedError(f'{option}: "{twice[0]}" is there twice')


def _split(text: str | None) -> list[str]:
    return [part.strip() for part in (text or "").split(";") if part.strip()]


def _chosen_cells(args: argparse.Namespace) -> list[cells.Cell]:
    known = {cell.name: cell for cell in cells.all_cells()}
    names = _split(args.cells)
    _refuse_repeated("--cells", names)
    if unknown := [name for name in names if name not in known]:
        raise ApbedError(f'no cell "{unknown[0]}": `apbed bench --list` has their names')
    if names:
        return [known[name] for name in names]
    if args.quick:
        return cells.quick_cells()
    return cells.stock_cells() if args.instructions else cells.all_cells()


def _chosen_kinds(args: argparse.Namespace, usual: Sequence[str]) -> list[str]:
    """With the reference, whether it is asked for or not."""
    kinds = _split(args.kinds) or list(usual)
    _refuse_repeated("--kinds", kinds)
    if cells.HARNESS in kinds:
        raise ApbedError(f'--kinds: "{cells.HARNESS}" is what the others are measured with')
    return kinds if cells.REFERENCE in kinds else [cells.REFERENCE, *kinds]


def _order(args: argparse.Namespace) -> measure.Order:
    # Instructions hardly vary, and a serial line carries them.
    usual = 3 if args.instructions else 11 if args.quick else 31
    return measure.Order(
        cells=_chosen_cells(args),
        kinds=_chosen_kinds(args, cells.QUICK_KINDS if args.quick else cells.KINDS),
        rounds=args.rounds or usual,
        batches=16 if args.instructions else 64,
        memory=not args.quick,
    )


def _list() -> int:
    for cell in cells.all_cells():
        print(cell.name)
    print()
    for kind in cells.KINDS:
        print(kind)
    return 0


def _commit() -> str:
    if origin := package():
        return origin
    done = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=REPOSITORY, capture_output=True, text=True
    )
    return done.stdout.strip() or "unknown"


def _about(out: Path) -> dict[str, str]:
    """What a result says of itself; makes its directory."""
    out.mkdir(parents=True, exist_ok=True)
    return {"commit": _commit(), "command": shlex.join(["apbed", *sys.argv[1:]])}


def _run_iperf(args: argparse.Namespace) -> int:
    kinds = _chosen_kinds(args, iperf.KINDS)
    about, cpus = _about(args.out), args.cpus or CPUS
    rounds = args.rounds or (1 if args.quick else 5)
    results = iperf.run(kinds, cpus, rounds, 3 if args.quick else 5, args.out)
    _write(args.out, iperf.to_json(results, cpus, about), iperf.to_markdown(results, cpus))
    return 0


def _write(out: Path, result: dict[str, Any], table: str) -> None:
    (out / "bench.json").write_text(json.dumps(result, indent=1) + "\n")
    (out / "table.md").write_text(table)
    print(table, end="")


def run(args: argparse.Namespace) -> int:
    """Measure, print the table, leave the files."""
    _refuse_unused(args)
    if args.list:
        return _list()
    if args.iperf:
        return _run_iperf(args)
    order = _order(args)
    out: Path = args.out
    about = _about(out)
    print(f"bench: {len(order.cells)} cells, {len(order.kinds)} kinds", file=sys.stderr)
    if args.instructions:
        unit, raw = "instructions", measure.in_distribution(order, out)
    else:
        unit, raw = "cycles", measure.in_lab(order, out, args.kernel)
    result = figures.to_json(order, raw, unit, about)
    _write(out, result, figures.to_markdown(order, raw, unit))
    if not (args.quick or args.cells or args.instructions):
        figure = cost_against_flows(order.cells, figures.costs(order, raw), unit)
        (out / "bench.svg").write_text(to_svg(figure))
        (out / "bench.png").write_bytes(to_png(figure))
    return 0
