"""Reads a Responses request with what was kept of the conversation before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from naru.facts import fact
from naru.messages import ChatRequest, JsonObject
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
    unread,
)
from naru.web.face.seam import Asked
from naru.web.responses.items import LOCAL_SHELL, read_items
from naru.web.responses.output import Shown
from naru.web.responses.tools import OfferedTools, read_offer

_REFUSED = {
    "prompt": "Prompts by id are kept on OpenAI's servers; send instructions and input.",
}
_MOST_PAIRS = 16
_KINDS: Kinds = {
    **dict.fromkeys(("text", "reasoning", "metadata", "stream_options"), (dict,)),
    **dict.fromkeys(("include", "tools"), (list,)),
    **dict.fromkeys(("parallel_tool_calls", "store"), (bool,)),
    **dict.fromkeys(("top_p", "seed", "max_tool_calls"), (float,)),
    **dict.fromkeys(("previous_response_id", "user", "service_tier", "safety_identifier"), (str,)),
    **dict.fromkeys(("prompt_cache_key", "prompt_cache_retention"), (str,)),
    "conversation": (str, dict),
}
_FORMS = ("text", "json_object", "json_schema")
_PASSED = (
    *("top_p", "seed", "user", "service_tier", "safety_identifier"),
    *("prompt_cache_key", "prompt_cache_retention"),
)
_READ = frozenset(
    "model input instructions previous_response_id conversation background stream stream_options store metadata "
    "parallel_tool_calls reasoning text tool_choice tools temperature max_output_tokens max_tool_calls include "
    "top_logprobs mcp_servers truncation".split()
) | {*_PASSED}
_LOG_PROBABILITIES = "message.output_text.logprobs"


@fact(kw_only=True)
class ResponsesCall(Asked):
    """A Responses request as it was asked for."""

    body: JsonObject
    caller: str
    items: Sequence[JsonObject]
    """What this request brings, for the store."""
    shown: Shown
    stores: bool = True
    conversation: str = ""
    """The id of the conversation that it is a part of."""


def check_metadata(body: JsonObject) -> None:
    """Refuse metadata that are none. Raises BadRequestError."""
    value = body.get("metadata") or {}
    if (
        not isinstance(value, dict)
        or len(value) > _MOST_PAIRS
        or not all(isinstance(one, str) for one in value.values())
    ):
        raise BadRequestError(f"metadata must be an object of at most {_MOST_PAIRS} texts.", param="metadata")


def check_body(body: JsonObject) -> None:
    """Refuse what cannot be done here.

    Raises:
        BadRequestError: says what to do in its place.
    """
    for name, why in _REFUSED.items():
        if body.get(name):
            raise BadRequestError(f"{name} is not possible here. {why}", param=name)
    if body.get("conversation") and body.get("previous_response_id"):
        raise BadRequestError("conversation and previous_response_id exclude each other.", param="conversation")
    if flag(body, "background") and body.get("store") is False:
        raise BadRequestError("An answer in the background must be kept: leave store out.", param="store")
    check_kinds(body, _KINDS)
    check_metadata(body)
    check_word(body, "truncation", ("auto", "disabled"))
    reasoning, text = body.get("reasoning") or {}, body.get("text") or {}
    check_kinds(reasoning, dict.fromkeys(("effort", "summary"), (str,)), "reasoning.")
    check_kinds(text, {"verbosity": (str,), "format": (dict,)}, "text.")
    check_form(text.get("format"), "text.format")
    check_word(text.get("format") or {}, "type", _FORMS, "text.format.")


def read_call(
    body: JsonObject, headers: Mapping[bytes, bytes], caller: str, items: list[JsonObject], before: list[JsonObject]
) -> ResponsesCall:
    """Read a decoded request.

    Args:
        body: the request.
        headers: its headers.
        caller: whose it is.
        items: its own input items.
        before: those of the conversation that it goes on with.

    Raises:
        BadRequestError: something in it cannot be taken; the message names it.
    """
    wanted = read_wanted(body, headers)
    offer = read_offer(body, others=wanted.servers is not None)
    conversation = read_items([*before, *items], _instructions(body), kept=len(before))
    servers, tools, choice = wanted.servers, offer.tools, offer.choice
    if offer.mcp.servers and servers != ():
        servers = (*(servers or ()), *offer.mcp.servers)
    if choice == "none":
        # Not offering them is the one way that every engine respects.
        tools, choice, servers = (), None, None
    single = body.get("parallel_tool_calls") is False
    request = ChatRequest(
        model=wanted.model,
        messages=conversation.messages,
        tools=tools,
        tool_choice=choice,
        temperature=number(body, "temperature"),
        max_tokens=most_tokens(body, "max_output_tokens"),
        extra=_extra(body, single=single and bool(tools or servers is not None)),
        notes=(*offer.notes, *unread(body, _READ)),
    )
    return ResponsesCall(
        request=request,
        stream=flag(body, "stream"),
        servers=servers,
        picks=offer.mcp.picks,
        allowed=offer.allowed,
        guests=offer.mcp.guests,
        asks=offer.mcp.asks,
        approved=tuple(call for _, call in conversation.approved) if servers is not None else (),
        model_shown=wanted.shown,
        single_call=single,
        most_calls=most_tokens(body, "max_tool_calls", least=0),
        body=body,
        caller=caller,
        items=items,
        shown=_shown(body, offer),
        stores=body.get("store") is not False,
    )


def _instructions(body: JsonObject) -> str:
    value = body.get("instructions")
    if not isinstance(value, str | None):
        raise BadRequestError("instructions must be text.", param="instructions")
    return value or ""


def _shown(body: JsonObject, offer: OfferedTools) -> Shown:
    asks, custom = offer.mcp.asks, set(offer.custom)
    if any(isinstance(tool, dict) and tool.get("type") == LOCAL_SHELL for tool in body.get("tools") or ()):
        custom.add(LOCAL_SHELL)
    reasoning = body.get("reasoning") or {}
    return Shown(
        custom=frozenset(custom),
        namespaces=offer.namespaces,
        asks=lambda tool: tool.server in asks and asks[tool.server].takes(tool),
        hub_calls=bool(offer.mcp.servers),
        summaries=bool(reasoning.get("summary") or reasoning.get("generate_summary")),
    )


def _log_probabilities(body: JsonObject) -> JsonObject:
    """Ask for them as chat completions do, where either of the ways to want them is gone."""
    include, alternatives = body.get("include"), number(body, "top_logprobs")
    if alternatives:
        return {"logprobs": True, "top_logprobs": int(alternatives)}
    return {"logprobs": True} if isinstance(include, list) and _LOG_PROBABILITIES in include else {}


def _extra(body: JsonObject, *, single: bool) -> JsonObject:
    """Return what the wires know by the names of chat completions."""
    extra: JsonObject = {name: body[name] for name in _PASSED if body.get(name) is not None}
    if single:
        extra["parallel_tool_calls"] = False
    extra |= _log_probabilities(body)
    text = body.get("text") or {}
    form = text.get("format")
    if isinstance(form, dict) and form.get("type") == "json_schema":
        named = {key: form[key] for key in ("name", "schema", "strict", "description") if form.get(key) is not None}
        extra["response_format"] = {"type": "json_schema", "json_schema": {"name": "answer", **named}}
    elif isinstance(form, dict) and form.get("type") == "json_object":
        extra["response_format"] = {"type": "json_object"}
    if text.get("verbosity"):
        extra["verbosity"] = text["verbosity"]
    if effort := (body.get("reasoning") or {}).get("effort"):
        extra["reasoning_effort"] = effort
    return extra
