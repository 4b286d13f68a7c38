"""Facts of the MCP wire: versions and eras, `_meta` keys, header values. No I/O.

Two eras: *legacy* (2024-11-05 … 2025-11-25: `initialize`, sessions, server-to-client requests) and *modern*
(2026-07-28: stateless, every request carries an envelope in `_meta`, `server/discover`, `subscriptions/listen`).
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from naru.messages import Json, JsonObject

Era = Literal["legacy", "modern"]
LEGACY_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN_VERSIONS = ("2026-07-28",)
LATEST_LEGACY = LEGACY_VERSIONS[-1]
LATEST_MODERN = MODERN_VERSIONS[-1]

META_VERSION = "io.modelcontextprotocol/protocolVersion"
META_CLIENT_INFO = "io.modelcontextprotocol/clientInfo"
META_CLIENT_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
META_SERVER_INFO = "io.modelcontextprotocol/serverInfo"
META_PERSON = "naru/person"
"""Who asks the hub, verified, in calls of a server whose entry says `tellPerson`; empty where no key is asked for."""
META_RELATED_TASK = "io.modelcontextprotocol/related-task"

METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
UNSUPPORTED_VERSION = -32022

NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""Method → the parameter that `Mcp-Name` repeats."""

_SAFE = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")
_SENTINEL = re.compile(r"=\?base64\?.*\?=")
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_HEADER_TYPES = frozenset({"string", "integer", "boolean"})


def header_value(value: str) -> str:
    """Return the value as an HTTP field can carry it; what cannot be plain ASCII becomes `=?base64?…?=` (S-10)."""
    if _SAFE.fullmatch(value) and not _SENTINEL.fullmatch(value):
        return value
    return f"=?base64?{base64.b64encode(value.encode()).decode()}?="


def parameter_headers(schema: Json) -> tuple[dict[tuple[str, ...], str], str]:
    """Find the parameters a tool wants repeated as `Mcp-Param-*` headers.

    Returns:
        Paths of properties with their header's token, and the reason why the annotations are invalid (else empty):
        a tool with invalid annotations must not be used (2026-07-28, transports).
    """
    found: dict[tuple[str, ...], str] = {}
    seen: set[str] = set()
    for path, node in _schemas(schema):
        if "x-mcp-header" not in node:
            continue
        token = node["x-mcp-header"]
        if not path:
            return {}, "x-mcp-header stands where no plain chain of properties leads"
        where = ".".join(path)
        if not isinstance(token, str) or not _TOKEN.fullmatch(token):
            return {}, f"x-mcp-header of {where} is not a header name"
        if str(node.get("type")) not in _HEADER_TYPES:  # it may be a list of types
            return {}, f"x-mcp-header of {where} needs type string, integer or boolean"
        if token.lower() in seen:
            return {}, f"x-mcp-header {token} is used twice"
        seen.add(token.lower())
        found[path] = token
    return found, ""


def parameter_header_values(wanted: Mapping[tuple[str, ...], str], arguments: JsonObject) -> dict[str, str]:
    """Return the `Mcp-Param-*` headers of one call; absent and unprintable values are left out."""
    headers: dict[str, str] = {}
    for path, token in wanted.items():
        node: Json = arguments
        for key in path:
            node = node.get(key) if isinstance(node, dict) else None
        if isinstance(node, bool):
            headers[f"Mcp-Param-{token}"] = "true" if node else "false"
        elif isinstance(node, str | int | float):
            headers[f"Mcp-Param-{token}"] = header_value(str(node))
    return headers


_ONE = ("items", "contains", "unevaluatedItems", "additionalProperties", "propertyNames", "unevaluatedProperties")
_ONE_MORE = ("not", "if", "then", "else", "contentSchema")
_MANY = ("allOf", "anyOf", "oneOf", "prefixItems")
_NAMED = ("patternProperties", "dependentSchemas", "$defs", "definitions")


def _schemas(root: Json) -> Iterator[tuple[tuple[str, ...] | None, dict[str, Any]]]:
    """Walk every place of a schema; the path is None once it left the chain of `properties`. `$ref` is not followed."""
    stack: list[tuple[tuple[str, ...] | None, Json]] = [((), root)]
    while stack:
        path, node = stack.pop()
        if not isinstance(node, dict):
            continue
        yield path, node
        properties = node.get("properties")
        if isinstance(properties, dict):
            stack += [((*path, name) if path is not None else None, child) for name, child in properties.items()]
        stack += [(None, node[key]) for key in (*_ONE, *_ONE_MORE) if key in node]
        for key in _MANY:
            if isinstance(node.get(key), list):
                stack += [(None, child) for child in node[key]]
        for key in _NAMED:
            if isinstance(node.get(key), dict):
                stack += [(None, child) for child in node[key].values()]
