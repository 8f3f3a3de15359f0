# SPDX-License-Identifier: GPL-2.0-only
"""selftests/ can go into a kernel tree: its Makefiles name every file for the kernel's lib.mk."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from apbed.checkout import REPOSITORY
from apbed.kernels import cache

SELFTESTS = REPOSITORY / "selftests"
# For nftables and for suspending; tests of these are skipped in a lab kernel.
ONLY_IN_STOCK_KERNELS = re.compile(r"CONFIG_(NETFILTER|NF_|NFT_|PM_|SUSPEND)")
LIB_MK = "all:\n\t@echo $(TEST_PROGS) $(TEST_PROGS_EXTENDED): $(TEST_FILES)\n"


@pytest.mark.parametrize("folder", ["lib", "qdisc", "tcp", "tc-testing", "wifi"])
def test_every_file_is_named(folder: str, tmp_path: Path) -> None:
    (tmp_path / "lib.mk").write_text(LIB_MK)
    shutil.copytree(SELFTESTS / folder, tmp_path / "lasack" / folder)
    words = ["make", "-s", "-C", str(tmp_path / "lasack" / folder)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    programs, files = (part.split() for part in done.stdout.strip().split(":"))
    there = {path.name for path in (SELFTESTS / folder).iterdir() if path.is_file()}
    assert {*programs, *files} == there - {"Makefile", "config", "settings"}
    for program in programs:
        assert os.access(SELFTESTS / folder / program, os.X_OK), program


def test_install_copies_every_file(tmp_path: Path) -> None:
    """`make install` of a kernel's own kselftest, with selftests/ in its place there."""
    tree = tmp_path / "linux"
    shutil.copytree(cache.selftests().parents[2], tree, symlinks=True)
    there = tree / "tools" / "testing" / "selftests"
    shutil.copytree(SELFTESTS, there / "lasack")
    folders = sorted(path.parent.name for path in SELFTESTS.glob("*/Makefile"))
    out = tmp_path / "installed"
    targets = " ".join(f"lasack/{folder}" for folder in folders)
    words = ["make", "-s", "-C", str(there), f"TARGETS={targets}", "install"]
    subprocess.run([*words, f"INSTALL_PATH={out}"], check=True)
    listed = set((out / "kselftest-list.txt").read_text().split())
    for folder in folders:
        ours = [path for path in (SELFTESTS / folder).iterdir() if path.is_file()]
        for path in ours:
            if path.name != "Makefile":
                copied = out / "lasack" / folder / path.name
                assert copied.read_bytes() == path.read_bytes(), path
                assert os.access(copied, os.X_OK) == os.access(path, os.X_OK), path
        if folder != "lib":  # its files are the others' own
            assert [name for name in listed if name.startswith(f"lasack/{folder}:")], folder


def test_without_the_modules_all_are_skipped(tmp_path: Path) -> None:
    """As a kernel's own kselftest runs them: with no argument, far from this checkout."""
    shutil.copytree(SELFTESTS, tmp_path / "lasack")
    nothing = tmp_path / "bin" / "modinfo"  # whatever this machine has
    nothing.parent.mkdir()
    nothing.write_text("#!/bin/sh\nexit 1\n")
    nothing.chmod(0o755)
    environment = os.environ | {"PATH": f"{nothing.parent}:{os.environ['PATH']}"}
    for folder in ("qdisc", "tcp", "tc-testing", "wifi"):
        makefile = (SELFTESTS / folder / "Makefile").read_text()
        programs = re.findall(r"^TEST_PROGS := (.*)$", makefile, re.MULTILINE)[0].split()
        for program in (name for name in programs if name.endswith(".sh")):
            path = tmp_path / "lasack" / folder / program
            done = subprocess.run([path], env=environment, capture_output=True, text=True)
            assert done.returncode == 4, (path, done.stdout, done.stderr)


@pytest.mark.parametrize(
    "words",
    [
        ["sh", "-c", ". lib/ktap.sh; ktap_begin 7; ktap_skip_all 'no radio'"],
        [sys.executable, "-c", "import ktap; raise SystemExit(ktap.skip_all('no radio'))"],
    ],
)
def test_a_test_that_cannot_run_says_why_and_ends_with_4(words: list[str]) -> None:
    """KSFT_SKIP of Documentation/dev-tools/kselftest.rst."""
    environment = os.environ | {"PYTHONPATH": str(SELFTESTS / "lib")}
    done = subprocess.run(
        words, cwd=SELFTESTS, env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (4, "KTAP version 1\n1..0 # SKIP no radio\n")


def test_the_lab_kernel_has_what_they_need() -> None:
    lab = (REPOSITORY / "testbed" / "kernel" / "lab.config").read_text().splitlines()
    for config in SELFTESTS.glob("*/config"):
        lacking = set(config.read_text().splitlines()) - set(lab)
        assert [line for line in lacking if not ONLY_IN_STOCK_KERNELS.match(line)] == []
