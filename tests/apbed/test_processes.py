# SPDX-License-Identifier: GPL-2.0-only
"""Processor time of a command and all it started, against what the kernel itself accounts."""

from __future__ import annotations

import errno
import os
import resource
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from apbed import processes
from apbed.processes import ProcessorTime, Waited

# Half a second of work in the process itself, as much in a child that ends, and in one that does
# not; each reads its own clock of processor time.
WORK = """\
import os, time
def work():
    while time.process_time() < 0.5:
        pass
for ends in (True, False):
    if not os.fork():
        os.setsid()
        work()
        ends or time.sleep(1000)
        os._exit(0)
os.wait()
work()
print("done", flush=True)
time.sleep(1000)
"""


@pytest.fixture(autouse=True)
def always_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "LOOK_S", 0.0)


@pytest.fixture
def worker() -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        ["/usr/bin/python3", "-c", WORK], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    yield process
    for pid in [*_children(process.pid), process.pid]:
        os.kill(pid, 9)
    process.wait()


def _children(pid: int) -> list[int]:
    found = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True)
    return [int(word) for word in found.stdout.split()]


def test_ended_and_living_descendants_count(worker: subprocess.Popen[str]) -> None:
    time_of = ProcessorTime(worker.pid)
    assert worker.stdout and worker.stdout.readline() == "done\n"
    while (used := time_of.used_s()) < 1.4:
        time.sleep(0.05)  # the child that lives may still be at it
    assert used < 3.0


def test_idle_grows_while_nothing_works(worker: subprocess.Popen[str]) -> None:
    time_of = ProcessorTime(worker.pid)
    assert worker.stdout and worker.stdout.readline() == "done\n"
    while time_of.idle_s() < 0.3:
        time.sleep(0.05)
    used = time_of.used_s()
    time.sleep(0.2)
    assert time_of.used_s() == used


def test_our_own_is_what_the_kernel_says() -> None:
    used = ProcessorTime(os.getpid()).used_s()
    who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    told = sum(getattr(resource.getrusage(one), f) for one in who for f in ("ru_utime", "ru_stime"))
    assert used == pytest.approx(told, abs=0.1)


# Works for as long as it is let.
BUSY = "while True: pass"


def test_who_shares_a_processor_waits_for_it() -> None:
    """Of two that always want the same processor one works and one waits, so together they wait
    for as long as they work."""
    (one, *_) = os.sched_getaffinity(0)
    words = ["taskset", "-c", str(one), "/usr/bin/python3", "-c", BUSY]
    both = [subprocess.Popen(words) for _ in range(2)]
    try:
        waited = [Waited(process.pid) for process in both]
        worked = [ProcessorTime(process.pid) for process in both]
        while min(one.used_s() for one in worked) < 1.0:
            time.sleep(0.1)
        for entry in waited:
            entry.look()
        works = sum(one.used_s() for one in worked)
        waits = [one.waited_s() or 0.0 for one in waited]
    finally:
        for process in both:
            process.kill()
            process.wait()
    # Others of this machine make them wait longer; starting up is work for which neither waits.
    assert sum(waits) > 0.5 * works


def test_the_thread_that_waited_longest_decides(tmp_path: Path) -> None:
    """sched-stats.rst: time on a processor and time of waiting for one, in ns, and time slices."""
    for thread, waited_ns in (("7", 1_500_000_000), ("8", 2_500_000_000), ("9", 0)):
        schedstat = tmp_path / "7" / "task" / thread / "schedstat"
        schedstat.parent.mkdir(parents=True)
        schedstat.write_text(f"4000000000 {waited_ns} 12\n")
    waited = Waited(7, proc=tmp_path)
    waited.look()
    assert waited.waited_s() == 2.5


def test_others_that_end_meanwhile_harm_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a process that has just ended the kernel says ESRCH, and not that there is no file."""

    def gone(path: Path) -> bool:
        raise ProcessLookupError(errno.ESRCH, "No such process", str(path))

    monkeypatch.setattr(Path, "exists", gone)
    ProcessorTime(os.getpid()).used_s()
    waited = Waited(os.getpid())
    waited.look()
    assert waited.waited_s() is not None


def test_who_is_gone_has_waited_for_nothing_known() -> None:
    process = subprocess.Popen(["true"])
    process.wait()
    gone = Waited(process.pid)
    gone.look()
    assert gone.waited_s() is None
