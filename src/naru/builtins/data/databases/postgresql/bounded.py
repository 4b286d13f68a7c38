"""Work on a connection that always comes to an end, also when the database or the network has gone silent (R-23)."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

import psycopg
from psycopg import AsyncConnection

Result = TypeVar("Result")

STOP_SECONDS = 1.0
"""Time for a cancelled query to end before its connection is cut."""


class SilentDatabaseError(Exception):
    """Nothing came back in time, and the connection has been cut."""


class OverdueError(Exception):
    """The time is over, and the database lives: a call that hears of no end may go on there."""


async def bounded(
    connection: AsyncConnection[Any],
    work: Coroutine[Any, Any, Result],
    *,
    seconds: float,
    patience: float,
    is_alive: Callable[[], Awaitable[bool]],
) -> Result:
    """Run work on a connection for at most `seconds`; after `patience` ask whether the database lives at all.

    Cancelled, it stops the query on the server first, so that the pool gets the connection back idle.

    Raises:
        SilentDatabaseError: the database does not live.
        OverdueError: the time is over.
    """
    task = asyncio.ensure_future(work)
    try:
        done, _ = await asyncio.wait({task}, timeout=min(seconds, patience))
        lives = bool(done) or await is_alive()
        if not done and lives and seconds > patience:
            done, _ = await asyncio.wait({task}, timeout=seconds - patience)
        if not done:
            lives = lives and await is_alive()
            await (_stop if lives else _cut)(connection, task)
            _forget(task)
            raise OverdueError if lives else SilentDatabaseError
        return task.result()
    except asyncio.CancelledError:
        await _stop(connection, task)
        _forget(task)
        raise


async def _stop(connection: AsyncConnection[Any], task: asyncio.Future[Any]) -> None:
    with contextlib.suppress(psycopg.Error, OSError):  # as silent as before; the next line decides
        await connection.cancel_safe(timeout=STOP_SECONDS)
    done, _ = await asyncio.wait({task}, timeout=STOP_SECONDS)
    if not done:
        await _cut(connection, task)


def _forget(task: asyncio.Future[Any]) -> None:
    """Take the task's own end as read."""
    if task.done() and not task.cancelled():
        task.exception()
    else:
        task.cancel()


async def _cut(connection: AsyncConnection[Any], task: asyncio.Future[Any]) -> None:
    """Shut the socket down under libpq: it then sees the end of the stream, whatever it was waiting for."""
    with (
        contextlib.suppress(OSError, psycopg.Error),  # already gone
        socket.socket(fileno=os.dup(connection.pgconn.socket)) as wire,
    ):
        wire.shutdown(socket.SHUT_RDWR)
    await asyncio.wait({task}, timeout=STOP_SECONDS)
