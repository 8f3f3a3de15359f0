# SPDX-License-Identifier: GPL-2.0-only
"""`make check`: runs every suite and sums what they report."""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from apbed.checkout import REPOSITORY
from apbed.errors import ApbedError
from tests.runner import suites
from tests.runner.running import RunningSuite, Suite, run_suites
from tests.runner.totals import Totals

OUT = REPOSITORY / "out" / "check"
TAIL_LINES, TAIL_WIDTH = 30, 160
FAILURE = re.compile(r"^(\[ *\d+\.\d+\] )?( *not ok \d|E  |FAILED |Traceback)")

EXAMPLES = """\
examples:
  make check                           every suite that is not slow
  make check SUITE=tdc                 one of them
  make check SUITE="kunit parents"     some
  make check-all                       the slow ones too

Logs are in out/check/. The last line has the totals; the exit status is 1 if a test failed.
tests/README.md says which suite to run after which change.
"""


def main(argv: Sequence[str] | None = None, known: Sequence[Suite] | None = None) -> int:
    """Run the suites; exit status 0 if no test failed."""
    parser = argparse.ArgumentParser(
        prog="make check",
        description="Runs the test suites and sums their results.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--all", action="store_true", help="the slow suites too")
    parser.add_argument("--jobs", type=int, default=2, help="suites at a time (default: 2)")
    parser.add_argument("--list", action="store_true", help="name the suites, run none")
    parser.add_argument("names", nargs="*", metavar="SUITE", help="only these")
    args = parser.parse_args(argv)
    try:
        chosen = _chosen(known or suites.suites(), args.names, args.all)
    except ApbedError as error:
        print(f"check: {error}", file=sys.stderr)
        return 1
    if args.list:
        print("\n".join(suite.name for suite in chosen))
        return 0
    OUT.mkdir(parents=True, exist_ok=True)
    total, skips = Totals(), Counter[str]()
    for ended in run_suites(chosen, max(args.jobs, 1), OUT):
        result = ended.totals()
        total += result
        skips.update(f"{ended.suite.name}: {skip}" for skip in _skips(result))
        _print_result(ended, result)
    for skip, times in skips.items():
        print(f"skipped {skip}" + (f" ({times} times)" if times > 1 else ""))
    print(total)
    return 1 if total.failed else 0


def _skips(result: Totals) -> list[str]:
    """A line for each skip, whether or not the suite gave a reason."""
    unnamed = result.skipped - len(result.skips)
    return [*result.skips, *["no reason given"] * max(unnamed, 0)]


def _print_result(ended: RunningSuite, result: Totals) -> None:
    mark = "FAILED" if result.failed else "ok"
    times = f"{ended.elapsed_s():.0f} s, processor {ended.used_s():.0f} s"
    print(f"{mark:<8}{ended.suite.name:<22}{result} ({times})", flush=True)
    if result.failed:
        _print_reasons(ended.log)


def _print_reasons(log: Path) -> None:
    """What failed, as far as its lines say it, and the end of the log."""
    lines = log.read_text(errors="replace").splitlines()
    failed = [line for line in lines[:-TAIL_LINES] if FAILURE.match(line)]
    for line in failed[:TAIL_LINES] + lines[-TAIL_LINES:]:
        print(f"  | {line[:TAIL_WIDTH]}")
    print(f"  whole log: {log}")


def _chosen(known: Sequence[Suite], names: Sequence[str], slow: bool) -> list[Suite]:
    unknown = set(names) - {suite.name for suite in known}
    if unknown:
        have = ", ".join(suite.name for suite in known)
        raise ApbedError(f"unknown suite {', '.join(sorted(unknown))}: choose from {have}")
    if names:
        return [suite for suite in known if suite.name in names]
    return [suite for suite in known if slow or not suite.slow]


if __name__ == "__main__":
    sys.exit(main())
