# SPDX-License-Identifier: GPL-2.0-only
"""How does a campaign scale? A farm of workers on this machine, whose runs only take time.

    python -m tests.experiments.farm OUT [--workers 4 16 64] [--runs 10] [--seconds 4]
    python -m tests.experiments.farm OUT --dead 1 --slow 1

Scheduler, workers and campaign are the real ones; a run is tests/executor/stub.py. Each host has
`--per-host` workers. Of the hosts the first `--slow` need three times as long, and the last
`--dead` are killed when a third of the runs are done.
"""

from __future__ import annotations

import argparse
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from apbed.run import bench, executor, runner
from apbed.run.runner import Event
from apbed.scenario import parse
from tests.executor.cluster import Cluster, cluster
from tests.executor.stub import stub_bench

SCENARIO = Path(__file__).parents[1] / "executor" / "cells.toml"
SLOWER = 3.0


@dataclass(frozen=True)
class Farm:
    """What is simulated."""

    hosts: int
    per_host: int
    runs: int
    seconds: float  # wall, of a run on a host that is not slow
    slow: int = 0  # hosts
    dead: int = 0  # hosts

    @property
    def workers(self) -> int:
        return self.hosts * self.per_host


@dataclass(frozen=True)
class Outcome:
    """What came of it."""

    wall_s: float
    used: float  # share of the living workers' time that was spent on runs that came back
    campaign_s: float  # processor time of the campaign's own process
    scheduler_s: float  # and of Dask's scheduler
    done: list[int]  # the seeds of the runs, as often as they were reported
    begun: list[int]  # the seeds, as often as a worker began them


def simulate(farm: Farm, out: Path) -> Outcome:
    """One campaign on a farm of its own."""
    ledger = out / "begun"
    with _hosts(farm, out) as there:
        found = stub_bench(out, scale=farm.seconds, ledger=ledger)
        scenario = parse.load(SCENARIO, [f"seed={list(range(1, farm.runs + 1))}"])
        done: list[int] = []
        killed_s: list[float] = []
        lock = threading.Lock()

        def heard(event: Event) -> None:
            if event.state != "done":
                return
            with lock:
                done.append(event.run.plan.seed)
                if len(done) == farm.runs // 3:
                    for host in there.workers[farm.hosts - farm.dead :]:
                        host.kill()
                        killed_s.append(time.monotonic())

        with (
            executor.opened(there.word) as cluster_,
            mock.patch.object(bench, "find", lambda *_: found),
        ):
            assert cluster_.jobs == 2 * farm.workers
            clocks = (time.monotonic, time.process_time, there.scheduler_s)
            before = [clock() for clock in clocks]
            assert runner.run_all(scenario, out / "out", cluster_.jobs, heard, executor=cluster_)
            wall_s, ours_s, its_s = (
                clock() - then for clock, then in zip(clocks, before, strict=True)
            )
    begun = [int(line) for line in ledger.read_text().split()]
    alive_s = farm.hosts * wall_s - sum(before[0] + wall_s - moment for moment in killed_s)
    spent_s = sum(json.loads((out / "out" / "manifest.json").read_text())["wall_s"].values())
    return Outcome(wall_s, spent_s / alive_s / farm.per_host, ours_s, its_s, done, begun)


@contextmanager
def _hosts(farm: Farm, out: Path) -> Iterator[Cluster]:
    """The cluster, when all its workers are there."""
    with cluster(out / "farm", 0) as found:
        for number in range(farm.hosts):
            slower = SLOWER if number < farm.slow else 1.0
            words = ["tests.executor.node", found.tcp, str(farm.per_host)]
            host = found.start(f"host-{number + 1}", *words, SLOWER=str(slower))
            found.workers.append(host)
        found.wait_for(farm.workers)
        yield found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("--workers", type=int, nargs="+", default=[4, 16, 64])
    parser.add_argument("--per-host", type=int, default=8)
    parser.add_argument("--runs", type=int, default=10, help="per worker")
    parser.add_argument("--seconds", type=float, default=4.0, help="wall, of a run")
    parser.add_argument("--slow", type=int, default=0)
    parser.add_argument("--dead", type=int, default=0)
    options = parser.parse_args()
    print(
        "| workers | hosts: slow, killed | runs | took, s | workers' time used | begun again ",
        end="",
    )
    print("| processor ms a run: campaign, scheduler |")
    print("|---|---|---|---|---|---|---|")
    for workers in options.workers:
        per_host = min(options.per_host, workers)
        farm = Farm(
            workers // per_host,
            per_host,
            workers * options.runs,
            options.seconds,
            options.slow,
            options.dead,
        )
        found = simulate(farm, options.out.resolve() / f"{workers}-{farm.slow}-{farm.dead}")
        assert sorted(found.done) == list(range(1, farm.runs + 1))
        again = len(found.begun) - farm.runs
        print(
            f"| {workers} | {farm.hosts}: {farm.slow}, {farm.dead} | {farm.runs} "
            f"| {found.wall_s:.0f} | {found.used:.0%} | {again} "
            f"| {found.campaign_s / farm.runs * 1000:.0f}, "
            f"{found.scheduler_s / farm.runs * 1000:.0f} |",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
