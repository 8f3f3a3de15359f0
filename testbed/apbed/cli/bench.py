# SPDX-License-Identifier: GPL-2.0-only
"""`apbed bench`: what a packet costs in each queue discipline."""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

from apbed.analysis.plots import to_png, to_svg
from apbed.bench import cells, figures, iperf, measure
from apbed.bench.plot import cost_against_flows
from apbed.checkout import REPOSITORY
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
        type=int,
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
        type=int,
        default=4,
        metavar="N",
        help="processors for --iperf (default: 4); 1: in virtual time",
    )
    parser.add_argument("--kernel", metavar="VERSION", help="lab kernel line, for example 6.1")
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        default=Path("out/bench"),
        help="directory of the results (default: out/bench)",
    )
    parser.add_argument("--list", action="store_true", help="list cells and queue disciplines")
    parser.set_defaults(func=run)


def _split(text: str | None) -> list[str]:
    return [part.strip() for part in (text or "").split(";") if part.strip()]


def _chosen_cells(args: argparse.Namespace) -> list[cells.Cell]:
    known = {cell.name: cell for cell in cells.all_cells()}
    names = _split(args.cells)
    if unknown := [name for name in names if name not in known]:
        raise ApbedError(f'no cell "{unknown[0]}": `apbed bench --list` has their names')
    if names:
        return [known[name] for name in names]
    if args.quick:
        return cells.quick_cells()
    return cells.stock_cells() if args.instructions else cells.all_cells()


def _order(args: argparse.Namespace) -> measure.Order:
    kinds = _split(args.kinds) or list(cells.QUICK_KINDS if args.quick else cells.KINDS)
    if cells.REFERENCE not in kinds:
        kinds.insert(0, cells.REFERENCE)
    # Instructions hardly vary, and a serial line carries them.
    usual = 3 if args.instructions else 11 if args.quick else 31
    return measure.Order(
        cells=_chosen_cells(args),
        kinds=kinds,
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
    done = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=REPOSITORY, capture_output=True, text=True
    )
    return done.stdout.strip() or "unknown"


def _run_iperf(args: argparse.Namespace, about: dict[str, str]) -> int:
    kinds = _split(args.kinds) or list(iperf.KINDS)
    if cells.REFERENCE not in kinds:
        kinds.insert(0, cells.REFERENCE)
    rounds = args.rounds or (1 if args.quick else 5)
    results = iperf.run(kinds, args.cpus, rounds, 3 if args.quick else 5, args.out)
    _write(
        args.out, iperf.to_json(results, args.cpus, about), iperf.to_markdown(results, args.cpus)
    )
    return 0


def _write(out: Path, result: dict[str, Any], table: str) -> None:
    (out / "bench.json").write_text(json.dumps(result, indent=1) + "\n")
    (out / "table.md").write_text(table)
    print(table, end="")


def run(args: argparse.Namespace) -> int:
    """Measure, print the table, leave the files."""
    if args.list:
        return _list()
    out: Path = args.out
    out.mkdir(parents=True, exist_ok=True)
    about = {"commit": _commit(), "command": shlex.join(["apbed", *sys.argv[1:]])}
    if args.iperf:
        return _run_iperf(args, about)
    order = _order(args)
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
