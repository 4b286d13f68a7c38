"""Keep a conversation within a model's context: calls and their results are dropped as pairs (lesson 25)."""

from __future__ import annotations

import json
from collections.abc import Sequence

from naru.messages import Message, ToolDefinition

LEFT_OUT = "Earlier turns of the conversation were left out: with them it has more than the model's {tokens} tokens."
ANSWER_SHARE = 0.25  # Part of the context that is left for the answer.


def tokens_of(text: str) -> int:
    """Estimate the tokens of a text, rather too many: 3 characters each, Hangul and the like 1."""
    wide = 0 if text.isascii() else sum(character >= "\u1100" for character in text)
    return wide + (len(text) - wide) // 3 + 1


def _message_tokens(message: Message) -> int:
    calls = "".join(f"{call.name}{json.dumps(call.arguments, ensure_ascii=False)}" for call in message.tool_calls)
    thought = tokens_of(message.reasoning) if message.reasoning else 0
    return 8 + tokens_of(message.text) + thought + (tokens_of(calls) if calls else 0)


def tools_tokens(tools: Sequence[ToolDefinition]) -> int:
    """Estimate what the tools' definitions take."""
    return sum(
        tokens_of(f"{tool.name}{tool.description}{json.dumps(tool.input_schema, ensure_ascii=False)}") for tool in tools
    )


def request_tokens(messages: Sequence[Message], tools: Sequence[ToolDefinition]) -> int:
    """Estimate what a request's turns and tools take."""
    return sum(map(_message_tokens, messages)) + tools_tokens(tools)


def trimmed(
    messages: Sequence[Message], context_tokens: int, tools: Sequence[ToolDefinition] = ()
) -> tuple[Message, ...]:
    """Drop the oldest turns until the rest fits; system turns and everything from the last question on stay.

    Nothing is dropped where the context's size is not known (0): the endpoint knows it.

    What remains begins, after the system turns, with a user turn, and every result has its call before it.
    """
    kept = list(messages)
    if not context_tokens:
        return tuple(kept)
    room = int(context_tokens * (1 - ANSWER_SHARE)) - tools_tokens(tools)
    if sum(map(_message_tokens, kept)) <= room:
        return tuple(kept)
    system = [turn for turn in kept if turn.role == "system"]
    turns = [turn for turn in kept if turn.role != "system"]
    last_question = max((at for at, turn in enumerate(turns) if turn.role == "user"), default=0)
    first = 0
    total = sum(map(_message_tokens, [*system, *turns]))
    while first < last_question and total > room:
        total -= _message_tokens(turns[first])
        first += 1
        while first < last_question and turns[first].role != "user":
            total -= _message_tokens(turns[first])
            first += 1
    return (*system, *turns[first:])
