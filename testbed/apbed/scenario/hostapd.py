# SPDX-License-Identifier: GPL-2.0-only
"""EDCA as hostapd hands it out: what the access point has, and what its beacons tell the stations.

`medium.edca` is then "hostapd", and after it lines of hostapd.conf that change what hostapd has by
default: "hostapd tx_queue_data2_cwmin=7 wmm_ac_be_aifs=4". The same words go to hostapd and, as the
contention parameters they mean, to the medium. Standard library only: the guest reads them too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from apbed.errors import ApbedError

NAME = "hostapd"
UNIT_US = 32  # of a TXOP limit

# hostapd_config_defaults() of src/ap/ap_config.c, alike in 2.10 and 2.11. Lowest priority first, as
# dcfmedium has them. The access point's windows are numbers, the stations' are exponents of 2: so
# hostapd.conf has them. Its bursts are milliseconds, the stations' TXOP limits units of 32 us.
ACCESS_POINT: dict[str, dict[str, float]] = {
    "tx_queue_data3": {"aifs": 7, "cwmin": 15, "cwmax": 1023, "burst": 0},
    "tx_queue_data2": {"aifs": 3, "cwmin": 15, "cwmax": 63, "burst": 0},
    "tx_queue_data1": {"aifs": 1, "cwmin": 7, "cwmax": 15, "burst": 3.0},
    "tx_queue_data0": {"aifs": 1, "cwmin": 3, "cwmax": 7, "burst": 1.5},
}
# The default EDCA parameter set of IEEE Std 802.11-2012, Table 8-105, where aCWmin is 15.
STATIONS: dict[str, dict[str, float]] = {
    "wmm_ac_bk": {"aifs": 7, "cwmin": 4, "cwmax": 10, "txop_limit": 0},
    "wmm_ac_be": {"aifs": 3, "cwmin": 4, "cwmax": 10, "txop_limit": 0},
    "wmm_ac_vi": {"aifs": 2, "cwmin": 3, "cwmax": 4, "txop_limit": 94},
    "wmm_ac_vo": {"aifs": 2, "cwmin": 2, "cwmax": 3, "txop_limit": 47},
}
WINDOWS = tuple(2**n - 1 for n in range(1, 16))


@dataclass(frozen=True)
class Category:
    """What an access category contends with, as a driver is told."""

    aifsn: int
    cw_min: int  # the largest count of a first backoff
    cw_max: int
    txop: int  # units of 32 us; 0: one frame, or A-MPDU, at a time


def wanted(edca: str) -> bool:
    """Whether `medium.edca` leaves the categories to hostapd."""
    return edca.split()[:1] == [NAME]


def lines(edca: str) -> list[str]:
    """The lines for hostapd.conf."""
    return edca.split()[1:]


def access_point(edca: str) -> list[Category]:
    """Of background, best effort, video and voice; ApbedError if hostapd does not take a line."""
    return [
        Category(
            int(values["aifs"]),
            int(values["cwmin"]),
            int(values["cwmax"]),
            # driver_nl80211.c, wpa_driver_nl80211_set_tx_queue_params()
            (round(10 * values["burst"]) * 100 + UNIT_US // 2) // UNIT_US,
        )
        for values in _of_role(edca, ACCESS_POINT)
    ]


def stations(edca: str) -> list[Category]:
    """The same of the stations."""
    return [
        Category(
            int(values["aifs"]),
            2 ** int(values["cwmin"]) - 1,
            2 ** int(values["cwmax"]) - 1,
            int(values["txop_limit"]),
        )
        for values in _of_role(edca, STATIONS)
    ]


def medium_list(categories: list[Category]) -> str:
    """AIFSN:CWMIN:CWMAX:TXOP_US of each, as dcfmedium takes them: windows count their values."""
    return ",".join(
        f"{one.aifsn}:{one.cw_min + 1}:{one.cw_max + 1}:{one.txop * UNIT_US}" for one in categories
    )


def _of_role(edca: str, defaults: Mapping[str, dict[str, float]]) -> list[dict[str, float]]:
    """The values of each category, changed by the lines that are this role's."""
    found = {name: dict(values) for name, values in defaults.items()}
    for line in lines(edca):
        key, _, text = line.partition("=")
        queue, _, field = key.rpartition("_")
        if key.endswith("_txop_limit"):
            queue, field = key.removesuffix("_txop_limit"), "txop_limit"
        if field not in (ACCESS_POINT | STATIONS).get(queue, {}):
            raise ApbedError(
                f"medium.edca: {line!r}: expected tx_queue_data0 to 3 with _aifs, _cwmin, _cwmax "
                "or _burst, or wmm_ac_bk, be, vi or vo with _aifs, _cwmin, _cwmax or _txop_limit"
            )
        if queue in found:
            found[queue][field] = _value(line, queue, field, text)
    for queue, values in found.items():
        if values["cwmin"] > values["cwmax"]:
            raise ApbedError(f"medium.edca: {queue}_cwmin is larger than {queue}_cwmax")
    return list(found.values())


def _value(line: str, queue: str, field: str, text: str) -> float:
    """What a line sets; both hostapd and mac80211 must take it as it is."""
    told = queue in STATIONS
    try:
        value = float(text) if field == "burst" else int(text)
    except ValueError:
        raise ApbedError(f"medium.edca: {line!r}: expected a number") from None
    if field.startswith("cw") and not told:
        if value not in WINDOWS:
            raise ApbedError(f"medium.edca: {line!r}: expected 1, 3, 7, 15... or 32767")
        return value
    low, high = {
        "aifs": (2 if told else 1, 15),
        "cwmin": (1, 15),
        "cwmax": (1, 15),
        "burst": (0.0, 100.0),
        "txop_limit": (0, 65535),
    }[field]
    if not low <= value <= high:
        raise ApbedError(f"medium.edca: {line!r}: expected {low:g} to {high:g}")
    return value
