"""Tools that a client describes in its prompt instead of offering them: Void's and Cline's XML, ReAct's list."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from naru.dialects.writers.values import NAME

_HEADING = re.compile(rf"^[ \t]*(?:\d+\.|#{{2,4}})[ \t]+({NAME.pattern})[ \t]*$", re.MULTILINE)
_PARAMETER = re.compile(rf"<({NAME.pattern})>([^<]*)")
_LISTED = re.compile(rf"^[ \t]*-[ \t]+({NAME.pattern}):[ \t]*(\(required\)|\(optional\))?[ \t]*(.*)$", re.MULTILINE)
_RULES = re.compile(r"Tool calling details:[ \t]*\n(?:[ \t]*- [^\n]*(?:\n|\Z))+")
_MAX_PARAMETERS = 100
_REACT_NAMES = re.compile(r"Action:[^\n]*\bone of \[([^\]\n]*)\]")


@dataclass(frozen=True, slots=True)
class PromptTool:
    """A tool as a prompt describes it: every parameter is text."""

    name: str
    description: str
    parameters: dict[str, Any]


def xml_tools(prompt: str) -> tuple[PromptTool, ...]:
    """Read the tools that a prompt describes by a heading and an example element of the tool's name."""
    headings = list(_HEADING.finditer(prompt))
    ends = [*(heading.start() for heading in headings), len(prompt)][1:]
    found: dict[str, PromptTool] = {}
    for heading, end in zip(headings, ends, strict=True):
        tool = _xml_tool(heading[1], prompt[heading.end() : end])
        if tool is not None:
            found.setdefault(tool.name, tool)
    return tuple(found.values())


def without_void_section(prompt: str) -> str:
    """Return Void's prompt without its list of tools and the rules for writing calls."""
    start = prompt.find("Available tools:")
    rules = prompt.find("Tool calling details:", start) if start >= 0 else -1
    end = _RULES.match(prompt, rules) if rules >= 0 else None
    return prompt[:start].rstrip() + "\n\n" + prompt[end.end() :].lstrip() if end else prompt


def react_tools(prompt: str) -> tuple[PromptTool, ...]:
    """Read the tool names of a ReAct prompt: `Action: … one of [a, b]`; a line `a: …` describes one."""
    match = _REACT_NAMES.search(prompt)
    names = [name.strip(" '\"`") for name in match[1].split(",")] if match else []
    return tuple(
        PromptTool(name, _line_about(name, prompt), {"type": "object", "properties": {}}) for name in names if name
    )


def _line_about(name: str, prompt: str) -> str:
    line = re.search(rf"^[ \t>*-]*{re.escape(name)}(?:\([^\n]*?\))?[ \t]*(?::|-)[ \t]*([^\n]+)$", prompt, re.MULTILINE)
    return line[1].strip() if line else ""


def _xml_tool(name: str, section: str) -> PromptTool | None:
    start, end = section.find(f"<{name}>"), section.rfind(f"</{name}>")
    if start < 0 or end < start:
        return None
    example, prose = section[start + len(name) + 2 : end], section[:start]
    described = {match[1]: (match[2], match[3].strip()) for match in _LISTED.finditer(prose)}
    properties: dict[str, Any] = {}
    required: list[str] = []
    for match in _PARAMETER.finditer(example):
        key = match[1]
        if key in properties or len(properties) >= _MAX_PARAMETERS or f"</{key}>" not in example:
            continue
        mark, text = described.get(key, ("", match[2].strip()))
        properties[key] = {"type": "string", "description": text}
        if mark == "(required)" or (not mark and not text.lower().startswith("optional")):
            required.append(key)
    schema = {"type": "object", "properties": properties, "required": required}
    return PromptTool(name, _description(prose), schema)


def _description(prose: str) -> str:
    text = prose.partition("Description:")[2]
    for stop in ("\nParameters:", "\nFormat:", "\nUsage:"):
        text = re.split(rf"{stop[0]}[ \t]*{re.escape(stop[1:])}", text, maxsplit=1)[0]
    return " ".join(text.split())
