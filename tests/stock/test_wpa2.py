# SPDX-License-Identifier: GPL-2.0-only
"""A stock kernel's access point with WPA2: hostapd and wpa_supplicant, and lasack below them."""

from __future__ import annotations

import subprocess
from pathlib import Path

from apbed.analysis import summary
from apbed.kernels.distro import DistroKernel
from apbed.run import runner
from apbed.run.machines import Backend
from apbed.scenario import catalogue, parse

# The bars of the demo (tests/experiments/test_demo.py), wider for a run that is shorter.
LASACK_AT_LEAST, LASACK_AT_MOST = 0.8, 1.25
SETTINGS = (
    *("duration_s=5", "warmup_s=1", "ap.inflight=1", "ap.qdisc=lasack limit 100"),
    *("ap.security=wpa2", "medium.pcap=true"),
)
DATA = "wlan.fc.type == 2 && wlan.fc.subtype == 0"


def frames(capture: Path, words: str) -> int:
    """How many frames of a capture a display filter of tshark takes."""
    command = ["tshark", "-r", str(capture), "-Y", words, "-T", "fields", "-e", "frame.number"]
    return len(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())


def test_lasack_is_fair_over_wpa2(stock_kernel: DistroKernel, tmp_path: Path) -> None:
    plan = parse.load(catalogue.find("demo"), SETTINGS)
    runner.run_all(plan, tmp_path, jobs=1, backend=Backend("vng"))
    (found,) = summary.summarize(tmp_path)["runs"]
    assert found["why_invalid"] is None
    assert found["params"]["kernel"] == stock_kernel.release
    assert LASACK_AT_LEAST < found["ratio_down_up"] < LASACK_AT_MOST
    # All data is encrypted, but what agrees on the keys: four messages a station.
    capture = tmp_path / "runs" / found["id"] / "air.pcapng"
    assert frames(capture, f"{DATA} && wlan.fc.protected == 1") > 1000
    assert frames(capture, f"{DATA} && wlan.fc.protected == 0 && !eapol") == 0
