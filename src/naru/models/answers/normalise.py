"""From a wire's deltas to the one event form: text through the dialects' parser, native calls beside it (R6).

One reader serves every wire. It owns what faces rely on: call indexes without gaps, arguments that are one JSON
object, and a reason of stopping that says `tool_calls` only when there is a complete call.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from naru.dialects.events import ArgumentsDelta, CallEnd, CallStart, Event, Reasoning, Text
from naru.messages import BrokenCall, ChatEvent, Extra, Finish, JsonObject, Notice, RawText, Refusal, Usage
from naru.models.answers.native_call import NativeCall

_SPARE = 1 << 20
"""Beyond every index of a wire: keys of calls that have none of their own."""


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

    def __init__(
        self,
        parser: TextParser,
        names: Mapping[str, str] | None = None,
        *,
        keep_raw: bool = False,
        offered: Collection[str] | None = None,
    ) -> None:
        """Read with a parser.

        Args:
            parser: of the text.
            names: what was sent → what the caller calls it.
            keep_raw: end with a RawText.
            offered: the tools that were sent; with none of them a call of the endpoint is no call. None tells nothing.
        """
        self._parser = parser
        self._raw: list[str] | None = [] if keep_raw else None
        self._names = names or {}
        self._offered = offered
        self.reasoned_in = ""
        """Field that the endpoint's reasoning came in, as `Profile.reasoning` names it."""
        self.notes: Sequence[str] = ()
        """What the caller is told before the end."""
        self._native: dict[int, NativeCall] = {}
        self._order: list[int] = []
        self._highest = -1
        """Of the keys."""
        self._by_id: dict[str, int] = {}
        self._unshown: dict[int, NativeCall] = {}
        self._meant: dict[int, int] = {}
        """The wire's index → the call that it means now, where one index served several."""
        self._leaked: dict[int, _LeakedCall] = {}
        self._shown_indexes: dict[int, int] = {}
        self._complete: set[str] = set()
        """Each call in one spelling."""
        self._native_twins: set[str] | None = None
        """The native calls as they stand, in the same spelling; None where one has changed since."""
        self._next_index = 0
        self._was_cut = False

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

    def reasoning(self, delta: str, field_name: str = "") -> list[ChatEvent]:
        """Take text that the endpoint itself marked as thought, and the field it came in."""
        self.reasoned_in = field_name or self.reasoned_in
        return [Reasoning(delta)] if delta else []

    def refusal(self, text: str) -> list[ChatEvent]:
        """Take text that the endpoint marked as a refusal."""
        return [Refusal(text)]

    def call_delta(
        self,
        key: int | None,
        call_id: str,
        name: str,
        arguments: object,
        *,
        carried: JsonObject | None = None,
        is_new: bool = False,
    ) -> list[ChatEvent]:
        """Read a piece of a native call.

        Args:
            key: the wire's index; None when it has none, then an id or a name starts a new call.
            call_id: the wire's id, empty in continuation pieces.
            name: the tool's name, empty in continuation pieces.
            arguments: JSON text, or already an object (Ollama, Gemini, some shims).
            carried: what the endpoint wants back beside it.
            is_new: it begins a call, whatever its index says.
        """
        key = self._key_of(key, call_id, name, arguments, is_new=is_new)
        call = self._native[key]
        self._native_twins = None
        call.id = call.id or call_id
        self._by_id.setdefault(call.id, key)
        call.add_name(name)
        events = self._show(key, call, call.add(arguments))
        if carried:
            call.carried |= carried
            if call.index is not None:
                events.append(Extra("call", carried, call.index))
        while self._native[key].glued:
            key = self._behind(key)
        return events

    def whole_call(
        self, call_id: str, name: str, arguments: object, carried: JsonObject | None = None
    ) -> list[ChatEvent]:
        """Read a native call that arrives in one piece."""
        return self.call_delta(self._highest + 1, call_id, name, arguments, carried=carried)

    def finish(self, reason: str | None, usage: Usage | None = None) -> list[ChatEvent]:
        """Close the parser and the open calls; the last event is Finish."""
        events = self._from_text(self._parser.close(reason or "stop"))
        for key in self._order:
            events += self._end(self._native[key], cut=reason == "length")
        events += [Notice(note) for note in self.notes]
        if usage is not None:
            events.append(usage)
        if self._raw is not None:
            events.append(RawText("".join(self._raw)))
        events.append(Finish(self._reason(reason)))
        return events

    def unsaid(self) -> list[ChatEvent]:
        """Return the text that waited for its meaning, where the answer broke off."""
        return [event for event in self._parser.close("length") if isinstance(event, Text)]

    def _reason(self, reason: str | None) -> str:
        if reason in ("length", "content_filter"):
            return reason
        if self._was_cut:  # Whatever the endpoint calls it: what was begun is not whole.
            return "length"
        return "tool_calls" if self._complete else "stop"

    def _key_of(self, key: int | None, call_id: str, name: str, arguments: object, *, is_new: bool) -> int:
        """Find the key of the call that a piece belongs to.

        Endpoints give parallel calls one index, with other ids, the same or none (Gemini's OpenAI endpoint): a new id,
        a new name, or a name before a new object begins another call.
        """
        if key is None:
            key = self._order[-1] if self._order else 0
        meant = self._meant.get(key, key)
        known = self._native.get(meant)
        if known is not None and (is_new or self._is_another(known, call_id, name, arguments)):
            known.is_over = True
            same = self._by_id.get(call_id) if call_id and not is_new and known.id != call_id else None
            meant = same if same is not None else self._spare_key()
            self._meant[key] = meant
        if meant not in self._native:
            self._native[meant] = self._unshown[meant] = NativeCall()
            self._order.append(meant)
            self._highest = max(self._highest, meant)
        return meant

    def _spare_key(self) -> int:
        return max(self._highest, _SPARE) + 1

    def _is_another(self, known: NativeCall, call_id: str, name: str, arguments: object) -> bool:
        if call_id and known.id and call_id != known.id:
            return True
        if not name or not known.name:
            return False
        if name == known.name:
            begins = not isinstance(arguments, str) or arguments.lstrip()[:1] == "{"
            return begins and bool(arguments) and known.is_complete()
        # A name may come in pieces, before the arguments.
        return bool(known.parts) or bool(self._offered and known.name in self._offered and name in self._offered)

    def _behind(self, place: int) -> int:
        """Open the call whose arguments were glued behind those of another; return its key."""
        call = self._native[place]
        rest, call.glued = call.glued, ""
        following = NativeCall(name=call.name, is_glued=True)
        key = self._highest = self._spare_key()
        self._native[key] = following
        self._order.insert(self._order.index(place) + 1, key)
        for wire, meant in self._meant.items():
            if meant == place:
                self._meant[wire] = key
        if place < _SPARE:
            self._meant.setdefault(place, key)
        following.add(rest)
        return key

    def _show(self, key: int, call: NativeCall, piece: str) -> list[ChatEvent]:
        """Show what can be shown of a native call: arguments stream once they are known to be an object."""
        if not call.name or self._shown_indexes or not self._takes_calls:
            return []
        if call.index is not None:
            return [ArgumentsDelta(call.index, piece)] if piece else []
        if not call.shows():
            return []
        events = self._show_empty()
        del self._unshown[key]
        return [*events, *self._begin(call), ArgumentsDelta(call.index or 0, call.json)]

    def _show_empty(self) -> list[ChatEvent]:
        """Show calls without arguments, now that another one begins: calls keep their order."""
        events: list[ChatEvent] = []
        for key, call in list(self._unshown.items()):
            written = call.json.strip()
            if call.name and (written == "{}" or (call.is_over and not written)):
                del self._unshown[key]
                call.parts = ["{}"]
                events += [*self._begin(call), ArgumentsDelta(call.index or 0, "{}")]
        return events

    def _begin(self, call: NativeCall) -> list[ChatEvent]:
        call.index = self._take_index()
        events: list[ChatEvent] = [CallStart(call.index, call.id, self._own(call.name))]
        return [*events, Extra("call", call.carried, call.index)] if call.carried else events

    @property
    def _takes_calls(self) -> bool:
        return self._offered is None or bool(self._offered)

    def _end(self, call: NativeCall, *, cut: bool) -> list[ChatEvent]:
        if not call.name:  # There is nothing to call, but what was written is not lost.
            return [Text(call.json)] if call.json else []
        arguments = call.arguments()
        if (cut and not call.json) or (call.index is not None and not call.is_strict()):
            arguments = None  # What has been shown cannot be mended any more.
        if arguments is None or not self._takes_calls:
            return [self._broken(call, cut=cut)]
        may_be_twin = call.is_glued or (call.index is None and self._shown_indexes)
        spelling = _spelled(call.name, arguments)
        if may_be_twin and spelling in self._complete:
            return []
        events: list[ChatEvent] = []
        if call.index is None:
            events += self._begin(call)
            events.append(ArgumentsDelta(call.index or 0, json.dumps(arguments, ensure_ascii=False)))
        self._complete.add(spelling)
        return [*events, CallEnd(call.index or 0, arguments)]

    def _broken(self, call: NativeCall, *, cut: bool) -> BrokenCall:
        """Tell of what cannot be called; no word of it is lost."""
        if not self._takes_calls:
            return BrokenCall(call.id, self._own(call.name), call.json, "no tool was offered")
        fault, ends_early = call.fault() if call.json else ("it has no arguments", cut)
        self._was_cut = self._was_cut or ends_early
        return BrokenCall(call.id, self._own(call.name), call.json, fault, cut, call.index)

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
                        self._complete.add(_spelled(leaked.name, arguments))
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
        if self._native_twins is None:
            made = ((call.name, call.arguments()) for call in self._native.values())
            self._native_twins = {_spelled(name, given) for name, given in made if given is not None}
        return _spelled(name, arguments) in self._native_twins

    def _own(self, name: str) -> str:
        return self._names.get(name, name)

    def _take_index(self) -> int:
        self._next_index += 1
        return self._next_index - 1


def _spelled(name: str, arguments: dict[str, Any]) -> str:
    """Return a call in one spelling, whatever the order of its arguments."""
    return f"{name} {json.dumps(arguments, sort_keys=True)}"
