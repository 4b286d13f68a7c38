"""A call as ReAct's labelled lines: `Action:` and `Action Input:`, one a turn, at its end."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from naru.dialects.events import ParsedCall
from naru.dialects.tool import Tool
from naru.dialects.writers.look_alikes import LookAlikes
from naru.dialects.writers.segments import cut
from naru.dialects.writers.values import dumps
from naru.dialects.writers.writer import ReadResult

_PLAIN_NAME = re.compile(r"[^\s\"'`{}\[\]<>\\:]+(?:[ ][^\s\"'`{}\[\]<>\\:]+)*")
_ACTION = re.compile(r"^[ \t]*Action:[ \t]*([^\r\n]*)\r?\n[ \t]*Action Input:[ \t]*", re.MULTILINE)
_OBSERVATION = re.compile(r"^[ \t]*Observation:[ \t]*", re.MULTILINE)
_DECODER = json.JSONDecoder(strict=False)


@dataclass(frozen=True, slots=True)
class ReAct:
    """`Action: name` and `Action Input: {…}` on lines of their own."""

    name: str = "react"
    single: bool = True

    def write(self, call: ParsedCall, tools: Sequence[Tool]) -> str:
        """Return the two lines; a name that is no plain word is a JSON string."""
        name = call.name if _PLAIN_NAME.fullmatch(call.name) and call.name.isprintable() else dumps(call.name)
        return f"Action: {name}\nAction Input: {dumps(call.arguments)}"

    def read(self, text: str, tools: Sequence[Tool]) -> list[str | ParsedCall]:
        """Return text and calls in order."""
        found: list[tuple[int, int, list[ParsedCall]]] = []
        matches = list(_ACTION.finditer(text))
        ends = [*(match.start() for match in matches), len(text)][1:]
        for match, end in zip(matches, ends, strict=True):
            # Cut first: a JSON error costs the whole text before it.
            try:
                arguments, size = _DECODER.raw_decode(text[match.end() : end])
            except (ValueError, RecursionError):
                continue
            if isinstance(arguments, dict):
                call = ParsedCall("", _name(match[1]), arguments, self.name)
                found.append((match.start(), match.end() + size, [call]))
        return cut(text, found)

    def read_results(self, text: str, tools: Sequence[Tool]) -> list[str | ReadResult]:
        """Return text and observations; their tool is the one that was called last."""
        starts = [match.span() for match in _OBSERVATION.finditer(text)]
        if not starts:
            return [text] if text.strip() else []
        ends = [start for start, _ in starts[1:]] + [len(text)]
        found = [
            (begin, end, [ReadResult("", text[body:end].strip("\n"))])
            for (begin, body), end in zip(starts, ends, strict=True)
        ]
        return cut(text, found)

    def look_alikes(self, tools: Sequence[Tool]) -> LookAlikes | None:
        """Nothing to guard: a line that could be a call has been read as one."""
        return None


def _name(line: str) -> str:
    line = line.strip()
    if line.startswith('"'):
        try:
            value = json.loads(line)
        except ValueError:
            return line
        if isinstance(value, str):
            return value
    return line
