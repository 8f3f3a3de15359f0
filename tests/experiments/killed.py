# SPDX-License-Identifier: GPL-2.0-only
"""Does a campaign survive? Kills it at random moments, resumes it, compares it with a whole one.

    python -m tests.experiments.killed OUT [--runs 100] [--seconds 100] [--kills 10] [--kernel 7.2]
    python -m tests.experiments.killed OUT --workers 4 --kills 2

Without `--workers` apbed's process group gets SIGKILL; with it, workers of a local Dask cluster.
Ends with status 1 if summary.json differs from that of OUT/whole in any byte, if more was lost
than the runs under way, or if anything is left running or lying about.
"""

from __future__ import annotations

import argparse
import os
import queue
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.executor.cluster import Cluster, cluster, environment, what_is_left

SCENARIO = Path(__file__).parents[1] / "executor" / "cells.toml"
SET_UP = ("radios", "medium", "machines", "associate", "queues")  # testbed/guest/cell.py
ENDED = re.compile(r"\[\d+/\d+\] (\S+): (done|kept|FAILED)")


@dataclass(frozen=True)
class Campaign:
    """What is run: `apbed run` with these words, into a folder of its own."""

    folder: Path
    words: Sequence[str]

    @property
    def summary(self) -> Path:
        return self.folder / "out" / "summary.json"

    def start(self) -> subprocess.Popen[str]:
        """In a process group of its own, as a shell starts it, or a batch system."""
        command = [sys.executable, "-m", "apbed", "run", str(SCENARIO), *self.words]
        return subprocess.Popen(
            [*command, "--out", str(self.folder / "out")],
            env=environment(self.folder) | {"XDG_CACHE_HOME": str(cache_home())},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )


def cache_home() -> Path:
    """Where the lab kernels are."""
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))


@dataclass
class Heard:
    """What a campaign says on standard error, as it says it."""

    process: subprocess.Popen[str]
    lines: queue.Queue[str] = field(default_factory=queue.Queue)
    states: dict[str, str] = field(default_factory=dict)  # run -> done, kept, FAILED
    last: str = ""

    def __post_init__(self) -> None:
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stderr
        for line in self.process.stderr:
            self.lines.put(line)
        self.lines.put("")

    def until(self, done: int | None) -> None:
        """Listen until so many runs are done (None: to the end), or it has ended."""
        while (done is None or self.done < done) and (line := self.lines.get()):
            self.last = line.strip()
            if found := ENDED.match(line):
                self.states[found[1]] = found[2]

    @property
    def done(self) -> int:
        return sum(state == "done" for state in self.states.values())

    @property
    def ended(self) -> set[str]:
        return {run for run, state in self.states.items() if state in ("done", "kept")}


def reached(campaign: Campaign, moment: float) -> bool:
    """Whether a run that has not ended has got so far: virtual seconds after t0, or below 0 the
    set-up, of which every step counts for one."""
    for run_dir in (campaign.folder / "out" / "runs").glob("*"):
        progress = run_dir / "progress"
        if progress.exists() and not (run_dir / "status.json").exists():
            word = progress.read_text().strip()
            step = SET_UP.index(word) - len(SET_UP) if word in SET_UP else 0
            if (float(word) if word.isdigit() else step) >= moment:
                return True
    return False


def kill_and_resume(
    campaign: Campaign, kills: int, runs: int, draws: random.Random, seconds: float
) -> None:
    """Kill the campaign `kills` times and let it end.

    Each kill waits until so many runs are done, and then for a moment of a run, set-up included.
    The last second is left out, so that the run cannot end before we look again.
    """
    ended: set[str] = set()
    wanted = sorted(draws.sample(range(runs - 1), kills))
    for number, count in enumerate(wanted, start=1):
        moment = draws.uniform(-len(SET_UP), seconds - 1)
        heard = Heard(campaign.start())
        heard.until(count - len(ended))
        while heard.process.poll() is None and not reached(campaign, moment):
            time.sleep(0.05)
        assert heard.process.poll() is None, f"ended before kill {number}: {heard.last}"
        os.killpg(heard.process.pid, signal.SIGKILL)
        heard.process.wait()
        heard.until(None)
        again = {run for run in ended if heard.states.get(run) == "done"}
        assert not again, f"run again although they were done: {again}"
        ended |= heard.ended
        assert (left := what_is_left(campaign.folder)) == [], f"left by kill {number}: {left}"
        print(f"kill {number}, at {moment:.1f} s: {len(ended)} of {runs} runs done", flush=True)
    finish(campaign, ended)


def finish(campaign: Campaign, ended: set[str]) -> None:
    """Let the campaign end; what was done is kept."""
    heard = Heard(campaign.start())
    heard.until(None)
    assert heard.process.wait() == 0, heard.last
    again = {run for run in ended if heard.states.get(run) != "kept"}
    assert not again, f"run again although they were done: {again}"


def kill_workers(
    campaign: Campaign, kills: int, runs: int, draws: random.Random, farm: Cluster
) -> None:
    """Kill workers of the farm, each while it carries out a run, and let the campaign end.

    A worker chosen beforehand might never get a run again: the others may have them all.
    """
    heard = Heard(campaign.start())
    alive = list(farm.workers)
    for number in range(1, kills + 1):
        heard.until(draws.randint(0, runs // (kills + 1)))
        while not (busy := [worker for worker in alive if worker.busy]):
            assert heard.process.poll() is None, f"ended before kill {number}: {heard.last}"
            time.sleep(draws.uniform(0, 0.2))
        victim = draws.choice(busy)
        victim.kill()
        alive.remove(victim)
        assert (left := what_is_left(victim.folder)) == [], f"left by worker {number}: {left}"
        print(f"worker {number} killed: {heard.done} of {runs} runs done", flush=True)
    heard.until(None)
    assert heard.process.wait() == 0, heard.last


def survives(
    out: Path,
    words: Sequence[str] = (),
    *,
    runs: int,
    seconds: float,
    kills: int,
    seed: int = 1,
    workers: int = 0,
) -> bool:
    """Whether a killed campaign has the summary of a whole one. Raises if it loses too much."""
    draws = random.Random(seed)
    words = [*words, f"--set=duration_s={seconds}", f"--set=seed={list(range(1, runs + 1))}"]
    whole = Campaign(out / "whole", words)
    finish(whole, set())
    killed = Campaign(out / ("workers" if workers else "killed"), whole.words)
    shutil.rmtree(killed.folder, ignore_errors=True)
    if workers:
        with cluster(out / "cluster", workers) as farm:
            killed = Campaign(killed.folder, [*killed.words, "--executor", farm.word])
            kill_workers(killed, kills, runs, draws, farm)
    else:
        kill_and_resume(killed, kills, runs, draws, seconds)
    return killed.summary.read_bytes() == whole.summary.read_bytes()


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=100.0, help="virtual, of each run")
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1, help="of the random moments")
    parser.add_argument("--kernel")
    options = parser.parse_args()
    words = ["--kernel", options.kernel] if options.kernel else []
    equal = survives(
        options.out.resolve(),
        words,
        runs=options.runs,
        seconds=options.seconds,
        kills=options.kills,
        seed=options.seed,
        workers=options.workers,
    )
    print(
        f"{options.runs} runs, {options.kills} kills: summary.json", "equal" if equal else "DIFFERS"
    )
    return 0 if equal else 1


if __name__ == "__main__":
    raise SystemExit(main())
