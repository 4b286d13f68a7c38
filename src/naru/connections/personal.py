"""Links of a person's own, to servers whose credentials are each person's: a connection with its tools and pins each.

Whoever looks a server up gets the connection of who asks (`persons`), so that nobody above has to tell persons apart.
Where nobody asks, it is a connection that is never open.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from naru.connections.credentials import config_for, digest_of
from naru.connections.link.connection import Connection
from naru.connections.link.private_links import IDLE_MS
from naru.connections.link.remembered import Memory
from naru.connections.link.surroundings import Surroundings
from naru.connections.oauth.signins import SignIns
from naru.connections.rules.guard import Guard
from naru.connections.toolset import ServerToolset
from naru.errors import ConfigError
from naru.messages import JsonObject, ToolDefinition, ToolResult
from naru.persons import Person, current_person
from naru.records import ServerRecord, TransportType
from naru.tasks import Tasks
from naru.tools.supervision.calls import Supervision

MOST_PROCESSES, MOST_LINKS = 32, 1000
"""Persons that have a link of one server at a time; the longest unused one that rests gives way."""
T = TypeVar("T")
HearOwn = Callable[[Connection, str, JsonObject], None]
"""Gets whose link it is, method and params of a notification that belongs to no request."""


def is_personal(record: ServerRecord) -> bool:
    """Tell whether the credentials of a server are each person's own."""
    return record.credentials != "shared"


def nobodys(record: ServerRecord) -> Mapping[str, Any]:
    """Refuse to open a link that is nobody's. Raises ConfigError."""
    raise ConfigError(f"The credentials of {record.name!r} are each person's own.", remedy="Ask with a key.")


@dataclass(frozen=True, slots=True)
class Own:
    """One person's link to one server, with its tools."""

    owner: str
    connection: Connection
    toolset: ServerToolset


class PersonalLinks:
    """All links of persons' own, by server and person."""

    def __init__(
        self,
        around: Callable[[], Surroundings],
        supervision: Supervision,
        signins: Callable[[], SignIns],
        start: Callable[[Connection], None],
    ) -> None:
        """Make links with what is around; `start` connects one in the background."""
        self._around = around
        self._supervision = supervision
        self._signins = signins
        self._start = start
        self._links: dict[str, OrderedDict[str, Own]] = {}
        self._closing = Tasks()
        self.servers: set[str] = set()
        """Servers whose credentials are each person's own."""
        self.hearers: list[HearOwn] = []

    def note(self, record: ServerRecord) -> None:
        """Take note of whose the credentials of a server are now."""
        if is_personal(record):
            self.servers.add(record.name)
        else:
            self.servers.discard(record.name)

    def connections(self, held: Mapping[str, Connection]) -> Mapping[str, Connection]:
        """Return connections as who asks has them."""
        return OwnView(held, lambda name: self._own(held, name, lambda own: own.connection)) if self.servers else held

    def toolsets(
        self, held: Mapping[str, ServerToolset], bases: Mapping[str, Connection]
    ) -> Mapping[str, ServerToolset]:
        """Return toolsets as who asks has them."""
        return OwnView(held, lambda name: self._own(bases, name, lambda own: own.toolset)) if self.servers else held

    def whose(self, bases: Mapping[str, Connection]) -> str:
        """Return what tells apart those who see other things of some server; empty where all see the same."""
        if not self.servers:
            return ""
        person = current_person.get()
        return f"{person.id}\0{digest_of([bases[name].record for name in sorted(self.servers)], person)}"

    async def signed(self, base: Connection, owner: str) -> bool:
        """Open a person's link anew, since its credentials changed; tell whether it is connected now."""
        await self.drop(base.name, owner)
        person = current_person.get()
        before = current_person.set(person if person.id == owner else Person(owner))
        try:
            own = self.of(base)
        finally:
            current_person.reset(before)
        return own is not None and await own.connection.connect()

    def _own(self, bases: Mapping[str, Connection], name: str, part: Callable[[Own], T]) -> T | None:
        own = self.of(bases[name]) if name in self.servers else None
        return part(own) if own is not None else None

    def of(self, base: Connection) -> Own | None:
        """Return the link of who asks, made and started at the first time; None where nobody does."""
        person = current_person.get()
        if not person.id:
            return None
        links = self._links.setdefault(base.name, OrderedDict())
        key = f"{person.id}\0{digest_of([base.record], person)}"
        own = links.get(key)
        if own is not None:
            links.move_to_end(key)
            return own
        if not self._make_room(base.record, links):
            return None
        own = links[key] = self._make(base, person)
        if base.record.enabled:
            self._start(own.connection)
        return own

    async def drop(self, server: str, owner: str | None = None) -> None:
        """Close a person's links to a server, or everybody's."""
        links = self._links.get(server, OrderedDict[str, Own]())
        gone = [key for key, own in links.items() if owner is None or own.owner == owner]
        for key in gone:
            if (own := links.pop(key, None)) is not None:  # else somebody closes it while we closed the one before
                await own.connection.close()

    async def close(self) -> None:
        """Close all."""
        for server in list(self._links):
            await self.drop(server)
        await self._closing.ended()

    def _make_room(self, record: ServerRecord, links: OrderedDict[str, Own]) -> bool:
        most = MOST_PROCESSES if record.transport_type is TransportType.STDIO else MOST_LINKS
        if len(links) < most:
            return True
        resting = (key for key, own in links.items() if not own.connection.in_flight and not own.connection.queued)
        longest = next(resting, None)
        if longest is None:
            return False
        self._closing.begin(links.pop(longest).connection.close())
        return True

    def _make(self, base: Connection, person: Person) -> Own:
        config = {"idleStopMs": IDLE_MS, **base.record.config}
        record = base.record.model_copy(update={"config": config})
        around = self._around()

        def resolve(resolved: ServerRecord) -> Mapping[str, Any]:
            return config_for(base.record, person.id, person, self._signins())

        def heard(server: str, method: str, params: JsonObject) -> None:
            for hearer in self.hearers:
                hearer(connection, method, params)

        guard = PersonalGuard(around.guard, person.id)
        # What a server says that belongs to no request is this person's: nobody else must hear it.
        hooks = replace(around.hooks, on_notification=heard)
        around = replace(around, resolve=resolve, memory=Memory(), guard=guard, hooks=hooks)
        connection = Connection(record, around)
        return Own(person.id, connection, ServerToolset(connection, guard, self._supervision))


class PersonalGuard:
    """The rules of the installation, with pins of a person's own."""

    def __init__(self, inner: Guard, person: str) -> None:
        self._inner = inner
        self._person = person
        self._known: tuple[ServerRecord, ServerRecord] | None = None

    def admit(self, record: ServerRecord) -> None:
        """Let a record be connected. Raises PolicyError."""
        self._inner.admit(record)

    def trust(self, record: ServerRecord) -> None:
        """Approve what the server lists next to this person."""
        self._inner.trust(self.own(record))

    def forget(self, server: str) -> None:
        """Drop what is known of it."""
        self._inner.forget(f"{server}/{self._person}")

    async def note(self, record: ServerRecord, tools: Sequence[ToolDefinition]) -> None:
        """Write down what is new of what the server lists to this person."""
        await self._inner.note(self.own(record), tools)

    def offered(self, record: ServerRecord, tools: Sequence[ToolDefinition]) -> Sequence[ToolDefinition]:
        """Return the tools that may be offered."""
        return self._inner.offered(self.own(record), tools)

    def look_again(self) -> bool:
        """Read again what another process may have changed; tell whether it has."""
        return self._inner.look_again()

    def result(self, server: str, tool: str, result: ToolResult) -> ToolResult:
        """Return a result as it may be passed on."""
        return self._inner.result(server, tool, result)

    def own(self, record: ServerRecord) -> ServerRecord:
        """Return the record under the name that this person's pins have; the same one each time."""
        if self._known is None or self._known[0] is not record:
            own = record.model_copy(update={"name": f"{record.name}/{self._person}"})
            self._known = (record, own)
        return self._known[1]


def pinned_as(connection: Connection) -> ServerRecord:
    """Return a connection's record under the name that its pins have."""
    guard = connection.guard
    return guard.own(connection.record) if isinstance(guard, PersonalGuard) else connection.record


class OwnView(Mapping[str, T]):
    """What is held by server name, with who asks in the place of nobody at the servers that are personal."""

    def __init__(self, held: Mapping[str, T], own: Callable[[str], T | None]) -> None:
        self._held = held
        self._own = own

    def __getitem__(self, name: str) -> T:
        held = self._held[name]
        own = self._own(name)
        return held if own is None else own

    def __iter__(self) -> Iterator[str]:
        return iter(self._held)

    def __len__(self) -> int:
        return len(self._held)
