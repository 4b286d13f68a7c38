"""A request to a server as a span, its trace carried on in `_meta` (SEP-414)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace

from naru.connections.session.options import RequestOptions
from naru.connections.session.session import Session
from naru.connections.state.faults import RpcError
from naru.messages import Json, JsonObject
from naru.telemetry.tracing import Attribute, Tracing, active, mcp_client_span

Send = Callable[[Session, str, Mapping[str, Json] | None, RequestOptions], Awaitable[JsonObject]]


async def traced_request(
    session: Session,
    method: str,
    params: Mapping[str, Json] | None,
    options: RequestOptions,
    send: Send = Session.request,
) -> JsonObject:
    """Send a request once, inside of a span where there are any; `send` may be several that are one call.

    Raises what `send` raises.
    """
    if (tracing := active()) is None:
        return await send(session, method, params, options)
    return await _in_span(tracing, session, method, params or {}, options, send)


async def _in_span(
    tracing: Tracing, session: Session, method: str, params: Mapping[str, Json], options: RequestOptions, send: Send
) -> JsonObject:
    attributes: dict[str, Attribute | None] = {
        "mcp.protocol.version": session.version or None,
        "network.transport": "tcp" if getattr(session.transport, "pid", None) is None else "pipe",
        "naru.mcp.server": session.server,
    }
    with mcp_client_span(tracing, method, params, attributes) as span:
        try:
            carried = replace(options, meta={**options.meta, **tracing.inject()})
            result = await send(session, method, params, carried)
        except RpcError as error:
            span.set({"rpc.response.status_code": str(error.error_code)})
            span.fail(str(error.error_code), error.message)
            raise
        if result.get("isError") is True:
            span.fail("tool_error")
        return result
