# SPDX-License-Identifier: GPL-2.0-only
"""How a campaign's progress is shown: bars on a terminal, one line per change elsewhere."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from apbed.run.runner import Event, Notify
from apbed.scenario.parse import Scenario


@contextmanager
def observer(scenario: Scenario, stream: TextIO) -> Iterator[Notify]:
    """A function to call with each event of the scenario's runs, from any thread."""
    if stream.isatty():
        with _bars(scenario, Console(file=stream)) as notify:
            yield notify
    else:
        yield _lines(scenario, stream)


def _lines(scenario: Scenario, stream: TextIO) -> Notify:
    lock = threading.Lock()
    started: set[str] = set()
    ended: set[str] = set()

    def notify(event: Event) -> None:
        with lock:
            if event.state == "running":
                if event.run.id not in started:
                    started.add(event.run.id)
                    print(f"start {event.run.id}", file=stream, flush=True)
                return
            ended.add(event.run.id)
            count = f"[{len(ended)}/{len(scenario.runs)}]"
            text = {
                "kept": "kept, its inputs did not change",
                "done": f"done, {event.virtual_s:.0f} virtual s in {event.wall_s:.0f} s",
                "failed": f"FAILED: {event.why}",
            }[event.state]
            print(f"{count} {event.run.id}: {text}", file=stream, flush=True)

    return notify


@contextmanager
def _bars(scenario: Scenario, console: Console) -> Iterator[Notify]:
    columns = (
        TextColumn("{task.description:<34}"),
        BarColumn(bar_width=18),
        TextColumn("{task.completed:>4.0f}/{task.total:.0f} s virtual"),
        TextColumn("{task.fields[wall_s]:>4.0f} s wall"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as progress:
        total = sum(run.plan.duration_s for run in scenario.runs)
        title = f"{scenario.name}: {len(scenario.runs)} runs"
        overall = progress.add_task(title, total=total, wall_s=0.0)
        tasks: dict[str, TaskID] = {}
        virtual: dict[str, float] = {}
        lock = threading.Lock()

        def notify(event: Event) -> None:
            run_id, duration_s = event.run.id, event.run.plan.duration_s
            with lock:
                if event.state == "running":
                    if run_id not in tasks:
                        params = event.run.params
                        name = f"{params.get('case', params['qdisc'])} seed {params['seed']}"
                        tasks[run_id] = progress.add_task(name[:34], total=duration_s, wall_s=0.0)
                    virtual[run_id] = event.virtual_s
                    progress.update(tasks[run_id], completed=event.virtual_s, wall_s=event.wall_s)
                else:
                    virtual[run_id] = duration_s
                    if run_id in tasks:
                        progress.remove_task(tasks.pop(run_id))
                    if event.state == "failed":
                        progress.console.print(f"FAILED {run_id}: {event.why}")
                elapsed = progress.tasks[0].elapsed or 0.0
                progress.update(overall, completed=sum(virtual.values()), wall_s=elapsed)

        yield notify
