# SPDX-License-Identifier: GPL-2.0-only
"""`apbed report`: measures the runs of an experiment again and writes its report."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from apbed.analysis import report, summary

EXAMPLES = """\
examples:
  apbed report out/demo
  apbed report out/demo --json | jq '.runs[].ratio_down_up'

Nothing is run. Exit status: 0 when every planned run is there and valid, 1 otherwise.
"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `apbed report`."""
    parser = subparsers.add_parser(
        "report",
        help="compute summary.json and report.html of finished runs again",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "directory", type=Path, metavar="DIR", help="the directory that `apbed run` wrote"
    )
    parser.add_argument("--json", action="store_true", help="print summary.json instead of a table")
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """Write summary.json, report.html and the pictures; 0 when every planned run is valid."""
    directory: Path = args.directory
    result = summary.summarize(directory)
    page = report.write_report(directory)
    if args.json:
        print(json.dumps(result, indent=1))
    else:
        print(report.render_table(result))
        print(f"Report: {page}")
    invalid = [run for run in result["runs"] if not run["valid"]]
    for run in invalid:
        print(f"apbed: invalid: {run['id']}: {run['why_invalid']}", file=sys.stderr)
    if missing := result["not_carried_out"]:
        planned = len(missing) + len(result["runs"])
        print(f"apbed: {len(missing)} of {planned} runs were not carried out", file=sys.stderr)
    return 1 if invalid or missing else 0
