# SPDX-License-Identifier: GPL-2.0-only
"""The page of verdicts, in Markdown: losses in the same size of print as what is won.

Principle: every word of it follows from the runs, so the page cannot be better than they are.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from apbed.analysis.comparison import Row, Spread
from apbed.analysis.verdict.judge import (
    EVEN,
    LOST,
    MEASURES,
    OURS,
    WON,
    Comparison,
    Interval,
    Load,
    Measure,
    best,
    commits_of,
    contender,
    known,
    of_row,
)

WIDTH = 118
OVERVIEW = "verdict-overview.png"  # beside the page
SPACE = "\N{SYMBOL FOR SPACE}"
FULL_S = 40.0  # of a run that is not a short one
SAID = {"mac80211 airtime AQL": "mac80211 with airtime fairness and AQL"}
STANDARDS = {  # what people call the medium's profiles
    "hrdsss-11": "802.11b",
    "erp-ofdm-54": "802.11g",
    "ofdm-54": "802.11a",
    "ht20": "802.11n",
    "vht80": "802.11ac",
}
NAMED = 3  # loads that are named where more would be counted


@dataclass(frozen=True)
class Origin:
    """Where the figures come from."""

    commits: Mapping[str, str]  # by "SCENARIO/RUN"; those of runs, not of the page
    phys: Mapping[str, str]  # by scenario: the profile of its medium
    commands: Sequence[str]
    date: str
    stale: frozenset[str]  # "SCENARIO/RUN": measured with other code than today's
    missing: int  # runs of the plan that are not done
    unmeasured: Sequence[str]  # scenarios without any run


def page(loads: Sequence[Load], origin: Origin, picture: str | None) -> str:
    """The whole page; `picture` is the name of an image beside it."""
    told = [load for load in loads if load.comparisons()]
    parts = [
        "# verdict: what an access point runs today, beside lasack",
        *(_wrap(words) for words in _in_short(told, origin)),
        *_not_compared(loads),
        _wrap(_made_by(origin, loads)),
        "\n".join(f"    {command}" for command in origin.commands),
    ]
    if told:
        parts += [
            "## Won and lost",
            f"![A row for each load, a column for each measure: won, lost or even]({OVERVIEW})",
            _wrap(HOW),
            _by_measure(told),
            _overview(told, origin),
        ]
    if picture:
        parts.append(
            f"{_wrap(PICTURE)}\n\n![Delay of the datagrams and goodput over time]({picture})"
        )
    parts += [_section(load, origin) for load in loads if load.rows]
    return "\n\n".join(parts) + "\n"


HOW = (
    "Each seed's runs meet the same load and are compared in pairs. **won** and **lost**: every "
    "seed says so, and the means are at least 1 % apart. Otherwise it is even. If two contenders "
    "are equal, all seeds agree by chance: with two seeds every second time, with five once in "
    f"sixteen. A dash: there is no such figure. The first value is `{OURS}`'s. Each section below "
    f"has all values. A row *difference* is `{OURS}` less its rival, seed by seed, with the 95 % "
    "interval of its mean. "
    "[queues.toml](../../testbed/cases/queues.toml) says what each contender is. In most loads the "
    "stations' packets wait in a FIFO. In those called *stations today* they wait in the stations' "
    "own mac80211, and in *stations lasack* in a lasack there. In those called *hostapd*, and in "
    "marks, access point and stations have the contention windows that hostapd hands out; in all "
    "others all contend alike. Where stations have different rates (slow-station, "
    "fading-stations), equal goodput and airtime exclude each other. "
    "[Metrics](../reference/metrics.md#verdicts) says what each measure is."
)
PICTURE = (
    "What a person feels. Above: the datagrams of each second, their longest delay (grey) and the "
    "median (black). Below: each download; what is above the edge is cut. "
    "The first seed of each contender."
)


def _in_short(loads: Sequence[Load], origin: Origin) -> list[str]:
    """How much is won and lost; where it wins, where it loses, what to do then."""
    if not loads:
        return ["No load has been measured with both contenders."]
    found = [one for load in loads for one in load.comparisons()]
    rivals = sorted({_rival(load) for load in loads})
    scenarios = Counter(load.scenario for load in loads)
    (largest, rows), *_ = scenarios.most_common(1)
    words = (
        f"Beside {_and([SAID.get(one, one) for one in rivals])}, `{OURS}` wins "
        f"{_count(found, WON)} of {len(found)} comparisons under {_under(loads, origin)}, loses "
        f"{_count(found, LOST)}, and {_count(found, EVEN)} "
        f"{'is' if _count(found, EVEN) == 1 else 'are'} even."
    )
    if len(scenarios) > 1 and rows > 1:
        words += f" These are {len(scenarios)} scenarios; {rows} of the loads are of {largest}."
    return [words, _wins(found), _losses(loads), f"**What to do then:** {_advice(loads)}"]


def _wins(found: Sequence[Comparison]) -> str:
    """Each measure that is won under more loads than lost."""
    words = []
    for measure in MEASURES:
        having = [one for one in found if one.measure is measure]
        won = _count(having, WON)
        if won > _count(having, LOST):
            ours, theirs = (
                median(getattr(one, who).mean for one in having) for who in ("ours", "theirs")
            )
            words.append(f"{_told(measure, ours, theirs)} (won under {won} of {len(having)})")
    told = "; ".join(words) or "no measure more often than not"
    return f"**Where it wins**, by the median over the loads: {told}."


def _losses(loads: Sequence[Load]) -> str:
    """Each measure that is lost under any load, and the worst of it."""
    found = [(load, one) for load in loads for one in load.comparisons()]
    words = []
    for measure in MEASURES:
        having = [(load, one) for load, one in found if one.measure is measure]
        lost = [(load, one) for load, one in having if one.outcome == LOST]
        if lost:
            load, worst = max(lost, key=lambda pair: _worse(pair[1]))
            words.append(
                f"{_told(measure, worst.ours.mean, worst.theirs.mean)}, in {load.name} (lost under "
                f"{len(lost)} of {len(having)}{_lost_by([one for _, one in lost])}"
                f"{_lost_in([load.scenario for load, _ in lost])})"
            )
    return f"**Where it loses**, by the worst load: {'; '.join(words) or 'nowhere'}."


def _told(measure: Measure, ours: float, theirs: float) -> str:
    return measure.told.format(ours=_value(ours), theirs=_value(theirs))


def _lost_in(scenarios: Sequence[str]) -> str:
    """Their names, if they are few, and not one."""
    names = list(dict.fromkeys(scenarios))
    return f": {_and(names)}" if 1 < len(names) <= NAMED else ""


def _worse(one: Comparison) -> float:
    """Of a comparison that is lost, how many times worse ours is; a difference of the distances
    from 1 where the nearer to 1 is the better."""
    ours, theirs = one.ours.mean, one.theirs.mean
    if one.measure.better == "one":
        return one.measure.cost(ours) - one.measure.cost(theirs)
    less, more = (ours, theirs) if one.measure.better == "more" else (theirs, ours)
    return more / less if less and math.isfinite(more) else math.inf


def _lost_by(lost: Sequence[Comparison]) -> str:
    """By how much several are lost; a ratio has no percent."""
    found = median(_worse(one) for one in lost)
    if len(lost) == 1 or lost[0].measure.better == "one" or math.isinf(found):
        return ""
    more = lost[0].measure.better == "more"
    return f", half of them by at least {100 * (1 - 1 / found if more else found - 1):.0f} %"


def _count(found: Sequence[Comparison], outcome: str) -> int:
    return sum(one.outcome == outcome for one in found)


def _under(loads: Sequence[Load], origin: Origin) -> str:
    """How many loads, and on what kind of Wi-Fi."""
    if len(loads) == 1:
        return f"one load, on {_standard(loads[0], origin)}"
    counts = Counter(_standard(load, origin) for load in loads)
    return f"{len(loads)} loads, {_and([f'{n} on {word}' for word, n in counts.most_common()])}"


def _standard(load: Load, origin: Origin) -> str:
    phy = origin.phys[load.scenario]
    return STANDARDS.get(phy, phy)


def _not_compared(loads: Sequence[Load]) -> list[str]:
    """A sentence for the loads that the first paragraph does not count; none without any."""
    words = [f"{load.name} ({why})" for load in loads if (why := load.lacks)]
    return (
        [_wrap(f"**Not compared**, and in none of these counts: {_and(words)}.")] if words else []
    )


def _rival(load: Load) -> str:
    """Its case; "" if none was measured."""
    return (contender(load.rival) or load.rival.name) if load.rival else ""


def _by_measure(loads: Sequence[Load]) -> str:
    """A row for each measure: under how many loads it is won, lost, even; a few are named."""
    found = [(load, one) for load in loads for one in load.comparisons()]
    rows = []
    for measure in MEASURES:
        names = {
            word: [
                load.name for load, one in found if one.measure is measure and one.outcome == word
            ]
            for word in (WON, LOST, EVEN)
        }
        if any(names.values()):
            rows.append([measure.name, *(_few(one) for one in names.values())])
    return _table(["measure", *(f"{word} under" for word in (WON, LOST, EVEN))], rows)


def _few(names: Sequence[str]) -> str:
    return f"{len(names)}: {'; '.join(names)}" if 0 < len(names) <= NAMED else str(len(names))


def _advice(loads: Sequence[Load]) -> str:
    names = {_rival(load) for load in loads if _count(load.comparisons(), LOST)}
    if not names:
        return "nothing was lost."
    words = "if these measures matter most to you, "
    if any(name.startswith("mac80211") for name in names):
        words += (
            "leave the device without a queue discipline, "
            "`tc qdisc replace dev wlan0 root noqueue`, on a driver whose mac80211 has "
            "airtime fairness and AQL."
        )
    else:
        words += f"use {_and(sorted(names))} above `inflight`."
    if spared := _spared(loads):
        words += (
            " Where the stations' packets wait in their own mac80211, as in Linux laptops today, "
            f"this is not lost: {spared}."
        )
    return words


def _spared(loads: Sequence[Load]) -> str:
    """What is lost under a load, and not with other stations; by load."""
    known = {
        load.name: {one.measure.name: one.outcome for one in load.comparisons()} for load in loads
    }
    words = []
    for name, found in known.items():
        today = known.get(f"{name}, stations today", {})
        measures = [one for one in found if found[one] == LOST and today.get(one, LOST) != LOST]
        words += [f"{name}: {_and(measures)}"] if measures else []
    return "; ".join(words)


def _made_by(origin: Origin, loads: Sequence[Load]) -> str:
    runs = [run for load in loads for row in load.rows for run in row.runs]
    seconds = sorted({run["duration_s"] for run in runs})
    kernels = sorted({str(run["params"]["kernel"]) for run in runs})
    words = (
        f"Written on {origin.date} from {len(runs)} runs, "
        f"{_and([f'{one:g}' for one in seconds])} s each, on kernel {_and(kernels)}. "
        "Values are means over the seeds, with their range in "
        "brackets; what has no brackets is one seed, or the same for all."
    )
    if seconds and seconds[-1] < FULL_S:
        words += (
            " In short runs TCP's windows have not grown yet. They flatter mac80211, whose "
            "uploads take more of the air later ([rivals](rivals.md#why-mac80211-is-as-it-is))."
        )
    if origin.missing:
        words += (
            f" **{origin.missing} runs of the plan are not done**, so contenders or seeds lack."
        )
    if origin.unmeasured:
        words += f" There is no record of these loads yet: {_and(origin.unmeasured)}."
    if origin.stale:
        words += " A contender with * was measured with older code than the page's."
    return words


def _overview(loads: Sequence[Load], origin: Origin) -> str:
    """A row for each load, a column for each measure that any of them has."""
    by_load = {load.name: {one.measure.name: one for one in load.comparisons()} for load in loads}
    names = [one.name for one in MEASURES if any(one.name in found for found in by_load.values())]
    rows = [
        [
            f"[{load.name}](#{_anchor(load.name)})",
            _standard(load, origin),
            _rival(load),
            str(max(one.seeds for one in load.comparisons())),
        ]
        + [_word(by_load[load.name].get(name)) for name in names]
        for load in loads
    ]
    return _table(["load", "Wi-Fi", "beside", "seeds", *names], rows)


def _word(one: Comparison | None) -> str:
    if one is None:
        return "-"
    if one.pairs < one.seeds:
        return f"{one.outcome}: only {one.pairs} of {one.seeds} seeds have it"
    return one.outcome if one.outcome == EVEN else f"**{one.outcome}** {_factor(one)}"


def _section(load: Load, origin: Origin) -> str:
    """All contenders of a load, and what the two that are compared come to."""
    rows = [row for row in load.rows if row.runs]
    measures = [one for one in MEASURES if known(one, rows)]
    winners = {one.name: _best(one, rows) for one in measures}
    cells = [
        [_name(row, load, origin)]
        + [_cell(of_row(one, row), mark=winners[one.name]) for one in measures]
        for row in rows
    ]
    if differences := {one.measure.name: one.difference for one in load.comparisons()}:
        told = (differences.get(one.name) for one in measures)
        cells.append(["*difference*", *(_difference(one) for one in told)])
    headings = [f"{one.name}{', ' + one.unit if one.unit else ''}" for one in measures]
    about = (
        f"{load.title}. {_standard(load, origin)} (`{origin.phys[load.scenario]}`). "
        f"{_commit(load, rows, origin)}. The best mean of each column is bold."
    )
    text = f"## {load.name}\n{_wrap(about)}\n\n"
    text += _table(["contender", *headings], cells)
    for row in load.rows:
        for run in row.invalid:
            text += f"\n\nInvalid: {row.name}, seed {run['params']['seed']}: {run['why_invalid']}."
    return text


def _commit(load: Load, rows: Sequence[Row], origin: Origin) -> str:
    """The commit of most rows, and whose runs are of another one."""
    by_row = {(contender(row) or row.name): commits_of(load, [row], origin.commits) for row in rows}
    counts = Counter(commit for found in by_row.values() for commit in found)
    if not counts:
        return "No run is valid"
    (usual, _), *others = counts.most_common()
    words = [
        f"{_and([name for name, found in by_row.items() if commit in found])}: {commit}"
        for commit, _ in others
    ]
    return f"Commit {usual}" + (f" ({'; '.join(words)})" if words else "")


def _name(row: Row, load: Load, origin: Origin) -> str:
    ids = {f"{load.scenario}/{run['id']}" for run in row.runs}
    return (contender(row) or row.name) + (" *" if ids & origin.stale else "")


def _best(measure: Measure, rows: Sequence[Row]) -> set[str]:
    """The best mean as it is printed; a reader cannot tell from it what has the same digits."""
    found = (of_row(measure, row) for row in best(measure, rows))
    return {_value(one.mean) for one in found if one is not None}


def _difference(found: Interval | None) -> str:
    if found is None or found.half_width is None:
        return "-"
    return f"{_value(found.mean, '+')} ±{_value(found.half_width)}"


def _cell(found: Spread | None, *, mark: Collection[str]) -> str:
    if found is None:
        return "-"
    text = _value(found.mean)
    if found.n > 1 and _value(found.low) != _value(found.high):
        text += f" ({_value(found.low)}-{_value(found.high)})"
    return f"**{text}**" if _value(found.mean) in mark else text


def _value(value: float, sign: str = "") -> str:
    """Three significant digits, or two decimals if it is less than 10."""
    if math.isinf(value):
        return "lost"
    decimals = 2 if abs(value) < 10 else 1 if abs(value) < 100 else 0
    return f"{value:{sign}.{decimals}f}"


def _factor(one: Comparison) -> str:
    """Ours against theirs."""
    return f"{_value(one.ours.mean)} : {_value(one.theirs.mean)}"


def _and(words: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def _wrap(text: str) -> str:
    """Lines of at most WIDTH; what is between backticks stays on one."""
    whole = re.sub(r"`[^`]*`", lambda found: found[0].replace(" ", SPACE), text)
    filled = textwrap.fill(whole, WIDTH, break_long_words=False, break_on_hyphens=False)
    return filled.replace(SPACE, " ")


def _anchor(heading: str) -> str:
    kept = [c for c in heading.lower() if c.isalnum() or c in " -_"]
    return "".join(kept).replace(" ", "-")


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
