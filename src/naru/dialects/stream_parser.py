"""The reader: text in, events out, the same under every split of the text."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from naru.dialects.events import (
    ArgumentsDelta,
    CallEnd,
    CallStart,
    Event,
    Parsed,
    ParsedCall,
    Reasoning,
    Repair,
    Text,
)
from naru.dialects.tool import Tool

_OPENERS = ("<tool_call>", "```", "{")
_DECODER = json.JSONDecoder(strict=False)


class StreamParser:
    """Reads one reply of a model as it arrives.

    Args:
        tools: What was offered; nothing else is ever read as a call.
        hint: Model or dialect name; narrows, never restricts.
        generation_prompt: The end of the prompt, which may have opened a reasoning block.
    """

    def __init__(self, tools: Sequence[Tool], *, hint: str | None = None, generation_prompt: str | None = None) -> None:
        self._names = {tool.name for tool in tools}
        self._held = ""
        self._offset = 0
        self._calls: list[ParsedCall] = []
        self._line_start = True
        self.repairs: list[Repair] = []

    @property
    def calls(self) -> tuple[ParsedCall, ...]:
        """The complete calls so far."""
        return tuple(self._calls)

    def feed(self, delta: str) -> list[Event]:
        """Take the next piece of text and return what is certain by now."""
        self._held += delta
        return self._drain(final=False)

    def close(self, finish_reason: str = "stop") -> list[Event]:
        """End the text: what is still held becomes a call or text."""
        return self._drain(final=True)

    def _drain(self, *, final: bool) -> list[Event]:
        events: list[Event] = []
        while self._held:
            at, opener = self._next_opener()
            if opener is None:
                keep = 0 if final else self._possible_prefix()
                self._say(events, len(self._held) - keep)
                break
            self._say(events, at)
            outcome = self._read_region(opener, final)
            if outcome is None:
                break
            end, call = outcome
            if call is None:
                self._say(events, end)
            else:
                self._call(events, end, *call)
        return events

    def _next_opener(self) -> tuple[int, str | None]:
        best: tuple[int, str | None] = (len(self._held), None)
        for opener in _OPENERS:
            at = self._held.find(opener)
            while at >= 0 and opener != "<tool_call>" and not self._starts_line(at):
                at = self._held.find(opener, at + 1)
            if 0 <= at < best[0]:
                best = (at, opener)
        return best

    def _starts_line(self, at: int) -> bool:
        return self._held[at - 1] == "\n" if at else self._line_start

    def _possible_prefix(self) -> int:
        for size in range(min(len(self._held), 10), 0, -1):
            tail = self._held[-size:]
            if any(opener.startswith(tail) for opener in _OPENERS):
                return size
        return 0

    def _read_region(self, opener: str, final: bool) -> tuple[int, tuple[str, dict[str, Any]] | None] | None:
        text, start = self._held, len(opener)
        if opener == "{":
            if not final:
                return None
            return self._decode(0, len(text))
        closer = "</tool_call>" if opener == "<tool_call>" else "```"
        stop = text.find(closer, start)
        if stop < 0:
            return (len(text), None) if final else None
        end = stop + len(closer)
        body = start
        if opener == "```":
            body = text.find("\n", start, stop) + 1 or start
        _, call = self._decode(body, stop)
        return end, call

    def _decode(self, start: int, stop: int) -> tuple[int, tuple[str, dict[str, Any]] | None]:
        body = self._held[start:stop].strip()
        try:
            value, _ = _DECODER.raw_decode(body)
        except ValueError:
            return stop, None
        if not isinstance(value, dict) or value.get("name") not in self._names:
            return stop, None
        arguments = value.get("arguments", value.get("parameters"))
        return (stop, (value["name"], arguments)) if isinstance(arguments, dict) else (stop, None)

    def _say(self, events: list[Event], size: int) -> None:
        if size:
            events.append(Text(self._take(size)))

    def _take(self, size: int) -> str:
        taken, self._held = self._held[:size], self._held[size:]
        self._line_start = taken.endswith("\n")
        self._offset += size
        return taken

    def _call(self, events: list[Event], size: int, name: str, arguments: dict[str, Any]) -> None:
        index, span = len(self._calls), (self._offset, self._offset + size)
        self._take(size)
        self._line_start = True
        events.append(CallStart(index, "", name))
        events.append(ArgumentsDelta(index, json.dumps(arguments, ensure_ascii=False)))
        events.append(CallEnd(index, arguments))
        self._calls.append(ParsedCall("", name, arguments, "json", span))


def parse(
    text: str,
    tools: Sequence[Tool],
    *,
    hint: str | None = None,
    generation_prompt: str | None = None,
    finish_reason: str = "stop",
) -> Parsed:
    """Read a whole reply: a `StreamParser` fed once, so that whole and streamed cannot differ."""
    parser = StreamParser(tools, hint=hint, generation_prompt=generation_prompt)
    events = [*parser.feed(text), *parser.close(finish_reason)]
    content = "".join(event.text for event in events if isinstance(event, Text))
    reasoning = "".join(event.text for event in events if isinstance(event, Reasoning))
    return Parsed(content.strip(), reasoning, parser.calls, tuple(parser.repairs))
