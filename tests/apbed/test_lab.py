# SPDX-License-Identifier: GPL-2.0-only
"""Booting lab kernels: exit status, seeds, and what happens when something hangs."""

from __future__ import annotations

import dataclasses
import threading
from pathlib import Path

import pytest

from apbed.cli import main
from apbed.errors import ApbedError
from apbed.kernels import lab
from apbed.kernels.cache import LabKernel
from tests.apbed.marked_processes import processes_marked


def boot(kernel: LabKernel, out: Path, script: str, seed: int | None = None) -> lab.Boot:
    console = out / "console.log"
    guest = lab.Guest(kernel, ["sh", "-c", script], out, seed=seed, console=console)
    return lab.boot(guest, lab.Watchdog(limit_s=60))


def spin(kernel: LabKernel, out: Path, watchdog: lab.Watchdog) -> lab.Boot:
    """A guest process that polls, which stops virtual time for good."""
    command = ["/usr/bin/python3", "-c", "while True: pass"]
    return lab.boot(lab.Guest(kernel, command, out, console=out / "console.log"), watchdog)


def test_status_is_the_commands(lab_kernel: LabKernel, tmp_path: Path) -> None:
    assert boot(lab_kernel, tmp_path, "exit 7").status == 7


def test_only_out_is_writable(lab_kernel: LabKernel, tmp_path: Path) -> None:
    beside = tmp_path / "beside"
    out = tmp_path / "out"
    beside.mkdir()
    out.mkdir()
    script = f"echo good > {out}/file; ! echo bad > {beside}/file"
    assert boot(lab_kernel, out, script).status == 0
    assert (out / "file").read_text() == "good\n"
    assert not (beside / "file").exists()


def test_random_numbers_follow_from_the_seed(lab_kernel: LabKernel, tmp_path: Path) -> None:
    drawn = []
    for seed in (1, 1, 2):
        boot(lab_kernel, tmp_path, f"head -c 16 /dev/urandom > {tmp_path}/random", seed)
        drawn.append((tmp_path / "random").read_bytes())
    assert drawn[0] == drawn[1]
    assert drawn[0] != drawn[2]


def test_virtual_time_costs_no_work(lab_kernel: LabKernel, tmp_path: Path) -> None:
    result = boot(lab_kernel, tmp_path, "sleep 10000")
    assert result.status == 0, result.why  # within 60 processor seconds
    assert result.virtual_s is not None and result.virtual_s >= 10000


def test_a_process_that_spins_is_named(
    lab_kernel: LabKernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_TEST_MARK", str(tmp_path))
    result = spin(lab_kernel, tmp_path, lab.Watchdog(stall_s=4))
    assert result.status is None
    assert result.why == "no progress for 4 s of processor time; running in the guest: python3"
    assert processes_marked(tmp_path) == []


def test_cancel_leaves_nothing(
    lab_kernel: LabKernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_TEST_MARK", str(tmp_path))
    cancel = threading.Event()
    threading.Timer(3.0, cancel.set).start()
    result = spin(lab_kernel, tmp_path, lab.Watchdog(cancel=cancel))
    assert result.why == "interrupted"
    assert processes_marked(tmp_path) == []


def test_a_kernel_that_does_not_boot(lab_kernel: LabKernel, tmp_path: Path) -> None:
    broken = tmp_path / "linux"
    broken.write_text("#!/bin/sh\necho 'Kernel panic - not syncing: no good'\nexit 1\n")
    broken.chmod(0o755)
    kernel = dataclasses.replace(lab_kernel, linux=broken)
    result = boot(kernel, tmp_path, "true")
    assert result.why == "the lab kernel ended early: Kernel panic - not syncing: no good"
    with pytest.raises(ApbedError, match="cannot start the lab kernel"):
        boot(dataclasses.replace(lab_kernel, linux=tmp_path / "nosuch"), tmp_path, "true")


def test_boot_without_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["boot"]) == 1
    assert "boot needs a command" in capsys.readouterr().err
