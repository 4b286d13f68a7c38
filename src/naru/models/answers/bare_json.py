"""Takes the fence off an answer that is one JSON document, where JSON was asked for: clients decode it as it comes.

Endpoints that hold a model to the form give it bare; from the others models fence it, as they do in talk.
"""

from __future__ import annotations

import json
import re

from naru.dialects.events import Event, Text
from naru.models.answers.normalise import TextParser

_MARK = "```"
_FENCED = re.compile(r"\s*```\w*[ \t]*\n(.*)\n[ \t]*```\s*", re.DOTALL)


class BareJson:
    """Holds text back that begins with a fence until its end shows what it is; all other text passes at once."""

    def __init__(self, parser: TextParser) -> None:
        self._parser = parser
        self._held: list[str] = []
        self._begun = ""
        """With what the held text begins, as far as that tells a fence."""
        self._passes = False

    def feed(self, delta: str) -> list[Event]:
        """Return the events that this text completes."""
        events = self._parser.feed(delta)
        return events if self._passes else self._taken(events)

    def close(self, finish_reason: str = "stop") -> list[Event]:
        """Return what was held back: the document alone if there is nothing else, else every letter of it."""
        events = self._taken(self._parser.close(finish_reason))
        held = "".join(self._held)
        fenced = _FENCED.fullmatch(held)
        text = fenced[1] if fenced is not None and _is_json(fenced[1]) else held
        return [*events, Text(text)] if text else events

    def _taken(self, events: list[Event]) -> list[Event]:
        given: list[Event] = []
        for event in events:
            if self._passes or type(event) is not Text:
                given.append(event)
                continue
            self._held.append(event.text)
            if len(self._begun) < len(_MARK):
                self._begun = (self._begun + event.text).lstrip()[: len(_MARK)]
            if not _MARK.startswith(self._begun):
                self._passes = True
                given.append(Text("".join(self._held)))
                self._held.clear()
        return given


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
