"""From a wire's deltas to the one event form: text through the dialects' parser, native calls beside it (R6).

One reader serves every wire. It owns what faces rely on: call indexes without gaps, arguments that are one JSON
object, and a reason of stopping that says `tool_calls` only when there is a complete call.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from naru.dialects.events import ArgumentsDelta, CallEnd, CallStart, Event, Reasoning, Text
from naru.messages import ChatEvent, Finish, RawText, Usage
from naru.models.native_call import NativeCall


class TextParser(Protocol):
    """What is needed of `naru.dialects.StreamParser`."""

    def feed(self, delta: str) -> list[Event]:
        """Return the events that this text completes."""
        ...

    def close(self, finish_reason: str = "stop") -> list[Event]:
        """Return what was held back."""
        ...


@dataclass(slots=True)
class _LeakedCall:
    """A call that the parser read from text, held while a native twin may exist."""

    events: list[Event] = field(default_factory=list)
    name: str = ""


class AnswerReader:
    """Turns one answer's deltas into events; `finish` gives the last ones."""

    def __init__(self, parser: TextParser, names: Mapping[str, str] | None = None, *, keep_raw: bool = False) -> None:
        """Read with a parser; `names` maps what was sent to what the caller calls it."""
        self._parser = parser
        self._raw: list[str] | None = [] if keep_raw else None
        self._names = names or {}
        self._native: dict[int, NativeCall] = {}
        self._order: list[int] = []
        self._leaked: dict[int, _LeakedCall] = {}
        self._shown_indexes: dict[int, int] = {}
        self._complete: list[tuple[str, dict[str, Any]]] = []
        self._next_index = 0

    def text(self, delta: str) -> list[ChatEvent]:
        """Read answer text."""
        if self._raw is not None:
            self._raw.append(delta)
        if not self._native and not self._shown_indexes:
            events = self._parser.feed(delta)
            if len(events) == 1 and type(events[0]) is Text:
                return events  # type: ignore[return-value]  # list is invariant; nothing is added to it
            return self._from_text(events)
        return self._from_text(self._parser.feed(delta))

    def reasoning(self, delta: str) -> list[ChatEvent]:
        """Take text that the endpoint itself marked as thought."""
        return [Reasoning(delta)]

    def call_delta(self, key: int | None, call_id: str, name: str, arguments: object) -> list[ChatEvent]:
        """Read a piece of a native call.

        Args:
            key: the wire's index; None when it has none, then an id or a name starts a new call.
            call_id: the wire's id, empty in continuation pieces.
            name: the tool's name, empty in continuation pieces.
            arguments: JSON text, or already an object (Ollama, Gemini, some shims).
        """
        call = self._native_call(key, call_id, name)
        call.id = call.id or call_id
        call.add_name(name)
        return self._show(call, call.add(arguments))

    def whole_call(self, call_id: str, name: str, arguments: object) -> list[ChatEvent]:
        """Read a native call that arrives in one piece."""
        return self.call_delta(max(self._order, default=-1) + 1, call_id, name, arguments)

    def finish(self, reason: str | None, usage: Usage | None = None) -> list[ChatEvent]:
        """Close the parser and the open calls; the last event is Finish."""
        events = self._from_text(self._parser.close(reason or "stop"))
        for key in self._order:
            events += self._end(self._native[key], cut=reason == "length")
        if usage is not None:
            events.append(usage)
        if self._raw is not None:
            events.append(RawText("".join(self._raw)))
        events.append(Finish(self._reason(reason)))
        return events

    def _reason(self, reason: str | None) -> str:
        if reason in {"length", "content_filter"}:
            return str(reason)
        return "tool_calls" if self._complete else "stop"

    def _native_call(self, key: int | None, call_id: str, name: str) -> NativeCall:
        if key is None:
            key = self._order[-1] if self._order else 0
            last = self._native.get(key)
            if last is not None and _begins_another(last, call_id, name):
                key = max(self._order) + 1
        elif (known := self._native.get(key)) and call_id and known.id and call_id != known.id:
            # Some endpoints give every parallel call index 0 (Gemini's OpenAI endpoint): the id tells them apart.
            same = [other for other in self._order if self._native[other].id == call_id]
            key = same[0] if same else max(self._order) + 1
        if key not in self._native:
            self._native[key] = NativeCall()
            self._order.append(key)
        return self._native[key]

    def _show(self, call: NativeCall, piece: str) -> list[ChatEvent]:
        """Show what can be shown of a native call: arguments stream once they are known to be an object."""
        if not call.name or self._complete_from_text():
            return []
        if call.index is not None:
            return [ArgumentsDelta(call.index, piece)] if piece else []
        if not call.shows():
            return []
        call.index = self._take_index()
        return [CallStart(call.index, call.id, self._own(call.name)), ArgumentsDelta(call.index, call.json)]

    def _end(self, call: NativeCall, *, cut: bool) -> list[ChatEvent]:
        if not call.name:
            return []
        arguments = call.arguments()
        if (cut and not call.json) or (call.index is not None and not call.is_strict()):
            arguments = None  # What has been shown cannot be mended any more.
        if arguments is None:
            # No text is lost: what cannot be read as a call is said, unless it has been shown already.
            unread = f"{call.name}({call.json})" if call.json else ""
            return [Text(unread)] if call.index is None and unread else []
        events: list[ChatEvent] = []
        if call.index is None:
            if (call.name, arguments) in self._complete:
                return []
            call.index = self._take_index()
            events.append(CallStart(call.index, call.id, self._own(call.name)))
            events.append(ArgumentsDelta(call.index, json.dumps(arguments, ensure_ascii=False)))
        self._complete.append((call.name, arguments))
        return [*events, CallEnd(call.index, arguments)]

    def _from_text(self, events: Iterable[Event]) -> list[ChatEvent]:
        """Renumber the parser's calls, and drop those that the endpoint has also sent natively."""
        out: list[ChatEvent] = []
        for event in events:
            match event:
                case CallStart(index=index, name=name):
                    self._leaked[index] = _LeakedCall([event], name)
                    if not self._native:
                        out += self._release(index)
                case ArgumentsDelta(index=index):
                    self._leaked[index].events.append(event)
                    if index in self._shown_indexes:
                        out += self._release(index)
                case CallEnd(index=index, arguments=arguments):
                    leaked = self._leaked[index]
                    leaked.events.append(event)
                    if index in self._shown_indexes or not self._is_twin(leaked.name, arguments):
                        out += self._release(index)
                        self._complete.append((leaked.name, arguments))
                case _:
                    out.append(event)
        return out

    def _release(self, index: int) -> list[ChatEvent]:
        if index not in self._shown_indexes:
            self._shown_indexes[index] = self._take_index()
        shown = self._shown_indexes[index]
        held, self._leaked[index].events = self._leaked[index].events, []
        out: list[ChatEvent] = []
        for event in held:
            match event:
                case CallStart(id=call_id, name=name):
                    out.append(CallStart(shown, call_id, self._own(name)))
                case ArgumentsDelta(json=text):
                    out.append(ArgumentsDelta(shown, text))
                case CallEnd(arguments=arguments):
                    out.append(CallEnd(shown, arguments))
                case _:
                    raise AssertionError(event)
        return out

    def _is_twin(self, name: str, arguments: dict[str, Any]) -> bool:
        return any(call.name == name and call.arguments() == arguments for call in self._native.values())

    def _complete_from_text(self) -> bool:
        return bool(self._shown_indexes)

    def _own(self, name: str) -> str:
        return self._names.get(name, name)

    def _take_index(self) -> int:
        self._next_index += 1
        return self._next_index - 1


def _begins_another(last: NativeCall, call_id: str, name: str) -> bool:
    return bool(call_id and last.id and call_id != last.id) or bool(name and last.name and last.parts)
