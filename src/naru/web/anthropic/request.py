"""Reads a Messages request: content blocks of every kind, tools, toolsets of MCP servers that run here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from naru.connections.guests import Guest
from naru.facts import fact
from naru.messages import ChatRequest, Finish, JsonObject, Message, ToolDefinition
from naru.web.anthropic.own_tools import OWN_TOOLS
from naru.web.face.errors import BadRequestError
from naru.web.face.reading.body import (
    Kinds,
    check_form,
    check_kinds,
    check_word,
    flag,
    most_tokens,
    number,
    read_wanted,
    stop_texts,
    unread,
)
from naru.web.face.reading.history import read_messages
from naru.web.face.reading.mcp_tools import read_guest
from naru.web.face.reading.parts import cache_of, content_of
from naru.web.face.reading.tools import chosen_tools, read_tools
from naru.web.face.seam import Asked, Pick

_PASSED = ("top_p", "top_k")
"""Sampling fields that other APIs call the same."""
_KINDS: Kinds = {
    **dict.fromkeys(("metadata", "thinking", "output_config", "output_format", "cache_control"), (dict,)),
    **dict.fromkeys(_PASSED, (float,)),
    "system": (str, list),
    "tools": (list,),
}
_READ = frozenset(
    "model messages max_tokens system metadata thinking output_config output_format stop_sequences stream temperature "
    "tools tool_choice mcp_servers thread cache_control betas anthropic_beta anthropic_version".split()
) | {*_PASSED}
"""The last three say which forms the client writes: all of them are read."""


class ThreadError(BadRequestError):
    """The server shall hold the conversation; by the details Anthropic's packages know to send it whole instead."""

    details: JsonObject = {"error_code": "thread_unsupported_request", "unsupported": ["thread"]}  # noqa: RUF012 - JSON

    def __init__(self) -> None:
        super().__init__("thread is not possible here: send the whole conversation as messages.", param="thread")


@fact(kw_only=True)
class MessagesCall(Asked):
    """A Messages request as it was asked for."""

    shows_hub_calls: bool = False
    """The client named MCP servers in Anthropic's form: it reads blocks of what they were called with."""


def read_call(body: JsonObject, headers: Mapping[bytes, bytes]) -> MessagesCall:
    """Read a decoded request.

    Raises:
        BadRequestError: something in it cannot be taken; the message names it.
    """
    if "messages" not in body:
        raise BadRequestError("messages: a list of turns is needed.", param="messages")
    most = most_tokens(body, "max_tokens", least=0)
    if most is None:
        raise BadRequestError("max_tokens is missing: the most tokens that the answer may have.", param="max_tokens")
    check_kinds(body, _KINDS)
    output = body.get("output_config") or {}
    check_kinds(output, {"effort": (str,), "format": (dict,)}, "output_config.")
    for form, where in ((output.get("format"), "output_config.format"), (body.get("output_format"), "output_format")):
        check_form(form, where)
        check_word(form or {}, "type", ("json_schema",), f"{where}.")
    check_word(body.get("thinking") or {}, "type", ("enabled", "disabled", "adaptive"), "thinking.")
    if body.get("thread"):
        raise ThreadError
    named = body.get("mcp_servers")
    in_form = isinstance(named, list) and any(isinstance(one, dict) for one in named)
    picks = _read_servers(body) if in_form else {}
    guests = _read_guests(body, picks) if in_form else ()
    wanted = read_wanted({**body, "mcp_servers": list(picks) or None} if in_form else body, headers)
    servers = wanted.servers
    tools, choice = chosen_tools(_read_tools(body), body, others=servers is not None)
    if choice == "none":
        # Not offering them is the one way that every engine respects.
        tools, choice, servers = (), None, None
    asked_choice = body.get("tool_choice")
    single = isinstance(asked_choice, dict) and asked_choice.get("disable_parallel_tool_use") is True
    request = ChatRequest(
        model=wanted.model,
        messages=_read_turns(body),
        tools=tools,
        tool_choice=choice,
        temperature=number(body, "temperature"),
        max_tokens=most,
        stop=stop_texts(body, "stop_sequences"),
        extra=_extra(body, single=single and bool(tools or servers is not None)),
        notes=unread(body, _READ),
    )
    return MessagesCall(
        request=request,
        stream=flag(body, "stream"),
        servers=servers,
        picks=picks,
        guests=guests,
        model_shown=wanted.shown,
        # Nothing is to be said: clients warm a cache so, and none is kept here, as `usage` says.
        answer=() if most else (Finish("length"),),
        single_call=single,
        shows_hub_calls=in_form,
    )


def _read_turns(body: JsonObject) -> tuple[Message, ...]:
    turns = read_messages(body["messages"])
    if (cache := cache_of(body)) is not None:  # What a request says of itself is meant of its end.
        turns = (*turns[:-1], replace(turns[-1], cache=turns[-1].cache or cache))
    system = body.get("system")
    if not system:
        return turns
    return (Message("system", content_of(system, "system")), *turns)


def _extra(body: JsonObject, *, single: bool) -> JsonObject:
    """Return what the wires know by OpenAI's names."""
    extra: JsonObject = {name: body[name] for name in _PASSED if body.get(name) is not None}
    if single:
        extra["parallel_tool_calls"] = False
    metadata = body.get("metadata")
    if isinstance(metadata, dict) and isinstance(user := metadata.get("user_id"), str):
        extra["user"] = user
    output = body.get("output_config") or {}
    form = output.get("format") or body.get("output_format")
    if isinstance(form, dict) and isinstance(form.get("schema"), dict):
        named = {"name": "answer", "schema": form["schema"], "strict": True}
        extra["response_format"] = {"type": "json_schema", "json_schema": named}
    effort = _effort_of(body.get("thinking"), output.get("effort") or "")
    if effort:
        extra["reasoning_effort"] = effort
    return extra


def _effort_of(thinking: Any, effort: str) -> str:
    """Say a budget of thoughts in the words of the other APIs; a model that finds its own is to try hard there."""
    kind = thinking.get("type") if isinstance(thinking, dict) else None
    if kind == "disabled":
        return "none"
    if effort or kind not in ("adaptive", "enabled"):
        return effort
    if kind == "adaptive":
        return "high"
    budget = number(thinking, "budget_tokens") or 0
    return "low" if budget < 4_096 else "medium" if budget < 16_384 else "high"


def _read_tools(body: JsonObject) -> tuple[ToolDefinition, ...]:
    """Read the client's own tools; those that Anthropic's servers would run are refused by name."""
    raw = body.get("tools")
    if not isinstance(raw, list):
        return read_tools(body)
    own: list[Any] = []
    for position, item in enumerate(raw):
        kind = item.get("type") if isinstance(item, dict) else None
        if kind in (None, "custom", "function"):
            own.append(item)
        elif kind == "mcp_toolset":
            continue
        elif (known := OWN_TOOLS.get(str(kind).rpartition("_")[0])) is not None:
            own.append({**known, "name": item.get("name") or known["name"]})
        else:
            raise BadRequestError(
                f"tools[{position}] is {kind!r}, a tool that Anthropic's own servers or models bring; it cannot run "
                "here. Leave it out, or offer a tool of an MCP server in its place (mcp_servers).",
                param=f"tools[{position}]",
            )
    return read_tools({"tools": own})


def _read_servers(body: JsonObject) -> dict[str, Pick]:
    """Read which servers of the hub are asked for, and which of their tools."""
    picks: dict[str, Pick] = {}
    for position, item in enumerate(body["mcp_servers"]):
        where = f"mcp_servers[{position}]"
        name = item if isinstance(item, str) else item.get("name") if isinstance(item, dict) else None
        if not isinstance(name, str) or not name:
            raise BadRequestError(f"{where} has no name.", param=where)
        settings = item.get("tool_configuration") if isinstance(item, dict) else None
        settings = settings if isinstance(settings, dict) else {}
        if settings.get("enabled") is False:
            continue
        allowed = settings.get("allowed_tools")
        picks[name] = Pick(frozenset(map(str, allowed)) if isinstance(allowed, list) else None)
    for item in body.get("tools") or ():
        if isinstance(item, dict) and item.get("type") == "mcp_toolset":
            _apply_toolset(item, picks)
    return picks


def _read_guests(body: JsonObject, picks: Mapping[str, Pick]) -> tuple[Guest, ...]:
    """Read those of the servers that are named by URL."""
    guests: list[Guest] = []
    for position, item in enumerate(body["mcp_servers"]):
        if isinstance(item, dict) and item.get("name") in picks:
            where = f"mcp_servers[{position}]"
            guests += read_guest(item["name"], item, where, url="url", token="authorization_token")  # noqa: S106 - names
    return tuple(guests)


def _apply_toolset(item: JsonObject, picks: dict[str, Pick]) -> None:
    name = str(item.get("mcp_server_name") or "")
    if name not in picks:
        raise BadRequestError(f"The toolset names {name!r}, which is not among mcp_servers.", param="tools")
    default = item.get("default_config")
    configs = item.get("configs")
    enabled = {
        str(tool): one.get("enabled")
        for tool, one in (configs.items() if isinstance(configs, dict) else ())
        if isinstance(one, dict)
    }
    if isinstance(default, dict) and default.get("enabled") is False:
        picks[name] = Pick(frozenset(tool for tool, on in enabled.items() if on is True))
    else:
        never = frozenset(tool for tool, on in enabled.items() if on is False)
        picks[name] = Pick(picks[name].only, never)
