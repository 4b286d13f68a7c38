"""How tools are offered to a model and what is sent for it: native, prompted or guided (N1). Pure.

`prepare` turns the request as the caller means it into the request as the endpoint can take it; the answer is read with
the tools of the caller's request, whichever way they were shown.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

from naru.messages import ChatRequest, JsonObject, ToolDefinition
from naru.models.asking.folding import fold
from naru.models.asking.grammar import call_grammar, call_schema
from naru.models.asking.media import Carries, everything, placed
from naru.models.asking.teaching import DEFAULT_TEACHING, TEACHINGS, Teaching
from naru.models.known.count import count
from naru.models.known.profile import Profile, Strategy

OVERRIDE = "naru_strategy"
"""Key in a request's `extra` that overrides the profile's strategy for this request; never sent on."""
OF_OLLAMA = "naru_ollama"
"""Key in a request's `extra` for what only Ollama's API has, by its names: `keep_alive`, and options of its engine."""
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
_STOPS_AT_MOST = 4
"""OpenAI's limit, the smallest of all."""


def within_asked(profile: Profile, request: ChatRequest) -> Profile:
    """Return the profile with no more context than the request has its engine run with, as Ollama's clients may say."""
    asked = count(request.extra.get(OF_OLLAMA, {}).get("num_ctx"))
    return replace(profile, context_tokens=asked) if 0 < asked < profile.context_tokens else profile


def strategy_for(request: ChatRequest, profile: Profile) -> Strategy:
    """Choose the strategy: the request's own, else the profile's, else what the profile can do."""
    wanted = request.extra.get(OVERRIDE) or profile.strategy
    if wanted == "guided" and profile.guided:
        return "guided"
    if wanted == "native" and profile.native_tools:
        return "native"
    return "prompted"


def teaching_for(profile: Profile, strategy: Strategy) -> Teaching:
    """Return how calls are written in prompts; the grammars know fenced JSON only."""
    return DEFAULT_TEACHING if strategy == "guided" else TEACHINGS.get(profile.teach, DEFAULT_TEACHING)


def prepare(
    request: ChatRequest, profile: Profile, carries: Carries = everything, *, endpoint: str = "this model"
) -> ChatRequest:
    """Return the request as it is to be sent: roles folded, tools native or in the prompt, stops and guides set.

    Raises:
        UnsupportedPartError: the client sent a part that this wire has no form for, as `carries` tells.
    """
    messages, notes = placed(request.messages, profile, carries, endpoint=endpoint)
    if messages is not request.messages:
        request = replace(request, messages=messages, notes=(*request.notes, *notes))
    strategy = strategy_for(request, profile)
    teaching = teaching_for(profile, strategy)
    is_native = strategy == "native" and request.tool_choice != "none"
    if OVERRIDE not in request.extra and (is_native if request.tools else request.tool_choice is None):
        turns = fold(request.messages, profile, teaching)
        if len(turns) == len(request.messages) and all(map(operator.is_, turns, request.messages)):
            return request  # As most are: nothing to teach, nothing to fold.
        return replace(request, messages=turns)
    extra = {key: value for key, value in request.extra.items() if key != OVERRIDE}
    if strategy == "native" or not request.tools or request.tool_choice == "none":
        offers_tools = strategy == "native" and request.tool_choice != "none"
        return replace(
            request,
            messages=fold(request.messages, profile, teaching),
            tools=request.tools if offers_tools else (),
            tool_choice=request.tool_choice if offers_tools and request.tools else None,
            extra=extra,
        )
    tools = _chosen(request)
    must_call = request.tool_choice not in {None, "auto"} if not isinstance(request.tool_choice, dict) else True
    plain = replace(profile, tool_role=False)
    sent = replace(
        request,
        messages=fold(
            request.messages, plain, teaching, instructions=teaching.instructions(tools, must_call=must_call)
        ),
        tools=(),
        tool_choice=None,
        stop=_stops(request.stop, teaching.stop),
        extra={key: value for key, value in extra.items() if key != "parallel_tool_calls"},
    )
    return _guide(sent, tools, profile, must_call=must_call) if strategy == "guided" else sent


def is_guided(request: ChatRequest, profile: Profile) -> bool:
    """Tell whether the engine is held to words or a valid call of an offered tool."""
    return bool(request.tools) and request.tool_choice != "none" and strategy_for(request, profile) == "guided"


def is_wrapped(request: ChatRequest, profile: Profile) -> bool:
    """Tell whether an answer in words comes as `{"answer": …}`, since the engine takes one schema for everything."""
    return is_guided(request, profile) and profile.guided == "json_schema" and request.tool_choice in {None, "auto"}


def own_stops(request: ChatRequest, profile: Profile) -> tuple[str, ...]:
    """Return where an answer under this request's strategy must end; empty for native tools and for none."""
    strategy = strategy_for(request, profile)
    if strategy == "native" or not request.tools or request.tool_choice == "none":
        return ()
    return teaching_for(profile, strategy).stop


def _guide(sent: ChatRequest, tools: Sequence[ToolDefinition], profile: Profile, *, must_call: bool) -> ChatRequest:
    if profile.guided == "grammar":
        grammar = call_grammar(tools, words_allowed=not must_call, parallel=profile.parallel_calls)
        return replace(sent, grammar=grammar, response_schema=None)
    schema: JsonObject = call_schema(tools, words_allowed=not must_call)
    return replace(sent, response_schema=schema)


def _chosen(request: ChatRequest) -> Sequence[ToolDefinition]:
    """Return the one tool that `tool_choice` names, else all."""
    if isinstance(request.tool_choice, dict):
        name = (request.tool_choice.get("function") or request.tool_choice).get("name")
        return [tool for tool in request.tools if tool.name == name] or request.tools
    return request.tools


def _stops(asked: Sequence[str], own: Sequence[str]) -> tuple[str, ...]:
    """Return the caller's, all of them, and as many of ours as there is room for: those are cut here as well."""
    return tuple(dict.fromkeys((*asked, *own)))[: max(len(asked), _STOPS_AT_MOST)]
