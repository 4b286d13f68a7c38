"""The console's rows: its files under a strict policy (S-68), a tool's result by type, the dialect inspector."""

from __future__ import annotations

import asyncio
import functools
import gzip
import hashlib
import mimetypes
from importlib import resources

from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from naru.dialects import parse, tools_from_openai
from naru.errors import NaruError
from naru.hub import Hub
from naru.messages import JsonObject, ToolResult
from naru.records import ServerStatus
from naru.stores.secrets.redact import REDACTOR
from naru.tools.toolset import CallContext
from naru.web.bodies import parse_body, read_json
from naru.web.console.lists import Lists, tool_data
from naru.web.console.measuring import Measuring
from naru.web.console.playground import Playground, result_data
from naru.web.face.plan_b import caller_of
from naru.web.korean import spoken
from naru.web.routes import Access, Endpoint

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
FILES = (
    "index.html",
    "style.css",
    "icon.svg",
    "ahead.js",
    "app.js",
    "api.js",
    "approvals.js",
    "audit.js",
    "clients.js",
    "dom.js",
    "focus.js",
    "inspect.js",
    "keys.js",
    "live.js",
    "logs.js",
    "markdown.js",
    "marked.js",
    "model.js",
    "models.js",
    "overview.js",
    "pages.js",
    "play.js",
    "results.js",
    "runs.js",
    "schema_form.js",
    "server.js",
    "server_form.js",
    "servers.js",
    "text.js",
    "tool.js",
    "tools.js",
    "uplot.css",
    "uplot.js",
    "waterfall.js",
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


def endpoints(hub: Hub) -> list[Endpoint]:
    """Return the console's rows; its files are public, since they hold nothing and carry the login."""
    face, lists, files = Console(hub), Lists(hub), StaticFiles()
    rows = [
        Endpoint("/" if name == "index.html" else f"/console/{name}", ("GET",), files.serve, Access.PUBLIC)
        for name in FILES
    ]
    return [
        *rows,
        Endpoint("/api/tools", ("GET",), face.tools, Access.READ),
        Endpoint("/api/tools/call", ("POST",), face.call, Access.USER),
        Endpoint("/api/dialects/inspect", ("POST",), face.inspect, Access.READ),
        Endpoint("/api/models", ("GET",), lists.models, Access.READ),
        Endpoint("/api/console/servers", ("GET",), lists.servers, Access.READ),
        Endpoint("/api/console/tools", ("GET",), lists.tools, Access.READ),
        Endpoint("/api/console/tools/{name}", ("GET",), lists.tool, Access.READ),
        Endpoint("/api/console/approvals", ("GET",), lists.approvals, Access.READ),
        Endpoint("/api/models/probe", ("POST",), Measuring(hub), Access.OPERATOR, raw=True),
        Endpoint("/api/play", ("POST",), Playground(hub), Access.USER, raw=True),
    ]


class StaticFiles:
    """The app's files from the package, with a policy that allows no inline code (S-68)."""

    def __init__(self) -> None:
        folder = resources.files("naru.web.console").joinpath("static")
        self._files = {name: folder.joinpath(name).read_bytes() for name in FILES}
        self._tags = {name: f'"{hashlib.sha256(data).hexdigest()[:20]}"' for name, data in self._files.items()}

    async def serve(self, request: Request) -> Response:
        """Serve a file of the console; a browser that has it gets 304."""
        name = request.url.path.rsplit("/", 1)[-1] or "index.html"
        headers = {
            "Content-Security-Policy": POLICY,
            "Referrer-Policy": "no-referrer",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cache-Control": "no-cache",
            "ETag": self._tags[name],
            "Vary": "Accept-Encoding",
        }
        if request.headers.get("if-none-match") == self._tags[name]:
            return Response(status_code=304, headers=headers)
        body = self._files[name]
        if "gzip" in request.headers.get("accept-encoding", ""):
            body, headers["Content-Encoding"] = _packed(body), "gzip"
        kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
        return Response(body, media_type=kind, headers=headers)


@functools.cache
def _packed(data: bytes) -> bytes:
    return gzip.compress(data, 9, mtime=0)


async def _leaves(request: Request) -> None:
    """Wait until the client has gone; its body has been read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


class Console:
    """The handlers that answer at once."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    async def tools(self, request: Request) -> Response:
        """List all tools that can be called now, under their exposed names, and the servers whose tools are missing."""
        offered = [tool_data(tool) for tool in await self._hub.tools().tools()]
        manager, missing = self._hub.manager, []
        for name in sorted(manager.connections):
            found = manager.explain(name)
            if not found.is_usable and found.status is not ServerStatus.DISABLED:
                why = REDACTOR.clean(f"{found.summary} {found.remedy}".strip())
                missing.append({"server": name, "status": found.status, "why": spoken(why)})
        return JSONResponse({"tools": offered, "missing": missing})

    async def call(self, request: Request) -> Response:
        """Call a tool once and give its result by type; a failure is a result too. A client that leaves cancels it."""
        body = parse_body(ToolBody, await read_json(request))
        context = CallContext(caller=caller_of(request.scope.get("state")), timeout_seconds=60.0)
        call = asyncio.ensure_future(self._hub.tools().call(body.name, body.arguments, context))
        left = asyncio.ensure_future(_leaves(request))
        try:
            await asyncio.wait({call, left}, return_when=asyncio.FIRST_COMPLETED)
            if not call.done():
                return Response(status_code=499)  # which nobody reads
            result = await call
        except NaruError as error:
            result = ToolResult.of_text(spoken(str(error), f"api:{error.code}"), is_error=True)
        finally:
            call.cancel()
            left.cancel()
            await asyncio.gather(call, left, return_exceptions=True)
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
