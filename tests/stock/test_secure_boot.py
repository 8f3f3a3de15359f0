# SPDX-License-Identifier: GPL-2.0-only
"""A kernel that loads signed modules only: what an operator sees, as troubleshooting.md quotes it,
and what lasack-doctor makes of it."""

from __future__ import annotations

import json
from pathlib import Path

from apbed.checkout import BUILD, REPOSITORY
from apbed.kernels import ram_disk
from apbed.kernels.distro import DistroKernel
from apbed.kernels.ram_disk import RamGuest
from apbed.kernels.watchdog import Watchdog
from tests.stock import selftests

GUEST_SCRIPT = Path(__file__).with_name("secure_boot_guest.py")
PAGE = REPOSITORY / "Documentation" / "guide" / "troubleshooting.md"
IMPORT = "mokutil --import /var/lib/dkms/mok.pub"


def module_finding(path: Path) -> dict[str, object]:
    """What lasack-doctor said of the module."""
    (report,) = json.loads(path.read_text())["devices"]
    (one,) = (finding for finding in report["findings"] if finding["about"] == "module")
    return dict(one)


def test_an_unsigned_module_is_refused(stock_kernel: DistroKernel, tmp_path: Path) -> None:
    doctor, plugins = BUILD / "bin" / "lasack-doctor", BUILD / "tc"
    guest = RamGuest(
        stock_kernel,
        GUEST_SCRIPT,
        [str(ram_disk.inside(path)) for path in (doctor, plugins)],
        [*selftests.programs(), *sorted(plugins.glob("q_*.so")), doctor],
        ["mac80211_hwsim"],
        tmp_path,
        seed=1,
        memory_mb=selftests.MEMORY_MB,
        installed=selftests.modules(stock_kernel),
    )
    result = ram_disk.boot(guest, Watchdog(selftests.STALL_S))
    assert (result.status, result.why) == (0, None)
    before, after = (module_finding(tmp_path / f"{name}.said") for name in ("open", "locked"))
    assert before["state"] == "ok"
    assert (after["state"], after["type"]) == ("note", [IMPORT])
    page = PAGE.read_text()
    assert IMPORT in page
    for name, quoted in (
        ("tc", "Error: Specified qdisc kind is unknown."),
        ("modprobe", "could not insert 'sch_lasack': Operation not permitted"),
        ("kernel", "unsigned module loading is restricted"),
    ):
        assert quoted in (tmp_path / f"{name}.said").read_text()
        assert quoted in page
