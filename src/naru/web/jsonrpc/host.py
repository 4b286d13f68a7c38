"""The JSON-RPC host (R1, R2): /generate and /generate_with_mcp, single or batch, whole or as an event stream."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from naru.agent.events import AgentEvent, AnswerText, CallFinished, CallStarted, RoundStarted, RunFinished
from naru.agent.loop import run
from naru.errors import ModelError, NaruError, NotFoundError, UserError
from naru.gateway.sessions.asgi import COUNTED, count_more
from naru.messages import ChatRequest, JsonObject, Message
from naru.models.limits.queue import Caller, current_caller
from naru.models.transport.json_text import encode
from naru.tools.toolset import CallContext
from naru.web.face.client import ChatClient, ClientGoneError, headers_of, read_body, respond
from naru.web.face.hub import ChatHub
from naru.web.face.names import ModelNames
from naru.web.face.plan_b import caller_of
from naru.web.face.reading.body import decode_body
from naru.web.face.reading.history import read_messages
from naru.web.openai.chat import OPENAI
from naru.web.routes import Access, Endpoint

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
INTERNAL_ERROR, MODEL_FAILED = -32603, -32000
METHODS = frozenset({"generate_content", "generate", "generate_with_mcp"})
MAX_BATCH = 20


class Params(BaseModel):
    """`params` of a request (seed 000)."""

    model_config = ConfigDict(extra="ignore")

    model: Annotated[str, BeforeValidator(lambda given: "" if given is None else given)] = ""
    messages: list[JsonObject] = Field(min_length=1)
    temperature: float | None = Field(None, ge=0, le=2)
    max_output_tokens: int | None = Field(None, gt=0)
    mcp_servers: list[str] | None = None
    max_iterations: int | None = Field(None, ge=1, le=25)
    stream: bool = False
    require_tools: bool = False
    """Fail instead of answering without tools when a chosen server offers none."""


_TOO_MANY = "The batch has more requests than this key may make now. Send fewer, or wait."


@dataclass(slots=True)
class RpcError(Exception):
    """An answer with an error."""

    code: int
    message: str
    data: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class _Call:
    id: Any
    notification: bool
    params: Params


def endpoints(hub: ChatHub) -> list[Endpoint]:
    """Return the two rows."""
    return [
        Endpoint("/generate", ("POST",), RpcHost(hub, with_tools=False), Access.USER, raw=True),
        Endpoint("/generate_with_mcp", ("POST",), RpcHost(hub, with_tools=True), Access.USER, raw=True),
    ]


class RpcHost:
    """Answer JSON-RPC requests: `/generate` without tools, `/generate_with_mcp` with those of the servers."""

    def __init__(self, hub: ChatHub, *, with_tools: bool) -> None:
        self._hub = hub
        self._with_tools = with_tools
        self._names = ModelNames(hub)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or a batch of them."""
        caller = caller_of(scope.get("state"))
        current_caller.set(Caller(caller))
        try:
            body = await read_body(receive)
        except ClientGoneError:
            return
        except NaruError as error:
            await respond(send, 413, encode(_failure(None, INVALID_REQUEST, str(error))))
            return
        asked = _decode(body)
        wants_events = b"text/event-stream" in headers_of(scope).get(b"accept", b"")
        async with ChatClient(scope, receive, send, OPENAI) as client:
            if isinstance(asked, list) and asked:
                if wait := await count_more(scope.get("state", {}).get(COUNTED), len(asked[:MAX_BATCH]) - 1):
                    said = encode(_failure(None, MODEL_FAILED, _TOO_MANY))
                    await respond(send, 429, said, headers=[(b"retry-after", b"%d" % wait)])
                    return
                answers = await asyncio.gather(*(self._answer(one, caller) for one in asked[:MAX_BATCH]))
                kept = [answer for answer in answers if answer is not None]
                kept += [_failure(None, INVALID_REQUEST, f"A batch has at most {MAX_BATCH} requests.")] * (
                    len(asked) > MAX_BATCH
                )
                await (client.answer(encode(kept)) if kept else respond(send, 204, b""))
                return
            if isinstance(asked, dict) and (wants_events or _asks_for_stream(asked)):
                await self._stream(asked, caller, client)
                return
            answer = await self._answer(asked, caller)
            await (client.answer(encode(answer)) if answer is not None else respond(send, 204, b""))

    async def _answer(self, asked: Any, caller: str) -> JsonObject | None:
        """Return the response, or None for a notification."""
        request_id = asked.get("id") if isinstance(asked, dict) else None
        try:
            call = _read(asked)
            call.params.model = await self._names.chosen(call.params.model)
            end = None
            async with aclosing(self._events(call.params, caller)) as events:
                async for event in events:
                    end = event if isinstance(event, RunFinished) else end
        except RpcError as error:
            return _failure(request_id, error.code, error.message, error.data)
        assert end is not None
        return None if call.notification else _success(call.id, _result(end, call.params.model))

    async def _stream(self, asked: JsonObject, caller: str, client: ChatClient) -> None:
        """Send steps and answer text as notifications, then the response."""
        request_id = asked.get("id")
        try:
            call = _read(asked)
            call.params.model = await self._names.chosen(call.params.model)
            async with aclosing(self._events(call.params, caller)) as events:
                async for event in events:
                    if isinstance(event, RunFinished):
                        await client.end(_event(_success(call.id, _result(event, call.params.model))))
                        return
                    if (step := _step(event)) is not None:
                        note = {"jsonrpc": "2.0", "method": "generate/progress", "params": {"id": request_id, **step}}
                        await client.write(_event(note))
        except RpcError as error:
            await client.end(_event(_failure(request_id, error.code, error.message, error.data)))

    async def _events(self, params: Params, caller: str) -> AsyncGenerator[AgentEvent, None]:
        try:
            request = ChatRequest(
                params.model,
                _messages(params.messages),
                temperature=params.temperature,
                max_tokens=params.max_output_tokens,
            )
            toolset = self._hub.tools(params.mcp_servers) if self._with_tools else None
            if params.require_tools and (toolset is None or not await toolset.tools()):
                raise RpcError(MODEL_FAILED, "None of the chosen servers offers a tool now.", {"code": "no_tools"})
            limits = self._hub.limits
            if params.max_iterations is not None:
                limits = replace(limits, max_rounds=params.max_iterations)
            work = run(
                self._hub.backend,
                toolset,
                request,
                limits=limits,
                context=CallContext(caller=caller),
                hooks=self._hub.hooks,
            )
            async with aclosing(work) as events:
                async for event in events:
                    yield event
        except (UserError, NotFoundError) as error:
            raise RpcError(INVALID_PARAMS, str(error), {"code": error.code}) from error
        except ModelError as error:
            data = {"code": error.code, "retryable": error.retryable, "retry_after_seconds": error.retry_after_seconds}
            raise RpcError(MODEL_FAILED, str(error), data) from error
        except NaruError as error:
            raise RpcError(INTERNAL_ERROR, str(error), {"code": error.code}) from error


def _decode(body: bytes) -> Any:
    try:
        return decode_body(body) if body.lstrip()[:1] == b"{" else _decode_list(body)
    except UserError as error:
        return RpcError(PARSE_ERROR, str(error))


def _decode_list(body: bytes) -> Any:
    wrapped = decode_body(b'{"batch":' + body + b"}")
    return wrapped["batch"]


def _read(asked: Any) -> _Call:
    """Check a request. Raises RpcError with the code that the specification gives the fault (R1)."""
    if isinstance(asked, RpcError):
        raise asked
    if not isinstance(asked, dict) or asked.get("jsonrpc") != "2.0":
        raise RpcError(INVALID_REQUEST, 'A request is an object with "jsonrpc": "2.0".')
    method = asked.get("method")
    request_id = asked.get("id")
    if (
        not isinstance(method, str)
        or isinstance(request_id, bool)
        or not isinstance(request_id, str | float | int | None)
    ):
        raise RpcError(INVALID_REQUEST, "A request has a method, as text, and an id that is text or a number.")
    if method not in METHODS:
        raise RpcError(METHOD_NOT_FOUND, f"There is no method {method!r}; use generate_content.")
    try:
        params = Params.model_validate(asked.get("params"))
    except ValidationError as error:
        faults = [f"{'.'.join(['params', *map(str, one['loc'])])}: {one['msg']}" for one in error.errors()]
        raise RpcError(INVALID_PARAMS, "; ".join(faults[:5]), {"faults": faults}) from error
    return _Call(asked.get("id"), "id" not in asked, params)


def _messages(turns: list[JsonObject]) -> tuple[Message, ...]:
    """Read turns as OpenAI or as Gemini writes them (`role: model`, `parts`)."""
    plain = []
    for turn in turns:
        role = "assistant" if turn.get("role") == "model" else turn.get("role", "user")
        content = turn.get("content")
        if content is None and isinstance(turn.get("parts"), list):
            content = [_part(part) for part in turn["parts"]]
        plain.append({**turn, "role": role, "content": content})
    return read_messages(plain)


def _part(part: Any) -> Any:
    """Return Gemini's part as other APIs write it; what is no text and holds no data is left for the reader to name."""
    held = (part.get("inline_data") or part.get("inlineData")) if isinstance(part, dict) else None
    if not isinstance(held, dict):
        return part
    kind, data = str(held.get("mime_type") or held.get("mimeType") or ""), held.get("data")
    if kind.startswith("image/"):
        return {"type": "image", "data": data, "mimeType": kind}
    return {"type": "file", "file": {"file_data": f"data:{kind};base64,{data}"}}


def _asks_for_stream(asked: JsonObject) -> bool:
    params = asked.get("params")
    return isinstance(params, dict) and params.get("stream") is True


def _result(end: RunFinished, model: str) -> JsonObject:
    result: JsonObject = {
        "content": end.answer,
        "model": model,
        "reason": end.reason,
        "rounds": end.rounds,
        "calls": list(end.calls),
        "usage": {"prompt_tokens": end.usage.prompt_tokens, "completion_tokens": end.usage.completion_tokens},
    }
    if end.finish in ("length", "content_filter"):
        result["finish"] = end.finish
    return {**result, "note": end.note} if end.note else result


def _step(event: AgentEvent) -> JsonObject | None:
    match event:
        case AnswerText(text=text):
            return {"step": "text", "text": text}
        case RoundStarted(round=number, final=final):
            return {"step": "round", "round": number, "final": final}
        case CallStarted(call=call):
            return {"step": "call", "tool": call.name, "arguments": call.arguments}
        case CallFinished(call=call, result=result):
            return {"step": "result", "tool": call.name, "is_error": result.is_error, "text": result.text[:2000]}
    return None


def _success(request_id: Any, result: JsonObject) -> JsonObject:
    return {"jsonrpc": "2.0", "result": result, "id": request_id}


def _failure(request_id: Any, code: int, message: str, data: JsonObject | None = None) -> JsonObject:
    error: JsonObject = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    return {"jsonrpc": "2.0", "error": error, "id": request_id}


def _event(payload: JsonObject) -> bytes:
    return b"event: message\ndata: " + encode(payload) + b"\n\n"
