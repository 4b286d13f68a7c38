"""POST /v1/chat/completions: the proxy before any model, and the agent loop when hub tools are asked for (V7, V8)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from naru.dialects.writers import ElementXml, Writer
from naru.errors import NaruError
from naru.messages import ChatEvent, Finish, Text, ToolDefinition
from naru.models.queue import Caller, current_caller
from naru.web.openai.answers import Answers, FaceEvent, RunNote, ToolsRunning
from naru.web.openai.client import ChatClient, ClientGoneError, headers_of, read_body, respond_error
from naru.web.openai.exchange import Exchange, Outgoing, prepare, system_text
from naru.web.openai.hub import ChatHub
from naru.web.openai.models import ModelNames, Models
from naru.web.openai.passthrough import PassThrough
from naru.web.openai.plan_b import TicketDesk, Tickets, caller_of, shell_writer
from naru.web.openai.profiles import ClientProfile, Signs, recognise
from naru.web.openai.request import ChatCall, decode_body, read_chat
from naru.web.openai.wire import KEEP_ALIVE, BadRequestError, ChunkWriter, StoppingError, WholeAnswer
from naru.web.routes import Access, Endpoint

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

PROXY_GRACE_SECONDS = 5.0
AGENT_GRACE_SECONDS = 1.0
"""How long a stream may say nothing before it is started; until then errors are true HTTP statuses."""
_NO_WRITER: Writer = ElementXml()
_log = logging.getLogger(__name__)


def endpoints(hub: ChatHub) -> list[Endpoint]:
    """Return the chat face's rows; each also under /clients/NAME, for clients that can set nothing but a base URL."""
    names = ModelNames(hub)
    tickets = Tickets()
    models, chat = Models(names), ChatCompletions(hub, names, tickets)
    rows = TicketDesk(hub, tickets).endpoints()
    for prefix in ("", "/clients/{client}"):
        rows += [
            Endpoint(f"{prefix}/v1/chat/completions", ("POST",), chat, Access.USER, raw=True),
            Endpoint(f"{prefix}/v1/models", ("GET",), models.list, Access.READ),
            Endpoint(f"{prefix}/v1/models/{{model:path}}", ("GET",), models.one, Access.READ),
            Endpoint(f"{prefix}/v1/embeddings", ("POST",), PassThrough(hub, "/embeddings"), Access.USER, raw=True),
            Endpoint(f"{prefix}/v1/completions", ("POST",), PassThrough(hub, "/completions"), Access.USER, raw=True),
        ]
    return rows


class ChatCompletions:
    """The endpoint, as an ASGI application."""

    def __init__(self, hub: ChatHub, names: ModelNames, tickets: Tickets) -> None:
        self._hub = hub
        self._names = names
        self._tickets = tickets
        self._answers = Answers(hub)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        try:
            headers = headers_of(scope)
            call = read_chat(decode_body(await read_body(receive)), headers)
        except ClientGoneError:
            return
        except NaruError as error:
            await respond_error(send, error)
            return
        caller = caller_of(scope.get("state"))
        grace = PROXY_GRACE_SECONDS if call.servers is None else AGENT_GRACE_SECONDS
        async with ChatClient(scope, receive, send, streaming=call.stream, grace_seconds=grace) as client:
            current_caller.set(Caller(caller, on_place=client.tell_place))
            try:
                path = scope.get("path_params", {}).get("client", "")
                exchange = await self._exchange(call, headers, caller, path)
                await self._answer(call, exchange, client, caller)
            except NaruError as error:
                await client.fail(error)
            except asyncio.CancelledError:
                if not client.gone:
                    await client.fail(StoppingError())
                raise
            except Exception:  # noqa: BLE001 - the outermost edge: a bug becomes an answer and a traceback in the log
                _log.exception("chat request failed")
                await client.fail(NaruError("Naru failed on this request.", remedy="See its log."))

    async def _exchange(self, call: ChatCall, headers: Mapping[bytes, bytes], caller: str, path: str) -> Exchange:
        """Find out who asks and for which model, and read the history in that client's dialect."""
        model, alias = await self._names.resolve(call.request.model)
        request = call.request if model == call.request.model else replace(call.request, model=model)
        profile = self._profile(call, headers, caller, path, alias=alias)
        if profile.dialect != "shell":
            return prepare(request, profile, _NO_WRITER)
        tools: tuple[ToolDefinition, ...] = tuple(await self._hub.tools(call.servers or None).tools())
        request = replace(request, tools=tools)
        return prepare(request, profile, shell_writer(self._hub.settings, self._tickets, caller, tools))

    def _profile(
        self, call: ChatCall, headers: Mapping[bytes, bytes], caller: str, path: str, *, alias: bool
    ) -> ClientProfile:
        settings = self._hub.settings.chat
        signs = Signs(
            header=headers.get(b"x-naru-client", b"").decode("latin-1"),
            path=path,
            key=settings.client_by_key.get(caller, "") if settings.client_by_key else "",
            user_agent=headers.get(b"user-agent", b"").decode("latin-1"),
            title=headers.get(b"x-title", b"").decode("latin-1"),
            alias=alias,
            prompt="" if call.request.tools else system_text(call.request.messages),
        )
        profile = recognise(signs, settings.client)
        if profile is None:
            named = signs.header or signs.path or signs.key
            raise BadRequestError(f"There is no client profile {named[:60]!r}.", param="x-naru-client")
        return replace(profile, single_call=True) if call.single_call else profile

    async def _answer(self, call: ChatCall, exchange: Exchange, client: ChatClient, caller: str) -> None:
        outgoing = None if exchange.is_plain else Outgoing(exchange)
        told = (_Streamed if call.stream else _Whole)(call, client, outgoing, exchange.profile)
        await self._answers.deliver(exchange, caller, call.servers, told.take)
        await told.end()
        if outgoing is not None:
            self._answers.keep(outgoing, caller)


class _Told:
    """The events as the client is told them."""

    def __init__(self, call: ChatCall, client: ChatClient, outgoing: Outgoing | None, profile: ClientProfile) -> None:
        self.call = call
        self.client = client
        self.outgoing = outgoing
        self.extra: Mapping[str, Any] | None = None
        """What Naru adds to the end of the answer."""
        self._takes_extra = profile.extra_fields

    def adapt(self, batch: Sequence[FaceEvent]) -> Iterator[ChatEvent | ToolsRunning]:
        """Give a batch in the client's dialect."""
        for event in batch:
            if isinstance(event, RunNote):
                self.extra = event.fields if self._takes_extra else None
            elif self.outgoing is None or isinstance(event, ToolsRunning):
                yield event
            else:
                yield from self.outgoing.feed(event)

    def rest(self) -> list[ChatEvent]:
        """Return what was held back until the end."""
        return self.outgoing.close() if self.outgoing is not None else []


class _Streamed(_Told):
    """An answer as a stream of chunks; what comes with its end goes out with its end."""

    def __init__(self, call: ChatCall, client: ChatClient, outgoing: Outgoing | None, profile: ClientProfile) -> None:
        super().__init__(call, client, outgoing, profile)
        self._writer = ChunkWriter(call.model_shown, include_usage=call.include_usage)
        self._unsent = self._writer.start()

    def take(self, batch: Sequence[FaceEvent]) -> Awaitable[None] | None:
        """Send what came together."""
        feed = self._writer.feed
        if self.outgoing is None and len(batch) == 1 and type(batch[0]) is Text:
            data = feed(batch[0])  # What most batches are while a model writes.
        else:
            data = b"".join(
                [KEEP_ALIVE if isinstance(event, ToolsRunning) else feed(event) for event in self.adapt(batch)]
            )
        if self._unsent:
            data, self._unsent = self._unsent + data, b""
        if batch and isinstance(batch[-1], Finish | RunNote):
            self._unsent = data
            return None
        return self.client.put(data) if data else None

    async def end(self) -> None:
        """Send the end."""
        rest = b"".join(map(self._writer.feed, self.rest()))
        await self.client.end(self._unsent + rest + self._writer.end(self.extra))


class _Whole(_Told):
    """An answer as one object."""

    def __init__(self, call: ChatCall, client: ChatClient, outgoing: Outgoing | None, profile: ClientProfile) -> None:
        super().__init__(call, client, outgoing, profile)
        self._answer = WholeAnswer(call.model_shown)

    def take(self, batch: Sequence[FaceEvent]) -> None:
        """Collect what came together."""
        for event in self.adapt(batch):
            if not isinstance(event, ToolsRunning):
                self._answer.feed(event)

    async def end(self) -> None:
        """Send it."""
        for event in self.rest():
            self._answer.feed(event)
        await self.client.answer(self._answer.body(self.extra))
