"""Connects that nobody waits for, and waiting for them after all, for a while."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Container

from naru.connections.link.connection import Connection
from naru.connections.rules.guard import Guard
from naru.errors import PolicyError
from naru.persons import nobodys_context

logger = logging.getLogger(__name__)


class Background:
    """The connects that are under way."""

    def __init__(self) -> None:
        self._tasks: dict[asyncio.Task[bool], tuple[str, float]] = {}
        """Task → whose, and the loop time at which it began."""

    def begin(self, connection: Connection, guard: Guard, *, recalls: bool = False) -> None:
        """Connect a server that the rules admit; one that `recalls` offers what is remembered of it, if anything is."""
        try:
            guard.admit(connection.record)
        except PolicyError as error:
            logger.warning("server %s is not connected: %s", connection.name, error)
            return
        if recalls and connection.recall():
            return
        loop = asyncio.get_running_loop()
        task = loop.create_task(connection.connect(), context=nobodys_context())
        self._tasks[task] = (connection.name, loop.time())
        task.add_done_callback(self._tasks.pop)

    async def started(self, timeout_seconds: float) -> bool:
        """Wait until all have come to a result; False when the time is up first."""
        tasks = set(self._tasks)
        if tasks:
            await asyncio.wait(tasks, timeout=timeout_seconds)
        return all(task.done() for task in tasks)

    async def arrived(self, servers: Container[str], patience_seconds: float) -> None:
        """Wait for those of the servers that are being connected, for each so long from its begin."""
        since = asyncio.get_running_loop().time() - patience_seconds
        left = {task: began - since for task, (name, began) in self._tasks.items() if name in servers and began > since}
        if left:
            await asyncio.wait(left, timeout=max(left.values()))

    async def close(self) -> None:
        """Give up all."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
