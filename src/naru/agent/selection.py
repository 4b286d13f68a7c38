"""Which tools share words with a question: BM25 over what the tools say of themselves (H13).

Pure and stable, and the same for every language: scripts that put spaces between words are compared by how a word
begins, which is what its inflections share; the others by pairs of characters. Meaning is told by `closeness`.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from naru.messages import ToolDefinition
from naru.tools.names import plain_name
from naru.tools.provider_schemas.references import resolve_references

_RUN = re.compile(r"[^\W_]+")
_PIECE = re.compile(r"\d+|[^\W\d_]+")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
"""Thai, Lao, Burmese, Khmer, kana, Han; and Hangul, whose particles stick to the noun."""
_BEGINNING = 5  # Letters of a word that its inflections mostly share (Can et al. 2008 measured four to six).
_TELLING_DIGITS = 3  # A shorter number says nothing of what a text is about.
_TELLING_LETTERS = 3  # A shorter word of a script with spaces mostly joins others.
_NAME_WEIGHT, _K1, _B = 3, 1.2, 0.5
MARKS = ("?", "\uff1f", "\u061f")  # A text that ends in one of these asks, or orders politely.

MAY_CHANGE, READS, UNTOLD = 0.14, 0.05, 0.1
"""From which `ordered` a tool that says nothing of itself counts as changing something, up to which it counts as
reading, and what it has where nobody can tell: `weighing` says how many are told so."""
TALK = 0.25  # Closeness of a question to talk from which it counts as such.
ASKS = -0.08
"""Below this a question wants to know something (352 of 372) and orders nothing (3 of 117 orders, politely)."""
ORDERS = 0.03
"""Above this something is ordered (37 of 50 orders, none of 372 questions), if it is no talk."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A tool with its relevance to a question."""

    tool: ToolDefinition
    score: float
    """By shared words (BM25); where meaning is measured, by that and a little by words."""
    closeness: float | None = None
    """How near in meaning, -1 to 1; None where nothing measures it."""
    ordered: float = 0.0
    """How far it points from telling something to changing something; see `UNTOLD`."""
    talk: float = 0.0
    """How near the question itself is to talk that needs no tool; 0 where nothing measures it."""
    wish: float = 0.0
    """How far it points from wanting to know something to wanting something done; 0 where nothing measures it."""

    @property
    def says_reading(self) -> bool | None:
        """Tell whether the tool says that it only reads, or that it changes something; None where it does not say."""
        noted = self.tool.annotations
        return False if noted.get("destructiveHint") is True else noted.get("readOnlyHint")

    @property
    def changes(self) -> bool | None:
        """Tell whether the tool changes something, or only reads; None where nobody can tell."""
        if self.says_reading is not None:
            return not self.says_reading
        return True if self.ordered > MAY_CHANGE else False if self.ordered <= READS else None

    @property
    def is_talk(self) -> bool:
        """Tell whether the question is talk."""
        return self.talk > TALK

    @property
    def is_to_know(self) -> bool:
        """Tell whether the question wants to know something, and orders nothing."""
        return self.wish < ASKS

    @property
    def doubt(self) -> float:
        """How far a tool that does not say what it does points to changing, where nothing is ordered; else 0."""
        return max(0.0, self.ordered) if self.is_to_know and self.says_reading is None else 0.0

    @property
    def idle(self) -> float:
        """How far a tool that does not say what it does falls short of changing, where something is ordered; else 0."""
        is_order = self.wish > ORDERS and not self.is_talk
        return max(0.0, MAY_CHANGE - self.ordered) if is_order and self.says_reading is None else 0.0


def terms(text: str) -> list[str]:
    """Cut a text into comparable terms: beginnings of words, pairs of characters, numbers."""
    return [term for word in _words(text) for term in _terms(word)]


def _words(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKC", plain_name(text)).casefold()
    return [word for run in _RUN.findall(plain) for word in _PIECE.findall(run)]


def _terms(piece: str) -> Iterator[str]:
    if piece.isdigit():
        if len(piece) >= _TELLING_DIGITS:
            yield piece
    elif _UNSPACED.match(piece):
        yield from (piece[at : at + 2] for at in range(max(1, len(piece) - 1)))
    elif len(piece) >= _TELLING_LETTERS:
        yield piece[:_BEGINNING]


def schema_text(schema: Any, depth: int = 0) -> str:
    """What a schema says in words: property names, descriptions, enum values."""
    if not isinstance(schema, dict) or depth > 4:
        return ""
    said = [str(schema.get("description", "")), " ".join(str(value) for value in schema.get("enum") or ())]
    for name, inner in (schema.get("properties") or {}).items():
        said += [str(name), schema_text(inner, depth + 1)]
    branches = [one for key in ("anyOf", "oneOf", "allOf") for one in schema.get(key) or ()]
    said += [schema_text(one, depth + 1) for one in (schema.get("items"), *branches)]
    return " ".join(part for part in said if part)


def said_of(tool: ToolDefinition) -> str:
    """Return what a tool says of itself, as one text."""
    schema = schema_text(resolve_references(tool.input_schema))
    return f"{plain_name(tool.name.rsplit('__', 1)[-1])}. {tool.title} {tool.description} {schema}"


def named_of(tool: ToolDefinition) -> str:
    """Return a tool's name and description alone: among many parameters they are lost."""
    return f"{plain_name(tool.name.rsplit('__', 1)[-1])}. {tool.description}"


class ToolIndex:
    """The tools' own words, counted once and asked many times."""

    def __init__(self, tools: Sequence[ToolDefinition]) -> None:
        self._tools = tuple(tools)
        self._counts = [self._document(tool) for tool in self._tools]
        self._lengths = [sum(counts.values()) for counts in self._counts]
        self._mean = (sum(self._lengths) / len(self._lengths)) if self._lengths else 0.0
        self._seen_in = Counter(term for counts in self._counts for term in counts)

    @staticmethod
    def _document(tool: ToolDefinition) -> Counter[str]:
        counts = Counter(terms(tool.name) * (_NAME_WEIGHT - 1))
        counts.update(terms(said_of(tool)))
        return counts

    def rank(self, question: str) -> list[Ranked]:
        """Return all tools, most relevant first; equals stay in their own order."""
        asked = dict.fromkeys(terms(question))
        ranked = [Ranked(tool, self._score(place, asked)) for place, tool in enumerate(self._tools)]
        return sorted(ranked, key=lambda one: -one.score)

    def _score(self, place: int, asked: Iterable[str]) -> float:
        counts, length = self._counts[place], self._lengths[place]
        share = _K1 * (1 - _B + _B * length / (self._mean or 1))
        found = [(term, counts[term]) for term in asked if term in counts]
        return sum(self._rarity(term) * count * (_K1 + 1) / (count + share) for term, count in found)

    def _rarity(self, term: str) -> float:
        seen = self._seen_in[term]
        return math.log(1 + (len(self._tools) - seen + 0.5) / (seen + 0.5))


_INDEXES: dict[Hashable, tuple[object, ToolIndex]] = {}
_MOST = 8


def index_of(tools: Sequence[ToolDefinition]) -> ToolIndex:
    """Return the index over tools, counted anew only when the list is another one than in the last requests.

    Tools come anew each request, their schemas do not: an entry holds them, so that no id is ever another object's.
    """
    held = tuple(one for tool in tools for one in (tool.input_schema, tool.annotations))
    key = (*map(id, held), *((tool.name, tool.server, tool.title, tool.description) for tool in tools))
    if key not in _INDEXES:
        if len(_INDEXES) >= _MOST:
            _INDEXES.clear()
        _INDEXES[key] = (held, ToolIndex(tools))
    return _INDEXES[key][1]


def first_of(ranked: Sequence[Ranked], tools: Sequence[ToolDefinition], most: int) -> Sequence[ToolDefinition]:
    """Return at most so many tools, the first ranked, in their own order (H13); 0 is no limit."""
    if not most or len(tools) <= most:
        return tools
    chosen = {one.tool.name for one in ranked[:most]}
    return [tool for tool in tools if tool.name in chosen]
