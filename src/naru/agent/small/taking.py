"""Which values a tool takes, of a question, a call or a result; and a tool held to some of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from naru.agent.execute import Outcome
from naru.agent.small.parameters import ID, Parameter, needed, parameters
from naru.messages import ToolDefinition
from naru.tools.lines import decoded, entries, leaves
from naru.tools.names import plain_name
from naru.tools.texts import Text, bare

TELLING_NAME = 3  # Letters from which the beginning of a key says which parameter is meant: `film` for `film_id`.


def takes_any(tool: ToolDefinition, values: Sequence[str]) -> bool:
    """Tell whether one of these, ids or numbers, is for a parameter of a tool by its form."""
    return any(one.takes(value) for one in parameters(tool) for value in values)


def taken(tool: ToolDefinition, given: Sequence[tuple[str, Any]]) -> list[str]:
    """Return the values, given by key, that a tool takes."""
    return [str(value) for one in needed(tool) for key, value in given if meets(one, key, value)]


def named_for(tool: ToolDefinition, given: Sequence[tuple[str, Any]]) -> list[str]:
    """Return the values whose key is what a tool is named after: `{"station": "market"}` is for `get_station(name)`."""
    words = plain_name(tool.name).split()
    names = ["".join(map(bare, one)) for one in (words, words[1:], words[:-1]) if one]
    return [value for key, value in given if key and bare(key) in names and is_all_of(tool, value)]


def is_all_of(tool: ToolDefinition, value: Any) -> bool:
    """Tell whether a value can be all that a tool needs: a number, what its schema lists, a text of no told form."""
    alone = needed(tool)[0] if len(needed(tool)) == 1 else None
    if alone is None or type(value) is not (int if alone.kind == "integer" else str):
        return False
    return alone.kind == "integer" or alone.is_plain_text or value in (alone.schema.get("enum") or ())


def for_another(tool: ToolDefinition, beside: Mapping[str, Sequence[str]]) -> ToolDefinition:
    """Return a tool held to what else the question names of the kind that it took."""
    for one in parameters(tool):
        named = beside.get(one.name, ())
        # Endings stick to the words of scripts without capitals: those the model writes itself.
        if named and (one.is_choice or any(each.isascii() for each in named)):
            tool = held_to(tool, one.name, named)
    return tool


def texts(tool: ToolDefinition) -> list[Parameter]:
    """Return the parameters that a tool needs, where all take texts of no told form, such as names."""
    every = needed(tool)
    return every if all(one.is_plain_text and not one.shown for one in every) else []


def wider(tool: ToolDefinition, last: Outcome, asked: Text, ids: Sequence[str] = ()) -> ToolDefinition | None:
    """Return a tool as it may find more: held to a name of which more or less was asked, or without its options.

    Those that nobody gave, or gave twice, go first; an id that was asked about is none.
    """
    given, properties = last.call.arguments, tool.input_schema.get("properties") or {}
    for name, value in given.items():
        whole = [one for one in asked.names if value != one and (str(value) in one.split() or one in str(value))]
        if whole and name in properties:
            return held_to(tool, name, whole)
    options = [one.name for one in parameters(tool) if one.name in given and not one.required]
    twice = [name for at, name in enumerate(options) if given[name] in [given[one] for one in options[at + 1 :]]]
    dropped = [name for name in options if not asked.holds(given[name])] or twice or options
    if any(not each.isdigit() and each == given[name] for name in dropped for each in ids):
        return None
    kept = {name: of for name, of in properties.items() if name not in dropped}
    is_wider = len(kept) < len(properties) and not last.failed
    return replace(tool, input_schema={**tool.input_schema, "properties": kept}) if is_wider else None


def held_to(tool: ToolDefinition, name: str, values: Sequence[str]) -> ToolDefinition:
    """Return a tool whose parameter can only be one of these."""
    properties = tool.input_schema["properties"]
    kept = {**properties, name: {**properties[name], "enum": list(values)}}
    return replace(tool, input_schema={**tool.input_schema, "properties": kept})


def fed(tool: ToolDefinition, given: Sequence[tuple[str, Any]]) -> ToolDefinition:
    """Return a tool that follows on a result; the one text that it needs can only be a value of that."""
    values = named_for(tool, given) or taken(tool, given)
    is_held = values and all(is_all_of(tool, value) for value in values)
    return held_to(tool, needed(tool)[0].name, values) if is_held else tool


def fresh(last: Outcome) -> list[tuple[str, Any]]:
    """Return what a result gave and the call did not, by key; a count of its rows tells nothing that they do not."""
    found = decoded(last.result.text.strip())
    given = {bare(str(value)) for value in leaves(last.call.arguments)}
    inner = found.values() if isinstance(found, dict) else ()
    given |= {str(len(one)) for one in inner if isinstance(one, list)} | {""}
    return [entry for entry in entries(found) if type(entry[1]) in (str, int) and bare(str(entry[1])) not in given]


def meets(one: Parameter, key: str, value: Any) -> bool:
    """Tell whether a value of a result is one for a parameter: by its key, or by the id's shape."""
    if one.is_choice or (isinstance(value, int) and one.kind == "string"):
        return False
    if one.takes_id:
        return isinstance(value, str) and one.fits(value) and any(letter.isdigit() for letter in value)
    name, other = bare(one.name), bare(key)
    is_id = isinstance(value, str) and value[-1:].isdigit() and value[:1].isalpha() and " " not in value
    if other and other.isascii() == name.isascii() and not (is_id and one.is_named_id and other == ID):
        shorter, longer = sorted((name, other), key=len)
        return name == other or (len(shorter) >= TELLING_NAME and longer.startswith(shorter))
    return is_id and one.kind == "string"
