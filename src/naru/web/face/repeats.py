"""Helps a small model out of its commonest loop: writing an answered call again."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace

from naru.agent.language import language_of
from naru.agent.limits import canonical
from naru.agent.small.prompts import final_turn
from naru.messages import (
    CallEnd,
    CallStart,
    ChatEvent,
    ChatRequest,
    Message,
    Reasoning,
    Text,
    ToolCall,
    Usage,
)
from naru.models.backend import Backend, batches_of

_SEPARATOR = "\n\n"
_CALL_BEGINS = tuple("{[<`")


def answered_calls(messages: Sequence[Message]) -> frozenset[str]:
    """Return the calls since the person's last turn, in one spelling each."""
    calls: set[str] = set()
    for message in reversed(messages):
        if message.role == "user":
            break
        calls.update(canonical(call) for call in message.tool_calls)
    return frozenset(calls)


async def without_repeats(backend: Backend, request: ChatRequest) -> AsyncGenerator[Sequence[ChatEvent]]:
    """Ask; when only calls come whose results are there, ask once more: without tools, the results in front.

    Calls are held back until the model has ended, since the last of them decides; so is text that begins like one,
    as small models also write calls that cannot be read.
    """
    answered = answered_calls(request.messages)
    held: list[ChatEvent] = []
    names: dict[int, str] = {}
    calls: list[str] = []
    said = ""
    async with aclosing(batches_of(backend, request)) as batches:
        async for batch in batches:
            passed: list[ChatEvent] = []
            for event in batch:
                match event:
                    case CallStart(index=index, name=name):
                        names[index] = name
                    case CallEnd(index=index, arguments=arguments):
                        calls.append(canonical(ToolCall("", names[index], arguments)))
                    case Text(text=text):
                        said = said or text.lstrip()[:1]
                is_held = said in _CALL_BEGINS if isinstance(event, Text) else not isinstance(event, Reasoning)
                (held if is_held else passed).append(event)
            if passed:
                yield passed
    if not calls or not answered.issuperset(calls):
        yield held
        return
    spent = next((event for event in held if isinstance(event, Usage)), Usage())
    async with aclosing(batches_of(backend, last_request(request))) as batches:
        async for batch in batches:
            yield [spent + event if isinstance(event, Usage) else event for event in batch]


def last_request(request: ChatRequest) -> ChatRequest:
    """Return the turn that small models answer well: no tools, the results first, the question last."""
    messages = request.messages
    asked = max((position for position, message in enumerate(messages) if message.role == "user"), default=0)
    results = _SEPARATOR.join(message.text for message in messages[asked:] if message.role == "tool")
    language = language_of(messages[asked].text, tuple(one.text for one in messages[:asked] if one.role == "user"))
    instruction, said = final_turn(messages[asked].text, results, 1, language)
    before = (message for message in messages[:asked] if message.role != "system")
    turns = (Message("system", instruction), *before, Message("user", said))
    return replace(request, messages=turns, tools=(), tool_choice=None)
