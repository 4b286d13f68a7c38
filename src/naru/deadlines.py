"""Deadlines on what others do. Time in which this process had no turn is not held against them.

The machine slept, or others had it: what is seen a second or more too late is had once more, a minute at most.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager

_AWAY_SECONDS = 1.0
"""By how much a deadline is seen too late where nothing ran here."""
_MOST_SECONDS = 60.0
_UPTIME = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def uptime() -> float:
    """Return the seconds since the machine was started, those in which it slept too, as others count them.

    Linux stops the loop's clock while the machine sleeps. By this one ends what others keep for us: a token, the other
    end of a connection.
    """
    return time.clock_gettime(_UPTIME)


def owed(late_seconds: float) -> float:
    """Return how long the other side still has, once, where a deadline is seen so late; 0 where it is over."""
    return min(late_seconds, _MOST_SECONDS) if late_seconds >= _AWAY_SECONDS else 0.0


class Deadline:
    """Cancels the task that made it when the time is up, unless lifted before.

    As `asyncio.timeout`, which took a twentieth of a forwarded call, without its states.
    """

    __slots__ = (
        "_cancellations", "_handle", "_is_extended", "_is_lifted", "_is_taken_back", "_left", "_loop", "_pauses",
        "_task", "has_passed",
    )  # fmt: skip

    def __init__(self, loop: asyncio.AbstractEventLoop, when: float) -> None:
        """Set it, to a time of the loop."""
        task = asyncio.current_task(loop)
        assert task is not None
        self._loop = loop
        self._task = task
        self._cancellations = task.cancelling()
        self._handle = loop.call_at(max(when, loop.time()), self._pass)
        self.has_passed = self._is_taken_back = self._is_extended = self._is_lifted = False
        self._pauses, self._left = 0, 0.0

    @property
    def when(self) -> float:
        """When it is, or was as it was lifted."""
        return self._handle.when()

    def move(self, when: float) -> None:
        """Set it anew, if it neither has passed nor was lifted; what is had once more is not taken back."""
        if not (self.has_passed or self._is_lifted):
            if self._is_extended:
                when = max(when, self._handle.when())
            self._handle.cancel()
            self._handle = self._loop.call_at(when, self._pass)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Let it stand still for as long as the block runs; blocks may overlap. It is not moved meanwhile."""
        self._pauses += 1
        if self._pauses == 1:
            self._left = self._handle.when() - self._loop.time()
            self._handle.cancel()
        try:
            yield
        finally:
            self._pauses -= 1
            if not (self._pauses or self.has_passed or self._is_lifted):
                self._handle = self._loop.call_at(self._loop.time() + self._left, self._pass)

    def lift(self) -> None:
        """Take it away, and its cancellation too where the work ended otherwise: outer deadlines count them."""
        self._is_lifted = True
        self._handle.cancel()
        if self.has_passed and not self._is_taken_back:
            self._take_back()

    def explains(self) -> bool:
        """Tell, once and for a `CancelledError`, whether the deadline alone is its reason; it must not go on then."""
        return self.has_passed and self._take_back() <= self._cancellations

    def _take_back(self) -> int:
        self._is_taken_back = True
        return self._task.uncancel()

    def _pass(self) -> None:
        now = self._loop.time()
        if not self._is_extended and (more := owed(now - self._handle.when())):
            self._is_extended = True
            self._handle = self._loop.call_at(now + more, self._pass)
            return
        self.has_passed = True
        self._task.cancel()


@contextmanager
def bound(seconds: float) -> Iterator[Deadline]:
    """Bound what this task does in the block. Raises TimeoutError."""
    loop = asyncio.get_running_loop()
    deadline = Deadline(loop, loop.time() + seconds)
    try:
        yield deadline
    except asyncio.CancelledError as error:
        if deadline.explains():
            raise TimeoutError from error
        raise
    finally:
        deadline.lift()
