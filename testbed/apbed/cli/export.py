# SPDX-License-Identifier: GPL-2.0-only
"""`apbed export`: writes finished runs in the formats of other programs."""

from __future__ import annotations

import argparse
import contextlib
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path

from apbed.errors import ApbedError
from apbed.export import flent, measurements, results, tables

DEFAULTS = {"flent": "flent", "sqlite": "results.sqlite", "csv": "csv"}

EXAMPLES = """\
examples:
  apbed export out/demo --flent
  flent out/demo/flent/*.flent.gz -p totals_bandwidth -o totals.png
  apbed export out/demo --csv --out /tmp/demo
  apbed export out/demo/runs/pfifo-limit-100_seed-1 --sqlite --out fifo.sqlite
  sqlite3 fifo.sqlite 'SELECT flow, avg(goodput_mbps) FROM apbed_goodput GROUP BY flow'

Nothing is run or changed. Invalid runs are left out and named; only the measurement `run` has a
row for them. Exit status: 0 when every run is valid, 1 otherwise.
"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `apbed export`."""
    parser = subparsers.add_parser(
        "export",
        help="write finished runs for flent, SQLite or a spreadsheet",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "directory",
        type=Path,
        metavar="DIR",
        help="the directory that `apbed run` wrote, or one run of it, DIR/runs/ID",
    )
    formats = parser.add_mutually_exclusive_group(required=True)
    formats.add_argument(
        "--flent",
        dest="format",
        action="store_const",
        const="flent",
        help="a directory with a data file of flent for each run (default: DIR/flent)",
    )
    formats.add_argument(
        "--sqlite",
        dest="format",
        action="store_const",
        const="sqlite",
        help="a database as OML's, a table for each measurement (default: DIR/results.sqlite)",
    )
    formats.add_argument(
        "--csv",
        dest="format",
        action="store_const",
        const="csv",
        help="a directory with a file for each measurement (default: DIR/csv)",
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="what to write; must not exist")
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """Write the export whole or not at all; 0 when every run is valid."""
    experiment = results.read(args.directory)
    out: Path = args.out or args.directory / DEFAULTS[args.format]
    with _whole(out) as partial:
        if args.format == "flent":
            flent.write_files(experiment, partial)
        elif args.format == "sqlite":
            tables.write_sqlite(experiment, measurements.tables(experiment), partial)
        else:
            tables.write_csv(measurements.tables(experiment), partial)
    print(f"{out}: {len(experiment.valid)} of {len(experiment.runs)} runs")
    for one in experiment.invalid:
        print(f"apbed: left out, invalid: {one.id}: {one.why}", file=sys.stderr)
    return 1 if experiment.invalid else 0


@contextlib.contextmanager
def _whole(out: Path) -> Iterator[Path]:
    """A path to write to, which becomes `out` at the end; nothing is left if that fails."""
    if out.exists() or out.is_symlink():
        raise ApbedError(f"{out} exists; remove it, or give another --out")
    partial = out.with_name(f"{out.name}.partial")
    _remove(partial)
    try:
        yield partial
        partial.replace(out)
    except (OSError, sqlite3.Error) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise ApbedError(f"cannot write {out}: {why}") from error
    finally:
        _remove(partial)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
