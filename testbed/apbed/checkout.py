# SPDX-License-Identifier: GPL-2.0-only
"""Where the parts of this checkout are. apbed is installed editable, so it always has one."""

from __future__ import annotations

from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
BUILD = REPOSITORY / "build"
GUEST = REPOSITORY / "testbed" / "guest"
PACKAGE = REPOSITORY / "testbed" / "apbed"
SCENARIOS = REPOSITORY / "testbed" / "scenarios"
