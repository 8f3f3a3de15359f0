# SPDX-License-Identifier: GPL-2.0-only
"""The page of verdicts, in Markdown: losses in the same size of print as what is won.

Principle: every word of it follows from the runs, so the page cannot be better than they are.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from apbed.analysis.comparison import Row, Spread
from apbed.analysis.verdict import (
    EVEN,
    LOST,
    MEASURES,
    OURS,
    WON,
    Comparison,
    Load,
    best,
    commits_of,
    contender,
    known,
    of_row,
)

WIDTH = 118
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
        _wrap(_in_short(told, origin))
        if told
        else "No load has been measured with both contenders.",
        *_not_compared(loads),
        _wrap(_made_by(origin, loads)),
        "\n".join(f"    {command}" for command in origin.commands),
    ]
    if told:
        parts += ["## Won and lost", _wrap(HOW), _by_measure(told), _overview(told, origin)]
    if picture:
        parts.append(
            f"{_wrap(PICTURE)}\n\n![Delay of the datagrams and goodput over time]({picture})"
        )
    parts += [_section(load, origin) for load in loads if load.rows]
    return "\n\n".join(parts) + "\n"


HOW = (
    "Each seed's runs meet the same load and are compared in pairs. **won** and **lost**: every "
    "seed says so, and the means are at least 1 % apart. Otherwise it is even. The first value "
    f"is `{OURS}`'s. Each section below has all values. One seed has no interval: the next may say "
    "otherwise. In most loads the stations' packets wait in a FIFO. In those called *stations "
    "today* they wait in the stations' own mac80211, and in *stations lasack* in a lasack there. "
    "Where stations have different rates (slow-station), equal goodput and airtime exclude each "
    "other. [Metrics](../reference/metrics.md#verdicts) says what each measure is."
)
PICTURE = (
    "What a person feels. Above: the datagrams of each second, their longest delay (grey) and the "
    "median (black). Below: each download. "
    "The first seed of each contender."
)


def _in_short(loads: Sequence[Load], origin: Origin) -> str:
    """Where it wins, where it loses, what to do then."""
    found = [one for load in loads for one in load.comparisons()]
    rivals = sorted({_rival(load) for load in loads})
    return (
        f"Beside {_and([SAID.get(one, one) for one in rivals])}, `{OURS}` wins "
        f"{_count(found, WON)} of {len(found)} comparisons under {_under(loads, origin)}, loses "
        f"{_count(found, LOST)}, and {_count(found, EVEN)} "
        f"{'is' if _count(found, EVEN) == 1 else 'are'} even. "
        f"**Where it wins:** {_mostly(found, WON, LOST)}. **Where it loses:** "
        f"{_mostly(found, LOST, WON)}. **What to do then:** {_advice(loads)}"
    )


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


def _mostly(found: Sequence[Comparison], outcome: str, other: str) -> str:
    """Each measure that has this outcome under more loads than the other one, and under how many
    of those that have the measure."""
    words = []
    for measure in MEASURES:
        having = [one for one in found if one.measure is measure]
        told = _count(having, outcome)
        if told > _count(having, other):
            words.append(f"{measure.name} ({told} of {len(having)})")
    return "; ".join(words) or "no measure more often than not"


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
    return words


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
        return "none"
    if one.pairs < one.seeds:
        return f"{one.outcome}: only {one.pairs} of {one.seeds} seeds have it"
    return one.outcome if one.outcome == EVEN else f"**{one.outcome}** {_factor(one)}"


def _section(load: Load, origin: Origin) -> str:
    """All contenders of a load, and what the two that are compared come to."""
    rows = [row for row in load.rows if row.runs]
    measures = [one for one in MEASURES if known(one, rows)]
    winners = {one.name: best(one, rows) for one in measures}
    cells = [
        [_name(row, load, origin)]
        + [_cell(of_row(one, row), mark=row in winners[one.name]) for one in measures]
        for row in rows
    ]
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


def _cell(found: Spread | None, *, mark: bool) -> str:
    if found is None:
        return "none"
    text = _value(found.mean)
    if found.n > 1 and _value(found.low) != _value(found.high):
        text += f" ({_value(found.low)}-{_value(found.high)})"
    return f"**{text}**" if mark else text


def _value(value: float) -> str:
    """Three significant digits, or two decimals if it is less than 10."""
    if math.isinf(value):
        return "lost"
    return (
        f"{value:.2f}"
        if abs(value) < 10
        else f"{value:.0f}"
        if abs(value) >= 100
        else f"{value:.1f}"
    )


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
