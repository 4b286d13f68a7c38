"""A clock that goes only when told."""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections.abc import Callable


class FakeTimer:
    def __init__(self, callback: Callable[[], None]) -> None:
        self.callback: Callable[[], None] | None = callback

    def cancel(self) -> None:
        self.callback = None


class FakeClock:
    def __init__(self) -> None:
        self.time = 1000.0
        self._timers: list[tuple[float, int, FakeTimer]] = []
        self._ids = itertools.count()

    def now(self) -> float:
        return self.time

    def call_at(self, when: float, callback: Callable[[], None]) -> FakeTimer:
        timer = FakeTimer(callback)
        heapq.heappush(self._timers, (when, next(self._ids), timer))
        return timer

    async def advance(self, seconds: float) -> None:
        """Go on, ringing what falls due in order, with time for those who are woken."""
        await settle()
        end = self.time + seconds
        while self._timers and self._timers[0][0] <= end:
            when, _, timer = heapq.heappop(self._timers)
            if timer.callback is not None:
                self.time = max(self.time, when)
                timer.callback()
                await settle()
        self.time = end
        await settle()


async def settle() -> None:
    """Let every task run until it waits."""
    for _ in range(30):
        await asyncio.sleep(0)
