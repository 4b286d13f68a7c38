"""The SQL that makes a role which only reads: for the demo database, and printed for people's own."""

from __future__ import annotations

from collections.abc import Sequence

READER = "naru_reader"

READER_SQL = """\
-- A role for Naru that only reads. Put a password of your own, and grant what it may see.
CREATE ROLE {role} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOINHERIT CONNECTION LIMIT 30{password};
ALTER ROLE {role} SET default_transaction_read_only = on;
ALTER ROLE {role} SET statement_timeout = '10s';
ALTER ROLE {role} SET lock_timeout = '1s';
ALTER ROLE {role} SET idle_in_transaction_session_timeout = '10s';
ALTER ROLE {role} SET temp_file_limit = '512MB';
REVOKE TEMPORARY ON DATABASE {database} FROM PUBLIC;
"""
SCHEMA_SQL = """\
REVOKE CREATE ON SCHEMA {schema} FROM PUBLIC;
GRANT USAGE ON SCHEMA {schema} TO {role};
GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {role};
-- Tables that this user makes later; run it also as each other user who makes tables here.
ALTER DEFAULT PRIVILEGES IN SCHEMA {schema} GRANT SELECT ON TABLES TO {role};
"""
MYSQL_SQL = """\
-- A user for Naru that only reads, later tables too. Put a password of your own.
CREATE USER {role} IDENTIFIED BY 'change-me' WITH MAX_USER_CONNECTIONS 30;
GRANT SELECT ON {database}.* TO {role};
"""


def reader_sql(
    database: str, *, role: str = READER, password: str | None = None, schemas: Sequence[str] = ("public",)
) -> str:
    """Return the statements for PostgreSQL; names and password are quoted."""
    whole = READER_SQL.format(
        role=_identifier(role),
        database=_identifier(database),
        password="" if password is None else f" PASSWORD '{password.replace(chr(39), chr(39) * 2)}'",
    )
    return whole + "".join(
        SCHEMA_SQL.format(schema=one if one == "public" else _identifier(one), role=_identifier(role))
        for one in schemas
    )


def mysql_reader_sql(database: str, *, role: str = READER) -> str:
    """Return the statements for MySQL and MariaDB; names are quoted."""
    return MYSQL_SQL.format(role=_identifier(role, "`"), database=_identifier(database, "`"))


def _identifier(name: str, mark: str = '"') -> str:
    return mark + name.replace(mark, mark * 2) + mark
