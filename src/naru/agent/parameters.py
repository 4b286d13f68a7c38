"""What a tool's parameter takes, told by its schema, and which values of the question or the results it could be.

Everything here goes by shapes that any tool may show (type, format, enum, pattern, the last word of a name): never by
one tool's own words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, Literal

from naru.agent.casing import snake
from naru.agent.codes import COUNTRIES, CURRENCIES, named
from naru.agent.ends import BOTH, end_of, is_end, is_start, starts_first
from naru.agent.glossary import in_english
from naru.agent.identifiers import EXAMPLES, LOGIN_NAME, example_of, is_identifier, prefix_of, shape_of
from naru.agent.identity import ByIdentity
from naru.agent.loanwords import sound_alike
from naru.agent.selection import stem, terms
from naru.agent.sources import Sources, unique
from naru.agent.units import is_counted, spelt_as, units_among, units_in
from naru.agent.zones import zones_in
from naru.messages import JsonObject, ToolDefinition
from naru.tools.provider_schemas.references import resolve_references

Kind = Literal[
    "enum", "number", "flag", "object", "array", "date", "month", "unit", "time", "zone", "code", "path", "id",
    "address", "sum", "search", "text",
]  # fmt: skip
TYPED = frozenset({"enum", "number", "date", "month", "unit", "time", "zone", "code", "path", "id", "address", "sum"})
"""Kinds whose values can be told from other words."""
_ID_NUMBER = re.compile(r"(^|_)id$", re.IGNORECASE)
_ROLES = re.compile(
    r"(?:^|_)(?:assignee|assigned_to|owner|agent|user|username|login|author|manager|lead|leader|responsible|reporter|"
    r"created_by|reviewer|handle|members?|participants?)$|담당자?|작성자|책임자",
    re.IGNORECASE,
)
"""Keys under which results name people."""
_PATH_NAME = re.compile(r"(^|_)(path|file|filename|dir|directory|folder|source|destination|uri|paths)$", re.IGNORECASE)
_DATE_NAME = re.compile(r"(^|_)(date|day|birthday|since|until|deadline)$", re.IGNORECASE)
_TIME_NAME = re.compile(r"(^|_)(time|clock)$", re.IGNORECASE)
_ZONE_NAME = re.compile(r"time_?zone|(^|_)tz$", re.IGNORECASE)
_SEARCH_NAME = re.compile(r"(^|_)(query|q|search|keywords?|terms?|text|phrase|question|topic)$", re.IGNORECASE)
_ADDRESS_NAME = re.compile(r"(^|_)(e?mail|url|link|website)$", re.IGNORECASE)
_SUM_NAME = re.compile(r"(^|_)(expression|formula|equation)$", re.IGNORECASE)
_CODE_SAID = re.compile(
    r"\b(?:two|three|2|3)[ -]letter\b|\bISO[ -]?(?:4217|3166)|\b(?:currency|country|airport|station|IATA|ICAO) code"
    r"|\bticker\b|(?:통화|국가|공항) ?코드",
    re.IGNORECASE,
)
_CODE_NAME = re.compile(r"(^|_)(currency|iata|icao|ticker)$|^currency_", re.IGNORECASE)
_MONTH_NAME = re.compile(r"(^|_)month$", re.IGNORECASE)
_UNIT_NAME = re.compile(r"(^|_)units?(_|$)", re.IGNORECASE)
_MONTH_SAID = re.compile(r"\bYYYY-MM\b(?!-)")

_DATE_SAID = re.compile(r"\bISO[ -]?(?:8601)? ?date\b|\bYYYY-MM-DD\b", re.IGNORECASE)
_TIME_SAID = re.compile(r"\bHH:MM\b|\b24-hour\b", re.IGNORECASE)
_QUOTED_WORD = re.compile(r"['\"`“‘]([A-Za-z][\w-]*)['\"`”’]")
_LISTS = re.compile(r"\b(?:list|all|every|names)\b|목록|모든|전체|모두", re.IGNORECASE)
_SLUG = re.compile(r"[a-z0-9]+(?:[-_:./][a-z0-9]+)+")
_ANY_ID = frozenset({"id", "number", "no", "cod", "key", "ref"})
"""Terms of names and keys that say that something is an id, and not of what."""
_PROPERTIES: ByIdentity[dict[str, JsonObject]] = ByIdentity(2048)
_KINDS: ByIdentity[Kind] = ByIdentity(8192)
_LISTED = re.compile(r"^[\w-]+(?:, ?[\w-]+)*,? or [\w-]+[.!]?$")
_ONE_OF = re.compile(
    r"\b(?:one|either|any) of:? (?P<en>[\w-]+(?:(?:, ?| ?[|/] ?|,? or |,? and )[\w-]+)+)"
    r"|(?P<ko>[\w-]+(?:(?:, ?| ?[|/] ?| 또는 )[\w-]+)+) 중 (?:하나|한)"
    r"|^(?P<bare>[\w-]+(?: ?[|/] ?[\w-]+)+)$",
    re.IGNORECASE,
)


def resolved(tool: ToolDefinition) -> JsonObject:
    """Return a tool's input schema with every `$ref` replaced by what it names."""
    return resolve_references(tool.input_schema)


def properties(tool: ToolDefinition) -> dict[str, JsonObject]:
    """Return the tool's parameters, name → schema, without `null` branches, of an object schema."""
    return _PROPERTIES.get((tool.input_schema,), lambda: _properties(tool))


def _properties(tool: ToolDefinition) -> dict[str, JsonObject]:
    found = resolved(tool).get("properties")
    if not isinstance(found, dict):
        return {}
    return {name: plain(inner) for name, inner in found.items() if isinstance(inner, dict)}


def inner_properties(schema: JsonObject) -> dict[str, JsonObject]:
    """Return the parameters inside an object parameter."""
    found = schema.get("properties")
    return {name: plain(one) for name, one in found.items() if isinstance(one, dict)} if isinstance(found, dict) else {}


def required(tool: ToolDefinition) -> list[str]:
    """Return the names of the parameters that a call must have."""
    names = tool.input_schema.get("required")
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def plain(schema: JsonObject) -> JsonObject:
    """Take the one branch that is not null, if there is just one: `Optional[X]` is X here."""
    for key in ("anyOf", "oneOf"):
        branches = [one for one in schema.get(key) or () if isinstance(one, dict) and one.get("type") != "null"]
        if len(branches) == 1:
            rest = {name: value for name, value in schema.items() if name != key and value is not None}
            return {**branches[0], **rest}
    return schema


def types(schema: JsonObject) -> set[str]:
    """Return the JSON types that a schema allows, through `anyOf` too; empty when it says none."""
    found = schema.get("type")
    allowed = {found} if isinstance(found, str) else set(found) if isinstance(found, list) else set()
    for branch in (*(schema.get("anyOf") or ()), *(schema.get("oneOf") or ())):
        if isinstance(branch, dict):
            allowed |= types(branch)
    return {str(one) for one in allowed} - {"null"}


def choices(schema: JsonObject) -> list[Any]:
    """Return the values of an enum; for text also those that a description lists: `a, b or c`, or in quotes."""
    if isinstance(schema.get("enum"), list):
        return list(schema["enum"])
    if "const" in schema:
        return [schema["const"]]
    said = str(schema.get("description", "")).strip()
    if types(schema) != {"string"}:
        return []
    if _LISTED.match(said):
        return [one for one in re.split(r", ?| or ", said.rstrip(".!")) if one and one != "or"]
    if one_of := _ONE_OF.search(said):
        listed = one_of["en"] or one_of["ko"] or one_of["bare"]
        return [one for one in re.split(r", ?| ?[|/] ?|,? or |,? and | 또는 ", listed) if one and one != "or"]
    quoted = [] if EXAMPLES.search(said) else list(dict.fromkeys(_QUOTED_WORD.findall(said)))
    return quoted if len(quoted) > 1 else []


def kind_of(name: str, schema: JsonObject) -> Kind:
    """Tell what a parameter takes."""
    return _KINDS.get((schema,), lambda: _kind_of(name, schema), beside=(name,))


def _kind_of(name: str, schema: JsonObject) -> Kind:
    allowed, said = types(schema), str(schema.get("description", ""))
    if choices(schema):
        return "enum"
    for kind, names in (("number", {"integer", "number"}), ("flag", {"boolean"}), ("object", {"object"})):
        if allowed and allowed <= names:
            return kind  # type: ignore[return-value]  # A tuple of literals is read as str.
    if allowed == {"array"}:
        return "array"
    return _text_kind(snake(name), str(schema.get("format", "")), said, schema)


def _text_kind(name: str, form: str, said: str, schema: JsonObject) -> Kind:
    tests: tuple[tuple[Kind, bool], ...] = (
        ("month", bool(_MONTH_NAME.search(name) or _MONTH_SAID.search(said))),
        ("date", form in ("date", "date-time") or bool(_DATE_NAME.search(name) or _DATE_SAID.search(said))),
        ("unit", bool(_UNIT_NAME.search(name)) and not is_identifier(name, schema)),
        ("zone", bool(_ZONE_NAME.search(name) or "IANA" in said)),
        ("time", form == "time" or bool(_TIME_NAME.search(name) or _TIME_SAID.search(said))),
        ("code", bool(_CODE_SAID.search(said) or (_CODE_NAME.search(name) and not said))),
        ("address", form in ("email", "uri") or bool(_ADDRESS_NAME.search(name))),
        ("sum", bool(_SUM_NAME.search(name))),
        ("search", bool(_SEARCH_NAME.search(name))),
        ("id", is_identifier(name, schema)),
        ("path", bool(_PATH_NAME.search(name))),
    )
    return next((kind for kind, holds in tests if holds), "text")


def candidates(name: str, schema: JsonObject, sources: Sources) -> list[Any]:
    """Return the values in question and results that a parameter could take, the question's first."""
    kind = kind_of(name, schema)
    if kind == "enum":
        values = choices(schema)
        found = named_choices(values, sources.question) or _named_codes(values, sources.question)
        return end_of(name, units_among(values, sources.question) or starts_first(found, sources.question))
    if kind == "number":
        return _numbers(name, schema, sources)
    if kind == "id":
        return _ids(name, schema, sources)
    if kind == "unit":
        said = " ".join([str(schema.get("description", "")), *sources.spoken])
        units = [spelt_as(spellings, said) for _, spellings in units_in(sources.question)]
        if len(units) == 1 and is_end(name) and is_start(name) is not is_counted(sources.question):
            return []  # The other end is a unit that is not known here.
        return end_of(name, units)
    if kind == "code":
        return end_of(name, starts_first(_codes(name, schema, sources), sources.question))
    if kind == "text" and is_end(name) and len(about := sources.about()) == BOTH:
        return end_of(name, starts_first(about, sources.question))
    return [*_TOLD_BY_SHAPE[kind](sources)] if kind in _TOLD_BY_SHAPE else []


def _codes(name: str, schema: JsonObject, sources: Sources) -> list[str]:
    """Return the codes in a question, written or named: `Japan` is JP for a country, `엔` is JPY for a currency."""
    said = f"{name} {schema.get('description', '')}".lower()
    table = CURRENCIES if "currenc" in said or "4217" in said else COUNTRIES if "country" in said else {}
    return unique([*named(sources.question, table), *sources.codes()]) if table else sources.codes()


def _named_codes(values: list[Any], question: str) -> list[str]:
    """Return the codes of an enum, of countries or currencies, that a question names in words."""
    sizes = {len(one) if isinstance(one, str) and one.isupper() else 0 for one in values}
    table = {2: COUNTRIES, 3: CURRENCIES}.get(sizes.pop(), {}) if len(sizes) == 1 else {}
    return [one for one in named(question, table) if one in values]


def claims(tools: Iterable[ToolDefinition]) -> dict[str, set[str]]:
    """Return the letters that ids of some parameters begin with → the names of those parameters."""
    found: dict[str, set[str]] = {}
    for tool in tools:
        for name, schema in properties(tool).items():
            if kind_of(name, schema) == "id" and (prefix := prefix_of(schema)):
                found.setdefault(prefix, set()).add(name)
    return found


def things(tools: Iterable[ToolDefinition]) -> set[str]:
    """Return the terms of what the tools' ids are of: `order_id` is of an order."""
    named = {name for tool in tools for name, schema in properties(tool).items() if points(name, schema)}
    return {term for name in named for term in terms(snake(name))} - _ANY_ID


def takes_words(tool: ToolDefinition) -> bool:
    """Tell whether a tool is called with words alone: those it requires, or else one it may be given."""
    known = properties(tool)
    kinds = {kind_of(name, known[name]) for name in required(tool) if name in known}
    if not kinds:
        return any(kind_of(name, schema) in ("search", "text") for name, schema in known.items())
    return kinds <= {"search", "text"}


def lists(tool: ToolDefinition) -> bool:
    """Tell whether a tool says that it gives all there is of something."""
    said = f"{tool.name.rsplit('__', 1)[-1]} {tool.description}"
    return not required(tool) and _LISTS.search(snake(said).replace("_", " ")) is not None


def _ids(name: str, schema: JsonObject, sources: Sources) -> list[Any]:
    if LOGIN_NAME.search(snake(name)):
        return _logins(sources)
    prefix, pattern = prefix_of(schema), schema.get("pattern")
    given = sources.singled_out(sources.ids())
    found: list[str] = [one for one in given if not prefix or one.upper().startswith(prefix)]
    if (example := example_of(schema)) and (not found or not prefix):
        # An example shows a shape, such as a flight's number of any airline, not letters that all ids share.
        alike = [one for one in given if shape_of(one) == shape_of(example) and not sources.is_claimed(one, name)]
        if alike:
            return [*alike]
    if not prefix and not pattern:
        found = [one for one in found if _is_called(one, name, sources) and not sources.is_claimed(one, name)]
    if not prefix:
        found = unique([*found, *(one for one in sources.numbers() if len(one) > 2)])
    own = set(terms(snake(name))) - _ANY_ID
    found = [one for one in found if not own or not sources.is_of_another(one, own)]
    if not prefix and not pattern:
        found = unique([*found, *sources.texts_under(lambda key: _is_id_key(key) and is_key_of(key, name))])
    if not found and not prefix and not pattern:
        # One id alone that a result gives under a word that is no parameter's, in another language than ours perhaps.
        strange = [one for one in given if _is_strange(one, sources) and not sources.is_claimed(one, name)]
        found = strange if len(strange) == 1 else []
    if not found and not prefix and not pattern:
        # A word with a dash in it, of which no tool speaks: `red-door`.
        found = [one for one in sources.asked.about() if _SLUG.fullmatch(one)]
    return [one for one in found if _fits(str(pattern), one)] if pattern else [*found]


def points(name: str, schema: JsonObject) -> bool:
    """Tell whether a parameter takes an id, a number of one, or a code: what nobody gave must come from a result."""
    kind = kind_of(name, schema)
    return kind in ("id", "code") or (kind == "number" and _ID_NUMBER.search(snake(name)) is not None)


def _logins(sources: Sources) -> list[str]:
    """Return words that a person goes by in a system: of the question, and those that results hold under a role."""
    said = [one for one in sources.about() if " " not in one and not _ROLES.search(one.lower())]
    named = [one for one in said if one.isascii()] or said
    return unique([*named, *(one for one in sources.values_under(_ROLES) if re.fullmatch(r"[\w.-]+", one))])


def _is_called(value: str, name: str, sources: Sources) -> bool:
    """Tell whether a result gave an id under a name like the parameter's; one of the question may be any."""
    keys = sources.keys_of(value)
    return not keys or any(is_key_of(key, name) for key in keys)


def _is_strange(value: str, sources: Sources) -> bool:
    keys = sources.keys_of(value)
    meant = {term for key in keys for term in [*terms(key), *(stem(word) for word in in_english(key))]}
    return bool(keys) and not meant & sources.things and not any(key.isascii() for key in keys)


def _is_id_key(key: str) -> bool:
    return bool(set(terms(snake(key))) & _ANY_ID)


def is_key_of(key: str, name: str) -> bool:
    """Tell whether a key and a parameter speak of one thing: `album` and `album_id`, any id for a bare `id`."""
    said = snake(key)
    own = set(terms(snake(name)))
    meant = {*terms(said), *(stem(word) for word in in_english(key))}
    return bool(meant & (own - _ANY_ID)) or (own <= _ANY_ID and bool(meant & _ANY_ID))


def _fits(pattern: str, value: str) -> bool:
    try:
        return re.search(pattern, value) is not None if len(pattern) < 200 else True
    except re.error:
        return True


def _numbers(name: str, schema: JsonObject, sources: Sources) -> list[Any]:
    """Return the numbers that fit type and bounds; one that stands before the parameter's own word is the only one."""
    whole = "number" not in types(schema)
    found = sources.numbers()
    if is_identifier(name, schema):
        own = set(terms(snake(name))) - _ANY_ID
        found = [one for one in found if not own or not sources.is_of_another(one, own)]
        found = unique([*found, *sources.numbers_under(lambda key: is_key_of(key, name))])
    values = [_number(one) for one in found if not (whole and "." in one)]
    fitting = [one for one in values if _in_bounds(one, schema)]
    if "year" in name.lower():
        return [one for one in fitting if re.fullmatch(r"(19|20)\d\d", str(one))]
    words = {word for word in terms(name) if len(word) > 2}
    beside = [
        _number(number)
        for number, word in re.findall(r"(?<![\w.])(\d+(?:\.\d+)?)[ -]?([A-Za-z]+)", sources.question)
        if stem(word.lower()) in words
    ]
    return beside if len(beside) == 1 and _in_bounds(beside[0], schema) else fitting


def _number(text: str) -> int | float:
    return float(text) if "." in text else int(text)


def _in_bounds(value: float, schema: JsonObject) -> bool:
    low, high = schema.get("minimum"), schema.get("maximum")
    fits_low = not isinstance(low, int | float) or value >= low
    return fits_low and (not isinstance(high, int | float) or value <= high)


def named_choices(values: list[Any], question: str) -> list[Any]:
    """Return the values of an enum whose words stand in a question, in either language."""
    asked = {*terms(question, keep_stop_words=True), *(stem(word) for word in in_english(question))}
    lowered, heard = question.casefold(), re.findall(r"[가-힣]{2,}", question)
    found = []
    for value in values:
        if not isinstance(value, str) or not value:
            continue
        words = terms(value, keep_stop_words=True)
        is_heard = value.isascii() and any(sound_alike(word, frozenset({value.casefold()})) for word in heard)
        is_said = not value.isascii() and value.casefold() in lowered
        if (words and all(word in asked for word in words)) or is_said or is_heard:
            found.append(value)
    return found


_TOLD_BY_SHAPE: dict[Kind, Callable[[Sources], list[str]]] = {
    "date": Sources.dates,
    "month": Sources.months,
    "time": Sources.times,
    "zone": lambda sources: zones_in(sources.question),
    "code": Sources.codes,
    "path": Sources.paths,
    "address": Sources.addresses,
    "sum": Sources.sums,
    "search": Sources.quoted,
    "text": Sources.quoted,
}
