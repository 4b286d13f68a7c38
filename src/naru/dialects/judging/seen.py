"""What the conversation's tools returned: a call that stands there word for word is a quotation."""

from __future__ import annotations

import importlib

from naru.dialects.texts.literal import SURROGATES
from naru.dialects.texts.patterns import lazy_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_ESCAPES = lazy_pattern(r"\\u([0-9a-fA-F]{4})|\\[nrt]|\\")


class Seen:
    """What tools have returned; made comparable when it is first asked."""

    __slots__ = ("_solid", "_texts")

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._solid: list[str] | None = None

    def __bool__(self) -> bool:
        return bool(self._texts)

    def has(self, unit: str) -> bool:
        """Tell whether calls stand there word for word, however they are laid out and escaped."""
        if self._solid is None:
            self._solid = [_solid(text) for text in self._texts]
        solid = _solid(unit)
        return any(solid in text for text in self._solid)


def _solid(text: str) -> str:
    """Return a text without white space and escapes of JSON and HTML, written once or twice over."""
    if "\\" in text:
        text = _ESCAPES.sub(lambda found: chr(int(found[1], 16)) if found[1] else "", text)
        if SURROGATES.search(text):
            text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if "&" in text:
        unescape = importlib.import_module("html").unescape  # few texts need it, and every start would pay for it
        text = unescape(unescape(text))
    return "".join(text.split())


NOTHING_SEEN = Seen(())
