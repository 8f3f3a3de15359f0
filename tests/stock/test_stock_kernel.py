# SPDX-License-Identifier: GPL-2.0-only
"""What a stock kernel in QEMU must do: run the scenarios of the lab, repeat, and end in order."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from apbed.analysis import summary
from apbed.kernels import ram_disk
from apbed.kernels.distro import DistroKernel
from apbed.kernels.ram_disk import RamGuest
from apbed.kernels.watchdog import Boot, Watchdog
from apbed.run import runner
from apbed.run.machines import Backend
from apbed.scenario import catalogue, parse

# The bars of the demo (tests/experiments/test_demo.py), wider for runs that are shorter.
FIFO_AT_MOST, LASACK_AT_LEAST, LASACK_AT_MOST = 0.3, 0.8, 1.25
FIFO = ("duration_s=10", "ap.inflight=1", "ap.qdisc=pfifo limit 100")
LASACK = ("duration_s=6", "warmup_s=1", "ap.inflight=1", "ap.qdisc=lasack limit 100")


def run(out: Path, settings: tuple[str, ...]) -> dict[str, Any]:
    plan = parse.load(catalogue.find("demo"), settings)
    runner.run_all(plan, out, jobs=1, backend=Backend("vng"))
    (found,) = summary.summarize(out)["runs"]
    assert found["why_invalid"] is None
    return dict(found)


def test_uploads_starve_downloads_under_a_fifo(stock_kernel: DistroKernel, tmp_path: Path) -> None:
    found = run(tmp_path, FIFO)
    assert found["params"]["kernel"] == stock_kernel.release
    assert found["ratio_down_up"] < FIFO_AT_MOST


def test_lasack_is_fair_and_the_run_repeats(stock_kernel: DistroKernel, tmp_path: Path) -> None:
    """
    The same seed gives the same frames in the same order, wherever its results go.

    The times may differ: by 9 ns up to 5 us where both runs came while the machine was busy. So the
    goodput may by a millionth.
    """
    first, second = (run(tmp_path / place, LASACK) for place in ("a", "a/longer/way"))
    assert first["params"]["kernel"] == stock_kernel.release
    assert LASACK_AT_LEAST < first["ratio_down_up"] < LASACK_AT_MOST
    assert first["medium"]["digest"] == second["medium"]["digest"]
    goodputs = [[flow["goodput_mbps"] for flow in one["flows"]] for one in (first, second)]
    assert goodputs[0] == pytest.approx(goodputs[1], rel=1e-6)


def boot(
    kernel: DistroKernel, directory: Path, code: str, watchdog: Watchdog, memory_mb: int = 512
) -> Boot:
    """Run a Python script in the guest."""
    script, out = directory / "script.py", directory / "out"
    # The code is not for the host, which only lists what the script imports.
    script.write_text(f"import sys, time\nif __name__ == '__main__':\n    {code}\n")
    out.mkdir()
    guest = RamGuest(kernel, script, [], [], [], out, seed=1, memory_mb=memory_mb)
    return ram_disk.boot(guest, watchdog)


def test_the_status_is_the_scripts_and_its_files_come_back(
    stock_kernel: DistroKernel, tmp_path: Path
) -> None:
    code = "open('said', 'w').write('hello'); open('progress', 'w').write('1'); sys.exit(7)"
    result = boot(stock_kernel, tmp_path, code, Watchdog())
    assert (result.status, result.why) == (7, None)
    assert (tmp_path / "out/said").read_text() == "hello"
    assert (tmp_path / "out/progress").read_text() == "1"


def test_a_panic_is_told(stock_kernel: DistroKernel, tmp_path: Path) -> None:
    result = boot(stock_kernel, tmp_path, "open('/proc/sysrq-trigger', 'w').write('c')", Watchdog())
    assert result.status is None
    assert result.why
    assert "kernel panicked: Kernel panic - not syncing: sysrq triggered crash" in result.why


def test_a_guest_without_memory_is_told(stock_kernel: DistroKernel, tmp_path: Path) -> None:
    code = "kept = [bytearray(2**20) for _ in range(10**6)]"
    result = boot(stock_kernel, tmp_path, code, Watchdog(), memory_mb=320)
    assert (result.status, result.why) == (None, "the guest ran out of memory (320 MiB)")


def test_a_time_out_is_told(stock_kernel: DistroKernel, tmp_path: Path) -> None:
    result = boot(stock_kernel, tmp_path, "while True: pass", Watchdog(limit_s=15))
    assert result.status is None
    assert result.why
    assert result.why.startswith("time-out: not done after 15 s of processor time")


def test_an_interrupt_ends_the_machine(stock_kernel: DistroKernel, tmp_path: Path) -> None:
    cancel = threading.Event()
    cancel.set()
    result = boot(stock_kernel, tmp_path, "time.sleep(1e9)", Watchdog(cancel=cancel))
    assert (result.status, result.why) == (None, "interrupted")
