"""JSON-RPC frames: strict decoding of what a stranger sent (S-08), fast encoding of what we answer."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final, NoReturn

import orjson

from naru import encoding
from naru.gateway.wire.protocol import INVALID_REQUEST, PARSE_ERROR, RpcError
from naru.messages import Json, JsonObject

Frame = bytes
"""One encoded JSON-RPC message, without a line end."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one message may cost before it is looked at (S-08)."""

    depth: int = 64
    keys: int = 10_000
    string_chars: int = 1024 * 1024


def decode(body: bytes, limits: Limits) -> Json:
    """Decode one message; refuse what decoders disagree about (duplicate keys, NaN) and what costs too much.

    Raises:
        RpcError: -32700 when it is not JSON, -32600 when it breaks a limit.
    """
    value = _decode_compact(body, limits)
    if value is _UNDECIDED:
        value = _decode_strictly(body, limits)
    # The walk costs more than the parse, so it is made only where a limit can be broken at all.
    if body.count(b"[") + body.count(b"{") > limits.depth or len(body) > limits.string_chars:
        _check(value, limits)
    return value


_UNDECIDED: Final = object()


def _decode_compact(body: bytes, limits: Limits) -> Any:
    """Decode what most clients send; what encodes to the very same bytes cannot have named a key twice."""
    if body.count(b":") > limits.keys:
        return _UNDECIDED
    try:
        value = orjson.loads(body)
        return value if orjson.dumps(value) == body else _UNDECIDED
    except (orjson.JSONDecodeError, TypeError):
        return _UNDECIDED


def _decode_strictly(body: bytes, limits: Limits) -> Json:
    keys = 0

    def build(pairs: list[tuple[str, Any]]) -> JsonObject:
        nonlocal keys
        keys += len(pairs)
        if keys > limits.keys:
            raise RpcError(INVALID_REQUEST, f"The message has more than {limits.keys} keys.")
        made = dict(pairs)
        if len(made) != len(pairs):
            raise RpcError(PARSE_ERROR, "Parse error: an object names a key twice.")
        return made

    try:
        return json.loads(body, object_pairs_hook=build, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise RpcError(PARSE_ERROR, f"Parse error: {str(error)[:200]}") from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _check(root: Json, limits: Limits) -> None:
    level = [root]
    for _ in range(limits.depth):
        deeper: list[Json] = []
        for value in level:
            if isinstance(value, dict):
                deeper.extend(value.values())
            elif isinstance(value, list):
                deeper.extend(value)
            elif isinstance(value, str) and len(value) > limits.string_chars:
                raise RpcError(INVALID_REQUEST, f"A string is longer than {limits.string_chars} characters.")
        if not deeper:
            return
        level = deeper
    raise RpcError(INVALID_REQUEST, f"The message is nested deeper than {limits.depth} levels.")


def encode(value: Json) -> bytes:
    """Encode JSON."""
    return encoding.encode(value, default=_fragment)


def _fragment(value: object) -> Json:
    if isinstance(value, orjson.Fragment):
        contents = value.contents
        return json.loads(contents)
    raise TypeError(f"{type(value).__name__} is not JSON")


def reply(request_id: Json, result: JsonObject | orjson.Fragment) -> Frame:
    """Make the answer to a request; `result` may be encoded already."""
    # Put together by hand: an id beyond 64 bits takes the slower encoder, which knows no encoded results.
    return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (encode(request_id), encode(result))


def failure(request_id: Json, error: RpcError) -> Frame:
    """Make the error answer to a request; the id is null when it could not be read."""
    return encode({"jsonrpc": "2.0", "id": request_id, "error": error.to_json()})


def notification(method: str, params: JsonObject | None = None) -> Frame:
    """Make a notification."""
    message: JsonObject = {"jsonrpc": "2.0", "method": method}
    if params is not None:
        message["params"] = params
    return encode(message)


def request(request_id: Json, method: str, params: JsonObject | None = None) -> Frame:
    """Make a request."""
    message: JsonObject = {"jsonrpc": "2.0", "id": request_id, "method": method}
    if params is not None:
        message["params"] = params
    return encode(message)


def id_of(message: Json) -> Json:
    """Return a message's id if it can be answered to, else None."""
    request_id = message.get("id") if isinstance(message, dict) else None
    return request_id if isinstance(request_id, str | int) else None


def check_message(message: Json) -> JsonObject:
    """Return a well-formed request, notification or response.

    Raises:
        RpcError: -32600, saying what is wrong with the envelope.
    """
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise RpcError(INVALID_REQUEST, 'Invalid request: expected a JSON object with "jsonrpc": "2.0".')
    if "method" in message:
        if not isinstance(message["method"], str):
            raise RpcError(INVALID_REQUEST, "Invalid request: the method must be a string.")
        if message.get("params") is None:
            message.pop("params", None)  # some clients write what they have not as null
        elif not isinstance(message["params"], dict):
            raise RpcError(INVALID_REQUEST, "Invalid request: params must be an object.")
        if "id" in message and not _is_id(message["id"]):
            raise RpcError(INVALID_REQUEST, "Invalid request: the id must be a string or a whole number.")
        return message
    if "result" in message and message.get("error", 0) is None:
        del message["error"]
    if ("result" in message) == ("error" in message) or not (_is_id(message.get("id")) or _is_failure(message)):
        raise RpcError(INVALID_REQUEST, "Invalid request: neither a request, a notification nor a response.")
    return message


def _is_failure(message: JsonObject) -> bool:
    """Tell whether it says, without an id, that one of our messages could not be read."""
    return message.get("id", 0) is None and "error" in message


def _is_id(value: Json) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)
