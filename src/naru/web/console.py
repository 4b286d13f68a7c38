"""The console's own endpoints: static files, all tools, a tool's result by type, the dialect inspector, a live run."""

from __future__ import annotations

import hashlib
import mimetypes
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import asdict
from importlib import resources
from typing import TYPE_CHECKING, Any

import orjson
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from naru.agent.events import (
    AgentEvent,
    AnswerText,
    CallFinished,
    CallStarted,
    ModelAnswered,
    RoundStarted,
    RunFinished,
)
from naru.agent.loop import run
from naru.dialects import parse, tools_from_openai
from naru.errors import NaruError, UserError
from naru.hub import Hub
from naru.messages import AudioPart, ChatRequest, ImagePart, JsonObject, Part, ResourcePart, TextPart, ToolResult
from naru.models.queue import Caller, current_caller
from naru.stores.redact import REDACTOR
from naru.tools.toolset import CallContext
from naru.web.bodies import parse_body, read_json
from naru.web.openai_client import ChatClient, ClientGoneError, read_body, respond_error
from naru.web.openai_history import read_messages
from naru.web.openai_request import decode_body
from naru.web.plan_b import caller_of
from naru.web.routes import Access, Endpoint

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
FILES = (
    "index.html",
    "style.css",
    "app.js",
    "dom.js",
    "api.js",
    "text.js",
    "servers.js",
    "tools.js",
    "play.js",
    "runs.js",
    "inspect.js",
    "more.js",
)
"""What the browser loads; nothing else of the package is served."""


class ToolBody(BaseModel):
    """A call from the console."""

    model_config = ConfigDict(extra="forbid")

    name: str
    arguments: JsonObject = Field(default_factory=dict)


class InspectBody(BaseModel):
    """A model's raw text with the tools that were offered."""

    model_config = ConfigDict(extra="forbid")

    text: str = Field(max_length=1_000_000)
    tools: list[JsonObject] = Field(default_factory=list)
    model: str | None = None
    generation_prompt: str | None = None
    finish_reason: str = "stop"


class PlayBody(BaseModel):
    """A question for the playground."""

    model_config = ConfigDict(extra="forbid")

    model: str = ""
    messages: list[JsonObject] = Field(min_length=1)
    servers: list[str] | None = None
    temperature: float | None = Field(None, ge=0, le=2)


def endpoints(hub: Hub) -> list[Endpoint]:
    """Return the console's rows; its files are public, since they hold nothing and carry the login."""
    face = Console(hub)
    files = StaticFiles()
    rows = [
        Endpoint("/" if name == "index.html" else f"/console/{name}", ("GET",), files.serve, Access.PUBLIC)
        for name in FILES
    ]
    return [
        *rows,
        Endpoint("/api/tools", ("GET",), face.tools, Access.READ),
        Endpoint("/api/tools/call", ("POST",), face.call, Access.USER),
        Endpoint("/api/dialects/inspect", ("POST",), face.inspect, Access.READ),
        Endpoint("/api/models", ("GET",), face.models, Access.READ),
        Endpoint("/api/play", ("POST",), Playground(hub), Access.USER, raw=True),
    ]


class StaticFiles:
    """The app's files from the package, with a policy that allows no inline code (S-68)."""

    def __init__(self) -> None:
        folder = resources.files("naru.web").joinpath("static")
        self._files = {name: folder.joinpath(name).read_bytes() for name in FILES}
        self._tags = {name: f'"{hashlib.sha256(data).hexdigest()[:20]}"' for name, data in self._files.items()}

    async def serve(self, request: Request) -> Response:
        """Serve one file; a browser that has it gets 304."""
        name = request.url.path.rsplit("/", 1)[-1] or "index.html"
        headers = {
            "Content-Security-Policy": POLICY,
            "Referrer-Policy": "no-referrer",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cache-Control": "no-cache",
            "ETag": self._tags[name],
        }
        if request.headers.get("if-none-match") == self._tags[name]:
            return Response(status_code=304, headers=headers)
        kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
        return Response(self._files[name], media_type=kind, headers=headers)


class Console:
    """The handlers that answer at once."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    async def tools(self, request: Request) -> Response:
        """List all tools that can be called now, under their exposed names."""
        offered = await self._hub.tools().tools()
        return JSONResponse(
            {
                "tools": [
                    {
                        "name": tool.name,
                        "server": tool.server,
                        "title": tool.title,
                        "description": tool.description,
                        "inputSchema": tool.input_schema,
                        "annotations": tool.annotations,
                    }
                    for tool in offered
                ]
            }
        )

    async def call(self, request: Request) -> Response:
        """Call a tool once and give its result by type; a failure is a result too."""
        body = parse_body(ToolBody, await read_json(request))
        context = CallContext(caller=caller_of(request.scope.get("state")), timeout_seconds=60.0)
        try:
            result = await self._hub.tools().call(body.name, body.arguments, context)
        except NaruError as error:
            result = ToolResult.of_text(str(error), is_error=True)
        return JSONResponse(result_data(result))

    async def inspect(self, request: Request) -> Response:
        """Say what a model's text is read as: content, reasoning, calls, repairs, spans."""
        body = parse_body(InspectBody, await read_json(request))
        parsed = parse(
            body.text,
            tools_from_openai(body.tools),
            hint=body.model,
            generation_prompt=body.generation_prompt,
            finish_reason=body.finish_reason,
        )
        return JSONResponse(parsed.as_data())

    async def models(self, request: Request) -> Response:
        """List the models with what is known of each."""
        names = await self._hub.backend.models()
        return JSONResponse({"models": [{"name": name, **_profile(self._hub, name)} for name in names]})


def _profile(hub: Hub, name: str) -> JsonObject:
    backend = hub.backend
    select = getattr(backend, "for_model", None)
    known = asdict((select(name) if select else backend).profile)
    return {key: sorted(value) if isinstance(value, set | frozenset) else value for key, value in known.items()}


def result_data(result: ToolResult) -> JsonObject:
    """Return a tool's result as the console shows it: typed parts."""
    return {
        "isError": result.is_error,
        "structured": result.structured,
        "content": [_part_data(part) for part in result.content],
    }


def _part_data(part: Part) -> JsonObject:
    match part:
        case TextPart(text=text):
            return {"type": "text", "text": REDACTOR.clean(text)}
        case ImagePart(mime_type=mime_type, data=data, url=url):
            return {"type": "image", "mimeType": mime_type, "data": data, "url": url}
        case AudioPart(mime_type=mime_type, data=data):
            return {"type": "audio", "mimeType": mime_type, "data": data}
        case ResourcePart(uri=uri, mime_type=mime_type, text=said):
            return {"type": "resource", "uri": uri, "mimeType": mime_type, "text": said}


class Playground:
    """POST /api/play: a run on chosen servers, each step as a Server-Sent Event."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Stream one run."""
        caller = caller_of(scope.get("state"))
        current_caller.set(Caller(caller))
        try:
            body = parse_body(PlayBody, decode_body(await read_body(receive)))
            messages = read_messages(body.messages)
            toolset = None if body.servers == [] else self._hub.tools(body.servers)
        except ClientGoneError:
            return
        except UserError as error:
            await respond_error(send, error)
            return
        request = ChatRequest(body.model, messages, temperature=body.temperature)
        context = CallContext(caller=caller)
        async with ChatClient(receive, send, streaming=True, grace_seconds=1.0) as client:
            work = run(
                self._hub.backend,
                toolset,
                request,
                limits=self._hub.limits,
                context=context,
                hooks=self._hub.hooks,
            )
            try:
                async for data in _steps(work):
                    await client.write(b"data: " + orjson.dumps(data) + b"\n\n")
                await client.end()
            except NaruError as error:
                await client.write(b"data: " + orjson.dumps({"step": "error", "message": str(error)}) + b"\n\n")
                await client.end()


async def _steps(work: AsyncGenerator[AgentEvent, None]) -> AsyncGenerator[JsonObject, None]:
    async with aclosing(work) as events:
        async for event in events:
            if (data := _step(event)) is not None:
                yield data


def _step(event: AgentEvent) -> JsonObject | None:
    match event:
        case RoundStarted(round=number, final=final, offered=offered):
            return {"step": "round", "round": number, "final": final, "offered": list(offered)}
        case ModelAnswered(round=number, raw=raw, seconds=seconds):
            return {"step": "model", "round": number, "raw": raw, "seconds": seconds}
        case CallStarted(call=call):
            return {"step": "call", "name": call.name, "arguments": call.arguments}
        case CallFinished(call=call, result=result, seconds=seconds, ran=ran):
            found: dict[str, Any] = result_data(result)
            return {"step": "result", "name": call.name, "ran": ran, "seconds": seconds, **found}
        case AnswerText(text=text):
            return {"step": "text", "text": text}
        case RunFinished(reason=reason, answer=answer, rounds=rounds, usage=usage, note=note):
            end = {"reason": reason, "answer": answer, "rounds": rounds, "note": note}
            return {"step": "end", **end, "usage": asdict(usage)}
    return None
