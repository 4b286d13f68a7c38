"""From settings to what several hubs share; a hub that has no others pays nothing."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from naru.config import HubSettings
from naru.errors import ConfigError, StoreUnavailableError
from naru.stores.files.atomic import share
from naru.stores.open import open_store
from naru.stores.secrets.common_rows import CommonRows
from naru.stores.shared.commons import ALONE, Commons
from naru.stores.sql import SqlStore
from naru.stores.tables import SharedTables


@asynccontextmanager
async def open_commons(settings: HubSettings, port: int) -> AsyncIterator[Commons]:
    """Join the other hubs of this installation while the block runs; others reach `auto` at this port.

    Raises:
        ConfigError: the store is none that several hubs can share.
    """
    if not settings.replica_address:
        yield ALONE
        return
    commons = _postgres(settings, port)
    store = open_store(settings.store)
    with contextlib.suppress(StoreUnavailableError):  # tried again once it is there
        await store.open()  # makes the tables
    await store.close()
    await commons.open()
    try:
        yield commons
    finally:
        await commons.close()


def share_folder(settings: HubSettings) -> None:
    """Have what a command changes in the data folder changed for all hubs. Raises ConfigError."""
    if settings.replica_address:
        share(settings.data_dir, _postgres(settings, 0))


def shared_tables(settings: HubSettings) -> SharedTables | None:
    """Return where runs and responses are kept for all hubs; None where a file does. Raises ConfigError."""
    if not settings.replica_address:
        return None
    store = open_store(settings.store)
    assert isinstance(store, SqlStore)
    return SharedTables(store.driver)


def common_rows(settings: HubSettings, me: str = "") -> CommonRows | None:
    """Return where all hubs keep what persons gave for servers; None where a file does. Raises ConfigError."""
    if not settings.replica_address:
        return None
    _check(settings)
    made: CommonRows = importlib.import_module("naru.stores.shared.sealed").SealedTable(settings.store, me)
    return made


def _postgres(settings: HubSettings, port: int) -> Any:
    _check(settings)
    made = importlib.import_module("naru.stores.shared.postgres").PostgresCommons
    return made(settings.store, settings.data_dir, settings.replica_address, port)


def _check(settings: HubSettings) -> None:
    if not settings.store.startswith(("postgresql:", "postgres:")):
        raise ConfigError(
            "hub.replica_address says that there are other hubs, and hub.store is none that they can share.",
            remedy="Set hub.store to a postgresql:// URL, or leave hub.replica_address empty.",
        )
    open_store(settings.store)  # says what is not installed
