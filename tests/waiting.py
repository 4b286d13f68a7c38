"""Waiting for what must come about: by looking, never by sleeping for so long as it usually takes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

HANG_SECONDS = 60.0
"""What only a hang exceeds, on a machine that gives this process no turn for seconds."""


async def until(condition: Callable[[], object], seconds: float = HANG_SECONDS) -> float:
    """Wait until something holds; return how long it took."""
    start = time.monotonic()
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.01)
    return time.monotonic() - start
