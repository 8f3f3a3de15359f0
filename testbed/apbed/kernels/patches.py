# SPDX-License-Identifier: GPL-2.0-only
"""Applies the TCP ACK-skip series to a kernel source tree, all of it or nothing.

Principle: the tree's own Makefile names its line; a line without a series of
its own gets the nearest one whose every hunk finds its exact context.
git-apply(1) checks the whole before it writes and takes no fuzz, and works
with and without a repository.
"""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from apbed.errors import ApbedError
from apbed.kernels.packages import VERSIONS
from apbed.kernels.recipe import PATCHES

# Two files of any kernel that the series changes, and what it puts into the second.
TOUCHED = ("net/ipv4/tcp_input.c", "include/net/netns/ipv4.h")
MARK = "sysctl_tcp_ack_skip"


@dataclass(frozen=True)
class Applied:
    """A series now in a tree."""

    release: str  # of the tree: "6.6"
    version: str  # the kernel line the series was made against
    patches: list[Path]

    @property
    def exact(self) -> bool:
        return self.release == self.version


def tree_release(tree: Path) -> str:
    """A kernel tree's line, "6.6"; ApbedError if it is none."""
    try:
        head = (tree / "Makefile").read_text()[:1000]
    except OSError:
        head = ""
    found = [re.search(rf"^{name} = (\d+)$", head, re.M) for name in ("VERSION", "PATCHLEVEL")]
    numbers = [match[1] for match in found if match]
    if len(numbers) != 2 or not all((tree / path).is_file() for path in TOUCHED):
        raise ApbedError(f"{tree} is not the top of a Linux source tree")
    return ".".join(numbers)


def by_nearness(release: str) -> list[str]:
    """The lines that have a series, the likeliest to fit first: the tree's own, older, newer."""

    def number(version: str) -> tuple[int, ...]:
        return tuple(int(part) for part in version.split("."))

    known = sorted(VERSIONS, key=number)
    older = [version for version in known if number(version) <= number(release)]
    return older[::-1] + known[len(older) :]


def patch(tree: Path) -> Applied:
    """Apply the series that fits; ApbedError, and nothing changed, if none does."""
    tree = tree.resolve()
    release = tree_release(tree)
    if MARK in (tree / TOUCHED[1]).read_text():
        raise ApbedError(f"{tree} has the series already, or another version of it")
    refused = []
    for version in by_nearness(release):
        patches = sorted((PATCHES[-1] / version).glob("*.patch"))
        problem = _apply(tree, patches)
        if problem is None:
            return Applied(release, version, patches)
        refused.append(f"{version} ({problem})")
    raise ApbedError(f"no series fits {tree} ({release}): {', '.join(refused)}")


def _apply(tree: Path, patches: list[Path]) -> str | None:
    """Apply patches as one; returns what git says against it, with nothing changed then."""
    # A repository around the tree, such as this one, is not its own.
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    result = subprocess.run(
        ["git", "apply", "-"],
        input="".join(path.read_text() for path in patches),
        cwd=tree,
        env={**own, "GIT_CEILING_DIRECTORIES": str(tree.parent), "LC_ALL": "C"},
        capture_output=True,
        text=True,
    )
    if result.returncode == 0:
        return None
    return result.stderr.strip().splitlines()[0].removeprefix("error: ")
