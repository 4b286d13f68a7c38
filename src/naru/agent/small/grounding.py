"""A call as a small model wrote it, made fit to run: names and keys mended, ids grounded in what was said or found.

Only what certainly came from nowhere is refused: an example out of the schema, an id of the shape that the schema shows
which no source holds. Names, dates, sums and choices are the model's to derive.
"""

from __future__ import annotations

import difflib
from collections.abc import Set
from dataclasses import dataclass, replace
from typing import Any

from naru.agent.small.parameters import Parameter, leaves, parameters
from naru.agent.small.sources import Sources, bare
from naru.messages import ToolCall, ToolDefinition

_ALIKE = 0.75


@dataclass(frozen=True, slots=True)
class Grounded:
    """A call that may run, or why it may not; `at_fault` names the parameter whose value came from nowhere."""

    call: ToolCall
    refusal: str = ""
    at_fault: str = ""


def ground(call: ToolCall, tool: ToolDefinition, sources: Sources, numbered: Set[str]) -> Grounded:
    """Drop what the tool does not know, complete ids, refuse invented ones.

    Args:
        call: as the model wrote it.
        tool: the tool that it means.
        sources: what values may come from.
        numbered: names of whole-number parameters that name a thing.
    """
    known = {one.name: one for one in parameters(tool)}
    if not known:
        is_open = bool(tool.input_schema.get("additionalProperties")) or "properties" not in tool.input_schema
        return Grounded(call if is_open else replace(call, arguments={}))
    arguments: dict[str, Any] = {}
    for written, value in call.arguments.items():
        name = written if written in known else _meant(written, known, call.arguments)
        if not name:
            continue
        one = known[name]
        if value in (None, "") and not one.required:
            continue
        mended = _completed(one, value, sources)
        if why := _fault(one, mended, sources, numbered):
            if one.required:
                return Grounded(call, why, name)
            continue
        arguments[name] = mended
    return Grounded(replace(call, arguments=arguments))


def carries_something(call: ToolCall, sources: Sources) -> bool:
    """Tell whether a call holds any value of what was said or found."""
    return any(sources.hold(value) for value in leaves(call.arguments))


def _meant(written: str, known: dict[str, Parameter], given: dict[str, Any]) -> str:
    """Return the parameter that a misspelt key means: `memberNo`, `member-no`."""
    free = {bare(name): name for name in known if name not in given}
    if bare(written) in free:
        return free[bare(written)]
    close = difflib.get_close_matches(bare(written), list(free), n=1, cutoff=_ALIKE)
    return free[close[0]] if close else ""


def _completed(one: Parameter, value: Any, sources: Sources) -> Any:
    """Return the whole id for its bare number, as it stands in a source: `ORD-88123` for `88123`."""
    if one.takes_id and isinstance(value, str | int) and not isinstance(value, bool):
        wanted = bare(str(value))
        whole = [span for span in sources.spans() if bare(span) != wanted and bare(span).endswith(wanted)]
        fitting = [span for span in whole if one.fits(span)]
        if wanted.isdigit() and len(fitting) == 1:
            return fitting[0]
    return value


def _fault(one: Parameter, value: Any, sources: Sources, numbered: Set[str]) -> str:
    """Say why a value cannot be; empty when it can."""
    if isinstance(value, str) and one.takes_id and not sources.hold(value):
        if one.shows(value):
            return f"{value!r} is an example of {one.name}, not a value that was given."
        return f"{one.name} takes an id, and {value!r} stands neither in the question nor in a result."
    is_number = isinstance(value, int) and not isinstance(value, bool)
    if is_number and one.required and one.name in numbered and not sources.hold(value):
        return f"{one.name} {value} stands neither in the question nor in a result."
    return ""
