# SPDX-License-Identifier: GPL-2.0-only
"""Deriving another suite's apt source from the machine's own: sources.list(5), both formats."""

from __future__ import annotations

from pathlib import Path

import pytest

from apbed.errors import ApbedError
from apbed.kernels import packages
from apbed.kernels.packages import suite_sources


@pytest.fixture
def apt(tmp_path: Path) -> Path:
    (tmp_path / "sources.list.d").mkdir()
    return tmp_path


def test_deb822_entry_with_the_code_name_is_copied(apt: Path) -> None:
    (apt / "sources.list.d/other.list").write_text("deb http://other.invalid/apt stable main\n")
    (apt / "sources.list.d/debian.sources").write_text(
        "Types: deb\nURIs: http://security.invalid/debian\nSuites: bookworm-security\n"
        "Components: main\n"
        "\n"
        "# the archive\n"
        "Types: deb deb-src\n"
        "# a mirror\n"
        "URIs: http://mirror.invalid/debian\n"
        "Suites: bookworm bookworm-updates\n"
        "Components: main\n"
        "Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg\n"
    )
    assert suite_sources("trixie-backports", "bookworm", apt) == (
        "Types: deb\n"
        "URIs: http://mirror.invalid/debian\n"
        "Suites: trixie-backports\n"
        "Components: main\n"
        "Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg\n"
    )


def test_one_line_entry_is_copied_with_its_key(apt: Path) -> None:
    (apt / "sources.list").write_text(
        "# deb http://old.invalid/debian bookworm main\n"
        "deb-src http://mirror.invalid/debian bookworm main\n"
        "deb [arch=amd64 signed-by=/k.gpg] http://mirror.invalid/debian bookworm main contrib # x\n"
    )
    assert suite_sources("sid", "bookworm", apt) == (
        "Types: deb\n"
        "URIs: http://mirror.invalid/debian\n"
        "Suites: sid\n"
        "Components: main contrib\n"
        "Signed-By: /k.gpg\n"
    )


def test_disabled_entry_is_not_used(apt: Path) -> None:
    (apt / "sources.list.d/debian.sources").write_text(
        "Types: deb\nURIs: http://mirror.invalid/debian\nSuites: bookworm\nEnabled: no\n"
    )
    with pytest.raises(ApbedError, match="no apt source for suite bookworm"):
        suite_sources("sid", "bookworm", apt)


def test_code_name(tmp_path: Path) -> None:
    release = tmp_path / "os-release"
    release.write_text('ID=debian\nVERSION_CODENAME="trixie"\n')
    assert packages.codename(release) == "trixie"
    release.write_text("ID=arch\n")
    assert packages.codename(release) == ""
