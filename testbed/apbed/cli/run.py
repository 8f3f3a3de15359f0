# SPDX-License-Identifier: GPL-2.0-only
"""`apbed run`: a scenario in; runs, summary.json, report.html and a table out."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from pathlib import Path
from typing import Any

from apbed.analysis import report, summary
from apbed.cli.progress import observer
from apbed.errors import ApbedError
from apbed.run import bench, runner
from apbed.run.executor import LOCAL, Executor, opened
from apbed.run.machines import BACKENDS, Backend
from apbed.scenario import catalogue, parse

MOST_PROCESSORS = 8
EXAMPLES = """\
examples:
  apbed run demo
  apbed run testbed/scenarios/demo.toml --set 'seed=[1,2,3,4,5]' --jobs 2 --out out/seeds
  apbed run demo --set ap.qdisc='lasack limit 100' --set ap.inflight=0
  apbed run demo --backend vng --kernel 6.12
  apbed run demo --backend vng --cpus 2
  apbed run demo --backend ssh --grid testbed/grids/orbit.toml
  apbed run rrul --short
  apbed run demo --executor dask://127.0.0.1:8786
  apbed run demo --dry-run

Finished runs whose inputs did not change are kept, so an interrupted command can be repeated.
Exit status: 0 when every run is valid, 1 otherwise.
"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `apbed run`."""
    parser = subparsers.add_parser(
        "run",
        help="run a scenario and report on it",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("scenario", help="a scenario file, or the name of one from `apbed list`")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="replace a value of the scenario; with a list, each value is a run",
    )
    parser.add_argument(
        "--short",
        action="store_true",
        help="fewer and shorter runs, as the scenario's [short] says",
    )
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="directory of the results (default out/NAME)"
    )
    parser.add_argument(
        "--jobs",
        type=_count,
        metavar="N",
        help="kernels to run at a time (default: one per processor; with a cluster, two per thread "
        "of its workers)",
    )
    parser.add_argument(
        "--backend",
        choices=BACKENDS,
        default="uml",
        help="where runs are carried out: uml, the lab kernel (default); vng, a stock kernel in "
        "QEMU in virtual time; ssh, real machines",
    )
    parser.add_argument(
        "--grid", type=Path, metavar="FILE", help="the machines of --backend ssh, a TOML file"
    )
    parser.add_argument(
        "--kernel",
        metavar="LINE",
        help="kernel line, such as 6.12; with --backend vng also an image, boot/vmlinuz-RELEASE "
        "(default: as the scenario says)",
    )
    parser.add_argument(
        "--cpus",
        type=_processors,
        default=1,
        metavar="N",
        help="processors of a machine of --backend vng, 1 to 8 (default: 1, in virtual time; "
        "several run in real time, one run after the other)",
    )
    parser.add_argument(
        "--executor",
        default=LOCAL.word,
        metavar="WHERE",
        help="hosts that carry out the runs: local (default), or dask://HOST:PORT, the scheduler "
        "of a Dask cluster",
    )
    parser.add_argument("--dry-run", action="store_true", help="list the runs and stop")
    parser.add_argument("--json", action="store_true", help="print summary.json instead of a table")
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """Run the scenario; 0 when every run is valid."""
    settings = [*args.set, *([f"kernel={args.kernel}"] if args.kernel else [])]
    plan = parse.load(catalogue.find(args.scenario), settings, short=args.short)
    backend = Backend(args.backend, args.grid, args.cpus)
    if args.dry_run:
        for run in plan.runs:
            bench.accept(run.kernel, run.plan, backend)
        print("\n".join(run.id for run in plan.runs))
        return 0
    out: Path = args.out or Path("out") / plan.name
    with opened(args.executor) as executor, observer(plan, sys.stderr) as notify:
        jobs = min(_jobs(args.jobs, backend, executor), len(plan.runs))
        runner.run_all(plan, out, jobs, notify, backend, executor)
    result = summary.summarize(out)
    report.write_report(out)
    if args.json:
        print(json.dumps(result, indent=1))
    else:
        print(report.render_table(result))
        manifest = json.loads((out / "manifest.json").read_text())
        if speed := report.speed(result, manifest):
            print(f"Speed: {speed}, {jobs} at once")
        if cost := report.cost(result, manifest):
            print(f"Cost: {cost}")
        print(f"Report: {out / 'report.html'}")
    if backend.cpus > 1:
        machines = {bench.machine_of(run.kernel, backend).what for run in plan.runs}
        print(f"apbed: note: {' and '.join(sorted(machines))}", file=sys.stderr)
    for note in _notes(out, [run["id"] for run in result["runs"]]):
        print(f"apbed: note: {note}", file=sys.stderr)
    return _verdict(result)


def _notes(out: Path, ids: list[str]) -> list[str]:
    """What drivers did not let a grid's runs set, each once."""
    found: list[str] = []
    for run_id in ids:
        with contextlib.suppress(OSError, ValueError):
            found += json.loads((out / "runs" / run_id / "guest.json").read_text()).get("notes", [])
    return list(dict.fromkeys(found))


def _jobs(asked: int | None, backend: Backend, executor: Executor) -> int:
    """Runs at a time. In real time one: a grid has one air, and runs need the processors."""
    if not backend.real_time:
        return asked or executor.jobs
    if asked not in (None, 1):
        where = "a grid carries" if backend.grid else "with --cpus, apbed carries"
        raise ApbedError(f"--jobs: {where} out one run at a time")
    return 1


def _verdict(result: dict[str, Any]) -> int:
    invalid = [run for run in result["runs"] if not run["valid"]]
    for run in invalid:
        print(f"apbed: invalid: {run['id']}: {run['why_invalid']}", file=sys.stderr)
    return 1 if invalid else 0


def _processors(word: str) -> int:
    if not word.isdigit() or not 1 <= int(word) <= MOST_PROCESSORS:
        raise argparse.ArgumentTypeError(f"{word!r}: expected 1 to {MOST_PROCESSORS}")
    return int(word)


def _count(word: str) -> int:
    if not word.isdigit() or int(word) < 1:
        raise argparse.ArgumentTypeError(f"{word!r}: expected a whole number of at least 1")
    return int(word)
