# SPDX-License-Identifier: GPL-2.0-only
"""TOML as scenarios, files of cases and --set have it: whole numbers have 64 bits at most.

Source: TOML v1.0.0, "Integer". Python reads larger ones, which no float holds and no message shows.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from typing import Any

from apbed.errors import ApbedError

LEAST, MOST = -(2**63), 2**63 - 1


def read(text: str, parse_float: Callable[[str], Any] = float) -> dict[str, Any]:
    """The tables of a text; ApbedError if it has a larger number, TOMLDecodeError if it is none."""
    try:
        table = tomllib.loads(text, parse_float=parse_float)
    except tomllib.TOMLDecodeError:
        raise
    except ValueError as error:  # of int(): more digits than Python takes
        raise ApbedError("expected whole numbers of 64 bits at most") from error
    for key, value in table.items():
        _check(key, value)
    return table


def _check(path: str, value: Any) -> None:
    if isinstance(value, dict):
        for key, one in value.items():
            _check(f"{path}.{key}", one)
    elif isinstance(value, list):
        for one in value:
            _check(path, one)
    elif isinstance(value, int) and not LEAST <= value <= MOST:
        raise ApbedError(f"{path}: expected a whole number of 64 bits at most")
