"""Reads a chat request: any history that a client can hold, or a 400 that names the message."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from naru.facts import fact
from naru.messages import ChatRequest, JsonObject
from naru.models.asking.strategy import OVERRIDE, STRATEGIES
from naru.web.face.errors import BadRequestError
from naru.web.face.reading.body import (
    Kinds,
    check_form,
    check_kinds,
    flag,
    most_tokens,
    number,
    read_wanted,
    stop_texts,
)
from naru.web.face.reading.history import read_messages
from naru.web.face.reading.mcp_tools import McpAsked, read_mcp_tool
from naru.web.face.reading.parts import text_of
from naru.web.face.reading.tools import allowed_tools, chosen_tools, read_tools
from naru.web.face.seam import Asked

_KNOWN = frozenset(
    "model messages tools functions tool_choice function_call temperature max_tokens max_completion_tokens stop stream "
    "stream_options mcp_servers n naru_ollama".split()
)
_ONLY_WITH_TOOLS = frozenset({"parallel_tool_calls"})
"""Endpoints refuse these where no tools are offered."""

_KINDS: Kinds = {
    **dict.fromkeys(("tools", "functions", "modalities"), (list,)),
    **dict.fromkeys(("response_format", "stream_options", "metadata", "prediction", "audio"), (dict,)),
    **dict.fromkeys(("top_p", "seed", "n", "top_logprobs", "presence_penalty", "frequency_penalty"), (float,)),
    **dict.fromkeys(("parallel_tool_calls", "logprobs", "store"), (bool,)),
    **dict.fromkeys(("reasoning_effort", "user", "service_tier", "verbosity"), (str,)),
    "logit_bias": (dict, list),  # the second is llama.cpp's
}
"""Not every wire knows all of them, so an endpoint need not see what is wrong; the rest is the endpoint's to judge."""


@fact(kw_only=True)
class ChatCall(Asked):
    """A chat request as it was asked for."""

    include_usage: bool = False
    older: bool = False
    """It offers `functions`, and takes one `function_call`."""
    custom: frozenset[str] = frozenset()
    """Names of its tools that take plain text."""


def read_chat(body: JsonObject, headers: Mapping[bytes, bytes]) -> ChatCall:
    """Read a decoded chat request.

    Raises:
        BadRequestError: something in it cannot be taken; the message names it.
    """
    if "messages" not in body:
        raise BadRequestError("messages is missing: a list of turns is needed.", param="messages")
    check_kinds(body, _KINDS)
    check_form(body.get("response_format"), "response_format", inner="json_schema")
    wanted = read_wanted(body, headers)
    if body.get("n") not in (None, 1):
        raise BadRequestError("n must be 1; ask several times for several answers.", param="n")
    if body.get(OVERRIDE) not in (None, "", *STRATEGIES):
        raise BadRequestError(f"{OVERRIDE} must be one of {', '.join(STRATEGIES)}.", param=OVERRIDE)
    body, mcp = _without_mcp_tools(body)
    servers = wanted.servers
    if mcp.servers and servers != ():
        servers = (*(servers or ()), *mcp.servers)
    tools, choice = chosen_tools(read_tools(body), body, others=servers is not None)
    if choice == "none":
        # Not offering them is the one way that every engine respects.
        tools, choice, servers = (), None, None
    dropped = _KNOWN if tools or servers is not None else _KNOWN | _ONLY_WITH_TOOLS
    request = ChatRequest(
        model=wanted.model,
        messages=read_messages(body["messages"]),
        tools=tools,
        tool_choice=choice,
        temperature=number(body, "temperature"),
        max_tokens=_max_tokens(body),
        stop=stop_texts(body),
        extra={key: value for key, value in body.items() if key not in dropped and value is not None},
    )
    options = body.get("stream_options") or {}
    check_kinds(options, {"include_usage": (bool,)}, "stream_options.")
    older = body.get("tools") is None and bool(body.get("functions"))
    return ChatCall(
        request=request,
        stream=flag(body, "stream"),
        include_usage=options.get("include_usage") is True,
        servers=servers,
        picks=mcp.picks,
        allowed=allowed_tools(body),
        guests=mcp.guests,
        model_shown=wanted.shown,
        single_call=body.get("parallel_tool_calls") is False or older,
        older=older,
        custom=_custom(body),
    )


def _custom(body: JsonObject) -> frozenset[str]:
    held = (item.get("custom") for item in body.get("tools") or () if isinstance(item, dict))
    return frozenset(text_of(one.get("name")) for one in held if isinstance(one, dict))


def _without_mcp_tools(body: JsonObject) -> tuple[JsonObject, McpAsked]:
    """Take out `{"type": "mcp"}`, which names a server of the hub as in the Responses API."""
    raw, asked = body.get("tools"), McpAsked()
    if not isinstance(raw, list) or not any(isinstance(one, dict) and one.get("type") == "mcp" for one in raw):
        return body, asked
    own: list[Any] = []
    for position, item in enumerate(raw):
        if not isinstance(item, dict) or item.get("type") != "mcp":
            own.append(item)
            continue
        where = f"tools[{position}]"
        if item.get("require_approval", "never") != "never":
            raise BadRequestError(
                f'{where}.require_approval must be "never": a chat completion has no way to ask. The hub\'s own '
                "approvals hold all the same; /v1/responses can ask.",
                param=where,
            )
        asked = read_mcp_tool({**item, "require_approval": "never"}, where, asked)
    return {**body, "tools": own}, asked


def _max_tokens(body: JsonObject) -> int | None:
    # -1 is no limit to LM Studio and llama.cpp, and in what their documents have clients send.
    limits = [most_tokens(body, key, endless=-1) for key in ("max_completion_tokens", "max_tokens")]
    return next(filter(None, limits), None)
