# SPDX-License-Identifier: GPL-2.0-only
"""Each guest has a processor of the host for itself, as long as there is one."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from apbed.kernels import processor

ALLOWED = sorted(os.sched_getaffinity(0))
QUIET = processor.quiet
SHOW = "import os; print(*sorted(os.sched_getaffinity(0)))"


@pytest.fixture(autouse=True)
def no_other_guests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(processor, "quiet", lambda: True)


def test_each_guest_has_another_one() -> None:
    with ExitStack() as guests:
        numbers = [guests.enter_context(processor.reserved()) for _ in ALLOWED]
        assert sorted(number for number in numbers if number is not None) == ALLOWED
        assert guests.enter_context(processor.reserved()) is None
    with processor.reserved() as number:
        assert number == ALLOWED[0]


def test_other_programs_guests_count_too() -> None:
    script = (
        "from apbed.kernels import processor\n"
        "processor.quiet = lambda: True\n"
        "with processor.reserved() as number:\n"
        "    print(number, flush=True)\n"
        "    input()\n"
    )
    words = [sys.executable, "-c", script]
    with (
        subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other,
        processor.reserved() as number,
    ):
        assert other.stdout is not None
        theirs = other.stdout.readline().strip()
        assert theirs != str(number)
        other.communicate("\n")
    with processor.reserved() as number:
        assert number == ALLOWED[0]


def shown() -> str:
    return subprocess.run([sys.executable, "-c", SHOW], capture_output=True, text=True).stdout


def test_what_is_started_stays_there() -> None:
    everywhere = " ".join(map(str, ALLOWED)) + "\n"
    with processor.only(ALLOWED[-1]):
        assert shown() == f"{ALLOWED[-1]}\n"
    assert shown() == everywhere
    with processor.only(None):
        assert shown() == everywhere
    with processor.only(1 + max(ALLOWED)):  # one that the caller may not use
        assert shown() == everywhere


@pytest.mark.parametrize(
    ("percent", "expected"), [("0.00", True), ("9.99", True), ("10.00", False)]
)
def test_a_busy_machine_is_left_to_its_scheduler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, percent: str, expected: bool
) -> None:
    pressure = tmp_path / "cpu"
    pressure.write_text(
        f"some avg10={percent} avg60=50.00 avg300=50.00 total=123\n"
        "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"
    )
    assert QUIET(pressure) == expected
    monkeypatch.setattr(processor, "quiet", lambda: QUIET(pressure))
    with processor.reserved() as number:
        assert number == (ALLOWED[0] if expected else None)


def test_a_kernel_without_pressure(tmp_path: Path) -> None:
    assert not QUIET(tmp_path / "missing")
