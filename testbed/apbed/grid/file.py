# SPDX-License-Identifier: GPL-2.0-only
"""Grid files: which machines are the access point, the stations and the wired host.

Principle: everything is checked here, before anybody is connected to. A grid file holds no
password and no key; how a node is reached is ssh's own configuration.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from apbed.errors import ApbedError
from apbed.scenario.keys import Key, checked

GRID_KEYS = {
    "schema": Key(int, low=1, high=1),
    "name": Key(str),
    "kernel": Key(str),
    "arch": Key(str, "x86_64"),
    "directory": Key(str, "/run/apbed"),
    "lease_s": Key(int, 20, 5, 600),
    "ssh_config": Key(str, ""),
}
RADIO_KEYS = {
    "channel": Key(int, low=1, high=196),
    "country": Key(str),
    "txpower_dbm": Key(float, 0.0, 0, 36),  # 0: the driver's own
}
REACHED = {"host": Key(str), "user": Key(str, "root"), "port": Key(int, 22, 1, 65535)}
AIR = {"wlan": Key(str), "driver": Key(str, "")}
ROLE_KEYS = {
    "ap": REACHED | AIR | {"wired": Key(str)},
    "wired": REACHED | {"wired": Key(str)},
    "station": REACHED | AIR,
    "monitor": REACHED | AIR,
}
TABLES = ("radio", *ROLE_KEYS)

HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,252}")  # begins with no -, which ssh would obey
USER = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,31}")
DEVICE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,14}")
WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}")
DIRECTORY = re.compile(r"(/[A-Za-z0-9_][A-Za-z0-9_.-]*){2,}")  # never / or one of its folders
STATIONS_MAX = 50


@dataclass(frozen=True)
class Node:
    """One machine. `wlan`, `wired`: its devices, "" if its role has none."""

    name: str  # ap, wired, sta1, sta2... or monitor
    host: str
    user: str
    port: int
    wlan: str = ""
    wired: str = ""
    driver: str = ""  # "": any


@dataclass(frozen=True)
class Radio:
    """What the air between them is."""

    channel: int
    country: str
    txpower_dbm: float


@dataclass(frozen=True)
class Grid:
    """A grid file. `kernel` and `arch` say which build/modules/KERNEL-ARCH the nodes get."""

    name: str
    kernel: str
    arch: str
    directory: str  # on each node, there only during a run
    lease_s: int  # a node that does not hear of apbed for so long puts itself back
    radio: Radio
    nodes: tuple[Node, ...]
    ssh_config: Path | None = field(default=None, compare=False)

    @property
    def stations(self) -> list[Node]:
        """sta1, sta2..."""
        return [node for node in self.nodes if node.name.startswith("sta")]

    def node(self, name: str) -> Node | None:
        """The node of this name, if there is one."""
        return next((node for node in self.nodes if node.name == name), None)

    def chosen(self, stations: int) -> list[Node]:
        """The nodes of a run with so many stations; ApbedError if there are not as many."""
        if stations > len(self.stations):
            raise ApbedError(
                f"the scenario has {stations} stations, the grid {self.name} "
                f"{len(self.stations)}; add [[station]]s, or --set station.count"
            )
        left_out = {node.name for node in self.stations[stations:]}
        return [node for node in self.nodes if node.name not in left_out]

    @property
    def key(self) -> str:
        """Names what of the grid can change a result."""
        table = asdict(self) | {"ssh_config": None, "lease_s": None, "directory": None}
        digest = hashlib.sha256(json.dumps(table, sort_keys=True).encode()).hexdigest()
        return f"grid-{self.name}-{digest[:12]}"


def load(path: Path) -> Grid:
    """Read and check a grid file; ApbedError in one line if it says something wrong."""
    try:
        table = tomllib.loads(path.read_text())
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ApbedError(f"{path.name}: {error}") from error
    try:
        return _grid(table, path.parent)
    except ApbedError as error:
        raise ApbedError(f"{path.name}: {error}") from error


def _grid(table: dict[str, Any], folder: Path) -> Grid:
    parts = {name: table.pop(name) for name in TABLES if name in table}
    for name in ("radio", "ap", "wired", "station"):
        if name not in parts:
            shown = f"[[{name}]]" if name == "station" else f"[{name}]"
            raise ApbedError(f"{shown} is missing")
    values = _values(GRID_KEYS, table)
    values.pop("schema")
    for key, pattern in {
        "name": WORD,
        "kernel": WORD,
        "arch": WORD,
        "directory": DIRECTORY,
    }.items():
        _match(key, values[key], pattern)
    config = values.pop("ssh_config")
    grid = Grid(
        **values,
        radio=_radio(parts["radio"]),
        nodes=tuple(_nodes(parts)),
        ssh_config=(folder / config).resolve() if config else None,
    )
    if grid.ssh_config and not grid.ssh_config.is_file():
        raise ApbedError(f"ssh_config = {config!r}: no such file beside the grid file")
    return grid


def _radio(given: Any) -> Radio:
    values = _part("radio", RADIO_KEYS, given)
    _match("radio.country", values["country"], re.compile("[A-Z]{2}|00"))
    return Radio(**values)


def _nodes(parts: Mapping[str, Any]) -> list[Node]:
    stations = parts["station"]
    if not isinstance(stations, list) or not 1 <= len(stations) <= STATIONS_MAX:
        raise ApbedError(f"station: expected 1 to {STATIONS_MAX} tables [[station]]")
    named = [("ap", "ap", parts["ap"]), ("wired", "wired", parts["wired"])]
    named += [("station", f"sta{number}", one) for number, one in enumerate(stations, start=1)]
    if "monitor" in parts:
        named.append(("monitor", "monitor", parts["monitor"]))
    nodes = [_node(role, name, given) for role, name, given in named]
    seen: dict[tuple[str, str, int], str] = {}
    for node in nodes:
        where = (node.host, node.user, node.port)
        if where in seen:
            raise ApbedError(f"{node.name} and {seen[where]} are both {node.host}")
        seen[where] = node.name
    return nodes


def _node(role: str, name: str, given: Any) -> Node:
    values = _part(name, ROLE_KEYS[role], given)
    patterns = {"host": HOST, "user": USER, "wlan": DEVICE, "wired": DEVICE}
    for key, pattern in patterns.items():
        if key in values:
            _match(f"{name}.{key}", values[key], pattern)
    if values.get("driver"):
        _match(f"{name}.driver", values["driver"], WORD)
    if "wlan" in values and values["wlan"] == values.get("wired"):
        raise ApbedError(f"{name}: wlan and wired are the same device")
    return Node(name, **values)


def _part(name: str, spec: Mapping[str, Key], given: Any) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise ApbedError(f"{name}: expected a table")
    try:
        return _values(spec, given)
    except ApbedError as error:
        raise ApbedError(f"{name}: {error}") from error


def _values(spec: Mapping[str, Key], given: Mapping[str, Any]) -> dict[str, Any]:
    return {key: one.default for key, one in spec.items()} | checked(spec, given)


def _match(path: str, value: str, pattern: re.Pattern[str]) -> None:
    if not pattern.fullmatch(value):
        raise ApbedError(f"{path} = {value!r}: expected {MEANT[pattern.pattern]}")


MEANT = {
    HOST.pattern: "a host's name or address",
    USER.pattern: "a user's name",
    DEVICE.pattern: "a network device, such as wlan0",
    WORD.pattern: "a word of letters, digits and . _ + -",
    DIRECTORY.pattern: "a directory below another one, such as /run/apbed",
    "[A-Z]{2}|00": "a country in two capital letters, or 00",
}
