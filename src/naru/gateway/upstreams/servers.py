"""All servers of the connection manager as the gateway's upstreams, and what becomes of them."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Callable, Sequence

from naru.connections.changes import Change as ManagerChange
from naru.connections.credentials import may_sign_in
from naru.connections.link.connection import Connection
from naru.connections.manager import Manager
from naru.deadlines import bound
from naru.gateway.upstreams.questions import QuestionLimits, Questions
from naru.gateway.upstreams.server import ServerUpstream
from naru.gateway.upstreams.upstream import Absence, Change, Upstream
from naru.messages import JsonObject
from naru.persons import current_person
from naru.tasks import Tasks

_ILLEGAL = re.compile(r"[^A-Za-z0-9_-]")
_UPDATED = "notifications/resources/updated"
PATIENCE_SECONDS = 5.0
"""How long a call waits for its server to be connected for the first time."""


class ServerUpstreams:
    """All connections of a manager, and Naru's own tools beside them."""

    def __init__(
        self,
        manager: Manager,
        *,
        own: Sequence[Upstream] = (),
        timeout_seconds: float = 60.0,
        show_origins: bool = True,
    ) -> None:
        self._manager = manager
        self._personal = manager.personal_servers
        """A live view: whose own credentials matter is asked only where there are such servers."""
        self._questions = Questions(QuestionLimits(show_origins=show_origins), asyncio.get_running_loop().time)
        self._own = {upstream.name: upstream for upstream in own}
        self._timeout_seconds = timeout_seconds
        self.log_level = ""
        """What servers that are found later are asked for."""
        self._known: dict[tuple[str, str], ServerUpstream] = {}
        """By server, and by person where the server is each person's own."""
        self._listeners: list[Callable[[Change], None]] = []
        self._told: dict[str, tuple[Connection, bool, int]] = {}
        """Server → the connection that listeners know of, whether it could be used, and the number of its link."""
        self._tasks = Tasks()
        manager.subscribe(self._changed)
        manager.hear(self._heard)
        manager.hear_own(self._heard_own)

    def usable(self) -> Sequence[Upstream]:
        """Return those connected, in the order of registration, own tools first."""
        connections = self._manager.connections
        # One that is being brought back is still offered: a call waits for it.
        live = [self._upstream(name) for name, each in connections.items() if each.is_usable]
        return [*self._own.values(), *live]

    def find(self, name: str) -> Upstream | None:
        """Return one of that name, connected or not."""
        return self._own.get(name) or (self._upstream(name) if name in self._manager.connections else None)

    def of(self, name: str, owner: str) -> Upstream | None:
        """Return the one that was found for an owner, whoever asks now."""
        return self._own.get(name) or self._known.get((name, owner))

    async def awaited(self, tool: str) -> Absence:
        """Wait a moment for the server that an unknown tool's name speaks of; return why it cannot be used, if so."""
        for name, connection in self._manager.connections.items():
            if connection.is_live or not tool.startswith(f"{_ILLEGAL.sub('_', name)}__"):
                continue
            with contextlib.suppress(TimeoutError), bound(PATIENCE_SECONDS):
                if await connection.settled():
                    return Absence()
            told = self._manager.explain(name)
            return Absence(f"MCP server {name!r}: {told.summary}", name, told.failure)
        return Absence()

    def may_sign_in(self, server: str) -> bool:
        """Tell whether who asks now may sign in at a server in the console, and whether that would count there."""
        connection = self._manager.connections.get(server)
        tokens_too = self._manager.signins.settings.persons_at_console
        return connection is not None and may_sign_in(connection.record, current_person.get(), tokens_too=tokens_too)

    def watch(self, listener: Callable[[Change], None]) -> Callable[[], None]:
        """Tell of every change."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def _upstream(self, name: str) -> ServerUpstream:
        connection = self._manager.connections[name]
        key = (name, self._manager.whose() if name in self._manager.personal_servers else "")
        known = self._known.get(key)
        if known is None or known.connection is not connection:
            old = known
            known = ServerUpstream(
                connection, self._manager, self._questions, timeout_seconds=self._timeout_seconds, level=self.log_level
            )
            if old is not None:
                known.take_over(old)
            elif known.owner:  # who comes with other credentials each hour leaves a link each hour
                self._known = {each: one for each, one in self._known.items() if not one.is_over}
            if known.owner and connection.is_live:
                self._tasks.begin(known.reconnected())
            self._known[key] = known
        return known

    @property
    def whose(self) -> str:
        """What tells apart those who see other things of some server; empty where all see the same."""
        return self._manager.whose() if self._personal else ""

    async def arrive(self) -> None:
        """Wait a moment for servers of the asker's own that are being connected for them."""
        connections = self._manager.connections
        own = [name for name in self._manager.personal_servers if connections.get(name)]
        if own:
            await self._manager.arrived(own, PATIENCE_SECONDS)

    def _changed(self, change: ManagerChange) -> None:
        match change.what:
            case "tools" | "prompts" | "resources":
                self._tell(Change(change.server, change.what))
            case "removed":
                self._known = {key: one for key, one in self._known.items() if key[0] != change.server}
                self._told.pop(change.server, None)
                self._tell(Change(change.server, "servers"))
            case _:
                self._status(change.server)

    def _status(self, name: str) -> None:
        """Tell when a server came or went; steps in between are nobody's news."""
        connection = self._manager.connections.get(name)
        if connection is None:
            return
        if name in self._manager.personal_servers:
            for one in [one for one in self._known.values() if one.name == name and one.is_on_new_link()]:
                self._tasks.begin(one.reconnected())
            self._tell(Change(name, "servers"))
            return
        before = self._told.get(name, (connection, False, 0))
        now = (connection, connection.is_usable, connection.generation)
        if now == before:
            return
        self._told[name] = now
        self._tell(Change(name, "servers"))
        if connection.is_live and (before[0], before[2]) != (connection, connection.generation):
            # A new link knows nothing of what the old one was asked for.
            self._tasks.begin(self._upstream(name).reconnected())

    def _heard(self, server: str, method: str, params: JsonObject) -> None:
        upstream = self._known.get((server, ""))
        if method == _UPDATED:
            self._tell(Change(server, "updated", params))
        elif (upstream is None or not upstream.heard(method, params)) and method == "notifications/message":
            self._tell(Change(server, "message", params))

    def _heard_own(self, connection: Connection, method: str, params: JsonObject) -> None:
        """Tell a person alone what a link of theirs said."""
        for one in [one for one in self._known.values() if one.connection is connection]:
            if method == _UPDATED:
                self._tell(Change(one.name, "updated", params, one.owner))
            else:
                one.heard(method, params)

    def _tell(self, change: Change) -> None:
        for listener in list(self._listeners):
            listener(change)
