# SPDX-License-Identifier: GPL-2.0-only
"""The comparison as a table for a terminal, 80 columns wide; plain text when piped."""

from __future__ import annotations

import io
import sys

from rich.console import Console
from rich.table import Table
from rich.text import Text

from apbed.analysis.comparison import (
    Row,
    Spread,
    compare,
    counted,
    delay,
    gave_up,
    has_connections,
    has_delays,
    has_transfers,
    in_medium,
    response,
    smooth,
)
from apbed.analysis.delays import NAMES as DELAY_FIGURES
from apbed.analysis.delays import PERCENTILES as DELAY_PERCENTILES
from apbed.analysis.response import DIRECTIONS, SHORT
from apbed.analysis.run_directory import Json

WIDTH = 80
BAR_CELLS = 12
EVEN = (0.85, 1.15)  # goodput ratios called even
DOWN_STYLE, UP_STYLE = "blue", "yellow"


def render_table(summary: Json, *, color: bool | None = None) -> str:
    """The table of a summary. `color` None: as standard output can show it."""
    if color is None:
        color = sys.stdout.isatty()
    stream = io.StringIO()
    console = Console(
        file=stream,
        width=WIDTH,
        force_terminal=color,
        color_system="standard" if color else None,
        legacy_windows=False,
    )
    rows = compare(summary)
    tables: list[tuple[Table, list[str]]] = []
    if has_connections(rows) or not has_transfers(rows):
        tables.append((_table(rows, ascii_only=not _unicode()), _goodput_notes(rows)))
        tables.append((_smoothness_table(rows), _smoothness_notes(rows)))
    if has_transfers(rows):
        tables.append((_response_table(rows), _response_notes(rows)))
    for number, (table, notes) in enumerate(tables):
        if number:
            console.print()
        console.print(table)
        for line in notes:
            console.print(line, style="dim", highlight=False)
    for line in _invalid(summary, rows):
        console.print(line, style="dim", highlight=False)
    return "\n".join(line.rstrip() for line in stream.getvalue().rstrip("\n").splitlines())


def verdict(ratio: float | None) -> str:
    """In words: who gets how many times the other's goodput per connection."""
    if ratio is None:
        return "not known"
    if EVEN[0] <= ratio <= EVEN[1]:
        return "even"
    if ratio > 1:
        return f"downloads {_times(ratio)}"
    return f"uploads {_times(1 / ratio)}" if ratio else "uploads only"


def _table(rows: list[Row], ascii_only: bool) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    table.add_column("\nMb/s")
    for heading in ("down\neach", "up\neach", "\ntotal", "down/up\nratio", "Jain\nindex"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column(_colored("\ndown", DOWN_STYLE, " : ", "up", UP_STYLE, ""), no_wrap=True)
    for row in rows:
        table.add_row(
            row.name,
            _number(row.down_each),
            _number(row.up_each),
            _number(row.total),
            _range(row.ratio),
            _number(row.jain),
            _bar(row, ascii_only),
        )
    return table


def _smoothness_table(rows: list[Row]) -> Table:
    """How smooth goodput is, what the ACKs cost, and how long sparse datagrams wait."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    table.add_column("\nsecond by second")
    for heading in ("CoV\n1 s", "Jain\n1 s", "ACKs,\nair %"):
        table.add_column(heading, justify="right", no_wrap=True)
    delays = has_delays(rows)
    for place, rank in enumerate(DELAY_PERCENTILES if delays else ()):
        heading = f"{'' if place else 'ms for'}\n{rank:g} %"
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        figures = [delay(row, name) for name in (DELAY_FIGURES if delays else ())]
        table.add_row(
            row.name,
            _number(smooth(row, "goodput_cov")),
            _number(smooth(row, "jain", "mean")),
            _percent(in_medium(row, "tcp_ack_airtime_share")),
            *(one if isinstance(one, str) else _whole(one) for one in figures),
        )
    return table


def _response_table(rows: list[Row]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    table.add_column("seconds, for\n< 100 kB")
    for word, style in (("down", DOWN_STYLE), ("up", UP_STYLE)):
        for heading in (f"{word}\n50 %", "\n90 %", "\n99 %"):
            table.add_column(Text(heading, style), justify="right", no_wrap=True)
        table.add_column("\nopen", justify="right", no_wrap=True)
    table.add_column("total\nMb/s", justify="right", no_wrap=True)
    for row in rows:
        cells = []
        for direction in DIRECTIONS:
            figures = [response(row, direction, SHORT, name) for name in ("p50", "p90", "p99")]
            cells += [_number(figure) for figure in figures]
            cells.append(str(counted(row, direction, SHORT, "unfinished")))
        table.add_row(row.name, *cells, _number(row.total))
    return table


def _bar(row: Row, ascii_only: bool) -> Text:
    """Who gets what part of a download and an upload together, and the verdict."""
    if not row.runs:
        return Text("no valid run")
    if row.down_each is None or row.up_each is None:
        return Text("")
    both = row.down_each.mean + row.up_each.mean
    cells = round(BAR_CELLS * row.down_each.mean / both) if both else 0
    full, light = ("#", "-") if ascii_only else ("█", "░")
    words = "  " + verdict(row.ratio.mean if row.ratio else None)
    bar = (full * cells, DOWN_STYLE, "", light * (BAR_CELLS - cells), UP_STYLE, words)
    return _colored(*bar)


def _colored(down: str, down_style: str, between: str, up: str, up_style: str, after: str) -> Text:
    text = Text()
    text.append(down, down_style).append(between).append(up, up_style).append(after)
    return text


def _goodput_notes(rows: list[Row]) -> list[str]:
    notes = ["Goodput of each connection, and of all; a ratio and an index of 1 are fair."]
    if (seeds := _seeds(rows)) > 1:
        notes.append(f"Means over {seeds} seeds; the ratio is their range.")
    return notes


def _smoothness_notes(rows: list[Row]) -> list[str]:
    notes = ["CoV: coefficient of variation of one connection's goodput. ACKs: those of TCP."]
    if has_delays(rows):
        notes.append(
            "ms: the delay that so many of the datagrams did not exceed. Means over seeds."
        )
    return notes


def _response_notes(rows: list[Row]) -> list[str]:
    notes = ["Time from a transfer's start to its last byte. Open: not ended when the run was."]
    if (seeds := _seeds(rows)) > 1:
        notes.append(f"Times are means over {seeds} seeds; open counts all of them.")
    if note := gave_up(rows):
        notes.append(note)
    return notes


def _invalid(summary: Json, rows: list[Row]) -> list[str]:
    invalid = sum(len(row.invalid) for row in rows)
    runs = len(summary["runs"])
    return [f"{invalid} of {runs} runs are invalid and left out."] if invalid else []


def _seeds(rows: list[Row]) -> int:
    return max((len(row.runs) for row in rows), default=0)


def _number(value: Spread | None) -> str:
    return "-" if value is None else f"{value.mean:.2f}"


def _whole(value: Spread | None) -> str:
    return "-" if value is None else f"{value.mean:.0f}"


def _percent(value: Spread | None) -> str:
    return "-" if value is None else f"{100 * value.mean:.1f}"


def _range(value: Spread | None) -> str:
    if value is None or value.n == 1:
        return _number(value)
    low, high = f"{value.low:.2f}", f"{value.high:.2f}"
    return low if low == high else f"{low}-{high}"


def _times(factor: float) -> str:
    return f"{factor:.0f}x" if factor >= 9.5 else f"{factor:.1f}x"


def _unicode() -> bool:
    return "utf" in (sys.stdout.encoding or "").lower()
