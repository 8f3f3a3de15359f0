# SPDX-License-Identifier: GPL-2.0-only
"""A Dask cluster on this machine: processes that can be killed one by one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from distributed import Client

from apbed.checkout import PACKAGE, REPOSITORY
from apbed.processes import stop_group
from tests.apbed.marked_processes import processes_marked

CLI = "distributed.cli.dask_"
LOOK_S, LOOKS = 0.2, 150


@dataclass(frozen=True)
class Worker:
    """A process that carries out runs, and the folder of its host."""

    folder: Path
    process: subprocess.Popen[bytes]

    @property
    def busy(self) -> bool:
        """Whether it has started something that has not ended."""
        words = ["pgrep", "-P", str(self.process.pid)]
        return bool(subprocess.run(words, capture_output=True).stdout)

    def kill(self) -> None:
        """As if the host had lost its power, but its files stay."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def environment(folder: Path, package: Path = PACKAGE.parent) -> dict[str, str]:
    """Of a host that has the package and the tests, and a cache and a temporary folder of its own.

    What runs there is found by `processes_marked(folder)`.
    """
    (folder / "tmp").mkdir(parents=True, exist_ok=True)
    return os.environ | {
        "PYTHONPATH": os.pathsep.join([str(package), str(REPOSITORY)]),
        "PYTHONDONTWRITEBYTECODE": "1",
        "XDG_CACHE_HOME": str(folder / "cache"),
        "TMPDIR": str(folder / "tmp"),
        "LAB_TEST_MARK": f"{folder}/",
    }


def what_is_left(folder: Path, but: str | None = None) -> list[str]:
    """Of a host on which something was killed: processes that still run there, those of a word
    left out, and what is in its `tmp`. Waits until there is nothing, but not for ever.
    """
    for _ in range(LOOKS):
        running = [line for line in processes_marked(folder) if not (but and but in line)]
        if not (left := [*running, *map(str, (folder / "tmp").iterdir())]):
            break
        time.sleep(LOOK_S)
    return left


@dataclass
class Cluster:
    """A scheduler and workers. Each has a folder of its own, as if it were a host."""

    folder: Path
    package: Path
    workers: list[Worker] = field(default_factory=list)
    scheduler: Worker | None = None

    def scheduler_s(self) -> float:
        """Processor seconds of the scheduler so far (proc(5), /proc/PID/stat)."""
        assert self.scheduler
        stat = Path("/proc", str(self.scheduler.process.pid), "stat").read_text()
        ticks = stat.rpartition(")")[2].split()[11:13]
        return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")

    @property
    def table(self) -> Path:
        """Where the scheduler says how to reach it."""
        return self.folder / "scheduler.json"

    @property
    def tcp(self) -> str:
        """The scheduler's address."""
        return str(json.loads(self.table.read_text())["address"])

    @property
    def word(self) -> str:
        """For --executor."""
        return self.tcp.replace("tcp://", "dask://")

    def start(self, name: str, *words: str, **variables: str) -> Worker:
        """A process of the cluster, by Python's module and arguments."""
        folder = self.folder / name
        known = environment(folder, self.package) | variables
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", *words],
                cwd=folder,
                env=known,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        return Worker(folder, process)

    def add_worker(self, **variables: str) -> Worker:
        """One more worker, of one thread."""
        words = [f"{CLI}worker", "--scheduler-file", str(self.table), "--nthreads", "1"]
        words += ["--no-nanny", "--no-dashboard", "--local-directory", "."]
        self.workers.append(self.start(f"worker-{len(self.workers) + 1}", *words, **variables))
        return self.workers[-1]

    def wait_for(self, workers: int) -> None:
        """Until so many have come."""
        open_client: Any = Client
        with open_client(self.tcp, timeout="10 minutes", set_as_default=False) as client:
            client.wait_for_workers(workers)


@contextmanager
def cluster(folder: Path, workers: int, package: Path = PACKAGE.parent) -> Iterator[Cluster]:
    """A cluster whose workers have that package; ended with all that it started."""
    found = Cluster(folder, package)
    words = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show"]
    words += ["--scheduler-file", str(found.table)]
    scheduler = found.scheduler = found.start("scheduler", f"{CLI}scheduler", *words)
    try:
        while not found.table.exists() or not found.table.stat().st_size:
            assert scheduler.process.poll() is None, (scheduler.folder / "log").read_text()
            time.sleep(LOOK_S)
        for _ in range(workers):
            found.add_worker()
        if workers:
            found.wait_for(workers)  # however long a busy machine takes
        yield found
    finally:
        for one in [*found.workers, scheduler]:
            stop_group(one.process)
