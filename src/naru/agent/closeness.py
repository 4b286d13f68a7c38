"""Which tools lie close to a question in meaning: vectors beside words, where an embedder is configured (H13)."""

from __future__ import annotations

import hashlib
import logging
import math
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from typing import Literal

from naru.agent.selection import ToolIndex, most_relevant, schema_text
from naru.errors import NaruError
from naru.messages import ToolDefinition

logger = logging.getLogger(__name__)
Embed = Callable[[Sequence[str], Literal["query", "passage"]], Awaitable[list[list[float]]]]
"""Returns a vector for each text, in order; an empty one for a blank text. Raises NaruError."""
_KEPT = 5_000
"""Vectors of tools that are remembered."""
_CALM = 60
"""Reciprocal rank fusion's constant: how little the very first places weigh more than the next (Cormack 2009)."""
_MOST_CHARACTERS = 2_000


class Closeness:
    """Chooses by the places that words (BM25) and vectors give a tool, added up as reciprocal ranks.

    Ranks need no common scale, so neither way can drown the other. A tool is embedded once for each text it has; when
    the embedder fails, words choose alone.
    """

    def __init__(self, embed: Embed) -> None:
        self._embed = embed
        self._vectors: OrderedDict[str, list[float]] = OrderedDict()
        self._failed = ""

    async def choose(self, tools: Sequence[ToolDefinition], question: str, most: int) -> Sequence[ToolDefinition]:
        """Return at most so many tools in their own order; 0 is no limit."""
        if not most or len(tools) <= most:
            return tools
        try:
            near = await self._by_meaning(tools, question)
            self._failed = ""
        except NaruError as error:
            if str(error) != self._failed:
                logger.warning("tools are chosen by their words alone: %s", error)
            self._failed = str(error)
            return most_relevant(tools, question, most)
        by_words = [one.tool.name for one in ToolIndex(tools).rank(question) if one.score > 0]
        points: dict[str, float] = {}
        for order in (by_words, near):
            for place, name in enumerate(order):
                points[name] = points.get(name, 0.0) + 1 / (_CALM + place)
        chosen = sorted(points, key=lambda name: -points[name])[:most]
        return [tool for tool in tools if tool.name in chosen]

    async def _by_meaning(self, tools: Sequence[ToolDefinition], question: str) -> list[str]:
        """Return the tools' names, nearest first. Raises NaruError."""
        texts = {tool.name: _said(tool) for tool in tools}
        missing = [text for text in dict.fromkeys(texts.values()) if _key(text) not in self._vectors]
        if missing:
            for text, vector in zip(missing, await self._embed(missing, "passage"), strict=True):
                self._vectors[_key(text)] = vector
        (asked,) = await self._embed([question], "query")
        scores = {name: _cosine(asked, self._vectors[_key(text)]) for name, text in texts.items()}
        for text in texts.values():
            self._vectors.move_to_end(_key(text))
        while len(self._vectors) > max(_KEPT, len(texts)):
            self._vectors.popitem(last=False)
        return sorted(scores, key=lambda name: -scores[name])


def _said(tool: ToolDefinition) -> str:
    name = tool.name.replace("_", " ").replace(".", " ")
    return f"{name}. {tool.title} {tool.description} {schema_text(tool.input_schema)}"[:_MOST_CHARACTERS]


def _key(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    if not one or len(one) != len(other):
        return 0.0
    length = math.sqrt(sum(x * x for x in one) * sum(x * x for x in other))
    return sum(x * y for x, y in zip(one, other, strict=True)) / length if length else 0.0
