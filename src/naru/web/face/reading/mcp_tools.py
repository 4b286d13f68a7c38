"""`{"type": "mcp"}` among the tools of a request: which servers, which of their tools, which of them ask first.

A server is one of the hub, by its name, or one by its URL, where that is allowed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from naru.connections.guests import Guest
from naru.facts import fact
from naru.messages import JsonObject
from naru.web.face.errors import BadRequestError
from naru.web.face.seam import Pick


@fact()
class McpAsked:
    """The servers that a request names among its tools."""

    servers: tuple[str, ...] = ()
    picks: Mapping[str, Pick] = field(default_factory=dict)
    asks: Mapping[str, Pick] = field(default_factory=dict)
    """Tools whose calls the client's person approves first, by server."""
    guests: tuple[Guest, ...] = ()
    """Those of the servers that are named by URL."""


def read_mcp_tool(item: JsonObject, where: str, before: McpAsked) -> McpAsked:
    """Read one entry and add it to those before it.

    Raises:
        BadRequestError: it names no server, or something in it cannot be read.
    """
    label = item.get("server_label")
    if not isinstance(label, str) or not label:
        raise BadRequestError(
            f"{where} needs a server_label: the name of a server of this hub, or of the one at server_url.", param=where
        )
    if item.get("connector_id"):
        raise BadRequestError(
            f"{where} names a connector, which only OpenAI's servers have; name a server of this hub.", param=where
        )
    pick = _pick(item.get("allowed_tools"), f"{where}.allowed_tools") or Pick()
    asks = _asks(item.get("require_approval"), f"{where}.require_approval")
    return McpAsked(
        (*before.servers, *(() if label in before.servers else (label,))),
        {**before.picks, label: pick},
        {**before.asks, label: asks} if asks is not None else before.asks,
        (*before.guests, *read_guest(label, item, where, url="server_url", token="authorization")),  # noqa: S106 - names
    )


def read_guest(label: str, item: JsonObject, where: str, *, url: str, token: str) -> tuple[Guest, ...]:
    """Read where a server is that is named by URL, and what goes with each request to it alone; none without a URL.

    Raises:
        BadRequestError: one of them cannot be read.
    """
    address, bearer, given = item.get(url), item.get(token), item.get("headers")
    if address is None:
        return ()
    for name, value in ((url, address), (token, bearer)):
        if not isinstance(value, str | None):
            raise BadRequestError(f"{where}.{name} must be a string.", param=f"{where}.{name}")
    headers = given or {}
    if not isinstance(headers, dict) or not all(isinstance(value, str) for value in headers.values()):
        raise BadRequestError(f"{where}.headers must be an object of strings.", param=f"{where}.headers")
    if bearer and any(name.lower() == "authorization" for name in headers):
        raise BadRequestError(f"{where} has both {token} and an Authorization header: which one counts?", param=where)
    return (Guest(label, address, {**headers, **({"Authorization": f"Bearer {bearer}"} if bearer else {})}),)


def _pick(value: Any, where: str) -> Pick | None:
    names = value.get("tool_names") if isinstance(value, dict) else value
    reads = value.get("read_only") is True if isinstance(value, dict) else False
    if names is None:
        return Pick(reads_only=reads) if reads else None
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise BadRequestError(f"{where} must be a list of tool names.", param=where)
    return Pick(frozenset(names), reads_only=reads)


def _asks(value: Any, where: str) -> Pick | None:
    """Read who is asked first: `always`, `never`, or names of each; what is named in neither is asked."""
    match value:
        case "never":
            return None
        case None | "always":
            return Pick()
        case dict():
            never = _pick(value.get("never"), f"{where}.never")
            always = _pick(value.get("always"), f"{where}.always")
            if always is not None and never is None:
                return always
            return Pick(always.only if always else None, (never.only or frozenset()) if never else frozenset())
    raise BadRequestError(f'{where} must be "always", "never" or an object of both.', param=where)
