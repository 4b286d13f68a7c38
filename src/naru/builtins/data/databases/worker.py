"""Blocking drivers in threads, each query within its time: interrupted when it is over or nobody waits any more."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

from naru.builtins.data.databases.database import Limits
from naru.builtins.data.databases.errors import DatabaseUnavailableError, stopped

Result = TypeVar("Result")

AT_ONCE = 4
GRACE_SECONDS = 2.0
"""Time for an interrupted query to end."""
TOLERANCE_SECONDS = 0.1
CLOSE_SECONDS = 10.0
"""Time for all of them, before a database is closed."""


class Worker:
    """Runs so many queries at once as a small machine carries."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._free = asyncio.Semaphore(AT_ONCE)
        self._running: dict[asyncio.Future[Any], Callable[[], None]] = {}
        """Work whose thread has not ended, with what makes it end."""
        self._over: dict[asyncio.Future[Any], float] = {}
        """What was told to end, and when."""

    @property
    def is_stuck(self) -> bool:
        """Tell whether a query has not ended, though it was told to and had the time for it."""
        now = asyncio.get_running_loop().time()
        return any(now - since > GRACE_SECONDS - TOLERANCE_SECONDS for since in self._over.values())

    async def settle(self) -> None:
        """End what still runs and wait for it, so that a connection can be closed; bounded."""
        ends = asyncio.get_running_loop().time() + CLOSE_SECONDS
        while self._running and asyncio.get_running_loop().time() < ends:
            for interrupt in self._running.values():  # An engine that was not there yet does not hear the first one.
                interrupt()
            await asyncio.wait(set(self._running), timeout=0.2)

    def _ended(self, task: asyncio.Future[Any]) -> None:
        self._running.pop(task, None)
        self._over.pop(task, None)
        self._free.release()

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
        self._running[task] = interrupt
        task.add_done_callback(self._ended)
        try:
            done, _ = await asyncio.wait({task}, timeout=self._limits.statement_seconds)
        except asyncio.CancelledError:
            self._over[task] = asyncio.get_running_loop().time()
            interrupt()
            task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
            raise
        if done:
            return task.result()
        self._over[task] = asyncio.get_running_loop().time()
        interrupt()
        await asyncio.wait({task}, timeout=GRACE_SECONDS)
        task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
        raise stopped(self._limits.statement_seconds)
