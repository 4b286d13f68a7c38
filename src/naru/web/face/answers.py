"""Where an answer's events come from: the model, the agent loop, or a call kept from the turn before (V8, V9)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from itertools import groupby

from naru.agent.events import (
    AnswerBeside,
    AnswerText,
    CallFinished,
    CallStarted,
    ClientCalls,
    ModelAnswered,
    ReasoningText,
    RunFinished,
)
from naru.agent.execute import Executor, Outcome
from naru.agent.limits import Budget, Limits
from naru.agent.loop import run
from naru.messages import (
    CallEnd,
    CallStart,
    ChatRequest,
    Extra,
    Finish,
    Message,
    Reasoning,
    Text,
    ToolCall,
    ToolDefinition,
)
from naru.models.asking.media import holds_media
from naru.models.backend import deliver, for_model, take_all
from naru.tools.toolset import CallContext, ProgressCallback, Toolset
from naru.tools.wrappers import FilteredToolset
from naru.web.face.exchange import Exchange, Outgoing
from naru.web.face.hub import ChatHub
from naru.web.face.memory import Recent, place_of, places_of
from naru.web.face.reading.tools import check_choice
from naru.web.face.repeats import answered_calls, without_repeats
from naru.web.face.seam import Asked, FaceEvent, FaceTake, HubTools, ToolNote

CLIENT_PREFIX = "client__"
"""Put before a client's tool whose name one of the hub's has; taken off again on the way back."""


_MOST_CHARACTERS = 64_000_000
"""Of what is kept for the next turns of all conversations: one result may hold a picture of megabytes."""
Batches = AsyncGenerator[Sequence[FaceEvent], None]


class Answers:
    """Gives the events for each exchange, and keeps what the next turn of a conversation needs."""

    def __init__(self, hub: ChatHub) -> None:
        self._hub = hub
        self._left_over: Recent[list[ToolCall]] = Recent(size=_characters, most=_MOST_CHARACTERS)
        """Calls of a turn beyond the first, for clients that take one a turn."""
        self._hub_turns: Recent[tuple[Message, ...]] = Recent(size=_characters, most=_MOST_CHARACTERS)
        """What the hub's tools gave before a client's own tool was called: the client does not hold it."""

    @asynccontextmanager
    async def toolset(self, asked: Asked) -> AsyncIterator[Toolset]:
        """Return the tools of the hub that a request asks for, and those of servers that it names by URL.

        Raises:
            NotFoundError: it names a server that is not registered.
            UserError, PolicyError, ConnectionFailedError: one that it names by URL cannot be had.
        """

        def wanted(tool: ToolDefinition) -> bool:
            pick = asked.picks.get(tool.server)
            return (pick is None or pick.takes(tool)) and (asked.allowed is None or asked.allowed.takes(tool))

        async with self._hub.with_guests(asked.servers or None, asked.guests) as toolset:
            yield FilteredToolset(toolset, wanted) if asked.picks or asked.allowed else toolset

    async def deliver(self, exchange: Exchange, caller: str, asked: Asked, take: FaceTake) -> None:
        """Answer one exchange, with the hub's tools where they are asked for.

        Events that are there together are taken together, so that the client gets them in one write.
        """
        request = exchange.request
        kept = self._kept_call(exchange, caller)
        if asked.answer:
            if (behind := take(asked.answer)) is not None:
                await behind
        elif kept is not None:
            await take_all(kept, take)
        elif asked.servers is not None and exchange.profile.dialect != "shell":
            hear = _heard(take) if exchange.profile.steps else None
            context = CallContext(caller=caller, on_progress=hear)
            await take_all(self._run(request, context, asked), take)
        else:
            backend = for_model(self._hub.backend, request.model)
            for before_model in self._hub.hooks.before_model:  # the agent loop does so itself
                request = await before_model(request)
            is_small = backend.profile.small and not holds_media(request.messages)
            if request.tools and is_small and answered_calls(request.messages):
                await take_all(without_repeats(backend, request), take)
            else:
                await deliver(backend, request, take)

    def keep(self, outgoing: Outgoing, caller: str) -> None:
        """Keep the calls that the client did not get in this turn; those of an answer that this one is for go."""
        if outgoing.first is not None and (outgoing.left_over or len(self._left_over)):
            request = outgoing.exchange.request
            self._left_over.put(_turn_of(caller, request, request.messages, outgoing.first), outgoing.left_over)

    def _kept_call(self, exchange: Exchange, caller: str) -> Batches | None:
        """Give the next call of the last turn when the client has just answered the one before it."""
        request, messages = exchange.request, exchange.request.messages
        if not len(self._left_over) or not exchange.takes_one or len(messages) < 2:
            return None
        asked, answered = messages[-2], messages[-1]
        if answered.role != "tool" or asked.role != "assistant" or len(asked.tool_calls) != 1:
            return None
        calls = self._left_over.get(_turn_of(caller, request, messages[:-2], asked.tool_calls[0]))
        return _replay(calls) if calls else None

    async def _run(self, request: ChatRequest, context: CallContext, asked: Asked) -> Batches:
        """Run the agent loop on the hub's tools; give its answer, and the calls that are the client's."""
        async with self.toolset(asked) as toolset, aclosing(self._run_on(toolset, request, context, asked)) as batches:
            async for batch in batches:
                yield batch

    async def _run_on(self, toolset: Toolset, request: ChatRequest, context: CallContext, asked: Asked) -> Batches:
        caller = context.caller
        shown = request.messages
        hub_tools = await toolset.tools()
        check_choice(request.tool_choice, (*request.tools, *hub_tools))
        renamed = _renamed(request.tools, hub_tools)
        request = replace(_with_names(request, renamed), messages=self._with_hub_turns(caller, request.messages))
        back = {new: old for old, new in renamed.items()}
        yield [HubTools(hub_tools)]
        if asked.approved:
            outcomes = await Executor(toolset, Budget(self._hub.limits), context).run(asked.approved)
            for outcome in outcomes:
                ran = CallFinished(0, outcome.call, outcome.result, outcome.seconds, outcome.ran)
                yield [CallStarted(0, outcome.call), ran]
            request = replace(request, messages=[*request.messages, *_made(outcomes)])
        if asked.asks:
            request = replace(request, tools=[*request.tools, *filter(asked.asks_for, hub_tools)])
            toolset = FilteredToolset(toolset, lambda tool: not asked.asks_for(tool))
        limits = self._hub.limits
        if asked.most_calls is not None:
            limits = replace(limits, max_calls=min(limits.max_calls, asked.most_calls))
        async with aclosing(self._loop(request, shown, context, toolset, back, limits)) as batches:
            async for batch in batches:
                yield batch

    async def _loop(
        self,
        request: ChatRequest,
        shown: Sequence[Message],
        context: CallContext,
        toolset: Toolset,
        back: Mapping[str, str],
        limits: Limits,
    ) -> Batches:
        """Give what the loop says; `shown` is the history as the client holds it, `back` its own names of its tools."""
        caller = context.caller
        finished: list[CallFinished] = []
        said: dict[int, Message] = {}
        backend = for_model(self._hub.backend, request.model)
        run_events = run(
            backend,
            toolset,
            request,
            limits=limits,
            context=context,
            hooks=self._hub.hooks,
        )
        async with aclosing(run_events) as events:
            async for event in events:
                match event:
                    case AnswerText(text=text) if text:
                        yield [Text(text)]
                    case ReasoningText(text=text):
                        yield [Reasoning(text)]
                    case AnswerBeside(event=beside):
                        yield [beside]
                    case ModelAnswered(round=number, said=Message() as turn):
                        said[number] = turn
                    case CallStarted():
                        yield [event]
                    case CallFinished():
                        finished.append(event)
                        yield [event]
                    case ClientCalls(calls=calls):
                        handed = [replace(one, name=back.get(one.name, one.name)) for one in calls]
                        if finished:
                            self._hub_turns.put(place_of(caller, shown, handed[0]), _turns_of(finished, said))
                        for index, one in enumerate(handed):
                            yield _handed(index, one)
                    case RunFinished():
                        yield [event.usage, Finish(event.finish), event]

    def _with_hub_turns(self, caller: str, messages: Sequence[Message]) -> Sequence[Message]:
        if not len(self._hub_turns):
            return messages
        turns: list[Message] = []
        for place, message in zip(places_of(caller, messages), messages, strict=True):
            turns += self._hub_turns.get(place) or ()
            turns.append(message)
        return turns


def _turn_of(caller: str, request: ChatRequest, messages: Sequence[Message], call: ToolCall) -> str:
    """Return a key for a call that this model made at a point of a caller's conversation."""
    return place_of(f"{caller}\0{request.model}", messages, call)


def _characters(kept: Sequence[Message | ToolCall]) -> int:
    return sum(len(repr(one)) for one in kept)


def _heard(take: FaceTake) -> ProgressCallback:
    """Pass on what servers say of their calls: a call is waited for then, so nothing else is on its way."""

    async def hear(progress: float, total: float | None, message: str) -> None:
        if message and (behind := take([ToolNote(message, progress, total)])) is not None:
            await behind

    return hear


async def _replay(calls: Sequence[ToolCall]) -> Batches:
    """Give the calls that wait as an answer of their own: the client takes the first, and the others wait on."""
    for index, call in enumerate(calls):
        yield [CallStart(index, "", call.name), CallEnd(index, call.arguments)]
    yield [Finish("tool_calls")]


def _handed(index: int, call: ToolCall) -> list[FaceEvent]:
    beside = [Extra("call", call.carried, index)] if call.carried else []
    return [CallStart(index, call.id, call.name), *beside, CallEnd(index, call.arguments)]


def _made(outcomes: Sequence[Outcome]) -> list[Message]:
    """Return approved calls and what they gave as turns."""
    calls = Message("assistant", tool_calls=tuple(one.call for one in outcomes))
    return [calls, *(Message("tool", one.content, tool_call_id=one.call.id, name=one.call.name) for one in outcomes)]


def _turns_of(finished: Sequence[CallFinished], said: Mapping[int, Message]) -> tuple[Message, ...]:
    """Return the hub's rounds as turns, each as its endpoint wants it back."""
    turns: list[Message] = []
    for number, calls in groupby((one for one in finished if one.ran), key=lambda one: one.round):
        made = tuple(calls)
        turns.append(replace(said.get(number, Message("assistant")), tool_calls=tuple(one.call for one in made)))
        turns += [Message("tool", one.result.for_model, tool_call_id=one.call.id, name=one.call.name) for one in made]
    return tuple(turns)


def _renamed(own: Sequence[ToolDefinition], hub_tools: Sequence[ToolDefinition]) -> dict[str, str]:
    """Choose other names for the client's tools that are called like one of the hub's (V8)."""
    taken = {tool.name for tool in hub_tools} | {tool.name for tool in own}
    renamed: dict[str, str] = {}
    for tool in own:
        if any(tool.name == other.name for other in hub_tools):
            whole = CLIENT_PREFIX + tool.name
            ends = ("", *(f"_{number}" for number in range(2, len(taken) + 2)))
            name = next(name for end in ends if (name := whole[: 64 - len(end)] + end) not in taken)
            taken.add(name)
            renamed[tool.name] = name
    return renamed


def _with_names(request: ChatRequest, renamed: Mapping[str, str]) -> ChatRequest:
    if not renamed:
        return request
    tools = [replace(tool, name=renamed.get(tool.name, tool.name)) for tool in request.tools]
    messages = [
        replace(
            message,
            tool_calls=tuple(replace(call, name=renamed.get(call.name, call.name)) for call in message.tool_calls),
        )
        for message in request.messages
    ]
    return replace(request, tools=tools, messages=messages)
