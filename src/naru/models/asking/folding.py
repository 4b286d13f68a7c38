"""A conversation folded to what a back end accepts: roles, order, alternation (R12). Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from naru.messages import ContentPart, Message, TextPart
from naru.models.asking.teaching import Teaching
from naru.models.known.profile import Profile

SEPARATOR = "\n\n"
_BEGINNING = "(The conversation began earlier.)"


def fold(messages: Sequence[Message], profile: Profile, teaching: Teaching, *, instructions: str = "") -> list[Message]:
    """Return the conversation in the roles that the profile allows; every text of it is kept.

    Args:
        messages: as the caller has them: any order, any roles.
        profile: what the back end accepts.
        teaching: how calls and results are written where they may not be sent as such.
        instructions: added to the system text.
    """
    turns = [turn for turn in messages if turn.role != "system" or turn.text.strip()]
    if not profile.tool_role:
        turns = list(_as_plain_turns(turns, teaching))
    turns = _system_first(turns, profile, instructions)
    if profile.alternation:
        turns = _alternate(turns)
    elif not profile.tool_role:
        turns = _merge_neighbours(turns, {"user"})
    return turns


def _as_plain_turns(messages: Iterable[Message], teaching: Teaching) -> Iterable[Message]:
    """Render calls as model text and results as user turns that name their tool."""
    names: dict[str, str] = {}
    for message in messages:
        if message.role == "tool":
            name = message.name or names.get(message.tool_call_id) or "tool"
            yield Message("user", _join(teaching.result_head(name, message.tool_call_id), message.content, "\n"))
        elif message.tool_calls:
            names |= {call.id: call.name for call in message.tool_calls}
            written = "\n".join(teaching.write_call(call.name, call.arguments) for call in message.tool_calls)
            said = SEPARATOR.join(filter(None, (message.text, written)))
            yield replace(message, content=said, tool_calls=(), carried={})
        else:
            yield message


def _system_first(messages: Sequence[Message], profile: Profile, instructions: str) -> list[Message]:
    """Put system text where the back end takes it: one system message, or the head of the first user turn."""
    leading: list[Message] = []
    rest: list[Message] = []
    for message in messages:
        if message.role != "system":
            rest.append(message)
        elif not rest:
            leading.append(message)
        elif profile.system_role and profile.late_system and not profile.alternation:
            rest.append(message)
        else:
            rest.append(Message("user", message.content))
    if not rest and leading:  # Nobody answers to system text alone; the last of it is what is asked.
        rest = [Message("user", leading.pop().content)]
    if profile.system_role and len(leading) == 1 and not instructions:
        return [leading[0], *rest]
    text = SEPARATOR.join(filter(None, (*(message.text for message in leading), instructions)))
    if not text:
        return rest
    if profile.system_role:
        return [Message("system", text), *rest]
    if rest and rest[0].role == "user":
        return [replace(rest[0], content=_join(text, rest[0].content)), *rest[1:]]
    return [Message("user", text), *rest]


def _alternate(messages: Sequence[Message]) -> list[Message]:
    """Make user and assistant take turns, user first; a system message stays in front."""
    head = list(messages[:1]) if messages and messages[0].role == "system" else []
    turns = _merge_neighbours([turn for turn in messages[len(head) :] if turn.content], {"user", "assistant"})
    if turns and turns[0].role == "assistant":
        turns.insert(0, Message("user", _BEGINNING))
    return head + turns


def _merge_neighbours(messages: Iterable[Message], roles: set[str]) -> list[Message]:
    merged: list[Message] = []
    for message in messages:
        last = merged[-1] if merged else None
        if last is not None and last.role == message.role and message.role in roles and not last.tool_calls:
            merged[-1] = replace(
                last,
                content=_join(last.content, message.content),
                reasoning=SEPARATOR.join(filter(None, (last.reasoning, message.reasoning))),
                tool_calls=message.tool_calls,
                name="",
            )
        else:
            merged.append(message)
    return merged


def _join(
    first: str | tuple[ContentPart, ...], second: str | tuple[ContentPart, ...], separator: str = SEPARATOR
) -> str | tuple[ContentPart, ...]:
    if isinstance(first, str) and isinstance(second, str):
        return separator.join(filter(None, (first, second)))
    parts = [*_parts(first), *_parts(second)]
    joined: list[ContentPart] = []
    for part in parts:
        last = joined[-1] if joined else None
        if isinstance(part, TextPart) and isinstance(last, TextPart):
            joined[-1] = TextPart(f"{last.text}{separator}{part.text}")
        else:
            joined.append(part)
    return tuple(joined)


def _parts(content: str | tuple[ContentPart, ...]) -> tuple[ContentPart, ...]:
    if isinstance(content, str):
        return (TextPart(content),) if content else ()
    return content
