"""Reads a chat request: any history that a client can hold, or a 400 that names the message (LESSONS 21)."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from naru.messages import ChatRequest, JsonObject
from naru.models.json_text import mended
from naru.web.openai.history import read_messages
from naru.web.openai.tools import chosen_tools, read_tools
from naru.web.openai.wire import BadRequestError

HUB_TOOLS_SUFFIX = "+tools"
"""Asks for the hub's tools in the model's name, for clients that can add neither a field nor a header."""
_KNOWN = frozenset(
    "model messages tools functions tool_choice function_call temperature max_tokens max_completion_tokens stop stream "
    "stream_options mcp_servers n".split()
)
_ONLY_WITH_TOOLS = frozenset({"parallel_tool_calls"})
"""Endpoints refuse these where no tools are offered."""
_REFUSED = frozenset("api_base base_url api_key extra_headers user_config custom_llm_provider".split())
"""Where the request goes and with which key is Naru's own matter (SECURITY S-65)."""


@dataclass(frozen=True, slots=True)
class ChatCall:
    """A chat request as it was asked for."""

    request: ChatRequest
    stream: bool = False
    include_usage: bool = False
    servers: tuple[str, ...] | None = None
    """Servers whose tools Naru shall run; empty means all of them, None none."""
    model_shown: str = ""
    """The model's name as the client wrote it."""
    body: JsonObject = field(default_factory=dict)
    single_call: bool = False
    """At most one call in a turn was asked for; a second one the model writes waits for the next turn."""


def decode_body(body: bytes) -> JsonObject:
    """Decode the request's body.

    Raises:
        BadRequestError: it is not a JSON object.
    """
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        value = _decode_leniently(body)
    if not isinstance(value, dict):
        raise BadRequestError(f"The body must be a JSON object, not {type(value).__name__}.")
    return value


def _decode_leniently(body: bytes) -> Any:
    """Take what orjson refuses and clients write: lone surrogates (they become U+FFFD), integers beyond 64 bits."""
    try:
        return mended(json.loads(body, parse_constant=_refuse_constant, parse_float=_finite))
    except RecursionError:
        raise BadRequestError("The body is nested too deeply.") from None
    except ValueError as error:
        raise BadRequestError(f"The body is not JSON: {error}.") from None


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON value")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(f"the number {digits[:20]} is too large")
    return value


def read_chat(body: JsonObject, headers: Mapping[bytes, bytes]) -> ChatCall:
    """Read a decoded chat request.

    Raises:
        BadRequestError: something in it cannot be taken; the message names it.
    """
    if "messages" not in body:
        raise BadRequestError("messages is missing: a list of turns is needed.", param="messages")
    check_routing(body)
    if body.get("n") not in (None, 1):
        raise BadRequestError("n must be 1; ask several times for several answers.", param="n")
    shown = body.get("model")
    if shown is None:
        shown = ""
    if not isinstance(shown, str):
        raise BadRequestError("model must be a string.", param="model")
    servers = _servers(body, headers)
    model = shown
    if model.endswith(HUB_TOOLS_SUFFIX):
        model = model.removesuffix(HUB_TOOLS_SUFFIX)
        servers = () if servers is None else servers
    tools, choice = chosen_tools(read_tools(body), body, others=servers is not None)
    if choice == "none":
        # Not offering them is the one way that every engine respects.
        tools, choice, servers = (), None, None
    dropped = _KNOWN if tools or servers is not None else _KNOWN | _ONLY_WITH_TOOLS
    request = ChatRequest(
        model=model,
        messages=read_messages(body["messages"]),
        tools=tools,
        tool_choice=choice,
        temperature=_number(body, "temperature"),
        max_tokens=_max_tokens(body),
        stop=_stop(body),
        extra={key: value for key, value in body.items() if key not in dropped and value is not None},
    )
    options = body.get("stream_options")
    include_usage = isinstance(options, dict) and options.get("include_usage") is True
    return ChatCall(
        request, _flag(body, "stream"), include_usage, servers, shown, body, body.get("parallel_tool_calls") is False
    )


def check_routing(body: JsonObject) -> None:
    """Refuse a body that says where the request shall go, or with which key (S-65).

    Raises:
        BadRequestError: it does; the message names the field.
    """
    for key in _REFUSED & body.keys():
        raise BadRequestError(f"{key} cannot be set by a request; it is a setting of this server.", param=key)


def _servers(body: JsonObject, headers: Mapping[bytes, bytes]) -> tuple[str, ...] | None:
    asked: Any = body.get("mcp_servers")
    if asked is None:
        line = headers.get(b"x-mcp-servers", b"").decode("latin-1")
        asked = [name.strip() for name in line.split(",") if name.strip()] or None
    if asked is None or asked is False:
        return None
    if asked is True or asked == "all" or asked == ["all"]:
        return ()
    if isinstance(asked, str):
        asked = [asked]
    if not isinstance(asked, list) or not all(isinstance(name, str) for name in asked):
        raise BadRequestError('mcp_servers must be "all" or a list of server names.', param="mcp_servers")
    return tuple(asked) if asked else None


def _flag(body: JsonObject, key: str) -> bool:
    value = body.get(key)
    if value is None or isinstance(value, bool):
        return bool(value)
    raise BadRequestError(f"{key} must be true or false.", param=key)


def _number(body: JsonObject, key: str) -> float | None:
    value = body.get(key)
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        return value
    raise BadRequestError(f"{key} must be a number.", param=key)


def _max_tokens(body: JsonObject) -> int | None:
    for key in ("max_completion_tokens", "max_tokens"):
        value = _number(body, key)
        if value is not None and value > 0:
            return int(value)
    return None


def _stop(body: JsonObject) -> Sequence[str]:
    stop = body.get("stop")
    if stop is None:
        return ()
    stops = [stop] if isinstance(stop, str) else stop
    if isinstance(stops, list) and all(isinstance(item, str | None) for item in stops):
        return tuple(filter(None, stops))  # Engines stop at once where an empty text is.
    raise BadRequestError("stop must be a string or a list of strings.", param="stop")
