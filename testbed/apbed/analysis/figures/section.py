# SPDX-License-Identifier: GPL-2.0-only
"""The figures of a report: DIR/figure-ID.svg, .png and .csv, DIR/figures.json, and their HTML."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from html import escape
from pathlib import Path
from typing import Any

from apbed.analysis import plots
from apbed.analysis.figures.claims import Verdict, decide, named, placed
from apbed.analysis.figures.plot import draw, draw_each
from apbed.analysis.figures.points import Point, missing, points
from apbed.analysis.page import picture, table
from apbed.analysis.run_directory import Json
from apbed.errors import ApbedError
from apbed.scenario.figures import Figure

UNKNOWN = "\N{EN DASH}"


def sections(directory: Path, summary: Json, manifest: Mapping[str, Any]) -> list[str]:
    """HTML of each of the manifest's figures; writes their files. Without figures: nothing."""
    try:
        figures = [Figure.from_json(one) for one in manifest.get("figures", [])]
    except ValueError as error:
        raise ApbedError(
            f"{directory / 'manifest.json'}: {error}; run the scenario again"
        ) from None
    if not figures:
        return []
    html, found = [], []
    for figure in figures:
        ours = points(figure, summary["runs"])
        lacking = missing(figure, summary["runs"], ours)
        verdicts = [decide(figure, claim, ours, lacking) for claim in figure.expect]
        found.append(_as_json(figure, ours, verdicts))
        pictures: dict[str, str] = {}
        if ours:
            stem = directory / f"figure-{figure.id}"
            drawing = draw(figure, ours)
            stem.with_name(stem.name + ".svg").write_text(plots.to_svg(drawing))
            stem.with_name(stem.name + ".png").write_bytes(plots.to_png(drawing))
            stem.with_name(stem.name + ".csv").write_text(_as_csv(figure, ours))
            pictures = {name: plots.to_svg(one) for name, one in draw_each(figure, ours).items()}
        html.append(_section(figure, ours, verdicts, pictures))
    text = json.dumps({"schema": 1, "figures": found}, indent=1, allow_nan=False)
    (directory / "figures.json").write_text(text + "\n")
    return html


def _as_json(figure: Figure, ours: Sequence[Point], verdicts: Sequence[Verdict]) -> Json:
    return {
        "id": figure.id,
        "title": figure.title,
        "points": [dict(zip(_heads(figure), row, strict=True)) for row in _rows(ours)],
        "claims": [asdict(one) | {"as_expected": one.as_expected} for one in verdicts],
    }


def _heads(figure: Figure) -> list[str]:
    models = [f"{one.paper} {one.number}" for one in figure.model]
    return [*figure.panel, *figure.series, figure.x, "mean", "low", "high", "n", *models, "printed"]


def _rows(ours: Sequence[Point]) -> list[list[Any]]:
    rows = []
    for one in ours:
        value = one.measured
        known = [*one.panel, *one.series, one.x, value.mean, value.low, value.high, value.n]
        rows.append([*known, *one.model, one.printed])
    return rows


def _as_csv(figure: Figure, ours: Sequence[Point]) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(_heads(figure))
    writer.writerows(_rows(ours))
    return stream.getvalue()


def _section(
    figure: Figure,
    ours: Sequence[Point],
    verdicts: Sequence[Verdict],
    pictures: Mapping[str, str],
) -> str:
    """`pictures`: SVG by the name of its panel."""
    parts = [f"<h2>{escape(figure.id)}: {escape(figure.title)}</h2>"]
    if verdicts:
        parts.append(_verdicts(verdicts))
    if pictures:
        note = "Dots and bars: measured; their lines: 95 % confidence over the seeds. "
        if figure.model:
            note += "Lines with an equation's number: the model. "
        if figure.printed:
            note += "Crosses: printed in the paper."
        about = f"{figure.title}. {figure.y_label} against {figure.x_label}."
        images = [picture(svg, f"{about} {name}".strip()) for name, svg in pictures.items()]
        parts.append(
            f'<figure><div class="panels">{"".join(images)}</div>\n'
            f"<figcaption>{escape(note.strip())}</figcaption></figure>"
        )
    parts.append(_differences(figure, ours) if ours else "<p>Not run.</p>")
    return "\n".join(parts)


def _verdicts(verdicts: Sequence[Verdict]) -> str:
    cells = [
        [
            escape(one.claim),
            f"<b>{one.verdict}</b>"
            + ("" if one.as_expected else f"<small>expected: {one.expected}</small>"),
            f"{one.passed} of {one.tested}" if one.tested else UNKNOWN,
            escape(one.hardest) or UNKNOWN,
            str(one.seeds) if one.tested else UNKNOWN,
        ]
        for one in verdicts
    ]
    heads = ["claim", "verdict", "comparisons<br>passed", "the hardest", "seeds"]
    return table(heads, cells, left=[1, 3], small=True)


def _differences(figure: Figure, ours: Sequence[Point]) -> str:
    """Each point with the model's and the paper's, and how far it is from them."""
    heads = [*figure.panel, *figure.series, figure.x_label, "measured", "seeds"]
    for model in figure.model:
        heads += [f"eq. {model.number}", "difference"]
    printed = any(one.printed is not None for one in ours)
    heads += ["printed", "difference"] if printed else []
    cells = []
    for one in ours:
        value = one.measured
        extent = "" if value.low is None else f"<small>{value.low:.3g} to {value.high:.3g}</small>"
        places = [escape(named(figure, part)) for part in (*one.panel, *one.series)]
        places.append(escape(placed(figure, one.x)))
        row = [*places, f"{value.mean:.4g}{extent}", str(value.n)]
        for reference in (*one.model, *([one.printed] if printed else [])):
            row += _beside(value.mean, reference)
        cells.append(row)
    width = len(figure.panel) + len(figure.series)
    shown = table([escape(head) for head in heads], cells, left=list(range(width)), small=True)
    summary = f"<summary>All {len(cells)} points</summary>"
    return f"<details{' open' if len(cells) <= 40 else ''}>{summary}\n{shown}</details>"


def _beside(measured: float, reference: float | None) -> list[str]:
    if reference is None:
        return [UNKNOWN, UNKNOWN]
    return [f"{reference:.4g}", f"{measured / reference - 1:+.1%}" if reference else UNKNOWN]
