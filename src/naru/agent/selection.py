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

from naru.agent.casing import snake
from naru.agent.glossary import ENGLISH, alike, in_english
from naru.agent.identity import ByIdentity
from naru.agent.loanwords import is_hangul, sound_alike
from naru.agent.subjects import subjects_of
from naru.messages import ToolDefinition
from naru.tools.provider_schemas.references import resolve_references

_WORD = re.compile(r"[a-z]+|[가-힣]+|\d+|[^\W\da-z_가-힣]+")
_HYPHENED = re.compile(r"(?<![a-z-])[a-z]+(?:-[a-z]+)+(?![a-z-])")
_HANGUL = re.compile(r"[가-힣]{2,}")
_KOREAN_STOP = re.compile(
    r"(?:지금|현재|알려|보여|찾아|해줘|해주|주세|있나|있어|있는|인가|무엇|얼마|어느|어떤|어때|언제|누구|어디|뭐|몇|그리고|대한|대해|"
    r"무슨|하는|하나|입니|합니|됩니|습니|줘|싶|돼|되나|까지|지금까지|모두|전부|전체)"
)
_KOREAN_SINGLE = frozenset("한 두 세 네 그 이 저 각 매 및 등 중 수 것 때 더 좀 안 못 잘 다 또 내 제 나 너".split())
_STOP = frozenset(
    "about between each come comes one two three four five six seven eight nine ten s t d ll re ve m "
    "a an and any are as at be by can could do does for from give has have how i in is it its let me my of on or "
    "please show so tell that the their them there this to up us was we what when where which who whom whose why will "
    "with would you your".split()
)
_KOREAN_ENDING = re.compile(r"(?:[합습입됩줍옵깁립]니다|으로|에서|라는|하는|하기)$")
_TELLING_DIGITS = 3
"""A shorter number says nothing of what a text is about."""
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
    plain = snake(text).lower().replace("_", " ")
    # `to-do` is a `todo` elsewhere, `e-mail` an `email`.
    found = [stem(word.replace("-", "")) for word in _HYPHENED.findall(plain)]
    for word in _WORD.findall(plain):
        if word.isdigit() and len(word) < _TELLING_DIGITS and not keep_stop_words:
            continue
        if "가" <= word[0] <= "힣":
            if not keep_stop_words and (_KOREAN_STOP.match(word) or word in _KOREAN_SINGLE):
                continue
            word = _KOREAN_ENDING.sub("", word) if len(word) > 2 else word  # noqa: PLW2901 - the rest of the word
            found.extend(word[i : i + 2] for i in range(len(word) - 1)) if len(word) > 1 else found.append(word)
        elif keep_stop_words or word not in _STOP:
            found.append(stem(word))
    return found


def stem(word: str) -> str:
    """Return a word without the endings of plural and tense, so that `cities`, `planned`, `hired` meet their like."""
    for ending, least in (("ies", 5), ("ing", 6), ("ed", 5), ("s", 4)):
        if word.endswith(ending) and len(word) >= least and not word.endswith(("ss", "us", "is")):
            return _cut(word, ending)
    if word.endswith("ctor") and len(word) > 6:
        return word[:-2]  # `director` and `directed`
    return word.removesuffix("e") if len(word) > 3 else word


def _cut(word: str, ending: str) -> str:
    if ending == "s":
        word = word[:-2] if re.search(r"(?:ss|x|z|ch|sh)es$", word) else word[:-1]
        return word.removesuffix("e") if len(word) > 3 else word
    cut = word[: -len(ending)] + ("y" if ending == "ies" else "")
    is_doubled = ending in ("ing", "ed") and len(cut) > 3 and cut[-1] == cut[-2] and cut[-1] not in "lsz"
    return cut[:-1] if is_doubled else cut


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


def _said(tool: ToolDefinition) -> str:
    text = f"{tool.name} {tool.title} {tool.description} {schema_text(tool.input_schema)}"
    return snake(text).lower().replace("_", " ")


class ToolIndex:
    """The tools' own words, counted once and asked many times."""

    def __init__(self, tools: Sequence[ToolDefinition]) -> None:
        self._tools = tuple(tools)
        self._counts = [self._document(tool) for tool in self._tools]
        self._lengths = [sum(counts.values()) for counts in self._counts]
        self._mean = (sum(self._lengths) / len(self._lengths)) if self._lengths else 0.0
        self._seen_in = Counter(term for counts in self._counts for term in counts)

        self._words = frozenset(word for tool in self._tools for word in _WORD.findall(_said(tool)) if word.isascii())

    @staticmethod
    def _document(tool: ToolDefinition) -> Counter[str]:
        counts = Counter(terms(tool.name) * _NAME_WEIGHT)
        counts.update(terms(f"{tool.title} {tool.description}"))
        counts.update(terms(schema_text(resolve_references(tool.input_schema))))
        counts.update(terms(" ".join(in_english(f"{tool.title} {tool.description}"))))
        return counts

    def meant(self, question: str) -> dict[str, str]:
        """Return the terms that a question means without holding them, each with the word that means it.

        By glossary (Korean to English, everyday words to those of descriptions) and, for Korean, by sound.
        """
        found = {
            term: said for word, said in {**in_english(question), **alike(question)}.items() for term in terms(word)
        }
        for word in _HANGUL.findall(question):
            known = max((one for one in ENGLISH if word.startswith(one)), key=len, default="")
            rest = word.removeprefix(known)
            if (not known or is_hangul(rest.removesuffix("이"))) and not _KOREAN_STOP.match(word):
                found |= {term: word for one in sound_alike(word, self._words) for term in terms(one)}
        return found

    def subjects(self, question: str) -> list[str]:
        """Return what a question is about: the words that none of the tools speaks of."""
        return subjects_of(question, self._explains)

    def speaks_of(self, word: str) -> bool:
        """Tell whether a tool speaks of a word, in either language."""
        return self._explains(word) or any(self._explains(one) for one in in_english(word))

    def _explains(self, word: str, by_sound: bool = True) -> bool:
        own = terms(word)
        heard = by_sound and is_hangul(word) and bool(sound_alike(word, self._words))
        return heard or (bool(own) and all(term in self._seen_in for term in own))

    def rank(self, question: str) -> list[Ranked]:
        """Return all tools, most relevant first; equals stay in their own order."""
        asked = Counter([*terms(question), *self.meant(question)])
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


_INDEXES: ByIdentity[ToolIndex] = ByIdentity(8)


def index_of(tools: Sequence[ToolDefinition]) -> ToolIndex:
    """Return the index over tools, counted anew only when the list is another one than in the last requests."""
    named = tuple((tool.name, tool.server, tool.title, tool.description) for tool in tools)
    held = tuple(one for tool in tools for one in (tool.input_schema, tool.annotations))
    return _INDEXES.get(held, lambda: ToolIndex(tools), beside=named)


def select_tools(question: str, tools: Sequence[ToolDefinition], limit: int) -> list[Ranked]:
    """Return the `limit` most relevant tools for a question, with scores and the terms that decided."""
    return index_of(tools).rank(question)[:limit]


def most_relevant(tools: Sequence[ToolDefinition], question: str, most: int) -> Sequence[ToolDefinition]:
    """Return at most so many tools, those that the question speaks of, in their own order (H13); 0 is no limit."""
    if not most or len(tools) <= most:
        return tools
    chosen = {one.tool.name for one in index_of(tools).rank(question)[:most]}
    return [tool for tool in tools if tool.name in chosen]
