# SPDX-License-Identifier: GPL-2.0-only
"""The packages on clean systems: installed, used, there again after a reboot, purged.

On Debian 12 as it is, all of it happens in a machine that QEMU emulates: apt installs the packages
and what they depend on, and DKMS builds the modules. In the other cases apt and DKMS run while the
machine is off, in a chroot on its disk, for an emulated compiler is slow; the rest happens in QEMU.
What is booted is what a boot loader would boot. Radios are mac80211_hwsim's, on the laboratory's
medium (802.11b).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.system import image, judge
from tests.system.machine import Machine


@dataclass(frozen=True)
class Case:
    """A release of Debian, its kernel's line, and whether that comes with an update.

    `emulated`: apt and DKMS run in QEMU too, and the same boot sees the system without lasack.
    """

    release: str
    line: str
    updated: bool = False
    emulated: bool = False

    def __str__(self) -> str:
        return f"{self.release}-{self.line}"


CASES = (
    Case("12", "6.1", emulated=True),
    Case("12", "6.12", updated=True),
    Case("13", "6.12"),
    Case("13", "7.2", updated=True),
)


@dataclass(frozen=True)
class Played:
    """What was left: without lasack, as it was installed, and by the boot that ends in a purge."""

    case: Case
    before: Path
    installed: Path
    purge: Path


@pytest.fixture(scope="module", params=CASES, ids=str)
def played(
    request: pytest.FixtureRequest,
    tools: list[Path],
    packages: list[Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> Played:
    case: Case = request.param
    disk = image.disk(image.RELEASES[case.release])
    place = tmp_path_factory.mktemp(str(case))
    without, machine = (Machine(disk, place / name, tools) for name in ("without", "with"))
    for each in (without, machine):
        each.give(*packages)
    if case.emulated:
        before = installed = machine.boot("install")
    else:
        without.offline("dependencies")
        installed = machine.offline("add")
        if case.updated:
            without.offline("update")
            installed = machine.offline("update")
        before = without.boot("before")
    return Played(case, before, installed, machine.boot("purge"))


def test_dkms_builds_for_each_kernel(played: Played) -> None:
    built = (played.installed / "dkms").read_text()
    assert built.count(": installed") == 1 + played.case.updated
    assert f", {played.case.line}." in built


@pytest.mark.parametrize("played", [one for one in CASES if one.emulated], ids=str, indirect=True)
def test_installing_attaches_nothing(played: Played) -> None:
    """Where the machine runs while the packages are installed."""
    shown = (played.installed / "untouched").read_text()
    assert shown.startswith("qdisc ") and "lasack" not in shown


def test_this_kernel_is_booted(played: Played) -> None:
    for out in (played.before, played.purge):
        assert (out / "release").read_text().startswith(f"{played.case.line}.")


def test_the_unit_puts_it_back_at_boot(played: Played) -> None:
    active, root = (played.purge / "unit").read_text().splitlines()
    assert active == "active"
    assert root.startswith("qdisc lasack ")


def test_it_works(played: Played) -> None:
    """By tc's command alone, which loads the modules, and after the reboot."""
    boots = {played.installed, played.purge} if played.case.emulated else {played.purge}
    for out in boots:
        judge.assert_it_works(played.before, out)


def test_the_doctor_says_so(played: Played) -> None:
    doctor = (played.purge / "doctor-lasack").read_text()
    assert re.search(r"^ok +backpressure ", doctor, re.MULTILINE)
    offload = (played.purge / "doctor-offload").read_text()
    assert re.search(r"^problem +offload ", offload, re.MULTILINE)
    assert "fast" in offload


def test_hostapds_service_attaches_it(played: Played) -> None:
    assert (played.purge / "hostapd").read_text().startswith("qdisc lasack ")


def test_purge_leaves_nothing(played: Played) -> None:
    judge.assert_nothing_is_left(played.before, played.purge)


def test_purge_unloads_what_ran(played: Played) -> None:
    loaded = {line.split()[0] for line in judge.lines(played.purge, "loaded")}
    assert {"sch_lasack", "inflight"} <= loaded
    judge.assert_nothing_runs(played.before, played.purge)
