"""The SQL that makes a role which only reads: for the demo database, and printed for people's own."""

from __future__ import annotations

READER = "naru_reader"

READER_SQL = """\
-- A role for Naru that only reads. Put a password of your own, and grant what it may see.
CREATE ROLE {role} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOINHERIT CONNECTION LIMIT 30{password};
ALTER ROLE {role} SET default_transaction_read_only = on;
ALTER ROLE {role} SET statement_timeout = '10s';
ALTER ROLE {role} SET lock_timeout = '1s';
ALTER ROLE {role} SET idle_in_transaction_session_timeout = '10s';
ALTER ROLE {role} SET temp_file_limit = '512MB';
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
REVOKE TEMPORARY ON DATABASE {database} FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO {role};
GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role};
"""


def reader_sql(database: str, *, role: str = READER, password: str | None = None) -> str:
    """Return the statements; names and password are quoted."""
    return READER_SQL.format(
        role=_identifier(role),
        database=_identifier(database),
        password="" if password is None else f" PASSWORD '{password.replace(chr(39), chr(39) * 2)}'",
    )


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
