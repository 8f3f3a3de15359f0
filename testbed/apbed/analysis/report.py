# SPDX-License-Identifier: GPL-2.0-only
"""DIR/report.html: what an experiment showed, on one page, and its picture for other pages.

Principle: the page states what was measured and lets the numbers speak; invalid runs stand
apart with their reasons and are in no average; what is not known is a dash.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

from matplotlib.figure import Figure

from apbed.analysis import ack_plots, delay_plots, plots
from apbed.analysis.comparison import (
    Row,
    Spread,
    compare,
    counted,
    delay,
    gave_up,
    has_connections,
    has_delays,
    has_flows,
    has_transfers,
    in_medium,
    relative_total,
    response,
    smooth,
    spread,
)
from apbed.analysis.delays import NAMES as DELAY_FIGURES
from apbed.analysis.delays import PERCENTILES as DELAY_PERCENTILES
from apbed.analysis.figures import section as paper
from apbed.analysis.page import definitions, document, picture, table
from apbed.analysis.response import DIRECTIONS, SHORT, SIZE_CLASSES
from apbed.analysis.run_directory import Json, read_object
from apbed.analysis.table import render_table, verdict
from apbed.errors import ApbedError

__all__ = ["render_table", "write_report"]

UNKNOWN = "\N{EN DASH}"
NAMED = 5  # rows in a sentence at most, beside the first
SIZE_WORDS = dict(zip(SIZE_CLASSES, ("under 100 kB", "to 1 MB", "from 1 MB"), strict=True))


def write_report(directory: Path) -> Path:
    """Write DIR/report.html and its pictures from DIR/summary.json; return the page.

    Pictures of their own: goodput.svg and .png of flows that the scenario names, response.svg
    and .png of transfers, delay.svg and .png of datagrams, acks.svg and .png of runs that differ
    in their ACKs; each where there are such. The scenario's own [[figure]]s: figure-ID.svg, .png
    and .csv, and figures.json with their points and verdicts.
    """
    summary = read_object(directory / "summary.json")
    if summary is None:
        raise ApbedError(f"{directory} has no summary.json; `apbed report {directory}` makes it")
    manifest = read_object(directory / "manifest.json") or {}
    rows = compare(summary)
    title = str(manifest.get("title") or summary["scenario"])
    acks = ack_plots.thinner_acks([run for run in summary["runs"] if run["valid"]])
    sections = [
        _header(summary, title, rows),
        _invalid(summary["runs"]),
        *paper.sections(directory, summary, manifest),
        *_results(rows),
        _acks_picture(acks),
        _medium(rows),
        _method(directory, summary, manifest),
        _every_run(summary["runs"]),
    ]
    if has_flows(rows) or not has_transfers(rows):
        _keep(directory / "goodput", plots.goodput_over_time(rows))
    if has_delays(rows):
        _keep(directory / "delay", delay_plots.delay_and_goodput(rows))
    if has_transfers(rows):
        _keep(directory / "response", plots.response_by_size(rows))
    if acks:
        _keep(directory / "acks", acks)
    page = directory / "report.html"
    _write(page, document(title, "\n".join(filter(None, sections))).encode())
    return page


def speed(summary: Json, manifest: Json) -> str:
    """How fast the runs went, which tells how long a campaign takes; "" if nobody knows."""
    wall_s: dict[str, float] = manifest.get("wall_s", {})
    ratios = [
        run["virtual_s"] / wall_s[run["id"]]
        for run in summary["runs"]
        if run["virtual_s"] and wall_s.get(run["id"])
    ]
    if not ratios:
        return ""
    return f"{min(ratios):.2f} to {max(ratios):.2f} virtual seconds per wall second and run"


def cost(summary: Json, manifest: Json) -> str:
    """Processor time of the runs, boot included; "" if nobody knows."""
    processor_s: dict[str, float] = manifest.get("processor_s", {})
    known = [processor_s[run["id"]] for run in summary["runs"] if run["id"] in processor_s]
    if not known:
        return ""
    some = "" if len(known) == len(summary["runs"]) else f" for {len(known)} of its runs"
    return f"{sum(known) / 3600:.2f} core hours{some}"


def headline(rows: Sequence[Row]) -> str:
    """One sentence: what a download gets of what an upload gets, the most even first; without
    long flows, how long short downloads take, the fastest first."""
    if has_transfers(rows) and not has_connections(rows):
        return _response_headline(rows)
    known = [(row.name, row.ratio.mean) for row in rows if row.ratio is not None]
    if not known:
        return "No valid run with both downloads and uploads."
    known.sort(key=lambda entry: abs(1 - min(entry[1], 1 / entry[1])) if entry[1] else 1.0)
    (name, ratio), *others = known
    sentence = f"Under {name} a download gets {ratio:.2f} times what an upload gets"
    return _and_others(sentence, [f"{ratio:.2f} under {name}" for name, ratio in others])


def _response_headline(rows: Sequence[Row]) -> str:
    known = [(p90.mean, row.name) for row in rows if (p90 := response(row, "down", SHORT, "p90"))]
    if not known:
        return "No valid run in which a download under 100 kB ended."
    (seconds, name), *others = sorted(known)
    sentence = f"Nine in ten downloads under 100 kB end within {seconds:.2f} s under {name}"
    return _and_others(sentence, [f"{seconds:.2f} s under {name}" for seconds, name in others])


def _and_others(sentence: str, rest: Sequence[str]) -> str:
    """The first and the last of many others: all of them would be no sentence."""
    if len(rest) > NAMED:
        rest = [*rest[: NAMED - 2], f"{len(rest) - NAMED + 1} between", rest[-1]]
    if rest:
        sentence += "; " + ", ".join(rest[:-1]) + (" and " if rest[:-1] else "") + rest[-1]
    return sentence + "."


def _results(rows: Sequence[Row]) -> list[str]:
    """Goodputs of long flows and response times of transfers, whichever there are."""
    parts = []
    if has_connections(rows) or not has_transfers(rows):
        parts += [_comparison(rows), _pictures(rows), _smoothness(rows)]
    if has_delays(rows):
        parts += [_delays(rows), _delay_picture(rows)]
    if has_transfers(rows):
        parts += [_short_transfers(rows), _response_picture(rows), _response_times(rows)]
    return parts


def _header(summary: Json, title: str, rows: Sequence[Row]) -> str:
    valid = sum(len(row.runs) for row in rows)
    over = f"scenario {summary['scenario']} · {valid} of {len(summary['runs'])} runs valid"
    if missing := summary["not_carried_out"]:
        over += f" · not carried out: {len(missing)}"
    return (
        f'<p class="over">{escape(over)}</p>\n<h1>{escape(title)}</h1>\n'
        f'<p class="lead">{escape(headline(rows))}</p>'
    )


def _invalid(runs: Sequence[Json]) -> str:
    listed = [
        f"<li><code>{escape(run['id'])}</code>: {escape(str(run['why_invalid']))}</li>"
        for run in runs
        if not run["valid"]
    ]
    if not listed:
        return ""
    return (
        '<section class="invalid"><h2>Invalid runs, left out of everything below</h2>'
        f"<ul>{''.join(listed)}</ul></section>"
    )


def _comparison(rows: Sequence[Row]) -> str:
    headings = [
        "scheduler<br>at the access point",
        '<span class="down">download</span>,<br>each, Mb/s',
        '<span class="up">upload</span>,<br>each, Mb/s',
        "ratio<br>down / up",
        "Jain<br>index",
        "total<br>Mb/s",
        "of FIFO's<br>total",
        '<span class="down">download</span> : <span class="up">upload</span>',
    ]
    cells = [
        [
            f"{escape(row.name)}<small><code>{escape(row.words)}</code></small>",
            _spread(row.down_each),
            _spread(row.up_each),
            _spread(row.ratio),
            _spread(row.jain),
            _spread(row.total),
            _percent(relative_total(row, rows)),
            _share(row),
        ]
        for row in rows
    ]
    seeds = max((len(row.runs) for row in rows), default=0)
    words = f"Means over {seeds} seeds, the range below. " if seeds > 1 else ""
    return (
        f"<h2>Who gets what</h2>\n{table(headings, cells, left=[7])}\n"
        f'<p class="note">{words}Goodput is what TCP receivers read, after the warm-up. The ratio '
        "divides the mean goodput of a download by that of an upload. Jain's index is 1 when all "
        "connections get the same and 1/n when one of n takes all.</p>"
    )


def _pictures(rows: Sequence[Row]) -> str:
    panels = [
        picture(plots.to_svg(plots.goodput_over_time([row], scale=rows)), _alt(row)) for row in rows
    ]
    bars = picture(plots.to_svg(plots.goodput_bars(rows)), "The table's goodputs as bars.", "bars")
    seed = next((run["params"].get("seed") for row in rows for run in row.runs), None)
    return (
        "<h2>Goodput of each flow over time</h2>\n"
        f'<figure><div class="panels">{"".join(panels)}</div>\n'
        f"<figcaption>One line per flow, means over one second, seed {seed}. The shaded warm-up is "
        "not counted.</figcaption></figure>\n"
        f"<h2>Goodput of a connection</h2>\n<figure>{bars}\n"
        "<figcaption>Bars: means. Dots: every connection of every seed.</figcaption></figure>"
    )


def _alt(row: Row) -> str:
    if row.down_each is None or row.up_each is None:
        return f"{row.name}: no data for both directions."
    return (
        f"{row.name}: downloads near {row.down_each.mean:.2f} Mb/s each, "
        f"uploads near {row.up_each.mean:.2f} Mb/s each."
    )


def _smoothness(rows: Sequence[Row]) -> str:
    cells = [
        [
            escape(row.name),
            _spread(smooth(row, "goodput_cov")),
            _spread(smooth(row, "jain", "mean")),
            _spread(smooth(row, "jain", "min")),
        ]
        for row in rows
    ]
    headings = ["scheduler", "coefficient<br>of variation", "Jain index,<br>mean", "<br>least"]
    return (
        f"<h2>From second to second</h2>\n{table(headings, cells)}\n"
        '<p class="note">Goodput in windows of one second. The coefficient of variation is that of '
        "one connection, the mean of all; 0 is smooth. Jain's index is that of the connections "
        "within a second.</p>"
    )


def _delays(rows: Sequence[Row]) -> str:
    def shown(figure: Spread | str | None) -> str:
        return figure if isinstance(figure, str) else _spread(figure, 0)

    cells = [
        [escape(row.name), *(shown(delay(row, name)) for name in DELAY_FIGURES)] for row in rows
    ]
    headings = ["scheduler", *(f"{rank:g} %" for rank in DELAY_PERCENTILES)]
    return (
        f"<h2>How long datagrams take, ms</h2>\n{table(headings, cells)}\n"
        '<p class="note">One-way delay that so many of the datagrams did not exceed, of '
        "the slowest stream; means over the seeds, the range below. Of fewer than 1000 datagrams "
        "a run, 99.9 % is the longest delay.</p>"
    )


def _delay_picture(rows: Sequence[Row]) -> str:
    alt = "Delay of datagrams above, goodput of each download below, over time, by scheduler."
    shown = picture(plots.to_svg(delay_plots.delay_and_goodput(rows)), alt)
    return (
        f"<figure>{shown}\n<figcaption>Above: the datagrams of each second, the longest delay and "
        "the median. Below: each download. The first seed.</figcaption></figure>"
    )


def _short_transfers(rows: Sequence[Row]) -> str:
    """At a glance: the transfers LAS is for."""
    headings = ["scheduler<br>at the access point"]
    for direction in DIRECTIONS:
        word = f'<span class="{direction}">{plots.WORDS[direction]}</span>'
        headings += [f"{word}<br>50 %, s", "<br>90 %, s", "<br>99 %, s", "not<br>ended"]
    headings.append("total<br>Mb/s")
    cells = []
    for row in rows:
        line = [f"{escape(row.name)}<small><code>{escape(row.words)}</code></small>"]
        for direction in DIRECTIONS:
            line += [
                _spread(response(row, direction, SHORT, name)) for name in ("p50", "p90", "p99")
            ]
            line.append(str(counted(row, direction, SHORT, "unfinished")))
        cells.append([*line, _spread(row.total)])
    seeds = max((len(row.runs) for row in rows), default=0)
    words = f"Means over {seeds} seeds, the range below; counts of all seeds. " if seeds > 1 else ""
    offered = spread(run["offered_mbps"] for row in rows[:1] for run in row.runs)
    if offered:
        words += f"Offered: {offered.mean:.2f} Mb/s"
        words += f" ({offered.low:.2f} to {offered.high:.2f}). " if offered.n > 1 else ". "
    return (
        f"<h2>How long transfers under 100 kB take</h2>\n{table(headings, cells)}\n"
        f'<p class="note">{words}From the client\'s SYN to the last byte at the receiver, of the '
        "transfers that ended; every scheduler met the same ones at the same times.</p>"
    )


def _response_picture(rows: Sequence[Row]) -> str:
    alt = "Mean response time by size of transfer, a line per scheduler, downloads and uploads."
    shown = picture(plots.to_svg(plots.response_by_size(rows)), alt, "wide")
    return (
        f"<h2>Response time by size</h2>\n<figure>{shown}\n"
        "<figcaption>Transfers of all seeds in order of size, in bins of as many each; the mean "
        "of those that ended. As in figures 4 and 5 of layer2-layer3 (Documentation/papers.md)."
        "</figcaption></figure>"
    )


def _acks_picture(figure: Figure | None) -> str:
    if figure is None:
        return ""
    shown = picture(plots.to_svg(figure), "What sending fewer ACKs gives.", "wide")
    return (
        f"<h2>Fewer ACKs</h2>\n<figure>{shown}\n<figcaption>Dots: means over the seeds, bars: "
        "their range. Lines with an equation's number are the model of http-queueing "
        "(Documentation/papers.md).</figcaption></figure>"
    )


def _response_times(rows: Sequence[Row]) -> str:
    cells = []
    for row in rows:
        for direction in DIRECTIONS:
            for size, words in SIZE_WORDS.items():
                counts = [counted(row, direction, size, count) for count in ("n", "unfinished")]
                if not sum(counts):
                    continue
                names = ("mean", "p10", "p50", "p90", "p99")
                figures = [_spread(response(row, direction, size, name)) for name in names]
                first = [escape(row.name), plots.WORDS[direction], words]
                cells.append([*first, *map(str, counts), *figures])
    headings = ["scheduler", "", "size", "ended", "not", "mean", "10 %", "50 %", "90 %", "99 %"]
    note = gave_up(rows)
    return (
        "<h2>Response times of all transfers, seconds</h2>\n"
        f"{table(headings, cells, left=[1, 2], small=True)}"
        + (f'\n<p class="note">{escape(note)}</p>' if note else "")
    )


def _medium(rows: Sequence[Row]) -> str:
    if not any(run["medium"] for row in rows for run in row.runs):
        return ""  # a grid: real air counts nothing
    cells = [
        [
            escape(row.name),
            _spread(in_medium(row, "tx"), 0),
            _spread(in_medium(row, "collision_probability"), 3),
            _spread(in_medium(row, "drops"), 0),
            *(_share_of(row, "airtime_share", name) for name in ("success", "collision", "idle")),
            _share_of(row, "tcp_ack_airtime_share"),
        ]
        for row in rows
    ]
    headings = ["scheduler", "attempts", "collision<br>probability", "frames<br>dropped"]
    headings += ["airtime<br>delivering", "in<br>collisions", "idle"]
    headings.append("TCP ACKs,<br>of attempts")
    return (
        f"<h2>What the medium saw</h2>\n{table(headings, cells)}\n"
        '<p class="note">Of unicast attempts; a frame is dropped after its last retry. Idle '
        "includes back-off. The last column: what frames with a TCP ACK alone take of the "
        f"airtime of all attempts.</p>{_stations(rows)}"
    )


def _stations(rows: Sequence[Row]) -> str:
    """Each station's part of the airtime, where the medium counted it."""
    shares = [
        (run["medium"] or {}).get("station_airtime_share") for row in rows for run in row.runs
    ]
    names = list(dict.fromkeys(name for one in shares for name in one or {}))
    if not names:
        return ""
    cells = [
        [escape(row.name), *(_share_of(row, "station_airtime_share", name) for name in names)]
        for row in rows
    ]
    return (
        f"\n<h2>Airtime of each station</h2>\n{table(['scheduler', *names], cells, small=True)}\n"
        '<p class="note">Of the airtime of all attempts from and to stations.</p>'
    )


def _share_of(row: Row, *path: str) -> str:
    share = in_medium(row, *path)
    return _percent(share.mean if share else None)


IN_ONE_KERNEL = (
    "Real TCP, real mac80211 and real hostapd in one kernel, a network namespace per machine; the "
    "medium decides frame by frame who may send and what collides."
)
REAL_NODES = "Real machines and real air, in real time."


def _method(directory: Path, summary: Json, manifest: Json) -> str:
    runs = summary["runs"]
    windows = {(run["warmup_s"], run["duration_s"]) for run in runs if run["duration_s"]}
    window = ", ".join(f"from {begin:g} s to {end:g} s" for begin, end in sorted(windows))
    seeds = ", ".join(str(seed) for seed in manifest.get("seeds", []))
    command = str(manifest.get("command") or f"apbed run {summary['scenario']} --out {directory}")
    kernels = "<br>".join(
        escape(f"Linux {kernel.get('release')}, {kernel.get('machine', UNKNOWN)}")
        for kernel in manifest.get("kernels", {}).values()
    )
    hashes = {
        name: digest
        for kernel in manifest.get("kernels", {}).values()
        for name, digest in kernel.get("sha256", {}).items()
    }
    files = ", ".join(
        f"<code>{escape(name)}</code> {escape(digest[:12])}" for name, digest in hashes.items()
    )
    pairs = [
        ("Reproduces", escape(str(manifest.get("source") or UNKNOWN))),
        ("Kernel", kernels or UNKNOWN),
        ("Counted", escape(window or UNKNOWN) + " of virtual time"),
        ("Seeds", escape(seeds or UNKNOWN)),
        ("Speed", speed(summary, manifest) or UNKNOWN),
        ("Cost", cost(summary, manifest) or UNKNOWN),
        ("Files, SHA-256", files or UNKNOWN),
    ]
    where = REAL_NODES if manifest.get("grid") else IN_ONE_KERNEL
    return (
        "<h2>How it was measured</h2>\n"
        f"<p>{where} Each run proved that its packets went through the scheduler under test.</p>\n"
        f"{definitions(pairs)}\n<p>Run it again:</p>\n<pre>{escape(command)}</pre>"
    )


def _every_run(runs: Sequence[Json]) -> str:
    cells = [
        [
            f"<code>{escape(run['id'])}</code>",
            _plain(run["goodput_mbps"]["down"]),
            _plain(run["goodput_mbps"]["up"]),
            _plain(run["ratio_down_up"], 3),
            _plain(run["jain"], 3),
            _plain((run["medium"] or {}).get("collision_probability"), 3),
            f"<code>{escape(str((run['medium'] or {}).get('digest') or UNKNOWN))}</code>",
        ]
        for run in runs
        if run["valid"]
    ]
    headings = ["run", "down,<br>all Mb/s", "up,<br>all Mb/s", "ratio", "Jain", "collisions"]
    headings.append("digest of the medium's events")
    return f"<h2>Every valid run</h2>\n{table(headings, cells, small=True)}"


def _share(row: Row) -> str:
    if not row.runs:
        return "no valid run"
    if row.down_each is None or row.up_each is None:
        return UNKNOWN
    both = row.down_each.mean + row.up_each.mean
    width = 100 * row.down_each.mean / both if both else 0
    words = verdict(row.ratio.mean if row.ratio else None)
    return f'<span class="share"><i style="width:{width:.1f}%"></i></span><small>{words}</small>'


def _spread(value: Spread | None, digits: int = 2) -> str:
    if value is None:
        return UNKNOWN
    low, high = (f"{end:.{digits}f}" for end in (value.low, value.high))
    extent = f"<small>{low} to {high}</small>" if value.n > 1 and low != high else ""
    return f"{value.mean:.{digits}f}{extent}"


def _plain(value: float | None, digits: int = 2) -> str:
    return UNKNOWN if value is None else f"{value:.{digits}f}"


def _percent(value: float | None) -> str:
    return UNKNOWN if value is None else f"{100 * value:.0f}\N{NARROW NO-BREAK SPACE}%"


def _keep(stem: Path, figure: Figure) -> None:
    """The figure as STEM.svg and STEM.png, for other pages."""
    _write(stem.with_suffix(".svg"), plots.to_svg(figure).encode())
    _write(stem.with_suffix(".png"), plots.to_png(figure))


def _write(path: Path, content: bytes) -> None:
    partial = path.with_name(path.name + ".partial")
    partial.write_bytes(content)
    partial.replace(path)
