# SPDX-License-Identifier: GPL-2.0-only
"""A machine that boots nothing: it takes the host's time, and leaves files as a guest does."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from apbed.kernels.cache import LabKernel
from apbed.kernels.watchdog import INTERRUPTED, Boot, Watchdog
from apbed.run.bench import Bench
from apbed.run.machines import LabMachine
from apbed.run.order import Order
from apbed.scenario import plan

RESULT_BYTES = 84_000  # of a short run's directory
STEPS = 20


@dataclass(frozen=True)
class StubMachine(LabMachine):
    """A virtual second takes `scale` wall seconds. A run of seed `deadly` kills its host.

    `SLOWER` in the environment of a worker multiplies that. The `ledger` gets the seed of each
    run that begins.
    """

    scale: float = 0.01
    deadly: int = -1
    ledger: Path | None = None

    def boot(self, order: Order, watchdog: Watchdog) -> Boot:
        plan_, _ = plan.read(order.run_dir / "plan.json")
        started = time.monotonic()
        seconds = plan_.duration_s * self.scale * float(os.environ.get("SLOWER", "1"))
        if self.ledger:
            with self.ledger.open("a") as ledger:
                ledger.write(f"{order.seed}\n")
        assert all(path.read_bytes() for path in order.files)
        for step in range(STEPS):
            (order.run_dir / "progress").write_text(f"{step * plan_.duration_s // STEPS:.0f}\n")
            if watchdog.progress:
                watchdog.progress()
            if watchdog.cancel.wait(seconds / STEPS):
                return Boot(None, INTERRUPTED, 0.0, None)
            if order.seed == self.deadly and step == STEPS // 2:
                time.sleep(1.0)  # until the news of it are under way
                os.kill(os.getpid(), signal.SIGKILL)
        (order.run_dir / "flows").mkdir()
        line = f"seed {order.seed}\n"
        text = line * (RESULT_BYTES // len(line))
        (order.run_dir / "flows" / "all.jsonl").write_text(text)
        return Boot(0, None, time.monotonic() - started, plan_.duration_s)


def stub_bench(
    folder: Path, scale: float = 0.01, deadly: int = -1, ledger: Path | None = None
) -> Bench:
    """A bench of files that are there, and are nothing."""
    names = ["linux", "hwsim.ko", "random.so", "dcfmedium", "flowgen", "a.ko", "tc/q_a.so"]
    for name in names:
        path = folder / "bench" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{name}\n")
    there = folder / "bench"
    kernel = LabKernel(
        *("0", "0-stub", False, "stub", there / "linux", there, there / "hwsim.ko"),
        *("0", 0.0, 0, True),
    )
    machine = StubMachine(
        kernel,
        "make",
        seeded_random=there / "random.so",
        scale=scale,
        deadly=deadly,
        ledger=ledger,
    )
    return Bench(
        machine,
        dcfmedium=there / "dcfmedium",
        flowgen=there / "flowgen",
        tc_lib_dir=there / "tc",
        modules=dict.fromkeys(("inflight", "sch_inflight", "sch_lasack"), there / "a.ko"),
        radio=there / "none.ko",
        window=there / "none.ko",
    )
