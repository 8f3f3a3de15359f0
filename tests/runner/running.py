# SPDX-License-Identifier: GPL-2.0-only
"""Runs suites side by side, each until it ends or makes no more progress.

Principle: progress is output. A suite that is silent is ended once its processes have used
SILENT_S of processor time since its last line, or none at all for IDLE_S of wall time. So a
machine that is busy with something else makes suites slower, but ends none.
"""

from __future__ import annotations

import subprocess
import time
from collections import deque
from collections.abc import Generator, Iterable
from dataclasses import dataclass
from pathlib import Path

from apbed.checkout import REPOSITORY
from apbed.processes import IDLE_S, ProcessorTime, stop_group
from tests.runner.totals import Totals, totals

SILENT_S = 1500.0
POLL_S = 0.1


@dataclass(frozen=True)
class Suite:
    """A shell command run from the top of the tree.

    `slow`: only with --all. `single`: its exit status is its one result. `may_skip`: what the
    machine may lack for all of it (None: nothing, so it fails if it skips everything).
    """

    name: str
    command: str
    slow: bool = False
    single: bool = False
    may_skip: str | None = None


class RunningSuite:
    """A suite under way in a process group of its own, its output in `log`."""

    def __init__(self, suite: Suite, log: Path) -> None:
        self.suite, self.log = suite, log
        self.begin = time.monotonic()
        with log.open("w") as sink:
            self._process = subprocess.Popen(
                ["bash", "-o", "pipefail", "-c", suite.command],
                cwd=REPOSITORY,
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=subprocess.STDOUT,
                text=True,
                start_new_session=True,
            )
        self._work = ProcessorTime(self._process.pid)
        self._written, self._used_s = 0, 0.0

    def ended(self) -> bool:
        """Whether it has ended by now; one that makes no progress is stopped."""
        if self._process.poll() is None and (why := self._stuck()):
            self.stop()
            with self.log.open("a") as log:
                log.write(f"{self.suite.name}: stopped: {why}\n")
        return self._process.poll() is not None

    def _stuck(self) -> str | None:
        used_s = self._work.used_s()
        if (written := self.log.stat().st_size) != self._written:
            self._written, self._used_s = written, used_s
        if used_s - self._used_s > SILENT_S:
            return f"{SILENT_S:g} s of processor time without a line of output"
        if self._work.idle_s() > IDLE_S:
            return f"no processor time used for {IDLE_S:g} s"
        return None

    def stop(self) -> None:
        """End it and all it started."""
        stop_group(self._process)

    def elapsed_s(self) -> float:
        """Seconds of wall time since it began."""
        return time.monotonic() - self.begin

    def used_s(self) -> float:
        """Seconds of processor time it has used, to a second or so."""
        return self._work.used_s()

    def totals(self) -> Totals:
        """What it amounts to, once it has ended."""
        lines = self.log.read_text(errors="replace").splitlines()
        may_skip = self.suite.may_skip is not None
        return totals(lines, self._process.returncode, self.suite.single, may_skip)


def run_suites(chosen: Iterable[Suite], jobs: int, out: Path) -> Generator[RunningSuite]:
    """Run suites, `jobs` at a time, logs in `out`; each is yielded when it has ended."""
    waiting, running = deque(chosen), list[RunningSuite]()
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                suite = waiting.popleft()
                running.append(RunningSuite(suite, out / f"{suite.name}.log"))
            for suite_run in [one for one in running if one.ended()]:
                running.remove(suite_run)
                yield suite_run
            time.sleep(POLL_S)
    finally:
        for suite_run in running:
            suite_run.stop()
