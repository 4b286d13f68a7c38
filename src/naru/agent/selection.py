"""Which tools to show for a question: BM25 over what the tools say of themselves (H13).

Pure and stable: the same question and tools give the same order, with the words that spoke for each tool.
Hangul has no useful word boundaries for this (particles stick to nouns), so it is taken in pairs of syllables.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from naru.agent.glossary import in_english
from naru.messages import ToolDefinition

_WORD = re.compile(r"[a-z]+|[가-힣]+|\d+|[^\W\da-z_가-힣]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_STOP = frozenset(
    "a an and any are as at be by can could do does for from give has have how i in is it its let me my of on or "
    "please show so tell that the their them there this to up us was we what when where which who whom whose why will "
    "with would you your".split()
)
_NAME_WEIGHT = 3
_K1, _B = 1.2, 0.5


@dataclass(frozen=True, slots=True)
class Ranked:
    """A tool with its relevance to a question."""

    tool: ToolDefinition
    score: float
    reasons: tuple[str, ...] = ()
    """The terms that question and tool share, strongest first."""


def terms(text: str, *, keep_stop_words: bool = False) -> list[str]:
    """Cut a text into comparable terms: stemmed Latin words, pairs of Hangul syllables, numbers."""
    found: list[str] = []
    for word in _WORD.findall(_CAMEL.sub(" ", text).lower().replace("_", " ")):
        if "가" <= word[0] <= "힣":
            found.extend(word[i : i + 2] for i in range(len(word) - 1)) if len(word) > 1 else found.append(word)
        elif keep_stop_words or word not in _STOP:
            found.append(_stem(word))
    return found


def _stem(word: str) -> str:
    for ending, least in (("ies", 5), ("ing", 6), ("ed", 5), ("es", 6), ("s", 4)):
        if word.endswith(ending) and len(word) >= least and not word.endswith("ss"):
            return word[: -len(ending)] + ("y" if ending == "ies" else "")
    return word.removesuffix("e") if len(word) > 4 else word


def _schema_text(schema: Any, depth: int = 0) -> str:
    """What a schema says in words: property names, descriptions, enum values."""
    if not isinstance(schema, dict) or depth > 4:
        return ""
    said = [str(schema.get("description", "")), " ".join(str(value) for value in schema.get("enum") or ())]
    for name, inner in (schema.get("properties") or {}).items():
        said += [str(name), _schema_text(inner, depth + 1)]
    said.append(_schema_text(schema.get("items"), depth + 1))
    return " ".join(part for part in said if part)


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
        counts = Counter(terms(tool.name) * _NAME_WEIGHT)
        counts.update(terms(f"{tool.title} {tool.description}"))
        counts.update(terms(_schema_text(tool.input_schema)))
        return counts

    def rank(self, question: str) -> list[Ranked]:
        """Return all tools, most relevant first; equals stay in their own order."""
        asked = Counter(terms(f"{question} {' '.join(in_english(question))}"))
        ranked = [self._score(position, asked) for position in range(len(self._tools))]
        return sorted(ranked, key=lambda one: -one.score)

    def _score(self, position: int, asked: Counter[str]) -> Ranked:
        counts, length = self._counts[position], self._lengths[position]
        parts: list[tuple[float, str]] = []
        for term in asked:
            count = counts.get(term, 0)
            if not count:
                continue
            rarity = math.log(1 + (len(self._tools) - self._seen_in[term] + 0.5) / (self._seen_in[term] + 0.5))
            weight = count * (_K1 + 1) / (count + _K1 * (1 - _B + _B * length / (self._mean or 1)))
            parts.append((rarity * weight, term))
        parts.sort(key=lambda part: (-part[0], part[1]))
        return Ranked(self._tools[position], sum(part[0] for part in parts), tuple(term for _, term in parts))


def select_tools(question: str, tools: Sequence[ToolDefinition], limit: int) -> list[Ranked]:
    """Return the `limit` most relevant tools for a question, with scores and the terms that decided."""
    return ToolIndex(tools).rank(question)[:limit]


def most_relevant(tools: Sequence[ToolDefinition], question: str, most: int) -> Sequence[ToolDefinition]:
    """Return at most so many tools, those that the question speaks of, in their own order (H13); 0 is no limit."""
    if not most or len(tools) <= most:
        return tools
    chosen = {one.tool.name for one in ToolIndex(tools).rank(question)[:most]}
    return [tool for tool in tools if tool.name in chosen]
