"""PostgreSQL: the settings' own, that of a URL, or one of our own with demo data."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace

from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict

from naru.builtins.data.databases.catalogue import Catalogue
from naru.builtins.data.databases.database import Checked, Limits, QueryResult
from naru.builtins.data.databases.gather import gathered, with_values
from naru.builtins.data.databases.open import limits_of
from naru.builtins.data.databases.postgresql.database import Database as Pooled
from naru.builtins.data.databases.postgresql.database import DatabaseOptions
from naru.builtins.data.demo.postgres import DemoPostgres
from naru.config import DataSettings
from naru.errors import ConfigError

logger = logging.getLogger(__name__)

_COLUMNS = """
SELECT CASE WHEN NOT pg_table_is_visible(c.oid) THEN n.nspname END AS schema, c.relname AS table,
  a.attname AS column, format_type(a.atttypid, a.atttypmod)
  || CASE t.typtype WHEN 'e' THEN ' enum' WHEN 'd' THEN ' ' || format_type(t.typbasetype, t.typtypmod) ELSE '' END
  AS type,
  col_description(c.oid, a.attnum::int) AS comment, obj_description(c.oid, 'pg_class') AS table_comment,
  EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'p' AND a.attnum = ANY (k.conkey))
  AS is_key
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
JOIN pg_type t ON t.oid = a.atttypid
WHERE c.relkind IN ('r', 'v', 'm', 'p', 'f') AND NOT c.relispartition
  AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%'
  AND has_schema_privilege(n.oid, 'USAGE') AND has_column_privilege(c.oid, a.attnum, 'SELECT')
ORDER BY n.nspname, 2, a.attnum
"""
_KEYS = """
SELECT CASE WHEN NOT pg_table_is_visible(c.oid) THEN n.nspname END AS schema, c.relname AS table,
  CASE WHEN NOT pg_table_is_visible(f.oid) THEN m.nspname END AS other_schema, f.relname AS other,
  (SELECT json_agg(a.attname ORDER BY u.place) FROM unnest(k.conkey) WITH ORDINALITY u(number, place)
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = u.number) AS columns,
  (SELECT json_agg(a.attname ORDER BY u.place) FROM unnest(k.confkey) WITH ORDINALITY u(number, place)
    JOIN pg_attribute a ON a.attrelid = f.oid AND a.attnum = u.number) AS other_columns
FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_class f ON f.oid = k.confrelid JOIN pg_namespace m ON m.oid = f.relnamespace
WHERE k.contype = 'f' AND k.conparentid = 0 ORDER BY n.nspname, 2, k.conname
"""
"""Not those that stand for each part of a table that is parted."""
_CUT = "only the first {count} columns are read; let the role read fewer tables"
_CATALOGUE_LIMITS = Limits(rows=100_000, bytes=64 * 2**20, statement_seconds=60)


class PostgresDatabase:
    """Read-only access by grammar, catalog, transaction, role and self-test (docs/decisions/0060-safe-sql.md)."""

    dialect = "PostgreSQL"

    def __init__(self, settings: DataSettings) -> None:
        self._settings = settings
        self._demo = None if settings.is_database_configured else DemoPostgres()
        self._options = DatabaseOptions(
            limits=limits_of(settings),
            allowed_functions=frozenset(
                name.strip() for name in settings.postgresql_db_allow_functions.split(",") if name.strip()
            ),
            allow_superuser=settings.postgresql_db_allow_superuser,
        )
        self._pooled = Pooled(self._parameters, self._options)
        self._cut: list[str] = []

    async def query(self, sql: str) -> QueryResult:
        """Run one SELECT; see `Database.query`."""
        return await self._pooled.query(sql)

    async def catalogue(self, *, values: bool = True) -> Catalogue:
        """Read tables, columns, comments and keys that this role may read."""
        wide = Pooled(self._parameters, replace(self._options, limits=_CATALOGUE_LIMITS, pool_min=1, pool_max=1))
        try:
            columns, keys = await wide.query(_COLUMNS), await wide.query(_KEYS)
            self._cut = [_CUT.format(count=len(columns.records))] if columns.is_truncated else []
            found = gathered(columns.records, keys.records, usual_schema="")
            return await with_values(found, self.query, '"') if values else found
        finally:
            await wide.close()

    async def check(self) -> Checked:
        """Open it, and say what the self-test found."""
        await self.query("SELECT 1")
        proof = self._pooled.proof
        assert proof is not None, "a query has run, so the self-test has"
        return Checked(f"PostgreSQL {proof.server_version // 10_000}", proof.refused, [*proof.warnings, *self._cut])

    async def close(self) -> None:
        """Close the pool, then a server of our own."""
        await self._pooled.close()
        if self._demo:
            await self._demo.close()

    async def _parameters(self) -> Mapping[str, str]:
        if self._demo:
            logger.info("no POSTGRESQL_DB_HOST: starting a PostgreSQL of our own with demo data")
            return await self._demo.parameters()
        settings = self._settings
        if settings.naru_database_url:
            return _parameters_of(settings.naru_database_url)
        wanted = {
            "host": settings.postgresql_db_host or "localhost",
            "port": str(settings.postgresql_db_port),
            "user": settings.postgresql_db_user,
            "password": settings.postgresql_db_pass.get_secret_value(),
            "dbname": settings.postgresql_db_name,
        }
        return {key: value for key, value in wanted.items() if value}


def _parameters_of(url: str) -> Mapping[str, str]:
    """Read a URL as libpq does. Raises ConfigError."""
    scheme, _, rest = url.partition("://")
    try:
        found = conninfo_to_dict(f"{scheme.partition('+')[0]}://{rest}")
    except ProgrammingError as error:
        raise ConfigError(
            "The database's URL is none that PostgreSQL takes.",
            remedy="Write postgresql://user:password@host:5432/name, with %-codes for special characters.",
        ) from error
    return {key: str(value) for key, value in found.items()}
