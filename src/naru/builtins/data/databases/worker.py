"""Blocking drivers in threads, each query within its time: interrupted when it is over or nobody waits any more."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from naru.builtins.data.databases.database import Limits
from naru.builtins.data.databases.errors import DatabaseUnavailableError, QueryError

Result = TypeVar("Result")

AT_ONCE = 4
GRACE_SECONDS = 2.0
"""Time for an interrupted query to end."""


class Worker:
    """Runs so many queries at once as a small machine carries."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._free = asyncio.Semaphore(AT_ONCE)

    async def run(self, work: Callable[[], Result], interrupt: Callable[[], None]) -> Result:
        """Run blocking work; `interrupt` makes it end early, from another thread.

        Raises:
            QueryError: its time was over.
            DatabaseUnavailableError: too many queries ran already, or it does not end.
        """
        try:
            async with asyncio.timeout(self._limits.wait_seconds):
                await self._free.acquire()
        except TimeoutError as error:
            raise DatabaseUnavailableError(
                f"All {AT_ONCE} queries that run at once were busy for {self._limits.wait_seconds:g} seconds.",
                remedy="Try again in a moment.",
            ) from error
        task = asyncio.ensure_future(asyncio.to_thread(work))
        task.add_done_callback(lambda _: self._free.release())
        try:
            done, _ = await asyncio.wait({task}, timeout=self._limits.statement_seconds)
        except asyncio.CancelledError:
            interrupt()
            task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
            raise
        if done:
            return task.result()
        interrupt()
        await asyncio.wait({task}, timeout=GRACE_SECONDS)
        task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
        raise QueryError(
            f"The query was stopped after {self._limits.statement_seconds:g} seconds.",
            remedy="Filter earlier, aggregate, or ask for less.",
        )
