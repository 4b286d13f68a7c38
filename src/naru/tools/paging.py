"""Long results page by page (N12): the model gets the first page, and a tool to read on, search or pick out of JSON.

What was cut is kept for as long as the run lasts and belongs to it alone. A page counts its own notice.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from naru.errors import InvalidArgumentsError
from naru.messages import JsonObject, Part, TextPart, ToolDefinition, ToolResult
from naru.tools.arguments.validate import ArgumentsValidator
from naru.tools.toolset import CallContext, Toolset

READ = ToolDefinition(
    "naru__read_result",
    "Read on in a long result that was shown in part: by offset, by searching words in it, or by a path into its JSON.",
    {
        "type": "object",
        "properties": {
            "result": {"type": "string", "description": "Its name, as the notice says it: r1, r2, …"},
            "offset": {"type": "integer", "minimum": 0, "description": "Character to read on from."},
            "search": {"type": "string", "description": "Show only the lines that hold these words."},
            "path": {
                "type": "string",
                "description": "Part of a JSON result: items[0].name, items[*].id.",
            },
        },
        "required": ["result"],
        "additionalProperties": False,
    },
    title="Read on in a result",
    annotations={"readOnlyHint": True},
    server="naru",
)
_NAMES = (READ.name, "naru.read_result", "read_result")
_CHECKS = ArgumentsValidator(READ.input_schema)
_STEP = re.compile(r"\[(?P<index>-?\d{1,9}|\*|\d{0,9}:\d{0,9})\]|\.?[^.\[\]]+")
_SMALLEST = 400
_LEFT_OUT = (
    "\n[… {count} characters left out. Read on: {tool} with result '{key}' and offset {offset}; or search or path. …]\n"
)
_ON_DEMAND = 8_000
"""Page of a result that was cut for want of room, where no page is set."""
_AROUND = 1


class PagedToolset:
    """A toolset whose long text results come page by page; one for each run."""

    def __init__(self, inner: Toolset, page_characters: int) -> None:
        """Wrap a toolset; `page_characters` 0 leaves its results whole, and cuts them only on demand (`cut`)."""
        self.inner = inner
        self._is_on = page_characters > 0
        self._page = max(page_characters, _SMALLEST) if self._is_on else _ON_DEMAND
        self._kept: dict[str, str] = {}
        self._first_pages: dict[str, str] = {}
        """First page → the result's name."""

    @property
    def is_needed(self) -> bool:
        """Whether the tool that reads on is to be offered."""
        return self._is_on or bool(self._kept)

    def cut(self, text: str, limit: int) -> str:
        """Return head and tail of a text within `limit` characters; what is left out can be read on."""
        if len(text) <= limit:
            return text
        key = self._first_pages.get(text) or self._keep(text)
        whole, limit = self._kept[key], max(limit, _SMALLEST)
        mark = _LEFT_OUT.format(count=len(whole), tool=READ.name, key=key, offset=len(whole))
        head = (limit - len(mark)) * 2 // 3
        tail = limit - len(mark) - head
        mark = _LEFT_OUT.format(count=len(whole) - head - tail, tool=READ.name, key=key, offset=head)
        return f"{whole[:head]}{mark}{whole[len(whole) - tail :]}"

    def _keep(self, text: str) -> str:
        key = f"r{len(self._kept) + 1}"
        self._kept[key] = text
        return key

    async def open(self) -> None:
        """Open the inner toolset."""
        await self.inner.open()

    async def tools(self) -> Sequence[ToolDefinition]:
        """Return the inner tools, and the one that reads on."""
        return [*await self.inner.tools(), *([READ] if self._is_on else [])]

    async def call(self, name: str, arguments: JsonObject, context: CallContext) -> ToolResult:
        """Call a tool; a result that is longer than a page is kept and its first page given.

        Raises:
            InvalidArgumentsError: there is no such result, or the path does not lead into it.
        """
        if name in _NAMES:
            return ToolResult.of_text(self._read(arguments))
        result = await self.inner.call(name, arguments, context)
        text = "\n".join(part.text for part in result.content if isinstance(part, TextPart))
        if not self._is_on or len(text) <= self._page:
            return result
        key = self._keep(text)
        first = self._shown(key, text, 0)
        self._first_pages[first] = key
        others: tuple[Part, ...] = tuple(part for part in result.content if not isinstance(part, TextPart))
        return replace(result, content=(TextPart(first), *others), structured=None)

    async def close(self) -> None:
        """Forget what was kept, and close the inner toolset."""
        self._kept.clear()
        await self.inner.close()

    def _read(self, arguments: JsonObject) -> str:
        arguments = _CHECKS.validate({"result": "", **arguments}, tool=READ.name)
        key = arguments["result"]
        text = self._kept.get(key)
        if text is None:
            known = ", ".join(self._kept) or "none"
            raise InvalidArgumentsError(f"There is no kept result {key[:40]!r}; there is: {known}.")
        if arguments.get("path"):
            text = _project(text, arguments["path"])
        if arguments.get("search"):
            text = _found(text, arguments["search"])
        same = "".join(f", the same {name}" for name in ("path", "search") if arguments.get(name))
        return self._shown(key, text, int(arguments.get("offset", 0)), same)

    def _shown(self, key: str, text: str, offset: int, same: str = "") -> str:
        """Return one page from an offset, its notice counted in."""
        if len(text) - offset <= self._page:
            return text[offset:] or "(nothing there)"
        notice = (
            f"\n[{{end}} of {len(text)} characters. Read on: {READ.name} with result {key!r}{same} and offset {{end}}"
            f"{'' if same else '; or search or path'}.]"
        )
        end = offset + self._page - len(notice.format(end=len(text)))
        line = text.rfind("\n", offset + (end - offset) // 2, end)
        end = line + 1 if line > 0 else end
        return text[offset:end] + notice.format(end=end)


def _found(text: str, words: str) -> str:
    """Return the lines that hold all words, each with its neighbours and its number."""
    wanted = dict.fromkeys(words.casefold().split())  # Models repeat themselves.
    lines = text.splitlines()
    hits = [number for number, line in enumerate(map(str.casefold, lines)) if all(word in line for word in wanted)]
    if not hits:
        return f"(no line holds {words[:80]!r})"
    shown: dict[int, str] = {}
    for hit in hits:
        for number in range(max(0, hit - _AROUND), min(len(lines), hit + _AROUND + 1)):
            shown[number] = f"{number + 1}: {lines[number]}"
    return "\n".join(shown[number] for number in sorted(shown))


def _project(text: str, path: str) -> str:
    """Return a part of a JSON text. Raises InvalidArgumentsError."""
    try:
        value = _follow(json.loads(text), path.removeprefix("$").removeprefix("."), path)
    except (ValueError, RecursionError) as error:
        raise InvalidArgumentsError("This result is not JSON; read it by offset or search.") from error
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)


def _follow(value: Any, rest: str, path: str) -> Any:
    if not rest:
        return value
    if isinstance(value, dict) and (named := _key_at(value, rest)):
        return _follow(value[named], rest.removeprefix(".")[len(named) :], path)
    match = _STEP.match(rest)
    if match is None:
        raise InvalidArgumentsError(f"The path {path[:80]!r} cannot be read at {rest[:20]!r}.")
    rest = rest[match.end() :]
    index = match["index"]
    if index is not None and isinstance(value, list):
        if index == "*" or ":" in index:
            first, _, last = ("", "", "") if index == "*" else index.partition(":")
            return [_follow(item, rest, path) for item in value[int(first or 0) : int(last) if last else None]]
        if -len(value) <= int(index) < len(value):
            return _follow(value[int(index)], rest, path)
    inside = f"keys {', '.join(list(value)[:20])}" if isinstance(value, dict) else f"{type(value).__name__}"
    raise InvalidArgumentsError(f"The path {path[:80]!r} ends before {match[0][:40]!r}: there is {inside}.")


def _key_at(value: JsonObject, rest: str) -> str:
    """Return the longest key that a path goes on with; columns may be called `sepal.length` or `sum(a[1])`."""
    rest = rest.removeprefix(".")
    fitting = (key for key in value if key and rest.startswith(key) and rest[len(key) : len(key) + 1] in ("", ".", "["))
    return max(fitting, key=len, default="")
