"""From a URL to a store: `memory:`, `file:mcp.json`, `sqlite:PATH`, `postgresql://…` (H7)."""

from __future__ import annotations

import importlib
from pathlib import Path
from urllib.parse import unquote, urlsplit

from naru.config import HubSettings
from naru.errors import ConfigError
from naru.extras import install_command
from naru.stores.base import Store
from naru.stores.json_file import JsonFileStore
from naru.stores.memory import MemoryStore
from naru.stores.sql import Driver, SqlStore
from naru.stores.sqlite import SqliteDriver


def open_store(url: str) -> Store:
    """Return the store that a URL names; its `open()` has yet to be awaited.

    A path ending in `.json` or `.db` may be given without its scheme.

    Raises:
        ConfigError: the URL names no store, or the packages it needs are not installed.
    """
    scheme, colon, rest = url.partition(":")
    if url in ("", "memory", "memory:", "memory://"):
        return MemoryStore()
    if scheme in ("postgresql", "postgres") and colon:
        return SqlStore(_postgres_driver(url))
    if not colon and Path(url).suffix == ".json":
        return JsonFileStore(Path(url))
    if not colon and Path(url).suffix in (".db", ".sqlite", ".sqlite3"):
        return SqlStore(SqliteDriver(Path(url)))
    if scheme == "file" and rest:
        return JsonFileStore(_path(rest))
    if scheme == "sqlite" and rest:
        return SqlStore(SqliteDriver(None if rest.endswith(":memory:") else _path(rest)))
    raise ConfigError(
        f"hub.store {scheme + ':' if colon else url!r} names no store.",
        remedy="Use memory:, file:mcp.json, sqlite:PATH or postgresql://user@host/database.",
    )


def store_url(settings: HubSettings) -> str:
    """Return the configured store's URL; SQLite in the data folder when none is set."""
    return settings.store or f"sqlite:{settings.data_dir.expanduser() / 'naru.db'}"


def local_path(url: str) -> Path | None:
    """Return the file of a store that is one, else None. Raises ConfigError."""
    store = open_store(url)
    if isinstance(store, JsonFileStore):
        return store.path
    return store.driver.path if isinstance(store, SqlStore) and isinstance(store.driver, SqliteDriver) else None


def _path(rest: str) -> Path:
    """Read `mcp.json`, `/abs/mcp.json`, `//rel`, `///abs` alike, as RFC 8089 and SQLAlchemy write them."""
    if rest.startswith("//"):
        parts = urlsplit(f"x:{rest}")
        rest = unquote(parts.netloc + parts.path) if parts.netloc else unquote(parts.path)
    return Path(rest)


def _postgres_driver(url: str) -> Driver:
    try:
        driver: Driver = importlib.import_module("naru.stores.postgres").PostgresDriver(url)
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"The store is PostgreSQL, but {error.name} is not installed.",
            remedy=f"Install it: {install_command('postgres')}",
        ) from error
    return driver
