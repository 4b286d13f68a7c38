"""The store of servers, opened for a command: what it changes is in the audit log (S-61); names for TAB."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from difflib import get_close_matches
from functools import partial
from typing import Annotated

import typer

from naru.config import Settings, load_settings
from naru.errors import NaruError, NotFoundError
from naru.records import ServerRecord
from naru.stores.base import Store
from naru.stores.open import local_path, open_store, store_url
from naru.telemetry.audit import audit_once
from naru.telemetry.audited_store import AuditedStore


@asynccontextmanager
async def open_stored(settings: Settings, store: str = "", *, makes: bool = False) -> AsyncIterator[Store]:
    """Open a store by its URL, or the hub's own; a file that is named has to be there unless this command makes it.

    Raises:
        NotFoundError, ConfigError, StoreError.
    """
    path = local_path(store) if store and not makes else None
    if path is not None and not path.exists():
        raise NotFoundError(
            f"There is no store {path}.", remedy="Name one that is there, or leave out --store for the hub's own."
        )
    made = AuditedStore(open_store(store or store_url(settings.hub)), partial(audit_once, settings))
    await made.open()
    try:
        yield made
    finally:
        await made.close()


async def registered(store: Store, name: str) -> ServerRecord:
    """Return a server's record. Raises NotFoundError, StoreError."""
    record = await store.find_by_name(name)
    if record is None:
        raise unregistered(name, [one.name for one in await store.list()])
    return record


def unregistered(name: str, known: Iterable[str]) -> NotFoundError:
    """Return the error for a name that no server has, with one that is near."""
    return NotFoundError(
        f"No server named {name!r} is registered.", remedy=f"{near(name, known)}See: naru servers list"
    )


def near(name: str, known: Iterable[str]) -> str:
    """Return "Did you mean …? " with the known name that is like this one, or nothing."""
    found = get_close_matches(name, list(known), n=1)
    return f"Did you mean {found[0]}? " if found else ""


def server_names(incomplete: str) -> list[str]:
    """Return the names of registered servers that begin so; none where they cannot be read."""

    async def names() -> list[str]:
        opened = open_store(store_url(load_settings(None).hub))
        await opened.open()
        try:
            return sorted(record.name for record in await opened.list())
        finally:
            await opened.close()

    try:
        return [name for name in asyncio.run(names()) if name.startswith(incomplete)]
    except NaruError:  # A shell that waits for TAB has no place for an error.
        return []


Name = Annotated[str, typer.Argument(help="Its name, as `naru servers list` shows it.", autocompletion=server_names)]
"""The argument of a command about one server."""
