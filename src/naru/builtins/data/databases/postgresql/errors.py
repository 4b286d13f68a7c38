"""What can go wrong between the tool and the database, told without DSN, host or user (S-46)."""

from __future__ import annotations

import re
from collections.abc import Mapping

import psycopg

from naru.builtins.data.databases.errors import DatabaseUnavailableError, QueryError
from naru.builtins.data.databases.postgresql.guard import refusal_in
from naru.builtins.data.databases.postgresql.transaction import BEFORE
from naru.errors import NaruError

_LOOPBACK = ("", "localhost", "127.0.0.1", "::1")


def query_error(error: psycopg.Error, *, statement_seconds: float) -> NaruError:
    """Turn the server's error into one with SQLSTATE, text and hint; the guard's refusal into a refusal."""
    message = error.diag.message_primary or type(error).__name__
    if refused := refusal_in(message):
        return refused
    if error.sqlstate == "57014":
        return QueryError(
            f"The query was stopped after {statement_seconds:g} seconds (57014).",
            remedy="Filter earlier, aggregate, or ask for less.",
        )
    place = _place(error)
    hint = f"Hint: {error.diag.message_hint}" if error.diag.message_hint else ""
    return QueryError(f"{message} ({error.sqlstate or 'no SQLSTATE'}){place}", remedy=hint)


def _place(error: psycopg.Error) -> str:
    position = error.diag.statement_position
    if position is None or int(position) <= len(BEFORE):
        return ""
    return f", at character {int(position) - len(BEFORE)}"


def unreachable(error: BaseException, parameters: Mapping[str, str]) -> DatabaseUnavailableError:
    """Say why no connection came about; a host that is not this machine is named by its setting."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    # The last reason of several; libpq asks below some whether the server runs.
    told = [line for line in lines if "failed: " in line] or lines or [type(error).__name__]
    reason = told[-1].rpartition("failed: ")[2]
    for key in ("password", "user", "host", "dbname"):
        value = parameters.get(key, "")
        if value and not (key == "host" and value in _LOOPBACK):
            reason = re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", "…", reason)
    return DatabaseUnavailableError(
        f"No connection to PostgreSQL at {_address(parameters)}: {reason.removesuffix('.')}.",
        remedy="Check that it runs and that NARU_DATABASE_URL or the POSTGRESQL_DB_… settings are right; the next call "
        "tries again.",
    )


def _address(parameters: Mapping[str, str]) -> str:
    host = parameters.get("host", "")
    if host in _LOOPBACK:
        return f"{host or 'localhost'}:{parameters.get('port', '5432')}"
    return "the host of POSTGRESQL_DB_HOST"
