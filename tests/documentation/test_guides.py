# SPDX-License-Identifier: GPL-2.0-only
"""Every command of a guide is run where it says, or says to the reader why not."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from apbed.kernels import lab
from apbed.kernels.cache import LabKernel
from apbed.kernels.watchdog import Watchdog
from tests.documentation import spans
from tests.documentation.guides import Block, blocks, guides, script
from tests.documentation.pages import TOP
from tests.runner import suites

ACCESS_POINT = TOP / "tests" / "documentation" / "access_point.sh"


def with_place(place: str) -> list[Path]:
    return [guide for guide in guides() if script(guide, place)]


@pytest.mark.parametrize("guide", guides(), ids=lambda guide: guide.stem)
def test_commands_say_where_they_run(guide: Path) -> None:
    assert list(blocks(guide.read_text()))


@pytest.mark.parametrize("guide", guides(), ids=lambda guide: guide.stem)
def test_commands_in_sentences_are_run(guide: Path) -> None:
    """By a block, by a test that exists, or as a suite that exists."""
    assert spans.unknown(guide) == []
    names = {suite.name for suite in suites.suites()}
    for span in spans.loose(guide):
        if found := spans.SUITES.fullmatch(span):
            assert set(found[1].split()) <= names, span


def test_tests_of_commands_exist() -> None:
    """And each of those commands is still in a guide."""
    said = {span for guide in guides() for span in spans.loose(guide)}
    assert spans.ON_AN_ACCESS_POINT.keys() | spans.IN_A_CHECKOUT.keys() <= said
    for span, test in spans.ELSEWHERE.items():
        assert span in said
        assert not test.startswith("tests/") or (TOP / test).is_file(), test


@pytest.mark.parametrize("guide", with_place("access-point"), ids=lambda guide: guide.stem)
def test_on_an_access_point(lab_kernel: LabKernel, guide: Path, tmp_path: Path) -> None:
    """As root, in the guide's order; the first command that fails ends it. Then those in tables."""
    commands = tmp_path / "commands"
    place = "access-point"
    commands.write_text(script(guide, place) + spans.script(guide, place))
    words = [str(TOP), str(lab_kernel.build_dir), str(lab_kernel.hwsim), str(commands)]
    console = tmp_path / "console.log"
    words = ["sh", str(ACCESS_POINT), *words]
    guest = lab.Guest(lab_kernel, words, tmp_path, workdir=tmp_path, seed=1, console=console)
    result = lab.boot(guest, Watchdog(limit_s=300))
    assert result.status == 0, f"{result.why}: {console.read_text()[-3000:]}"


@pytest.mark.parametrize("guide", with_place("checkout"), ids=lambda guide: guide.stem)
def test_in_a_checkout(guide: Path) -> None:
    """As the user of a fresh checkout; the first command that fails ends it."""
    shutil.rmtree(TOP / "out" / "guide", ignore_errors=True)
    environment = {**os.environ, "MAKEFLAGS": ""}
    done = subprocess.run(
        ["sh", "-exc", script(guide, "checkout") + spans.script(guide, "checkout")],
        cwd=TOP,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]


def test_fences() -> None:
    """A command without a place and without a reason is refused, and so is one with both."""
    excuse = "Not run by the tests: it needs a real radio.\n\n"
    assert list(blocks("```sh checkout\ntrue\n```\n")) == [Block(2, "true", "checkout", None)]
    (block,) = blocks(excuse + "```sh\nreboot\n```\n")
    assert block.excuse and block.place is None
    assert list(blocks("```\nwhat a command prints\n```\n")) == []
    for wrong in (
        "```sh\ntrue\n```\n",
        "```sh nowhere\ntrue\n```\n",
        excuse + "```sh checkout\ntrue\n```\n",
        "Not run by the tests: no.\n```sh\ntrue\n```\n",
        "    tc qdisc show\n",
        "```bash\ntrue\n```\n",
        "```sh checkout\ntrue\n",
    ):
        with pytest.raises(ValueError, match="line"):
            list(blocks(wrong))
