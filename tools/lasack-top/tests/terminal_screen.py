# SPDX-License-Identifier: GPL-2.0-only
"""What a VT100 would show after it was sent some bytes, as text or as a picture.

    terminal_screen.py BYTES_FILE PNG

As much of a VT100 as ncurses uses of it (terminfo, `infocmp vt100`): moving the cursor,
clearing, bold and reverse.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

LINES, COLUMNS = 24, 80
SEQUENCE = re.compile(r"\x1b\[([?\d;]*)([A-Za-z])|\x1b[()][A-Z0-9]|\x1b[=>78]|[\x00\x0e\x0f]")
TEXT, PAPER = "#d8dee9", "#20242c"


@dataclass
class Screen:
    """Cells of (character, attributes), where attributes are of {"1": bold, "7": reverse}."""

    cells: list[list[tuple[str, frozenset[str]]]] = field(
        default_factory=lambda: [[(" ", frozenset())] * COLUMNS for _ in range(LINES)]
    )
    line: int = 0
    column: int = 0
    attributes: frozenset[str] = frozenset()

    def write(self, text: str) -> None:
        """Take what a program wrote; a sequence that is not known is an error."""
        at = 0
        while at < len(text):
            if found := SEQUENCE.match(text, at):
                at = found.end()
                if found[2]:
                    self.control(found[1], found[2])
                continue
            self.character(text[at])
            at += 1

    def character(self, character: str) -> None:
        if character == "\r":
            self.column = 0
        elif character == "\n":
            self.line = min(self.line + 1, LINES - 1)
        elif character == "\b":
            self.column -= 1
        elif character == "\x1b":
            raise ValueError("an escape sequence that a VT100 does not know")
        else:
            column = min(self.column, COLUMNS - 1)
            self.cells[self.line][column] = (character, self.attributes)
            self.column = column + 1

    def control(self, parameters: str, final: str) -> None:
        numbers = [int(word or 0) for word in parameters.lstrip("?").split(";")]
        blank = [(" ", frozenset[str]())] * COLUMNS
        if final == "H":
            self.line = max(numbers[0], 1) - 1
            self.column = max(numbers[1], 1) - 1 if len(numbers) > 1 else 0
        elif final in "ABCD":
            step = max(numbers[0], 1)
            line = self.line + {"A": -step, "B": step}.get(final, 0)
            column = self.column + {"C": step, "D": -step}.get(final, 0)
            self.line = min(max(line, 0), LINES - 1)
            self.column = min(max(column, 0), COLUMNS - 1)
        elif final == "K":
            from_, to = (0, self.column + 1) if numbers[0] == 1 else (self.column, COLUMNS)
            self.cells[self.line][from_:to] = blank[from_:to]
        elif final == "J":
            self.cells[self.line][self.column :] = blank[self.column :]
            self.cells[self.line + 1 :] = [list(blank) for _ in self.cells[self.line + 1 :]]
        elif final == "m":
            for number in numbers:
                self.attributes = self.attributes | {str(number)} if number else frozenset()
        elif final not in "hlr":
            raise ValueError(f"what does ESC [ {parameters} {final} mean?")

    def text(self) -> list[str]:
        """The lines without what is blank at their ends."""
        return ["".join(character for character, _ in line).rstrip() for line in self.cells]


def draw(screen: Screen, picture: Path) -> None:
    """The screen as a PNG."""
    from matplotlib import pyplot
    from matplotlib.patches import Rectangle

    width, height = 8.0, 16.0  # of a cell, in points
    size = (COLUMNS + 2) * width / 72, (LINES + 1) * height / 72
    figure = pyplot.figure(figsize=size, facecolor=PAPER)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(-1, COLUMNS + 1), ylim=(LINES + 0.5, -0.5))
    axes.axis("off")
    for y, line in enumerate(screen.cells):
        for x, (character, attributes) in enumerate(line):
            reverse = "7" in attributes
            if reverse:
                axes.add_patch(Rectangle((x, y), 1.02, 1, color=TEXT, linewidth=0))
            axes.text(
                x + 0.5,
                y + 0.5,
                character.replace("$", r"\$"),
                color=PAPER if reverse else TEXT,
                weight="bold" if "1" in attributes else "normal",
                family="DejaVu Sans Mono",
                size=11.5,
                ha="center",
                va="center_baseline",
            )
    figure.savefig(picture, dpi=100, facecolor=PAPER)


def last_screen(written: Path) -> Screen:
    """Before the keypad was set back (rmkx), with which ncurses ends."""
    screen = Screen()
    screen.write(written.read_bytes().decode().rpartition("\x1b[?1l")[0])
    return screen


def main(written: Path, picture: Path) -> int:
    draw(last_screen(written), picture)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1]), Path(sys.argv[2])))
