"""One statement in one READ ONLY transaction, sent as one pipeline: a single round trip however many layers it passes.

The pipeline is BEGIN READ ONLY, the guard, the statement to describe its columns, the statement wrapped for its rows,
ROLLBACK.
The server skips all that follows the first failure. The extended protocol takes one statement per message, and inside
a sub-select the grammar itself knows neither INTO nor data-changing CTEs.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from psycopg import AsyncConnection

from naru.builtins.data.databases.database import Limits
from naru.builtins.data.databases.postgresql.columns import ResultColumn, columns_of
from naru.builtins.data.databases.postgresql.guard import guard_call, guard_parameters
from naru.builtins.data.databases.postgresql.pipeline import Describe, Run, run_pipeline
from naru.builtins.data.databases.postgresql.statement import Statement


@dataclass(frozen=True, slots=True)
class RawRows:
    """Rows as PostgreSQL writes them in JSON; None from where the byte limit cut."""

    columns: Sequence[ResultColumn]
    texts: Sequence[bytes | None]
    first_size: int
    """Bytes of the first row, for the message when even that one is too long."""


BEFORE = "SELECT * FROM (\n"
"""What stands before the statement when its columns are asked for; error positions count from there."""


async def run_read_only(
    connection: AsyncConnection[Any],
    statement: Statement,
    limits: Limits,
    *,
    allowed: Collection[str] = (),
    is_prepared: bool = False,
) -> RawRows:
    """Run a statement and roll back.

    `is_prepared` says that `PREPARE_GUARD` has run on this connection.

    Raises:
        psycopg.Error: the server refused or failed; the guard's refusals are read by `guard.refusal_in`.
    """
    parameters = guard_parameters(statement, allowed, statement_timeout_ms=int(limits.statement_seconds * 1000))
    steps = (
        Run(b"BEGIN READ ONLY"),
        Run(guard_call(parameters, is_prepared=is_prepared)),
        Describe(_described(statement).encode()),
        # EXPLAIN has been parsed as one of a SELECT, and without ANALYZE it does not run it.
        Run(statement.text.encode() if statement.explains else _wrapped(statement, limits)),
        Run(b"ROLLBACK"),
    )
    _, _, _, described, rows, _ = await run_pipeline(connection, steps)
    texts = [rows.get_value(place, 0) for place in range(rows.ntuples)]
    if statement.explains:
        plan = [json.dumps({PLAN.name: (text or b"").decode()}).encode() for text in texts]
        return RawRows([PLAN], plan, 0)
    return RawRows(columns_of(described), texts, int(rows.get_value(0, 1) or 0) if texts else 0)


PLAN = ResultColumn("QUERY PLAN", 25)
"""The one column of a plan; 25 is text."""


def _described(statement: Statement) -> str:
    if statement.explains:
        return " " * len(BEFORE) + statement.text
    return f"{BEFORE}{statement.text}\n) naru_described"


def _wrapped(statement: Statement, limits: Limits) -> bytes:
    """Let the server write each row as JSON once, and cut by rows and bytes before anything is sent.

    `naru_row.*` and not `naru_row`: a column of that name would stand in front of the row. OFFSET 0 keeps the planner
    from writing the JSON again for each use.
    """
    # The statement has been parsed as one SELECT; see the head of this file (hence the S608 mark).
    return f"""SELECT CASE WHEN sum(n) OVER (ROWS UNBOUNDED PRECEDING) <= {limits.bytes} THEN j END, n
FROM (SELECT CASE WHEN octet_length(j) <= {limits.bytes} THEN j END, octet_length(j)
FROM (SELECT row_to_json(naru_row.*)::text FROM (SELECT * FROM (
{statement.text}
) naru_text LIMIT {limits.rows + 1}) naru_row OFFSET 0) naru_json(j) OFFSET 0) naru_sized(j, n)""".encode()  # noqa: S608
