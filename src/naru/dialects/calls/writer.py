"""Turns what the body readers find into call events; the one place where arguments become JSON."""

from __future__ import annotations

import json

from naru.dialects.calls.coerce import coerce, from_text
from naru.dialects.calls.keys import is_definition, names_argument, unwrapped
from naru.dialects.calls.offered import Offered, argument_meant, properties_of, required_of
from naru.dialects.events import ArgumentsDelta, CallEnd, CallStart, Event, ParsedCall, Repair
from naru.dialects.texts.literal import StrayText, encodable
from naru.dialects.texts.pieces import Pieces
from naru.dialects.texts.source import NotACall
from naru.dialects.tool import Tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_encode_text = json.encoder.encode_basestring
_dumps = json.JSONEncoder(ensure_ascii=False).encode

_TYPE_NAMES = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}
"""The types whose values need no second look where the schema lets them through."""
_TEXT_ONLY = frozenset({"string"})


class CallWriter:
    """Writes one call at a time: `start`, then per argument `key` and a value, then `end`."""

    def __init__(self, offered: Offered, *, emits: bool = True) -> None:
        self.offered = offered
        self._emits = emits
        """Whether anyone reads the events; the calls are kept in any case."""
        self.events: list[Event] = []
        self.waits = False
        """Whether a closing tag of reasoning may still show that the calls so far were drafts."""
        self.waiting: list[Event] = []
        """The ends of the calls that wait for that."""
        self.unjudged: list[tuple[Event, Event]] = []
        """The ends of calls of which what comes after them may still show that they were only shown."""
        self.taken = 0
        """How many events were taken from `events`."""
        self.held_from: int | None = None
        """The first event, counted from the beginning, that may not be taken yet."""
        self.calls: list[ParsedCall] = []
        self.repairs: list[Repair] = []
        self.dialect = ""
        self.next_index = 0
        self.tool: Tool | None = None
        """The tool of the call that is being written."""
        self.is_doubtful = False
        """Whether a value of that call may hold what was meant for tags."""
        self.is_torn = False
        """Whether it seems to hold another argument with them."""
        self._strayed: list[str] = []
        """The arguments whose texts have quotes that end none."""
        self._repeats = False
        """Whether an argument of it was written twice."""
        self._meant: set[str] = set()
        """The arguments of it whose names had slips."""
        self.beside: frozenset[str] = frozenset()
        """The arguments of the last call that it has from beside the others."""
        self.span_start = 0
        self._id = ""
        self._arguments: dict[str, Any] = {}
        self._key = ""
        self._repeated = False
        self._text = Pieces()
        self.json = Pieces()
        """Arguments of the call that is being written which are no event yet."""

    def repair(self, kind: str, before: str, after: str = "") -> None:
        """Report a deviation that was mended."""
        self.repairs.append(Repair(kind, before[:200], after[:200]))

    def leave_out(self, text: str, kind: str = "left-out", after: str = "") -> None:
        """Report text that is neither said nor part of a call, all of it."""
        self.repairs.append(Repair(kind, text, after))

    def start(self, name: Any, call_id: str = "") -> Tool:
        """Begin a call of the tool that `name` means.

        Raises:
            NotACall: No such tool was offered.
        """
        tool = self.offered.find(name)
        if tool is None:
            raise NotACall
        if tool.name != name:
            self.repair("tool-name", str(name), tool.name)
        self.tool = tool
        self.is_doubtful = self.is_torn = self._repeats = False
        self._strayed = []
        self._meant = set()
        self.beside = frozenset()
        self._id, self._key = encodable(call_id), ""
        self._arguments = {}
        if self._emits:
            self.flush()
            self.events.append(CallStart(self.next_index, self._id, tool.name))
        self.next_index += 1
        return tool

    def end(self, offset: int) -> None:
        """End the call; `offset` is where the text after it begins.

        Raises:
            NotACall: It was a tool's definition, or an argument that it lacks may stand in another's value.
        """
        assert self.tool is not None
        if is_definition(self._arguments, self.tool) or not self._has_all(self._awaited(self.tool)):
            raise NotACall
        if self._strayed and (self.has_undeclared() or self._repeats or any(map(self._holds_another, self._strayed))):
            raise NotACall  # a value was cut, or holds another
        if self._emits:
            # A call that is begun and never ends must not be one for a client that looks at its arguments alone.
            self.flush()
            brace = ArgumentsDelta(self.next_index - 1, "}" if self._arguments else "{}")
            self.unjudged.append((brace, CallEnd(brace.index, self._arguments)))
        self.calls.append(
            ParsedCall(self._id, self.tool.name, self._arguments, self.dialect, (self.span_start, offset))
        )
        self.span_start = offset
        self.tool = None

    def extend(self, offset: int) -> None:
        """Let the last complete call reach to `offset`: what came after it is its closing marker."""
        if offset > self.span_start and self.calls and self.tool is None:
            last = self.calls[-1]
            if last.span[1] == self.span_start:
                last.span = (last.span[0], offset)
                self.span_start = offset

    def _awaited(self, tool: Tool) -> list[str]:
        """Return the arguments that a call may not lack, since they may stand in another's value."""
        if self.is_torn:
            return properties_of(tool)
        return required_of(tool) if self.is_doubtful else []

    def _holds_another(self, key: str) -> bool:
        """Tell whether a value seems to hold an argument that the call lacks."""
        assert self.tool is not None
        value = self._arguments.get(key)
        names = [name for name in properties_of(self.tool) if name not in self._arguments]
        return isinstance(value, str) and names_argument(value, names)

    def _has_all(self, names: list[str]) -> bool:
        return all(name in self._arguments for name in names)

    def has(self, name: str) -> bool:
        """Tell whether an argument was written, or is being written."""
        return name in self._arguments or name == self._key

    @property
    def lacks_all(self) -> bool:
        """Whether no argument was written though the tool asks for some."""
        return not self._arguments and self.tool is not None and bool(required_of(self.tool))

    @property
    def has_none(self) -> bool:
        """Whether no argument was written."""
        return not self._arguments

    @property
    def lacks_some(self) -> bool:
        """Whether an argument that the tool asks for was not written."""
        return self.tool is not None and not self._has_all(required_of(self.tool))

    def awaits(self, name: str) -> bool:
        """Tell whether the tool has an argument that was not written yet."""
        return name in self.declared and not self.has(name)

    @property
    def last_text(self) -> str:
        """The value that was written last, if it is a text."""
        value = self._arguments.get(self._key)
        return value if isinstance(value, str) else ""

    @property
    def declared(self) -> Mapping[str, Any]:
        """The arguments that the tool's schema names."""
        return self.tool.properties if self.tool is not None else {}

    @property
    def has_strayed(self) -> bool:
        """Whether a text of the call that is being written has quotes that end none."""
        return bool(self._strayed)

    def has_undeclared(self) -> bool:
        """Tell whether an argument was written that the tool's schema does not name."""
        return bool(self.declared) and any(key not in self.declared for key in self._arguments)

    def is_declared(self, call: ParsedCall) -> bool:
        """Tell whether the tool's schema names all the arguments of a call that was written."""
        tool = self.offered.find(call.name)
        return tool is not None and all(name in tool.properties for name in call.arguments)

    def key(self, name: str) -> None:
        """Begin an argument. A repeated one is left out: the first value stands."""
        self._key = encodable(name)
        if self.tool is not None and name not in self.tool.properties:
            self._mend_key(self.tool)
        self._repeated = self._key in self._arguments
        if self._repeated:
            if self._key in self._meant:
                raise NotACall  # a name with a slip was taken for it
            self.repair("duplicate-argument", self._key)
            self.is_doubtful = self._repeats = True  # one of them may have been meant for another

    def _mend_key(self, tool: Tool) -> None:
        meant = argument_meant(tool, self._key, self._arguments)
        if meant:
            self.repair("argument-name", self._key, meant)
            self._meant |= {meant} if any(map(str.isalnum, self._key.replace(meant, "", 1))) else set()
            self._key = meant
        self.is_torn = self.is_torn or '"' in self._key  # it holds the value before it

    def stray_quotes(self, count: int) -> None:
        """Report quotes that stand in the text that was written last: other arguments may stand there with them."""
        self.repair("stray-quotes", str(count))
        self.is_doubtful = True
        self._strayed.append(self._key)

    @property
    def takes_text(self) -> bool:
        """Whether text may stand as this argument's value, so that it can be passed on as it comes."""
        assert self.tool is not None
        return "string" in self.offered.types(self.tool, self._key)

    @property
    def takes_text_only(self) -> bool:
        """Whether the argument can be nothing but text."""
        assert self.tool is not None
        return self.offered.types(self.tool, self._key) == _TEXT_ONLY

    def open_text(self) -> None:
        """Begin a text value that is passed on piece by piece."""
        if self._text:
            self._text.take()  # of a call that broke off
        self._open_value('"')

    def text(self, piece: str) -> None:
        """Add decoded text to the open text value."""
        if piece:
            piece = encodable(piece)
            self._text.append(piece)
            if self._emits and not self._repeated:
                self.json.append(_encode_text(piece)[1:-1])

    def close_text(self) -> None:
        """End the open text value."""
        text = self._text.take()
        if not self._repeated:
            self._arguments[self._key] = text
            if self._emits:
                self.json.append('"')

    def value(self, value: Any) -> None:
        """Write a whole decoded value, in the schema's reading."""
        assert self.tool is not None
        if self._repeated:
            return
        if not self._arguments and isinstance(value, dict) and unwrapped({self._key: value}, self.tool) == value:
            self.whole({self._key: value})
            return
        wanted = self._coerced(value)
        if self._emits:
            self._open_value(_encode_text(wanted) if type(wanted) is str else _dumps(wanted))
        self._arguments[self._key] = wanted

    def written(self, text: str) -> None:
        """Write a value that is text without a type of its own, typed by the schema."""
        assert self.tool is not None
        types = self.offered.types(self.tool, self._key)
        text = encodable(text)
        value = from_text(text, types) if types != _TEXT_ONLY else text
        self.value(value)

    def whole(self, arguments: dict[str, Any]) -> None:
        """Write all arguments at once."""
        assert self.tool is not None
        if self._arguments:  # of which some were written before, such as attributes of the call's tag
            for key, value in arguments.items():
                self.key(key)
                self.value(value)
            return
        wanted: dict[str, Any] = {}
        inner = unwrapped(arguments, self.tool)
        if inner is not arguments:
            self.repair("wrapped-arguments", next(iter(arguments)))
        if self.tool.properties and any(key not in self.tool.properties for key in inner):
            for key, value in inner.items():
                self.key(key)
                self.value(value)
            return
        for key, value in inner.items():
            self._key = key
            wanted[key] = self._coerced(value)
        self._arguments = wanted
        if wanted and self._emits:
            self.json.append(_dumps(wanted)[:-1])

    def add(self, beside: dict[str, Any]) -> None:
        """Write those of the arguments beside the others that those lack: a brace closed them too early."""
        lacking = {} if self.has_undeclared() else {key: beside[key] for key in beside if key not in self._arguments}
        for key, value in lacking.items():
            self.repair("early-brace", key)
            self.key(key)
            self.value(value)
        self.beside = frozenset(lacking)

    def _coerced(self, value: Any) -> Any:
        assert self.tool is not None
        if isinstance(value, StrayText):
            self.stray_quotes(value.strays)
            value = str(value)
        if _TYPE_NAMES.get(type(value)) in self.offered.types(self.tool, self._key):
            return value
        schema = self.offered.schema(self.tool, self._key)
        if not schema:
            return value
        wanted = coerce(value, schema, self.tool.parameters)
        if wanted != value or type(wanted) is not type(value):
            self.repair("coerced", f"{self._key}={_dumps(value)}", _dumps(wanted))
        return wanted

    def _open_value(self, written: str) -> None:
        if self._emits and not self._repeated:
            start = ", " if self._arguments else "{"
            self.json.append(f"{start}{_encode_text(self._key)}: {written}")

    def flush(self) -> None:
        """Make what was written of the arguments an event."""
        if self.json:
            self.events.append(ArgumentsDelta(self.next_index - 1, self.json.take()))

    def compact(self) -> None:
        """Keep little of a long call that is held."""
        self.json.compact()
        self._text.compact()

    @property
    def position(self) -> int:
        """How many events were written so far."""
        return self.taken + len(self.events)

    def hold(self, first: int) -> None:
        """Keep the events from a position on."""
        self.held_from = first if self.held_from is None else min(first, self.held_from)

    def accept(self) -> None:
        """Let what was held come: the calls so far were made, not shown."""
        self.held_from = None
        ends = self.waiting if self.waits else self.events
        for end in self.unjudged:
            ends += end
        self.unjudged.clear()

    def take(self) -> list[Event]:
        """Hand over the events that may be seen by now."""
        if self.held_from is None:
            ready, self.events = self.events, []
        else:
            ready = self.events[: self.held_from - self.taken]
            del self.events[: len(ready)]
        self.taken += len(ready)
        return ready

    def release(self) -> None:
        """Let the ends that wait come: no closing tag can show any more that the calls were drafts."""
        self.events += self.waiting
        self.waiting.clear()
        self.waits = False

    def withdraw(self) -> None:
        """Take every call for a draft: it was begun, and will never end."""
        for call in self.calls:
            self.leave_out(call.name, "draft-call", _dumps(call.arguments))
        self.calls.clear()
        self.waiting.clear()
        self.waits = False

    def break_off(self) -> None:
        """Leave a call that was begun: it will never end."""
        self.json.take()
        self._text.take()
        self.tool = None

    def undo(self, *, events: int, calls: int, repairs: int, index: int, held: bool) -> None:
        """Go back to when there were so many of each; calls that were announced stay begun, unless they were held."""
        self.break_off()
        if self._emits and len(self.calls) > calls:
            del self.unjudged[len(self.unjudged) - (len(self.calls) - calls) :]
        del self.calls[calls:]
        del self.repairs[repairs:]
        if held:
            del self.events[events - self.taken :]
            self.next_index = index
