"""Which tools lie close to a question in meaning: vectors beside words, where there is an embedder (H13)."""

from __future__ import annotations

import hashlib
import logging
import math
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Literal, Protocol

from naru.agent.selection import MARKS, UNTOLD, Ranked, index_of, named_of, said_of
from naru.errors import NaruError
from naru.messages import ToolDefinition

logger = logging.getLogger(__name__)
Embed = Callable[[Sequence[str], Literal["query", "passage"]], Awaitable[list[list[float]]]]
"""Returns a vector for each text, in order; an empty one for a blank text. Raises NaruError."""
_KEPT = 10_000  # Vectors of tools that are held in memory, two for each.
_MOST_CHARACTERS = 2_000
WORDS = 0.05
"""What the tool that shares most words gains beside its closeness (102 questions in ten languages)."""
ASKING = (
    "What is the status of my order? When does it start? Who is it? How much does it cost? Where is it? Is it open? "
    "Which one is the cheapest? How many are left? What did they order? Who cancelled the booking? When was it booked? "
    "Is it paid? How long does it take? What does it cost to reserve? Where do I find it? Is it ready? Has it been "
    "changed? Can it still be returned?"
)
ORDERING = (
    "Please cancel it. Book it for me. I want to order one. Can you change it? Send it to him. Close it, please. "
    "Reserve it for tomorrow. Delete it. Could you renew this for me? Stop it. I would like to subscribe. Pay it. Open "
    "one for me. Assign it to her. Block it."
)
"""What people say who want to know something, and who want something done. How far a question points from the mean of
these to the mean of those, less `MARK` where it ends in a question mark ("Would it be possible to cancel B7731?"), is
its `Ranked.wish` (decision 0160)."""
MARK = 0.02  # What a question mark adds to asking.
TALK = (
    "Hello! How are you? Thank you very much, goodbye!",
    "Tell me a joke. Write a sentence. Explain in general why something is so.",
    "I am tired and sad. Cheer me up, please.",
)
"""What needs no tool. Of 44 such messages in twelve languages 40 lie at .25 or more of one of these (of the first two
33), of 230 questions for tools two: how near a tool lies tells the two apart less well."""


class Shelf(Protocol):
    """Keeps vectors from one start to the next, by what they are of."""

    async def get(self, keys: Sequence[str]) -> Mapping[str, list[float]]:
        """Return what is known of these keys. Raises NaruError."""
        ...

    async def put(self, vectors: Mapping[str, list[float]]) -> None:
        """Keep vectors. Raises NaruError."""
        ...


class Closeness:
    """Ranks by what vectors say of a tool, and a little by shared words (BM25).

    A tool is embedded once for each text it has, also over restarts where there is a shelf; when the embedder fails,
    words rank alone.
    """

    def __init__(self, embed: Embed, shelf: Shelf | None = None, *, tells_closeness: bool = True) -> None:
        """Take what embeds and what keeps vectors.

        Args:
            embed: turns texts into vectors.
            shelf: keeps them from one start to the next.
            tells_closeness: its cosines are on the scale of the embedded encoder, which planners know.
        """
        self._tells_closeness = tells_closeness
        self._embed = embed
        self._shelf = shelf
        self._vectors: OrderedDict[str, list[float]] = OrderedDict()
        self._failed = ""
        self._poles: list[list[float]] = []

    async def rank(self, tools: Sequence[ToolDefinition], texts: Sequence[str]) -> Sequence[Ranked]:
        """Return all tools, most relevant first, for a question and what was said before it.

        `closeness` is to the first text, which is the question itself.
        """
        by_words = [index_of(tools).rank(text) for text in texts]
        try:
            near, talk, wish = await self._by_meaning(tools, texts)
            self._failed = ""
        except NaruError as error:
            if str(error) != self._failed:
                logger.warning("tools are chosen by their words alone: %s", error)
            self._failed = str(error)
            return by_words[0]
        scores = _scores(by_words, near)
        ranked = sorted((replace(one, score=scores[one.tool.name]) for one in by_words[0]), key=lambda one: -one.score)
        if not self._tells_closeness:
            return ranked
        asked = near[0]
        return [replace(one, closeness=asked[one.tool.name], ordered=UNTOLD, talk=talk, wish=wish) for one in ranked]

    async def near(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return how near texts lie to a question in meaning, -1 to 1; 0 where nothing can tell. Nothing is kept."""
        if self._tells_closeness and texts:
            with suppress(NaruError):  # Ranking has told of it.
                asked = await self._embed([question], "query")
                return [_cosine(asked[0], one) for one in await self._embed(list(texts), "passage")]
        return [0.0] * len(texts)

    async def _by_meaning(
        self, tools: Sequence[ToolDefinition], texts: Sequence[str]
    ) -> tuple[list[dict[str, float]], float, float]:
        """Return for each text how near each tool is; how near the first is to talk; how far one points to an order.

        Raises:
            NaruError: the embedder failed.
        """
        said = {tool.name: [text[:_MOST_CHARACTERS] for text in (said_of(tool), named_of(tool))] for tool in tools}
        texts_of_tools = list(dict.fromkeys(text for every in said.values() for text in every))
        await self._learn(texts_of_tools)
        if not self._poles:
            poles = [await self._embed(one, "query") for one in (ASKING.split("? "), ORDERING.split(". "), TALK)]
            means = [[sum(column) / len(some) for column in zip(*some, strict=False)] for some in poles[:2]]
            self._poles = [[other - one for one, other in zip(*means, strict=False)], *poles[2]]
        asked = await self._embed(list(texts), "query")
        for text in texts_of_tools:
            self._vectors.move_to_end(_key(text))
        while len(self._vectors) > max(_KEPT, len(texts_of_tools)):
            self._vectors.popitem(last=False)
        near = [{name: self._nearness(vector, every) for name, every in said.items()} for vector in asked]
        talk = max(_cosine(asked[0], pole) for pole in self._poles[1:])
        asks = [MARK * text.rstrip().endswith(MARKS) for text in texts]
        return near, talk, max(_cosine(one, self._poles[0]) - by for one, by in zip(asked, asks, strict=True))

    def _nearness(self, vector: Sequence[float], texts: Sequence[str]) -> float:
        return sum(_cosine(vector, self._vectors[_key(text)]) for text in texts) / len(texts)

    async def _learn(self, texts: Sequence[str]) -> None:
        """Have a vector of each text: from memory, the shelf, else the embedder. Raises NaruError."""
        missing = {_key(text): text for text in texts if _key(text) not in self._vectors}
        if missing and self._shelf is not None:
            self._vectors.update(await self._shelf.get(list(missing)))
            missing = {key: text for key, text in missing.items() if key not in self._vectors}
        if not missing:
            return
        vectors = dict(zip(missing, await self._embed(list(missing.values()), "passage"), strict=True))
        self._vectors.update(vectors)
        if self._shelf is not None:
            await self._shelf.put(vectors)


def _scores(by_words: Sequence[Sequence[Ranked]], near: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return closeness and shared words added up, as a mean over the texts."""
    points: dict[str, float] = {}
    for ranked, scores in zip(by_words, near, strict=True):
        most = max((one.score for one in ranked), default=0.0) or 1.0
        for one in ranked:
            gained = scores[one.tool.name] + WORDS * one.score / most
            points[one.tool.name] = points.get(one.tool.name, 0.0) + gained / len(near)
    return points


def _key(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    if not one or len(one) != len(other):
        return 0.0
    length = math.sqrt(sum(x * x for x in one) * sum(x * x for x in other))
    return sum(x * y for x, y in zip(one, other, strict=True)) / length if length else 0.0
