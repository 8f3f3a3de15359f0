# SPDX-License-Identifier: GPL-2.0-only
"""`apbed kernel patch` on source trees and series of a few lines."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from apbed import cli
from apbed.errors import ApbedError
from apbed.kernels import patches
from apbed.kernels.patches import by_nearness, patch

NETNS = "include/net/netns/ipv4.h"
INPUT = "net/ipv4/tcp_input.c"

# Two patches of one file: the second needs the first.
SERIES = """\
From 0000 Mon Sep 17 00:00:00 2001
Subject: [PATCH {number}/2] tcp

---
diff --git a/{netns} b/{netns}
--- a/{netns}
+++ b/{netns}
@@ -{number},2 +{number},3 @@
 {before}
+	u8 sysctl_tcp_ack_{name};
 {after}
"""

MakeTree = Callable[[str, str], Path]


@pytest.fixture(autouse=True)
def _series(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The series of each line expects a field named after the line."""
    for version in ("6.1", "6.12", "7.2"):
        directory = tmp_path / "series" / version
        directory.mkdir(parents=True)
        field = f"\tu8 field_{version.replace('.', '_')};"
        for number, before, name, after in (
            (1, "struct netns_ipv4 {", "every", field),
            (2, "\tu8 sysctl_tcp_ack_every;", "skip", field),
        ):
            (directory / f"000{number}.patch").write_text(
                SERIES.format(number=number, netns=NETNS, before=before, name=name, after=after)
            )
    monkeypatch.setattr(patches, "PATCHES", (tmp_path / "lab", tmp_path / "series"))


@pytest.fixture
def tree(tmp_path: Path) -> MakeTree:
    def make(release: str, like: str) -> Path:
        """A tree that says it is `release`, with the code of the line `like`."""
        top = tmp_path / f"linux-{release}"
        for path in (NETNS, INPUT):
            (top / path).parent.mkdir(parents=True)
        version, patchlevel = release.split(".")
        (top / "Makefile").write_text(
            f"# SPDX\nVERSION = {version}\nPATCHLEVEL = {patchlevel}\nSUBLEVEL = 9\n"
        )
        (top / INPUT).write_text("int x;\n")
        field = f"u8 field_{like.replace('.', '_')};"
        (top / NETNS).write_text(f"struct netns_ipv4 {{\n\t{field}\n}};\n")
        return top

    return make


def contents(top: Path) -> dict[Path, str]:
    return {path: path.read_text() for path in top.rglob("*") if path.is_file()}


def test_the_trees_own_line_is_taken(tree: MakeTree, capsys: pytest.CaptureFixture[str]) -> None:
    top = tree("6.12", "6.12")
    assert cli.main(["kernel", "patch", str(top)]) == 0
    assert (top / NETNS).read_text().count("sysctl_tcp_ack_") == 2
    assert capsys.readouterr().out == f"{top}: 2 patches of the 6.12 series applied to 6.12\n"


def test_a_line_between_gets_the_one_that_fits(tree: MakeTree) -> None:
    assert patch(tree("6.6", "6.1")).version == "6.1"
    later = patch(tree("6.18", "7.2"))
    assert (later.release, later.version, later.exact) == ("6.18", "7.2", False)


def test_nearest_first() -> None:
    assert by_nearness("6.6") == ["6.1", "6.12", "7.2"]
    assert by_nearness("6.12") == ["6.12", "6.1", "7.2"]
    assert by_nearness("5.15") == ["6.1", "6.12", "7.2"]
    assert by_nearness("7.4")[0] == "7.2"


def test_no_fit_changes_nothing(tree: MakeTree) -> None:
    top = tree("6.6", "5.4")
    before = contents(top)
    with pytest.raises(
        ApbedError, match=r"no series fits .*6\.6\): 6\.1 \(patch failed: incl.*7\.2 "
    ):
        patch(top)
    assert contents(top) == before


def test_half_a_fit_changes_nothing(tree: MakeTree, tmp_path: Path) -> None:
    """The first patch applies, the second does not."""
    for second in (tmp_path / "series").glob("*/0002.patch"):
        second.write_text(second.read_text().replace("tcp_ack_every;", "tcp_ack_often;"))
    top = tree("6.1", "6.1")
    before = contents(top)
    with pytest.raises(ApbedError, match="no series fits"):
        patch(top)
    assert contents(top) == before


def test_twice_is_refused(tree: MakeTree) -> None:
    top = tree("6.1", "6.1")
    patch(top)
    before = contents(top)
    with pytest.raises(ApbedError, match="has the series already"):
        patch(top)
    assert contents(top) == before


def test_no_kernel_tree(tree: MakeTree, tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("all:\n")
    top = tree("6.1", "6.1")
    (top / INPUT).unlink()
    for place in (tmp_path, tmp_path / "nowhere", top, top / "net"):
        with pytest.raises(ApbedError, match="not the top of a Linux source tree"):
            patch(place)


def test_inside_another_repository(tree: MakeTree, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    top = tree("7.2", "7.2")
    patch(top)
    assert "sysctl_tcp_ack_skip" in (top / NETNS).read_text()


def test_a_trees_own_repository(tree: MakeTree) -> None:
    top = tree("7.2", "7.2")
    subprocess.run(["git", "init", "-q", str(top)], check=True)
    patch(top)
    assert "sysctl_tcp_ack_skip" in (top / NETNS).read_text()
