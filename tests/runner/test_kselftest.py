# SPDX-License-Identifier: GPL-2.0-only
"""selftests/ can go into a kernel tree: its Makefiles name every file for the kernel's lib.mk."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from apbed.checkout import REPOSITORY

SELFTESTS = REPOSITORY / "selftests"
LIB_MK = "all:\n\t@echo $(TEST_PROGS) $(TEST_PROGS_EXTENDED): $(TEST_FILES)\n"


@pytest.mark.parametrize("folder", ["qdisc", "tcp", "tc-testing", "wifi"])
def test_every_file_is_named(folder: str, tmp_path: Path) -> None:
    (tmp_path / "lib.mk").write_text(LIB_MK)
    words = ["make", "-s", "-C", str(SELFTESTS / folder), f"KSELFTEST={tmp_path}"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    programs, files = (part.split() for part in done.stdout.strip().split(":"))
    there = {path.name for path in (SELFTESTS / folder).iterdir() if path.is_file()}
    assert {*programs, *files} == there - {"Makefile", "config", "settings"}
    for program in programs:
        assert os.access(SELFTESTS / folder / program, os.X_OK), program


def test_the_lab_kernel_has_what_they_need() -> None:
    lab = (REPOSITORY / "testbed" / "kernel" / "lab.config").read_text().splitlines()
    for config in SELFTESTS.glob("*/config"):
        assert set(config.read_text().splitlines()) - set(lab) == set()
