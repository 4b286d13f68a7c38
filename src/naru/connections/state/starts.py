"""Starting many programs on one machine: so many at a time, and patience with those that are being installed.

Thirty `npx` and `uvx` servers with cold caches at once would each get a thirtieth of the machine and none be ready in
time. So a start waits for its turn before its own time begins, and its time begins anew while its stderr moves.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import PurePath
from typing import Final, Protocol

from naru.deadlines import Deadline, bound
from naru.records import ServerRecord

LAUNCHERS: Final = frozenset({"npx", "bunx", "pnpm", "yarn", "deno", "uvx", "uv", "pipx", "docker", "podman"})
"""Commands that may install what they start."""
INSTALL_SECONDS: Final = 120.0
"""What a start of theirs may take, unless its record says otherwise."""
_HELD_SECONDS: Final = 3.0
_HELD_INSTALLING_SECONDS: Final = 20.0
"""How long a start counts against the budget: a hanging one must not hold up others for longer."""
_MOST: Final = 5
"""So many times its patience a start may take at most, however much its log moves."""
_LOOK_SECONDS: Final = 1.0


class Log(Protocol):
    """What a program has written to stderr so far."""

    total_bytes: int


def may_install(record: ServerRecord) -> bool:
    """Tell whether a server's command may install it first."""
    return PurePath(str(record.config.get("command", ""))).name.removesuffix(".cmd").lower() in LAUNCHERS


class Starts:
    """How many programs start at a time."""

    def __init__(self, most: int) -> None:
        self._slots = asyncio.Semaphore(most)

    @contextlib.asynccontextmanager
    async def turn(self, record: ServerRecord) -> AsyncIterator[None]:
        """Wait for a turn, and keep it while the block runs, or as long as it may count."""
        await self._slots.acquire()
        held = _HELD_INSTALLING_SECONDS if may_install(record) else _HELD_SECONDS
        is_over = False

        def end() -> None:
            nonlocal is_over
            if not is_over:
                is_over = True
                self._slots.release()

        timer = asyncio.get_running_loop().call_later(held, end)
        try:
            yield
        finally:
            timer.cancel()
            end()


@contextlib.asynccontextmanager
async def patience(seconds: float, logs: Log) -> AsyncIterator[None]:
    """Bound the block by so many seconds without a sign of life on stderr. Raises TimeoutError."""
    loop = asyncio.get_running_loop()
    last = loop.time() + _MOST * seconds

    async def look(limit: Deadline) -> None:
        seen = logs.total_bytes
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            if logs.total_bytes != seen:
                seen = logs.total_bytes
                limit.move(min(last, loop.time() + seconds))

    with bound(seconds) as limit:
        looking = loop.create_task(look(limit))
        try:
            yield
        finally:
            looking.cancel()
