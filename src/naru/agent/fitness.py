"""How well a tool's parameters fit the values in a question: an id of its shape, a path for its path (UPLIFT)."""

from __future__ import annotations

import re

from naru.agent.ends import BOTH, joins
from naru.agent.glossary import in_english
from naru.agent.identifiers import is_identifier, prefix_of
from naru.agent.parameters import TYPED, Kind, candidates, inner_properties, kind_of, properties, required
from naru.agent.searching import only_word, words_beyond
from naru.agent.selection import stem, terms
from naru.agent.sources import Sources
from naru.agent.units import units_in
from naru.messages import JsonObject, ToolDefinition

_FITS = 2.5
_SUITS = 1.3
_LACKS = 0.25
_UNUSED = 0.5
"""The question holds a value that the tool cannot take."""
_TAKES_WHAT_IS_ASKED = 0.4
"""A tool that must be given what a person asks for is no tool to ask."""
_ONLY_COUNTS = re.compile(r"(?:^|_)(?:count|total|number)(?:_|$)|(?<=[a-z])(?:Count|Total)(?=[A-Z]|$)")
_WANTS_COUNT = re.compile(r"\bhow (?:many|much)\b|\bcount\b|\bnumber\b|\btotal\b|몇|개수|총|얼마", re.IGNORECASE)
_MIXED = re.compile(r"(?=.*\d)(?=.*\D).+")
"""An id that no other word looks like."""
_TAKEN = frozenset({"id", "name", "number"})
_ASKED_FOR = (
    re.compile(r"\b(?:which|what|whose|how many) ([a-z]+)\b(?! (?:does|do|is|are|of) [A-Z0-9])", re.IGNORECASE),
    re.compile(r"\bwhat (?:is|are|was|were) (?:the )?([a-z]+(?: [a-z]+)?) (?:of|in|for)\b", re.IGNORECASE),
    re.compile(r"\b(?:show|list|find|get|give)(?: me| us)?(?: all| the| every)* ([a-z]+)\b", re.IGNORECASE),
    re.compile(r"([가-힣]+?)(?:은|는|이|가)?\s?(?:뭐|무엇|누구|어디|얼마|언제)"),
)
_MADE_UP: frozenset[Kind] = frozenset({"path", "date", "month", "unit", "time", "sum", "zone", "address", "number"})
"""Kinds that a model cannot make up: a tool that needs one is of less use where there is none."""


_TAKES_NAMES: frozenset[Kind] = frozenset(
    {"search", "text", "object", "array", "enum", "zone", "code", "path", "address"}
)
_FILE = re.compile(r"\.[A-Za-z]\w{0,7}$")
_OF_FOLDERS = re.compile(r"director(?:y|ies)|folder", re.IGNORECASE)
_TOLD_APART = frozenset({"date", "month", "unit", "time", "zone", "sum"})
"""Kinds whose values are written otherwise in a question than in a call."""


def implied(sources: Sources) -> str:
    """Return words that a question's values mean without saying them: a path to a file means reading it."""
    paths = [path for path in sources.paths() if path in sources.question]
    if any(_FILE.search(path) for path in paths):
        return "read text file content"
    if paths:
        return "list directory"
    if sources.sums():
        return "calculate arithmetic expression"
    measures = [quantity for quantity, _ in units_in(sources.question)]
    return f"convert units {measures[0]}" if len(measures) == BOTH == measures.count(measures[0]) else ""


def fit(tool: ToolDefinition, asked: Sources) -> float:
    """Return a factor for a tool's relevance: above 1 when the question holds what it needs, else below."""
    known = properties(tool)
    factor = 1.0
    wanted = asked_for(asked.question)
    for name in required(tool):
        if name in known:
            factor *= _factor(name, known[name], kind_of(name, known[name]), asked)
            own = set(terms(name)) - _TAKEN or set(terms(tool.name.rsplit("__", 1)[-1]))
            if own <= wanted and kind_of(name, known[name]) in ("text", "array", "id", "code"):
                factor *= _TAKES_WHAT_IS_ASKED
    within = {name: inner for schema in known.values() for name, inner in inner_properties(schema).items()}
    optional = {name: one for name, one in {**known, **within}.items() if name not in required(tool)}
    if any(kind_of(name, one) == "id" and candidates(name, one, asked) for name, one in optional.items()):
        factor *= _SUITS
    if wanted & set(terms(tool.name.rsplit("__", 1)[-1])):
        factor *= _SUITS
    kinds = {kind_of(name, schema) for name, schema in {**known, **within}.items()}
    return factor * _use_of_values(tool, kinds, asked)


def _use_of_values(tool: ToolDefinition, kinds: set[Kind], asked: Sources) -> float:
    """Return a factor below 1 for a tool that cannot take what the question holds."""
    factor = 1.0
    paths = [path for path in asked.paths() if "/" in path]
    if paths and "path" not in kinds:
        factor *= _LACKS
    if paths and all(_FILE.search(path) for path in paths) and _OF_FOLDERS.search(tool.name):
        factor *= _UNUSED
    takes_any = bool(kinds & {"search", "text", "object", "array"})
    if asked.ids() and "id" not in kinds:
        factor *= 0.7 if takes_any else _UNUSED
    if asked.about() and not kinds & _TAKES_NAMES:
        factor *= 0.7
    if _ONLY_COUNTS.search(tool.name) and not _WANTS_COUNT.search(asked.question):
        factor *= _UNUSED
    if asked.dates() and "date" not in kinds and not takes_any:
        factor *= _UNUSED
    if [one for one in asked.numbers() if len(one) > 1] and not kinds & {"number", "id", "sum", "date", "time"}:
        factor *= _UNUSED
    return factor


def asked_for(question: str) -> set[str]:
    """Return the terms of what a person wants to know: `city` of "Which city is it in?", "도시는 어디야?"."""
    said = [part for pattern in _ASKED_FOR for match in pattern.finditer(question) for part in match.groups() if part]
    return {term for part in said for term in [*terms(part), *(stem(word) for word in in_english(part))]}


def _factor(name: str, schema: JsonObject, kind: Kind, asked: Sources) -> float:
    if candidates(name, schema, asked):
        shaped = kind in ("path", "date", "month", "unit", "time", "sum", "zone", "enum")
        is_id = kind == "id" and bool(prefix_of(schema) or schema.get("pattern") or asked.ids())
        return _FITS if shaped or is_id or (kind == "number" and is_identifier(name, schema)) else _SUITS
    if kind == "id":
        return _LACKS
    return 0.6 if kind in _MADE_UP | {"enum"} else 1.0


def names_two_ends(tool: ToolDefinition, sources: Sources) -> bool:
    """Tell whether a tool wants just where something comes from and goes to, and the question names two things."""
    known = properties(tool)
    texts = [name for name in required(tool) if name in known and kind_of(name, known[name]) == "text"]
    ends = [name for name in texts if len(candidates(name, known[name], sources.asked)) == 1]
    return len(required(tool)) == BOTH == len(ends) == len(sources.names()) and joins(sources.names(), sources.question)


def takes_given_id(tool: ToolDefinition, sources: Sources) -> bool:
    """Tell whether a tool takes an id of the question, inside an object and as a filter too."""
    known = properties(tool)
    within = [inner_properties(schema) for schema in known.values()]
    return any(
        kind_of(name, one) in ("id", "number") and candidates(name, one, sources.asked)
        for all_of in (known, *within)
        for name, one in all_of.items()
    )


def values_tell(tool: ToolDefinition, sources: Sources) -> bool:
    """Tell whether the values alone speak for a tool: an id of its shape, a path, a day, a sum; not a mere number."""
    known = properties(tool)
    asked = sources.asked
    kinds = {kind_of(name, known[name]) for name in required(tool) if name in known}
    is_shaped = any(
        kind_of(name, known[name]) == "id"
        and any(_MIXED.fullmatch(one) for one in candidates(name, known[name], asked))
        for name in required(tool)
        if name in known
    )
    has_day = "date" in kinds and any(character.isdigit() for character in sources.question)
    has_zone = "zone" in kinds and "/" in sources.question
    if names_two_ends(tool, sources):
        return True
    tells = is_shaped or has_day or has_zone or bool(kinds & {"path", "sum", "address", "code", "unit", "month"})
    return tells and values_suit(tool, sources)


def can_be_filled(tool: ToolDefinition, sources: Sources) -> bool:
    """Tell whether there is a value for each parameter that a model could only make up."""
    known = properties(tool)
    return all(
        candidates(name, known[name], sources)
        for name in required(tool)
        if name in known and kind_of(name, known[name]) in _MADE_UP | {"id"} and "year" not in name.lower()
    )


def values_suit(tool: ToolDefinition, sources: Sources) -> bool:
    """Tell whether the question holds a value of its own, in digits or letters, for each parameter a call must have."""
    known = properties(tool)
    needed = [name for name in required(tool) if name in known]
    asked = sources.asked
    taken: set[str] = set()
    for name in needed:
        values = [str(one) for one in candidates(name, known[name], asked)]
        left = [one for one in values if one not in taken and one.casefold() in sources.question.casefold()]
        if kind_of(name, known[name]) not in TYPED or not (
            left or (kind_of(name, known[name]) in _TOLD_APART and values)
        ):
            return False
        taken.update(left[:1])
    return bool(needed)


def leaves_no_choice(tool: ToolDefinition, sources: Sources, used: frozenset[str]) -> bool:
    """Tell whether a call of this tool can be of one kind only: each value told by its shape, and just one of each.

    A word of the question that nothing explains may mean an optional parameter: that is for the model to say.
    """
    known, needed = properties(tool), required(tool)
    if not known and (sources.quoted() or sources.names()):
        return False  # What is named is to be looked up: this tool cannot.
    taken: list[str] = []
    for name in needed:
        schema = known.get(name, {})
        values = [one for one in candidates(name, schema, sources) if str(one) not in used]
        if kind_of(name, schema) in ("search", "text") and len(needed) == 1:
            values = [one for one in [only_word(tool, sources)] if one and one not in used]
        elif kind_of(name, schema) not in TYPED:
            return False
        if len(values) != 1 or str(values[0]) in taken:
            return False
        taken.append(str(values[0]))
    beyond = words_beyond(sources.question, f"{tool.name} {tool.description} {tool.input_schema}", " ".join(taken))
    for name, schema in known.items():
        if name in needed or kind_of(name, schema) == "flag":
            continue
        values = [one for one in candidates(name, schema, sources) if str(one) not in taken]
        if values or (beyond and kind_of(name, schema) in _MEANT_BY_WORDS):
            return False
    return True


_MEANT_BY_WORDS: frozenset[Kind] = frozenset({"enum", "search", "text", "object", "array", "code", "zone"})
