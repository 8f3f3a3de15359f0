# SPDX-License-Identifier: GPL-2.0-only
"""`apbed model`: what the papers' equations say, alone or beside what was measured.

Tables are Markdown, as they stand in Documentation/.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from apbed.analysis import ack_comparison, ack_plots
from apbed.analysis.ack_comparison import Upload
from apbed.papers import http_queueing, simultaneous_send, thin_acks
from apbed.papers.phy import HRDSSS_11
from apbed.papers.saturation import saturation

SEGMENT_BYTES = 1000 + thin_acks.HEADER_BYTES

EXAMPLES = """\
examples:
  apbed model http-queueing
  apbed model http-queueing --stations 1 10 --every 1 2 3
  apbed model http-queueing --beside out/ack-every
  apbed model http-queueing --sessions out/ack-http
  apbed model simultaneous-send
  apbed model simultaneous-send --beside out/ack-skip-short out/ack-skip-long

DIR is what `apbed run --out DIR` made of the scenarios ack-every, ack-http and ack-skip-*.
`apbed report DIR` draws the pictures.
"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `apbed model`."""
    parser = subparsers.add_parser(
        "model",
        help="compute a paper's equations, and compare them with measured runs",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    models = parser.add_subparsers(dest="model", metavar="MODEL", required=True)
    _add_http_queueing(models)
    _add_simultaneous_send(models)


def _add_http_queueing(models: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    http = models.add_parser(
        "http-queueing", help="throughput of downloads that acknowledge every d-th segment"
    )
    http.add_argument(
        "--stations",
        type=_count,
        nargs="+",
        default=[1, 10],
        metavar="N",
        help="numbers of downloading stations (default: 1 10)",
    )
    http.add_argument(
        "--every",
        type=_count,
        nargs="+",
        default=range(1, 10),
        metavar="D",
        help="segments per ACK (default: 1 to 9)",
    )
    http.add_argument(
        "--beside", type=Path, metavar="DIR", help="compare the model with runs of ack-every"
    )
    http.add_argument(
        "--sessions", type=Path, metavar="DIR", help="compare equation 14 with runs of ack-http"
    )
    http.set_defaults(func=run_http_queueing)


def _add_simultaneous_send(models: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    send = models.add_parser(
        "simultaneous-send", help="how often frames collide, ack-skipping's equation 1"
    )
    send.add_argument(
        "--flows",
        type=_count,
        nargs="+",
        default=[1, 2, 3],
        metavar="N",
        help="numbers of uploads at once (default: 1 2 3)",
    )
    send.add_argument(
        "--beside",
        type=Path,
        nargs="+",
        default=[],
        metavar="DIR",
        help="add the gain in runs of ack-skip-short or ack-skip-long",
    )
    send.set_defaults(func=run_simultaneous_send)


def run_http_queueing(args: argparse.Namespace) -> int:
    """Print eqs. 8 and 12, beside a directory's runs if one is given."""
    if args.sessions:
        _print_sessions(args.sessions)
    elif args.beside:
        _print_throughput(args.beside)
    else:
        rows = [
            [str(n), str(d), f"{http_queueing.throughput(n, d) / 1e6:.3f}"]
            for n in args.stations
            for d in args.every
        ]
        _print(["stations", "d", "Mb/s"], rows)
    return 0


def _print_throughput(directory: Path) -> None:
    """Measured beside eqs. 8 and 12."""
    rows = []
    for point in ack_comparison.points(ack_comparison.load(directory)):
        model = http_queueing.throughput(point.stations, point.every) / 1e6
        rows.append(
            [
                str(point.stations),
                str(point.every),
                f"{model:.2f}",
                f"{point.mbps.mean:.2f}",
                f"{point.mbps.mean / model - 1:+.1%}",
                f"{point.segments_per_ack:.2f}",
                f"{point.collision_probability:.3f}",
            ]
        )
    heads = ["stations", "d", "model", "measured", "difference", "segments/ACK", "collisions"]
    _print(heads, rows)


def _print_sessions(directory: Path) -> None:
    """Mean times beside eq. 14 of the very sizes that ended."""
    rows = []
    for one in ack_comparison.sessions(ack_comparison.load(directory)):
        each = [http_queueing.session_s(8 * size) for size in one.sizes]
        model_s = sum(each) / len(each)
        rows.append(
            [
                f"1 to {one.every}" if one.growing else str(one.every),
                str(len(each)),
                str(one.unfinished),
                f"{1000 * model_s:.1f}",
                f"{1000 * one.mean_s:.1f}",
                f"{one.mean_s / model_s - 1:+.1%}",
                str(one.timeouts),
            ]
        )
    heads = ["d", "ended", "open", "eq. 14, ms", "measured, ms", "difference", "timeouts"]
    _print(heads, rows)


def run_simultaneous_send(args: argparse.Namespace) -> int:
    """Print eq. 1, and what skipping gave if directories are given."""
    found = [
        one
        for directory in args.beside
        for one in ack_comparison.uploads(ack_comparison.load(directory))
    ]
    rows = []
    for flows in args.flows:
        same = [one.collision_probability for one in found if one.flows == flows and not one.skip]
        nodes = saturation(flows + 1, SEGMENT_BYTES, HRDSSS_11, eifs=True)
        row = [str(flows), f"{simultaneous_send.same_slot_probability(flows):.1%}"]
        row.append(f"{nodes.collision_probability:.1%}")
        rows.append([*row, *([f"{min(same):.1%} to {max(same):.1%}"] if same else [])])
    heads = ["flows", "eq. 1", "attempts, saturated"]
    _print([*heads, *(["attempts, measured at skip 0"] if found else [])], rows)
    print()
    _print_bounds(sorted({one.skip for one in found}) or range(4))
    if found:
        print()
        _print_gains(found)
    return 0


def _print_bounds(skips: Sequence[int]) -> None:
    """What an upload alone can gain: eq. 8 of http-queueing with the exchanges of basic access."""
    rows = []
    for every in (1, 2):
        gains = [thin_acks.gain(every * (skip + 1), every) for skip in skips if skip]
        rate = f"{thin_acks.throughput_mbps(every):.2f}"
        rows.append([str(every), rate, *(f"{gain:+.0%}" for gain in gains)])
    _print(["every", "Mb/s", *(f"skip {skip}" for skip in skips if skip)], rows)


def _print_gains(found: Sequence[Upload]) -> None:
    """A row for each cell with its skips side by side: what they gave, then what they cost."""
    cells: dict[tuple[int, int, int, int, int], list[Upload]] = {}
    for one in found:
        key = (one.size, one.attempts, one.every, one.flows, one.after)
        cells.setdefault(key, []).append(one)
    gains, costs = [], []
    for (size, *counts_of_cell), ours in sorted(cells.items()):
        cell = [ack_plots.in_words(size), *map(str, counts_of_cell)]
        rate = next((f"{one.mbps.mean:.2f}" for one in ours if not one.skip), "")
        gained = [f"{one.gain.mean:+.1%}" if one.gain else "" for one in ours if one.skip]
        sent = ", ".join(f"{one.segments_per_ack:.1f}" for one in ours)
        delivered = ", ".join(f"{one.delivered_per_ack:.1f}" for one in ours)
        gains.append([*cell, rate, *gained, sent, delivered])
        counts = [
            ", ".join(str(one.counters[name]) for one in ours) for name in ack_comparison.COUNTERS
        ]
        costs.append([*cell, *counts, str(sum(one.unfinished for one in ours))])
    heads = ["size", "attempts", "every", "flows", "after"]
    skipped = [f"skip {skip}" for skip in sorted({one.skip for one in found}) if skip]
    _print([*heads, "Mb/s each", *skipped, "segments/ACK sent", "delivered"], gains)
    print()
    _print([*heads, "retransmitted", "timeouts", "D-SACK", "open"], costs)


def _print(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    print("| " + " | ".join(heads) + " |")
    print("|" + "---|" * len(heads))
    for row in rows:
        print("| " + " | ".join(row) + " |")


def _count(word: str) -> int:
    if not word.isdigit() or not 1 <= int(word) <= 50:
        raise argparse.ArgumentTypeError(f"{word!r}: expected a whole number from 1 to 50")
    return int(word)
