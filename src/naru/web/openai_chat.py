"""POST /v1/chat/completions: the proxy before any model, and the agent loop when hub tools are asked for (V7, V8)."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from naru.agent.events import AnswerText, CallStarted, ClientCalls, RunFinished
from naru.agent.loop import run
from naru.errors import NaruError
from naru.messages import CallEnd, CallStart, ChatEvent, Finish, Text
from naru.tools.toolset import CallContext
from naru.web.openai_client import (
    BodyTooLargeError,
    ChatClient,
    ClientGoneError,
    headers_of,
    read_body,
    respond,
    respond_error,
)
from naru.web.openai_hub import ChatHub
from naru.web.openai_models import Models
from naru.web.openai_request import ChatCall, decode_body, read_chat
from naru.web.openai_wire import KEEP_ALIVE, ChunkWriter, WholeAnswer, encode, error_object
from naru.web.routes import Access, Endpoint

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

PROXY_GRACE_SECONDS = 5.0
AGENT_GRACE_SECONDS = 1.0
"""How long a stream may say nothing before it is started; until then errors are true HTTP statuses."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ToolsRunning:
    """The hub's tools run now: the client hears a comment."""


@dataclass(frozen=True, slots=True)
class RunNote:
    """What Naru adds to the end of an answer: why the loop ended (R10)."""

    fields: Mapping[str, Any]


FaceEvent = ChatEvent | ToolsRunning | RunNote


def endpoints(hub: ChatHub) -> list[Endpoint]:
    """Return the chat face's rows."""
    models = Models(hub)
    return [
        Endpoint("/v1/chat/completions", ("POST",), ChatCompletions(hub), Access.USER, raw=True),
        Endpoint("/v1/models", ("GET",), models.list, Access.READ),
        Endpoint("/v1/models/{model:path}", ("GET",), models.one, Access.READ),
    ]


class ChatCompletions:
    """The endpoint, as an ASGI application."""

    def __init__(self, hub: ChatHub) -> None:
        self._hub = hub

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        try:
            call = read_chat(decode_body(await read_body(receive)), headers_of(scope))
        except ClientGoneError:
            return
        except BodyTooLargeError:
            details = {"message": "The body is larger than 64 MB.", "type": "invalid_request_error"}
            await respond(send, 413, encode({"error": {**details, "param": None, "code": "body_too_large"}}))
            return
        except NaruError as error:
            await respond_error(send, error)
            return
        grace = PROXY_GRACE_SECONDS if call.servers is None else AGENT_GRACE_SECONDS
        client = ChatClient(receive, send, streaming=call.stream, grace_seconds=grace)
        async with client:
            try:
                await self._answer(call, client)
            except NaruError as error:
                await _fail(error, client, send)
            except Exception:  # noqa: BLE001 - the outermost edge: a bug becomes an answer and a traceback in the log
                _log.exception("chat request failed")
                await _fail(NaruError("Naru failed on this request.", remedy="See its log."), client, send)

    async def _answer(self, call: ChatCall, client: ChatClient) -> None:
        async with aclosing(self._events(call)) as events:
            if call.stream:
                await _stream(call, events, client)
            else:
                await _whole(call, events, client)

    def _events(self, call: ChatCall) -> AsyncGenerator[FaceEvent, None]:
        if call.servers is None:
            # Backends stream by async generators; another one round each would cost every delta.
            return cast("AsyncGenerator[FaceEvent, None]", self._hub.backend.stream(call.request))
        return self._run(call)

    async def _run(self, call: ChatCall) -> AsyncGenerator[FaceEvent, None]:
        """Run the agent loop on the hub's tools and give its answer alone."""
        toolset = self._hub.tools(call.servers or None)
        run_events = run(self._hub.backend, toolset, call.request, limits=self._hub.limits, context=CallContext())
        async with aclosing(run_events) as events:
            async for event in events:
                match event:
                    case AnswerText(text=text):
                        yield Text(text)
                    case CallStarted():
                        yield ToolsRunning()
                    case ClientCalls(calls=calls):
                        for index, one in enumerate(calls):
                            yield CallStart(index, one.id, one.name)
                            yield CallEnd(index, one.arguments)
                    case RunFinished():
                        yield event.usage
                        yield Finish("stop")
                        yield RunNote(_note(event))


def _note(end: RunFinished) -> dict[str, Any]:
    note: dict[str, Any] = {"ended": end.reason, "rounds": end.rounds}
    if end.note:
        note["note"] = end.note
    return {"naru": note}


async def _stream(call: ChatCall, events: AsyncIterator[FaceEvent], client: ChatClient) -> None:
    writer = ChunkWriter(call.model_shown, include_usage=call.include_usage)
    pending = writer.start()
    extra: Mapping[str, Any] | None = None
    async for event in events:
        if isinstance(event, ToolsRunning):
            await client.write(pending + KEEP_ALIVE)
            pending = b""
        elif isinstance(event, RunNote):
            extra = event.fields
        elif data := writer.feed(event):
            await client.write(pending + data)
            pending = b""
    await client.write(pending + writer.end(extra))
    await client.end()


async def _whole(call: ChatCall, events: AsyncIterator[FaceEvent], client: ChatClient) -> None:
    answer = WholeAnswer(call.model_shown)
    extra: Mapping[str, Any] | None = None
    async for event in events:
        if isinstance(event, RunNote):
            extra = event.fields
        elif not isinstance(event, ToolsRunning):
            answer.feed(event)
    await client.answer(answer.body(extra))


async def _fail(error: NaruError, client: ChatClient, send: Send) -> None:
    if client.started:
        await client.end(b"data: " + encode(error_object(error)) + b"\n\n")
    else:
        await respond_error(send, error)
