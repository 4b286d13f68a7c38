"""So many requests at a time, so many in line, for so long: one stuck server cannot take all of Naru (R-35)."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType

from naru.connections.state.faults import BusyError, Failure
from naru.deadlines import bound


class Bulkhead:
    """A bounded, fair gate, used as `async with`; free slots cost no task and no future."""

    def __init__(self, concurrent: int, queued: int, queue_timeout_seconds: float) -> None:
        self.concurrent = concurrent
        self.queued = queued
        self.queue_timeout_seconds = queue_timeout_seconds
        self.active = 0
        self._line: deque[asyncio.Future[None]] = deque()

    @property
    def waiting(self) -> int:
        """Requests in line."""
        return len(self._line)

    async def __aenter__(self) -> None:
        """Take a slot. Raises BusyError when the line is full or too slow."""
        if self.active < self.concurrent and not self._line:
            self.active += 1
            return
        if len(self._line) >= self.queued:
            raise self._busy(f"{self.active} requests are running and {len(self._line)} are waiting")
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._line.append(turn)
        try:
            with bound(self.queue_timeout_seconds):
                await turn
        except TimeoutError:
            self._leave(turn)
            raise self._busy(f"no slot became free within {self.queue_timeout_seconds:g} s") from None
        except asyncio.CancelledError:
            self._leave(turn)
            raise

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give the slot to the next in line."""
        self._pass_on()

    @contextmanager
    def lent(self) -> Iterator[None]:
        """Give a slot back while its request waits for a person; it goes on afterwards without waiting in line."""
        self._pass_on()
        try:
            yield
        finally:
            self.active += 1

    def _leave(self, turn: asyncio.Future[None]) -> None:
        if turn.done() and not turn.cancelled():
            self._pass_on()  # the slot was given in the same instant
        elif turn in self._line:
            self._line.remove(turn)

    def _pass_on(self) -> None:
        while self._line:
            turn = self._line.popleft()
            if not turn.done():
                turn.set_result(None)  # the slot changes hands: `active` stays
                return
        self.active -= 1

    def _busy(self, why: str) -> BusyError:
        failure = Failure("call", "busy", f"the server is busy: {why}.", "Try again later.", retry_after_seconds=1.0)
        return BusyError(failure)
