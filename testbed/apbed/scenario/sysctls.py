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

PREFIX = "sysctl."
ROLES = ("wired.", "station.")
NAME = re.compile(r"net\.[A-Za-z0-9_.-]+")  # of the network namespace; all others are the guest's


def kinds(given: Mapping[str, Any]) -> dict[str, type]:
    """The sysctl keys among the given ones, with the type of their values: int or str."""
    found: dict[str, type] = {}
    for path, value in given.items():
        role = next((role for role in ROLES if path.startswith(f"{role}{PREFIX}")), None)
        if role is None:
            continue
        if not NAME.fullmatch(path.removeprefix(f"{role}{PREFIX}")):
            raise ApbedError(
                f"{path}: expected a sysctl of a network namespace, such as net.ipv4.tcp_ack_skip"
            )
        first = value[0] if isinstance(value, list) and value else value
        found[path] = str if isinstance(first, str) else int
    return found
