# SPDX-License-Identifier: GPL-2.0-only
"""Whatever stands in a place of a scenario file: the file loads, or one line says what is wrong."""

from __future__ import annotations

import copy
import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from apbed.errors import ApbedError
from apbed.scenario import catalogue, parse

Where = tuple[str | int, ...]

# The second has cases and a figure with claims.
SCENARIOS = ("demo", "ack-skipping-today")
SHARED = 'schema = 1\n[[case]]\nname = "x"\nmedium.retry = 4\nap = { qdisc = "fq_codel" }\n'
WHOLE = """
schema = 1
name = "whole"
title = "but for one thing"
duration_s = 9
ap.qdisc = "pfifo"
station.count = 1
"""
BROKEN: list[Any] = [3, "a\nb", ["a"], [["a"]], {"a": 1}, 10**400]
# Places that the files leave empty.
EMPTY: list[Where] = [
    *((name,) for name in ("short", "sweep", "case", "cases", "figure", "sleep", "workload")),
    *(("sweep", "zip"), ("short", "seed"), ("workload", "list_bytes"), ("flow", 0, "bursts")),
    *(("figure", 0, name) for name in ("series", "panel", "names", "where", "printed", "model")),
]


def toml(value: Any) -> str:
    """A value as TOML, with every table on the line of its key."""
    if isinstance(value, dict):
        words = (f"{json.dumps(key)} = {toml(one)}" for key, one in value.items())
        return "{" + ", ".join(words) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value)


def places(value: Any, at: Where = ()) -> Iterator[Where]:
    """Every key of every table, and every entry of every list."""
    inside: dict[Any, Any] = dict(enumerate(value)) if isinstance(value, list) else value
    for key, one in inside.items():
        yield (*at, key)
        if isinstance(one, dict | list):
            yield from places(one, (*at, key))


def replaced(table: dict[str, Any], where: Where, value: Any) -> str | None:
    """The file with another value in a place; None if it has no such place."""
    whole = copy.deepcopy(table)
    inside: Any = whole
    try:
        for key in where[:-1]:
            inside = inside.setdefault(key, {}) if isinstance(inside, dict) else inside[key]
        inside[where[-1]] = value
    except (LookupError, TypeError):
        return None
    return "".join(f"{json.dumps(key)} = {toml(one)}\n" for key, one in whole.items())


def refused(path: Path) -> bool:
    """Whether it is, in one line; any other exception is a failed test."""
    try:
        parse.load(path, short=True)
    except ApbedError as error:
        assert "\n" not in str(error)
        return True
    return False


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_broken_value_is_one_line(tmp_path: Path, name: str) -> None:
    table = tomllib.loads(catalogue.find(name).read_text())
    path = tmp_path / "broken.toml"
    count = 0
    for where in [*places(table), *EMPTY]:
        for value in BROKEN:
            if text := replaced(table, where, value):
                path.write_text(text)
                count += refused(path)
    assert count > 200


def test_a_broken_file_of_cases_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "broken.toml"
    path.write_text(f'{WHOLE}cases = "shared.toml"\nmix = "dl1-ul1"\n')
    shared = tomllib.loads(SHARED)
    (tmp_path / "shared.toml").write_text(SHARED)
    assert not refused(path)
    count = 0
    for where in places(shared):
        for value in BROKEN:
            (tmp_path / "shared.toml").write_text(replaced(shared, where, value) or "")
            count += refused(path)
    assert count > 30
    (tmp_path / "shared.toml").write_text("schema = 1\ncase = 3\n")
    with pytest.raises(ApbedError) as error:
        parse.load(path)
    line = "cases: shared.toml: case: expected tables, each under [[case]]"
    assert str(error.value) == f"broken.toml: {line}"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("short = 3", "short: expected a table, under [short]"),
        ("sweep = 3", "sweep: expected a table, under [sweep]"),
        ('case = [["a"]]\ncases = "x.toml"', "case: expected a list of names and of cases"),
        ('figure = [{id = "f", title = "f", x = "seed", y = "jain", series = [["a"]]}]',
         "figure f: series = [['a']]: expected a key or a list of keys"),
        ('figure = [{id = "f", title = "f", x = "seed", y = "jain", printed = [{}, 3, 4]}]',
         "figure f: printed = [3]: expected a list of tables"),
        ('flow = [{id = "a", bursts = 3}]', "flow 1: unknown key 'bursts'; known: id,"),
        (f"seed = {'1' * 400}", "seed: expected a whole number of 64 bits at most"),
        (f"seed = [1, {'1' * 400}]", "seed: expected a whole number of 64 bits at most"),
        (f"ap.aql = {'1' * 5000}", "expected whole numbers of 64 bits at most"),
        (f"seed = 0x{'f' * 5000}", "seed: expected a whole number of 64 bits at most"),
        ('"a\\nb" = 1', "unknown key 'a\\nb'"),
    ],
)  # fmt: skip
def test_what_the_line_says(tmp_path: Path, text: str, line: str) -> None:
    path = tmp_path / "broken.toml"
    path.write_text(f"{WHOLE}{text}\n")
    with pytest.raises(ApbedError) as error:
        parse.load(path)
    assert str(error.value).startswith(f"broken.toml: {line}")


def test_a_large_number_of_set_is_one_line() -> None:
    with pytest.raises(ApbedError, match=r"--set duration_s: expected whole numbers of 64 bits"):
        parse.load(catalogue.find("demo"), [f"duration_s={10**400}"])
