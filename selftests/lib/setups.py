# SPDX-License-Identifier: GPL-2.0-only
"""A test program whose tests are set-ups of an access point, each with a cell of its own."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from access_point import Cell, cell
from arguments import known, refuse
from ktap import Ktap
from lab_network import Broken

Setup = Callable[[Cell], list[str]]  # returns what is wrong in the end
# In a checkout ours must be there; in a kernel's own selftests somebody may not have them.
OURS = () if (Path(__file__).parents[2] / "kernel" / "uapi").exists() else ("dcfmedium", "flowgen")
PROGRAMS = ("hostapd", "hostapd_cli", "iw", "wpa_cli", "wpa_supplicant", *OURS)


class Absent(Exception):  # noqa: N818 - no error of the program
    """What this kernel or machine does not have."""


def run_setups(setups: Mapping[str, Setup], holds: str, arguments: Sequence[str]) -> int:
    """The arguments are HWSIM and the names of set-ups, none for all. Return: the exit status."""
    if not arguments:
        refuse("say mac80211_hwsim, or the path of its module, and then which set-ups")
    hwsim, names = arguments[0], known("set-up", arguments[1:], setups)
    missing = [program for program in PROGRAMS if not shutil.which(program)]
    ktap = Ktap(len(names), nested=True)
    for name in names:
        try:
            if missing:
                raise Absent(f"no program {missing[0]}")
            with cell(hwsim) as made:
                said = setups[name](made)
        except Absent as absent:
            ktap.skip(f"{name}: {holds}", str(absent))
            continue
        except (Broken, subprocess.SubprocessError) as broken:
            said = [str(broken)]
        ktap.result(not said, f"{name}: {holds}", *said)
    return ktap.end()
