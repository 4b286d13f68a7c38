"""Where pictures, sound and files of a conversation go: as they are, beside the tool's turn, or told as missing. Pure.

What a client sent is passed on or refused by its place; what a tool gave may become a placeholder, and is told.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from naru.errors import UserError
from naru.messages import AudioPart, ContentPart, ForeignPart, ImagePart, MediaPart, Message, ResourcePart, TextPart
from naru.models.known.profile import Profile

Carries = Callable[[MediaPart], bool]
"""Tells whether a wire has a form for a part."""


class UnsupportedPartError(UserError):
    """A part of the request cannot be passed on to this model; `param` names its place."""

    code = "unsupported_part"

    def __init__(self, part: MediaPart, endpoint: str) -> None:
        self.param = part.where
        super().__init__(
            f"{part.where}: {_named(part)} cannot be passed on to {endpoint}.",
            remedy="Leave it out, send it in another form, or ask a model that takes it.",
        )


def everything(part: MediaPart) -> bool:
    """Carry every part, as OpenAI's wire does; whether the model takes it is the endpoint's to say."""
    return True


def holds_media(messages: Sequence[Message]) -> bool:
    """Tell whether there is more than text in a conversation."""
    held = (part for turn in messages if not isinstance(turn.content, str) for part in turn.content)
    return any(not isinstance(part, TextPart) and not _is_text(part) for part in held)


def placed(
    messages: Sequence[Message], profile: Profile, carries: Carries = everything, *, endpoint: str = "this model"
) -> tuple[Sequence[Message], tuple[str, ...]]:
    """Return the conversation with every part where the endpoint takes it, and what a caller must be told.

    Raises:
        UnsupportedPartError: a part of the client's request has no place.
    """
    for message in messages:
        if type(message.content) is not str:
            break
    else:
        return messages, ()  # As most are.
    turns: list[Message] = []
    waiting: list[ContentPart] = []
    notes: list[str] = []
    for message in messages:
        if message.role != "tool" and waiting:
            turns.append(Message("user", tuple(waiting)))
            waiting = []
        if isinstance(message.content, str):
            turns.append(message)
        elif message.role != "tool":
            _check(message.content, carries, endpoint)
            turns.append(message)
        else:
            kept, moved = _result(message, profile, carries, endpoint, notes)
            turns.append(kept)
            waiting += moved
    if waiting:
        turns.append(Message("user", tuple(waiting)))
    return turns, tuple(dict.fromkeys(notes))


def _check(content: Sequence[ContentPart], carries: Carries, endpoint: str) -> None:
    for part in content:
        if not isinstance(part, TextPart) and not _is_text(part) and not carries(part):
            raise UnsupportedPartError(part, endpoint)


def _result(
    message: Message, profile: Profile, carries: Carries, endpoint: str, notes: list[str]
) -> tuple[Message, list[ContentPart]]:
    """Return a tool's turn as it is sent, and what stands in the user's turn after the results."""
    kept: list[ContentPart] = []
    moved: list[ContentPart] = []
    for part in message.content:
        if isinstance(part, str | TextPart) or _is_text(part):
            kept.append(TextPart(part) if isinstance(part, str) else part)
            continue
        if not carries(part) or profile.images == "none" or not (part.where or isinstance(part, ImagePart)):
            if part.where:
                raise UnsupportedPartError(part, endpoint)
            notes.append(f"{_named(part)} that {message.name or 'a tool'} gave was not shown to the model.")
        elif profile.images == "tool":
            kept.append(part)
            continue
        else:
            moved.append(part)
        if part.where:  # What a tool of ours gave is named in its text.
            kept.append(TextPart(Message("tool", (part,)).text))
    if all(isinstance(part, TextPart) for part in kept):
        content: str | tuple[ContentPart, ...] = Message("tool", tuple(kept)).text
    else:
        content = tuple(kept)
    if moved:
        moved.insert(0, TextPart(f"[From the result of {message.name or 'the tool'}:]"))
    return replace(message, content=content), moved


def _is_text(part: ContentPart) -> bool:
    return isinstance(part, ResourcePart) and part.blob is None


def _named(part: MediaPart) -> str:
    match part:
        case ImagePart(mime_type=kind):
            return f"a picture ({kind})" if kind else "a picture"
        case AudioPart(mime_type=kind):
            return f"sound ({kind})"
        case ResourcePart(uri=uri, mime_type=kind):
            return f"the file {uri[:80]!r}" + (f" ({kind})" if kind else "")
        case ForeignPart(kind=kind):
            return f"a part of type {kind!r}"
