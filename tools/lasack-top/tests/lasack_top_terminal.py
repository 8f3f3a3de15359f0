#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Runs lasack-top on a pseudo-terminal, ends it in several ways, and says how it left it.

    lasack_top_terminal.py LASACK_TOP      runs as root in a lab kernel; JSON on stdout

A terminal is as it was when its settings are the same and the last switch between its two
screens, and between a hidden and a seen cursor, was back. What the switches are called the
terminal's own description (terminfo) says. Every wait here blocks: a poll would stop
virtual time.
"""

from __future__ import annotations

import curses
import fcntl
import json
import os
import re
import select
import signal
import struct
import sys
import termios
from collections.abc import Callable
from typing import Any

TERMINAL = "xterm-256color"
PATIENCE_S = 20.0


class Session:
    """One lasack-top in the foreground of a terminal of 24 lines of 80 columns."""

    def __init__(self, near: int, far: int, words: list[str]) -> None:
        self.written = b""
        self.near, self.far = near, far
        self.resize(24, 80)
        self.settings = termios.tcgetattr(far)
        self.pid = os.fork()
        if not self.pid:
            foreground(far)
            os.execve(words[0], words, {"TERM": TERMINAL, "PATH": os.environ["PATH"]})

    def resize(self, lines: int, columns: int) -> None:
        """The window has another size; the kernel tells the program (SIGWINCH)."""
        fcntl.ioctl(self.near, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def read(self) -> bool:
        """Take what was written; False after the patience, or at the end."""
        if not select.select([self.near], [], [], PATIENCE_S)[0]:
            return False
        try:
            self.written += os.read(self.near, 65536)
        except OSError:
            return False
        return True

    def wait_for(self, pattern: bytes) -> None:
        """Until that has been written; what was written before is forgotten."""
        while not re.search(pattern, self.written):
            if not self.read():
                raise SystemExit(f"never wrote {pattern!r}: {self.written!r}")
        self.written = self.written[re.search(pattern, self.written).end() :]  # type: ignore[union-attr]

    def drain(self) -> None:
        """Take all that has been written already."""
        while select.select([self.near], [], [], 0.2)[0]:
            try:
                if not (more := os.read(self.near, 65536)):
                    return
            except OSError:
                return
            self.written += more


def foreground(terminal: int) -> None:
    """The calling process is a job of its own, the one that the terminal's keys reach."""
    os.setpgid(0, 0)
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    os.tcsetpgrp(terminal, os.getpid())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    for descriptor in range(3):
        os.dup2(terminal, descriptor)


def last_of(written: bytes, on: str, off: str) -> str | None:
    """Which of two capabilities of the terminal was written last."""
    places = {name: written.rfind(curses.tigetstr(name) or b"?") for name in (on, off)}
    return max(places, key=lambda name: places[name]) if max(places.values()) >= 0 else None


def play(session: Session, end: Callable[[Session], object]) -> dict[str, Any]:
    """Wait for a table, end it, and look at the terminal."""
    session.wait_for(re.escape(curses.tigetstr("smcup") or b"?"))
    session.wait_for(b"ATTAINED")
    raw = termios.tcgetattr(session.far) != session.settings
    end(session)
    pid, status = os.waitpid(session.pid, os.WUNTRACED)
    assert pid == session.pid
    session.drain()
    found = {
        "was_raw": raw,
        "settings_restored": termios.tcgetattr(session.far) == session.settings,
        "screen": last_of(session.written, "smcup", "rmcup"),
        "cursor": last_of(session.written, "civis", "cnorm"),
        "said": session.written.split(curses.tigetstr("rmcup") or b"?")[-1].decode(),
        "stopped": os.WIFSTOPPED(status),
        "exit": os.waitstatus_to_exitcode(status) if not os.WIFSTOPPED(status) else None,
    }
    if os.WIFSTOPPED(status):
        session.written = b""
        os.kill(session.pid, signal.SIGCONT)
        session.wait_for(b"ATTAINED")
        found["raw_again"] = termios.tcgetattr(session.far) != session.settings
        os.kill(session.pid, signal.SIGTERM)
        os.waitpid(session.pid, 0)
        session.drain()
    return found


def resize_then_quit(session: Session) -> None:
    """Twelve lines: the line about the keys moves to the twelfth."""
    session.drain()
    session.written = b""
    session.resize(12, 100)
    session.wait_for(rb"\x1b\[12(;\d+H|d)")
    session.wait_for(b"q quit")
    os.write(session.near, b"q")


def sort_then_quit(session: Session) -> None:
    os.write(session.near, b"r")
    session.wait_for(b"rate")
    os.write(session.near, b"q")


def main(lasack_top: str) -> int:
    curses.setupterm(TERMINAL, 1)
    near, far = os.openpty()
    os.setsid()
    fcntl.ioctl(far, termios.TIOCSCTTY, 0)
    words = [lasack_top, "--device", "dev0"]
    ways: dict[str, Callable[[Session], object]] = {
        "q": lambda session: os.write(session.near, b"q"),
        "ctrl_c": lambda session: os.write(session.near, b"\x03"),
        "ctrl_z": lambda session: os.write(session.near, b"\x1a"),
        "SIGINT": lambda session: os.kill(session.pid, signal.SIGINT),
        "SIGTERM": lambda session: os.kill(session.pid, signal.SIGTERM),
        "resize": resize_then_quit,
        "sort": sort_then_quit,
        "gone": lambda _: os.system("tc qdisc del dev dev0 root"),
    }
    found = {name: play(Session(near, far, words), end) for name, end in ways.items()}
    print(json.dumps(found, indent=1))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1]))
