"""Makes text harmless that a client would take for a call, also when it is split over deltas."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(slots=True)
class LookAlikes:
    """A pattern of text that must not reach the client as it is.

    Text is held back only while it may still become the pattern: `opening` matches at the end of such text.
    """

    pattern: re.Pattern[str]
    opening: re.Pattern[str]
    replace: Callable[[str], str]
    held_limit: int = 256
    _held: str = ""

    def feed(self, text: str) -> str:
        """Return the text that is certain by now, made harmless."""
        text, self._held = self._held + text, ""
        match = self.opening.search(text)
        if match and len(text) - match.start() <= self.held_limit:
            text, self._held = text[: match.start()], text[match.start() :]
        return self.apply(text)

    def close(self) -> str:
        """Return what was held back."""
        text, self._held = self._held, ""
        return self.apply(text)

    def apply(self, text: str) -> str:
        """Make a whole text harmless."""
        return self.pattern.sub(lambda match: self.replace(match[0]), text)
