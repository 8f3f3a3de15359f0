# SPDX-License-Identifier: GPL-2.0-only
"""`apbed model`: what the papers' equations say, alone or beside what was measured.

Tables are Markdown, as they stand in Documentation/.
"""

from __future__ import annotations

import argparse
import json
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from apbed.analysis import ack_comparison, ack_plots
from apbed.analysis.ack_comparison import Upload
from apbed.errors import ApbedError
from apbed.papers import equations, http_queueing, simultaneous_send, thin_acks
from apbed.papers.equation import Equation, Number
from apbed.papers.phy import HRDSSS_11
from apbed.papers.saturation import saturation
from apbed.scenario import document

SEGMENT_BYTES = 1000 + thin_acks.HEADER_BYTES
MOST_ROWS = 10_000

EXAMPLES = """\
examples:
  apbed model http-queueing                               its equations
  apbed model http-queueing 8                             one of them
  apbed model http-queueing 12 --set n_c=10 --set 'd=[1, 2, 3]'
  apbed model http-queueing A.3 --json
  apbed model http-queueing --beside out/http-queueing-f3-f6    eqs. 8 and 12 beside runs
  apbed model http-queueing --sessions out/http-queueing-t3     eq. 14 beside runs
  apbed model ack-skipping 1
  apbed model ack-skipping --beside out/ack-skipping-f3-f5 out/ack-skipping-f4-f6

DIR is what `apbed run --out DIR` made of the scenarios http-queueing-* and ack-skipping-*.
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
    parser.add_argument(
        "paper", choices=equations.PAPERS, metavar="PAPER", help=", ".join(equations.PAPERS)
    )
    parser.add_argument(
        "equation", nargs="?", metavar="EQUATION", help="its number (default: list them)"
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUES",
        help="a parameter's value, or a list of them as in TOML",
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    beside = parser.add_mutually_exclusive_group()
    beside.add_argument(
        "--beside",
        type=Path,
        nargs="+",
        default=[],
        metavar="DIR",
        help="beside runs: http-queueing of http-queueing-f3-f6, ack-skipping of ack-skipping-*",
    )
    beside.add_argument(
        "--sessions",
        type=Path,
        metavar="DIR",
        help="http-queueing 14 beside runs of http-queueing-t3",
    )
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """Print a paper's equations, one of them, or the paper's beside runs."""
    if args.sessions or args.beside:
        _print_beside(args)
    elif args.equation is None:
        if args.set:
            raise ApbedError("--set: expected an EQUATION, too")
        _print_equations(args.paper, as_json=args.json)
    else:
        equation = equations.find(args.paper, args.equation)
        _print_equation(equation, _parameters(equation, args.set), as_json=args.json)
    return 0


def _print_beside(args: argparse.Namespace) -> None:
    """The comparisons of measurements/tcp-ack-skip.md."""
    if args.equation is not None or args.set or args.json:
        raise ApbedError("--beside and --sessions: expected only PAPER beside them")
    if args.paper == "http-queueing" and args.sessions:
        _print_sessions(args.sessions)
    elif args.paper == "http-queueing":
        for directory in args.beside:
            _print_throughput(directory)
    elif args.paper == "ack-skipping" and args.beside:
        _print_skipping(args.beside)
    else:
        raise ApbedError(f"{args.paper}: nothing is compared; a scenario's [[figure]] does it")


def _print_equations(paper: str, *, as_json: bool) -> None:
    found = equations.of_paper(paper)
    if as_json:
        words = [
            {
                "equation": one.number,
                "meaning": one.meaning,
                "parameters": {name: par.meaning for name, par in one.parameters.items()},
                "figures": list(one.figures),
                "repaired": one.repaired,
            }
            for one in found
        ]
        print(json.dumps({"paper": paper, "equations": words}, indent=1))
        return
    heads = ["equation", "parameters", "what", "the text"]
    _print(heads, [[e.number, ", ".join(e.parameters), e.meaning, e.repaired] for e in found])


def _print_equation(
    equation: Equation, values: Mapping[str, Sequence[Number]], *, as_json: bool
) -> None:
    """Its table, how the text is wrong, and what the paper prints."""
    combinations = 1
    for name, one in equation.parameters.items():
        combinations *= len(values.get(name, one.default))
    if combinations > MOST_ROWS:
        raise ApbedError(f"{combinations} rows; expected at most {MOST_ROWS}")
    rows = equation.table(values)
    heads = [*equation.parameters, *equation.figures]
    compared = [(one, equation.at(one.at)[one.figure]) for one in equation.printed]
    if as_json:
        printed = [
            {"at": dict(one.at), "printed": one.value, "computed": ours, "where": one.where}
            for one, ours in compared
        ]
        table = {
            "paper": equation.paper,
            "equation": equation.number,
            "columns": heads,
            "rows": rows,
            "repaired": equation.repaired,
            "printed": printed,
        }
        print(json.dumps(table, indent=1))
        return
    print(f"{equation.name}: {equation.meaning}")
    for name, one in equation.parameters.items():
        print(f"{name}: {one.meaning}")
    if equation.repaired:
        print(f"The text: {equation.repaired}")
    print()
    _print(heads, [[f"{value:.5g}" for value in row] for row in rows])
    if compared:
        print()
        heads = ["at", "printed", "computed", "where"]
        _print(
            heads,
            [
                [
                    ", ".join(f"{name} = {value:g}" for name, value in one.at.items()),
                    f"{one.value:.{one.digits}f}",
                    f"{ours:.5g}",
                    one.where,
                ]
                for one, ours in compared
            ],
        )


def _parameters(equation: Equation, words: Sequence[str]) -> dict[str, list[Number]]:
    """NAME=VALUES of --set."""
    found: dict[str, list[Number]] = {}
    for word in words:
        name, equals, text = word.partition("=")
        try:
            value = document.read(f"value = {text}")["value"] if equals else None
        except (tomllib.TOMLDecodeError, ApbedError):
            value = None
        listed = value if isinstance(value, list) else [value]
        values = [
            one for one in listed if isinstance(one, int | float) and not isinstance(one, bool)
        ]
        if not values or len(values) < len(listed):
            raise ApbedError(f"--set {word}: expected NAME=NUMBER or 'NAME=[NUMBER, ...]'")
        if name not in equation.parameters:
            equation.at({name: 0})  # which says what there is
        found[name] = values
    return found


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


def _print_skipping(directories: Sequence[Path]) -> None:
    """Eq. 1, and what skipping gave."""
    found = [
        one
        for directory in directories
        for one in ack_comparison.uploads(ack_comparison.load(directory))
    ]
    rows = []
    for flows in sorted({one.flows for one in found}):
        same = [one.collision_probability for one in found if one.flows == flows and not one.skip]
        nodes = saturation(flows + 1, SEGMENT_BYTES, HRDSSS_11, eifs=True)
        row = [str(flows), f"{simultaneous_send.same_slot_probability(flows):.1%}"]
        row.append(f"{nodes.collision_probability:.1%}")
        rows.append([*row, *([f"{min(same):.1%} to {max(same):.1%}"] if same else [])])
    heads = ["flows", "eq. 1", "attempts, saturated"]
    _print([*heads, "attempts, measured at skip 0"], rows)
    print()
    _print_bounds(sorted({one.skip for one in found}))
    print()
    _print_gains(found)


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
