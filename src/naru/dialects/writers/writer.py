"""The seam of dialects out: one call to text, text back to calls; and the stream that carries it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from naru.dialects.events import ArgumentsDelta, CallEnd, CallStart, Event, ParsedCall, Text
from naru.dialects.tool import Tool
from naru.dialects.writers.look_alikes import LookAlikes


@dataclass(frozen=True, slots=True)
class ReadResult:
    """A tool's result as a client shows it in its own dialect."""

    name: str
    text: str


class Writer(Protocol):
    """One dialect out, with its reader back in: `read(write(call))` is the same call."""

    @property
    def name(self) -> str:
        """The dialect's name, as client profiles give it."""
        ...

    @property
    def single(self) -> bool:
        """The client takes one call a turn, at the very end of it."""
        ...

    def write(self, call: ParsedCall, tools: Sequence[Tool]) -> str:
        """Return the call as the client reads it."""
        ...

    def read(self, text: str, tools: Sequence[Tool]) -> list[str | ParsedCall]:
        """Return an assistant's turn of the client's history as text and calls, in order."""
        ...

    def read_results(self, text: str, tools: Sequence[Tool]) -> list[str | ReadResult]:
        """Return a user's turn as text and the tool results that stand in it."""
        ...

    def look_alikes(self, tools: Sequence[Tool]) -> LookAlikes | None:
        """Return what must not stand in ordinary text, since the client would take it for a call."""
        ...


@dataclass(slots=True)
class WriterStream:
    """Turns the events of an answer into the client's dialect: calls become text."""

    writer: Writer
    tools: Sequence[Tool]
    left_over: list[ParsedCall] = field(default_factory=list)
    """Complete calls beyond the one that the client takes in a turn."""
    _names: dict[int, tuple[str, str]] = field(default_factory=dict)
    _held: list[ParsedCall] = field(default_factory=list)
    _guard: LookAlikes | None = field(init=False)
    _said: bool = False

    def __post_init__(self) -> None:
        self._guard = self.writer.look_alikes(self.tools)

    def feed(self, event: Event) -> list[Event]:
        """Take one event and return what the client is told."""
        match event:
            case Text(text=text):
                return self._say(self._guard.feed(text) if self._guard else text)
            case CallStart(index=index, id=call_id, name=name):
                self._names[index] = (call_id, name)
                return []
            case ArgumentsDelta():
                return []
            case CallEnd(index=index, arguments=arguments):
                call_id, name = self._names[index]
                return self._call(ParsedCall(call_id, name, arguments))
            case _:
                return [event]

    def close(self) -> list[Event]:
        """Return what was held back; a dialect that wants its call last gets it here."""
        events = self._say(self._guard.close()) if self._guard else []
        for call in self._held:
            events += self._write(call)
        self._held = []
        return events

    def _say(self, text: str) -> list[Event]:
        if not text:
            return []
        self._said = True
        return [Text(text)]

    def _call(self, call: ParsedCall) -> list[Event]:
        if not self.writer.single:
            before = self._say(self._guard.close()) if self._guard else []
            return before + self._write(call)
        if self._held:
            self.left_over.append(call)
        else:
            self._held.append(call)
        return []

    def _write(self, call: ParsedCall) -> list[Event]:
        gap = "\n\n" if self._said else ""
        self._said = True
        return [Text(gap + self.writer.write(call, self.tools))]
