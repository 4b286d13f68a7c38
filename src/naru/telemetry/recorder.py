"""Writes what a hub's figures gained into their history, every few seconds and at the end."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from naru.errors import StoreError
from naru.stores.kept.history import History, Point
from naru.tasks import Tasks
from naru.telemetry.figures import Figures, Series

logger = logging.getLogger(__name__)
EVERY_SECONDS = 10.0


class Recorder:
    """The difference between two looks at the figures is what is kept."""

    def __init__(self, figures: Figures, history: History) -> None:
        self._figures = figures
        self.history = history
        self._seen: dict[tuple[str, tuple[str, ...]], Series] = {}
        self._failed = False
        self._turn = asyncio.Lock()
        self._writing = Tasks()

    async def write(self) -> None:
        """Write what was gained since the last time; what cannot be written now is written with the next.

        Whoever waits may give up meanwhile: what has begun is written, and is known to be.
        """
        await asyncio.shield(self._writing.begin(self._write()))

    async def _write(self) -> None:
        async with self._turn:
            await self._write_gained()

    async def _write_gained(self) -> None:
        now = int(time.time())
        seen = {(one.name, one.labels): one for one in self._figures.series()}
        gained = [point for key, one in seen.items() if (point := _gained(now, one, self._seen.get(key))) is not None]
        if not gained:
            return
        try:
            await self.history.add(gained)
        except StoreError as error:
            if not self._failed:
                logger.warning("%s", error)
            self._failed = True
            return
        self._seen, self._failed = seen, False


def _gained(now: int, one: Series, before: Series | None) -> Point | None:
    if before is None:
        return Point(now, one.name, one.labels, one.count, one.total, one.buckets) if one.count else None
    count = one.count - before.count
    if not count:
        return None
    buckets = tuple(this - that for this, that in zip(one.buckets, before.buckets, strict=True))
    return Point(now, one.name, one.labels, count, one.total - before.total, buckets)


@asynccontextmanager
async def recording(recorder: Recorder) -> AsyncIterator[None]:
    """Write every few seconds inside of it, and once more at the end."""

    async def go_on() -> None:
        while True:
            await asyncio.sleep(EVERY_SECONDS)
            await recorder.write()

    task = asyncio.create_task(go_on(), name="figures")
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        await recorder.write()
