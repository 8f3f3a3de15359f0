# SPDX-License-Identifier: GPL-2.0-only
"""The scenarios that come with apbed: its own, and in papers/ those that repeat a paper's."""

from __future__ import annotations

from pathlib import Path

from apbed.checkout import SCENARIOS
from apbed.errors import ApbedError


def files() -> list[Path]:
    """Every scenario file, by name."""
    return sorted(SCENARIOS.rglob("*.toml"), key=lambda path: path.stem)


def find(word: str) -> Path:
    """The scenario file `word` names: a path, or the name of one that comes with apbed."""
    if Path(word).is_file():
        return Path(word)
    known = {path.stem: path for path in files()}
    if word not in known:
        raise ApbedError(f"no scenario {word!r}; give a file, or one of: {', '.join(known)}")
    return known[word]
