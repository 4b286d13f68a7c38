"""Tasks that belong to somebody: held while they run, since the loop holds them weakly, and ended with their owner."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextvars import Context
from typing import Any, TypeVar

T = TypeVar("T")


class Tasks:
    """The tasks of one owner. Use inside one event loop."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[Any]] = set()

    def __len__(self) -> int:
        """Return how many are under way."""
        return len(self._running)

    def begin(
        self, work: Coroutine[Any, Any, T], *, context: Context | None = None, name: str | None = None
    ) -> asyncio.Task[T]:
        """Run something until it ends or its owner does."""
        task = asyncio.get_running_loop().create_task(work, context=context, name=name)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return task

    def cancel(self) -> None:
        """Give up all."""
        for task in list(self._running):
            task.cancel()

    async def ended(self) -> None:
        """Wait until none is under way, however they end."""
        await asyncio.gather(*self._running, return_exceptions=True)

    async def end(self) -> None:
        """Give up all, and wait until they have ended."""
        self.cancel()
        await self.ended()


async def let_end(task: asyncio.Task[Any], seconds: float) -> None:
    """Wait for a task's end, however it ends; cancel it when the time is up."""
    try:
        await asyncio.wait({task}, timeout=seconds)
    finally:
        task.cancel()
    await asyncio.gather(task, return_exceptions=True)
