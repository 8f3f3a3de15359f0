# SPDX-License-Identifier: GPL-2.0-only
"""Whether each radio was told by hostapd what the medium contends with for it.

Principle: mac80211 hands the parameters to the driver, no message to the medium has them. So the
medium gets them from the scenario beforehand. The lab's radio driver keeps what it was told, and a
difference ends the run. hwsim as it ships keeps nothing.
"""

from __future__ import annotations

from dataclasses import asdict

from apbed.scenario import hostapd
from apbed.scenario.hostapd import Category
from apbed.scenario.plan import Plan
from guest.commands import CellError
from guest.own_queues import DEBUGFS, number

ORDER = ("BK", "BE", "VI", "VO")  # lowest priority first


def parse(text: str) -> dict[str, Category]:
    """The driver's file: `BE aifs 3 cw_min 15 cw_max 63 txop 0` and so on."""
    found = {}
    for line in text.splitlines():
        name, *words = line.split()
        told = dict(zip(words[::2], map(int, words[1::2]), strict=True))
        found[name] = Category(told["aifs"], told["cw_min"], told["cw_max"], told["txop"])
    return found


def check(plan: Plan) -> None:
    """CellError naming the first radio that hostapd gave something else."""
    edca = plan.medium.edca
    if not (plan.queues and hostapd.wanted(edca)):
        return
    for name in ("ap", *plan.stations):
        wanted = hostapd.access_point(edca) if name == "ap" else hostapd.stations(edca)
        told = parse((DEBUGFS / f"phy{number(name)}" / "hwsim" / "edca").read_text())
        for category, ours in zip(ORDER, wanted, strict=True):
            if told[category] != ours:
                raise CellError(
                    f"{name}: hostapd gave {category} {asdict(told[category])}, "
                    f"the medium has {asdict(ours)}"
                )
