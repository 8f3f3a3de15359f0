# SPDX-License-Identifier: GPL-2.0-only
"""Who used the air, and for what: what dcfmedium counted of each radio, as shares.

An attempt's airtime is that of the frame with its RTS and CTS, SIFS and ACK, whatever became of it;
two that collide count both. The time between attempts is nobody's.
"""

from __future__ import annotations

from apbed.analysis.run_directory import Json

ACCESS_POINT = "ap"


def tcp_ack_share(medium: Json) -> float | None:
    """Of the airtime of all attempts, what frames took that carry a TCP ACK and nothing else.

    None where the medium did not look into frames.
    """
    radios = medium.get("stations", [])
    if not radios or not all("tcp_ack_airtime_s" in one for one in radios):
        return None
    total = sum(one["airtime_s"] for one in radios)
    return sum(one["tcp_ack_airtime_s"] for one in radios) / total if total else None


def station_shares(medium: Json) -> dict[str, float] | None:
    """Of the airtime from and to all stations, that from and to each.

    So mac80211's airtime fairness counts: a station pays for what it sends and for what it is sent.
    None where the medium did not count airtime by receiver.
    """
    radios = medium.get("stations", [])
    if not all("airtime_to_s" in one for one in radios):
        return None
    used: dict[str, float] = {}
    for one in radios:
        name = one["name"].split("-")[0]  # with EDCA, sta1-vo is sta1's
        if name != ACCESS_POINT:
            used[name] = used.get(name, 0) + one["airtime_s"] + one["airtime_to_s"]
    total = sum(used.values())
    return {name: spent / total for name, spent in used.items()} if total else None
