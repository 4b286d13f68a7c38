"""What a model thought beside its calls, for clients that do not send it back: many keep nothing but OpenAI's fields.

Endpoints refuse calls of a history without their thoughts (DeepSeek, Kimi) or signatures (Gemini). The ids of the calls
are Naru's own and random, so whoever sends one back was given it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from naru.fields import merge
from naru.messages import CARRIED, Extra, JsonObject, Message
from naru.web.face.memory import Recent

_ENTRIES = 1000
_MOST_CHARACTERS = 64_000
"""Of one turn; longer thoughts are not kept."""


@dataclass(slots=True)
class Turn:
    """What stood beside the calls of one answer, as it is written."""

    reasoning: list[str] = field(default_factory=list)
    carried: JsonObject = field(default_factory=dict)
    by_call: dict[int, JsonObject] = field(default_factory=dict)
    ids: dict[int, str] = field(default_factory=dict)
    """Index of a call → the id that the client gets."""

    def take(self, event: Extra) -> None:
        """Take what the endpoint wants back."""
        wanted = {name: event.fields[name] for name in CARRIED & event.fields.keys()}
        if wanted and event.place == "message":
            merge(self.carried, wanted)
        elif wanted and event.place == "call":
            self.by_call.setdefault(event.index, {}).update(wanted)


@dataclass(frozen=True, slots=True)
class _Kept:
    reasoning: str
    carried: JsonObject
    by_call: dict[str, JsonObject]


class Thoughts:
    """Remembers turns by their first call; never needed by a client that keeps what it was given."""

    def __init__(self) -> None:
        self._kept: Recent[_Kept] = Recent(entries=_ENTRIES)

    def keep(self, turn: Turn) -> None:
        """Remember what stood beside a turn's calls, if anything did."""
        if not turn.ids or not (turn.reasoning or turn.carried or turn.by_call):
            return
        reasoning = "".join(turn.reasoning)
        if len(reasoning) <= _MOST_CHARACTERS:
            by_call = {turn.ids[index]: fields for index, fields in turn.by_call.items() if index in turn.ids}
            self._kept.put(turn.ids[min(turn.ids)], _Kept(reasoning, turn.carried, by_call))

    def restored(self, messages: Sequence[Message]) -> Sequence[Message]:
        """Return a history with what its client has dropped."""
        if not len(self._kept):
            return messages
        return [self._whole(message) if message.tool_calls else message for message in messages]

    def _whole(self, message: Message) -> Message:
        kept = self._kept.get(message.tool_calls[0].id)
        if kept is None:
            return message
        calls = tuple(
            call if call.carried else replace(call, carried=kept.by_call.get(call.id, {}))
            for call in message.tool_calls
        )
        return replace(
            message,
            reasoning=message.reasoning or kept.reasoning,
            carried=message.carried or kept.carried,
            tool_calls=calls,
        )
