"""A call as a small model wrote it, made fit to run: names and keys mended, ids grounded in what was said or found.

Only what certainly came from nowhere is refused: an example out of the schema, an id of the shape that the schema shows
which no source holds. Names, dates, sums and choices are the model's to derive.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence, Set
from dataclasses import replace
from typing import Any

import jsonschema_rs

from naru.agent.planner import Verdict
from naru.agent.small.parameters import Parameter, parameters
from naru.agent.small.sources import Sources, bare, digits, numbers, spans
from naru.messages import JsonObject, ToolCall, ToolDefinition
from naru.models.asking.grammar import resolved

_ALIKE = 0.75
_YEARS = range(1900, 2101)
"""What `this year` and the like can mean."""


def ground(call: ToolCall, tool: ToolDefinition, sources: Sources, numbered: Set[str]) -> Verdict:
    """Drop what the tool does not know, complete ids, refuse invented ones; `numbered` are of `shared_numbers`."""
    known = {one.name: one for one in parameters(tool)}
    is_open = bool(tool.input_schema.get("additionalProperties")) or "properties" not in tool.input_schema
    arguments: dict[str, Any] = {}
    for written, value in call.arguments.items():
        name = written if written in known else alike(written, [one for one in known if one not in call.arguments])
        if not name:
            arguments |= {written: value} if is_open else {}
            continue
        one = known[name]
        if value in (None, "") and not one.required and not _says_something(value, one, tool):
            continue
        mended = _completed(one, value, sources)
        if why := _fault(one, mended, sources, numbered):
            if one.required:
                return Verdict(call, why)
            continue
        arguments[name] = mended
    return Verdict(replace(call, arguments=arguments))


def alike(written: str, names: Sequence[str]) -> str:
    """Return the name that a misspelt one means: `member_no` for `memberNo`; empty for none."""
    known = {bare(name): name for name in names}
    close = difflib.get_close_matches(bare(written), list(known), n=1, cutoff=_ALIKE)
    return known[close[0]] if close else ""


def _says_something(value: Any, one: Parameter, tool: ToolDefinition) -> bool:
    """Tell whether an empty value is one: the schema takes it (`null` for nobody), and it is not what is left out."""
    schema = resolved(tool.input_schema["properties"][one.name], tool.input_schema)
    if not isinstance(schema, dict) or "default" in schema or not {"type", "anyOf", "oneOf"} & schema.keys():
        return False
    try:
        root: JsonObject = {key: tool.input_schema[key] for key in ("$defs", "definitions") if key in tool.input_schema}
        return jsonschema_rs.is_valid({**root, **schema}, value)
    except (jsonschema_rs.ValidationError, ValueError):
        return False


def _completed(one: Parameter, value: Any, sources: Sources) -> Any:
    """Return the id as it stands in a source: `ORD-88123` for `88123` and for `order ORD-88123`."""
    if one.is_plain_text and isinstance(value, str):
        return sources.as_written(value)
    if one.takes_id and isinstance(value, str | int) and not isinstance(value, bool):
        wanted = bare(str(value))
        fitting = [span for span in sources.spans() if bare(span) != wanted and one.fits(span)]
        fitting = [span for span in fitting if re.findall(r"\d+", span)[-1].lstrip("0") == wanted.lstrip("0")]
        if wanted.isdigit() and len(fitting) == 1:
            return fitting[0]
        within = [span for span in spans(str(value)) if one.fits(span) and sources.hold(span)]
        if len(within) == 1 and not one.fits(str(value)):
            return within[0]
    return value


def _fault(one: Parameter, value: Any, sources: Sources, numbered: Set[str]) -> str:
    """Say why a value cannot be; empty when it can."""
    if isinstance(value, str) and one.takes_id and not sources.hold(value):
        if one.shows(value) and len(digits(value)) != 1:  # `Q1` is a code that words can mean, `EMP001` is an id.
            return f"{value!r} is an example of {one.name}, not a value that was given."
        if bare(one.name) in bare(value):
            return f"{value!r} is no value of {one.name}."
        known = {number for source in sources.all for number in source.numbers}
        # Too long to have been said in words, and a number that no source has.
        if one.fits(value) and len(digits(value).lstrip("0")) > 1 and not numbers(value) <= known:
            return f"{one.name} takes an id, and {value!r} stands neither in the question nor in a result."
    if one.form and not jsonschema_rs.is_valid({"format": one.form}, value, validate_formats=True):
        return f"{value!r} is no {one.form}, as {one.name} takes."
    is_number = isinstance(value, int) and not isinstance(value, bool) and value not in _YEARS
    if is_number and one.required and one.name in numbered and not sources.hold(value):
        return f"{one.name} {value} stands neither in the question nor in a result."
    return ""
