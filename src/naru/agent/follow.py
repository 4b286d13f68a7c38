"""Whether a question needs one more call after what was found, and with which value (UPLIFT: chain).

A word of the question that neither the results nor the tools that gave them speak of is still open. So is the second
value of a comparison.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from naru.agent.execute import Outcome
from naru.agent.parameters import candidates, kind_of, points, properties, required
from naru.agent.selection import ToolIndex, schema_text, stem, terms
from naru.agent.sources import Sources, flat
from naru.agent.subjects import without_particle
from naru.messages import JsonObject, ToolDefinition

_PAIRS = (
    re.compile(r"([가-힣A-Za-z0-9_-]+?)(?:이랑|하고|와|과|랑)\s+([가-힣A-Za-z0-9_-]+)"),
    re.compile(r"([가-힣A-Za-z0-9_-]+?)(?:에서|부터)\s+([가-힣A-Za-z0-9_-]+?)(?:까지|으로|로)(?![가-힣])"),
    re.compile(r"\b(?:from|between) ([\w-]+) (?:to|and) ([\w-]+)", re.IGNORECASE),
    re.compile(r"([\w-]+)(?:,| and| or| versus| vs\.?| than)\s+(?:in |for |of |the )*([\w-]+)", re.IGNORECASE),
)
_FOLLOWED = 3
"""New ids of which one may be followed; a list of more was asked for as a list."""
_VALUE_KEYS = frozenset({"text", "search", "id", "code", "date", "zone", "path"})


def open_words(question: str, index: ToolIndex, used: Sequence[ToolDefinition], found: Sequence[Outcome]) -> set[str]:
    """Return the words of a question that no result and no tool that gave one speaks of."""
    told = {term for one in found for term in terms(one.shown, keep_stop_words=True)}
    told |= {term for one in found for term in terms(flat(str(one.call.arguments)), keep_stop_words=True)}
    for tool in used:
        told |= set(terms(f"{tool.name} {tool.title} {tool.description} {schema_text(tool.input_schema)}"))
    told |= set(index.meant(" ".join(re.findall(r"[가-힣]+", " ".join(one.shown for one in found)))))
    meanings = means(question, index)
    return {word for word, meant in meanings.items() if not meant & told}


def means(question: str, index: ToolIndex) -> dict[str, set[str]]:
    """Return each word of a question with all terms that it stands for."""
    meanings: dict[str, set[str]] = {}
    for word in re.findall(r"[A-Za-z]+|[가-힣]+", question):
        own = set(terms(word))
        if own:
            meanings.setdefault(word.lower(), set()).update(own)
    for term, said in index.meant(question).items():
        holders = [word for word in meanings if said in word or word in said.split()]
        for word in holders or [said]:
            meanings.setdefault(word, set()).add(term)
    return meanings


def takes_new_value(
    tool: ToolDefinition, sources: Sources, question_values: set[str], *, most: int = _FOLLOWED
) -> bool:
    """Tell whether a tool takes an id that a result gave and the question did not hold; of many ids none is meant."""
    known = properties(tool)
    for name in required(tool):
        if name in known and points(name, known[name]):
            new = [one for one in candidates(name, known[name], sources) if str(one) not in question_values]
            if 0 < len(new) <= most:
                return True
    return False


def first_of_pair(question: str, names: Sequence[str]) -> str:
    """Return the first of two names that a question compares or joins as the two ends of a way, else nothing."""
    said = [flat(name) for name in names]
    for match in _pairs(question):
        pair = [flat(without_particle(part, shortest=3)) for part in match.groups()]
        if len(said) == len(pair) and set(pair) == set(said):
            return names[said.index(pair[0])]
    return ""


def _pairs(question: str) -> Iterator[re.Match[str]]:
    """Find what may be two things side by side; the second one of a pair may be the first of the next."""
    for pattern in _PAIRS:
        at = 0
        while match := pattern.search(question, at):
            yield match
            at = max(match.start(2), match.start() + 1)


def second_of_pair(question: str, tool: ToolDefinition, made: Sequence[Outcome]) -> JsonObject | None:
    """Return the arguments for the other value of a comparison, when this tool has run with one of the two."""
    known = properties(tool)
    used = {flat(str(value)) for one in made for value in one.call.arguments.values()}
    for one in made:
        for name, value in one.call.arguments.items():
            if name not in known or not isinstance(value, str) or kind_of(name, known[name]) not in _VALUE_KEYS:
                continue
            for match in _pairs(question):
                pair = [without_particle(part, shortest=3) for part in match.groups()]
                may_be_translated = flat(value) not in flat(question)
                other = _other(pair, value, used, may_be_translated=may_be_translated)
                if other:
                    return {**one.call.arguments, name: other}
    return None


def _other(pair: list[str], value: str, used: set[str], *, may_be_translated: bool) -> str:
    """Return the value of a pair that has not been used, when the other one has."""
    said = [flat(part) for part in pair]
    if flat(value) in said:
        other = pair[1 - said.index(flat(value))]
        return other if flat(other) not in used else ""
    # A model that put `서울` as `Seoul` has used the first of the two.
    translated = may_be_translated and value.isascii() and not pair[0].isascii() and len(used) == 1
    return pair[1] if translated and stem(said[1]) not in used else ""
