"""Which URIs a template (RFC 6570) makes, told in linear time: servers write templates, clients what is asked."""

from __future__ import annotations

import re
from functools import lru_cache

MAX_CHARACTERS = 4096
MAX_EXPRESSIONS = 64
"""A template beyond either is still listed, and no URI is found by it."""


class UriTemplate:
    """A template as an automaton whose states are the bits of a number: nothing is tried twice."""

    def __init__(self, template: str) -> None:
        parts = re.split(r"\{([^{}]*)\}", template)
        self._is_bounded = len(template) <= MAX_CHARACTERS and len(parts) <= 2 * MAX_EXPRESSIONS + 1
        self._prefix = parts[0]
        self._steps: dict[str, int] = {}
        """Character → the places that it leads on from."""
        self._loops = 0
        """Places that any character may repeat at, or be left out of, but for those of `_ends`."""
        self._ends: dict[str, int] = {}
        self._queries = 0
        """Places where a query may begin, whose loop comes next."""
        self._length = 0
        for index, part in enumerate(parts if self._is_bounded else ()):
            if index % 2 == 0:
                for character in part:
                    self._step(character)
                    self._length += 1
            elif part[:1] in "?&":
                self._queries |= 1 << self._length
                self._step("?")
                self._step("&")
                self._length += 1
                self._loop("#")
            else:
                self._loop("?#" if part[:1] in "+#/" or part.endswith("*") else "/?#")

    def makes(self, uri: str) -> bool:
        """Tell whether a URI is one of its."""
        if not self._is_bounded or not uri.startswith(self._prefix):
            return False
        places = self._reached(1 << len(self._prefix))
        for character in uri[len(self._prefix) :]:
            stays = places & self._loops & ~self._ends.get(character, 0)
            places = self._reached((places & self._steps.get(character, 0)) << 1 | stays)
            if not places:
                return False
        return bool(places >> self._length)

    def _reached(self, places: int) -> int:
        """Return the places with those behind what may be left out."""
        while (more := places | (places & self._loops) << 1 | (places & self._queries) << 2) != places:
            places = more
        return places

    def _step(self, character: str) -> None:
        self._steps[character] = self._steps.get(character, 0) | 1 << self._length

    def _loop(self, ends: str) -> None:
        self._loops |= 1 << self._length
        for character in ends:
            self._ends[character] = self._ends.get(character, 0) | 1 << self._length
        self._length += 1


@lru_cache(maxsize=1024)
def read_template(template: str) -> UriTemplate:
    """Return the URIs of a template."""
    return UriTemplate(template)
