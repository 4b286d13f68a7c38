"""A call as a small model wrote it, made fit to run; refused is only what certainly came from nowhere."""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import replace
from email.utils import parsedate
from typing import Any

import jsonschema_rs

from naru.agent.planner import Verdict
from naru.agent.small.parameters import Parameter, parameters
from naru.agent.small.sources import Sources
from naru.messages import ToolCall, ToolDefinition
from naru.tools.arguments.misspelt import meant
from naru.tools.arguments.validate import ArgumentsValidator
from naru.tools.texts import bare, digits, numbers, spans

_YEARS = range(1900, 2101)  # What `this year` and the like can mean.


def ground(call: ToolCall, tool: ToolDefinition, sources: Sources, numbered: Set[str]) -> Verdict:
    """Drop what the tool does not know, complete ids, refuse invented ones; `numbered` are of `shared_numbers`."""
    known = {one.name: one for one in parameters(tool)}
    is_open = bool(tool.input_schema.get("additionalProperties")) or "properties" not in tool.input_schema
    arguments: dict[str, Any] = {}
    for written, value in call.arguments.items():
        name = written if written in known else meant(written, known, call.arguments)
        if not name:
            arguments |= {written: value} if is_open else {}
        elif not _is_left_out(value, one := known[name], tool):
            mended = _completed(one, value, sources)
            why = _fault(one, mended, sources, numbered) or _unnamed(one, mended, sources)
            if why and one.required:
                return Verdict(call, why)
            arguments |= {} if why else {name: mended}
    return Verdict(replace(call, arguments=arguments))


def _is_left_out(value: Any, one: Parameter, tool: ToolDefinition) -> bool:
    """Tell whether an empty value stands for none: the schema has a default, does not take it, or says nothing."""
    if value not in (None, "") or one.required:
        return False
    is_open = "default" in one.schema or not {"type", "anyOf", "oneOf"} & one.schema.keys()
    return is_open or bool(ArgumentsValidator({**tool.input_schema, "required": []}).problems({one.name: value}))


def _completed(one: Parameter, value: Any, sources: Sources) -> Any:
    """Return the id as it stands in a source: `ORD-88123` for `88123` and for `order ORD-88123`."""
    if one.is_plain_text and isinstance(value, str):
        return sources.as_written(value)
    if one.form == "date" and isinstance(value, str) and (told := parsedate(f"{value} 00:00")):
        return "{:04}-{:02}-{:02}".format(*told)  # `21 November 2026`, as mail writes days.
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


def _unnamed(one: Parameter, value: Any, sources: Sources) -> str:
    """Say that nobody spoke of a name that need not be given (`John Doe`); empty where somebody may have.

    A name in another script than the question's is the model's to write, and so is a word with a small first letter.
    """
    first = value[:1] if isinstance(value, str) and one.is_plain_text and not one.required else ""
    if not first.isalpha() or first != first.upper():
        return ""
    scripts = {letter.isascii() for letter in sources.question.text if letter.isalpha()}
    is_said = value.isascii() not in scripts or any(map(sources.hold, value.split()))
    return "" if is_said else f"{value!r} was named by nobody."


def _fault(one: Parameter, value: Any, sources: Sources, numbered: Set[str]) -> str:
    """Say why a value cannot be; empty when it can."""
    if isinstance(value, str) and one.takes_id and not sources.hold(value):
        # `Q1` is a code that words can mean, `EMP001` is an id.
        if bare(value) in map(bare, one.samples) and len(digits(value)) != 1:
            return f"{value!r} is an example of {one.name}, not a value that was given."
        if bare(one.name) in bare(value) and not one.fits(value):
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
