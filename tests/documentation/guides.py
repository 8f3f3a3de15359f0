# SPDX-License-Identifier: GPL-2.0-only
"""The commands of the guides: where each is run, or why none is.

In a guide a command stands between fences that say where the tests run it: "```sh access-point"
or "```sh checkout". If they do not, the line before says "Not run by the tests: " and why, for
the reader to see.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.documentation.pages import TOP

GUIDES = TOP / "Documentation" / "guide"
PLACES = ("access-point", "checkout")
EXCUSE = re.compile(r"^Not run by the tests: \w.{10,}\.$")
FENCE = "```"


@dataclass(frozen=True)
class Block:
    """Commands between two fences; `place` or `excuse` is None."""

    line: int  # of its first command
    text: str
    place: str | None
    excuse: str | None


def guides() -> list[Path]:
    """Every guide."""
    return sorted(GUIDES.glob("*.md"))


def blocks(text: str) -> Iterator[Block]:
    """The blocks of commands of a guide; ValueError for one without a place and an excuse."""
    lines = text.splitlines()
    opened: int | None = None
    for number, line in enumerate(lines, 1):
        if line.startswith("    ") and opened is None:
            raise ValueError(f"line {number}: an indented line says not where it is run")
        if not line.startswith(FENCE):
            continue
        if opened is None:
            opened = number
            continue
        words = lines[opened - 1].removeprefix(FENCE).split()
        if words[:1] == ["sh"]:
            body = "\n".join(lines[opened : number - 1])
            yield _block(opened + 1, words[1:], _before(lines, opened - 1), body)
        elif words:
            raise ValueError(f"line {opened}: unknown fence {' '.join(words)}")
        opened = None
    if opened is not None:
        raise ValueError(f"line {opened}: a fence that is not closed")


def _before(lines: list[str], index: int) -> str:
    """The last line with text before this one."""
    return next((line for line in reversed(lines[:index]) if line.strip()), "")


def _block(line: int, words: list[str], before: str, text: str) -> Block:
    excuse = before if EXCUSE.match(before) else None
    place = words[0] if words else None
    if (place is None) == (excuse is None) or (place and place not in PLACES):
        raise ValueError(f"line {line}: say one of {', '.join(PLACES)} or why it is not run")
    return Block(line, text, place, excuse)


def script(guide: Path, place: str) -> str:
    """All commands of a guide for one place, in order, each block announced by its line."""
    found = [block for block in blocks(guide.read_text()) if block.place == place]
    parts = (f": {guide.name} line {block.line}\n{block.text}\n" for block in found)
    return "".join(parts)
