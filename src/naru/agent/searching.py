"""Words to search for, and what to do when a search gave nothing: try its core, then say so."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from naru.agent.execute import Outcome
from naru.agent.glossary import alike, in_english
from naru.agent.limits import canonical
from naru.agent.loanwords import is_hangul, sound_alike
from naru.agent.parameters import kind_of, properties, required
from naru.agent.rendering import decoded
from naru.agent.selection import schema_text, stem, terms
from naru.agent.sources import Sources
from naru.agent.subjects import is_grammar, without_particle
from naru.messages import TextPart, ToolCall, ToolDefinition

_PHRASE = 4
"""Words of a phrase that is searched with fewer of them."""
_ORDER = frozenset(
    "find search show list get give tell look read display print open fetch there any about called named name know "
    "anything something someone please".split()
)
_WANTS_SEARCH = re.compile(
    r"\b(?:find|search|look\s+(?:up|for)|do (?:you|we|they) have|have you got|is there|are there|"
    r"any(?:thing)?\b.* (?:about|by|on))\b"
    r"|찾|검색|있나|있어|있니|있습니까|있을까|대해|관한",
    re.IGNORECASE,
)
_SEARCHES = re.compile(r"\b(?:search|find|look ?up|query)(?:es|s|ing)?\b|검색|찾", re.IGNORECASE)
_ERROR_SAID = re.compile(r"\W{0,3}(?:error|오류)\b\s*[:(]", re.IGNORECASE)
_EMPTY_SAID = re.compile(
    r"^\W*(?:no|none|nothing|empty|0)\b[^.\n]{0,60}\.?$|^없|결과가 없|the tool gave an empty result"
    r"|^there (?:is|are|was|were) no\b[^\n]{0,80}$"
    r"|^[^\n]{0,80}(?:\bnot found\b|does(?: not|n't) exist|찾을 수 없|없습니다)\W*$",
    re.IGNORECASE,
)


def wants_search(question: str) -> bool:
    """Tell whether a person wants something found: "find", "do you have", `찾아줘`."""
    return _WANTS_SEARCH.search(question) is not None


def searches(tool: ToolDefinition) -> bool:
    """Tell whether a tool says that it searches."""
    return _SEARCHES.search(f"{tool.name.replace('_', ' ')} {tool.description}") is not None


def core_words(text: str, tool: ToolDefinition, sources: Sources) -> str:
    """Return what a text searches for, without the words for the search itself and for what is searched."""
    said = [one for one in sources.quoted() or sources.names() if one in text]
    if said:
        return said[0]
    return words_beyond(text, f"{tool.name} {tool.title} {tool.description} {schema_text(tool.input_schema)}")


def only_word(tool: ToolDefinition, sources: Sources) -> str:
    """Return the one thing in a question that its words for tool and order leave over: what is quoted, a name, a word.

    Empty when there are several, or none.
    """
    for found in (sources.quoted(), sources.names()):
        if found:
            return found[0] if len(found) == 1 else ""
    core = core_words(sources.question, tool, sources)
    return core if core and " " not in core and not core.isascii() else ""


def words_beyond(text: str, *known: str) -> str:
    """Return the words of a text that other texts do not hold, in either language, nor any order to search."""
    own = {term for said in known for term in terms(said)}
    latin = frozenset(word for said in known for word in re.findall(r"[a-z]+", said.lower()))
    kept = []
    for word in re.findall(r"[\w가-힣-]+", text):
        bare = without_particle(word, shortest=3)
        meant = {stem(one) for one in (*in_english(bare), *alike(bare))}
        said_terms = set(terms(bare))
        is_known = bool(said_terms & own or meant & own) or (is_hangul(bare) and bool(sound_alike(bare, latin)))
        if said_terms and not is_known and bare.lower() not in _ORDER and not is_grammar(bare):
            kept.append(bare)
    return " ".join(kept)


def as_said(outcome: Outcome) -> Outcome:
    """Return an outcome as failed when all it says is an error, though the protocol calls it none."""
    if outcome.failed or not outcome.ran:
        return outcome
    text = outcome.result.text.strip()
    value = decoded(text) if text[:1] == "{" else None
    is_error = isinstance(value, dict) and len(value) == 1 and next(iter(value)) in ("error", "errors", "오류")
    if is_error or _ERROR_SAID.match(text):
        return replace(outcome, result=replace(outcome.result, is_error=True))
    return outcome


def found_nothing(outcome: Outcome) -> bool:
    """Tell whether a call went well and gave no row: `[]`, `{"result": []}`, `no matches`."""
    if outcome.failed or not outcome.ran:
        return False
    text = outcome.result.text.strip()
    if not text:
        return all(isinstance(part, TextPart) for part in outcome.result.content)
    if text[:1] not in "{[n":
        return bool(_EMPTY_SAID.search(text))
    value: Any = decoded(text)
    if isinstance(value, dict) and len(value) == 1:
        value = next(iter(value.values()))
    return value in ([], {}, "") or text == "null"


def narrower(made: Sequence[Outcome], tool: ToolDefinition, sources: Sources) -> ToolCall | None:
    """Return a search that found nothing with less asked of it; None when everything has been tried.

    Of conditions with the same value one is meant; words that name the kind of thing are left out.
    """
    call, tried = made[-1].call, {canonical(one.call) for one in made}
    for one in _wider(made[0].call, tool, sources):
        if canonical(one) not in tried:
            return replace(one, id=call.id)
    return None


def _wider(call: ToolCall, tool: ToolDefinition, sources: Sources) -> Iterator[ToolCall]:
    known, needed = properties(tool), set(required(tool))
    texts = {name: value for name, value in call.arguments.items() if isinstance(value, str) and name in known}
    for name in texts:
        if name not in needed and len(texts) > 1:
            yield replace(call, arguments={key: value for key, value in call.arguments.items() if key != name})
    for name, value in texts.items():
        if kind_of(name, known[name]) in ("search", "text"):
            core = core_words(value, tool, sources)
            if core and core != value:
                yield replace(call, arguments={**call.arguments, name: core})
            # What looked like a particle may belong to the name: 오슬로.
            longer = re.search(rf"(?<![가-힣]){re.escape(value)}[가-힣]{{1,2}}(?![가-힣])", sources.question)
            if longer and is_hangul(value):
                yield replace(call, arguments={**call.arguments, name: longer.group(0)})
    yield from _elsewhere(call, texts, known, needed)
    for name, value in texts.items():
        words = value.split()
        is_core = core_words(value, tool, sources) in ("", value)
        if kind_of(name, known[name]) in ("search", "text") and is_core and 2 <= len(words) <= _PHRASE:
            for shorter in (words[1:], words[:-1]):
                yield replace(call, arguments={**call.arguments, name: " ".join(shorter)})


def _elsewhere(call: ToolCall, texts: dict[str, str], known: dict[str, Any], needed: set[str]) -> Iterator[ToolCall]:
    """Return calls that ask for the same words by another of a tool's optional parameters: a title, not a person."""
    for name, value in texts.items():
        if name in needed or kind_of(name, known[name]) not in ("search", "text"):
            continue
        rest = {key: one for key, one in call.arguments.items() if key != name}
        for other, schema in known.items():
            if other not in call.arguments and other not in needed and kind_of(other, schema) in ("search", "text"):
                yield replace(call, arguments={**rest, other: value})
