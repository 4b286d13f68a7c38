"""Void as its documentation describes it: what it sends, and what it accepts of an answer.

A re-implementation of the rules, not of the code: the model's name decides the dialect; natively only index 0 counts
and ids, names and arguments are joined over chunks; as XML the first tool's tag starts the one call, at the end.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

NATIVE_NAMES = re.compile(r"4o|gpt.*4\.1|o3|o4.*mini")
TOOLS = {
    "read_file": {"uri": "The FULL path to the file.", "start_line": "Optional. First line."},
    "get_weather": {"city": "City name."},
}


class EmptyReplyError(Exception):
    """Void shows an error for a reply with neither text nor call."""


@dataclass
class Void:
    """One chat in Void with one model."""

    model: str
    messages: list[dict[str, Any]] = field(default_factory=list)
    text: str = ""
    call: dict[str, Any] | None = None
    executed: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    @property
    def is_native(self) -> bool:
        return bool(NATIVE_NAMES.search(self.model))

    def request(self) -> dict[str, Any]:
        """Always streaming; `tools` only for names that it takes for OpenAI's."""
        system = "You are an expert coding agent."
        body: dict[str, Any] = {"model": self.model, "stream": True}
        if self.is_native:
            body["tools"] = [_native_tool(name) for name in TOOLS]
        else:
            system += "\n\n" + _xml_prompt()
        return body | {"messages": [{"role": "system", "content": system}, *self.messages]}

    def say(self, text: str) -> None:
        self.messages.append({"role": "user", "content": text})

    def read(self, chunks: list[dict[str, Any]]) -> None:
        """Take a whole stream."""
        text = name = arguments = call_id = ""
        for chunk in chunks:
            if not chunk.get("choices"):
                continue
            delta = chunk["choices"][0]["delta"]
            text += delta.get("content") or ""
            for call in delta.get("tool_calls") or ():
                if call["index"] != 0:
                    continue
                name += call["function"].get("name") or ""
                arguments += call["function"].get("arguments") or ""
                call_id += call.get("id") or ""
        if not text and not name:
            raise EmptyReplyError
        self.call = self._native_call(name, arguments, call_id) if self.is_native else None
        if not self.is_native:
            text, self.call = self._xml_call(text)
        self.text = text

    @staticmethod
    def _native_call(name: str, arguments: str, call_id: str) -> dict[str, Any] | None:
        try:
            parsed = json.loads(arguments)
        except ValueError:
            return None
        if name not in TOOLS or not isinstance(parsed, dict):
            return None
        return {"id": call_id, "name": name, "arguments": parsed}

    @staticmethod
    def _xml_call(text: str) -> tuple[str, dict[str, Any] | None]:
        starts = [(text.find(f"<{name}>"), name) for name in TOOLS if f"<{name}>" in text]
        if not starts:
            return text, None
        at, name = min(starts)
        body = text[at + len(name) + 2 :]
        found: dict[str, str] = {}
        while len(found) < 10 and (match := re.search(r"<([A-Za-z0-9_]+)>", body)):
            if match[1] not in TOOLS[name]:
                break
            value, closed, body = body[match.end() :].partition(f"</{match[1]}>")
            if not closed:
                break
            found[match[1]] = value.strip("\n")
        return text[:at], {"id": "", "name": name, "arguments": found}

    def run(self, result: str) -> None:
        """Run the call and put both into the history as Void does."""
        assert self.call is not None
        self.executed.append((self.call["name"], self.call["arguments"]))
        if self.is_native:
            function = {"name": self.call["name"], "arguments": json.dumps(self.call["arguments"])}
            wire = {"id": self.call["id"], "type": "function", "function": function}
            self.messages.append({"role": "assistant", "content": self.text, "tool_calls": [wire]})
            self.messages.append({"role": "tool", "tool_call_id": self.call["id"], "content": result})
            return
        lines = [f"<{key}>{value}</{key}>" for key, value in self.call["arguments"].items()]
        written = "\n".join([f"    <{self.call['name']}>", *lines, f"    </{self.call['name']}>"])
        self.messages.append({"role": "assistant", "content": f"{self.text}\n\n{written}"})
        name = self.call["name"]
        self.messages.append({"role": "user", "content": f"<{name}_result>\n{result}\n</{name}_result>"})


def _native_tool(name: str) -> dict[str, Any]:
    properties = {key: {"type": "string", "description": text} for key, text in TOOLS[name].items()}
    return {
        "type": "function",
        "function": {"name": name, "description": name, "parameters": {"type": "object", "properties": properties}},
    }


def _xml_prompt() -> str:
    tools = []
    for number, (name, parameters) in enumerate(TOOLS.items(), 1):
        lines = "\n".join(f"<{key}>{text}</{key}>" for key, text in parameters.items())
        tools.append(
            f"    {number}. {name}\n    Description: Does {name}.\n    Format:\n    <{name}>\n{lines}\n    </{name}>"
        )
    listed = "\n\n".join(tools)
    return f"""    Available tools:

{listed}

    Tool calling details:
    - To call a tool, write its name and parameters in one of the XML formats specified above.
    - You are only allowed to output ONE tool call, and it must be at the END of your response.
    - Your tool call will be executed immediately, and the results will appear in the following user message.

    Today is Saturday."""
