"""One attempt to reach a server: pick the transport, negotiate, list the tools; all of it or nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from naru.connections.rules.guard import Guard
from naru.connections.session.asking import allowed_questions
from naru.connections.session.catalogue import Listing, ToolCatalogue, noted, read_list
from naru.connections.session.negotiation import PROTOCOLS, negotiate
from naru.connections.session.session import Hooks, Listener, Session
from naru.connections.state.faults import Failure, LinkError, RpcError
from naru.connections.state.settings import ConnectionSettings
from naru.connections.state.starts import Starts, patience
from naru.connections.transports.base import Transport
from naru.connections.transports.choose import MakeTransport, candidates
from naru.connections.transports.http.client import HttpClient
from naru.connections.transports.once import Once, OnceTransport
from naru.connections.wire.protocol import METHOD_NOT_FOUND, Era
from naru.deadlines import bound
from naru.records import ServerRecord, TransportType
from naru.stores.secrets.values import SecretValues


@dataclass(frozen=True, slots=True)
class Known:
    """What the last success taught about a server, so that the next attempt does not guess."""

    transport: TransportType | None = None
    era: Era | None = None


@dataclass(frozen=True, slots=True)
class Opened:
    """A live session with its tools."""

    session: Session
    transport: TransportType
    tools: ToolCatalogue


@dataclass(frozen=True, slots=True)
class Plan:
    """How to find out which era a server speaks."""

    eras: tuple[Era, ...]
    probe_seconds: float | None
    """How long the first question may stay unanswered; None as long as the whole attempt may take."""


@dataclass(slots=True)
class Opener:
    """Everything an attempt needs besides the server's own config, and what the one before taught."""

    record: ServerRecord
    listener: Listener
    settings: ConnectionSettings
    hooks: Hooks
    http: HttpClient
    starts: Starts
    guard: Guard
    known: Known = field(default_factory=Known)

    async def open(self, config: Mapping[str, Any], secrets: SecretValues) -> Opened:
        """Try the transports in turn.

        Raises:
            LinkError: none worked; of several, the message tells what each said.
        """
        known, self.known = self.known, Known()  # after a failure it may come back as something else
        declared = self.record.transport_type or known.transport
        choices = candidates(declared, config, secrets, self.settings, self.http)
        if self.record.runs_once and self.http.once is not None:
            choices = [(kind, self._shared(make, self.http.once, secrets)) for kind, make in choices]
        seconds = self.settings.connect_timeout_seconds / len(choices)
        said: list[Failure] = []
        for place, (kind, make) in enumerate(choices):
            try:
                opened = await self._in_either_era(kind, make, self._plan(kind, known), seconds)
                self.known = Known(kind, opened.session.era)
                return opened
            except LinkError as failed:
                error = failed.without(secrets)
                said.append(replace(error.failure, message=f"{kind}: {error.failure.message}"))
                if place + 1 < len(choices) and _may_speak_otherwise(error.failure):
                    continue
                if len(said) > 1:
                    message = " ".join(one.message for one in said)
                    remedy = " ".join(dict.fromkeys(one.remedy for one in said if one.remedy))
                    raise LinkError(replace(error.failure, message=message, remedy=remedy)) from error
                raise
        raise AssertionError("there is always a candidate")

    def _shared(self, make: MakeTransport, once: Once, secrets: SecretValues) -> MakeTransport:
        return lambda: OnceTransport(self.record.name, make, once, secrets)

    def _plan(self, kind: TransportType, known: Known) -> Plan:
        """Begin with the era that it spoke last, or with the one in which what it may ask can be asked.

        Most servers that ask do so in the way of sessions. Over HTTP a client of sessions has a link of its own kind
        (`Connection`); elsewhere there is one link, and its first message decides.
        """
        eras = PROTOCOLS[self.record.protocol]
        asks = bool(allowed_questions(self.record.config)) and kind is not TransportType.HTTP
        spoke = known.era if known.transport in (kind, None) else None
        first = spoke or ("legacy" if asks else eras[0])
        # A server that was modern before may take its whole time to start.
        patience = None if spoke == "modern" else self.settings.probe_timeout_seconds
        return Plan(tuple(sorted(eras, key=lambda era: era != first)), patience)

    async def _in_either_era(self, kind: TransportType, make: MakeTransport, plan: Plan, seconds: float) -> Opened:
        """Try once, and once more where the question for the era itself may have ended the server."""
        try:
            return await self._attempt(kind, make, plan, seconds)
        except LinkError as error:
            if not error.while_probing:
                raise
            self.known = Known(None, "legacy")
            return await self._attempt(kind, make, Plan(("legacy", "modern"), plan.probe_seconds), seconds)

    async def _attempt(self, kind: TransportType, make: MakeTransport, plan: Plan, seconds: float) -> Opened:
        session = Session(self.record.name, make(), self.listener, settings=self.settings, hooks=self.hooks)
        self.listener.begun(session)
        try:
            if kind is not TransportType.STDIO:
                with bound(seconds):
                    return await self._steps(session, kind, plan)
            # The wait for its turn is no time of its own.
            async with self.starts.turn(self.record), patience(seconds, session.transport.logs):
                return await self._steps(session, kind, plan)
        except TimeoutError:
            tail = session.transport.logs.tail()
            await session.close()
            failure = Failure(
                "initialize" if not session.version else "list",
                "timeout",
                f"not ready within {seconds:g} s.",
                _what_it_did(session.transport)
                or "Check that it is an MCP server, and not waiting for something; a slow one needs a longer "
                "`startTimeout` in its entry, such as '2 min'.",
                detail=tail,
            )
            raise LinkError(failure) from None
        except BaseException:
            await session.close()
            raise

    async def _steps(self, session: Session, kind: TransportType, plan: Plan) -> Opened:
        await session.transport.open(session)
        await negotiate(session, plan.eras, probe_seconds=plan.probe_seconds)
        try:
            listing = await read_list(session, "tools", self.settings)
        except RpcError as error:
            if error.error_code != METHOD_NOT_FOUND:
                failure = Failure("list", "rpc_error", f"tools/list was refused: {error}.", "See the server's own log.")
                raise LinkError(failure) from error
            listing = Listing((), "The server does not know tools/list.")
        except LinkError as error:
            raise LinkError(replace(error.failure, stage="list")) from error
        return Opened(session, kind, await noted(listing, self.record, session.era, self.guard))


def _what_it_did(transport: Transport) -> str:
    """Say what a server that is not ready wrote instead of answers, and how it should be (N10)."""
    counters, log = transport.counters, transport.logs.text
    if "[stdout] Content-Length:" in log:
        return "It frames its messages like a language server; MCP wants one JSON message a line."
    if counters.noise_lines:
        last = next((line for line in reversed(log.splitlines()) if line.startswith("[stdout] ")), "")
        return (
            f"It wrote {counters.noise_lines} lines on its stdout that are no JSON-RPC message, the last "
            f"{last.removeprefix('[stdout] ')[:80]!r}: it must write one message a line there, and its log on stderr."
        )
    if counters.strays:
        return "It answered with ids that were not asked: an id must come back as the number that it was."
    if transport.unfinished_bytes:
        return f"It wrote {transport.unfinished_bytes} bytes and never ended the line."
    return ""


def _may_speak_otherwise(failure: Failure) -> bool:
    """Tell whether a server that failed over one HTTP transport may still speak the other (H2)."""
    if failure.needs_auth or failure.retry_after_seconds is not None:
        return False
    return failure.code in ("timeout", "protocol", "rpc_error", "cut") or failure.code.startswith(("http_4", "http_5"))
