"""The store of servers, opened for a command: what it changes is in the audit log (S-61)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from naru.config import Settings
from naru.stores.base import Store
from naru.stores.open import open_store, store_url
from naru.telemetry.audit import audit_once
from naru.telemetry.audited_store import AuditedStore


@asynccontextmanager
async def open_stored(settings: Settings, store: str = "") -> AsyncIterator[Store]:
    """Open a store by its URL, or the hub's own. Raises ConfigError, StoreError."""
    made = AuditedStore(open_store(store or store_url(settings.hub)), partial(audit_once, settings))
    await made.open()
    try:
        yield made
    finally:
        await made.close()
