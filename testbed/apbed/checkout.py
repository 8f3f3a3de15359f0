# SPDX-License-Identifier: GPL-2.0-only
"""Where the parts of this checkout are. apbed is installed editable, so it always has one.

Or it runs in the tree of the Debian package, which is like a checkout, but without git.
"""

from __future__ import annotations

from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
BUILD = REPOSITORY / "build"
GUEST = REPOSITORY / "testbed" / "guest"
PACKAGE = REPOSITORY / "testbed" / "apbed"
SCENARIOS = REPOSITORY / "testbed" / "scenarios"
PACKAGED = REPOSITORY / ".packaged"  # in the package's tree alone: the package's version


def package() -> str | None:
    """The package this tree came with, which stands where results name a commit; else None.

    There git is not asked: it may be missing, or answer for the home directory around the tree.
    """
    return f"package {PACKAGED.read_text().strip()}" if PACKAGED.exists() else None
