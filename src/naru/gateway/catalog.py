"""Every server's lists, and views of them: loaded side by side, once, and again when a server says so (H5)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import get_args
from weakref import WeakKeyDictionary

from naru.errors import NaruError
from naru.gateway.upstreams.upstream import Change, ListKind, Upstream, Upstreams
from naru.gateway.view import View, add_server
from naru.gateway.wire.protocol import INTERNAL_ERROR, METHOD_NOT_FOUND, RpcError
from naru.messages import JsonObject
from naru.persons import Reach, reach
from naru.tools.names import NameMap

logger = logging.getLogger(__name__)

MOST_VIEWS = 1024
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
    patience_seconds: float = 5.0
    """How long a list waits for a slow server; its items come later, with a list_changed."""
    retry_seconds: float = 2.0
    """How soon a list that failed is asked for again."""
    flat: bool = False
    """Offer every server's own names as they are, without `server__`; for a hub with one server."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A list as it was loaded."""

    items: Sequence[JsonObject]
    is_old: bool = False
    """A change came since: shown only to those whose patience is over before the new one is there."""
    retry_at: float | None = None
    """Where it could not be loaded: loop time from which whoever needs it asks for it again."""


@dataclass(slots=True, eq=False)
class Load:
    """A list that is on its way."""

    kind: ListKind
    asked_at: float
    task: asyncio.Task[None]
    is_missed: bool = False
    """Somebody was shown a list without it."""


class Catalog:
    """All lists of all servers, and the views that faces show.

    A view is made in one step, of the servers and lists of that very moment: nothing that was read before a wait is
    used after it. A list is written down only by the load that is still the last one asked for.
    """

    def __init__(self, upstreams: Upstreams, settings: CatalogSettings) -> None:
        self._upstreams = upstreams
        self._settings = settings
        self._kept: WeakKeyDictionary[Upstream, dict[ListKind, Kept]] = WeakKeyDictionary()
        """Of each server as long as it is there: under its name there may be another later."""
        self._loading: dict[tuple[Upstream, ListKind], Load] = {}
        self._views: dict[tuple[str, Reach, str], View] = {}
        """What a face shows to those who may see the same."""
        self._names: dict[ListKind, NameMap] = {"tools": NameMap(), "prompts": NameMap()}
        self.on_late: Callable[[Change], None] = lambda change: None
        """Told when a list arrives after a view was shown without it."""

    def exists(self, name: str) -> bool:
        """Tell whether there is a face of that name; the empty name is the face of all servers."""
        return not name or (self._upstreams.find(name) is not None and reach().server(name))

    async def view(self, name: str, needs: Sequence[ListKind] = KINDS, *, to_list: bool = False) -> View:
        """Return what a face shows now.

        Args:
            name: the server whose face it is; empty for that of all of them.
            needs: the lists that the caller looks at, which are worth waiting for; each slow one is waited for once.
            to_list: whoever asks shows a list: of what is too slow for it, its client is told when it comes.

        Raises:
            RpcError: the face is one server's, and it cannot be used.
        """
        seen = reach(), self._upstreams.whose
        view = self._views.get((name, *seen))
        if view is not None and view.awaits.isdisjoint(needs):
            return view
        if seen[1]:
            await self._upstreams.arrive()
        patience, began = self._settings.patience_seconds, self._now()
        while True:
            upstreams = self._chosen(name)
            loads = self._loads(upstreams, needs)
            waited = [load.task for load in loads if load.asked_at + patience > self._now()]
            left = began + patience - self._now()
            if not waited or left <= 0:
                for load in loads:
                    load.is_missed = load.is_missed or to_list
                return self._views.get((name, *seen)) or self._compose(name, upstreams, seen)
            await asyncio.wait(waited, timeout=left)

    def forget(self, change: Change) -> None:
        """Call old what a change made old."""
        if change.kind == "servers" and self._upstreams.find(change.server) is None:
            for names in self._names.values():
                names.forget(change.server)
        for kind in KINDS:
            if change.kind not in ("servers", CAPABILITY[kind]):
                continue
            for upstream in {*self._kept, *(one for one, _ in self._loading)}:
                if upstream.name == change.server:
                    self._outdate(upstream, kind)
        self._views.clear()

    def _outdate(self, upstream: Upstream, kind: ListKind) -> None:
        kept = self._kept.get(upstream, {})
        if kind in kept:
            kept[kind] = replace(kept[kind], is_old=True)
        if (upstream, kind) in self._loading:
            self._loading.pop((upstream, kind)).task.cancel()

    async def close(self) -> None:
        """Stop loading."""
        tasks = [load.task for load in self._loading.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    @staticmethod
    def _now() -> float:
        return asyncio.get_running_loop().time()

    def _chosen(self, name: str) -> list[Upstream]:
        seen = [upstream for upstream in self._upstreams.usable() if reach().server(upstream.name)]
        if not name:
            return seen
        for upstream in seen:
            if upstream.name == name:
                return [upstream]
        raise RpcError(INTERNAL_ERROR, f"MCP server {name!r} is not connected.", {"server": name})

    def _loads(self, upstreams: Sequence[Upstream], needs: Sequence[ListKind]) -> list[Load]:
        """Begin to load what is missing of any kind; return what is on its way of the kinds that are needed."""
        loads = []
        for upstream in upstreams:
            for kind in KINDS:
                if CAPABILITY[kind] not in upstream.capabilities:
                    continue
                key = (upstream, kind)
                kept = self._kept.get(upstream, {}).get(kind)
                is_good = kept is not None and not kept.is_old
                if is_good and kept is not None and (kept.retry_at is None or kept.retry_at > self._now()):
                    continue
                if key not in self._loading:
                    task = asyncio.create_task(self._load(upstream, kind), name=f"list {kind} of {upstream.name}")
                    self._loading[key] = Load(kind, self._now(), task)
                if kind in needs:
                    loads.append(self._loading[key])
        return loads

    async def _load(self, upstream: Upstream, kind: ListKind) -> None:
        key = (upstream, kind)
        old = self._kept.get(upstream, {}).get(kind)
        try:
            new = Kept(await self._listed(upstream, kind))
        except (NaruError, RpcError) as error:
            if old is None or old.retry_at is None:
                logger.warning("cannot list the %s of server %s: %s", kind, upstream.name, error)
            new = self._failed(old)
        except Exception:  # a Toolset's own: a load that is over and stays would be waited for again and again
            logger.exception("cannot list the %s of server %s", kind, upstream.name)
            new = self._failed(old)
        load = self._loading.get(key)
        if load is None or load.task is not asyncio.current_task():
            return  # what it asked for is of the past: a change came, and another load if somebody wants one
        del self._loading[key]
        self._kept.setdefault(upstream, {})[kind] = new
        self._views.clear()
        if load.is_missed:
            self.on_late(Change("", "servers"))

    def _failed(self, old: Kept | None) -> Kept:
        return Kept(old.items if old is not None else (), retry_at=self._now() + self._settings.retry_seconds)

    @staticmethod
    async def _listed(upstream: Upstream, kind: ListKind) -> Sequence[JsonObject]:
        """Return a server's list; one that it does not know is empty: few of those with resources have templates."""
        try:
            return await upstream.list(kind)
        except RpcError as error:
            if error.code != METHOD_NOT_FOUND:
                raise
            return ()

    def _compose(self, name: str, upstreams: list[Upstream], who: tuple[Reach, str]) -> View:
        seen = who[0]
        listings: dict[str, dict[ListKind, Sequence[JsonObject]]] = {}
        awaits: set[ListKind] = set()
        for upstream in upstreams:
            lists = listings[upstream.name] = {}
            for kind in KINDS:
                kept = self._kept.get(upstream, {}).get(kind)
                if CAPABILITY[kind] in upstream.capabilities and kept is not None:
                    lists[kind] = kept.items
                if (upstream, kind) in self._loading or (kept is not None and kept.retry_at is not None):
                    awaits.add(kind)
        view = View(self._settings.page_size)
        naming = self._plain_name if name or self._settings.flat else self._qualified_name
        for upstream in upstreams:
            held = listings[upstream.name].items()
            add_server(view, upstream, {kind: _seen(seen, upstream.name, kind, each) for kind, each in held}, naming)
        for reason in view.set_aside:
            logger.warning("not offered: %s", reason)
        view.awaits = frozenset(awaits)
        if len(self._views) >= MOST_VIEWS:
            self._views.clear()
        self._views[name, *who] = view
        return view

    @staticmethod
    def _plain_name(kind: ListKind, server: str, name: str) -> str:
        del kind, server
        return name

    def _qualified_name(self, kind: ListKind, server: str, name: str) -> str:
        return self._names[kind].add(server, name)


def _seen(seen: Reach, server: str, kind: ListKind, items: Sequence[JsonObject]) -> Sequence[JsonObject]:
    """Return the items of a list that a person may see: of a server that is seen, all but some tools."""
    if kind != "tools" or seen.is_whole:
        return items
    return [item for item in items if seen.tool(server, str(item.get("name")), _hints(item))]


def _hints(item: JsonObject) -> JsonObject | None:
    hints = item.get("annotations")
    return hints if isinstance(hints, dict) else None
