"""Values written as nested elements: an object by its tags, a list by `item`s or one name repeated (MiniMax M3)."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

_DEEPEST = 100
"""What is nested deeper is a text."""


@lru_cache(maxsize=8)
def elements_reader(begin: str) -> Callable[[str], object]:
    """Return what reads nested elements whose tags begin with `begin`: `item`s are a list, others an object."""
    opening = re.compile(rf"\s*{re.escape(begin)}([\w.\-]+)>")

    def read(text: str, depth: int = 0) -> object:
        if depth == _DEEPEST or not text.lstrip().startswith(begin):
            return text
        found: list[tuple[str, object]] = []
        at = 0
        while at < len(text):
            tag = opening.match(text, at)
            end = _element_end(text, tag, begin) if tag is not None else None
            if tag is None or end is None:
                if text[at:].strip():
                    return text
                break
            found.append((tag[1], read(text[tag.end() : end[0]], depth + 1)))
            at = end[1]
        if all(name == "item" for name, _ in found):
            return [inner for _, inner in found]
        return _object_of(found)

    return read


def _object_of(found: list[tuple[str, object]]) -> dict[str, object]:
    """Return an object of elements; those with one name are the values of a list."""
    values: dict[str, list[object]] = {}
    for name, inner in found:
        values.setdefault(name, []).append(inner)
    return {name: inner if len(inner) > 1 else inner[0] for name, inner in values.items()}


def _element_end(text: str, tag: re.Match[str], begin: str) -> tuple[int, int] | None:
    """Return where the content of an element ends and where what follows it begins."""
    depth = 1
    same = re.compile(rf"{re.escape(begin[:-1])}<(/?){re.escape(tag[1])}>")
    for found in same.finditer(text, tag.end()):
        depth += -1 if found[1] else 1
        if depth == 0:
            return found.start(), found.end()
    return None
