# SPDX-License-Identifier: GPL-2.0-only
"""Booting lab kernels: exit status, seeds, and what happens when something hangs."""

from __future__ import annotations

import dataclasses
import subprocess
import threading
from pathlib import Path

import pytest

from apbed.cli import main
from apbed.errors import ApbedError
from apbed.kernels import lab
from apbed.kernels.cache import LabKernel
from apbed.kernels.watchdog import Boot, Watchdog
from tests.apbed.marked_processes import processes_marked


def boot(kernel: LabKernel, out: Path, script: str, seed: int | None = None) -> Boot:
    console = out / "console.log"
    guest = lab.Guest(kernel, ["sh", "-c", script], out, seed=seed, console=console)
    return lab.boot(guest, Watchdog(limit_s=60))


def spin(kernel: LabKernel, out: Path, watchdog: Watchdog) -> Boot:
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
    for number, seed in enumerate((1, 1, 2)):
        file = tmp_path / f"random-{number}"
        assert boot(lab_kernel, tmp_path, f"head -c 16 /dev/urandom > {file}", seed).status == 0
        drawn.append(file.read_bytes())
        assert len(drawn[-1]) == 16
    assert drawn[0] == drawn[1]
    assert drawn[0] != drawn[2]


def memory_line(out: Path) -> str:
    lines = (out / "dmesg.log").read_text().splitlines()
    return next(line for line in lines if " Memory: " in line)


def test_memory_is_the_same_at_each_boot(
    lab_kernel: LabKernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The host's random addresses and the caller's environment have no part in it."""
    seen = set()
    for _ in range(3):
        assert boot(lab_kernel, tmp_path, "true").status == 0
        seen.add(memory_line(tmp_path))
        monkeypatch.setenv("LAB_TEST_LARGE", "x" * 100000)
    assert len(seen) == 1


LIMITS = "cd /proc/sys/net/ipv4; cat tcp_rmem tcp_wmem tcp_mem udp_mem"


def test_limits_do_not_follow_from_memory(
    lab_kernel: LabKernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the host refuses fixed addresses, the guest's memory differs but its windows do not.

    A guest with half the memory stands for that.
    """
    seen = []
    for memory_mb in (lab.MEMORY_MB, lab.MEMORY_MB // 2):
        monkeypatch.setattr(lab, "MEMORY_MB", memory_mb)
        assert boot(lab_kernel, tmp_path, f"({LIMITS}) > {tmp_path}/limits").status == 0
        seen.append(((tmp_path / "limits").read_text(), memory_line(tmp_path)))
    assert seen[0][0] == seen[1][0]
    assert seen[0][1] != seen[1][1]


def virtual_us(out: Path, attempts: int, what: str) -> float:
    """Virtual time that so many calls of `what` take in a guest, clock reads included."""
    return float((out / f"{attempts}-{what}").read_text())


ATTEMPTS = """
import os, sys, time
def missing():
    os.access("/no/such/file", os.F_OK)
reading, _ = os.pipe()
os.set_blocking(reading, False)
def empty():
    try:
        os.read(reading, 1)
    except BlockingIOError:
        pass
for what in (missing, empty):
    for attempts in (0, 1000):
        start = time.monotonic_ns()
        for _ in range(attempts):
            what()
        took = (time.monotonic_ns() - start) / 1000
        with open(f"{sys.argv[1]}/{attempts}-{what.__name__}", "w") as file:
            file.write(str(took))
"""


def test_a_missing_file_costs_no_virtual_time(lab_kernel: LabKernel, tmp_path: Path) -> None:
    """So what is installed on the host does not move the guest's clock; but polling does."""
    (tmp_path / "attempts.py").write_text(ATTEMPTS)
    script = f"/usr/bin/python3 -I -S {tmp_path}/attempts.py {tmp_path}"
    assert boot(lab_kernel, tmp_path, script).status == 0
    assert virtual_us(tmp_path, 1000, "missing") == virtual_us(tmp_path, 0, "missing")
    assert virtual_us(tmp_path, 1000, "empty") >= 1000


def test_programs_keep_their_fp_registers(lab_kernel: LabKernel, tmp_path: Path) -> None:
    """Across system calls, faults, forks, signals and threads, as on a processor."""
    program = tmp_path / "fp_registers"
    source = Path(__file__).with_name("fp_registers.c")
    words = ["gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", str(program), str(source)]
    subprocess.run([*words, "-lpthread"], check=True)
    status = boot(lab_kernel, tmp_path, f"{program} > {tmp_path}/said").status
    assert (tmp_path / "said").read_text() == ""
    assert status == 0


def test_virtual_time_costs_no_work(lab_kernel: LabKernel, tmp_path: Path) -> None:
    result = boot(lab_kernel, tmp_path, "sleep 10000")
    assert result.status == 0, result.why  # within 60 processor seconds
    assert result.virtual_s is not None and result.virtual_s >= 10000


def test_a_process_that_spins_is_named(
    lab_kernel: LabKernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_TEST_MARK", str(tmp_path))
    result = spin(lab_kernel, tmp_path, Watchdog(stall_s=4))
    assert result.status is None
    assert result.why == "no progress for 4 s of processor time; running in the guest: python3"
    assert processes_marked(tmp_path) == []


def test_cancel_leaves_nothing(
    lab_kernel: LabKernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_TEST_MARK", str(tmp_path))
    cancel = threading.Event()
    threading.Timer(3.0, cancel.set).start()
    result = spin(lab_kernel, tmp_path, Watchdog(cancel=cancel))
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
