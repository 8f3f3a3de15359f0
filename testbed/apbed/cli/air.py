# SPDX-License-Identifier: GPL-2.0-only
"""`apbed air`: what an access point runs today and lasack under the loads of scenarios/air."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TextIO

from apbed.analysis import delay_plots, plots, report, summary
from apbed.analysis.verdict import judge, overview, page, record
from apbed.analysis.verdict.record import Record
from apbed.checkout import REPOSITORY, package
from apbed.cli.progress import observer
from apbed.errors import ApbedError
from apbed.run import campaign, runner
from apbed.run.campaign import Load

EXAMPLES = """\
examples:
  apbed air --dry-run                             what is to be run, and how long it takes
  apbed air --short                               fewer and shorter runs
  apbed air --short --loads "rrul game" --set 'case=["lasack", "mac80211 airtime AQL"]'
  apbed air --short --report                      the page from the runs that are done
  apbed air --records Documentation/measurements/verdict    run what these records do not have

DIR gets a directory for each load, as `apbed run` leaves it, verdict.md, its pictures, and
verdict.json, and in verdict/ a small record of each load's runs, from which --report writes the
page again. Finished runs whose inputs did not change are kept, so an interrupted command can be
repeated.
Exit status: 0 when every run is valid, 1 otherwise.
"""
COMMITS = "commits.json"  # beside manifest.json: by a run's id, of the code that made it
RECORDS = "verdict"  # folder of the records
PICTURED = ("rivals", "game", "voice")  # the first of them that was measured


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `apbed air`."""
    parser = subparsers.add_parser(
        "air",
        help="run all loads of scenarios/air and write the page of verdicts",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--short", action="store_true", help="as the scenarios' [short] says")
    parser.add_argument("--loads", default="", metavar="NAMES", help="only these, by their names")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="as with `apbed run`"
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        default=Path("out/air"),
        help="directory of the results (default: out/air)",
    )
    parser.add_argument(
        "--records",
        type=Path,
        metavar="DIR",
        help="go on from these records: what they have is not run again, what is run now is added"
        " (default: run everything, add it to those in OUT/verdict)",
    )
    parser.add_argument(
        "--jobs",
        type=int,
        metavar="N",
        help="kernels to run at a time (default: one per processor)",
    )
    parser.add_argument("--json", action="store_true", help="print verdict.json")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--dry-run", action="store_true", help="print the plan and stop")
    what.add_argument("--report", action="store_true", help="run nothing, write the page")
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """Carry out the plan, write the page; 0 when every run is valid."""
    jobs = len(os.sched_getaffinity(0)) if args.jobs is None else args.jobs
    if jobs < 1:
        raise ApbedError("--jobs: expected at least 1")
    loads = campaign.loads(
        args.out, args.set, short=args.short, names=args.loads.split(), known=_known(args.records)
    )
    if not args.report:
        _print_plan(loads, jobs, sys.stdout if args.dry_run else sys.stderr)
    if args.dry_run:
        return 0
    for load in loads:
        to_run = not args.report and load.here.runs
        if to_run:
            _carry_out(load, jobs)
        if (load.out / "manifest.json").exists():
            _record(args, load)
        if to_run:
            report.write_report(load.out)
    return _write_page(args, loads)


def _known(records: Path | None) -> campaign.Known:
    """What the records below the folder have; nothing if there is no folder."""

    def inputs(name: str) -> Mapping[str, str]:
        found = record.read(records, name) if records else None
        return found.inputs if found else {}

    return inputs


def _carry_out(load: Load, jobs: int) -> None:
    """Make the runs that are not done yet."""
    load.out.mkdir(parents=True, exist_ok=True)
    _note_commits(load)
    with observer(load.here, sys.stderr) as notify:
        runner.run_all(load.here, load.out, min(jobs, len(load.here.runs)), notify)


def _print_plan(loads: Sequence[Load], jobs: int, stream: TextIO) -> None:
    print(f"{'load':<18}{'runs':>6}{'done':>6}{'virtual s':>11}{'expected':>10}", file=stream)
    for load in loads:
        runs, done = len(load.scenario.runs), len(load.kept | load.recorded)
        expected = _minutes(load.expected_s / jobs)
        print(
            f"{load.scenario.name:<18}{runs:>6}{done:>6}{load.virtual_s:>11.0f}{expected:>10}",
            file=stream,
        )
    total = sum(load.expected_s for load in loads) / jobs
    print(
        f"About {_minutes(total)} with {jobs} at a time, if the machine has nothing else to do.",
        file=stream,
    )


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _write_page(args: argparse.Namespace, loads: Sequence[Load]) -> int:
    """verdict.md and verdict.json in `args.out`; 1 if a run that is there is invalid."""
    found: list[judge.Load] = []
    records: dict[str, Record] = {}
    stale: set[str] = set()
    for load in sorted(loads, key=lambda one: one.scenario.name):
        name, title = load.scenario.name, load.scenario.title
        known = record.read(_records(args), name)
        known = known and known.of(load.inputs.keys())
        if known and known.runs:
            records[name] = known
            found += judge.loads(name, title, {"runs": list(known.runs)})
            stale |= {f"{name}/{run_id}" for run_id in known.stale(load.inputs)}
    if not found:
        raise ApbedError(f"{args.out} has no runs; leave out --report to make some")
    commits = {
        f"{name}/{run_id}": commit
        for name, one in records.items()
        for run_id, commit in one.commits.items()
    }
    origin = page.Origin(
        commits=commits,
        phys={load.scenario.name: _phy(load) for load in loads},
        commands=_commands(args),
        date=time.strftime("%-d %B %Y", time.gmtime()),
        stale=frozenset(stale),
        missing=sum(
            len(load.inputs.keys() - records[load.scenario.name].inputs.keys())
            for load in loads
            if load.scenario.name in records
        ),
        unmeasured=sorted({load.scenario.name for load in loads} - records.keys()),
    )
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / page.OVERVIEW).write_bytes(plots.to_png(overview.picture(found)))
    path = args.out / "verdict.md"
    path.write_text(page.page(found, origin, _picture(args.out, loads)))
    told = json.dumps(judge.to_json(found, commits), indent=1, allow_nan=False)
    (args.out / "verdict.json").write_text(told + "\n")
    print(told if args.json else f"Page: {path}")
    invalid = [run for one in records.values() for run in one.runs if not run["valid"]]
    for run in invalid:
        print(f"apbed: invalid: {run['id']}: {run['why_invalid']}", file=sys.stderr)
    return 1 if invalid else 0


def _phy(load: Load) -> str:
    """The profile of its medium; several, if it was asked for several."""
    return ", ".join(dict.fromkeys(run.plan.medium.phy for run in load.scenario.runs))


def _commands(args: argparse.Namespace) -> list[str]:
    """What makes the runs and, where they are elsewhere, what has written the page."""
    words = ["apbed", "air", *(["--short"] if args.short else [])]
    words += ["--loads", args.loads] if args.loads else []
    words += [f"--set={word}" for word in args.set]
    words += ["--records", str(args.records)] if args.records else []
    if not args.report:
        return [shlex.join([*words, "--out", str(args.out)])]
    made = [*words, "--out", f"out/air{'-short' if args.short else ''}"]
    made += [] if args.records else ["--records", str(args.out / RECORDS)]
    return [shlex.join(made), shlex.join([*words, "--report", "--out", str(args.out)])]


def _record(args: argparse.Namespace, load: Load) -> None:
    """Write what the runs below the load's directory say. Without --set the plan is the whole one,
    and what is not in it any more leaves the record, too."""
    folder = _records(args)
    made = record.of_runs(
        load.out, load.scenario.title, _commits(load), summary.summarize(load.out)
    )
    if earlier := record.read(folder, load.scenario.name):
        made = made.joined(earlier, load.inputs)
    record.write(folder, made if args.set else made.of(load.inputs.keys()))


def _records(args: argparse.Namespace) -> Path:
    folder: Path = args.records or args.out / RECORDS
    return folder


def _picture(out: Path, loads: Sequence[Load]) -> str | None:
    """verdict.png: what a person feels under one load, all its contenders. Drawn again if a load
    has its runs, whose every second it shows; None if there never was any."""
    path = out / "verdict.png"
    for name in PICTURED:
        for load in loads:
            here = (load.out / "summary.json").exists() and not load.recorded
            if load.scenario.name == name and here:
                told = json.loads((load.out / "summary.json").read_text())
                groups = judge.loads(name, load.scenario.title, told)
                rows = [row for row in groups[0].rows if row.runs]
                if rows:
                    path.write_bytes(plots.to_png(delay_plots.delay_and_goodput(rows)))
                    return path.name
    return path.name if path.exists() else None


def _commit() -> str:
    """Of this checkout; with -dirty if something in it is not committed. Its documentation does not
    count: no run reads it, and the records of the runs before this one may stand in it."""
    if origin := package():
        return origin
    done = _git("describe", "--always").strip()
    changed = _git("status", "--porcelain", "-uno", "--", ".", ":(exclude)Documentation")
    return (done or "unknown") + ("-dirty" if changed else "")


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=REPOSITORY, capture_output=True, text=True).stdout


def _commits(load: Load) -> dict[str, str]:
    """What `_note_commits` noted, {} if nothing."""
    path = load.out / COMMITS
    try:
        return dict(json.loads(path.read_text())) if path.exists() else {}
    except (ValueError, TypeError):
        raise ApbedError(
            f"{path} is broken; remove it, and the runs' commits are unknown"
        ) from None


def _note_commits(load: Load) -> None:
    """Of the runs that are made now today's commit; of those that are kept what was noted."""
    earlier, today = _commits(load), _commit()
    found = {run_id: earlier.get(run_id, record.UNKNOWN) for run_id in load.kept}
    found |= {run.id: today for run in load.open}
    (load.out / COMMITS).write_text(json.dumps(earlier | found, indent=1) + "\n")
