"""Waiting: tasks that wait for the same thing, work that ends when somebody wants an end."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Waiters(Generic[T]):
    """Futures that are all settled at once; each caller may still be cancelled alone."""

    def __init__(self) -> None:
        self._futures: list[asyncio.Future[T]] = []

    def __bool__(self) -> bool:
        return any(not future.done() for future in self._futures)

    def add(self) -> asyncio.Future[T]:
        """Return what to await."""
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._futures.append(future)
        return future

    def settle(self, outcome: T) -> None:
        """Give all of them the outcome."""
        futures, self._futures = self._futures, []
        for future in futures:
            if not future.done():
                future.set_result(outcome)


async def unless(stop: asyncio.Event, work: Coroutine[Any, Any, T]) -> T | None:
    """Do the work, or break it off and return None as soon as the event is set; done at that moment, it counts."""
    task = asyncio.ensure_future(work)
    stopped = asyncio.ensure_future(stop.wait())
    try:
        await asyncio.wait({task, stopped}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        stopped.cancel()
        if not task.done():
            task.cancel()
        await asyncio.gather(task, stopped, return_exceptions=True)
    return None if task.cancelled() else task.result()
