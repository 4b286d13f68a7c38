"""What tools gave in earlier turns of a conversation, for clients that send those turns back as texts alone.

Results are found again by who asks and by all that was said so far, word for word: nobody else's conversation is the
same one, and whoever changes a word of it starts anew. They are given only while their tool is still offered.
"""

from __future__ import annotations

import hashlib
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from itertools import pairwise

from naru.agent.events import AgentEvent, CallFinished, RunFinished
from naru.agent.execute import Outcome
from naru.messages import ChatRequest, Message, ToolCall, ToolDefinition, ToolResult
from naru.tools.lines import leaves

_MOST = 1_000  # Turns that are remembered, of all persons together.
_SECONDS, _CHARACTERS = 3_600.0, 4_000
_Made = tuple[ToolCall, str]


class Recall:
    """Remembers the calls of finished runs in memory, the newest turns of the last hour."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, tuple[float, tuple[_Made, ...]]] = OrderedDict()

    def told(self, request: ChatRequest, caller: str, tools: Sequence[ToolDefinition]) -> ChatRequest:
        """Return the request with calls and results before the answers that they led to, where they are remembered."""
        offered = {tool.name for tool in tools}
        turns: list[Message] = []
        for turn, key in zip(request.messages, _keys(request.messages, caller), strict=True):
            at, made = self._kept.get(key, (0.0, ()))
            if turn.role == "assistant" and time.monotonic() - at < _SECONDS:
                for call, text in (one for one in made if one[0].name in offered):
                    result = Message("tool", text, tool_call_id=call.id, name=call.name)
                    turns += [Message("assistant", "", tool_calls=(call,)), result]
            turns.append(turn)
        return replace(request, messages=tuple(turns))

    async def noting(
        self, events: AsyncGenerator[AgentEvent, None], request: ChatRequest, caller: str
    ) -> AsyncGenerator[AgentEvent, None]:
        """Pass a run's events on, and remember what its calls gave when it is over."""
        made: list[_Made] = []
        async with aclosing(events) as passing:
            async for event in passing:
                if isinstance(event, CallFinished) and event.ran and not event.result.is_error:
                    made.append((event.call, event.result.text[:_CHARACTERS]))
                if isinstance(event, RunFinished) and made:
                    *_, key = _keys([*request.messages, Message("assistant", event.answer)], caller)
                    self._kept[key] = (time.monotonic(), tuple(made))
                    self._kept.move_to_end(key)
                    if len(self._kept) > _MOST:
                        self._kept.popitem(last=False)
                yield event


def calls_in(turns: Sequence[Message], names: Mapping[str, str]) -> tuple[list[ToolCall], list[Outcome]]:
    """Return the calls of a conversation, by shown names; and what the latest turn's gave, with what led to those."""
    told = {turn.tool_call_id: turn.text for turn in turns if turn.role == "tool"}
    made: list[ToolCall] = []
    view: list[Outcome] = []
    for before, turn in pairwise(turns):
        calls = [replace(one, name=names[one.name]) for one in turn.tool_calls if one.name in names]
        taken = [value for one in calls for value in map(str, leaves(one.arguments)) if len(value) > 1]
        view = [one for one in view if not calls or before.role != "user" or any(each in one.shown for each in taken)]
        view += [Outcome(one, ToolResult.of_text(told[one.id]), told[one.id]) for one in calls if one.id in told]
        made += calls
    return made, view


def _keys(turns: Sequence[Message], caller: str) -> Iterator[str]:
    """Return for each turn a fingerprint of who asks and all that was said up to it, apart from spaces and results."""
    known = hashlib.sha256(repr(caller).encode())
    for turn in turns:
        if turn.role in ("user", "assistant") and turn.text.strip():
            known.update(repr((turn.role, turn.text.split())).encode("utf-8", "replace"))
        yield known.hexdigest()
