"""A tool as a small model is shown it: no references, titles, defaults or `null` that it would copy into a call."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace

from naru.agent.small.parameters import known_values, needed, parameters
from naru.agent.small.sources import Sources
from naru.messages import JsonObject, ToolDefinition
from naru.models.asking.grammar import portable

_DESCRIPTION_CHARACTERS = 400
_LINE, _ON_MENU = 80, 60  # Letters of a tool's line on a menu, and names on it: about a thousand tokens.
NONE = ToolDefinition("none", "None of these is needed: answer in words.")  # Picked among names when no tool fits.


def shown(tool: ToolDefinition) -> ToolDefinition:
    """Return the tool with a plain schema; the real one still judges the call."""
    properties = {one.name: portable(one.schema, tool.input_schema) for one in parameters(tool)}
    schema: JsonObject = {"type": "object", "properties": properties}
    if required := [one.name for one in needed(tool)]:
        schema["required"] = required
    return replace(tool, title="", description=tool.description[:_DESCRIPTION_CHARACTERS], input_schema=schema)


def narrowed(tool: ToolDefinition, sources: Sources, numbered: Set[str]) -> ToolDefinition:
    """Return a shown tool whose ids can only be those that are known: an `enum` is what a grammar holds a model to."""
    plain = shown(tool)
    properties = dict(plain.input_schema["properties"])
    for one in parameters(tool):
        if values := known_values(one, sources, numbered):
            kept = {key: value for key, value in properties[one.name].items() if key in ("description", "type")}
            properties[one.name] = {**kept, "enum": values}
        elif one.form:
            properties[one.name] = {**properties[one.name], "format": one.form}
    return replace(plain, input_schema={**plain.input_schema, "properties": properties})


def menu(tools: Sequence[ToolDefinition]) -> list[ToolDefinition]:
    """Return tools with a line of what each is for, without parameters: a pick is no call, and never run."""
    first = [(tool, tool.description.strip()[:_LINE].split("\n")[0]) for tool in tools[:_ON_MENU]]
    return [replace(tool, description=line, input_schema={}) for tool, line in first]
