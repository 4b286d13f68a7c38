"""The one event form between readers and writers of tool-call dialects."""

from __future__ import annotations

from naru.dialects.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final


class Text(Value):
    """Ordinary answer text, in order of arrival."""

    __slots__ = __match_args__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text: Final = text


class Reasoning(Value):
    """Text that the model thought rather than said."""

    __slots__ = __match_args__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text: Final = text


class CallStart(Value):
    """A tool call begins; its arguments follow as deltas."""

    __slots__ = __match_args__ = ("index", "id", "name")

    def __init__(self, index: int, id: str, name: str) -> None:  # noqa: A002 - as every wire calls it
        self.index: Final = index
        self.id: Final = id
        """The model's own id where its dialect carries one, else empty: faces make their own."""
        self.name: Final = name


class ArgumentsDelta(Value):
    """The next characters of call `index`'s arguments, which add up to one JSON object."""

    __slots__ = __match_args__ = ("index", "json")

    def __init__(self, index: int, json: str) -> None:
        self.index: Final = index
        self.json: Final = json


class CallEnd(Value):
    """Call `index` is complete."""

    __slots__ = __match_args__ = ("index", "arguments")

    def __init__(self, index: int, arguments: dict[str, Any]) -> None:
        self.index: Final = index
        self.arguments: Final = arguments
        """The whole arguments, decoded."""


Event = Text | Reasoning | CallStart | ArgumentsDelta | CallEnd


class Repair(Value):
    """One deviation that was mended, so that it can be shown and counted (N5)."""

    __slots__ = __match_args__ = ("kind", "before", "after")

    def __init__(self, kind: str, before: str, after: str) -> None:
        self.kind: Final = kind
        self.before: Final = before
        self.after: Final = after


class ParsedCall(Value):
    """A complete call as read from the text."""

    __slots__ = __match_args__ = ("id", "name", "arguments", "dialect", "span")

    def __init__(
        self,
        id: str,  # noqa: A002 - as every wire calls it
        name: str,
        arguments: dict[str, Any],
        dialect: str = "",
        span: tuple[int, int] = (0, 0),
    ) -> None:
        self.id: Final = id
        self.name: Final = name
        self.arguments: Final = arguments
        self.dialect: Final = dialect
        self.span = span
        """Where the call, markers included, stands in the input: start and end in characters.

        The end moves while closing markers are read."""


class Span(Value):
    """What a piece of the input was read as; the spans of a reply join without a gap."""

    __slots__ = __match_args__ = ("kind", "start", "end")

    def __init__(self, kind: str, start: int, end: int) -> None:
        self.kind: Final = kind
        """`text`, `reasoning`, `call`, or `dropped`: markers and layout, and calls that were never completed."""
        self.start: Final = start
        self.end: Final = end


class Parsed(Value):
    """What a whole text was read as."""

    __slots__ = __match_args__ = ("content", "reasoning", "calls", "repairs", "spans")

    def __init__(
        self,
        content: str,
        reasoning: str,
        calls: tuple[ParsedCall, ...] = (),
        repairs: tuple[Repair, ...] = (),
        spans: tuple[Span, ...] = (),
    ) -> None:
        self.content: Final = content
        self.reasoning: Final = reasoning
        self.calls: Final = calls
        self.repairs: Final = repairs
        self.spans: Final = spans
        """Every character of the input, in order."""
