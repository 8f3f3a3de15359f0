# SPDX-License-Identifier: GPL-2.0-only
"""One run as typed values: parsed from a scenario, read by the guest and by the analysis.

Principle: plan.json holds these values and nothing else, so that everyone who reads it gets
what was parsed. Seconds are virtual, and moments are seconds after t0, when the flows begin.
Standard library only: the guest reads plans with the system's own Python.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

SCHEMA = 4


@dataclass(frozen=True)
class Medium:
    """The air between the radios, in dcfmedium's words."""

    phy: str
    eifs: bool
    retry: int | str  # attempts at a frame, the first one included; "7/4": short and long limit
    access: str  # "dcf"; "idle-sense"; "aap": the access point's, the stations have Idle Sense
    idle_target: float  # slots, of Idle Sense; 0: the profile's
    fec: str  # "255,181": Reed-Solomon while a Gilbert-Elliott link is bad; "": none
    rates: str  # "fixed", or "kernel": mac80211 chooses them
    edca: str
    rts: int  # bytes from which on RTS comes first; -1: never
    channel: str
    stations: dict[str, str]  # name -> what only its radio has: "rate=1"
    hidden: tuple[str, ...]  # "A:B": two that do not hear each other
    pcap: bool
    record: bool


@dataclass(frozen=True)
class AccessPoint:
    """The device under test. `inflight`: packets below the qdisc at most, "auto", 0: no bound."""

    qdisc: str
    inflight: int | str
    stall_ms: int  # of `inflight`: the air may be denied for so long before it lets more go
    watch: bool  # keep the qdisc's statistics of every second
    radio: str  # "direct", or "queues": frames wait in mac80211's own queues
    hw_frames: int  # with queues: of an access category in hardware at most
    airtime_fairness: bool
    aql: bool
    tx_status_delay_ms: float  # TX statuses come so late
    security: str = "open"  # or "wpa2": CCMP with a passphrase
    child: str = ""  # the queue discipline of class :1 of `qdisc`; "": the one it has by itself
    ack_child: str = ""  # that of class :2, which in ackwrr is ACKs


@dataclass(frozen=True)
class Stations:
    """What all stations have in common: sta1, sta2... up to `count`."""

    count: int
    qdisc: str
    inflight: int | str  # as the access point's, and the radio too
    stall_ms: int
    radio: str
    hw_frames: int
    airtime_fairness: bool
    aql: bool
    tx_status_delay_ms: float
    retry: int  # attempts at a frame; 0: as the medium's
    window: int  # bytes, the largest receive window; 0: the kernel chooses
    sysctls: dict[str, int | str]


@dataclass(frozen=True)
class Wired:
    """The host behind the access point, and the wire between them."""

    delay_ms: float  # each way
    rate_mbps: float  # each way; 0: no bound
    window: int  # as a station's
    initcwnd: int  # segments that a download may begin with; 0: the kernel chooses
    sysctls: dict[str, int | str]


@dataclass(frozen=True)
class Tcp:
    """What every machine's TCP has; 0: the kernel's own."""

    mss: int  # bytes, asked of its peers
    mtu: int  # bytes of a packet, of every device
    window_segments: int  # the most that a sender has in flight


@dataclass(frozen=True)
class Flow:
    """A connection that lasts `seconds` or carries `bytes`, or a stream of datagrams.

    A connection is TCP's, unless it has `quic_bytes`: then it reacts as QUIC does, with UDP
    datagrams of so many bytes, and its receiver takes `quic_window` bytes ahead.

    `dir` is up or down for a connection; pulse (up) or pulse_down for `count` frames of
    `datagrams` (1 unless it says more) of `bytes` each, one every `every_s`; ping for datagrams
    that the wired host sends back. A frame that takes longer than `late_s` is of no use.
    `bursts` are talk spurts: seconds after the start, and how many frames come from then on.

    A user's transfer starts `think_s` after the page before it is there: no one knows the
    moment before. Without `think_s` it starts with the one before it, as an object of its page.
    """

    id: str
    station: str
    dir: str
    start_s: float
    seconds: float | None = None
    bytes: int | None = None
    count: int | None = None
    every_s: float | None = None
    datagrams: int | None = None
    late_s: float | None = None
    bursts: tuple[tuple[float, int], ...] | None = None
    think_s: float | None = None
    dscp: int | None = None  # the sender's
    quic_bytes: int | None = None
    quic_window: int | None = None

    @property
    def pulse(self) -> bool:
        """Whether it is a stream of datagrams."""
        return self.dir in ("pulse", "pulse_down", "ping")


@dataclass(frozen=True)
class Sleep:
    """A station in power save, for whole seconds."""

    station: str
    start_s: int
    seconds: int


@dataclass(frozen=True)
class Plan:
    """Everything that decides how a run comes out, but the kernel and the programs."""

    seed: int
    duration_s: float
    warmup_s: float  # not measured
    medium: Medium
    ap: AccessPoint
    station: Stations
    wired: Wired
    tcp: Tcp
    flows: tuple[Flow, ...]
    transfers: tuple[Flow, ...]  # of the workload, by start
    users: tuple[Flow, ...]  # the files of each station's user, in their order
    warmup_files: int  # of each user, not measured
    sleeps: tuple[Sleep, ...]

    @property
    def queues(self) -> bool:
        """Whether any radio takes its frames from mac80211's own queues."""
        return "queues" in (self.ap.radio, self.station.radio)

    @property
    def sized(self) -> tuple[Flow, ...]:
        """The transfers of the workload and of the users."""
        return self.transfers + self.users

    @property
    def sessions(self) -> bool:
        """Whether mac80211 starts A-MPDU sessions: with the lab's driver, on 802.11n and ac."""
        return self.queues and self.medium.phy.startswith(("ht20", "vht80"))

    @property
    def sessions_ac(self) -> bool:
        """Whether these are 802.11ac's."""
        return self.sessions and self.medium.phy.startswith("vht80")

    @property
    def stations(self) -> list[str]:
        """The stations' names, in the order of their radios."""
        return station_names(self.station.count)

    def to_json(self) -> dict[str, Any]:
        """As plan.json has it; a flow has only the keys that mean something for it."""
        table = asdict(self)
        for name in ("flows", "transfers", "users"):
            table[name] = [_known(flow) for flow in table[name]]
        return {"schema": SCHEMA} | table

    @classmethod
    def from_json(cls, table: dict[str, Any]) -> Plan:
        """The plan that `to_json` gave; ValueError if it is none, or of another schema."""
        if table.get("schema") != SCHEMA:
            raise ValueError(f"a plan of schema {table.get('schema')}; expected {SCHEMA}")
        try:
            medium = table["medium"] | {"hidden": tuple(table["medium"]["hidden"])}
            return cls(
                seed=table["seed"],
                duration_s=table["duration_s"],
                warmup_s=table["warmup_s"],
                medium=Medium(**medium),
                ap=AccessPoint(**table["ap"]),
                station=Stations(**table["station"]),
                wired=Wired(**table["wired"]),
                tcp=Tcp(**table["tcp"]),
                flows=tuple(map(_flow, table["flows"])),
                transfers=tuple(map(_flow, table["transfers"])),
                users=tuple(map(_flow, table["users"])),
                warmup_files=table["warmup_files"],
                sleeps=tuple(Sleep(**one) for one in table["sleeps"]),
            )
        except (KeyError, TypeError) as error:
            raise ValueError(f"a broken plan: {error}") from error


@dataclass(frozen=True)
class Programs:
    """What a plan is carried out with, by this machine's absolute paths."""

    modules: tuple[str, ...]  # in the order they must be loaded
    hwsim: str  # mac80211_hwsim.ko
    dcfmedium: str
    flowgen: str
    tc_lib_dir: str
    window: str = ""  # lab_window.ko, for a plan with tcp.window_segments


def write(path: Path, plan: Plan, programs: Programs) -> None:
    """plan.json, for the guest."""
    table = plan.to_json() | {"programs": asdict(programs)}
    path.write_text(json.dumps(table, indent=1) + "\n")


def read(path: Path) -> tuple[Plan, Programs]:
    """What `write` wrote; ValueError if it is something else."""
    table = json.loads(path.read_text())
    return Plan.from_json(table), Programs(**table["programs"])


def station_names(count: int) -> list[str]:
    """sta1, sta2..."""
    return [f"sta{number}" for number in range(1, count + 1)]


def _flow(table: dict[str, Any]) -> Flow:
    bursts = table.get("bursts")
    if bursts is not None:
        table = table | {"bursts": tuple((float(at), int(count)) for at, count in bursts)}
    return Flow(**table)


def _known(flow: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in flow.items() if value is not None}
