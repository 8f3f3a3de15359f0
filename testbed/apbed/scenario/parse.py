# SPDX-License-Identifier: GPL-2.0-only
"""Scenario files: one TOML file describes a cell, its queues, its flows and its workload.

Principle: a list where one value is expected is a sweep; a scenario is the product of its
sweeps. Everything is checked here, before anything starts: an unknown key or a value out of
range is one line that names it.
"""

from __future__ import annotations

import difflib
import itertools
import math
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from apbed.checkout import SCENARIOS
from apbed.errors import ApbedError
from apbed.scenario import radio, sysctls, workload


@dataclass(frozen=True)
class Key:
    """What one key of a scenario may hold."""

    kind: type
    default: Any = None  # None: must be given
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()

    def check(self, path: str, given: Any) -> Any:
        """`given`, or ApbedError naming the key and what it takes."""
        value: Any = float(given) if self.kind is float and type(given) is int else given
        if type(value).__name__ != self.kind.__name__:  # not isinstance: True is no number
            raise ApbedError(f"{path} = {value!r}: expected {_kind_name(self.kind)}")
        if self.choices and value not in self.choices:
            raise ApbedError(f"{path} = {value!r}: expected one of {', '.join(self.choices)}")
        if self.low is not None and value < self.low:
            raise ApbedError(f"{path} = {value}: expected at least {self.low:g}")
        if self.high is not None and value > self.high:
            raise ApbedError(f"{path} = {value}: expected at most {self.high:g}")
        return value


# Seconds are virtual. `ap` is the access point's device, `station` each station's.
KEYS: dict[str, Key] = {
    "schema": Key(int, low=1, high=1),
    "name": Key(str),
    "title": Key(str),
    "source": Key(str, ""),
    "kernel": Key(str, "default"),
    "seed": Key(int, 1, 0, 2**63 - 1),
    "duration_s": Key(float, low=1, high=86400),
    "warmup_s": Key(float, 0.0, 0, 86400),
    "medium.phy": Key(str, "hrdsss-11"),  # dcfmedium knows its profiles and refuses others
    "medium.eifs": Key(bool, True),
    "medium.retry": Key(int, 7, 1, 255),
    "medium.rates": Key(str, "fixed", choices=("fixed", "kernel")),
    "medium.edca": Key(str, "off"),
    "medium.rts": Key(int, -1, -1, 2**20),
    "medium.channel": Key(str, "ideal"),
    "medium.stations": Key(str, ""),
    "medium.hidden": Key(str, ""),
    "medium.pcap": Key(bool, False),
    "medium.record": Key(bool, False),
    "ap.qdisc": Key(str),
    "ap.inflight": Key(int, 0, 0, 1000),
    "mix": Key(str, ""),
    "ap.watch": Key(bool, False),
    "station.count": Key(int, low=1, high=50),
    "station.qdisc": Key(str, "pfifo limit 100"),
    "station.inflight": Key(int, 1, 0, 1000),
    "station.retry": Key(int, 0, 0, 255),
    "station.window": Key(int, 0, 0, 2**30),
    "wired.delay_ms": Key(float, 0.0, 0, 10000),
    "wired.window": Key(int, 0, 0, 2**30),
    "tcp.mss": Key(int, 0, 0, 1460),
}
# Known, and filled with their defaults, when there is a [workload].
WORKLOAD_KEYS: dict[str, Key] = {
    "workload.load_mbps": Key(float, low=0.001, high=10000),
    "workload.sizes": Key(str, choices=("pareto", "exponential", "list")),
    "workload.min_bytes": Key(int, 9000, 1, 2**40),
    "workload.max_bytes": Key(int, 19_500_000, 1, 2**40),
    "workload.mean_bytes": Key(float, 60000.0, 1, 2**40),
    "workload.alpha": Key(float, 0.0, 0, 100),
    "workload.list_bytes": Key(list, []),
    "workload.down_share": Key(float, 0.66, 0, 1),
    "workload.stop_s": Key(float, 0.0, 0, 86400),
}
FLOW_KEYS: dict[str, Key] = {
    "id": Key(str),
    "station": Key(str),
    "dir": Key(str, choices=("up", "down", "pulse", "pulse_down")),
    "start_s": Key(float, 0.0, 0, 86400),
    "seconds": Key(float, 0.0, 0, 86400),
    "bytes": Key(int, 0, 0, 2**40),
    "count": Key(int, 0, 0, 10**9),
    "every_s": Key(float, 0.0, 0, 86400),
    "renew_s": Key(float, 0.0, 0, 86400),
    "stagger_s": Key(float, 0.0, 0, 86400),  # of station "each"; no flow has it
}
PULSES = ("pulse", "pulse_down")
SLEEP_KEYS: dict[str, Key] = {
    "station": Key(str),
    "start_s": Key(int, low=1, high=86400),
    "seconds": Key(int, low=1, high=86400),
}
NOT_SWEPT = ("schema", "name", "title", "source", "workload.list_bytes")
# The names `params` uses for the keys that every run has there.
PARAMETER = {"ap.qdisc": "qdisc", "ap.inflight": "inflight", "seed": "seed", "kernel": "kernel"}


@dataclass(frozen=True)
class Run:
    """One point of a scenario: a value for each key, and what is sent."""

    id: str
    params: dict[str, Any]
    values: dict[str, Any]  # dotted key -> value
    flows: list[dict[str, Any]]
    transfers: list[dict[str, Any]]  # of the workload
    sleeps: list[dict[str, Any]]  # when stations are in power save


@dataclass(frozen=True)
class Scenario:
    """A scenario file with its sweeps expanded into runs."""

    name: str
    title: str
    source: str
    settings: tuple[str, ...]  # the KEY=VALUE words that replaced the file's values
    runs: list[Run]


def find(word: str) -> Path:
    """The scenario file `word` names: a path, or the name of one that comes with apbed."""
    for path in (Path(word), SCENARIOS / f"{word}.toml"):
        if path.is_file():
            return path
    known = ", ".join(path.stem for path in sorted(SCENARIOS.glob("*.toml")))
    raise ApbedError(f"no scenario {word!r}; give a file, or one of: {known}")


def load(path: Path, settings: Sequence[str] = ()) -> Scenario:
    """Read and check a scenario file; `settings` are KEY=VALUE words that replace its values."""
    try:
        table = tomllib.loads(path.read_text())
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ApbedError(f"{path.name}: {error}") from error
    try:
        return _scenario(table, settings)
    except ApbedError as error:
        raise ApbedError(f"{path.name}: {error}") from error


def _scenario(table: dict[str, Any], settings: Sequence[str]) -> Scenario:
    flows, sleeps = table.pop("flow", []), table.pop("sleep", [])
    given = dict(_flatten(table))
    given |= dict(_setting(word) for word in settings)
    chosen = {path: Key(kind) for path, kind in sysctls.kinds(given).items()}
    _refuse_unknown(given, KEYS | WORKLOAD_KEYS | chosen)
    if "mix" in given:
        given.setdefault("station.count", 1)
    loaded = "workload" in table or any(path in WORKLOAD_KEYS for path in given)
    keys = KEYS | WORKLOAD_KEYS | chosen if loaded else KEYS | chosen
    lists = {path: _values(path, key, given) for path, key in keys.items()}
    swept = [path for path, values in lists.items() if len(values) > 1]
    runs = []
    for point in itertools.product(*lists.values()):
        values = dict(zip(lists, point, strict=True))
        if values["warmup_s"] >= values["duration_s"]:
            raise ApbedError("warmup_s: expected less than duration_s")
        mixed = _mix(values["mix"])
        values["station.count"] = max(values["station.count"], len(mixed))
        radio.check(values)
        params = {name: values[path] for path, name in PARAMETER.items()}
        params |= {PARAMETER.get(path, path): values[path] for path in swept}
        transfers = _transfers(values) if loaded else []
        planned = _flows(mixed + flows, values, transfers)
        asleep = [_sleep(number, entry, values) for number, entry in enumerate(sleeps, start=1)]
        runs.append(Run(_run_id(params, swept), params, values, planned, transfers, asleep))
    if len({run.id for run in runs}) < len(runs):
        raise ApbedError("two runs of the sweep are the same; remove the repeated value")
    first = runs[0].values
    return Scenario(first["name"], first["title"], first["source"], tuple(settings), runs)


def _flatten(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flatten(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _setting(word: str) -> tuple[str, Any]:
    """KEY=VALUE with VALUE as in TOML; a word that is not TOML is a string."""
    path, equals, text = word.partition("=")
    if not equals or not path:
        raise ApbedError(f"--set {word}: expected KEY=VALUE, for example seed=[1,2,3]")
    # kernel=6.10 means the word, not the number.
    key = (KEYS | WORKLOAD_KEYS).get(path)
    words = key is not None and key.kind is str
    try:
        return path, tomllib.loads(f"value = {text}", parse_float=str if words else float)["value"]
    except tomllib.TOMLDecodeError:
        return path, text


def _refuse_unknown(given: Iterable[str], known: Iterable[str]) -> None:
    for path in given:
        if path not in known:
            close = difflib.get_close_matches(path, list(known), n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(known)}"
            raise ApbedError(f"unknown key {path!r}; {hint}")


def _values(path: str, key: Key, given: Mapping[str, Any]) -> list[Any]:
    value = given.get(path, key.default)
    if value is None:
        raise ApbedError(f"{path} is missing")
    if not isinstance(value, list) or path in NOT_SWEPT:
        value = [value]
    if not value:
        raise ApbedError(f"{path} = []: expected at least one value")
    return [key.check(path, entry) for entry in value]


def _mix(word: str) -> list[dict[str, Any]]:
    """The [[flow]] tables of a mix such as "dl2-ul2": a station of its own for each connection.

    The word is up-down-fairness's, section III.
    """
    if not word:
        return []
    match = re.fullmatch(r"dl(\d{1,2})-ul(\d{1,2})", word)
    downs, ups = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 1 <= downs + ups <= 50:
        raise ApbedError(f"mix = {word!r}: expected such as 'dl2-ul1', 1 to 50 connections in all")
    ids = [("up", k) for k in range(1, ups + 1)] + [("down", k) for k in range(1, downs + 1)]
    return [
        {"id": f"{way}{k}", "station": f"sta{number}", "dir": way}
        for number, (way, k) in enumerate(ids, start=1)
    ]


def _transfers(values: dict[str, Any]) -> list[dict[str, Any]]:
    """The workload's transfers; the same for all runs of one seed, whatever the schedulers."""
    given = {path.removeprefix("workload."): values[path] for path in WORKLOAD_KEYS}
    return workload.arrivals(given, values["station.count"], values["duration_s"], values["seed"])


def _flows(
    tables: list[dict[str, Any]], values: dict[str, Any], transfers: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """The flows of one run; each lasts as long as the run unless it says otherwise."""
    if not tables and not transfers:
        raise ApbedError("nothing is sent; a scenario needs a [[flow]] or a [workload]")
    flows = [
        one
        for number, table in enumerate(tables, start=1)
        for its_own in _for_each(table, values)
        for one in _renewed(_flow(number, its_own, values), values["duration_s"])
    ]
    ids = [flow["id"] for flow in flows]
    # Names of other records: server.jsonl and so on.
    taken = {"server", "tap", *(f"server-{name}" for name in _stations(values))}
    taken |= {transfer["id"] for transfer in transfers}
    for flow_id in ids:
        if ids.count(flow_id) > 1 or flow_id in taken:
            raise ApbedError(f"flow.id = {flow_id!r}: expected a name no other flow has")
    return flows


def _flow(number: int, table: dict[str, Any], values: dict[str, Any]) -> dict[str, Any]:
    where = f"flow {number}"
    try:
        _refuse_unknown(table, FLOW_KEYS)
        flow = {key: FLOW_KEYS[key].check(key, value) for key, value in table.items()}
        for key, spec in FLOW_KEYS.items():
            if spec.default is None and key not in flow:
                raise ApbedError(f"{key} is missing")
        if not re.fullmatch(r"[A-Za-z0-9_.-]{1,32}", flow["id"]):
            raise ApbedError(f"id = {flow['id']!r}: expected letters, digits, - . _, at most 32")
        _check_station(flow["station"], values)
        return _complete_flow(flow, values["duration_s"])
    except ApbedError as error:
        raise ApbedError(f"{where}: {error}") from error


def _stations(values: Mapping[str, Any]) -> list[str]:
    return [f"sta{k}" for k in range(1, values["station.count"] + 1)]


def _check_station(name: str, values: Mapping[str, Any]) -> None:
    if name not in _stations(values):
        raise ApbedError(f"station = {name!r}: expected one of {_stations(values)}")


def _sleep(number: int, table: dict[str, Any], values: dict[str, Any]) -> dict[str, Any]:
    """One [[sleep]]: a station in power save from start_s on, for so many seconds."""
    try:
        _refuse_unknown(table, SLEEP_KEYS)
        sleep = {key: _values(key, spec, table)[0] for key, spec in SLEEP_KEYS.items()}
        _check_station(sleep["station"], values)
        if sleep["start_s"] >= values["duration_s"]:
            raise ApbedError("it would start after the end of the run")
    except ApbedError as error:
        raise ApbedError(f"sleep {number}: {error}") from error
    return sleep


def _for_each(table: dict[str, Any], values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A table of station "each" is one for every station: ID-sta1, ID-sta2 stagger_s later..."""
    if table.get("station") != "each":
        if "stagger_s" in table:
            raise ApbedError("stagger_s: expected only with station = 'each'")
        return [table]
    single = {key: value for key, value in table.items() if key != "stagger_s"}
    later_s = FLOW_KEYS["stagger_s"].check("stagger_s", table.get("stagger_s", 0.0))
    begin_s = FLOW_KEYS["start_s"].check("start_s", table.get("start_s", 0.0))
    return [
        single
        | {"id": f"{table.get('id', '')}-{name}", "station": name}
        | {"start_s": begin_s + number * later_s}
        for number, name in enumerate(_stations(values))
    ]


def _renewed(flow: dict[str, Any], duration_s: float) -> list[dict[str, Any]]:
    """The connections of a flow, one after the other if it has renew_s: ID-1, ID-2..."""
    if "renew_s" not in flow:
        return [flow]
    every_s = flow.pop("renew_s")
    end_s = min(flow["start_s"] + flow.get("seconds", duration_s), duration_s)
    count = math.ceil((end_s - flow["start_s"]) / every_s - 1e-9)
    starts = [flow["start_s"] + every_s * k for k in range(count)]
    renewed = [
        flow | {"id": f"{flow['id']}-{k}", "start_s": at} for k, at in enumerate(starts, start=1)
    ]
    for one in renewed:
        if "bytes" not in one:
            one["seconds"] = min(every_s, end_s - one["start_s"])
    return renewed


def _complete_flow(flow: dict[str, Any], duration_s: float) -> dict[str, Any]:
    flow.setdefault("start_s", 0.0)
    if "renew_s" in flow and (flow["dir"] in PULSES or not flow["renew_s"]):
        raise ApbedError("renew_s: expected more than 0, and only for TCP")
    if flow["dir"] in PULSES:
        for key in ("count", "every_s", "bytes"):
            if not flow.get(key):
                raise ApbedError(f"{key} is missing; a pulse flow needs count, every_s and bytes")
    elif "seconds" in flow and "bytes" in flow:
        raise ApbedError("seconds and bytes exclude each other")
    elif flow["start_s"] >= duration_s or flow.get("seconds", 1) <= 0:
        raise ApbedError("it would start after the end of the run")
    elif "bytes" not in flow:
        flow.setdefault("seconds", duration_s - flow["start_s"])
    return flow


def _run_id(params: Mapping[str, Any], swept: Sequence[str]) -> str:
    """A readable directory name: the scheduler, what else the sweep varies, the seed."""
    names = [PARAMETER.get(path, path) for path in swept]
    rest = [f"{name}-{params[name]}" for name in names if name not in ("qdisc", "seed")]
    words = [str(params["qdisc"]), *rest, f"seed-{params['seed']}"]
    return "_".join(re.sub(r"[^A-Za-z0-9.]+", "-", word) for word in words)


def _kind_name(kind: type) -> str:
    names = {int: "a whole number", float: "a number", str: "a string", bool: "true or false"}
    return names.get(kind, "a list")
