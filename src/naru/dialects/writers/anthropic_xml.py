"""Calls as Anthropic's prompts taught them: invocations with named parameters, several in a turn."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass

from naru.dialects.events import ParsedCall
from naru.dialects.tool import Tool
from naru.dialects.writers.look_alikes import LookAlikes
from naru.dialects.writers.segments import blocks, cut, properties_of, tool_named
from naru.dialects.writers.values import TagGuard, value_of, value_text
from naru.dialects.writers.writer import ReadResult

_GUARD = TagGuard(["function_calls", "invoke", "parameter", "function_results"])
_CALLS = re.compile(r"<function_calls>")
_INVOKE = re.compile(r'<invoke name="([^"<>]*)">')
_PARAMETER = re.compile(r'<parameter name="([^"<>]*)">')
_RESULTS = re.compile(r"<function_results>")
_RESULT = re.compile(r"<result>\s*<tool_name>([^<]*)</tool_name>\s*<stdout>\n?")


@dataclass(frozen=True, slots=True)
class AnthropicXml:
    """`<function_calls><invoke name="…"><parameter name="…">value</parameter></invoke></function_calls>`."""

    name: str = "anthropic-xml"
    single: bool = False

    def write(self, call: ParsedCall, tools: Sequence[Tool]) -> str:
        """Return the block."""
        properties = properties_of(tool_named(call.name, tools))
        lines = [
            f'<parameter name="{_attribute(key)}">{_GUARD.escape(value_text(value, properties.get(key)))}</parameter>'
            for key, value in call.arguments.items()
        ]
        head = f'<invoke name="{_attribute(call.name)}">'
        return "\n".join(["<function_calls>", head, *lines, "</invoke>", "</function_calls>"])

    def read(self, text: str, tools: Sequence[Tool]) -> list[str | ParsedCall]:
        """Return text and calls in order."""
        found: list[tuple[int, int, list[ParsedCall]]] = []
        for block, inner, end in blocks(text, _CALLS, "</function_calls>"):
            calls = [
                self._call(html.unescape(invoke[1]), body, tools)
                for invoke, body, _ in blocks(inner, _INVOKE, "</invoke>")
            ]
            found.append((block.start(), end, calls))
        return cut(text, found)

    def _call(self, name: str, body: str, tools: Sequence[Tool]) -> ParsedCall:
        properties = properties_of(tool_named(name, tools))
        arguments = {}
        for parameter, value, _ in blocks(body, _PARAMETER, "</parameter>"):
            key = html.unescape(parameter[1])
            arguments[key] = value_of(_GUARD.unescape(value), properties.get(key))
        return ParsedCall("", name, arguments, self.name)

    def read_results(self, text: str, tools: Sequence[Tool]) -> list[str | ReadResult]:
        """Return text and the results of `<function_results>` blocks."""
        found: list[tuple[int, int, list[ReadResult]]] = []
        for block, inner, end in blocks(text, _RESULTS, "</function_results>"):
            results = [
                ReadResult(html.unescape(one[1]), body.removesuffix("\n"))
                for one, body, _ in blocks(inner, _RESULT, "</stdout>")
            ]
            found.append((block.start(), end, results))
        return cut(text, found)

    def look_alikes(self, tools: Sequence[Tool]) -> LookAlikes | None:
        """Guard the block's own tags in ordinary text."""
        return LookAlikes(
            re.compile(r"<(?=/?(?:function_calls>|invoke[\s>]))"),
            re.compile(r"</?[a-z_]{0,14}\Z"),
            lambda _: "&lt;",
        )


def _attribute(text: str) -> str:
    return html.escape(text, quote=True)
