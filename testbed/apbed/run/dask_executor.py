# SPDX-License-Identifier: GPL-2.0-only
"""Boots the machines of a campaign on the workers of a Dask cluster.

Principle: a worker gets what a run is a function of, and gives back its directory. Kernel,
modules, programs and the guest's scripts go to each worker once, in an archive named by its
content. Dask chooses the worker, and another one when a worker is lost. A run that nobody waits
for any more ends: the worker looks whether Dask still wants it.
"""

from __future__ import annotations

import hashlib
import logging
import shutil
import threading
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

from distributed import Client, KilledWorker, Worker, WorkerPlugin, get_worker

from apbed.checkout import PACKAGE
from apbed.errors import ApbedError
from apbed.kernels.cache import whole
from apbed.kernels.ram_disk import imported
from apbed.kernels.watchdog import INTERRUPTED, Boot, Watchdog
from apbed.processes import guarded_folder
from apbed.run import archive
from apbed.run.bench import Bench
from apbed.run.order import Order
from apbed.scenario import plan as plans
from apbed.scenario.plan import Plan

TOPIC = "apbed"  # of the workers' news
TELL_S = 2.0  # wall seconds between two pieces of news of a run
LOOK_S = 0.5  # wall seconds between two looks of ours
CONNECT_S = 30.0  # Dask's own default
LOST_WORKERS = 3  # during one run, before it is given up
OURS = ("run.json", "plan.json")  # files of a run's directory that are made here


class Parcel(WorkerPlugin):
    """What each worker has before its first run; Dask gives it to those that come later too."""

    def __init__(self, packed: bytes) -> None:
        self.packed = packed
        self.package = package_digest()
        self.name = f"apbed-{archive.digest(packed)}"
        self.folder: Path | None = None

    def setup(self, worker: Worker) -> None:
        """Unpack it on the worker. ApbedError if the worker's own part of a run is another's."""
        if package_digest() != self.package:
            raise ApbedError(f"the worker {worker.address} has another apbed; install this one")
        self.folder = archive.kept(self.packed)


@cache
def package_digest() -> str:
    """Of apbed's own code."""
    found = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        found.update(f"{path.relative_to(PACKAGE)}\n".encode() + path.read_bytes())
    return found.hexdigest()


def below(folder: Path, path: Path) -> Path:
    """Where a file of the campaign's host is in the folder of a worker."""
    return folder / path.relative_to("/")


@dataclass
class _News:
    """What the workers of one run tell: the campaign sees progress, and who has begun the run."""

    run_dir: Path
    workers: list[str] = field(default_factory=list)

    def hear(self, worker: str, said: str) -> None:
        if worker not in self.workers:
            self.workers.append(worker)
        (self.run_dir / "progress").write_text(said)

    def given_up(self, lost: int) -> str | None:
        """Why nobody else should try, if so many of the workers are lost; None if one should."""
        if lost < LOST_WORKERS:
            return None
        return f"{LOST_WORKERS} workers were lost during this run: {', '.join(self.workers[:lost])}"


class DaskExecutor:
    """The workers of a cluster, each with one run per thread."""

    def __init__(self, word: str, client: Any) -> None:
        self.word = word
        self._client = client
        self._lock = threading.Lock()
        self._sent: dict[tuple[Path, ...], str] = {}
        self._news: dict[str, _News] = {}
        client.subscribe_topic(TOPIC, self._hear)

    @property
    def jobs(self) -> int:
        """Twice what the workers can carry out, so that none waits for us."""
        threads: dict[str, int] = self._client.nthreads()
        return 2 * max(sum(threads.values()), 1)

    def accept(self, entry: Bench) -> None:
        entry.sent()

    def boot(self, entry: Bench, order: Order, watchdog: Watchdog) -> Boot:
        """As Executor's. A worker that is lost is not the run's fault until there are several."""
        parcel = self._send(entry, order.script)
        plan, _ = plans.read(order.run_dir / "plan.json")
        news = _News(order.run_dir)
        for _ in range(LOST_WORKERS):
            future = self._client.submit(
                carry_out, parcel, entry, order.script, plan, key=f"apbed-{uuid.uuid4().hex}"
            )
            with self._told(future, news):
                why = _wait(future, news, watchdog)
                found = None if why else self._result(future, news)
            if found:
                outcome, packed = found
                _bring_home(packed, order.run_dir)
                return outcome
            if why := why or news.given_up(len(news.workers)):
                return Boot(None, why, 0.0, None)
        return Boot(None, f"Dask gave this run up {LOST_WORKERS} times: workers die", 0.0, None)

    def close(self) -> None:
        """Nothing of ours stays with the scheduler, if there still is one."""
        for name in self._sent.values():
            if self._client.status == "running":
                with suppress(OSError, TimeoutError):
                    self._client.unregister_worker_plugin(name)

    def _send(self, entry: Bench, script: Path) -> str:
        """The name of the parcel for these runs, which all workers have now."""
        with self._lock:
            ours = [path for path in imported(script) if path.is_relative_to(script.parents[1])]
            files = (*entry.sent(), *ours)
            if files not in self._sent:
                places = {str(below(Path(), path)): path for path in files}
                parcel = Parcel(archive.pack(places))
                self._client.register_plugin(parcel)
                self._sent[files] = parcel.name
            return self._sent[files]

    def _result(self, future: Any, news: _News) -> tuple[Boot, bytes] | None:
        """What a worker gave back; None if another one should try.

        Dask gives up also a run that only waited where workers died. ApbedError if no later run
        could do better.
        """
        try:
            outcome, packed = future.result()
        except KilledWorker:
            return None
        except Exception as error:
            while self._client.status == "connecting":  # Dask tries for CONNECT_S
                time.sleep(LOOK_S)
            if isinstance(error, CancelledError) and self._client.status == "running":
                return None  # the connection was lost, and with it the task
            if self._client.status != "running":
                gone = f"the scheduler of {self.word} is gone; repeat the command to go on"
                raise ApbedError(gone) from error
            where = news.workers[-1] if news.workers else self.word
            what = "" if isinstance(error, ApbedError) else f"{type(error).__name__}: "
            raise ApbedError(f"{where}: {what}{error}") from error
        return None if outcome.why == INTERRUPTED else (outcome, packed)

    @contextmanager
    def _told(self, future: Any, news: _News) -> Iterator[None]:
        """Meanwhile the news of a task reach its run; after that nobody wants the task."""
        self._news[future.key] = news
        try:
            yield
        finally:
            del self._news[future.key]
            if self._client.status == "running":
                future.cancel()

    def _hear(self, event: tuple[float, dict[str, str]]) -> None:
        _, told = event
        if news := self._news.get(told["run"]):
            news.hear(told["worker"], told["said"])


def _wait(future: Any, news: _News, watchdog: Watchdog) -> str | None:
    """Wait for the end; None, or why nobody needs it any more."""
    ended = threading.Event()
    future.add_done_callback(lambda _: ended.set())
    while not ended.wait(LOOK_S):
        if watchdog.cancel.is_set():
            return INTERRUPTED
        if news.workers and watchdog.progress:
            watchdog.progress()
        if why := news.given_up(len(news.workers) - 1):  # who has begun is the last one's heir
            return why
    return None


def _bring_home(packed: bytes, run_dir: Path) -> None:
    """Put the worker's directory in the place of ours, by one rename."""
    with whole(run_dir) as partial_dir:
        archive.unpack(packed, partial_dir)
        for name in OURS:
            shutil.copy(run_dir / name, partial_dir)


def carry_out(parcel: str, entry: Bench, script: Path, plan: Plan) -> tuple[Boot, bytes]:
    """On a worker: one run, in a directory that comes back packed."""
    worker = get_worker()
    plugin = worker.plugins.get(parcel)
    folder = plugin.folder if isinstance(plugin, Parcel) else None
    if folder is None:
        raise ApbedError(f"the worker {worker.address} is not fit for runs; its log says why")
    place = partial(below, folder)
    here = entry.moved(place)
    with guarded_folder("apbed-run-") as run_dir:
        plans.write(run_dir / "plan.json", plan, here.programs(plan))
        order = Order(place(script), run_dir, here.files(), plan.seed)
        look = _Look(worker, run_dir / "progress")
        watchdog = Watchdog(here.machine.stall_s, progress=look, cancel=look.cancel)
        outcome = here.machine.boot(order, watchdog)
        (run_dir / "plan.json").unlink()
        return outcome, archive.pack_folder(run_dir)


class _Look:
    """What a run's watchdog looks at, on a worker: progress, told to the campaign now and then."""

    def __init__(self, worker: Worker, path: Path) -> None:
        self.cancel = threading.Event()
        self._worker, self._path = worker, path
        self._key = worker.get_current_task()
        self._told_s = float("-inf")

    def __call__(self) -> str:
        task = self._worker.state.tasks.get(self._key)
        if task is None or task.state == "cancelled":
            self.cancel.set()
        said = self._path.read_text() if self._path.exists() else ""
        now_s = time.monotonic()
        if now_s - self._told_s >= TELL_S:
            self._told_s = now_s
            news = {"run": self._key, "worker": self._worker.address, "said": said}
            self._worker.log_event(TOPIC, news)
        return said


def _client(address: str) -> Any:
    open_client: Any = Client  # of whose methods some have no types
    return open_client(address, timeout=CONNECT_S, set_as_default=False)


@contextmanager
def connected(word: str, address: str) -> Iterator[DaskExecutor]:
    """The executor of a cluster, by its scheduler's address; ApbedError if nobody works there."""
    for name in ("distributed", "distributed.client"):  # what matters is an ApbedError
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        client = _client(address)
    except OSError as error:
        raise ApbedError(f"no Dask scheduler answers at {word}") from error
    with client:
        try:
            client.wait_for_workers(1, timeout=CONNECT_S)
        except TimeoutError as error:
            raise ApbedError(f"{word} has no workers; start some: `dask worker`") from error
        executor = DaskExecutor(word, client)
        try:
            yield executor
        finally:
            executor.close()
