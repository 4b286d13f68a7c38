"""One server as others use it: requests in, results out, and the facts of its present link.

`request` and `notify` promise what `session.py` says. `generation` changes with every link that opens, `revision` also
whenever a list may have changed: what is cached of a server is good for one revision.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence, Set
from contextlib import AbstractContextManager
from dataclasses import replace

from naru.connections.link.as_task import call_as_task
from naru.connections.link.call_options import call_options
from naru.connections.link.private_links import PrivateLinks, in_protocol, is_isolated
from naru.connections.link.supervisor import Supervisor
from naru.connections.link.surroundings import Surroundings
from naru.connections.link.traced import traced_request
from naru.connections.session.asking import allowed_questions
from naru.connections.session.catalogue import LIST_METHODS, Listing, ToolCatalogue, read_list
from naru.connections.session.options import DEFAULT_OPTIONS, RequestOptions
from naru.connections.session.session import Session
from naru.connections.state.breaker import Breaker
from naru.connections.state.bulkhead import Bulkhead
from naru.connections.state.faults import BusyError, Failure, LinkError, RpcError
from naru.connections.state.lifecycle import LIVE, Lifecycle
from naru.connections.transports.base import Counters
from naru.connections.wire.protocol import INVALID_PARAMS, Era
from naru.messages import Json, JsonObject, ToolDefinition
from naru.records import ServerRecord, ServerStatus, TransportType

_SUBSCRIBING = ("resources/subscribe", "resources/unsubscribe")
_WANTED = LIVE | {ServerStatus.CONNECTING, ServerStatus.FAILED}
"""States of a server that was live and shall be: LIVE too, for the moment between a loss and its being seen."""


class Connection:
    """A supervised link. Made idle inside a running loop; `connect` starts it, `close` ends it for good."""

    def __init__(self, record: ServerRecord, around: Surroundings) -> None:
        self.name = record.name
        self.record = record
        self.calls = 0
        """Requests made for others."""
        settings = around.settings
        self._settings = settings
        self.guard = around.guard
        self._supervisor = Supervisor(record, around)
        self._private = PrivateLinks(record, around, Connection) if is_isolated(record) else None
        self._in_sessions: PrivateLinks[Connection] | None = None
        if record.protocol == "auto" and allowed_questions(record.config):
            self._in_sessions = PrivateLinks(in_protocol(record, "sessions"), around, Connection)
        self._bulkhead = Bulkhead(settings.max_concurrent, settings.max_queued, settings.queue_timeout_seconds)
        self._breaker = Breaker()
        self._breaker_generation = 0
        self._trouble = Failure("call", "failing", "it keeps failing.")
        self._now = asyncio.get_running_loop().time
        if not record.enabled:
            self.life.disable(self._now())

    # Facts

    @property
    def life(self) -> Lifecycle:
        """State, attempts, last failure, next retry."""
        return self._supervisor.life

    @property
    def status(self) -> ServerStatus:
        """The state (H3)."""
        return self._supervisor.life.status

    @property
    def is_live(self) -> bool:
        """Requests can be sent now."""
        session = self._supervisor.session
        return session is not None and session.failure is None

    @property
    def is_closed(self) -> bool:
        """It was ended for good."""
        return self._supervisor.is_closed

    @property
    def is_parked(self) -> bool:
        """Not connected for want of work: the next request connects it."""
        return self.life.is_parked

    @property
    def is_usable(self) -> bool:
        """Requests are taken: it is live, rests, or was live and is being brought back, which a request waits for."""
        is_coming_back = self.status in _WANTED and self.generation > 0 and not self.life.gave_up
        return self.is_live or self.is_parked or is_coming_back

    @property
    def generation(self) -> int:
        """Number of the present link; grows at each reconnect."""
        return self._supervisor.life.generation

    @property
    def revision(self) -> int:
        """Grows at each reconnect and each change of a list."""
        return self._supervisor.revision

    @property
    def catalogue(self) -> ToolCatalogue:
        """The tools as sent and as offered; of the last link while there is none."""
        return self._supervisor.tools

    @property
    def tools(self) -> Sequence[ToolDefinition]:
        """What can be called now, which includes a server that is being brought back: a call waits for it."""
        return self._supervisor.tools.definitions if self.is_usable else ()

    @property
    def transport_type(self) -> TransportType | None:
        """The transport in use."""
        return self._supervisor.transport_type

    @property
    def era(self) -> Era:
        """The protocol era of the present or last link."""
        return self._supervisor.facts.era

    @property
    def protocol_version(self) -> str:
        """The negotiated version; empty before the first link."""
        return self._supervisor.facts.version

    @property
    def capabilities(self) -> JsonObject:
        """The server's capabilities, as sent."""
        return self._supervisor.facts.capabilities

    @property
    def server_info(self) -> JsonObject:
        """Name, title, version as the server gives them; never used to identify it."""
        return self._supervisor.facts.server_info

    @property
    def instructions(self) -> str:
        """What the server tells models about itself."""
        return self._supervisor.facts.instructions

    @property
    def pid(self) -> int | None:
        """The child's process id, for a stdio server that runs."""
        session = self._supervisor.session
        return getattr(session.transport, "pid", None) if session else None

    @property
    def counters(self) -> Counters:
        """What the server did wrong on its present or last link."""
        return self._session.transport.counters if self._session else Counters()

    @property
    def log_text(self) -> str:
        """The kept end of the server's stderr and of stray lines on its stdout."""
        return self._session.transport.logs.text if self._session else ""

    @property
    def in_flight(self) -> int:
        """Requests that run."""
        return self._bulkhead.active

    @property
    def queued(self) -> int:
        """Requests that wait for a slot."""
        return self._bulkhead.waiting

    @property
    def _session(self) -> Session | None:
        return self._supervisor.session or self._supervisor.last_session

    # Connecting

    async def connect(self) -> bool:
        """Connect if it is not, and tell whether it is now; joins an attempt that is under way."""
        return self.is_live or (self.record.enabled and await self._supervisor.demand(forced=True))

    async def settled(self) -> bool:
        """Wait for an attempt that is under way; tell whether it is connected."""
        return await self._supervisor.settled()

    async def ensure_connected(self) -> bool:
        """Make ready for a call: one attempt when FAILED or DISCONNECTED, none when PENDING or CONNECTING (H11)."""
        if self.is_live:
            return True
        if self.is_parked:
            return await self._supervisor.demand(forced=False)
        if self.status in (ServerStatus.PENDING, ServerStatus.CONNECTING, ServerStatus.DISABLED):
            return False
        return self._settings.reconnect.enabled and await self._supervisor.demand(forced=False)

    def recall(self) -> bool:
        """Offer what is remembered of it until a call needs it; False when nothing is, so that it has to be started."""
        return self._supervisor.recall()

    async def disconnect(self) -> None:
        """Close the link and keep it closed until someone asks for it."""
        await self._close_others()
        await self._supervisor.stop()

    async def _close_others(self) -> None:
        for links in (self._private, self._in_sessions):
            if links is not None:
                await links.close()

    async def close(self) -> None:
        """End the owner task and everything it holds."""
        await asyncio.gather(self._supervisor.close(), self._close_others())

    async def refresh(self) -> None:
        """List anew, on request (H5). Raises RpcError or LinkError."""
        await self.ready()
        await self._supervisor.relist()

    # Talking

    async def request(
        self, method: str, params: Mapping[str, Json] | None = None, options: RequestOptions = DEFAULT_OPTIONS
    ) -> JsonObject:
        """Send one request within the server's bulkhead; sent again, once, only if nothing can have reached the server.

        Raises:
            RpcError: the server answered with an error.
            BusyError: its queue is full, or it asked to be left alone.
            LinkError: it is not connected and could not be, or no answer came.
        """
        if self.is_closed:
            await self.ready()  # which says why not; nobody would close another link that is made now
        if self._private is not None and options.caller:
            own = await self._private.of(options.caller)
            return await own.request(method, params, replace(options, caller="", revision=None))
        if options.in_session and (link := await self._over_sessions()) is not None:
            return await link.request(method, params, replace(options, in_session=False, revision=None))
        revision = self.revision if options.revision is None else options.revision
        async with self._bulkhead:
            self.calls += 1
            self._hold_back(method)
            try:
                return await self._send(method, params, options, revision)
            except LinkError as error:
                if error.delivered or not (error.session_gone or error.breaks_link):
                    raise error.of(self.name, method) from error
            try:
                return await self._send(method, params, options, revision)
            except LinkError as error:
                raise error.of(self.name, method) from error

    async def _over_sessions(self) -> Connection | None:
        """Return a link with a session, in which most servers ask, to one that took the stateless way over HTTP."""
        links = self._in_sessions
        if links is None or self.era != "modern" or self.transport_type is not TransportType.HTTP:
            return None
        link = await links.of("sessions")
        if link.generation or await link.ensure_connected():
            return link
        failure = link.life.last_failure
        if failure is None or not failure.is_outage:
            self._in_sessions = None  # it has none
            await links.close()
        return None

    async def _send(
        self, method: str, params: Mapping[str, Json] | None, options: RequestOptions, revision: int
    ) -> JsonObject:
        session = await self.ready()
        self._supervisor.used_at = self._now()
        if method == "tools/call" and revision != self.revision:
            self._check_still_offered(params)
        if method == "tools/call" and (self.catalogue.headers or self.record.tells_person):
            options = call_options(self.record, self.catalogue, session.era, params, options)
        try:
            if method == "tools/call" and params is not None and params.get("name") in self.catalogue.tasks:
                result = await call_as_task(session, params, options)
            else:
                result = await traced_request(session, method, params, options)
        except LinkError as error:
            self._heed(session, error)
            raise
        except RpcError:
            self._note_success(session)
            raise
        self._note_success(session)
        if method in _SUBSCRIBING and params and session is self._supervisor.session:
            change = {str(params.get("uri"))}
            held = self._supervisor.held
            self._supervisor.held = held | change if method == "resources/subscribe" else held - change
        return result

    def _check_still_offered(self, params: Mapping[str, Json] | None) -> None:
        """Refuse a tool that changed or vanished while its call waited for the link (S-50). Raises RpcError."""
        name = params.get("name") if params else None
        offered = self.guard.offered(self.record, self.catalogue.definitions)
        if all(tool.name != name for tool in offered):
            raise RpcError(INVALID_PARAMS, f"Unknown tool: {name} (it changed or went while the call waited)")

    def _note_success(self, session: Session) -> None:
        self._supervisor.used_at = self._now()
        if session is not self._supervisor.session:
            return  # it says nothing of the link that is there now
        self.life.prove()
        if self._breaker.succeeded():
            self._supervisor.recovered()

    def _hold_back(self, method: str) -> None:
        """Refuse at once while the server is to be left alone. Raises BusyError."""
        if self._breaker_generation != self.generation:
            self._breaker_generation = self.generation
            self._breaker.succeeded()  # a new link starts with a clean slate
        wait = self._breaker.wait_seconds(self._now()) if self._breaker.is_open else 0.0
        if wait > 0:
            failure = replace(
                self._trouble, message=f"{self._trouble.message} Left alone for {wait:.1f} s.", retry_after_seconds=wait
            )
            raise BusyError(failure).of(self.name, method)

    async def notify(self, method: str, params: Mapping[str, Json] | None = None) -> None:
        """Send a notification. Raises LinkError."""
        await (await self.ready()).notify(method, params)

    def slot_lent(self) -> AbstractContextManager[None]:
        """Give the slot of one request back while the server waits for an answer to a question of its own."""
        return self._bulkhead.lent()

    async def watch(self, uris: Set[str]) -> None:
        """Hear of changes of these resources, in the stateless era, until the link ends. Raises LinkError.

        `uris` is read once there is a link, so that the last word of several that waited for it holds.
        """
        (await self.ready()).watch(frozenset(uris))
        self._supervisor.held = frozenset(uris)

    async def listing(self, kind: str) -> Listing:
        """Return `tools`, `prompts`, `resources` or `templates` as sent, read once per revision.

        Raises:
            RpcError: the server refused.
            LinkError: it is not connected.
        """
        if not self.is_usable:
            await self.ready()
        if kind == "tools":  # those of the last link, while it is brought back
            return Listing(self.catalogue.raw, " ".join(self.catalogue.warnings))
        kept = self._supervisor.lists.get(kind)
        if kept is not None:
            return kept
        if LIST_METHODS[kind][2] not in self.capabilities:
            return Listing()
        session = await self.ready()
        revision = self.revision
        kept = await read_list(session, kind, self._settings)
        if revision == self.revision:
            self._supervisor.lists[kind] = kept
            self._supervisor.remember()
        return kept

    async def ready(self) -> Session:
        """Return a live session, after one attempt if that is allowed. Raises LinkError."""
        session = self._supervisor.session
        if session is not None and session.failure is None:
            return session
        if session is not None or self.status is ServerStatus.CONNECTING:
            # The link is being replaced, or an attempt runs: its outcome decides.
            await self._supervisor.demand(forced=False)
        else:
            await self.ensure_connected()
        session = self._supervisor.session
        if session is not None and session.failure is None:
            return session
        failure = self.life.last_failure or Failure("connect", "not_connected", f"it is {self.status}.")
        if not failure.remedy:
            failure = replace(failure, remedy=f"Connect {self.name!r}, or see its status for the reason.")
        raise LinkError(failure).of(self.name, "the connection")

    def _heed(self, session: Session, error: LinkError) -> None:
        """Tell the owner what a request found out about the link."""
        failure = error.failure
        if failure.code == "forbidden":  # all that we send, or this request alone: the link is looked at
            self._supervisor.suspect()
        elif error.session_gone or error.breaks_link or failure.needs_auth:
            session.lost(failure)
            session.session_gone = session.session_gone or error.session_gone
        elif session is not self._supervisor.session:
            return  # it says nothing of the link that is there now
        elif failure.retry_after_seconds is not None:
            self._trouble = failure
            limit = self._settings.reconnect.max_retry_after_seconds
            self._breaker.told(self._now(), min(failure.retry_after_seconds, limit))
            self._supervisor.rest(min(failure.retry_after_seconds, limit))
            self._supervisor.degraded(failure)
        elif failure.code == "cut" or failure.code.startswith("http_5"):
            self._trouble = failure
            if self._breaker.failed(self._now()):
                self._supervisor.degraded(failure)
            if failure.code == "cut":
                self._supervisor.suspect()
