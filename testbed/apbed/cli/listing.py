# SPDX-License-Identifier: GPL-2.0-only
"""`apbed list`: the scenarios that come with apbed."""

from __future__ import annotations

import argparse
import json

from apbed.scenario import catalogue, parse


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `apbed list`."""
    parser = subparsers.add_parser(
        "list",
        help="the scenarios that come with apbed",
        epilog="examples:\n  apbed list\n  apbed list --json\n",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """Print each scenario's name, number of runs and title."""
    found = [parse.load(path) for path in catalogue.files()]
    if args.json:
        rows = [
            {"name": one.name, "runs": len(one.runs), "title": one.title, "source": one.source}
            for one in found
        ]
        print(json.dumps({"schema": 1, "scenarios": rows}, indent=1))
    else:
        for entry in found:
            print(f"{entry.name:<16} {len(entry.runs):>4} runs  {entry.title}")
    return 0
