# SPDX-License-Identifier: GPL-2.0-only
"""`apbed grid check FILE`: whether real machines can carry out runs, without changing them."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from apbed.grid import checks, file

EXAMPLES = """\
examples:
  apbed grid check testbed/grids/desk.toml
  apbed grid check grid.toml --json

Exit status: 0 when every node is fit, 1 otherwise.
"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `apbed grid`."""
    parser = subparsers.add_parser("grid", help="look at the machines of a grid file")
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    check = actions.add_parser(
        "check",
        help="say what is wrong with each node, and change nothing",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    check.add_argument("grid", type=Path, metavar="FILE", help="a grid file")
    check.add_argument("--json", action="store_true", help="print JSON")
    check.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """Print a line for each node, and one for each trouble; 0 if there is none."""
    grid = file.load(args.grid)
    found = checks.check(grid, grid.nodes)
    if args.json:
        rows = [
            {"node": one.node.name, "host": one.node.host, "wrong": one.wrong} | _known(one)
            for one in found
        ]
        print(json.dumps({"schema": 1, "grid": grid.name, "nodes": rows}, indent=1))
        return int(any(one.wrong for one in found))
    for one in found:
        known = _known(one)
        words = " ".join(str(known[key]) for key in ("kernel", "driver") if known[key])
        print(f"{'NO' if one.wrong else 'ok':<4}{one.node.name:<9}{one.node.host:<20} {words}")
        for why in one.wrong:
            print(f"    {why}")
    return int(any(one.wrong for one in found))


def _known(one: checks.Checked) -> dict[str, str | None]:
    return {key: one.facts.one(key) or None for key in ("kernel", "driver", "phy", "free_kb")}
