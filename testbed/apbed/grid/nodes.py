# SPDX-License-Identifier: GPL-2.0-only
"""The sessions of a run: opened together, kept alive together, and all closed whatever happens."""

from __future__ import annotations

import contextlib
import shlex
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from apbed.grid.file import Grid, Node
from apbed.grid.session import NodeError, NodeLostError, Session, ask

AT_ONCE = 8  # nodes that are spoken to at the same time
OPEN_TRIES = 3
RETRY_S = 2.0
BEATS = 4  # in a lease

T = TypeVar("T")
U = TypeVar("U")


def at_once(function: Callable[[T], U], items: Iterable[T]) -> list[U]:
    """function(item) of all, several at a time; all end before the first error is raised."""
    with ThreadPoolExecutor(max_workers=AT_ONCE) as pool:
        futures = [pool.submit(function, item) for item in items]
    return [future.result() for future in futures]


@contextlib.contextmanager
def sessions(
    grid: Grid, chosen: Sequence[Node], logs: Path, cancel: threading.Event, notes: list[str]
) -> Iterator[dict[str, Session]]:
    """Sessions by the nodes' names. In the end every node is put back, or `notes` says which not.

    NodeError if a node cannot be had; the others are then put back at once.
    """
    logs.mkdir(parents=True, exist_ok=True)
    made = {node.name: Session(grid, node, logs / f"{node.name}.log", cancel) for node in chosen}
    opened: dict[str, Session] = {}
    ended = threading.Event()

    def take(session: Session) -> None:
        _open(session)
        opened[session.node.name] = session

    keeper = threading.Thread(target=_keep_alive, args=(grid, opened, ended), daemon=True)
    keeper.start()
    try:
        at_once(take, made.values())
        yield made
    finally:
        ended.set()
        keeper.join()
        notes += [said for said in at_once(_put_back, list(opened.values())) if said]


def _open(session: Session) -> None:
    """Connect; again if the link fails, for it may be a passing trouble."""
    for tries in range(1, OPEN_TRIES + 1):
        try:
            session.open()
        except NodeLostError:
            if tries == OPEN_TRIES or session.cancel.wait(RETRY_S):
                session.end()
                raise
            session.retry()
        else:
            return


def _keep_alive(grid: Grid, opened: dict[str, Session], ended: threading.Event) -> None:
    while not ended.wait(grid.lease_s / BEATS):
        for session in list(opened.values()):
            with contextlib.suppress(NodeError):
                session.beat()


def _put_back(session: Session) -> str | None:
    """Close a session; for a node that is lost, wait as long as its lease and look."""
    problem = session.close()
    if problem is None or not session.lost:
        return problem
    node, grid = session.node, session.grid
    gone = f"test ! -e {shlex.quote(grid.directory)}"
    until = time.monotonic() + grid.lease_s + 2 * RETRY_S
    while time.monotonic() < until:
        try:
            ask(grid, node, gone)
        except NodeError:
            time.sleep(RETRY_S)
        else:
            return None
    return (
        f"{node.name} ({node.host}) is not there; if it still runs, it puts itself back "
        f"{grid.lease_s} s after it last heard of apbed"
    )
