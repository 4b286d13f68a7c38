"""The answer reader for a request: the dialects' parser knows which tools were offered, and nothing else is a call."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from naru.dialects import StreamParser, Tool
from naru.dialects.events import Event, Text
from naru.messages import ChatRequest, ToolDefinition
from naru.models.answers.bare_json import BareJson
from naru.models.answers.guided_reader import GuidedCalls
from naru.models.answers.normalise import AnswerReader, TextParser
from naru.models.asking.answer_form import form_asked
from naru.models.asking.strategy import is_guided, is_wrapped, own_stops
from naru.models.known.profile import Profile


def answer_reader(request: ChatRequest, profile: Profile, names: Mapping[str, str] | None = None) -> AnswerReader:
    """Return a reader for the answer to a request, as the caller made it (not as it was prepared).

    The parser is not told how the prompt ends: an endpoint does not show what its template opened there, so calls
    end only when no closing tag of reasoning can come any more (docs/decisions/0092).

    Args:
        request: with the tools that may be called, by the names that were sent.
        profile: of the model.
        names: sent name → the caller's, where they differ.
    """
    hint = profile.dialect or request.model or None
    wants_json = form_asked(request) is not None
    if not request.tools:  # Most chats: nothing can be guided, wrapped or renamed.
        plain = StreamParser((), hint=hint)
        return AnswerReader(BareJson(plain) if wants_json else plain, names, keep_raw=request.keep_raw, offered=())
    tools = [Tool(tool.name, tool.input_schema) for tool in request.tools]
    aliases = _aliases(request.tools)
    tools += [Tool(alias, tool.input_schema) for alias, tool in aliases.items()]
    seen = [message.text for message in request.messages if message.role == "tool"]
    parser: TextParser = StreamParser(tools, hint=hint, seen=seen)
    own = names or {}
    known = {**{alias: own.get(tool.name, tool.name) for alias, tool in aliases.items()}, **own}
    if is_guided(request, profile):
        parser = GuidedCalls(parser, {tool.name for tool in tools})
    if is_wrapped(request, profile):
        parser = _Unwrapping(parser)
    elif stops := own_stops(request, profile):
        parser = _Cutting(parser, stops)
    parser = BareJson(parser) if wants_json else parser
    return AnswerReader(parser, known, keep_raw=request.keep_raw, offered={tool.name for tool in tools})


def _aliases(tools: Sequence[ToolDefinition]) -> dict[str, ToolDefinition]:
    """Return the other names that models write for a server's tool (R8): `server.tool`, and `tool` where unique."""
    if not any(tool.server for tool in tools):
        return {}
    taken = {tool.name for tool in tools}
    bare = Counter(tool.name.rsplit("__", 1)[-1] for tool in tools)
    found: dict[str, ToolDefinition] = {}
    for tool in tools:
        last = tool.name.rsplit("__", 1)[-1]
        if not tool.server or last == tool.name:
            continue
        for alias in (f"{tool.server}.{last}", f"{tool.server}/{last}", *([last] if bare[last] == 1 else [])):
            if alias not in taken:
                found.setdefault(alias, tool)
    return found


class _Cutting:
    """Ends the text where an invented observation begins, for endpoints that do not heed `stop` (N1)."""

    def __init__(self, parser: TextParser, stops: Sequence[str]) -> None:
        self._parser = parser
        self._stops = stops
        self._pattern = re.compile("|".join(map(re.escape, stops)))
        self._held = ""
        self._ended = False

    def feed(self, delta: str) -> list[Event]:
        """Pass on what cannot be the beginning of a stop."""
        if self._ended:
            return []
        text = self._held + delta
        if (found := self._pattern.search(text)) is not None:
            self._ended = True
            self._held = ""
            return self._parser.feed(text[: found.start()])
        keep = max((_overlap(text, stop) for stop in self._stops), default=0)
        self._held = text[len(text) - keep :]
        return self._parser.feed(text[: len(text) - keep]) if keep < len(text) else []

    def close(self, finish_reason: str = "stop") -> list[Event]:
        """Pass on what was held back after all."""
        events = self._parser.feed(self._held) if self._held else []
        return events + self._parser.close(finish_reason)


def _overlap(text: str, stop: str) -> int:
    """Return how much of the text's end is the beginning of a stop."""
    for size in range(min(len(stop) - 1, len(text)), 0, -1):
        if text.endswith(stop[:size]):
            return size
    return 0


_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


def _unescaped(text: str) -> str:
    """Decode what stands in a JSON string; a backslash before a letter that has no such form stays."""
    if "\\" not in text:
        return text
    plain = _ESCAPED.sub(lambda pair: pair[0] if pair[1] in '"\\/bfnrtu' else f"\\{pair[0]}", text)
    said: str = json.loads(f'"{plain}"', strict=False)
    return said.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class _Unwrapping:
    """Takes the words out of `{"answer": "…"}` as they arrive; anything else goes to the parser as it is."""

    _HEAD = re.compile(r'\s*\{\s*"answer"\s*:\s*"')
    _PLAIN_HEAD = '{"answer":"'
    _LONGEST_HEAD = 300
    _SAFE = re.compile(
        r'(?:[^"\\]|\\u(?![dD][89abAB])[0-9a-fA-F]{4}|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[0-9a-fA-F]{4}|\\[^u])*'
    )
    """Characters of a JSON string that can be decoded without what follows; surrogates go in pairs."""
    _HALF = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}(?=[^\\]|\\[^u])")
    _NO_ESCAPE = re.compile(r"\\u(?=[0-9a-fA-F]{0,3}[^0-9a-fA-F])")

    def __init__(self, parser: TextParser) -> None:
        self._parser = parser
        self._held = ""
        self._inside = False
        self._plain = False

    def feed(self, delta: str) -> list[Event]:
        """Return the words that this text completes."""
        if self._plain:
            return self._parser.feed(delta)
        self._held += delta
        if not self._inside:
            head = self._HEAD.match(self._held)
            if head is None:
                may_come = len(self._held) < self._LONGEST_HEAD
                if may_come and self._PLAIN_HEAD.startswith("".join(self._held.split())):
                    return []
                return self._give_up()
            self._inside = True
            self._held = self._held[head.end() :]
        words = "".join(self._words())
        return [Text(words)] if words else []

    def _words(self) -> Iterator[str]:
        """Take the words that are certain; what no engine held to JSON would write is taken as it stands."""
        while self._held:
            safe = self._SAFE.match(self._held)
            assert safe is not None
            yield _unescaped(safe[0])
            self._held = self._held[safe.end() :]
            if odd := self._HALF.match(self._held):
                yield "\ufffd"
            elif odd := self._NO_ESCAPE.match(self._held):
                yield odd[0]
            else:
                return
            self._held = self._held[odd.end() :]

    def close(self, finish_reason: str = "stop") -> list[Event]:
        """Return what was held back: also words behind a quotation mark that only seemed to end the answer."""
        events: list[Event] = [] if self._inside or self._plain else self._give_up()
        if self._inside and self._held.startswith('"'):
            rest = self._held.rstrip().removesuffix("}").rstrip().removesuffix('"')
            events += [Text(rest)] if rest else []
        return events + self._parser.close(finish_reason)

    def _give_up(self) -> list[Event]:
        self._plain = True
        held, self._held = self._held, ""
        return self._parser.feed(held)
