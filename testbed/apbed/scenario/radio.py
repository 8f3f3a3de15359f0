# SPDX-License-Identifier: GPL-2.0-only
"""What a scenario says of its stations' radios, in words: checked before anything starts.

`medium.stations` is "sta1,rate=1 sta2,snr=12", fields of dcfmedium's --station by name, and
`medium.hidden` "sta1:sta2 sta1:sta3", pairs that do not hear each other. dcfmedium itself checks
the fields' values, as it does `medium.phy`, `medium.edca` and `medium.channel`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from apbed.errors import ApbedError

# Profiles whose rates the guest's access point and radios offer, for rates = "kernel".
KERNEL_RATES = ("hrdsss-11", "hrdsss-11-short", "erp-ofdm-")


def check(values: Mapping[str, Any]) -> None:
    """Raises ApbedError, in one line, for words that no run could have."""
    phy = values["medium.phy"]
    if values["medium.rates"] == "kernel" and not phy.startswith(KERNEL_RATES):
        raise ApbedError(
            f"medium.rates = 'kernel': expected medium.phy to be hrdsss-11 or erp-ofdm, not {phy!r}"
        )
    known = ["ap", *(f"sta{k}" for k in range(1, values["station.count"] + 1))]
    for word in values["medium.hidden"].split():
        ends = word.split(":")
        if len(ends) != 2 or ends[0] == ends[1] or not set(ends) <= set(known):
            raise ApbedError(f"medium.hidden: {word!r}: expected A:B, two of {known}")
    named = []
    for word in values["medium.stations"].split():
        name, comma, fields = word.partition(",")
        if name not in known:
            raise ApbedError(f"medium.stations: no station {name!r}; expected one of {known}")
        if not comma or not all("=" in field for field in fields.split(",")):
            raise ApbedError(
                f"medium.stations: {word!r}: expected NAME,FIELD=VALUE, as sta1,rate=1"
            )
        named.append(name)
    for name in named:
        if named.count(name) > 1:
            raise ApbedError(f"medium.stations: {name} is there twice")
