# SPDX-License-Identifier: GPL-2.0-only
"""The source of mac80211_hwsim that the radio driver is made from is its kernel's own."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from apbed.errors import ApbedError
from apbed.kernels import cache, packages
from apbed.kernels.cache import LabKernel
from apbed.kernels.packages import Source


def test_it_is_what_the_kernel_was_built_of(lab_kernel: LabKernel) -> None:
    names = {path.name for path in cache.hwsim_source().iterdir()}
    assert {"mac80211_hwsim.c", "mac80211_hwsim.h"} <= names
    assert lab_kernel.source.replace("~", "_") in cache.hwsim_source().name


def test_another_version_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lab_kernel: LabKernel
) -> None:
    """The distribution has moved on, and the old package is gone."""
    older = dataclasses.replace(lab_kernel, source="6.1.1-1")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(cache, "find", lambda _version: older)
    monkeypatch.setattr(packages, "locate", lambda _version: Source("6.1.2-1", tmp_path / "x.deb"))
    with pytest.raises(ApbedError, match=r"was built of 6\.1\.1-1, .* has 6\.1\.2-1 now; remove"):
        cache.hwsim_source()
    assert not list((tmp_path / "lasack" / "kernels").glob("hwsim-*[!k]"))


def test_a_package_that_is_still_there_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert packages.kept("6.1", "1:6.1.1-1") is None
    archive = tmp_path / "lasack" / "packages" / "linux-source-6.1_1%3a6.1.1-1_all.deb"
    archive.parent.mkdir(parents=True)
    archive.touch()
    assert packages.kept("6.1", "1:6.1.1-1") == Source("1:6.1.1-1", archive)
