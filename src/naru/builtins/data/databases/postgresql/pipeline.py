"""Several statements in one message and one answer: libpq's pipeline without a cursor per statement.

psycopg's own pipeline waits for the socket at each statement and forgets prepared statements after each ROLLBACK; one
exchange costs a third of it (docs/decisions/0060-safe-sql.md). Only psycopg's documented `pq` objects are handled here.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import psycopg
from psycopg import AsyncConnection
from psycopg.errors import error_from_result
from psycopg.generators import fetch_many, pipeline_communicate
from psycopg.pq import ExecStatus
from psycopg.pq.abc import PGresult


@dataclass(frozen=True, slots=True)
class Run:
    """Run a statement."""

    text: bytes


@dataclass(frozen=True, slots=True)
class Describe:
    """Have a statement parsed and its columns described, but neither planned nor run; two results."""

    text: bytes


async def run_pipeline(connection: AsyncConnection[Any], steps: Sequence[Run | Describe]) -> list[PGresult]:
    """Take steps in order; after the first failure the server skips the rest.

    Raises:
        psycopg.Error: the first failure; the transaction, if one was begun, has been rolled back.
    """
    pgconn = connection.pgconn
    commands: deque[Callable[[], None]] = deque()
    for step in steps:
        if isinstance(step, Run):
            commands.append(partial(pgconn.send_query_params, step.text, None))
        else:
            commands.append(partial(pgconn.send_prepare, b"", step.text))
            commands.append(partial(pgconn.send_describe_prepared, b""))
    expected = len(commands)
    commands.append(pgconn.pipeline_sync)
    results: list[PGresult] = []
    async with connection.lock:
        pgconn.enter_pipeline_mode()
        try:
            for found in await connection.wait(pipeline_communicate(pgconn, commands)):
                results.extend(found)
            while len(results) <= expected:
                results.extend(await connection.wait(fetch_many(pgconn)))
        finally:
            with contextlib.suppress(
                psycopg.OperationalError
            ):  # answers are outstanding: the pool drops the connection
                pgconn.exit_pipeline_mode()
    for result in results:
        if result.status == ExecStatus.FATAL_ERROR:
            error = error_from_result(result)
            await connection.rollback()
            raise error
    return results[:-1]
