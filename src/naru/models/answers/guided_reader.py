"""Reads what a guided engine writes, which is words or a valid call from its first letter on: nothing need be held.

Unmarked JSON elsewhere may be an example, so the dialects' parser waits for its end (docs/decisions/0011). Under a
grammar or schema there is no doubt: the call is handed to the parser as a marked one, which it passes on as it comes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection

from naru.dialects.events import Event
from naru.models.answers.normalise import TextParser

_HEAD = re.compile(r'\s*(?:```json\s*)?\{\s*"name"\s*:\s*("(?:[^"\\]|\\.)*")\s*,\s*"arguments"\s*:\s*\{')
_BEGINS = re.compile(r"\s*(?:`{1,3}|`{3}j(?:s(?:o(?:n)?)?)?|(?:```json\s*)?(?:\{.*)?)", re.DOTALL)
_HEAD_LONGEST = 300
_FENCE = "\n```"
_OPENS, _CLOSES = "<tool_call>", "</tool_call>"


class GuidedCalls:
    """Marks the calls with which an answer begins; everything else goes to the parser as it is."""

    def __init__(self, parser: TextParser, names: Collection[str]) -> None:
        """Read calls of the tools that have these names."""
        self._parser = parser
        self._names = names
        self._held = ""
        self._state = "head"
        """`head` until it is known what comes, `call` inside of one, `between` two, `plain` for all the rest."""

    def feed(self, delta: str) -> list[Event]:
        """Return what this text completes."""
        if self._state == "plain":
            return self._parser.feed(delta)
        self._held += delta
        return self._parser.feed(self._marked())

    def close(self, finish_reason: str = "stop") -> list[Event]:
        """Return what was held back."""
        rest = self._held + _CLOSES if self._state == "call" and _is_whole(finish_reason) else self._held
        events = self._parser.feed(rest) if rest else []
        return events + self._parser.close(finish_reason)

    def _marked(self) -> str:
        """Take what is certain from the held text, and return it with the marks that the parser knows."""
        said = ""
        while self._held:
            if self._state == "call":
                body, ended = self._body()
                said += body + (_CLOSES if ended else "")
                if not ended:
                    break
                self._state = "between"
            elif (head := _HEAD.match(self._held)) is not None and _name_in(head[1]) in self._names:
                said += _OPENS + self._held[self._held.index("{") : head.end()]
                self._held, self._state = self._held[head.end() :], "call"
            elif self._may_be_head(head):
                break
            else:
                said, self._held, self._state = said + self._held, "", "plain"
        return said

    def _may_be_head(self, head: re.Match[str] | None) -> bool:
        return head is None and len(self._held) < _HEAD_LONGEST and _BEGINS.fullmatch(self._held) is not None

    def _body(self) -> tuple[str, bool]:
        """Return what belongs to the call, and whether its fence has closed; a line's end may be the fence's."""
        body, fence, rest = self._held.partition(_FENCE)
        if fence:
            self._held = rest
            return body, True
        keep = next((size for size in range(len(_FENCE) - 1, 0, -1) if body.endswith(_FENCE[:size])), 0)
        self._held = body[len(body) - keep :]
        return body[: len(body) - keep], False


def _name_in(text: str) -> str:
    """Return the name that a text in quotes is; empty for one that JSON cannot read, which the parser may know."""
    try:
        return str(json.loads(text))
    except ValueError:
        return ""


def _is_whole(finish_reason: str) -> bool:
    return finish_reason not in ("length", "max_tokens")
