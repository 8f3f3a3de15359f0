# SPDX-License-Identifier: GPL-2.0-only
"""Commands in the namespaces of a cell's machines, and the clock they run by."""

from __future__ import annotations

import ctypes
import functools
import json
import math
import os
import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NAMESPACES = Path("/run/netns")  # where `ip netns` keeps them
CLONE_NEWNET = 0x40000000


class CellError(Exception):
    """One line that says what could not be set up."""


@functools.cache
def program(name: str) -> str:
    """Where a program is; its own name if it is nowhere.

    Each directory that exec() tries in vain costs the guest an address space.
    """
    return shutil.which(name) or name


def located(words: list[str]) -> list[str]:
    """The same command with its program's path."""
    return [program(words[0]), *words[1:]]


def run(words: list[str], env: dict[str, str] | None = None) -> str:
    """Run a command to its end and return its output; CellError with its first line if it fails."""
    done = _done(words, env)
    if done.returncode:
        raise _failed(words, done)
    return done.stdout


def _done(
    words: list[str], env: dict[str, str] | None, lines: str | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        located(words), capture_output=True, text=True, env=env, input=lines, check=False
    )


def _failed(words: list[str], done: subprocess.CompletedProcess[str]) -> CellError:
    said = (done.stderr or done.stdout).strip().splitlines()
    return CellError(f"`{shlex.join(words)}` failed: {said[0] if said else done.returncode}")


def attempt(words: list[str]) -> None:
    """Run a command whose failure shows elsewhere."""
    subprocess.run(located(words), capture_output=True, check=False)


def batch(commands: list[list[str]], env: dict[str, str] | None = None) -> None:
    """Run several commands of one program, `ip` or `tc`, at once.

    To start a program costs more than what it does. CellError names the command that failed.
    """
    (name,) = {words[0] for words in commands}
    lines = "".join(f"{shlex.join(words[1:])}\n" for words in commands)
    done = _done([name, "-batch", "-"], env, lines)
    if done.returncode:
        # Both programs stop there, and say so behind the reason.
        found = re.search(r"^Command failed -:(\d+)", done.stderr, re.MULTILINE)
        raise _failed(commands[int(found[1]) - 1] if found else [name, "-batch", "-"], done)


@contextmanager
def namespace(name: str | None) -> Iterator[None]:
    """What happens inside is in a network namespace, programs too (None: the access point's).

    `ip netns exec` would be one more program, with mounts of its own, for each command.
    """
    if name is None:
        yield
        return
    home = os.open("/proc/self/ns/net", os.O_RDONLY)
    try:
        there = os.open(NAMESPACES / name, os.O_RDONLY)
        try:
            _set_namespace(there)
        finally:
            os.close(there)
        try:
            yield
        finally:
            _set_namespace(home)
    finally:
        os.close(home)


def _set_namespace(descriptor: int) -> None:
    """setns(2); Python has it from 3.12 on."""
    library = ctypes.CDLL(None, use_errno=True)
    if library.setns(descriptor, CLONE_NEWNET):
        raise CellError(f"setns failed: {os.strerror(ctypes.get_errno())}")


def set_sysctls(values: dict[str, int | str]) -> None:
    """Set the sysctls of this network namespace by their names, `net.ipv4.ip_forward`."""
    for name, value in values.items():
        try:
            sysctl(name).write_text(f"{value}\n")
        except OSError as error:
            raise CellError(f"{name}={value} failed: {error.strerror}") from error


def sysctl(name: str) -> Path:
    """A sysctl's file."""
    return Path("/proc/sys", *name.split("."))


def address_commands(device: str, address: str) -> list[list[str]]:
    """A device gets its address, and is used from now on."""
    return [
        ["ip", "address", "add", f"{address}/24", "dev", device],
        ["ip", "link", "set", device, "up"],
    ]


def link_address(device: str) -> str:
    shown = json.loads(run(["ip", "-j", "link", "show", device]))
    return str(shown[0]["address"])


def last_line(path: str) -> str:
    lines = Path(path).read_text(errors="replace").strip().splitlines()
    return lines[-1] if lines else "it said nothing"


def next_multiple(moment: float, step: float) -> float:
    """The first multiple of `step` seconds that is not before `moment`."""
    return math.ceil(moment / step) * step


def sleep_until(moment: float) -> None:
    """Block until CLOCK_MONOTONIC reads `moment` seconds."""
    if (left := moment - time.monotonic()) > 0:
        time.sleep(left)


def seconds_between(start: float, end: float) -> Iterator[float]:
    """Every whole second after `start`, up to `end`."""
    moment = start
    while moment < end:
        moment = min(moment + 1.0, end)
        yield moment
