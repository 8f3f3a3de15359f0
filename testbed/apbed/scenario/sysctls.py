# SPDX-License-Identifier: GPL-2.0-only
"""The sysctls a scenario sets in the network namespaces of a role.

`wired.sysctl.NAME` and `station.sysctl.NAME` are open keys: the kernel knows the names and their
ranges, not this program; a run that sets what its kernel does not have fails in one line. As all
keys they may be swept, so a value with spaces is text. The access point has none: it forwards.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from apbed.errors import ApbedError
from apbed.scenario.keys import Key

PREFIXES = ("wired.sysctl.", "station.sysctl.")
NAME = re.compile(r"net\.[A-Za-z0-9_.-]+")  # of the network namespace; all others are the guest's


def keys(given: Mapping[str, Any]) -> dict[str, Key]:
    """The sysctl keys among the given ones; their values are int or str."""
    found: dict[str, Key] = {}
    for path, value in given.items():
        prefix = next((one for one in PREFIXES if path.startswith(one)), None)
        if prefix is None:
            continue
        if not NAME.fullmatch(path.removeprefix(prefix)):
            raise ApbedError(
                f"{path}: expected a sysctl of a network namespace, such as net.ipv4.tcp_ack_skip"
            )
        first = value[0] if isinstance(value, list) and value else value
        found[path] = Key(str if isinstance(first, str) else int)
    return found


def of_role(role: str, values: Mapping[str, Any]) -> dict[str, int | str]:
    """NAME -> value of the sysctls that a role's machines get."""
    prefix = f"{role}.sysctl."
    return {
        path.removeprefix(prefix): value
        for path, value in values.items()
        if path.startswith(prefix)
    }
