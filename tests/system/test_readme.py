# SPDX-License-Identifier: GPL-2.0-only
"""The README's operator section, typed as it stands by an ordinary user of a clean Debian 12.

All of it happens in a machine that QEMU emulates, the compilation too.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from apbed.checkout import REPOSITORY
from tests.system import image, judge
from tests.system.machine import Machine

UNINSTALL = "make uninstall removes all of it"


def commands() -> list[str]:
    """The lines of the section's block, as they are."""
    readme = (REPOSITORY / "README.md").read_text()
    section = readme.partition("\n## Access point operators\n")[2].partition("\n## ")[0]
    block = re.search(r"(?:^    .*\n)+", section, re.MULTILINE)
    assert block
    return [line.strip() for line in block[0].splitlines()]


def checkout(archive: Path) -> Path:
    """What git knows of this tree, and what is new in it, as one archive."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=REPOSITORY, capture_output=True, check=True).stdout
    there = [name for name in names.split(b"\0") if name and (REPOSITORY / name.decode()).exists()]
    words = ["tar", "-c", "--null", "-T", "-", "-f", str(archive)]
    subprocess.run(words, cwd=REPOSITORY, input=b"\0".join(there), check=True)
    return archive


@pytest.fixture(scope="module")
def typed(tools: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("readme")
    machine = Machine(image.disk(image.RELEASES["12"]), place / "machine", tools)
    lines = place / "lines"
    lines.write_text("".join(f"{line}\n" for line in commands()))
    machine.give(lines, checkout(place / "checkout.tar"))
    return machine.boot("readme")


def test_the_section_says_how_to_remove_it() -> None:
    assert sum(UNINSTALL in line for line in commands()) == 1


def test_it_works(typed: Path) -> None:
    judge.assert_it_works(typed, typed)


def test_lasack_top_shows_connections(typed: Path) -> None:
    """Once on a terminal, until q, and once as a table."""
    for name in ("lasack-top", "top-lasack"):
        text = (typed / name).read_text(errors="replace")
        assert "wlan0" in text and "10.1.0.11" in text


def test_uninstall_leaves_nothing(typed: Path) -> None:
    judge.assert_nothing_is_left(typed, typed)


def test_uninstall_unloads_what_ran(typed: Path) -> None:
    judge.assert_nothing_runs(typed, typed)
