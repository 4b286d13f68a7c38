"""Headers of the stateless era: they must say what the body says, else -32020 (S-10, SEP-2243)."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from naru.gateway.wire.protocol import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    META_CAPABILITIES,
    META_VERSION,
    MODERN_VERSIONS,
    NAME_KEYS,
    UNSUPPORTED_VERSION,
    RpcError,
)
from naru.messages import Json, JsonObject

Headers = Mapping[str, str]
"""Lower-case name → value without surrounding white space; a repeated header is joined by `REPEATED`."""

REPEATED: Final = "\x00"
ROUTING: Final = ("mcp-protocol-version", "mcp-method", "mcp-name")
PARAM_PREFIX: Final = "mcp-param-"
_READ: Final = (b"mcp-", b"accept", b"last-event-id")
SENTINEL = re.compile(r"=\?base64\?(.*)\?=")
TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
INTEGER = re.compile(r"-?[0-9]+(\.0+)?")


def collect(raw: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Read the ASGI headers that MCP speaks of.

    White space round a value is not part of it (RFC 9110 5.5), whatever the server left there.
    """
    headers: dict[str, str] = {}
    for name, value in raw:
        if not name.startswith(_READ):
            continue
        key = name.decode("latin-1")
        text = value.decode("latin-1").strip(" \t")
        headers[key] = f"{headers[key]}{REPEATED}{text}" if key in headers else text
    return headers


def decode_value(value: str) -> str | None:
    """Undo `=?base64?…?=`; None when it is damaged, so that it never equals a body value by accident."""
    match = SENTINEL.fullmatch(value)
    if match is None:
        return value
    try:
        decoded = base64.b64decode(match[1], validate=True)
        if base64.b64encode(decoded).decode("ascii") != match[1]:
            return None
        return decoded.decode("utf-8")
    except ValueError:  # also of what is not ASCII, and of bytes that are no text
        return None


def check_envelope(message: JsonObject) -> None:
    """Check what every stateless request must say about its sender, on any transport.

    Raises:
        RpcError: -32602 for a missing key, -32022 for a version that is not served.
    """
    meta = message.get("params", {}).get("_meta")
    if not isinstance(meta, dict):
        raise RpcError(INVALID_PARAMS, f"params._meta must be an object with {META_VERSION} and {META_CAPABILITIES}.")
    missing = [key for key in (META_VERSION, META_CAPABILITIES) if key not in meta]
    if missing:
        raise RpcError(INVALID_PARAMS, f"params._meta lacks {', '.join(missing)}.")
    if not isinstance(meta[META_VERSION], str) or not isinstance(meta[META_CAPABILITIES], dict):
        raise RpcError(INVALID_PARAMS, f"{META_VERSION} must be a string and {META_CAPABILITIES} an object.")
    check_version(meta[META_VERSION])


def check_version(version: str) -> None:
    """Raise -32022, which names what is served, unless the version is a stateless one."""
    if version not in MODERN_VERSIONS:
        data = {"supported": list(MODERN_VERSIONS), "requested": version}
        raise RpcError(UNSUPPORTED_VERSION, "Unsupported protocol version", data)


def check_routing(message: JsonObject, headers: Headers) -> None:
    """Check that the routing headers repeat the body.

    Raises:
        RpcError: -32020, naming the header.
    """
    method = message["method"]
    params = message.get("params", {})
    meta = params.get("_meta")
    version = meta.get(META_VERSION) if isinstance(meta, dict) else None
    for name in ROUTING:
        if REPEATED in headers.get(name, ""):
            raise RpcError(HEADER_MISMATCH, f"{name} header appears more than once")
    if version is not None and headers.get("mcp-protocol-version") != version:
        raise RpcError(HEADER_MISMATCH, "mcp-protocol-version header does not match the body's protocol version")
    if headers.get("mcp-method") != method:
        raise RpcError(HEADER_MISMATCH, "mcp-method header does not match the body's method")
    key = NAME_KEYS.get(method)
    if key is None or params.get(key) is None:
        return
    given = headers.get("mcp-name")
    if given is None or decode_value(given) != params[key]:
        raise RpcError(HEADER_MISMATCH, f"mcp-name header does not match the body's {key!r}")


@dataclass(frozen=True, slots=True)
class HeaderParameter:
    """A tool argument that a client repeats as a `Mcp-Param-…` header."""

    path: tuple[str, ...]
    header: str
    is_integer: bool


def header_parameters(schema: Json) -> tuple[HeaderParameter, ...]:
    """Return the valid `x-mcp-header` annotations of a tool's schema; one invalid annotation voids them all."""
    found: list[HeaderParameter] = []
    for path, node in _properties(schema, ()):
        if "x-mcp-header" not in node:
            continue
        name, kind = node["x-mcp-header"], node.get("type")
        if not isinstance(name, str) or not TOKEN.fullmatch(name) or kind not in ("string", "integer", "boolean"):
            return ()
        found.append(HeaderParameter(path, PARAM_PREFIX + name.lower(), kind == "integer"))
    if len({parameter.header for parameter in found}) != len(found):
        return ()
    return tuple(found)


def _properties(schema: Json, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], JsonObject]]:
    properties = schema.get("properties") if isinstance(schema, dict) and len(path) < 16 else None
    if not isinstance(properties, dict):
        return
    for name, node in properties.items():
        if isinstance(node, dict):
            yield (*path, name), node
            yield from _properties(node, (*path, name))


def check_parameters(parameters: tuple[HeaderParameter, ...], arguments: Json, headers: Headers) -> None:
    """Check that every annotated argument and its header agree: both there and equal, or both absent.

    Raises:
        RpcError: -32020, naming the header.
    """
    for parameter in parameters:
        value = _value_at(arguments, parameter.path)
        given = headers.get(parameter.header)
        expected = _as_header(value)
        if given is None and expected is None:
            continue
        if given is None or expected is None or REPEATED in given:
            raise RpcError(HEADER_MISMATCH, f"{parameter.header} header and the argument must both be present, once")
        decoded = decode_value(given)
        if decoded == expected or (parameter.is_integer and _same_number(decoded, value)):
            continue
        raise RpcError(HEADER_MISMATCH, f"{parameter.header} header does not match the argument")


def _value_at(arguments: Json, path: tuple[str, ...]) -> Json:
    for key in path:
        arguments = arguments.get(key) if isinstance(arguments, dict) else None
    return arguments


def _as_header(value: Json) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str | int | float) else None


def _same_number(text: str | None, value: Json) -> bool:
    if text is None or isinstance(value, bool) or not isinstance(value, int | float) or not INTEGER.fullmatch(text):
        return False
    return len(text) < 100 and int(text.partition(".")[0]) == value
