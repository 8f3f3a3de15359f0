#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""The guest's part of test_secure_boot.py: locks the kernel down, and asks for lasack.

secure_boot_guest.py DOCTOR TC_LIB_DIR      what was said is in files of the working directory
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SECURITY = Path("/sys/kernel/security")


def say(name: str, *words: str) -> None:
    """Run a command; NAME.said has what it said."""
    with Path(f"{name}.said").open("w") as said:
        subprocess.run(words, stdout=said, stderr=subprocess.STDOUT, check=False)


def main(doctor: str, plugins: str) -> None:
    """What an operator types, and sees, before and after."""
    os.environ["TC_LIB_DIR"] = plugins
    subprocess.run(["mount", "-t", "securityfs", "none", str(SECURITY)], check=True)
    subprocess.run(["modprobe", "mac80211_hwsim", "radios=1"], check=True)
    say("open", doctor, "wlan0", "-s", "0.1", "--json")
    (SECURITY / "lockdown").write_text("integrity\n")
    say("tc", "tc", "qdisc", "replace", "dev", "wlan0", "root", "lasack")
    say("modprobe", "modprobe", "sch_lasack")
    say("kernel", "dmesg")
    say("locked", doctor, "wlan0", "-s", "0.1", "--json")
    Path("progress").write_text("done\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
