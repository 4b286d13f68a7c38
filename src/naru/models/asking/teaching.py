"""How a prompt teaches tools to a model that has no native calls: rows, each in a dialect the parser reads back.

The wording is measured (docs/decisions/0053): functions as JSON lines in the frame that models know from training,
without schema keywords and placeholders, which small models copy into arguments.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from naru.messages import ToolDefinition
from naru.models.asking.grammar import resolved

_RESULT_HEAD = "[Tool Result: {name}]"
_DEPTH = 4
_SHORT_ID = 8
"""Characters of an id that a person may have given."""
_SHOWN_KEYWORDS = ("type", "description", "enum", "const", "default")


@dataclass(frozen=True, slots=True)
class Teaching:
    """One way of writing calls, and the words that teach it."""

    name: str
    how: str
    """What to write to call a tool."""
    write_call: Callable[[str, Mapping[str, Any]], str]
    """The call as the model would have written it, for the history."""
    result_label: str = _RESULT_HEAD
    stop: tuple[str, ...] = ("[Tool Result",)
    """Where an invented observation begins: generation stops there (N1)."""

    def result_head(self, name: str, call_id: str = "") -> str:
        """Return the line above a result in the user turn that carries it (R5); long random ids are only noise."""
        shown_id = f" #{call_id}" if 0 < len(call_id) <= _SHORT_ID else ""
        return self.result_label.format(name=f"{name}{shown_id}")

    def instructions(self, tools: Sequence[ToolDefinition], *, must_call: bool = False) -> str:
        """Return the system text that offers the tools."""
        ending = (
            "Call one of the functions now."
            if must_call
            else "When no function is needed, or the results already hold what was asked for, answer in plain text."
        )
        listed = "\n".join(describe(tool) for tool in tools)
        return (
            "# Tools\n\nYou may call one of these functions to assist with the user query:\n"
            f"<tools>\n{listed}\n</tools>\n\n{self.how} {ending}"
        )


def describe(tool: ToolDefinition) -> str:
    """Return a tool as one line of JSON: name, description, parameters with what a writer needs of their schema."""
    parameters = {"type": "object", "properties": _properties(tool.input_schema, tool.input_schema, 0)}
    return _json({"name": tool.name, "description": " ".join(tool.description.split()), "parameters": parameters})


def _properties(schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> dict[str, Any]:
    return {name: _shown(value, root, depth + 1) for name, value in (schema.get("properties") or {}).items()}


def _shown(schema: Any, root: Mapping[str, Any], depth: int) -> dict[str, Any]:
    """Keep of a schema what says which values to write; `required` and bounds are enforced, not taught."""
    schema = resolved(schema, root)
    if not isinstance(schema, Mapping) or depth > _DEPTH:
        return {}
    shown: dict[str, Any] = {key: schema[key] for key in _SHOWN_KEYWORDS if key in schema}
    options = schema.get("anyOf") or schema.get("oneOf")
    if options:
        kept = [_shown(option, root, depth + 1) for option in options]
        kept = [option for option in kept if option.get("type") != "null"]
        shown |= kept[0] if len(kept) == 1 else {"anyOf": kept}
    if schema.get("properties"):
        shown["properties"] = _properties(schema, root, depth)
    if "items" in schema:
        shown["items"] = _shown(schema["items"], root, depth + 1)
    return shown


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _fenced(name: str, arguments: Mapping[str, Any]) -> str:
    return f"```json\n{_json({'name': name, 'arguments': dict(arguments)})}\n```"


def _hermes(name: str, arguments: Mapping[str, Any]) -> str:
    return f"<tool_call>\n{_json({'name': name, 'arguments': dict(arguments)})}\n</tool_call>"


def _react(name: str, arguments: Mapping[str, Any]) -> str:
    return f"Action: {name}\nAction Input: {_json(dict(arguments))}"


def _pythonic(name: str, arguments: Mapping[str, Any]) -> str:
    listed = ", ".join(f"{key}={value!r}" for key, value in arguments.items())
    return f"```tool_code\n{name}({listed})\n```"


TEACHINGS = {
    row.name: row
    for row in (
        Teaching(
            "fenced-json",
            "To call a function, return a json object with function name and arguments in a ```json code block, "
            'with the keys "name" and "arguments".',
            _fenced,
        ),
        Teaching(
            "hermes",
            "To call a function, return a json object with function name and arguments between <tool_call> and "
            '</tool_call>, with the keys "name" and "arguments".',
            _hermes,
            stop=("[Tool Result", "<tool_response>"),
        ),
        Teaching(
            "react",
            "To call a function, write a line `Action:` with its name and a line `Action Input:` with a json "
            "object of its arguments, then stop. The result comes in the next message, after `Observation`. When "
            "you know the answer, write it after `Final Answer:`.",
            _react,
            result_label="Observation ({name}):",
            stop=("\nObservation",),
        ),
        Teaching(
            "tool-code",
            "To call a function, return one Python call of it in a ```tool_code code block, its arguments by name.",
            _pythonic,
            stop=("[Tool Result", "```tool_output"),
        ),
    )
}
DEFAULT_TEACHING = TEACHINGS["fenced-json"]
