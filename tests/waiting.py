"""Waiting for what must come about: by looking, never by sleeping for so long as it usually takes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import pytest

HANG_SECONDS = 60.0
"""What only a hang exceeds, on a machine that gives this process no turn for seconds."""


async def until(condition: Callable[[], object], seconds: float = HANG_SECONDS) -> float:
    """Wait until something holds; return how long it took."""
    start = time.monotonic()
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.01)
    return time.monotonic() - start


async def sleep_as_the_machine(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Move the loop's clock on, as where nothing ran here for so long, and give what is due its turn."""
    loop = asyncio.get_running_loop()
    clock = loop.time
    monkeypatch.setattr(loop, "time", lambda: clock() + seconds)
    await asyncio.sleep(0.01)


def later(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Move the time of day on, for what expires by it: no test waits for that, nor loses a race with it."""
    clock = time.time
    monkeypatch.setattr(time, "time", lambda: clock() + seconds)


def sleep_through(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Let a machine have slept: `naru.deadlines.uptime` went on, the loop's clock did not."""
    clock = time.clock_gettime
    monkeypatch.setattr(time, "clock_gettime", lambda which: clock(which) + seconds)
