"""What one model call of a run gave, put together from its events."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, field, replace

from naru.fields import merge
from naru.messages import (
    CARRIED,
    BrokenCall,
    CallEnd,
    CallStart,
    ChatEvent,
    Extra,
    Finish,
    JsonObject,
    Message,
    Notice,
    RawText,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    Usage,
)

_CALL_MARKS = re.compile(r"<tool_call>|</?function|\[TOOL_CALLS\]|```tool_code")
_CALL_NAME = re.compile(r'"(?:name|function|tool)"\s*:')
_CALL_ARGUMENTS = re.compile(r'"(?:arguments|parameters|args)"\s*:')
"""JSON that a person asked for may have a name; with arguments beside it, it is a call."""


@dataclass(slots=True)
class Turn:
    """One model call: feed it the events."""

    begins: str = ""
    """The first letter of the text."""
    refusal: str = ""
    calls: list[ToolCall] = field(default_factory=list)
    broken: list[BrokenCall] = field(default_factory=list)
    """Calls that cannot be run, with ids that are the run's own."""
    names: dict[int, tuple[str, str]] = field(default_factory=dict)
    finish: str = ""
    streamed: int = 0
    """Characters of the text that the client has got."""
    usage: Usage | None = None
    raw: str = ""
    notices: list[str] = field(default_factory=list)
    beside: list[Extra] = field(default_factory=list)
    """What stands beside the answer, if this turn is it."""
    _texts: list[str] = field(default_factory=list)
    _unstreamed: list[str] = field(default_factory=list)
    _thoughts: list[str] = field(default_factory=list)
    """In pieces, as they come: text that grows by a few letters is copied whole each time."""
    _carried: JsonObject = field(default_factory=dict)
    _by_call: dict[str, JsonObject] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """What it wrote."""
        self._texts = ["".join(self._texts)]
        return self._texts[0]

    @text.setter
    def text(self, text: str) -> None:
        self._texts, self._unstreamed, self.streamed, self.begins = [text], [text], 0, text.lstrip()[:1]

    @property
    def reasoning(self) -> str:
        """What it thought."""
        self._thoughts = ["".join(self._thoughts)]
        return self._thoughts[0]

    def next_piece(self) -> str:
        """Return what of the text the client has not got, which it gets now."""
        piece = "".join(self._unstreamed)
        self._unstreamed.clear()
        self.streamed += len(piece)
        return piece

    def take(self, event: ChatEvent, ids: set[str]) -> None:
        """Take one event; `ids` are those of the run's calls so far."""
        match event:
            case Text(text=text):
                self._texts.append(text)
                self._unstreamed.append(text)
                self.begins = self.begins or text.lstrip()[:1]
            case Reasoning(text=text):
                self._thoughts.append(text)
            case Refusal(text=text):
                self.refusal += text
            case CallStart(index=index, id=call_id, name=name):
                self.names[index] = (_own_id(call_id, ids), name)
            case CallEnd(index=index, arguments=arguments):
                call_id, name = self.names[index]
                self.calls.append(ToolCall(call_id, name, arguments))
            case BrokenCall():
                self.broken.append(replace(event, id=_own_id(event.id, ids)))
            case Extra(fields=fields):
                self._take_extra(event, {name: fields[name] for name in CARRIED & fields.keys()})
            case Usage():
                self.usage = event
            case RawText(text=text):
                self.raw = text
            case Notice(text=text):
                self.notices.append(text)
            case Finish(reason=reason):
                self.finish = reason

    def _take_extra(self, event: Extra, wanted_back: JsonObject) -> None:
        if event.place != "call":
            self.beside.append(event)
        if event.place == "message":
            merge(self._carried, wanted_back)
        elif event.place == "call" and wanted_back:
            call_id = self.names[event.index][0]
            self._by_call.setdefault(call_id, {}).update(wanted_back)

    def close(self) -> None:
        """Put what came beside the calls with them."""
        if self._by_call:
            self.calls = [replace(one, carried=self._by_call.get(one.id, {})) for one in self.calls]

    @property
    def said(self) -> Message:
        """The assistant's turn as its endpoint wants it back, without the calls."""
        return Message("assistant", self.text, reasoning=self.reasoning, carried=self._carried)

    @property
    def is_words(self) -> bool:
        """Tell whether there is no call in it, whole or broken."""
        return not self.calls and not self.broken

    @property
    def was_cut_in_a_call(self) -> bool:
        """Tell whether the limit came before the call was complete, and there is no other."""
        if self.calls or self.finish != "length":
            return False
        return any(one.was_cut for one in self.broken) or looks_like_call(self.text)

    @property
    def end(self) -> str:
        """OpenAI's word for how it ended, as an answer."""
        return self.finish if self.finish in ("length", "content_filter") else "stop"


def looks_like_call(text: str) -> bool:
    """Tell whether a text is a call, or holds one, rather than words for a person."""
    whole = text.strip()
    is_call = _CALL_MARKS.search(whole) or (_CALL_NAME.search(whole) and _CALL_ARGUMENTS.search(whole))
    return whole[:1] in ("{", "[", "<", "`") and bool(is_call)


def _own_id(call_id: str, ids: set[str]) -> str:
    """Return an id that no other call of this run has: some endpoints give none, or count anew in each turn."""
    own = call_id if call_id and call_id not in ids else f"call_{secrets.token_urlsafe(12)}"
    ids.add(own)
    return own
