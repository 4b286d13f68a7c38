"""Reads a chat request: any history that a client can hold, or a 400 that names the message (LESSONS 21)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from naru.messages import ChatRequest, JsonObject, ToolDefinition
from naru.web.openai_history import read_messages
from naru.web.openai_wire import BadRequestError

HUB_TOOLS_SUFFIX = "+tools"
"""Asks for the hub's tools in the model's name, for clients that can add neither a field nor a header."""
_KNOWN = frozenset(
    "model messages tools functions tool_choice function_call temperature max_tokens max_completion_tokens stop stream "
    "stream_options mcp_servers n".split()
)
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
    """Take what orjson refuses and JavaScript writes: lone surrogates in strings."""
    try:
        return json.loads(body)
    except RecursionError:
        raise BadRequestError("The body is nested too deeply.") from None
    except ValueError as error:
        raise BadRequestError(f"The body is not JSON: {error}.") from None


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
    tools, choice = read_tools(body), _tool_choice(body)
    if choice == "none":
        # Not offering them is the one way that every engine respects.
        tools, choice, servers = (), None, None
    request = ChatRequest(
        model=model,
        messages=read_messages(body["messages"]),
        tools=tools,
        tool_choice=choice,
        temperature=_number(body, "temperature"),
        max_tokens=_max_tokens(body),
        stop=_stop(body),
        extra={key: value for key, value in body.items() if key not in _KNOWN},
    )
    options = body.get("stream_options")
    include_usage = isinstance(options, dict) and options.get("include_usage") is True
    return ChatCall(request, body.get("stream") is True, include_usage, servers, shown, body)


def check_routing(body: JsonObject) -> None:
    """Refuse a body that says where the request shall go, or with which key (S-65).

    Raises:
        BadRequestError: it does; the message names the field.
    """
    for key in _REFUSED & body.keys():
        raise BadRequestError(f"{key} cannot be set by a request; it is a setting of this server.", param=key)


def read_tools(body: JsonObject) -> tuple[ToolDefinition, ...]:
    """Read `tools`, or the older `functions`."""
    raw = body.get("tools")
    if raw is None and body.get("functions"):
        raw = [{"type": "function", "function": function} for function in _list(body["functions"], "functions")]
    tools: list[ToolDefinition] = []
    seen: set[str] = set()
    for position, item in enumerate(_list(raw or [], "tools")):
        where = f"tools[{position}]"
        function = item.get("function", item) if isinstance(item, dict) else None
        name = function.get("name") if isinstance(function, dict) else None
        if not isinstance(function, dict) or not isinstance(name, str) or not name:
            raise BadRequestError(f"{where} has no function name.", param=where)
        if name in seen:
            raise BadRequestError(f"{where} repeats the name {name!r}.", param=where)
        seen.add(name)
        schema = function.get("parameters") or {"type": "object", "properties": {}}
        if not isinstance(schema, dict):
            raise BadRequestError(f"{where}.function.parameters must be a JSON Schema object.", param=where)
        tools.append(ToolDefinition(name, str(function.get("description") or ""), schema))
    return tuple(tools)


def _list(value: Any, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise BadRequestError(f"{name} must be a list, not {type(value).__name__}.", param=name)
    return value


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


def _tool_choice(body: JsonObject) -> str | JsonObject | None:
    choice = body.get("tool_choice")
    if choice is None and body.get("function_call") is not None:
        choice = body["function_call"]
        if isinstance(choice, dict):
            choice = {"type": "function", "function": choice}
    if choice is None or isinstance(choice, str | dict):
        return choice
    raise BadRequestError("tool_choice must be a string or an object.", param="tool_choice")


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
    if isinstance(stop, str):
        return (stop,)
    if isinstance(stop, list) and all(isinstance(item, str) for item in stop):
        return tuple(stop)
    raise BadRequestError("stop must be a string or a list of strings.", param="stop")
