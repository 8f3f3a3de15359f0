# SPDX-License-Identifier: GPL-2.0-only
"""Debian's own udevd, ifupdown and NetworkManager call the script that attaches lasack.

callers.sh runs in the guest. Their packages are unpacked, not installed, so the machine stays as it
is. A lab kernel has no inotify, which udevd needs.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from apbed.checkout import REPOSITORY
from apbed.kernels import shared_root
from apbed.kernels.distro import DistroKernel
from apbed.kernels.packages import Apt

CALLERS = ("udev", "ifupdown", "network-manager")
GUEST_SCRIPT = Path(__file__).with_name("callers.sh")
FOUND = """\
root udevd1 ap0 lasack
root udevd1 sta0 mq
root udevd2 ap0 lasack
root udevd2 sta0 mq
root before wlan1 none
root ifupdown wlan1 lasack
root managed wlan2 mq
root NetworkManager wlan2 lasack
"""


@pytest.fixture(scope="module")
def callers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The root below which the packages are."""
    root = tmp_path_factory.mktemp("callers") / "root"
    apt = Apt("this system")
    apt.unpack(sorted({*CALLERS, *(name for one in CALLERS for name in apt.lacking(one))}), root)
    return root


def test_they_attach(
    stock_kernel: DistroKernel, callers: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """An access point that is made, twice; one that is brought up; a hotspot. Stations are left
    alone."""
    words = ["sh", str(GUEST_SCRIPT), str(REPOSITORY), str(callers)]
    status = shared_root.boot(stock_kernel, words, cpus=1, limit_s=300)
    said = capfd.readouterr().out
    assert status == 0, said
    lines = [line for line in said.splitlines() if line.startswith("root ")]
    assert "\n".join(lines) + "\n" == FOUND
