# SPDX-License-Identifier: GPL-2.0-only
"""[[case]]: values that go together, under a name. A scenario runs each of its cases.

A sweep is a product, and some products make no sense: a queue discipline with its bound beside
a device without either. A case says all that makes it up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from apbed.errors import ApbedError
from apbed.scenario import document, sysctls
from apbed.scenario.keys import KEYS, NOT_SWEPT, Key, refuse_unknown

Cases = dict[str, dict[str, Any]]  # name -> dotted key -> value


def of_tables(tables: Iterable[Mapping[str, Any]]) -> Cases:
    """The cases of a file by name; ApbedError for one that cannot be."""
    found: Cases = {}
    for number, table in enumerate(tables, 1):
        values = dict(flatten(table))
        name = values.pop("name", None)
        if not isinstance(name, str) or not name:
            raise ApbedError(f"case {number}: name is missing")
        if name in found:
            raise ApbedError(f"case {number}: expected a name that no other case has, not {name!r}")
        try:
            found[name] = dict(_checked(values))
        except ApbedError as error:
            raise ApbedError(f"case {name!r}: {error}") from error
    return found


def of_files(folder: Path, names: Any) -> list[dict[str, Any]]:
    """The [[case]] tables of files that scenarios share: `cases = "../../cases/queues.toml"`.

    `names`: that of one file, or a list of them, whose cases come one after the other.
    """
    listed = names if isinstance(names, list) else [names]
    if not listed or not all(isinstance(name, str) for name in listed):
        raise ApbedError("cases: expected the name of a file, or a list of such names")
    return [case for name in listed for case in _of_file(folder / name)]


def _of_file(path: Path) -> list[dict[str, Any]]:
    try:
        table = document.read(path.read_text())
    except (OSError, ValueError, ApbedError) as error:
        raise ApbedError(f"cases: {path.name}: {error}") from error
    if table.pop("schema", None) != 1:
        raise ApbedError(f"cases: {path.name}: expected schema = 1")
    try:
        refuse_unknown(table, ("case",))
    except ApbedError as error:
        raise ApbedError(f"cases: {path.name}: {error}") from error
    found = table.get("case", [])
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise ApbedError(f"cases: {path.name}: case: expected tables, each under [[case]]")
    return found


def keys(cases: Cases) -> dict[str, Key]:
    """The key by which runs are told to be of a case; none without cases."""
    return {"case": Key(str, list(cases), choices=tuple(cases))} if cases else {}


def flatten(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The values of nested tables by their dotted keys."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from flatten(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _checked(values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    known = {path: key for path, key in KEYS.items() if path not in NOT_SWEPT}
    known |= sysctls.keys(values)
    refuse_unknown(values, known)
    for path, value in values.items():
        yield path, known[path].check(path, value)
