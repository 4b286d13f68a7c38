"""Mend or refuse the arguments of a small model's call: no value that nobody gave reaches a tool (UPLIFT).

An id that stands neither in the question nor in a result was invented. Where the sources leave one choice it is taken;
else the call is refused. Optional arguments that nobody gave are left out; enum values and free text are the model's.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from naru.agent.changes import changes_something
from naru.agent.codes import COUNTRIES, english_country, named
from naru.agent.identifiers import is_identifier, prefix_of
from naru.agent.moments import dates_in, times_in
from naru.agent.parameters import (
    candidates,
    choices,
    kind_of,
    plain,
    properties,
    required,
    types,
)
from naru.agent.selection import terms
from naru.agent.sources import Sources, flat
from naru.agent.zones import is_zone
from naru.messages import JsonObject, ToolCall, ToolDefinition

_SCHEMA_WORDS = frozenset({"additionalProperties", "required", "properties", "type", "$schema", "description"})
_DEEPEST = 3
_CODE_LETTERS = 3
"""A longer word is no code that a model may know by itself."""
_PLACEHOLDER = re.compile(
    r"^<.*>$|^\{.*\}$|^\W*(?:your|my|example|sample|some)[-_ ]|^(?:string|text|example|foo|bar)$", re.IGNORECASE
)
_HERE = frozenset({".", "./", "/", "~", "*", ""})
"""Paths that need nobody to name them, for reading."""


@dataclass(frozen=True, slots=True)
class Grounded:
    """A call as it may run, or the reason why it may not."""

    call: ToolCall
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class _Held:
    """What a value is held against."""

    sources: Sources
    used: frozenset[str]
    changes: bool
    """The tool changes something: nothing of what it needs may be a guess."""
    tool_said: str
    """What the tool says of itself: its examples are no values."""

    @property
    def said(self) -> str:
        return flat(self.tool_said)


def ground(call: ToolCall, tool: ToolDefinition, sources: Sources, used: frozenset[str] = frozenset()) -> Grounded:
    """Return the call with grounded arguments, or why it must not run. `used` holds values this tool has run with."""
    known = _Held(sources, used, changes_something(tool), f"{tool.name} {tool.description} {tool.input_schema}")
    try:
        arguments = _object(call.arguments, properties(tool), set(required(tool)), known, 0)
    except _InventedError as invented:
        return Grounded(call, str(invented))
    return Grounded(replace(call, arguments=arguments))


class _InventedError(Exception):
    """A value that a call must have stands nowhere."""


def _object(given: JsonObject, known: dict[str, JsonObject], needed: set[str], about: _Held, depth: int) -> JsonObject:
    arguments: JsonObject = {}
    for name, value in _spelled(given, known).items():
        if value is None and name not in needed:
            continue
        schema = known[name]
        if kind_of(name, schema) == "object" and isinstance(value, dict) and depth < _DEEPEST:
            if (inner := _nested(value, schema, about, depth)) or name in needed:
                arguments[name] = inner
            continue
        mended, invented = _value(name, value, schema, about)
        if invented and name in needed:
            shown = ", ".join(str(one) for one in candidates(name, schema, about.sources)[:8])
            raise _InventedError(
                f"{name}={value!r} stands neither in the question nor in a result."
                + (f" Known: {shown}" if shown else "")
            )
        if invented or (name not in needed and not _was_given(mended, schema, about.sources)):
            continue
        if name not in needed and choices(schema) and mended not in candidates(name, schema, about.sources):
            continue  # A filter that nobody named hides what is asked for.
        arguments[name] = mended
    for name in needed - arguments.keys():
        if name in known:
            arguments[name] = _filled(name, known[name], about)
    return _completed(arguments, known, about, depth)


def _completed(arguments: JsonObject, known: dict[str, JsonObject], about: _Held, depth: int) -> JsonObject:
    """Add the filters that the question names and the model left out: a choice, a code, an id, inside objects too."""
    told = {str(value) for value in arguments.values()}
    for name, schema in known.items():
        kind = kind_of(name, schema)
        if kind == "object" and depth < _DEEPEST and not arguments.get(name) and not about.changes:
            inner = _nested({}, schema, about, depth) if not schema.get("required") else {}
            if inner:
                arguments[name] = inner
        elif kind in ("enum", "id", "code") and name not in arguments and not about.changes:
            left = [one for one in candidates(name, schema, about.sources) if str(one) not in told]
            if len(left) == 1:
                arguments[name] = left[0]
                told.add(str(left[0]))
    return arguments


def _nested(value: JsonObject, schema: JsonObject, about: _Held, depth: int) -> JsonObject:
    inner = {name: plain(one) for name, one in (schema.get("properties") or {}).items() if isinstance(one, dict)}
    needed = {name for name in schema.get("required") or () if isinstance(name, str)}
    return _object(value, inner, needed, about, depth + 1) if inner else value


def _filled(name: str, schema: JsonObject, about: _Held) -> Any:
    filled = fill(name, schema, about.sources, about.used)
    if filled is None:
        raise _InventedError(f"The argument {name} is missing, and nothing in the question or the results fits it.")
    return filled


def _spelled(arguments: JsonObject, known: dict[str, JsonObject]) -> JsonObject:
    """Keep the parameters that the tool has, whatever case or dashes the model wrote them in.

    What belongs into an object parameter and was written beside it is put there.
    """
    plain = {_bare(name): name for name in known}
    kept: JsonObject = {}
    for name, value in arguments.items():
        if name in known:
            kept[name] = value
        elif name in _SCHEMA_WORDS:
            continue
        elif real := plain.get(_bare(name)):
            kept.setdefault(real, value)
        else:
            for outer, schema in known.items():
                if name in (schema.get("properties") or {}) and isinstance(kept.setdefault(outer, {}), dict):
                    kept[outer] = {**kept[outer], name: value}
    return kept


def _bare(name: str) -> str:
    return re.sub(r"[\W_]", "", name).lower()


def _value(name: str, value: Any, schema: JsonObject, about: _Held) -> tuple[Any, bool]:
    """Return the value, mended where one reading is evident, and whether it was invented."""
    kind = kind_of(name, schema)
    if kind == "array":
        return _list(name, value, schema, about)
    if kind in ("flag", "object"):
        return value, False
    given = _Given(name, value, schema, candidates(name, schema, about.sources), about)
    if kind in ("enum", "number"):
        return _enum(given) if kind == "enum" else _number(given)
    if isinstance(value, int | float) and not isinstance(value, bool):
        given = replace(given, value=str(value))
    return _TEXTS.get(kind, _words)(given) if isinstance(given.value, str) else (value, False)


@dataclass(frozen=True, slots=True)
class _Given:
    """A value that the model gave, with what it could have been."""

    name: str
    value: Any
    schema: JsonObject
    wanted: list[Any]
    about: _Held

    def one_of_wanted(self) -> tuple[Any, bool]:
        return (self.wanted[0], False) if len(self.wanted) == 1 else (self.value, True)


def _enum(given: _Given) -> tuple[Any, bool]:
    for choice in choices(given.schema):
        if str(choice).casefold() == str(given.value).strip().casefold():
            # The one that the question names goes before another that it does not.
            return given.one_of_wanted() if len(given.wanted) == 1 else (choice, False)
    return given.one_of_wanted()


def _moment(given: _Given) -> tuple[Any, bool]:
    is_date = kind_of(given.name, given.schema) == "date"
    found = dates_in(given.value) if is_date else times_in(given.value)
    if found and found[0] in given.wanted:
        timed = is_date and re.fullmatch(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d.*", given.value.strip())
        return (given.value.strip() if timed else found[0]), False
    return given.one_of_wanted()


def _known(given: _Given) -> tuple[Any, bool]:
    return (given.value, False) if given.value in given.wanted else given.one_of_wanted()


def _unit(given: _Given) -> tuple[Any, bool]:
    asked = re.search(rf"(?<![A-Za-z]){re.escape(given.value)}(?![A-Za-z])", given.about.sources.question)
    if given.value not in given.wanted and asked is not None:
        return given.value, False  # A unit that is not known here; the tool may know it.
    return _known(given) if given.wanted else _words(given)


def _zone(given: _Given) -> tuple[Any, bool]:
    if is_zone(given.value) and (given.value in given.wanted or not given.wanted):
        return given.value, False
    return given.one_of_wanted()


def _code(given: _Given) -> tuple[Any, bool]:
    code = given.value.strip().upper()
    is_free = not given.wanted and code.isalpha() and len(code) <= _CODE_LETTERS
    return (code, False) if code in given.wanted or is_free else given.one_of_wanted()


def _sum(given: _Given) -> tuple[Any, bool]:
    if len(given.wanted) == 1:
        return given.wanted[0], False
    return given.value, bool(given.about.sources.invented(given.value))


def _identifier(given: _Given) -> tuple[Any, bool]:
    value, wanted = given.value.strip(), given.wanted
    exact = [one for one in wanted if one.casefold() == value.casefold()]
    if exact:
        return exact[0], False
    ending = [one for one in wanted if value and one.endswith(value)]
    fitting = ending or [one for one in wanted if one not in given.about.used] or wanted
    if wanted and (len(fitting) == 1 or ending):
        return fitting[0], False
    if re.search(r"\s", value):
        return value, True  # A name is no id: the tool that gives its id comes first.
    wrong_shape = bool(prefix_of(given.schema) and not value.upper().startswith(prefix_of(given.schema)))
    return value, wrong_shape or not given.about.sources.holds(value)


def _path(given: _Given) -> tuple[Any, bool]:
    value, wanted = given.value, given.wanted
    if value in wanted or not wanted:
        is_given = bool(wanted) or given.about.sources.holds(value)
        return value, not is_given and (given.about.changes or value.strip() not in _HERE)
    ending = [one for one in wanted if one.rsplit("/", 1)[-1] == value.rsplit("/", 1)[-1]]
    return (max(ending, key=len), False) if ending else given.one_of_wanted()


def _words(given: _Given) -> tuple[Any, bool]:
    """Take text that the sources bear out; one in another script than the question's may be a translation."""
    text, sources, name = given.value.strip(), given.about.sources, given.name.casefold()
    if "country" in name and (countries := named(sources.question, COUNTRIES)):
        # Any spelling of the country that is meant; another one was a guess, and takes its form.
        as_meant = named(text, COUNTRIES)
        if as_meant and as_meant[0] not in countries and len(countries) == 1:
            return (countries[0] if len(text) == 2 else english_country(countries[0])), False
        return given.value, not as_meant and not sources.holds(text)
    if sources.invented(text) or text.casefold() == name or (_PLACEHOLDER.match(text) and not sources.holds(text)):
        return replace(given, wanted=given.wanted or sources.names()).one_of_wanted()
    if sources.holds(text) or _shares(text, sources.text):
        return given.value, False
    if flat(text) in given.about.said or text.isascii() == sources.question.isascii():
        return replace(given, wanted=sources.quoted() or sources.names()).one_of_wanted()
    latin = [one for one in sources.about() if one.isascii()]
    return (latin[0], False) if len(latin) == 1 else (given.value, False)


def _number(given: _Given) -> tuple[Any, bool]:
    number, sources = _as_number(given.value), given.about.sources
    if isinstance(number, float) and number.is_integer() and "number" not in types(given.schema):
        number = int(number)
    if number is not None and number in given.wanted:
        return number, False
    if "year" in given.name.lower():
        return _year(sources), False
    fresh = [one for one in given.wanted if str(one) not in given.about.used] or given.wanted
    if len(fresh) == 1:
        return fresh[0], False
    is_free = number is not None and not sources.numbers() and not is_identifier(given.name, given.schema)
    return (number, False) if is_free else (given.value, True)


_TEXTS: dict[str, Callable[[_Given], tuple[Any, bool]]] = {
    "date": _moment,
    "time": _moment,
    "month": _known,
    "unit": _unit,
    "zone": _zone,
    "code": _code,
    "id": _identifier,
    "path": _path,
    "sum": _sum,
}


def _shares(text: str, known: str) -> bool:
    asked = set(terms(known))
    return any(term in asked for term in terms(text))


def _list(name: str, value: Any, schema: JsonObject, about: _Held) -> tuple[Any, bool]:
    items = schema.get("items")
    many = value if isinstance(value, list) else [value]
    if not isinstance(items, dict) or types(items) != {"string"} or not all(isinstance(one, str) for one in many):
        return many, False
    kept = []
    for one in many:
        mended, invented = _value(name.removesuffix("s"), one, items, about)
        if not invented:
            kept.append(mended)
    return kept, not kept


def _as_number(value: Any) -> int | float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return value
    try:
        text = str(value).replace(",", "").strip()
        return float(text) if "." in text else int(text)
    except ValueError:
        return None


def _year(sources: Sources) -> int:
    """Return the year that the question names, else this one."""
    years = [int(one) for one in sources.numbers() if re.fullmatch(r"(19|20)\d\d", one)]
    return years[0] if years else datetime.now(UTC).year


def _was_given(value: Any, schema: JsonObject, sources: Sources) -> bool:
    """Tell whether an optional argument says something that the person or a result said."""
    if value in (None, "", [], {}) or isinstance(value, bool):
        return False
    allowed = choices(schema)
    if allowed:
        return value in allowed and value != schema.get("default")
    if isinstance(value, str):
        return sources.holds(value) or value in sources.dates() or _shares(value, sources.text)
    if isinstance(value, list):
        return all(_was_given(one, {}, sources) for one in value)
    return not isinstance(value, int | float) or sources.holds(value) or str(value) in sources.numbers()


def fill(name: str, schema: JsonObject, sources: Sources, used: frozenset[str] = frozenset()) -> Any:
    """Return the value that the sources leave for a missing parameter, or None."""
    if "default" in schema:
        return schema["default"]
    kind, wanted = kind_of(name, schema), candidates(name, schema, sources)
    left = [one for one in wanted if str(one) not in used] or wanted
    if kind == "number":
        if "year" in name.lower():
            return _year(sources)
        return left[0] if len(left) == 1 else None
    if kind == "object":
        return {} if not schema.get("required") else None
    if left:
        return left[0] if len(left) == 1 or kind in ("id", "date", "search", "text") else None
    if kind == "search":
        return sources.question
    names = sources.names() or sources.about()
    if kind == "array" and names:
        return names if types(plain(schema.get("items") or {})) <= {"string"} else None
    return names[0] if kind == "text" and len(names) == 1 else None
