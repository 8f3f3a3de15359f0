# SPDX-License-Identifier: GPL-2.0-only
"""The project's Markdown pages, taken apart: links, anchors, code and prose."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
CODE_SPAN = re.compile(r"`[^`]*`")
REMARK = re.compile(r"<!--.*?-->", re.DOTALL)
GAP = re.compile(r"\s{2,}")
# A word of digits alone is a number, unless the word before says what it is.
COMMIT = re.compile(r"\b(?:(?<=ommit )|(?=\d*[a-f]))[0-9a-f]{7,12}\b")


def tracked() -> list[Path]:
    """Every file of the project, as git has them."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=TOP, capture_output=True, text=True, check=True
    )
    return [path for name in listed.stdout.split("\0") if name and (path := TOP / name).is_file()]


def pages() -> list[Path]:
    """Every Markdown page of the project."""
    return [path for path in tracked() if path.suffix == ".md"]


def history() -> tuple[str, ...]:
    """The hash of every commit that led here; none if this is no whole checkout."""
    shallow = _git("rev-parse", "--is-shallow-repository").strip() != "false"
    return () if shallow else tuple(_git("rev-list", "HEAD").split())


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=TOP, capture_output=True, text=True, check=False)
    return done.stdout


def lines(page: Path) -> Iterator[tuple[int, str, bool]]:
    """Number, text and whether it is code, of each line; list items are never code."""
    fenced, before = False, ""
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if line.startswith("```"):
            fenced = not fenced
            continue
        indented = line.startswith("    ") and (not before or before.startswith(("    ", "#")))
        yield number, line, fenced or indented
        before = line


def prose(page: Path) -> str:
    """The page without code blocks, code spans and link targets."""
    text = "\n".join(line for _, line, code in lines(page) if not code)
    text = REMARK.sub("", text)
    return CODE_SPAN.sub("", LINK.sub("]", text))


def commands(page: Path) -> Iterator[tuple[int, str]]:
    """The code lines of a page, continued lines joined, without remarks set off by blanks."""
    pending, first = "", 0
    for number, line, code in lines(page):
        if not code:
            pending = ""
            continue
        pending, first = (pending, first) if pending else ("", number)
        if line.endswith("\\"):
            pending += line[:-1].strip() + " "
            continue
        yield first, GAP.split((pending + line.strip()).strip())[0]
        pending = ""


def links(page: Path) -> Iterator[tuple[str, str]]:
    """Path and anchor of each link that leads to a file of the project."""
    for target in LINK.findall("\n".join(line for _, line, code in lines(page) if not code)):
        if "://" not in target:
            path, _, anchor = target.partition("#")
            yield path, anchor


def anchors(page: Path) -> set[str]:
    """The anchors that a Markdown viewer makes of a page's headings."""
    titles = [title.lower().strip() for title in HEADING.findall(page.read_text())]
    return {re.sub(r"[^\w\- ]", "", title).replace(" ", "-") for title in titles}
