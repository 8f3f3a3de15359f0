# SPDX-License-Identifier: GPL-2.0-only
"""One host of a simulated farm: several Dask workers in a process, which die together.

python -m tests.executor.node SCHEDULER WORKERS
"""

from __future__ import annotations

import asyncio
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from distributed import Worker


async def work(scheduler: str, count: int) -> None:
    """Until the scheduler is gone."""
    open_worker: Any = Worker  # whose constructor has no types
    async with AsyncExitStack() as stack:
        workers = [
            await stack.enter_async_context(
                open_worker(
                    scheduler,
                    nthreads=1,
                    memory_limit=0,
                    dashboard=False,
                    local_directory=str(Path.cwd() / str(number)),
                )
            )
            for number in range(count)
        ]
        await asyncio.gather(*(worker.finished() for worker in workers))


if __name__ == "__main__":
    asyncio.run(work(sys.argv[1], int(sys.argv[2])))
