# SPDX-License-Identifier: GPL-2.0-only
"""Runs the long commands of a kernel build: logged, stoppable, with time left.

Principle: each command is a process group of its own, so that Ctrl-C, a
signal or any error ends all of it (setsid(2), killpg(3)) before the
directory it works in is removed.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from apbed.errors import ApbedError
from apbed.processes import stop_group

# kbuild's short form: "  CC      net/ipv4/tcp.o".
STEP = re.compile(r"  (?:[A-Z]+)(?: \[M\])? +\S")
ERROR = re.compile(r"error:|undefined reference|\*\*\* |[Ee]rror \d|cannot |No such file|FAILED")
# Variables of an outer make or kernel build that would change this one.
FOREIGN = re.compile(
    r"MAKE|MFLAGS|KBUILD|KCONFIG|K(C|CPP|A)FLAGS|(SUB)?ARCH$|CROSS_COMPILE$|[MOVWC]$|LC_|LANG"
)

PLAIN_INTERVAL_S = 20.0


def environment(extra: Mapping[str, str]) -> dict[str, str]:
    """The caller's environment without what would steer kbuild."""
    clean = {name: value for name, value in os.environ.items() if not FOREIGN.match(name)}
    return {**clean, "LC_ALL": "C", **extra}


def first_error(lines: Sequence[str]) -> str:
    """The line of a failed command's output that says most, or the last one."""
    for line in lines:
        if ERROR.search(line):
            return line.strip()
    return lines[-1].strip() if lines else "no output"


def run(
    command: Sequence[str],
    log: Path,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    on_line: Callable[[str], None] | None = None,
) -> None:
    """Run a command, its output appended to `log`; ApbedError with its first error line."""
    lines: list[str] = []
    with log.open("a") as sink:
        process = subprocess.Popen(
            command,
            cwd=cwd,
            env=environment(env or {}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        assert process.stdout
        try:
            for line in process.stdout:
                sink.write(line)
                lines.append(line)
                if on_line:
                    on_line(line)
            status = process.wait()
        except BaseException:
            stop_group(process)
            raise
    if status:
        raise ApbedError(f"{command[0]} failed: {first_error(lines)} (log: {log})")


class StepCount:
    """Line handler: counts kbuild's steps and shows each new count."""

    def __init__(self, show: Callable[[int], None]) -> None:
        self.steps = 0
        self._show = show

    def __call__(self, line: str) -> None:
        if STEP.match(line):
            self.steps += 1
            self._show(self.steps)


class Report:
    """Says on stderr what a build is doing and how long it still takes."""

    def __init__(self, title: str) -> None:
        self._title = title

    def phase(self, text: str) -> None:
        """One line for a step that has no measure."""
        print(f"{self._title}: {text}", file=sys.stderr, flush=True)

    @contextlib.contextmanager
    def counting(self, text: str, total: int) -> Iterator[StepCount]:
        """Yields a counter of kbuild's steps that shows progress towards `total`."""
        if not sys.stderr.isatty():
            yield StepCount(self._plain(text, total))
            return
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} %, time left"),
            TimeRemainingColumn(),
        )
        with Progress(*columns, console=Console(stderr=True), speed_estimate_period=60) as bar:
            task = bar.add_task(f"{self._title}: {text}", total=total)
            yield StepCount(lambda steps: bar.update(task, completed=steps))

    def _plain(self, text: str, total: int) -> Callable[[int], None]:
        begin = said = time.monotonic()

        def show(steps: int) -> None:
            nonlocal said
            now = time.monotonic()
            if now - said >= PLAIN_INTERVAL_S:
                said = now
                left_s = (now - begin) * max(total - steps, 0) / steps
                estimate = f"about {left_s:.0f} s left" if left_s else "longer than estimated"
                self.phase(f"{text} {min(100 * steps // total, 99)} %, {estimate}")

        return show
