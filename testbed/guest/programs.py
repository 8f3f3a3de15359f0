# SPDX-License-Identifier: GPL-2.0-only
"""The programs that a cell keeps running: the medium, hostapd and flowgen's servers."""

from __future__ import annotations

import contextlib
import signal
import subprocess
from pathlib import Path

from guest.commands import CellError, last_line, located


class Running:
    """Programs that must live until they are stopped; each writes NAME.log in `run_dir`."""

    def __init__(self, run_dir: Path) -> None:
        self.run_dir = run_dir
        self._running: list[tuple[str, subprocess.Popen[str]]] = []

    def start(self, name: str, words: list[str], ready: str | None = None) -> None:
        """Start a program that must live until `stop`; wait for its line `ready`."""
        log = (self.run_dir / f"{name}.log").open("w")
        process = subprocess.Popen(
            located(words), stdout=subprocess.PIPE if ready else log, stderr=log, text=True
        )
        self._running.append((name, process))
        if ready:
            assert process.stdout is not None
            for line in process.stdout:
                if ready in line:
                    return
            raise CellError(f"{name} ended before it was ready: {last_line(log.name)}")

    def check(self) -> None:
        """CellError when a program that must live has ended."""
        for name, process in self._running:
            if (status := process.poll()) is not None:
                said = last_line(str(self.run_dir / f"{name}.log"))
                raise CellError(f"{name} ended during the run with status {status}: {said}")

    def stop(self, name: str) -> None:
        """End one program and hear its last word."""
        for entry in [entry for entry in self._running if entry[0] == name]:
            self._running.remove(entry)
            entry[1].send_signal(signal.SIGTERM)
            entry[1].send_signal(signal.SIGCONT)  # one that was frozen hears nothing before
            if status := entry[1].wait():
                said = last_line(str(self.run_dir / f"{name}.log"))
                raise CellError(f"{name} failed with status {status}: {said}")

    def stop_all(self, prefix: str = "") -> None:
        """`stop` for every program whose name begins so."""
        for name in [name for name, _ in self._running if name.startswith(prefix)]:
            self.stop(name)

    def abandon(self) -> None:
        """End everything after a failure; what a program says to that does not matter."""
        for name, _ in list(self._running):
            with contextlib.suppress(CellError):
                self.stop(name)

    def signal(self, name: str, number: signal.Signals) -> None:
        """Send a signal to one program."""
        dict(self._running)[name].send_signal(number)
