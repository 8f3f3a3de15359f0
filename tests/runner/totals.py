# SPDX-License-Identifier: GPL-2.0-only
"""What a suite's output amounts to: how many tests passed and failed, and what was skipped, why.

Principle: each suite speaks the format of its own field, and only the sum is made here: pytest's
last line with its short summary, KTAP (Documentation/dev-tools/ktap.rst of the kernel), or a line
"N passed, N failed". A suite that ends with an error has failed, whatever it counted; so has one
that reported nothing, or skipped everything although it needs nothing that a machine may lack.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

KSFT_SKIP = 4  # the exit status of a kselftest of which nothing can run
LOG_TIME = r"(?:\[ *\d+\.\d+\] )?"
KTAP_PLAN = re.compile(rf"^{LOG_TIME}1\.\.(\d+)")
KTAP_RESULT = re.compile(rf"^{LOG_TIME}( *)(not )?ok \d+\b(.*)$")
KTAP_SKIPPED_ALL = re.compile(rf"^{LOG_TIME}( *)1\.\.0 # SKIP ?(.*)$")
COUNTED = re.compile(r"\b(\d+) (passed|failed|skipped|errors?)\b")
PYTEST_SKIP = re.compile(r"^SKIPPED \[(\d+)\] (.*?): (.*)$")


@dataclass(frozen=True)
class Totals:
    """Counts of single tests; `skips` has a line "TEST: reason" for each that was skipped."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    skips: tuple[str, ...] = field(default=(), compare=False)

    def __add__(self, other: Totals) -> Totals:
        return Totals(
            self.passed + other.passed,
            self.failed + other.failed,
            self.skipped + other.skipped,
            self.skips + other.skips,
        )

    def __str__(self) -> str:
        text = f"{self.passed} passed, {self.failed} failed"
        return f"{text}, {self.skipped} skipped" if self.skipped else text


def totals(
    lines: Sequence[str], status: int, single: bool = False, may_skip: bool = False
) -> Totals:
    """What a suite's output and exit status amount to; `single` and `may_skip` as in Suite."""
    counted = None if single else _ktap_totals(lines) or _line_totals(lines)
    if status == KSFT_SKIP and counted and counted.skipped and not counted.passed:
        status = 0
    if counted is None or not (counted.passed or counted.failed or counted.skipped):
        return Totals(passed=1) if single and status == 0 else Totals(failed=1)
    if (status and not counted.failed) or not (counted.passed or counted.failed or may_skip):
        return counted + Totals(failed=1)
    return counted


def _ktap_totals(lines: Iterable[str]) -> Totals | None:
    """Counts of a KTAP stream's innermost results, or None if it has none."""
    leaves: list[tuple[int, str, str]] = []
    skipped_all: list[str] = []
    why = ""  # a nested stream was skipped as a whole; its result comes next
    planned = seen = 0
    for line in lines:
        if all_of_it := KTAP_SKIPPED_ALL.match(line):
            if all_of_it[1]:
                why = all_of_it[2]
            else:
                skipped_all.append(f"all: {all_of_it[2]}")
        if plan := KTAP_PLAN.match(line):
            planned += int(plan[1])
        match = KTAP_RESULT.match(line)
        if not match:
            continue
        depth = len(match[1])
        seen += depth == 0
        word = "failed" if match[2] else "skipped" if "# SKIP" in match[3] else "passed"
        # A result comes after the deeper ones it sums up; it counts itself
        # only if it failed for a reason of its own, such as its set-up.
        subtests = [leaf for level, leaf, _ in leaves if level > depth]
        leaves = [(min(level, depth), leaf, name) for level, leaf, name in leaves]
        if not subtests or (word == "failed" and "failed" not in subtests):
            name = match[3].strip().removeprefix("- ")
            leaves.append((depth, word, f"{name} {why}" if name.endswith("# SKIP") else name))
            why = ""
    words = [word for _, word, _ in leaves] + ["skipped"] * len(skipped_all)
    if not words and not planned:
        return None
    missing = max(planned - seen, 0)  # of a stream that was cut off
    skips = [_reason(name) for _, word, name in leaves if word == "skipped"] + skipped_all
    failed = words.count("failed") + missing
    return Totals(words.count("passed"), failed, words.count("skipped"), tuple(skips))


def _reason(name: str) -> str:
    test, _, why = name.partition("# SKIP")
    return f"{test.strip()}: {why.strip() or 'no reason given'}"


def _line_totals(lines: Sequence[str]) -> Totals | None:
    """Counts of the last line that states them, pytest's or the plain one; else None."""
    skips = [
        f"{match[2]}: {match[3]}" + (f" ({match[1]} tests)" if match[1] != "1" else "")
        for match in map(PYTEST_SKIP.match, lines)
        if match
    ]
    for line in reversed(lines):
        counts = {word.rstrip("s"): int(number) for number, word in COUNTED.findall(line)}
        if counts.keys() & {"passed", "failed"}:
            return Totals(
                counts.get("passed", 0),
                counts.get("failed", 0) + counts.get("error", 0),
                counts.get("skipped", 0),
                tuple(skips),
            )
    return None
