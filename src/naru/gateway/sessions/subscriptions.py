"""Who wants to hear of which change: legacy sessions and `subscriptions/listen` streams of stateless clients."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

from naru.errors import NaruError
from naru.gateway.sessions.session import Session
from naru.gateway.upstreams.upstream import Change, Upstream, Watched
from naru.gateway.view import QUALIFIED, qualified
from naru.gateway.wire import frames
from naru.gateway.wire.frames import Frame
from naru.gateway.wire.protocol import INVALID_PARAMS, META_SUBSCRIPTION, OVERLOADED, RpcError, log_passes
from naru.messages import Json, JsonObject
from naru.persons import Reach, current_person, reach

logger = logging.getLogger(__name__)

FILTERS = {"tools": "toolsListChanged", "prompts": "promptsListChanged", "resources": "resourcesListChanged"}
DEBOUNCE_SECONDS = 0.05
"""A burst of changes is told once."""
MAX_LISTENS = 10_000
MAX_URIS = 1000
"""What one session, or one stream, may watch."""


@dataclass(frozen=True, slots=True, eq=False)
class Listen:
    """One open `subscriptions/listen` stream."""

    id: Json
    """The request's id, which tags all that is told on it."""
    view: str
    kinds: frozenset[str]
    uris: frozenset[str]
    push: Callable[[Frame], bool]
    end: Callable[[Frame], None]
    """Ends it with its result."""
    reach: Reach = field(default_factory=reach)
    """What its caller may see: of what is hidden it hears nothing."""
    person: str = field(default_factory=lambda: current_person.get().id)
    """Whose it is; empty where nobody is asked for a key."""
    resources: dict[Watched, str] = field(default_factory=dict)
    """What it watches → which of `uris` that is."""

    def tell(self, method: str, params: JsonObject) -> None:
        """Push a tagged notification."""
        meta = params.get("_meta")
        meta = {**(meta if isinstance(meta, dict) else {}), META_SUBSCRIPTION: self.id}
        self.push(frames.notification(method, {**params, "_meta": meta}))

    def finish(self) -> None:
        """End it with its result, which tells the client that it was meant."""
        self.end(frames.reply(self.id, {"resultType": "complete", "_meta": {META_SUBSCRIPTION: self.id}}))


class Subscriptions:
    """Tells changes to those who asked; a burst of them once."""

    def __init__(self, sessions: Callable[[], Iterable[Session]]) -> None:
        self._sessions = sessions
        self._listens: dict[int, Listen] = {}
        self._numbers = itertools.count()
        self._pending: set[tuple[str, str]] = set()
        """(kind, server) not told yet."""
        self._timer: asyncio.TimerHandle | None = None
        self._wanted: Counter[Watched] = Counter()
        """How many clients want a resource."""
        self._turns: WeakValueDictionary[Watched, asyncio.Lock] = WeakValueDictionary()
        """The count and what the server was told of it change together: one at a time for each."""

    # Streams of stateless clients.

    def open(self, listen: Listen) -> int:
        """Add a stream and acknowledge it: the acknowledgement is the first thing on it.

        Raises:
            RpcError: too many streams are open.
        """
        self._make_room(listen.person)
        honoured: JsonObject = {FILTERS[kind]: True for kind in FILTERS if kind in listen.kinds}
        if listen.uris:
            honoured["resourceSubscriptions"] = sorted(listen.resources.values())
        listen.tell("notifications/subscriptions/acknowledged", {"notifications": honoured})
        number = next(self._numbers)
        self._listens[number] = listen
        return number

    def _make_room(self, person: str) -> None:
        """Have whoever holds most streams give way with the newest of them, where there are too many (S-19).

        Raises:
            RpcError: that is this person.
        """
        if len(self._listens) < MAX_LISTENS:
            return
        held = Counter(one.person for one in self._listens.values())
        most, number = held.most_common(1)[0]
        if held[person] + 1 >= number:
            raise RpcError(OVERLOADED, "Too many subscription streams are open.")
        self._listens.pop(next(n for n, one in reversed(self._listens.items()) if one.person == most)).finish()

    def close(self, number: int) -> Listen | None:
        """Remove a stream."""
        return self._listens.pop(number, None)

    def end_all(self) -> None:
        """End every stream with its result, which tells the clients that it was meant (graceful shutdown)."""
        for listen in list(self._listens.values()):
            listen.finish()
        self._listens.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    # Interest in single resources, of both eras.

    async def want(self, upstream: Upstream, uri: str) -> None:
        """Count one more client that wants updates of a resource; the first subscribes upstream. Raises RpcError."""
        key = (upstream.name, upstream.owner, uri)
        async with self._turn(key):
            if not self._wanted[key]:
                await upstream.subscribe(uri)
            self._wanted[key] += 1

    async def drop(self, upstream: Upstream | None, key: Watched) -> None:
        """Count one client less; the last one unsubscribes upstream."""
        server, _, uri = key
        async with self._turn(key):
            self._wanted[key] -= 1
            if self._wanted[key] > 0:
                return
            del self._wanted[key]
            if upstream is None:
                return
            try:
                await upstream.unsubscribe(uri)
            except (NaruError, RpcError) as error:
                logger.info("server %s did not take back the subscription of %s: %s", server, uri, error)

    def _turn(self, key: Watched) -> asyncio.Lock:
        return self._turns.setdefault(key, asyncio.Lock())

    # What happened.

    def publish(self, change: Change) -> None:
        """Tell a change to those who want it: lists after a moment, everything else at once."""
        if change.kind == "updated":
            self._tell_updated(change)
        elif change.kind == "message":
            self._tell_message(change)
        elif change.kind == "servers":
            self._later(("tools", change.server), ("prompts", change.server), ("resources", change.server))
        elif change.kind in FILTERS:
            self._later((change.kind, change.server))

    def _later(self, *changes: tuple[str, str]) -> None:
        self._pending.update(changes)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(DEBOUNCE_SECONDS, self._tell_lists)

    def _tell_lists(self) -> None:
        self._timer = None
        pending, self._pending = self._pending, set()
        for kind in sorted({kind for kind, _ in pending}):
            method = f"notifications/{kind}/list_changed"
            frame = frames.notification(method)
            servers = {server for other, server in pending if other == kind}
            for session in list(self._sessions()):
                if session.initialized and _concerns(session, servers):
                    session.emit(frame)
            for listen in list(self._listens.values()):
                if kind in listen.kinds and _concerns(listen, servers):
                    listen.tell(method, {})

    def _tell_updated(self, change: Change) -> None:
        params = change.params or {}
        uri = str(params.get("uri"))
        for session in list(self._sessions()):
            if not session.reach.server(change.server):
                continue
            if session.subscriptions and (asked := _as_asked(session.subscriptions, change, uri)):
                session.emit(frames.notification("notifications/resources/updated", {**params, "uri": asked}))
        for listen in list(self._listens.values()):
            if listen.resources and (asked := _as_asked(listen.resources, change, uri)):
                listen.tell("notifications/resources/updated", {**params, "uri": asked})

    def _tell_message(self, change: Change) -> None:
        params = change.params or {}
        frame = frames.notification("notifications/message", params)
        for session in list(self._sessions()):
            wanted = session.initialized and session.listening and _concerns(session, {change.server})
            if wanted and log_passes(params.get("level"), session.log_level):
                session.emit(frame)


def _concerns(one: Session | Listen, servers: set[str]) -> bool:
    if "" in servers:
        return True
    return any(server == (one.view or server) and one.reach.server(server) for server in servers)


def _as_asked(wanted: Mapping[Watched, str], change: Change, uri: str) -> str | None:
    """Return the address by which a client knows what was updated: what it asked for, or a part of that."""
    server, owner = change.server, change.owner
    if (server, owner, uri) in wanted:
        return wanted[server, owner, uri]
    for (of, whose, own), asked in wanted.items():
        if (of, whose) == (server, owner) and uri.startswith(f"{own.rstrip('/')}/"):
            return qualified(server, uri) if asked.startswith(QUALIFIED) else uri
    return None


def read_filter(params: JsonObject) -> tuple[frozenset[str], frozenset[str]]:
    """Return the kinds and URIs that a `subscriptions/listen` wants.

    Raises:
        RpcError: -32602, it says none or says it wrongly.
    """
    wanted = params.get("notifications")
    if not isinstance(wanted, dict):
        raise RpcError(INVALID_PARAMS, "subscriptions/listen needs a notifications object.")
    uris = wanted.get("resourceSubscriptions") or []
    if not isinstance(uris, list) or not all(isinstance(uri, str) for uri in uris) or len(uris) > MAX_URIS:
        raise RpcError(INVALID_PARAMS, f"resourceSubscriptions must be a list of at most {MAX_URIS} URIs.")
    return frozenset(kind for kind, key in FILTERS.items() if wanted.get(key) is True), frozenset(uris)
