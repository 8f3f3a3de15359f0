# SPDX-License-Identifier: GPL-2.0-only
"""Every key that a scenario file may have, with its type, default and range."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from apbed.errors import ApbedError


@dataclass(frozen=True)
class Key:
    """What one key of a scenario may hold."""

    kind: type
    default: Any = None  # None: must be given
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    words: tuple[str, ...] = ()  # also these, whatever the kind
    pattern: str = ""  # also text that matches, such as "7/4"

    def check(self, path: str, given: Any) -> Any:
        """`given`, or ApbedError naming the key and what it takes."""
        if self.words and given in self.words:
            return given
        if self.pattern and isinstance(given, str) and re.fullmatch(self.pattern, given):
            return given
        value: Any = float(given) if self.kind is float and type(given) is int else given
        if type(value).__name__ != self.kind.__name__:  # not isinstance: True is no number
            raise ApbedError(f"{path} = {value!r}: expected {self._expected()}")
        if self.kind is float and not math.isfinite(value):
            raise ApbedError(f"{path} = {value}: expected a finite number")
        if self.choices and value not in self.choices:
            raise ApbedError(f"{path} = {value!r}: expected one of {', '.join(self.choices)}")
        if self.low is not None and value < self.low:
            raise ApbedError(f"{path} = {value}: expected at least {self.low:g}")
        if self.high is not None and value > self.high:
            raise ApbedError(f"{path} = {value}: expected at most {self.high:g}")
        return value

    def _expected(self) -> str:
        return " or ".join([_kind_name(self.kind), *map(repr, self.words)])


# Attempts for short and for long frames, 1 to 255 each.
RETRIES = "/".join([r"(?:[1-9]\d?|1\d\d|2[0-4]\d|25[0-5])"] * 2)
# Datagrams at a rate rather than at fixed times: they become pulses.
RATED = ("udp", "udp_down", "voice", "voice_down")
# Connections over UDP that react as QUIC does, and their direction.
QUIC = {"quic_up": "up", "quic_down": "down"}
# Names of the differentiated services field (RFC 2474, 2597, 3246, 5865, 8622).
DSCP = {"BE": 0} | {f"CS{k}": 8 * k for k in range(1, 8)}
DSCP |= {f"AF{k}{drop}": 8 * k + 2 * drop for k in range(1, 5) for drop in range(1, 4)}
DSCP |= {"EF": 46, "VA": 44, "LE": 1}
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
    "medium.retry": Key(int, 7, 1, 255, pattern=RETRIES),
    "medium.access": Key(str, "dcf", choices=("dcf", "aap", "idle-sense")),
    "medium.idle_target": Key(float, 0.0, 0, 1000),
    "medium.fec": Key(str, ""),
    "medium.rates": Key(str, "fixed", choices=("fixed", "kernel")),
    "medium.edca": Key(str, "off"),
    "medium.rts": Key(int, -1, -1, 2**20),
    "medium.channel": Key(str, "ideal"),
    "medium.stations": Key(str, ""),
    "medium.hidden": Key(str, ""),
    "medium.pcap": Key(bool, False),
    "medium.record": Key(bool, False),
    "ap.qdisc": Key(str),
    "ap.child": Key(str, ""),
    "ap.ack_child": Key(str, ""),
    "ap.inflight": Key(int, 0, 0, 1000, words=("auto",)),
    "ap.stall_ms": Key(int, 100, 10, 60000),
    "ap.radio": Key(str, "direct", choices=("direct", "queues")),
    "ap.hw_frames": Key(int, 8, 1, 64),
    "ap.airtime_fairness": Key(bool, False),
    "ap.aql": Key(bool, False),
    "ap.tx_status_delay_ms": Key(float, 0.0, 0, 1000),
    "mix": Key(str, ""),
    "mix_stagger_s": Key(float, 0.0, 0, 3600),
    "ap.watch": Key(bool, False),
    "ap.security": Key(str, "open", choices=("open", "wpa2")),
    "station.count": Key(int, low=1, high=64),
    "station.qdisc": Key(str, "pfifo limit 100"),
    "station.inflight": Key(int, 1, 0, 1000, words=("auto",)),
    "station.stall_ms": Key(int, 100, 10, 60000),
    "station.radio": Key(str, "direct", choices=("direct", "queues")),
    "station.hw_frames": Key(int, 8, 1, 64),
    "station.airtime_fairness": Key(bool, False),
    "station.aql": Key(bool, False),
    "station.tx_status_delay_ms": Key(float, 0.0, 0, 1000),
    "station.retry": Key(int, 0, 0, 255),
    "station.window": Key(int, 0, 0, 2**30),
    "wired.delay_ms": Key(float, 0.0, 0, 10000),
    "wired.window": Key(int, 0, 0, 2**30),
    "wired.rate_mbps": Key(float, 0.0, 0, 10000),
    "wired.initcwnd": Key(int, 0, 0, 1000),
    "datagrams.bytes": Key(int, 0, 0, 65507),
    "quic.window": Key(int, 0, 0, 2**30),
    "tcp.mss": Key(int, 0, 0, 2264),
    "tcp.mtu": Key(int, 0, 0, 2304),
    "tcp.window_segments": Key(int, 0, 0, 10000),
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
    "workload.stations": Key(int, 0, 0, 64),
    "workload.stop_s": Key(float, 0.0, 0, 86400),
}
# Known, and filled with their defaults, when there are [users].
USERS_KEYS: dict[str, Key] = {
    "users.files": Key(int, low=1, high=50_000),
    "users.think_s": Key(float, low=0, high=86400),
    "users.sizes": Key(str, choices=("pareto", "exponential", "list")),
    "users.min_bytes": Key(int, 1, 1, 2**40),
    "users.max_bytes": Key(int, 2**40, 1, 2**40),
    "users.mean_bytes": Key(float, 30000.0, 1, 2**40),
    "users.alpha": Key(float, 0.0, 0, 100),
    "users.list_bytes": Key(list, []),
    "users.objects": Key(int, 1, 1, 100),
    "users.warmup_files": Key(int, 0, 0, 50_000),
}
FLOW_KEYS: dict[str, Key] = {
    "id": Key(str),
    "station": Key(str),
    "dir": Key(str, choices=("up", "down", "pulse", "pulse_down", "ping", *RATED, *QUIC)),
    "start_s": Key(float, 0.0, 0, 86400),
    "seconds": Key(float, 0.0, 0, 86400),
    "bytes": Key(int, 0, 0, 2**40),
    "count": Key(int, 0, 0, 10**9),
    "every_s": Key(float, 0.0, 0, 86400),
    "datagrams": Key(int, 1, 1, 1000),
    "late_s": Key(float, 0.0, 0, 86400),
    "dscp": Key(str, "BE", choices=tuple(DSCP)),
    "rate_mbps": Key(float, 0.0, 0, 10000),  # of what a rate describes; no flow has these five
    "rate_kbps": Key(float, 0.0, 0, 10_000_000),
    "on_s": Key(float, 0.0, 0, 86400),
    "off_s": Key(float, 0.0, 0, 86400),
    "both": Key(bool, False),
    "renew_s": Key(float, 0.0, 0, 86400),
    "stagger_s": Key(float, 0.0, 0, 86400),  # of station "each"; no flow has it
}
SLEEP_KEYS: dict[str, Key] = {
    "station": Key(str),
    "start_s": Key(int, low=1, high=86400),
    "seconds": Key(int, low=1, high=86400),
}
NOT_SWEPT = ("schema", "name", "title", "source", "workload.list_bytes", "users.list_bytes")
# The names `params` uses for the keys that every run has there; a case only where there are some.
PARAMETER = {
    "case": "case",
    "ap.qdisc": "qdisc",
    "ap.inflight": "inflight",
    "seed": "seed",
    "kernel": "kernel",
}


def refuse_unknown(given: Iterable[str], known: Iterable[str]) -> None:
    """ApbedError for the first key that does not exist, with the nearest one that does."""
    for path in given:
        if path not in known:
            close = difflib.get_close_matches(path, list(known), n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(known)}"
            raise ApbedError(f"unknown key {path!r}; {hint}")


def checked(spec: Mapping[str, Key], table: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a table of its own, such as [[flow]]; only those that it gives."""
    refuse_unknown(table, spec)
    values = {key: spec[key].check(key, value) for key, value in table.items()}
    for key, one in spec.items():
        if one.default is None and key not in values:
            raise ApbedError(f"{key} is missing")
    return values


def _kind_name(kind: type) -> str:
    names = {int: "a whole number", float: "a number", str: "a string", bool: "true or false"}
    return names.get(kind, "a list")
