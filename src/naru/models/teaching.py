"""How a prompt teaches tools to a model that has no native calls: rows, each in a dialect the parser reads back.

No placeholder stands in a prompt that could be taken for a value: small models copy it (UPLIFT). The tools are shown as
lines for reading, not as JSON Schema, whose keywords end up in arguments.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from naru.messages import ToolDefinition

_RESULT_HEAD = "[Tool Result: {name}]"
_DEPTH = 3


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

    def result_head(self, name: str) -> str:
        """Return the line above a result in the user turn that carries it (R5)."""
        return self.result_label.format(name=name)

    def instructions(self, tools: Sequence[ToolDefinition], *, must_call: bool = False) -> str:
        """Return the system text that offers the tools."""
        ending = (
            "Call one of the tools now."
            if must_call
            else "When no tool is needed, or the results already hold what was asked for, answer in plain text."
        )
        listed = "\n".join(describe(tool) for tool in tools)
        return f"You can use these tools:\n\n{listed}\n\n{self.how} {ending}"


def describe(tool: ToolDefinition) -> str:
    """Return a tool as a few lines for reading: name, purpose, arguments with their types."""
    lines = [f"- {tool.name}: {' '.join(tool.description.split())}" if tool.description else f"- {tool.name}"]
    properties = tool.input_schema.get("properties") or {}
    required = set(tool.input_schema.get("required") or ())
    for name, schema in properties.items():
        lines.append(f"    {_argument(name, schema, required=name in required)}")
    if not properties:
        lines.append("    takes no arguments")
    return "\n".join(lines)


def _argument(name: str, schema: Any, *, required: bool) -> str:
    said = schema.get("description", "") if isinstance(schema, dict) else ""
    need = "" if required else ", optional"
    return f"{name} ({type_words(schema)}{need}){': ' + ' '.join(said.split()) if said else ''}"


def type_words(schema: Any, depth: int = 0) -> str:
    """Say a schema's type in words: `string`, `one of "a", "b"`, `list of integer`."""
    if not isinstance(schema, dict) or depth > _DEPTH:
        return "any"
    if "const" in schema:
        return f"always {json.dumps(schema['const'], ensure_ascii=False)}"
    if values := schema.get("enum"):
        return "one of " + ", ".join(json.dumps(value, ensure_ascii=False) for value in values)
    options = schema.get("anyOf") or schema.get("oneOf")
    if options:
        words = [type_words(option, depth + 1) for option in options]
        return " or ".join(dict.fromkeys(word for word in words if word != "null"))
    kind = schema.get("type")
    if isinstance(kind, list):
        return " or ".join(str(one) for one in kind if one != "null")
    if kind == "array":
        return f"list of {type_words(schema.get('items'), depth + 1)}"
    if kind == "object" and (properties := schema.get("properties")):
        inner = ", ".join(f"{name}: {type_words(value, depth + 1)}" for name, value in properties.items())
        return f"object with {inner}"
    return str(kind or "any")


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _fenced(name: str, arguments: Mapping[str, Any]) -> str:
    return f"```json\n{_json({'tool': name, 'arguments': dict(arguments)})}\n```"


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
            "To use a tool, write nothing but a code block in ```json with one object that has two keys: `tool`, the "
            "tool's name as listed, and `arguments`, an object with the values taken from the conversation. "
            "Then wait: the result comes in the next message, under [Tool Result].",
            _fenced,
        ),
        Teaching(
            "hermes",
            "To use a tool, write nothing but one JSON object between <tool_call> and </tool_call>, with the keys "
            "`name`, the tool's name as listed, and `arguments`, an object with the values taken from the "
            "conversation. Then wait: the result comes in the next message, under [Tool Result].",
            _hermes,
            stop=("[Tool Result", "<tool_response>"),
        ),
        Teaching(
            "react",
            "Think step by step. To use a tool, write a line `Action:` with the tool's name as listed and a line "
            "`Action Input:` with a JSON object of its arguments, then stop. The result comes in the next message, "
            "after `Observation:`. When you know the answer, write it after `Final Answer:`.",
            _react,
            result_label="Observation ({name}):",
            stop=("\nObservation",),
        ),
        Teaching(
            "tool-code",
            "To use a tool, write nothing but a code block in ```tool_code with one Python call of the tool, its "
            "arguments by name with the values taken from the conversation. "
            "Then wait: the result comes in the next message, under [Tool Result].",
            _pythonic,
            stop=("[Tool Result", "```tool_output"),
        ),
    )
}
DEFAULT_TEACHING = TEACHINGS["fenced-json"]
