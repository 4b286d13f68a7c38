"""A call as an element named after its tool: what Void, Cline and Roo read from text."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from naru.dialects.events import ParsedCall
from naru.dialects.tool import Tool
from naru.dialects.writers.look_alikes import LookAlikes
from naru.dialects.writers.segments import Closers, cut, properties_of, tool_named
from naru.dialects.writers.values import NAME, TagGuard, dumps, value_of, value_text
from naru.dialects.writers.writer import ReadResult

WHOLE = "arguments_json"
"""Carries all arguments as JSON when one of their names cannot be a tag."""
ANY_TOOL = "call_tool"
"""The element of a tool whose own name cannot be a tag."""
_OPEN_PARAMETER = re.compile(rf"\s*<({NAME.pattern})>")
_OPEN_RESULT = re.compile(r"<([A-Za-z_][A-Za-z0-9_.-]*)_result>\n?")
_BRACKETED_RESULT = re.compile(rf"\[({NAME.pattern})(?: for .*?)?\] Result:\n?", re.DOTALL)
"""What it was for, a command say, may have several lines."""


@dataclass(frozen=True, slots=True)
class ElementXml:
    """`<tool><parameter>value</parameter></tool>`, one a turn, at its end."""

    name: str = "element-xml"
    single: bool = True

    def write(self, call: ParsedCall, tools: Sequence[Tool]) -> str:
        """Return the element."""
        tool = tool_named(call.name, tools)
        if tool is None or not NAME.fullmatch(call.name):
            body = dumps({"name": call.name, "arguments": call.arguments})
            return f"<{ANY_TOOL}>\n<{WHOLE}>{body}</{WHOLE}>\n</{ANY_TOOL}>"
        keys = list(call.arguments)
        if WHOLE in keys or not all(NAME.fullmatch(key) and key != call.name for key in keys):
            return f"<{call.name}>\n<{WHOLE}>{dumps(call.arguments)}</{WHOLE}>\n</{call.name}>"
        guard, properties = _guard(tool, keys, tools), properties_of(tool)
        lines = [
            f"<{key}>{guard.escape(value_text(value, properties.get(key)))}</{key}>"
            for key, value in call.arguments.items()
        ]
        return "\n".join([f"<{call.name}>", *lines, f"</{call.name}>"])

    def read(self, text: str, tools: Sequence[Tool]) -> list[str | ParsedCall]:
        """Return text and calls in order."""
        names = [*(tool.name for tool in tools if NAME.fullmatch(tool.name)), ANY_TOOL]
        opener = re.compile(rf"[ \t]*<({'|'.join(re.escape(name) for name in names)})>")
        closers = Closers(text)
        found: list[tuple[int, int, list[ParsedCall]]] = []
        position = 0
        while match := opener.search(text, position):
            position = match.end()
            if (outcome := _element(closers, position, match[1])) is None:
                continue
            raw, end = outcome
            if call := self._call(match[1], raw, tools):
                found.append((match.start(), end, [call]))
                position = end
        return cut(text, found)

    def _call(self, name: str, raw: dict[str, str], tools: Sequence[Tool]) -> ParsedCall | None:
        tool = tool_named(name, tools)
        if WHOLE in raw:
            return _whole(name if tool else "", raw[WHOLE], self.name)
        if tool is None:
            return None
        guard, properties = _guard(tool, list(raw), tools), properties_of(tool)
        arguments = {key: value_of(guard.unescape(value), properties.get(key)) for key, value in raw.items()}
        return ParsedCall("", name, arguments, self.name)

    def read_results(self, text: str, tools: Sequence[Tool]) -> list[str | ReadResult]:
        """Return text and results: Void's `<tool_result>` element, Cline's and Roo's bracketed line."""
        names = {tool.name for tool in tools}
        head = _BRACKETED_RESULT.match(text)
        if head and head[1] in names:
            return [ReadResult(head[1], text[head.end() :])]
        # The client answers one call a turn: what looks like the end within a result is the tool's own text.
        ends: dict[str, int] = {}
        for match in _OPEN_RESULT.finditer(text):
            if match[1] not in names:
                continue
            closer = f"</{match[1]}_result>"
            if (end := ends.setdefault(closer, -2)) == -2:
                end = ends[closer] = text.rfind(closer)
            if end >= match.end():
                result = ReadResult(match[1], text[match.end() : end].removesuffix("\n"))
                return cut(text, [(match.start(), end + len(closer), [result])])
        return cut(text, [])

    def look_alikes(self, tools: Sequence[Tool]) -> LookAlikes | None:
        """Guard the tags of offered tools in ordinary text: the client would start a call there."""
        names = sorted({tool.name for tool in tools if NAME.fullmatch(tool.name)} | {ANY_TOOL})
        longest = max(len(name) for name in names)
        words = "|".join(re.escape(name) for name in names)
        return LookAlikes(
            re.compile(rf"<(?=/?(?:{words})>)"),
            re.compile(rf"</?[A-Za-z0-9_.-]{{0,{longest}}}\Z"),
            lambda _: "&lt;",
        )


def _guard(tool: Tool, keys: Sequence[str], tools: Sequence[Tool]) -> TagGuard:
    return TagGuard([*properties_of(tool), *keys, *(other.name for other in tools), ANY_TOOL])


def _element(closers: Closers, start: int, name: str) -> tuple[dict[str, str], int] | None:
    """Read parameters up to the closing tag; None when this is no well-formed element."""
    text, raw, position = closers.text, dict[str, str](), start
    end = re.compile(rf"\s*</{re.escape(name)}>")
    while not (closing := end.match(text, position)):
        parameter = _OPEN_PARAMETER.match(text, position)
        closer = f"</{parameter[1]}>" if parameter else ""
        at = closers.find(closer, parameter.end()) if parameter else -1
        if parameter is None or at < 0:
            return None
        raw[parameter[1]] = text[parameter.end() : at]
        position = at + len(closer)
    return raw, closing.end()


def _whole(name: str, text: str, dialect: str) -> ParsedCall | None:
    try:
        value = json.loads(text)
        if not name:
            name, value = value["name"], value["arguments"]
    except (ValueError, RecursionError, TypeError, KeyError):
        return None
    if not isinstance(value, dict) or not isinstance(name, str):
        return None
    return ParsedCall("", name, value, dialect)
