"""Spans by OpenTelemetry's GenAI and MCP conventions, as the rest of Naru makes them.

While `active()` is None nothing here costs more than that look-up; `spans` does the work and needs the extra
`telemetry`. Content (messages, arguments, results) stays out unless `telemetry.content` is on, and is redacted then.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any, Literal, Protocol

from naru.errors import NaruError
from naru.messages import JsonObject
from naru.stores.secrets.redact import REDACTOR

Kind = Literal["client", "server", "internal"]
Attribute = str | bool | int | float | list[str]
Attributes = Mapping[str, Attribute | None]
"""Attributes by name; those that are None are left out."""
CONTEXT_KEYS = ("traceparent", "tracestate", "baggage")
"""What carries a trace in `_meta`, unprefixed by SEP-414, and in HTTP headers."""


class Span(Protocol):
    """One step of a trace."""

    def set(self, attributes: Attributes) -> None:
        """Add attributes; those that are None are left out."""
        ...

    def fail(self, kind: str, message: str = "") -> None:
        """Mark it as failed; `kind` becomes `error.type`."""
        ...

    def current(self) -> AbstractContextManager[None]:
        """Make it the parent of what begins inside."""
        ...

    def end(self) -> None:
        """End it."""
        ...


class Tracing(Protocol):
    """Makes spans."""

    content: bool
    """Whether content may be put into spans."""

    def begin(
        self,
        name: str,
        kind: Kind,
        attributes: Attributes,
        carrier: Mapping[str, str] | None = None,
    ) -> Span:
        """Begin a span under the current one, or under the one that `carrier` names."""
        ...

    def inject(self) -> dict[str, str]:
        """Return what carries the current span to another process."""
        ...

    def ids(self) -> tuple[str, str]:
        """Return trace and span id of the current span in hex, empty outside of any."""
        ...

    def shutdown(self) -> None:
        """Send what is not sent yet."""
        ...


_active: list[Tracing] = []
_tool: ContextVar[Span | None] = ContextVar("naru_tool_span", default=None)


def active() -> Tracing | None:
    """Return what makes spans, None while tracing is off."""
    return _active[0] if _active else None


def activate(tracing: Tracing) -> Callable[[], None]:
    """Switch tracing on for this process; returns what switches it off and sends the rest."""
    _active[:] = [tracing]

    def stop() -> None:
        _active.clear()
        tracing.shutdown()

    return stop


@contextmanager
def spanning(span: Span) -> Iterator[Span]:
    """Hold a span open and current; what is raised marks it as failed."""
    try:
        with span.current():
            yield span
    except NaruError as error:
        span.fail(error.code, error.message)
        raise
    except BaseException as error:
        span.fail(type(error).__name__)
        raise
    finally:
        span.end()


@contextmanager
def tool_span(tracing: Tracing, name: str, call_id: str, arguments: JsonObject) -> Iterator[Span]:
    """Trace one tool of the agent loop; a call to an MCP server inside adds to this span instead of making its own."""
    attributes: dict[str, Attribute | None] = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name,
        "gen_ai.tool.call.id": call_id or None,
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.arguments": content(tracing, arguments),
    }
    with spanning(tracing.begin(f"execute_tool {name}", "internal", attributes)) as span:
        token = _tool.set(span)
        try:
            yield span
        finally:
            _tool.reset(token)


@contextmanager
def mcp_client_span(tracing: Tracing, method: str, params: Mapping[str, Any], attributes: Attributes) -> Iterator[Span]:
    """Trace a request to an MCP server."""
    target, facts = _mcp(method, params)
    outer = _tool.get() if method == "tools/call" else None
    if outer is not None:
        outer.set({**facts, **attributes})
        yield outer
        return
    with spanning(tracing.begin(f"{method} {target}".rstrip(), "client", {**facts, **attributes})) as span:
        yield span


@contextmanager
def mcp_server_span(tracing: Tracing, method: str, params: Mapping[str, Any], attributes: Attributes) -> Iterator[Span]:
    """Trace a request of an MCP client; its parent is what `_meta` names."""
    target, facts = _mcp(method, params)
    span = tracing.begin(
        f"{method} {target}".rstrip(), "server", {**facts, **attributes}, carrier_of(params.get("_meta"))
    )
    with spanning(span):
        yield span


def carrier_of(table: object) -> dict[str, str]:
    """Return the trace context of a `_meta` object or of headers."""
    if not isinstance(table, Mapping):
        return {}
    return {key: table[key] for key in CONTEXT_KEYS if isinstance(table.get(key), str)}


def content(tracing: Tracing, value: object) -> str | None:
    """Return content as redacted JSON text where it may be traced, else None."""
    if not tracing.content:
        return None
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return REDACTOR.clean(text)


def _mcp(method: str, params: Mapping[str, Any]) -> tuple[str, dict[str, Attribute | None]]:
    """Return the target in a span's name, and the attributes that follow from a request."""
    facts: dict[str, Attribute | None] = {"mcp.method.name": method}
    name = params.get("name")
    if method == "tools/call" and isinstance(name, str):
        return name, {**facts, "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name}
    if method == "prompts/get" and isinstance(name, str):
        return name, {**facts, "gen_ai.prompt.name": name}
    uri = params.get("uri")
    return "", {**facts, "mcp.resource.uri": uri if isinstance(uri, str) else None}
