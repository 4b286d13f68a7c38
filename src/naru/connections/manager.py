"""Keeps every registered server connected: the wish goes to the store first, then connections follow it (H4)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Container, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from weakref import WeakValueDictionary

from naru.connections.background import Background
from naru.connections.changes import STOPPING, Change, Hear, Listen, same_way
from naru.connections.credentials import config_for
from naru.connections.explain import Explanation, explain
from naru.connections.link.connection import Connection
from naru.connections.link.remembered import Memory
from naru.connections.link.surroundings import Resolve, Surroundings, expanded
from naru.connections.oauth.signins import SignIns
from naru.connections.personal import PersonalLinks, is_personal, nobodys
from naru.connections.rules.guard import Guard, NoGuard
from naru.connections.session.session import Hooks
from naru.connections.state.settings import ConnectionSettings
from naru.connections.state.starts import Starts
from naru.connections.toolset import ServerToolset, seen_tools
from naru.connections.transports import descendants
from naru.connections.transports.http.client import HttpClient
from naru.errors import NotFoundError, StoreError
from naru.messages import JsonObject, ToolDefinition, ToolResult
from naru.persons import Person, check_may_have, nobody, reach, seen_servers
from naru.records import ServerRecord, ServerStatus
from naru.stores.base import Store
from naru.stores.formats.shapes import Problem
from naru.stores.secrets.vault import SHARED, Vault
from naru.stores.unused_keys import unused_keys
from naru.tools.supervision.calls import Supervision
from naru.tools.toolset import CallContext

logger = logging.getLogger(__name__)
_AT_REST = (ServerStatus.PENDING, ServerStatus.DISCONNECTED, ServerStatus.DISABLED)


class Manager:
    """All connections by name. Use inside one event loop; `close` leaves no child, task or socket (H14)."""

    def __init__(
        self,
        store: Store,
        *,
        settings: ConnectionSettings | None = None,
        hooks: Hooks | None = None,
        guard: Guard | None = None,
        resolve: Resolve = expanded,
        supervision: Supervision | None = None,
    ) -> None:
        self.settings = settings or ConnectionSettings()
        self.guard = guard or NoGuard()
        self.supervision = supervision or Supervision()
        self.store_trouble = ""
        """Why the store cannot be read just now; empty when it can."""
        self.write_trouble = ""
        """Why the store last refused to keep something; empty when it did not."""
        self.signins = SignIns(Vault(self.settings.kept_in))
        """Who is signed in at which server."""
        self._store = store
        kept_in = self.settings.kept_in
        tokens = kept_in.expanduser() / "tokens" if kept_in else None
        self.http = HttpClient(kept_in=tokens, lease=lambda name: self.signins.vault.lease(name))
        hooks = hooks or Hooks()
        self._hearers: list[Hear] = [hooks.on_notification] if hooks.on_notification else []
        hooks = replace(hooks, on_notification=self._heard)
        self._memory = Memory(kept_in / "listings" if kept_in else None)
        self._around = Surroundings(
            self.settings,
            self.http,
            hooks,
            self._resolved if resolve is expanded else resolve,
            self._connection_changed,
            self._memory,
            self.guard,
            Starts(self.settings.max_connecting),
        )
        self._personal = PersonalLinks(
            lambda: self._around, self.supervision, lambda: self.signins, self._connect_in_background
        )
        self.hear_own = self._personal.hearers.append
        """Has a function told of every notification at a person's own link that belongs to no request."""
        self.drop_own = self._personal.drop
        """Closes the links to a server that are persons' own."""
        self.personal_servers: Set[str] = self._personal.servers
        """Servers whose credentials are each person's own."""
        self._connections: dict[str, Connection] = {}
        self._toolsets: dict[str, ServerToolset] = {}
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """One change of a server at a time; a lock lives as long as somebody holds it or waits for it."""
        self._listeners: list[Listen] = []
        self._background = Background()

    # The register

    async def register(self, record: ServerRecord) -> ServerRecord:
        """Keep a record and make its connection, PENDING.

        Raises:
            PolicyError: a rule forbids it.
            ConflictError: the name is taken.
            StoreError: it could not be kept; then nothing has changed.
        """
        self.guard.admit(record)
        check_may_have(record.name)
        async with self._lock(record.name):
            with self._writing():
                await self._store.save(record)
            await asyncio.to_thread(self.guard.trust, record)
            self._add(record)
            self._tell(Change(record.name, "registered"))
        return record

    async def update(self, record: ServerRecord, *, expected_updated_at: int | None = None) -> ServerRecord:
        """Replace a record; the link is kept unless how to reach the server changed.

        Raises:
            PolicyError, NotFoundError, ConflictError, StoreError: then nothing has changed.
        """
        self.guard.admit(record)
        check_may_have(record.name)
        async with self._lock(record.name):
            with self._writing():
                await self._store.update(record, expected_updated_at=expected_updated_at)
            await asyncio.to_thread(self.guard.trust, record)
            await self._follow(record)
            self._tell(Change(record.name, "updated"))
        return record

    async def unregister(self, name: str) -> None:
        """Forget a server: record first, then its link. Raises NotFoundError."""
        if not reach().server(name):
            raise _unknown(name)
        async with self._lock(name):
            with self._writing():
                existed = await self._store.delete(name)
            if not existed and name not in self._connections:
                raise _unknown(name)
            await self._drop(name)
            await asyncio.to_thread(self.guard.forget, name)
            await asyncio.to_thread(self._memory.forget, name)
            await self.signins.forget_server(name)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Remember whether the store keeps what it is given."""
        try:
            yield
        except StoreError as error:
            self.write_trouble = str(error)
            raise
        self.write_trouble = ""

    async def list_servers(self) -> Sequence[ServerRecord]:
        """Return all records, in order of creation."""
        return [record for record in await self._store.list() if reach().server(record.name)]

    async def find_server(self, name: str) -> ServerRecord | None:
        """Return a record, or None when there is none of that name."""
        return await self._store.find_by_name(name) if reach().server(name) else None

    def problems(self) -> Sequence[Problem]:
        """Return the stored entries that cannot be used, and why; none to those who do not see all servers."""
        return self._store.problems() if reach().is_whole else ()

    # Connecting

    async def connect(self, name: str) -> bool:
        """Connect a server and tell whether it is connected. Raises NotFoundError, PolicyError."""
        connection = self.connection(name)
        self.guard.admit(connection.record)
        return await connection.connect() and self.connections.get(name) is connection

    async def disconnect(self, name: str) -> None:
        """Close a server's link and stop its retries; its record stays. Raises NotFoundError."""
        await self.connection(name).disconnect()

    async def signed(self, name: str, owner: str, *, wakes: bool = True) -> bool:
        """Open a server's link anew, since its credentials changed; one at rest only if that `wakes`; tell if it is."""
        base = self._connections.get(name)
        if base is None or (not wakes and not is_personal(base.record) and base.status in _AT_REST):
            return False
        if not is_personal(base.record):
            await base.disconnect()
            return await base.connect()
        if wakes:
            return await self._personal.signed(base, owner)
        await self._personal.drop(name, owner)
        self._tell(Change(name, "tools"))
        return False

    async def ensure_connected(self, name: str) -> bool:
        """Make a server ready for a call, with one attempt at most (H11). Raises NotFoundError."""
        return await self.connection(name).ensure_connected()

    async def initialize_from_store(self) -> None:
        """Load all records and begin to connect those with auto-connect, side by side; waits for none (H8).

        First ends what a killed Naru left running (R-17). Raises StoreError.
        """
        swept = await asyncio.to_thread(descendants.end_orphans)
        if swept:
            logger.warning("ended %d processes that an earlier Naru left behind", swept)
        await self.reload()

    async def reload(self) -> None:
        """Bring connections to what the store says now; what did not change is not touched. Raises StoreError."""
        with nobody():
            records = {record.name: record for record in await self._store.list()}
            for name in self._connections.keys() - records.keys():
                async with self._lock(name):
                    if await self._store.find_by_name(name) is not None:
                        continue  # registered since the list was read
                    await self._drop(name)
            for name, listed in records.items():
                known = self._connections.get(name)
                if known is None or known.record != listed:
                    await self._take_up(name)

    async def _take_up(self, name: str) -> None:
        """Make one connection fit what the store says of it now."""
        async with self._lock(name):
            record = await self._store.find_by_name(name)
            known = self._connections.get(name)
            if record is None or (known is not None and known.record == record):
                return
            if known is not None:
                await self._follow(record)
            else:
                self._connect_in_background(self._add(record))
            self._tell(Change(name, "registered" if known is None else "updated"))

    async def started(self, timeout_seconds: float) -> bool:
        """Wait until every background connect has come to a result; False when the time is up first."""
        return await self._background.started(timeout_seconds)

    async def arrived(self, servers: Container[str], patience_seconds: float) -> None:
        """Wait for those of the servers that are being connected, for each so long from its begin."""
        await self._background.arrived(servers, patience_seconds)

    # Looking and calling

    def connection(self, name: str) -> Connection:
        """Return a server's connection. Raises NotFoundError."""
        try:
            return self.connections[name]
        except KeyError:
            raise _unknown(name) from None

    @property
    def connections(self) -> Mapping[str, Connection]:
        """All connections by name, of those that whoever asks may see."""
        return seen_servers(self._personal.connections(self._connections))

    @property
    def toolsets(self) -> Mapping[str, ServerToolset]:
        """Each server's tools as a Toolset, by name, as `connections`; a live view for `CombinedToolset`."""
        return seen_servers(self._personal.toolsets(self._toolsets, self._connections))

    def whose(self) -> str:
        """Return what tells apart those who see other things of some server; empty where all see the same."""
        return self._personal.whose(self._connections)

    def _resolved(self, record: ServerRecord) -> Mapping[str, Any]:
        return nobodys(record) if is_personal(record) else config_for(record, SHARED, Person(), self.signins)

    def get_status(self, name: str) -> ServerStatus | None:
        """Return a server's state, None when there is no such server."""
        connection = self.connections.get(name)
        return connection.status if connection else None

    def explain(self, name: str) -> Explanation:
        """Say what is wrong with a server and what to do (N10). Raises NotFoundError."""
        return explain(self.connection(name), asyncio.get_running_loop().time())

    def tools(self, server: str | None = None) -> Sequence[ToolDefinition]:
        """Return what one server or all offer now, under the servers' own names. Raises NotFoundError."""
        chosen = self.connections.values() if server is None else [self.connection(server)]
        return [tool for one in chosen for tool in seen_tools(one.name, one.guard.offered(one.record, one.tools))]

    async def call_tool(
        self, server: str, tool: str, arguments: JsonObject, context: CallContext | None = None
    ) -> ToolResult:
        """Call a tool once. Raises NotFoundError, and what `ServerToolset.call` raises."""
        self.connection(server)
        return await self.toolsets[server].call(tool, arguments, context or CallContext())

    def subscribe(self, listener: Listen) -> Callable[[], None]:
        """Have a function told of every change that whoever asks may see, synchronously; returns how to stop that."""
        seen = reach()

        def heard(change: Change) -> None:
            if not change.server or seen.server(change.server):
                listener(change)

        self._listeners.append(heard)
        return lambda: self._listeners.remove(heard)

    def hear(self, hearer: Hear) -> Callable[[], None]:
        """Have a function told of every notification that belongs to no request; returns how to stop that."""
        self._hearers.append(hearer)
        return lambda: self._hearers.remove(hearer)

    def announce(self, change: Change) -> None:
        """Tell listeners of something that belongs to a server and happened elsewhere."""
        self._tell(change)

    def look_again(self) -> None:
        """Judge all servers' tools anew, and say so, if some were approved at another hub. Raises StoreError."""
        for name in self._connections if self.guard.look_again() else ():
            self._tell(Change(name, "tools"))

    def announce_stop(self) -> None:
        """Tell listeners that Naru stops, so that they end what they hold open (R-29)."""
        self._tell(Change("", STOPPING))

    async def close(self) -> None:
        """Close every link, gracefully and then by force, side by side; the store stays open (its owner closes it)."""
        await self._background.close()
        await self._personal.close()
        await asyncio.gather(*(connection.close() for connection in self._connections.values()))
        self._connections.clear()
        self._toolsets.clear()
        await self.http.close()
        await self.signins.close()

    # Inside

    def _add(self, record: ServerRecord) -> Connection:
        for unused in unused_keys(record):
            if unused.remedy:
                logger.warning("server %s: %s", record.name, unused)
        connection = Connection(record, self._around)
        self._personal.note(record)
        self._connections[record.name] = connection
        self._toolsets[record.name] = ServerToolset(connection, self.guard, self.supervision)
        return connection

    async def _drop(self, name: str) -> None:
        """Take a server off the table, say so, then close its link: that takes its time, and nobody waits for it."""
        connection = self._connections.pop(name, None)
        self._toolsets.pop(name, None)
        self._personal.servers.discard(name)
        self._tell(Change(name, "removed"))
        await self._personal.drop(name)
        if connection is not None:
            await connection.close()

    async def _follow(self, record: ServerRecord) -> None:
        """Make the connection fit a changed record."""
        old = self._connections.get(record.name)
        if old is not None and same_way(old.record, record):
            old.record = record
            return
        was_wanted = old is not None and old.status not in (ServerStatus.DISCONNECTED, ServerStatus.PENDING)
        connection = self._add(record)
        try:
            await self._personal.drop(record.name)
            if old is not None:
                await old.close()
        finally:  # also where whoever changed it does not wait so long
            if was_wanted or record.auto_connect:
                self._connect_in_background(connection, forced=True)

    def _connect_in_background(self, connection: Connection, *, forced: bool = False) -> None:
        if not (connection.record.auto_connect or forced) or connection.status is ServerStatus.DISABLED:
            return
        if connection is self._connections.get(connection.name) and is_personal(connection.record):
            return  # it is nobody's
        is_lazy = connection.record.is_lazy(default=self.settings.is_lazy)
        self._background.begin(connection, self.guard, recalls=is_lazy and not forced)

    def _lock(self, name: str) -> asyncio.Lock:
        return self._locks.setdefault(name, asyncio.Lock())

    def _connection_changed(self, server: str, what: str) -> None:
        if server in self._connections:
            self._tell(Change(server, what))

    def _heard(self, server: str, method: str, params: JsonObject) -> None:
        for hearer in list(self._hearers):
            hearer(server, method, params)

    def _tell(self, change: Change) -> None:
        with nobody():
            for listener in list(self._listeners):
                listener(change)


def _unknown(name: str) -> NotFoundError:
    return NotFoundError(f"No server named {name!r} is registered.")
