"""One server of the connection manager as an upstream of the gateway: same frames, the gateway's own errors."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from naru.connections.link.connection import Connection
from naru.connections.manager import Manager
from naru.connections.rules.foreign_text import as_offered
from naru.connections.session.asking import allowed_questions
from naru.connections.session.options import RequestOptions, ServerRequest
from naru.connections.state import faults
from naru.errors import NaruError, PolicyError
from naru.gateway.upstreams.approval import asks_client
from naru.gateway.upstreams.questions import Asker, Questions
from naru.gateway.upstreams.upstream import Envelope, ListKind, Relay
from naru.gateway.wire.protocol import (
    ASK_CAPABILITY,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    META_CAPABILITIES,
    META_CLIENT,
    META_LOG_LEVEL,
    OVERLOADED,
    RpcError,
)
from naru.messages import JsonObject, ToolDefinition
from naru.tools.supervision.calls import Call, Came

logger = logging.getLogger(__name__)
T = TypeVar("T")

ASKING_SECONDS = 600.0
"""Deadline of a request that may wait for a person."""


class ServerUpstream:
    """One connection."""

    def __init__(
        self, connection: Connection, manager: Manager, questions: Questions, *, timeout_seconds: float, level: str = ""
    ) -> None:
        """Take a connection; `level` is the log level that its next link is asked for."""
        self.name = connection.name
        self.connection = connection
        self._questions = questions
        self._allowed = allowed_questions(connection.record.config)
        self._definitions: tuple[Sequence[ToolDefinition], dict[str, ToolDefinition]] = ((), {})
        self._guard = connection.guard
        self.owner = manager.whose() if connection.name in manager.personal_servers else ""
        """Whose it is, where it is a person's own."""
        self._supervision = manager.supervision
        self._deadline = connection.record.timeout_seconds or timeout_seconds
        """Seconds that a request may take: the server's own `timeout`, else the gateway's."""
        self._relays: dict[int, Relay] = {}
        self._uris: set[str] = set()
        self._told: set[str] = set()
        """Warnings that are in the log already."""
        self._log_level = level
        self._link = connection.generation

    @property
    def is_over(self) -> bool:
        """Its connection is closed for good, and nobody watches anything of it."""
        return self.connection.is_closed and not self._uris

    def is_on_new_link(self) -> bool:
        """Tell, once for each link, whether it has another than it had."""
        before = self._link
        if self.connection.is_live:
            self._link = self.connection.generation
        return self._link != before

    @property
    def modern(self) -> bool:
        """Whether it speaks the stateless era."""
        return self.connection.era == "modern"

    @property
    def capabilities(self) -> JsonObject:
        """What it declared."""
        return self.connection.capabilities

    @property
    def instructions(self) -> str:
        """What it tells models about itself."""
        return self.connection.instructions

    async def list(self, kind: ListKind) -> Sequence[JsonObject]:
        """Return one of its lists; tools that the rules of this installation hold back are not in it."""
        listing = await self._translated(self.connection.listing(kind))
        if listing.warning and listing.warning not in self._told:
            self._told.add(listing.warning)
            logger.warning("server %s: %s", self.name, listing.warning)
        items = listing.items
        if kind == "tools":
            definitions = self.connection.catalogue.definitions
            offered = {tool.name: tool for tool in self._guard.offered(self.connection.record, definitions)}
            items = [as_offered(item, offered[item["name"]]) for item in items if item.get("name") in offered]
        return items

    async def request(
        self, method: str, params: JsonObject, *, relay: Relay | None = None, envelope: Envelope | None = None
    ) -> JsonObject:
        """Send a request once; what belongs to it while it runs goes to the relay."""
        allowed = self._allowed
        meta: JsonObject = self._envelope(envelope, allowed) if envelope is not None else {}
        caller = relay.caller if relay is not None else envelope.caller if envelope is not None else ""
        if relay is None:
            options = RequestOptions(timeout_seconds=self._deadline, meta=meta, caller=caller)
            return await self._translated(self.connection.request(method, params, options))
        options = RequestOptions(
            timeout_seconds=ASKING_SECONDS if allowed else self._deadline,
            progress_extends=True,
            meta=meta,
            on_notification=_heard(relay),
            on_request=self._asked(relay, allowed),
            caller=caller,
            revision=self.connection.revision,
            client=relay.peer,
            in_session=envelope is not None and envelope.in_session,
        )
        self._relays[id(relay)] = relay
        try:
            if method == "tools/call":
                result = await self._call(params, options, relay)
            else:
                result = await self.connection.request(method, params, options)
        except faults.RpcError as error:
            raise RpcError(error.error_code, error.message, error.data) from error
        finally:
            self._relays.pop(id(relay), None)
        if result.get("resultType") == "input_required":
            return self._vetted(result, relay, allowed)
        return result

    def _vetted(self, result: JsonObject, relay: Relay, allowed: frozenset[str]) -> JsonObject:
        """Return what a stateless server asks as a client may see it (S-58)."""
        asked = result.get("inputRequests")
        if not isinstance(asked, dict):
            return result
        try:
            vetted = self._questions.vet_all(asked, Asker(self.name, relay.caller, relay.view, allowed))
        except RpcError as error:
            said = f"Server {self.name!r} asked something that it may not: {error.message}"
            raise RpcError(INTERNAL_ERROR, said) from error
        return {**result, "inputRequests": vetted}

    async def _call(self, params: JsonObject, options: RequestOptions, relay: Relay) -> JsonObject:
        """Call a tool under supervision; the frame is passed on as it is."""
        name = str(params.get("name"))
        offered = self._guard.offered(self.connection.record, self.connection.catalogue.definitions)
        if offered is not self._definitions[0]:
            self._definitions = (offered, {tool.name: tool for tool in offered})
        definition = self._definitions[1].get(name)
        if definition is None:  # whoever judges calls goes by what a tool says of itself
            raise RpcError(INVALID_PARAMS, f"Unknown tool: {name} (it changed or went while the call waited)")
        asking = asks_client(relay, f"{self.name}/{name}", params.get("arguments") or {})
        call = Call(self.name, name, params.get("arguments") or {}, relay.caller, definition, asking)
        try:
            return await self._supervision.run(
                call, lambda: self.connection.request("tools/call", params, options), Came.of
            )
        except PolicyError as error:  # something that the model can be told, so a result (SEP-1303)
            return {"content": [{"type": "text", "text": str(error)}], "isError": True}

    @staticmethod
    def _envelope(envelope: Envelope, allowed: frozenset[str]) -> JsonObject:
        questions = set(ASK_CAPABILITY.values()) - allowed
        capabilities = {key: value for key, value in envelope.capabilities.items() if key not in questions}
        meta: JsonObject = {META_CAPABILITIES: capabilities}
        if envelope.client:
            meta[META_CLIENT] = envelope.client
        if envelope.log_level:
            meta[META_LOG_LEVEL] = envelope.log_level
        return meta

    def _asked(self, relay: Relay, allowed: frozenset[str]) -> Callable[[ServerRequest], Awaitable[JsonObject]]:
        limit, count = self._questions.limits.per_request, 0

        async def ask(asked: ServerRequest) -> JsonObject:
            nonlocal count
            count += 1
            try:
                if count > limit:
                    raise RpcError(OVERLOADED, f"One request may ask {limit} questions, no more.")
                asker = Asker(self.name, relay.caller, relay.view, allowed)
                params = self._questions.vet(asked.method, asked.params, asker)
                # Whoever waits for a person must not keep others from the server.
                with self.connection.slot_lent():
                    answer = await relay.ask(asked.method, params)
            except RpcError as error:
                raise faults.RpcError(error.code, error.message, error.data) from error
            return answer if isinstance(answer, dict) else {}

        return ask

    def heard(self, method: str, params: JsonObject) -> bool:
        """Give a notification that names no request to whose it must be; False when it is nobody's or anybody's."""
        if len(self._relays) == 1:
            next(iter(self._relays.values())).notify(method, params)
            return True
        # Of several clients under way it could be any one's, and must not reach another.
        return bool(self._relays)

    async def notify(self, method: str, params: JsonObject) -> None:
        """Send a notification, if the server is there."""
        if self.connection.is_live:
            try:
                await self.connection.notify(method, params)
            except NaruError as error:
                logger.info("server %s missed %s: %s", self.name, method, error)

    async def subscribe(self, uri: str) -> None:
        """Ask for updates of a resource, now and after every reconnect."""
        self._uris.add(uri)
        try:
            await self._follow_uris({uri})
        except BaseException:
            self._uris.discard(uri)  # nobody is told of it
            raise

    async def unsubscribe(self, uri: str) -> None:
        """Ask for updates no longer; a link that is gone has forgotten them, and a new one is not asked."""
        self._uris.discard(uri)
        if not self.connection.is_live:
            return
        if self.modern:
            await self._translated(self.connection.watch(self._uris))
        elif self._takes_subscriptions:
            await self._translated(self.connection.request("resources/unsubscribe", {"uri": uri}))

    async def _follow_uris(self, uris: set[str]) -> None:
        if self.modern:
            await self._translated(self.connection.watch(self._uris))
        elif self._takes_subscriptions:
            for uri in sorted(uris):
                await self._translated(self.connection.request("resources/subscribe", {"uri": uri}))

    @property
    def _takes_subscriptions(self) -> bool:
        return bool((self.capabilities.get("resources") or {}).get("subscribe"))

    async def set_log_level(self, level: str) -> None:
        """Set the level of a server of sessions, now or with its next link; each request tells a stateless one."""
        before, self._log_level = self._log_level, level
        if before != level and self.connection.is_live and not self.modern and "logging" in self.capabilities:
            try:
                await self._translated(self.connection.request("logging/setLevel", {"level": level}))
            except BaseException:
                if self._log_level == level:
                    self._log_level = before  # it was not taken, so the next who wants it asks again
                raise

    def take_over(self, old: ServerUpstream) -> None:
        """Go on with what the server was asked for when it was reached in another way."""
        self._uris, self._log_level = set(old._uris), old._log_level

    async def reconnected(self) -> None:
        """Ask again for what the old link was asked for."""
        try:
            if self._uris:
                await self._follow_uris(set(self._uris))
            level, self._log_level = self._log_level, ""
            if level:
                await self.set_log_level(level)
        except (NaruError, RpcError) as error:
            logger.warning("server %s: could not subscribe again: %s", self.name, error)

    @staticmethod
    async def _translated(work: Awaitable[T]) -> T:
        try:
            return await work
        except faults.RpcError as error:
            raise RpcError(error.error_code, error.message, error.data) from error


def _heard(relay: Relay) -> Callable[[str, JsonObject], None]:
    def hear(method: str, params: JsonObject) -> None:
        if method == "notifications/progress":
            relay.progress(params)
        else:
            relay.notify(method, params)

    return hear
