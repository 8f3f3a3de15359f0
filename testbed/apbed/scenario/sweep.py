# SPDX-License-Identifier: GPL-2.0-only
"""The points of a scenario: the product of its sweeps, but what `[sweep] zip` names goes in step.

`zip = [["station.window", "wired.window"]]`: the first value of the one goes with the first of the
other, and so on. A key of a single value has it at every point.
"""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Mapping, Sequence
from typing import Any

from apbed.errors import ApbedError
from apbed.scenario.keys import PARAMETER, refuse_unknown

ID_MAX = 120  # of a run's id, which names a directory: 255 bytes with what is written there
DIGEST = 10  # digits that tell two long ids apart

Lists = Mapping[str, Sequence[Any]]  # dotted key -> its values


def zipped(table: Mapping[str, Any]) -> list[list[str]]:
    """The groups of keys of a [sweep] table; ApbedError if they are none."""
    refuse_unknown(table, ("zip",))
    groups = table.get("zip", [])
    if not isinstance(groups, list) or not all(_is_group(group) for group in groups):
        raise ApbedError('sweep.zip: expected lists of keys, as [["station.window", "tcp.mss"]]')
    named = [path for group in groups for path in group]
    if twice := [path for path in named if named.count(path) > 1]:
        raise ApbedError(f"sweep.zip: {twice[0]} is there twice")
    return groups


def points(lists: Lists, groups: Sequence[Sequence[str]]) -> list[dict[str, Any]]:
    """Every point, as dotted key -> value. The first key varies slowest."""
    refuse_unknown([path for group in groups for path in group], lists)
    leader: dict[str, Sequence[str]] = {}
    for group in groups:
        leader |= dict.fromkeys(group, group)
        _check_lengths(lists, group)
    axes: list[list[dict[str, Any]]] = []
    for path, values in lists.items():
        group = leader.get(path, [path])
        if len(group) == 1:
            axes.append([{path: value} for value in values])
        elif path == min(group, key=list(lists).index):
            axes.append(_together(lists, group))
    found = [dict(itertools.chain(*(step.items() for step in p))) for p in itertools.product(*axes)]
    return [{path: point[path] for path in lists} for point in found]


def run_id(params: Mapping[str, Any], swept: Sequence[str]) -> str:
    """A readable directory name: the case or scheduler, what else the sweep varies, the seed.

    One that would be longer than ID_MAX is cut, and has a digest of the whole before its seed.
    """
    first = "case" if "case" in params else "qdisc"
    names = [PARAMETER.get(path, path) for path in swept]
    rest = [f"{name}-{params[name]}" for name in names if name not in (first, "seed")]
    words = [str(params[first]), *rest]
    whole = "_".join(_plain(word) for word in words)
    seed = f"_seed-{params['seed']}"
    if len(whole) + len(seed) <= ID_MAX:
        return whole + seed
    digest = hashlib.sha256(repr(words).encode()).hexdigest()[:DIGEST]
    return f"{whole[: ID_MAX - len(seed) - DIGEST - 1]}_{digest}{seed}"


def _is_group(group: Any) -> bool:
    return isinstance(group, list) and len(group) > 1 and all(isinstance(one, str) for one in group)


def _check_lengths(lists: Lists, group: Sequence[str]) -> None:
    lengths = {path: len(lists[path]) for path in group if len(lists[path]) > 1}
    if len(set(lengths.values())) > 1:
        said = ", ".join(f"{path} {length}" for path, length in lengths.items())
        raise ApbedError(f"sweep.zip: expected as many values of each; there are: {said}")


def _together(lists: Lists, group: Sequence[str]) -> list[dict[str, Any]]:
    longest = max(len(lists[path]) for path in group)
    columns = [list(lists[path]) * (longest if len(lists[path]) == 1 else 1) for path in group]
    return [dict(zip(group, row, strict=True)) for row in zip(*columns, strict=True)]


def _plain(word: str) -> str:
    return re.sub(r"[^A-Za-z0-9.]+", "-", word)
