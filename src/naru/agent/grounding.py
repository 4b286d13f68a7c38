"""Mend or refuse the arguments of a small model's call: no value that nobody gave reaches a tool (UPLIFT).

An id that stands neither in the question nor in a result was invented. Where the sources leave one choice it is taken;
else the call is refused. Optional arguments that nobody gave are left out; enum values and free text are the model's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from naru.agent.sources import Sources
from naru.messages import JsonObject, ToolCall, ToolDefinition

_SCHEMA_WORDS = frozenset({"additionalProperties", "required", "properties", "type", "$schema", "description"})
_PREFIX = re.compile(r"\b([A-Z]{2,6})[-_]?(?:\d|[nN#xX]{2,}|\\d|\[0-9\]|\b(?=[^.]*\bdigits?\b))")
_NO_PREFIX = frozenset({"ID", "URL", "URI", "JSON", "ISO", "UTC", "API", "HTTP", "UUID", "ASCII", "UTF", "SQL", "YYYY"})
_IDENTIFIER_NAME = re.compile(r"(^|_)(id|code|no|number|key|ref|sku|ticket|isbn)$", re.IGNORECASE)
_PATH_NAME = re.compile(r"(^|_)(path|file|filename|dir|directory|folder|source|destination|uri|paths)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Grounded:
    """A call as it may run, or the reason why it may not."""

    call: ToolCall
    refusal: str = ""


def properties(tool: ToolDefinition) -> dict[str, JsonObject]:
    """Return the tool's parameters, name → schema, of a flat object schema."""
    found = tool.input_schema.get("properties")
    return {name: inner for name, inner in found.items() if isinstance(inner, dict)} if isinstance(found, dict) else {}


def required(tool: ToolDefinition) -> list[str]:
    """Return the names of the parameters that a call must have."""
    names = tool.input_schema.get("required")
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def ground(call: ToolCall, tool: ToolDefinition, sources: Sources, used: frozenset[str] = frozenset()) -> Grounded:
    """Return the call with grounded arguments, or why it must not run. `used` holds values this tool has run with."""
    known, needed = properties(tool), set(required(tool))
    arguments: JsonObject = {}
    for name, value in _spelled(call.arguments, known).items():
        if value is None and name not in needed:
            continue
        mended, invented = _value(name, value, known[name], sources, used)
        if invented and name in needed:
            choices = ", ".join(candidates(name, known[name], sources)[:8])
            return Grounded(
                call,
                f"{name}={value!r} stands neither in the question nor in a result."
                + (f" Known: {choices}" if choices else ""),
            )
        if not invented and (name in needed or _was_given(mended, known[name], sources)):
            arguments[name] = mended
    for name in needed - arguments.keys():
        if name in known:
            filled = fill(name, known[name], sources, used)
            if filled is None:
                return Grounded(
                    call, f"The argument {name} is missing, and nothing in the question or the results fits it."
                )
            arguments[name] = filled
    return Grounded(replace(call, arguments=arguments))


def _spelled(arguments: JsonObject, known: dict[str, JsonObject]) -> JsonObject:
    """Keep the parameters that the tool has, whatever case or dashes the model wrote them in."""
    plain = {re.sub(r"[\W_]", "", name).lower(): name for name in known}
    kept: JsonObject = {}
    for name, value in arguments.items():
        if name in known:
            kept[name] = value
        elif name not in _SCHEMA_WORDS and (real := plain.get(re.sub(r"[\W_]", "", name).lower())):
            kept.setdefault(real, value)
    return kept


def types(schema: JsonObject) -> set[str]:
    """Return the JSON types that a schema allows, through `anyOf` too; empty when it says none."""
    found = schema.get("type")
    allowed = {found} if isinstance(found, str) else set(found) if isinstance(found, list) else set()
    for branch in (*(schema.get("anyOf") or ()), *(schema.get("oneOf") or ())):
        if isinstance(branch, dict):
            allowed |= types(branch)
    return {str(one) for one in allowed}


def _value(name: str, value: Any, schema: JsonObject, sources: Sources, used: frozenset[str]) -> tuple[Any, bool]:
    """Return the value, mended where one reading is evident, and whether it was invented."""
    if schema.get("enum"):
        return _enum(value, schema["enum"]), False
    if isinstance(value, str) and (types(schema) & {"string"} or not types(schema)):
        return _text(name, value, schema, sources, used)
    if _is_number(value):
        return _number(name, value, sources)
    return value, False


def _enum(value: Any, choices: list[Any]) -> Any:
    for choice in choices:
        if str(choice).casefold() == str(value).strip().casefold():
            return choice
    return value


def _text(name: str, value: str, schema: JsonObject, sources: Sources, used: frozenset[str]) -> tuple[Any, bool]:
    wanted = candidates(name, schema, sources)
    if is_identifier(name, schema):
        exact = [one for one in wanted if one.casefold() == value.strip().casefold()]
        if exact:
            return exact[0], False
        ending = [one for one in wanted if value.strip() and one.endswith(value.strip())]
        fitting = ending or [one for one in wanted if one not in used] or wanted
        if wanted and (len(fitting) == 1 or ending):
            return fitting[0], False
        return value, not sources.holds(value) or bool(
            prefix_of(schema) and not value.upper().startswith(prefix_of(schema))
        )
    if _PATH_NAME.search(name):
        return _path(value, wanted)
    return value, bool(sources.invented(value)) or value.strip() in {name, f"<{name}>", "string"}


def _path(value: str, wanted: list[str]) -> tuple[str, bool]:
    if value in wanted or not wanted:
        return value, False
    ending = [one for one in wanted if one.rsplit("/", 1)[-1] == value.rsplit("/", 1)[-1]]
    if ending:
        return max(ending, key=len), False
    return (wanted[0], False) if len(wanted) == 1 else (value, True)


def _number(name: str, value: float, sources: Sources) -> tuple[Any, bool]:
    given = sources.numbers()
    if str(value) in given or sources.holds(value):
        return value, False
    if "year" in name.lower():
        return _year(sources), False
    return value, True


def _year(sources: Sources) -> int:
    """Return the year that the question names, else this one."""
    years = [int(one) for one in sources.numbers() if re.fullmatch(r"(19|20)\d\d", one)]
    return years[0] if years else datetime.now(UTC).year


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _was_given(value: Any, schema: JsonObject, sources: Sources) -> bool:
    """Tell whether an optional argument says something that the person or a result said."""
    if value in (None, "", [], {}):
        return False
    if schema.get("enum") and isinstance(value, str):
        return value in schema["enum"] and value != schema.get("default")
    if isinstance(value, bool):
        return False
    if isinstance(value, str):
        return sources.holds(value) or any(sources.holds(word) for word in value.split() if len(word) > 3)
    if isinstance(value, list):
        return all(_was_given(one, {}, sources) for one in value)
    return not _is_number(value) or sources.holds(value)


def prefix_of(schema: JsonObject) -> str:
    """Return the letters that ids of this parameter begin with, where description, pattern or examples show them."""
    shown = [str(schema.get(key, "")) for key in ("pattern", "description", "examples", "title")]
    for text in shown:
        for match in _PREFIX.finditer(text):
            if match.group(1) not in _NO_PREFIX:
                return match.group(1)
    return ""


def is_identifier(name: str, schema: JsonObject) -> bool:
    """Tell whether a parameter takes an id, by its name or the shape that its schema shows."""
    return bool(_IDENTIFIER_NAME.search(name) or prefix_of(schema) or schema.get("pattern"))


def is_path(name: str) -> bool:
    """Tell whether a parameter takes a path, by its name."""
    return bool(_PATH_NAME.search(name))


def candidates(name: str, schema: JsonObject, sources: Sources) -> list[str]:
    """Return the values in question and results that a parameter could take, the question's first."""
    if is_identifier(name, schema):
        prefix = prefix_of(schema)
        found = [one for one in sources.ids() if not prefix or one.upper().startswith(prefix)]
        pattern = schema.get("pattern")
        return [one for one in found if _fits(str(pattern), one)] if pattern else found
    if _PATH_NAME.search(name):
        return sources.paths()
    return sources.quoted()


def _fits(pattern: str, value: str) -> bool:
    try:
        return re.search(pattern, value) is not None if len(pattern) < 200 else True
    except re.error:
        return True


def fill(name: str, schema: JsonObject, sources: Sources, used: frozenset[str] = frozenset()) -> Any:
    """Return the value that the sources leave for a missing parameter, or None."""
    if "default" in schema:
        return schema["default"]
    allowed = types(schema)
    if allowed & {"integer", "number"}:
        if "year" in name.lower():
            return _year(sources)
        numbers = sources.numbers()
        if len(numbers) != 1:
            return None
        return int(numbers[0]) if "." not in numbers[0] else float(numbers[0])
    if allowed and "string" not in allowed:
        return None
    wanted = candidates(name, schema, sources)
    left = [one for one in wanted if one not in used] or wanted
    if left:
        return left[0]
    if is_identifier(name, schema) or _PATH_NAME.search(name) or schema.get("enum"):
        return None
    return sources.question
