# SPDX-License-Identifier: GPL-2.0-only
"""Scenario files: one TOML file describes a cell, its queues, its flows and its workload.

Principle: a list where one value is expected is a sweep; sweep.py says which points a
scenario has. Everything is checked here, before anything starts: an unknown key or a value out of
range is one line that names it.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

from apbed.errors import ApbedError
from apbed.scenario import (
    cases,
    catalogue,
    document,
    flows,
    radio,
    sweep,
    sysctls,
    users,
    workload,
)
from apbed.scenario.figures import Figure
from apbed.scenario.figures import of_tables as figures_of
from apbed.scenario.keys import (
    KEYS,
    NOT_SWEPT,
    PARAMETER,
    USERS_KEYS,
    WORKLOAD_KEYS,
    Key,
    refuse_unknown,
)
from apbed.scenario.plan import (
    AccessPoint,
    Flow,
    Medium,
    Plan,
    Stations,
    Tcp,
    Wired,
    station_names,
)
from apbed.scenario.users import Users
from apbed.scenario.workload import Workload

Values = Mapping[str, Any]  # dotted key -> value, of one point of the sweep
T = TypeVar("T")


@dataclass(frozen=True)
class Run:
    """One point of a scenario. `params`: what tells it from the others, as summary.json has it."""

    id: str
    params: dict[str, Any]
    kernel: str  # "default", or a line such as "6.12"
    plan: Plan


@dataclass(frozen=True)
class Scenario:
    """A scenario file with its sweeps expanded into runs."""

    word: str  # what `apbed run` calls it: its name, or its file
    name: str
    title: str
    source: str
    settings: tuple[str, ...]  # the KEY=VALUE words that replaced the file's values
    runs: list[Run]
    figures: list[Figure]  # of a paper, that the runs are set beside


@dataclass(frozen=True)
class _Tables:
    """The tables of which a file may have several: not swept, the same for every run."""

    flows: list[dict[str, Any]]
    sleeps: list[dict[str, Any]]


def load(path: Path, settings: Sequence[str] = (), *, short: bool = False) -> Scenario:
    """Read and check a scenario file; `settings` are KEY=VALUE words that replace its values.

    `short`: those of its [short] table too, which make it a matter of minutes.
    """
    try:
        table = document.read(path.read_text())
    except (OSError, ValueError, ApbedError) as error:
        raise ApbedError(f"{path.name}: {_one_line(error)}") from error
    try:
        fewer = cases.flatten(_single(table, "short"))
        if short:
            settings = [*(f"{key}={_toml(value)}" for key, value in fewer), *settings]
        shared = table.pop("cases", None)
        if shared is not None:
            own = table.pop("case", [])
            if not isinstance(own, list) or not all(isinstance(one, str | dict) for one in own):
                raise ApbedError("case: expected a list of names and of cases")
            tables = [one for one in own if isinstance(one, dict)]
            table["case"] = cases.of_files(path.parent, shared) + tables
            if len(tables) < len(own):  # names of those that the scenario runs, in this order
                names = [one.get("name") if isinstance(one, dict) else one for one in own]
                settings = [f"case={_toml(names)}", *settings]
        word = path.stem if path.resolve() in catalogue.files() else str(path)
        return _scenario(word, table, settings)
    except ApbedError as error:
        raise ApbedError(f"{path.name}: {_one_line(error)}") from error


def _scenario(word: str, table: dict[str, Any], settings: Sequence[str]) -> Scenario:
    tables = _Tables(_several(table, "flow"), _several(table, "sleep"))
    figures = _several(table, "figure")
    named = cases.of_tables(_several(table, "case"))
    groups = sweep.zipped(_single(table, "sweep"))
    replaced = dict(_setting(word) for word in settings)
    given = dict(cases.flatten(table)) | replaced
    other_keys = sysctls.keys(given) | cases.keys(named)
    refuse_unknown(given, KEYS | WORKLOAD_KEYS | USERS_KEYS | other_keys)
    if "mix" in given:
        given.setdefault("station.count", 1)
    keys = KEYS | other_keys
    for name, spec in (("workload", WORKLOAD_KEYS), ("users", USERS_KEYS)):
        keys |= spec if name in table or any(path in spec for path in given) else {}
    lists = {path: _values(path, key, given) for path, key in keys.items()}
    radio.check_idle(given, replaced, lists, named)
    swept = [path for path, values in lists.items() if len(values) > 1]
    points = sweep.points(lists, groups)
    for point in points:
        own = named.get(point.get("case", ""), {})
        point |= {path: value for path, value in own.items() if path not in replaced}
    drawn = figures_of(figures, lists, groups)
    shown = [key for figure in drawn for key in figure.keys]
    runs = [_run(values, swept, shown, tables) for values in points]
    if len({run.id for run in runs}) < len(runs):
        raise ApbedError("two runs of the sweep are the same; remove the repeated value")
    first = points[0]
    name, title, source = (first[key] for key in ("name", "title", "source"))
    return Scenario(word, name, title, source, tuple(settings), runs, drawn)


def _one_line(error: Exception) -> str:
    """What it says; a name or a value that it cites may have several lines."""
    return str(error).replace("\n", "\\n")


def _toml(value: Any) -> str:
    """A value as a word of --set has it; a date, which no key takes, as text."""
    return json.dumps(value, default=str)


def _single(table: dict[str, Any], name: str) -> dict[str, Any]:
    """The table [name], taken out; empty if there is none."""
    found = table.pop(name, {})
    if not isinstance(found, dict):
        raise ApbedError(f"{name}: expected a table, under [{name}]")
    return found


def _several(table: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """The tables [[name]], taken out."""
    found = table.pop(name, [])
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise ApbedError(f"{name}: expected tables, each under [[{name}]]")
    return found


def _setting(word: str) -> tuple[str, Any]:
    """KEY=VALUE with VALUE as in TOML; a word that is not TOML is a string."""
    path, equals, text = word.partition("=")
    if not equals or not path:
        raise ApbedError(f"--set {word}: expected KEY=VALUE, for example seed=[1,2,3]")
    # kernel=6.10 means the word, not the number.
    key = (KEYS | WORKLOAD_KEYS | USERS_KEYS).get(path)
    words = key is not None and key.kind is str
    try:
        return path, document.read(f"value = {text}", str if words else float)["value"]
    except tomllib.TOMLDecodeError:
        return path, text
    except ApbedError as error:
        raise ApbedError(f"--set {path}: expected whole numbers of 64 bits at most") from error


def _values(path: str, key: Key, given: Values) -> list[Any]:
    value = given.get(path, key.default)
    if value is None:
        raise ApbedError(f"{path} is missing")
    if not isinstance(value, list) or path in NOT_SWEPT:
        value = [value]
    if not value:
        raise ApbedError(f"{path} = []: expected at least one value")
    return [key.check(path, entry) for entry in value]


def _run(values: Values, swept: Sequence[str], shown: Sequence[str], tables: _Tables) -> Run:
    """`shown`: keys that figures need to know of each run, swept or not."""
    params = {name: values[path] for path, name in PARAMETER.items() if path in values}
    params |= {PARAMETER.get(path, path): values[path] for path in [*swept, *shown]}
    plan = _plan(values, tables)
    return Run(sweep.run_id(params, swept), params, values["kernel"], plan)


def _plan(values: Values, tables: _Tables) -> Plan:
    if values["warmup_s"] >= values["duration_s"]:
        raise ApbedError("warmup_s: expected less than duration_s")
    for role in radio.ROLES:
        radio.check_queues(role, values)
    radio.check_access(values)
    mixed = flows.of_mix(values["mix"], values["mix_stagger_s"])
    count = max(values["station.count"], len(mixed))
    cell = flows.Cell(
        station_names(count),
        values["duration_s"],
        values["seed"],
        values["datagrams.bytes"],
        values["quic.window"],
    )
    transfers = _transfers(values, count) if "workload.load_mbps" in values else ()
    fetched = _fetched(values, count) if "users.sizes" in values else ()
    sleeps = [flows.sleep(number, entry, cell) for number, entry in enumerate(tables.sleeps, 1)]
    return Plan(
        seed=values["seed"],
        duration_s=values["duration_s"],
        warmup_s=values["warmup_s"],
        medium=_medium(values, ["ap", *cell.stations]),
        ap=_table(AccessPoint, "ap", values),
        station=_table(
            Stations, "station", values, count=count, sysctls=sysctls.of_role("station", values)
        ),
        wired=_table(Wired, "wired", values, sysctls=sysctls.of_role("wired", values)),
        tcp=_table(Tcp, "tcp", values),
        flows=flows.of_tables([*mixed, *tables.flows], cell, transfers + fetched),
        transfers=transfers,
        users=fetched,
        warmup_files=values.get("users.warmup_files", 0),
        sleeps=tuple(sleeps),
    )


def _medium(values: Values, radios: list[str]) -> Medium:
    radio.check_rates(values["medium.rates"], values["medium.phy"])
    radio.check_edca(values["medium.edca"], radios)
    hidden = radio.hidden(values["medium.hidden"], radios)
    stations = radio.stations(values["medium.stations"], radios)
    return _table(Medium, "medium", values, hidden=hidden, stations=stations)


def _transfers(values: Values, stations: int) -> tuple[Flow, ...]:
    """The workload's transfers; the same for all runs of one seed, whatever the schedulers."""
    asked = _table(Workload, "workload", values)
    if asked.stations > stations:
        raise ApbedError(f"workload.stations = {asked.stations}: expected at most {stations}")
    return workload.arrivals(
        asked, asked.stations or stations, values["duration_s"], values["seed"]
    )


def _fetched(values: Values, stations: int) -> tuple[Flow, ...]:
    """The users' transfers; the same for all runs of one seed, whatever the schedulers."""
    return users.pages(_table(Users, "users", values), stations, values["seed"])


def _table(kind: type[T], name: str, values: Values, **parsed: Any) -> T:
    """A table's values as their type; `parsed` has those that are not as the file has them."""
    plain = {
        field.name: values[f"{name}.{field.name}"]
        for field in fields(kind)  # type: ignore[arg-type]
        if field.name not in parsed
    }
    return kind(**plain, **parsed)
