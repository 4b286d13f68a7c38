"""Every server's lists, and views of them: loaded side by side, once, and again when a server says so (H5)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import get_args

from naru.errors import NaruError
from naru.gateway.protocol import INTERNAL_ERROR, RpcError
from naru.gateway.upstream import Change, Listing, ListKind, Upstream, Upstreams
from naru.gateway.view import Freshness, View, add_server
from naru.tools.names import NameMap

logger = logging.getLogger(__name__)

KINDS: tuple[ListKind, ...] = get_args(ListKind)
CAPABILITY: dict[ListKind, str] = {
    "tools": "tools",
    "prompts": "prompts",
    "resources": "resources",
    "templates": "resources",
}


@dataclass(frozen=True, slots=True)
class CatalogSettings:
    """How lists are kept and shown."""

    page_size: int = 1000
    ttl_ms: int = 10_000
    """What clients are told when the servers say nothing."""
    patience_seconds: float = 5.0
    """How long a list waits for a slow server; its items come later, with a list_changed."""
    retry_seconds: float = 2.0
    """How soon a list that failed is asked for again."""
    flat: bool = False
    """Offer every server's own names as they are, without `server__`; for a hub with one server."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A list as it was loaded."""

    listing: Listing
    expires: float
    """Loop time after which a list request loads it again."""


class Catalog:
    """All lists of all servers, and the views that faces show."""

    def __init__(self, upstreams: Upstreams, settings: CatalogSettings) -> None:
        self._upstreams = upstreams
        self._settings = settings
        self._kept: dict[tuple[str, ListKind], Kept] = {}
        self._loading: dict[tuple[str, ListKind], asyncio.Task[None]] = {}
        self._views: dict[str, View] = {}
        self._names: dict[ListKind, NameMap] = {"tools": NameMap(), "prompts": NameMap()}
        self.on_late: Callable[[Change], None] = lambda change: None
        """Told when a list arrives after a view was shown without it."""

    def exists(self, name: str) -> bool:
        """Tell whether there is a face of that name; the empty name is the face of all servers."""
        return not name or self._upstreams.find(name) is not None

    async def view(self, name: str, *, to_list: bool = False) -> View:
        """Return what a face shows now. `to_list` also loads again what its server calls stale.

        Raises:
            RpcError: the face is one server's, and it cannot be used.
        """
        view = self._views.get(name)
        if view is not None and not (to_list and self._stale(view)):
            return view
        upstreams = self._chosen(name)
        await self._load_missing(upstreams, to_list=to_list)
        return self._compose(name, upstreams)

    def forget(self, change: Change) -> None:
        """Drop what a change made old."""
        if change.kind == "servers":
            stale = [key for key in self._kept if key[0] == change.server]
            if self._upstreams.find(change.server) is None:
                for names in self._names.values():
                    names.forget(change.server)
        else:
            stale = [key for key in self._kept if key[0] == change.server and CAPABILITY[key[1]] == change.kind]
        for key in stale:
            del self._kept[key]
        for key in [key for key in self._loading if key[0] == change.server]:
            self._loading.pop(key).cancel()
        self._views.clear()

    async def close(self) -> None:
        """Stop loading."""
        tasks = list(self._loading.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _chosen(self, name: str) -> list[Upstream]:
        if not name:
            return list(self._upstreams.usable())
        for upstream in self._upstreams.usable():
            if upstream.name == name:
                return [upstream]
        raise RpcError(INTERNAL_ERROR, f"MCP server {name!r} is not connected.", {"server": name})

    def _stale(self, view: View) -> bool:
        now = asyncio.get_running_loop().time()
        keys = [(server, kind) for server in view.upstreams for kind in KINDS]
        return any(key in self._kept and self._kept[key].expires <= now for key in keys)

    async def _load_missing(self, upstreams: list[Upstream], *, to_list: bool) -> None:
        now = asyncio.get_running_loop().time()
        tasks = []
        for upstream in upstreams:
            for kind in KINDS:
                key = (upstream.name, kind)
                kept = self._kept.get(key)
                if CAPABILITY[kind] not in upstream.capabilities or (kept and not (to_list and kept.expires <= now)):
                    continue
                if key not in self._loading:
                    self._loading[key] = asyncio.create_task(self._load(upstream, kind), name=f"list {key}")
                tasks.append(self._loading[key])
        if not tasks:
            return
        _, late = await asyncio.wait(tasks, timeout=self._settings.patience_seconds)
        for task in late:
            task.add_done_callback(self._arrived_late)

    async def _load(self, upstream: Upstream, kind: ListKind) -> None:
        key = (upstream.name, kind)
        loop = asyncio.get_running_loop()
        try:
            listing = await upstream.list(kind)
        except (NaruError, RpcError) as error:
            logger.warning("cannot list the %s of server %s: %s", kind, upstream.name, error)
            old = self._kept.get(key)
            expires = loop.time() + self._settings.retry_seconds
            self._kept[key] = Kept(old.listing if old else Listing(), expires)
        else:
            notifies = upstream.capabilities.get(CAPABILITY[kind]) or {}
            ttl = listing.ttl_ms if not notifies.get("listChanged") else None
            self._kept[key] = Kept(listing, float("inf") if ttl is None else loop.time() + ttl / 1000)
        finally:
            if self._loading.get(key) is asyncio.current_task():
                del self._loading[key]

    def _arrived_late(self, task: asyncio.Task[None]) -> None:
        if task.cancelled():
            return
        self._views.clear()
        self.on_late(Change("", "servers"))

    def _compose(self, name: str, upstreams: list[Upstream]) -> View:
        listings = {
            upstream.name: {
                kind: self._kept[upstream.name, kind].listing for kind in KINDS if (upstream.name, kind) in self._kept
            }
            for upstream in upstreams
        }
        every = [listing for kinds in listings.values() for listing in kinds.values()]
        ttl = min((listing.ttl_ms for listing in every if listing.ttl_ms is not None), default=self._settings.ttl_ms)
        private = not every or any(listing.private for listing in every)
        view = View(Freshness(min(ttl, self._settings.ttl_ms), private), self._settings.page_size)
        naming = self._plain_name if name or self._settings.flat else self._qualified_name
        for upstream in upstreams:
            lists = {kind: listing.items for kind, listing in listings[upstream.name].items()}
            add_server(view, upstream, lists, naming)
        for reason in view.set_aside:
            logger.warning("not offered: %s", reason)
        if not any((upstream.name, kind) in self._loading for upstream in upstreams for kind in KINDS):
            self._views[name] = view
        return view

    @staticmethod
    def _plain_name(kind: ListKind, server: str, name: str) -> str:
        del kind, server
        return name

    def _qualified_name(self, kind: ListKind, server: str, name: str) -> str:
        return self._names[kind].add(server, name)
