# SPDX-License-Identifier: GPL-2.0-only
"""What a paper claims of a figure, decided by the runs.

Principle: a test is passed where the whole confidence interval passes, failed where all of it
fails, else undecided. Points that differ in one key only are compared seed by seed. With one seed
the value itself decides, and the verdict says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from apbed.analysis.figures.points import Interval, Point, interval
from apbed.scenario.figures import DIRECTIONS, SIZE_PERCENTILE, Claim, Figure

PASSED, FAILED, UNDECIDED = "passed", "failed", "undecided"


@dataclass(frozen=True)
class Verdict:
    """A claim, decided."""

    claim: str
    verdict: str  # reproduced, direction only, contradicted, undecided or not run
    expected: str
    passed: int
    tested: int
    hardest: str  # the point that decided: what was measured there
    seeds: int  # of the point with the fewest

    @property
    def as_expected(self) -> bool:
        return self.verdict == self.expected


@dataclass(frozen=True)
class _Test:
    """One comparison: the interval must lie between the bounds. Neither bound is between them:
    what is equal is neither above nor below."""

    where: str
    value: Interval
    low: float
    high: float

    @property
    def outcome(self) -> str:
        begin, end = self.value.ends
        if begin > self.low and end < self.high:
            return PASSED
        return FAILED if end <= self.low or begin >= self.high else UNDECIDED


def decide(
    figure: Figure, claim: Claim, points: Sequence[Point], missing: Sequence[Point] = ()
) -> Verdict:
    """The verdict on one claim of a figure. `missing`: where runs were to be, and none is valid;
    what they would have said is not known."""
    tests = list(_tests(figure, claim, points))
    unknown = sum(_is_of(figure, claim, point) for point in missing)
    if claim.compares:
        chosen = [point for point in points if _is_of(figure, claim, point)]
        unknown += sum(_other(figure, claim, point, missing) is not None for point in chosen)
    outcomes = [test.outcome for test in tests] + [UNDECIDED] * (unknown if tests else 0)
    passed = outcomes.count(PASSED)
    needed = claim.least or len(outcomes)
    if not tests or len(outcomes) < needed:
        verdict = "not run"
    elif passed >= needed:
        verdict = "direction only" if claim.kind in DIRECTIONS else "reproduced"
    elif passed + outcomes.count(UNDECIDED) >= needed:
        verdict = UNDECIDED
    else:
        verdict = "contradicted"
    hardest = max(tests, key=_excess, default=None)
    seeds = min((test.value.n for test in tests), default=0)
    words = _words(hardest) if hardest else ""
    return Verdict(claim.claim, verdict, claim.expect, passed, len(tests), words, seeds)


def _excess(test: _Test) -> float:
    """How far the mean is beyond the nearer bound, negative inside, in parts of the bound."""
    inside = [
        (bound - test.value.mean) * sign / (abs(bound) or 1)
        for bound, sign in ((test.low, 1), (test.high, -1))
        if abs(bound) != float("inf")
    ]
    return max(inside, default=0.0)


def _words(test: _Test) -> str:
    begin, end = test.value.ends
    extent = f" ({begin:.3g} to {end:.3g})" if test.value.n > 1 else ""
    return f"{test.value.mean:.3g}{extent} at {test.where}"


def _tests(figure: Figure, claim: Claim, points: Sequence[Point]) -> Iterator[_Test]:
    chosen = [point for point in points if _is_of(figure, claim, point)]
    infinite = float("inf")
    if claim.kind in ("between", "above", "below"):
        low = claim.numbers[0] if claim.kind != "below" else -infinite
        high = claim.numbers[-1] if claim.kind != "above" else infinite
        for point in chosen:
            yield _Test(_where(figure, point), point.measured, low, high)
    elif claim.kind.startswith("within"):
        share = claim.numbers[0] / 100
        for point in chosen:
            target = point.printed if claim.kind.endswith("printed") else point.model[0]
            if target:
                relative = interval([value / target - 1 for value in point.values.values()])
                yield _Test(_where(figure, point), relative, -share, share)
    elif claim.compares:
        margin = claim.numbers[0] / 100 if claim.numbers else 0.0
        bounds = (margin, infinite) if claim.kind.startswith("above") else (-infinite, -margin)
        for point in chosen:
            other = _other(figure, claim, point, points)
            compared = _relative if claim.numbers else _difference
            if other and (found := compared(point, other)):
                yield _Test(_where(figure, point), found, *bounds)
    elif claim.kind in ("rises", "falls"):
        yield from _monotone(figure, chosen, 1 if claim.kind == "rises" else -1)
    else:
        yield from _extreme(figure, chosen, claim)


def _monotone(figure: Figure, chosen: Sequence[Point], sign: int) -> Iterator[_Test]:
    """From each x to the next of a line."""
    for line in _lines(chosen):
        for before, after in pairwise(line):
            if found := _difference(after, before, sign):
                yield _Test(_where(figure, after), found, 0.0, float("inf"))


def _extreme(figure: Figure, chosen: Sequence[Point], claim: Claim) -> Iterator[_Test]:
    """The point at X against every other of its line."""
    sign = 1 if claim.kind.startswith("most") else -1
    for line in _lines(chosen):
        best = next((point for point in line if point.x == claim.numbers[0]), None)
        for other in line:
            if best is None or other is best:
                continue
            if found := _difference(best, other, sign):
                yield _Test(_where(figure, other), found, 0.0, float("inf"))


def _lines(points: Sequence[Point]) -> list[list[Point]]:
    lines: dict[tuple[Any, ...], list[Point]] = {}
    for point in points:
        lines.setdefault((point.panel, point.series), []).append(point)
    return [sorted(line, key=lambda point: point.x) for line in lines.values()]


def _difference(one: Point, other: Point, sign: int = 1) -> Interval | None:
    return _paired(one, other, lambda value, its: sign * (value - its))


def _relative(one: Point, other: Point) -> Interval | None:
    """In parts of the other; it is not known of a seed in which that is 0."""
    return _paired(one, other, lambda value, its: value / its - 1 if its else None)


def _paired(
    one: Point, other: Point, compared: Callable[[float, float], float | None]
) -> Interval | None:
    """Of the seeds that both have, None without any. If both have several and only one in common,
    it may be anything."""
    both = [
        (value, other.values[seed]) for seed, value in one.values.items() if seed in other.values
    ]
    each = [found for pair in both if (found := compared(*pair)) is not None]
    if len(each) == 1 and min(len(one.values), len(other.values)) > 1:
        return Interval(each[0], -float("inf"), float("inf"), 1)
    return interval(each) if each else None


def _place(figure: Figure, point: Point) -> dict[str, Any]:
    place = dict(zip(figure.panel, point.panel, strict=True))
    return place | dict(zip(figure.series, point.series, strict=True)) | {figure.x: point.x}


def _is_of(figure: Figure, claim: Claim, point: Point) -> bool:
    place = _place(figure, point)
    return all(
        values[0] <= place[key] <= values[-1] if key == SIZE_PERCENTILE else place[key] in values
        for key, values in claim.of.items()
    )


def _other(figure: Figure, claim: Claim, point: Point, points: Sequence[Point]) -> Point | None:
    wanted = _place(figure, point) | claim.than
    return next((one for one in points if one is not point and _place(figure, one) == wanted), None)


def _where(figure: Figure, point: Point) -> str:
    words = [named(figure, value) for value in (*point.panel, *point.series)]
    return ", ".join([*words, f"{figure.x_label} {placed(figure, point.x)}"])


def named(figure: Figure, value: Any) -> str:
    """A value of a line or a panel in the figure's words for it."""
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return figure.names.get(text, text)


def placed(figure: Figure, x: Any) -> str:
    """A place on the x axis: a number as it is, else in the figure's words."""
    return f"{x:g}" if isinstance(x, (int, float)) else named(figure, x)
