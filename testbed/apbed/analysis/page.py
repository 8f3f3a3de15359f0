# SPDX-License-Identifier: GPL-2.0-only
"""The pieces of a self-contained HTML page: style, tables, pictures.

Principle: one file, nothing loaded from anywhere, readable on a phone and on paper.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from html import escape

PX_PER_PT = 96 / 72  # CSS
SHRUNK = 0.75  # of its own size: words of 8.5 pt have 8.5 pixels then
PHONE_PX = 320  # about what a phone's screen leaves for a picture

STYLE = """\
:root { --ink: #1a1f26; --faint: #6b7480; --line: #e3e7ec; --wash: #f6f7f9;
  --down: #0072B2; --up: #D55E00; --bad: #a3232e; }
* { box-sizing: border-box; }
body { margin: 0; color: var(--ink); background: #fff; -webkit-text-size-adjust: 100%;
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
main { max-width: 68rem; margin: 0 auto; padding: 2.2rem 1.2rem 4rem; }
.over { margin: 0; color: var(--faint); font-size: .85rem; letter-spacing: .04em; }
h1 { margin: .2rem 0 .8rem; font-size: clamp(1.5rem, 4vw, 2.1rem); line-height: 1.2;
  letter-spacing: -.015em; }
h2 { margin: 2.8rem 0 .6rem; font-size: 1.15rem; letter-spacing: -.005em; }
.lead { margin: 0 0 .6rem; max-width: 46rem; font-size: clamp(1.05rem, 2.6vw, 1.25rem); }
p, li { max-width: 46rem; }
.note { color: var(--faint); font-size: .88rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th { padding: .3rem .9rem .45rem 0; color: var(--faint); font-size: .82rem; font-weight: 500;
  line-height: 1.25; text-align: right; vertical-align: bottom;
  border-bottom: 1.5px solid var(--ink); }
td { padding: .55rem .9rem .55rem 0; text-align: right; vertical-align: top;
  border-bottom: 1px solid var(--line); white-space: nowrap; }
th:first-child, td:first-child, th.left, td.left { text-align: left; }
td:first-child { font-weight: 600; }
td:first-child small { min-width: 6.5rem; white-space: normal; }
td small { display: block; color: var(--faint); font-size: .76rem; font-weight: 400; }
table.small td { padding-top: .3rem; padding-bottom: .3rem; font-size: .86rem; }
.down { color: var(--down); } .up { color: var(--up); }
.share { display: flex; width: 9rem; height: .8rem; margin: .35rem 0 .2rem; border-radius: 2px;
  overflow: hidden; background: var(--up); print-color-adjust: exact;
  -webkit-print-color-adjust: exact; }
.share i { background: var(--down); border-right: 2px solid #fff; }
.panels { display: grid; grid-template-columns: repeat(auto-fit, minmax(19rem, 1fr)); gap: .6rem; }
figure { margin: 1rem 0 0; }
figcaption { color: var(--faint); font-size: .88rem; max-width: 46rem; }
img { display: block; width: 100%; height: auto; }
img.bars, .panels > img { max-width: 34rem; } img.wide { max-width: 50rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .35rem 1.4rem; margin: 0; }
dt { color: var(--faint); } dd { margin: 0; overflow-wrap: anywhere; }
code, pre { font: .88em/1.5 ui-monospace, "DejaVu Sans Mono", monospace; }
pre { margin: .4rem 0; padding: .7rem .9rem; background: var(--wash); border-radius: 6px;
  overflow-x: auto; }
.invalid { padding: .8rem 1.1rem; border-left: 4px solid var(--bad); background: #fbf3f3; }
.invalid h2 { margin-top: 0; color: var(--bad); }
summary { color: var(--faint); font-size: .88rem; cursor: pointer; margin: .6rem 0; }
@media screen and (prefers-color-scheme: dark) { :root { --ink: #e4e7eb; --faint: #9aa4b0;
  --line: #333a43; --wash: #20252c; --down: #56b4e9; --up: #f0894a; --bad: #e5737c; }
  body { background: #15181d; } img { background: #fff; border-radius: 6px; padding: .4rem; }
  .invalid { background: #2a1b1d; } .share i { border-color: #15181d; } }
@media (max-width: 40rem) { dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: .6rem; }
  th, td { padding-right: .55rem; } th { font-size: .76rem; } .share { width: 6.5rem; } }
@media print { main { max-width: none; padding: 0; } body { font-size: 10.5pt; }
  .panels { grid-template-columns: repeat(3, 1fr); } figure, tr, .invalid { break-inside: avoid; }
  h2 { break-after: avoid; } pre { white-space: pre-wrap; } .scroll { overflow: visible; } }
"""


def document(title: str, body: str) -> str:
    """A whole page; `body` is HTML."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{STYLE}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def table(
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    left: Sequence[int] = (),
    small: bool = False,
) -> str:
    """A table of cells that are HTML already. `left`: columns aligned left beside the first."""

    def line(tag: str, cells: Sequence[str]) -> str:
        marked = (
            f'<{tag} class="left">{cell}</{tag}>' if place in left else f"<{tag}>{cell}</{tag}>"
            for place, cell in enumerate(cells)
        )
        return f"<tr>{''.join(marked)}</tr>"

    kind = ' class="small"' if small else ""
    body = "\n".join(line("td", cells) for cells in rows)
    return (
        f'<div class="scroll"><table{kind}><thead>{line("th", headings)}</thead>\n'
        f"<tbody>\n{body}\n</tbody></table></div>"
    )


def picture(svg: str, alt: str, css: str = "") -> str:
    """An SVG as an image of its own, so that names inside it meet no others.

    On a screen that is too narrow for its words, a wide one is scrolled.
    """
    data = base64.b64encode(svg.encode()).decode()
    kind = f' class="{css}"' if css else ""
    width = re.search(r'width="([\d.]+)pt"', svg)
    least = round(SHRUNK * float(width[1]) * PX_PER_PT) if width else 0
    image = f'alt="{escape(alt)}" src="data:image/svg+xml;base64,{data}">'
    if least <= PHONE_PX:
        return f"<img{kind} {image}"
    return f'<div class="scroll"><img{kind} style="min-width: {least}px" {image}</div>'


def definitions(pairs: Sequence[tuple[str, str]]) -> str:
    """Terms and their descriptions, the latter HTML already."""
    return "<dl>" + "".join(f"<dt>{term}</dt><dd>{words}</dd>" for term, words in pairs) + "</dl>"
