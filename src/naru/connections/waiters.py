"""Tasks that wait for the same thing."""

from __future__ import annotations

import asyncio
from typing import Generic, TypeVar

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
