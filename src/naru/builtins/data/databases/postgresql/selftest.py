"""Proof, at each start, that this connection only reads (N16): every layer is tried, too strong a role is refused."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import AsyncConnection

from naru.builtins.data.databases.database import Limits
from naru.builtins.data.databases.errors import RefusedStatementError, UnsafeDatabaseError
from naru.builtins.data.databases.postgresql.guard import refusal_in
from naru.builtins.data.databases.postgresql.statement import read_statement
from naru.builtins.data.databases.postgresql.transaction import run_read_only

_ROLE = """
SELECT r.rolsuper AS "superuser",
  (SELECT count(*) FROM unnest(ARRAY['pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program']) f
    WHERE pg_catalog.pg_has_role(r.oid, f, 'MEMBER')) AS file_roles,
  r.rolcreaterole OR r.rolcreatedb OR r.rolreplication OR r.rolbypassrls AS special_rights,
  (SELECT count(*) FROM pg_catalog.pg_class c WHERE c.relkind IN ('r', 'p') AND c.oid >= 16384
    AND pg_catalog.has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')) AS writable_tables,
  pg_catalog.pg_backend_pid() AS backend,
  pg_catalog.current_setting('server_version_num')::int AS version,
  (SELECT setting::int FROM pg_catalog.pg_settings WHERE name = 'statement_timeout') AS statement_timeout_ms
FROM pg_catalog.pg_roles r WHERE r.rolname = current_user
"""

MUST_BE_REFUSED = (
    "DELETE FROM pg_catalog.pg_class",
    "SELECT 1; CREATE TABLE naru_self_test (a int)",
    "COMMIT; CREATE TABLE naru_self_test (a int)",
    "WITH x AS (INSERT INTO naru_self_test VALUES (1) RETURNING 1) SELECT * FROM x",
    "COPY (SELECT 1) TO PROGRAM 'true'",
    "SELECT 1 INTO naru_self_test",
    "SELECT pg_catalog.pg_read_file('PG_VERSION')",
    "SELECT * FROM pg_ls_dir('.')",
    "SELECT set_config('transaction_read_only', 'off', true)",
    "SELECT lo_create(0)",
    "SELECT (0.1).pg_sleep",
)
"""Tried through the parser and the guard."""

MUST_FAIL_IN_THE_DATABASE = (
    "CREATE TABLE naru_self_test (a int)",
    "CREATE SCHEMA naru_self_test",
    "COMMENT ON SCHEMA public IS 'naru'",
)
"""Sent past the parser and the guard, as a bug in them would. (lo_create is not among them: PostgreSQL 15 still runs it
in a READ ONLY transaction, so there it is the guard alone that stops it.)"""


@dataclass(frozen=True, slots=True)
class Proof:
    """What the self-test found."""

    server_version: int
    """As PostgreSQL numbers it: 180006."""
    refused: int
    """Statements that were tried and refused."""
    is_pooled: bool
    """A pooler such as PgBouncer stands between, so nothing may be kept on a connection."""
    statement_timeout_ms: int
    """The role's own limit; 0 is none."""
    warnings: tuple[str, ...]


async def prove_read_only(
    connection: AsyncConnection[Any], *, allow_superuser: bool = False, allowed: Collection[str] = ()
) -> Proof:
    """Try to write, to read files and to leave the transaction.

    Raises:
        UnsafeDatabaseError: the role can do more than read, or a statement got through.
    """
    facts = await (await connection.execute(_ROLE, prepare=False)).fetchone()
    if facts is None:
        raise UnsafeDatabaseError("The database does not say which role this connection has.")
    superuser, file_roles, special, writable, backend, version, timeout_ms = facts
    if (superuser or file_roles) and not allow_superuser:
        what = "is a superuser" if superuser else "may use files or programs of the database server"
        raise UnsafeDatabaseError(
            f"The role of POSTGRESQL_DB_USER {what}; a query tool must not run as such a role.",
            remedy="Create one that only reads (`naru data reader-sql` prints how), or set "
            "POSTGRESQL_DB_ALLOW_SUPERUSER=true when this database holds nothing of worth.",
        )
    for sql in MUST_FAIL_IN_THE_DATABASE:
        await _must_fail(connection, sql)
    for sql in MUST_BE_REFUSED:
        await _must_be_refused(connection, sql, allowed)
    warnings = [
        *(["The role is a superuser; only the parser and the read-only transaction protect the server."] * superuser),
        *(["The role has rights beyond reading (CREATEDB, CREATEROLE, REPLICATION or BYPASSRLS)."] * special),
        *(
            [f"The role may write to {writable} tables; only the read-only transaction keeps it from that."]
            * (writable > 0)
        ),
    ]
    return Proof(
        server_version=version,
        refused=len(MUST_FAIL_IN_THE_DATABASE) + len(MUST_BE_REFUSED),
        is_pooled=backend != connection.info.backend_pid,
        statement_timeout_ms=timeout_ms,
        warnings=tuple(warnings),
    )


async def _must_fail(connection: AsyncConnection[Any], sql: str) -> None:
    try:
        await connection.execute("BEGIN READ ONLY", prepare=False)
        await connection.execute(sql.encode(), prepare=False)
    except psycopg.Error:
        await connection.rollback()
        return
    await connection.rollback()
    raise UnsafeDatabaseError(f"Self-test: the database ran {sql!r} in a READ ONLY transaction.")


async def _must_be_refused(connection: AsyncConnection[Any], sql: str, allowed: Collection[str]) -> None:
    try:
        await run_read_only(connection, read_statement(sql), Limits(statement_seconds=2), allowed=allowed)
    except RefusedStatementError:
        return
    except psycopg.Error as error:
        await connection.rollback()
        if refusal_in(error.diag.message_primary or "") or allowed:
            return
        raise UnsafeDatabaseError(
            f"Self-test: {sql!r} was stopped by the database alone ({error.sqlstate})."
        ) from error
    if not allowed:
        raise UnsafeDatabaseError(f"Self-test: {sql!r} was not refused.")
