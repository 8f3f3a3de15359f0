# SPDX-License-Identifier: GPL-2.0-only
"""What a scenario says of its stations' radios, in words: checked before anything starts.

`medium.stations` is "sta1,rate=1 sta2,snr=12", fields of dcfmedium's --station by name, and
`medium.hidden` "sta1:sta2 sta1:sta3", pairs that do not hear each other. dcfmedium itself checks
the fields' values, as it does `medium.phy`, `medium.edca` and `medium.channel`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from apbed.errors import ApbedError
from apbed.scenario import hostapd
from apbed.scenario.keys import KEYS

# Profiles whose rates the guest's access point and radios offer, for rates = "kernel".
KERNEL_RATES = ("hrdsss-11", "hrdsss-11-short", "erp-ofdm-")


IPV4_MTU_MIN, ETHERNET_MTU = 68, 1500  # bytes; RFC 791
IP_TCP = 40  # bytes of headers

# Four access categories each are all the stations that dcfmedium has: MAC_MAX_STATIONS is 128.
EDCA_RADIOS = 32

ROLES = ("ap", "station")
# Keys that do nothing beside one value of another key, and what they go with.
IDLE: dict[str, tuple[str, Any, str]] = {
    "hw_frames": ("radio", "direct", " = 'queues'"),
    "stall_ms": ("inflight", 0, ", the bound that it belongs to"),
}


def check_edca(edca: str, radios: Sequence[str]) -> None:
    """ApbedError if a line is none of hostapd's, or dcfmedium has too few access categories."""
    if hostapd.wanted(edca):
        hostapd.access_point(edca)
        hostapd.stations(edca)
    if edca != "off" and len(radios) > EDCA_RADIOS:
        most = EDCA_RADIOS - 1
        raise ApbedError(f"medium.edca = {edca!r}: expected at most {most} stations with it")


def check_rates(rates: str, phy: str) -> None:
    """ApbedError if the kernel is to choose among rates that it does not know."""
    if rates == "kernel" and not phy.startswith(KERNEL_RATES):
        raise ApbedError(
            f"medium.rates = 'kernel': expected medium.phy to be hrdsss-11 or erp-ofdm, not {phy!r}"
        )


def check_access(values: Mapping[str, Any]) -> None:
    """ApbedError for an access method, FEC or a bound that has no meaning beside the other keys."""
    access, edca = values["medium.access"], values["medium.edca"]
    if access != "dcf" and edca != "off":
        raise ApbedError(f"medium.access = {access!r}: expected medium.edca = 'off' with it")
    if values["medium.idle_target"] and access == "dcf":
        raise ApbedError("medium.idle_target: expected medium.access = 'aap' or 'idle-sense'")
    if values["medium.fec"] and not values["medium.channel"].startswith("ge,"):
        raise ApbedError("medium.fec: expected medium.channel = 'ge,...': it acts on a bad link")
    mtu, mss = values["tcp.mtu"], values["tcp.mss"]
    if 0 < mtu < IPV4_MTU_MIN:
        raise ApbedError(f"tcp.mtu = {mtu}: expected 0, or at least {IPV4_MTU_MIN}")
    if mss > (mtu or ETHERNET_MTU) - IP_TCP:
        raise ApbedError(f"tcp.mss = {mss}: expected at most {(mtu or ETHERNET_MTU) - IP_TCP}")


def check_queues(role: str, values: Mapping[str, Any]) -> None:
    """ApbedError if a role's queue and radio do not fit each other; `role` is "ap" or "station"."""
    qdisc, inflight = values[f"{role}.qdisc"], values[f"{role}.inflight"]
    queues = values[f"{role}.radio"] == "queues"
    for key in ("airtime_fairness", "aql"):
        if values[f"{role}.{key}"] and not queues:
            raise ApbedError(f"{role}.{key} = true: expected only with {role}.radio = 'queues'")
    if qdisc.split()[:1] != ["noqueue"]:
        return
    if not queues:
        raise ApbedError(
            f"{role}.qdisc = {qdisc!r}: expected {role}.radio = 'queues' with it; "
            "below a direct radio's device nothing holds packets"
        )
    if inflight:
        raise ApbedError(
            f"{role}.inflight = {inflight}: expected 0 with noqueue, which holds nothing back"
        )
    for key in ("ap.child", "ap.ack_child") if role == "ap" else ():
        if values[key]:
            raise ApbedError(
                f"{key} = {values[key]!r}: expected none with noqueue, which has no classes"
            )


def check_idle(
    given: Mapping[str, Any],
    replaced: Collection[str],
    lists: Mapping[str, Sequence[Any]],
    cases: Mapping[str, Mapping[str, Any]],
) -> None:
    """ApbedError for a key that a file, a case or --set gives, and that changes nothing.

    One that acts in some cases only is right, and so is one of the file's that --set leaves idle.
    `given`: what is not a default; of that `replaced` is by --set; `lists`: all keys' values.
    """
    for path, by in ((f"{role}.{key}", f"{role}.{IDLE[key][0]}") for role in ROLES for key in IDLE):
        said = [own[by] for own in cases.values() if by in own and by not in replaced]
        if path in given and (path in replaced or by not in replaced):
            _refuse_idle(path, lists[path], [*lists[by], *said])
        for name, own in cases.items():
            if path in own and path not in replaced and by not in replaced:
                beside = [own[by]] if by in own else lists[by]
                _refuse_idle(path, [own[path]], beside, f"case {name!r}: ")


def _refuse_idle(path: str, values: Sequence[Any], beside: Sequence[Any], where: str = "") -> None:
    role, key = path.split(".")
    other, without, words = IDLE[key]
    found = [value for value in values if value != KEYS[path].default]
    if found and set(beside) == {without}:
        raise ApbedError(f"{where}{path} = {found[0]}: expected only with {role}.{other}{words}")


def hidden(words: str, radios: Sequence[str]) -> tuple[str, ...]:
    """The pairs "A:B" of `medium.hidden`, each of two different radios."""
    pairs = tuple(words.split())
    for pair in pairs:
        ends = pair.split(":")
        if len(ends) != 2 or ends[0] == ends[1] or not set(ends) <= set(radios):
            raise ApbedError(f"medium.hidden: {pair!r}: expected A:B, two of {radios}")
    return pairs


def stations(words: str, radios: Sequence[str]) -> dict[str, str]:
    """The fields of each radio that `medium.stations` names."""
    found: dict[str, str] = {}
    for word in words.split():
        name, comma, fields = word.partition(",")
        if name not in radios:
            raise ApbedError(f"medium.stations: no station {name!r}; expected one of {radios}")
        if not comma or not all("=" in field for field in fields.split(",")):
            raise ApbedError(
                f"medium.stations: {word!r}: expected NAME,FIELD=VALUE, as sta1,rate=1"
            )
        if name in found:
            raise ApbedError(f"medium.stations: {name} is there twice")
        found[name] = fields
    return found
