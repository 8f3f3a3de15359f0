# SPDX-License-Identifier: GPL-2.0-only
"""The words on a test's command line, checked before it does anything: what it does not know ends
it with one line and status 2."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NoReturn

USAGE = 2  # exit status


def refuse(why: str) -> NoReturn:
    print(f"{Path(sys.argv[0]).name}: {why}", file=sys.stderr)
    sys.exit(USAGE)


def known(what: str, given: Sequence[str], names: Iterable[str]) -> list[str]:
    """Those given, each the name of a `what`; all there are if none is given."""
    names = list(names)
    if unknown := [word for word in given if word not in names]:
        refuse(f"no {what} {', '.join(unknown)}: choose from {', '.join(names)}")
    return list(given) or names


def whole(what: str, word: str) -> int:
    if not word.isdecimal():
        refuse(f"{what} is a whole number, not {word}")
    return int(word)
