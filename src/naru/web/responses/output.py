"""The output items of a response, built from an answer's events; every step is an event of the stream as well."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from naru.agent.events import CallFinished, CallStarted
from naru.messages import (
    ArgumentsDelta,
    BrokenCall,
    CallEnd,
    CallStart,
    Extra,
    Finish,
    JsonObject,
    Reasoning,
    Refusal,
    Text,
    ToolDefinition,
    Usage,
)
from naru.models.transport.json_text import encode
from naru.web.face.reading.tools import free_input
from naru.web.face.seam import FaceEvent, HubNames, HubTools
from naru.web.responses.items import LOCAL_SHELL
from naru.web.responses.seals import sealed_in
from naru.web.responses.tools import shell_action

Step = tuple[str, JsonObject]
"""An event of the stream: its type, and its fields without the sequence number."""


def made_id(prefix: str) -> str:
    """Make an id."""
    return f"{prefix}_{secrets.token_hex(16)}"


def response_of(item_id: str) -> str:
    """Return the id of the response that an item is of, which its own id tells; `resp_` and no more for other ids."""
    return f"resp_{item_id.partition('_')[2].partition('_')[0]}"


@dataclass(frozen=True, slots=True)
class Shown:
    """How the client wants its calls and thoughts written."""

    custom: frozenset[str] = frozenset()
    namespaces: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    asks: Callable[[ToolDefinition], bool] = lambda tool: False
    """Tells whether the client's person approves a tool's calls first."""
    hub_calls: bool = False
    """The client named MCP servers among its tools: it reads items of what they were called with."""
    summaries: bool = False
    """It asked for a summary of the thoughts."""


@dataclass(slots=True)
class _Call:
    position: int
    item: JsonObject
    name: str
    pieces: list[str] = field(default_factory=list)


class Output:
    """Feed it events; it keeps the items and returns the steps."""

    def __init__(self, response_id: str, shown: Shown) -> None:
        self.items: list[JsonObject] = []
        self._key = response_id.removeprefix("resp_")
        self.usage = Usage()
        self.finish = "stop"
        self.text_position = -1
        """Of the message whose text is open."""
        self._shown = shown
        self._names = HubNames()
        self._asked_first: frozenset[str] = frozenset()
        self._pieces: list[str] = []
        """Of the text or the thoughts that are open."""
        self._refusal: list[str] = []
        self._log_probabilities: list[JsonObject] = []
        """Of the text that is open."""
        self._thinks = False
        self._calls: dict[int, _Call] = {}
        self._hub_calls: dict[str, int] = {}
        self._feeders: Mapping[type, Callable[[Any], list[Step]]] = {
            Text: self._text,
            Refusal: self._refuse,
            Reasoning: self._think,
            CallStart: self._call_start,
            ArgumentsDelta: self._arguments,
            CallEnd: self._call_end,
            BrokenCall: self._broken,
            Extra: self._beside,
            Usage: self._used,
            Finish: self._finished,
            HubTools: self._hub_tools,
            CallStarted: self._hub_call,
            CallFinished: self._hub_result,
        }

    def feed(self, event: FaceEvent) -> list[Step]:
        """Take one event."""
        feeder = self._feeders.get(type(event))
        return feeder(event) if feeder is not None else []

    def close(self) -> list[Step]:
        """End what is open; a call that never ended is incomplete."""
        steps = self._close() + self._refused()
        for call in list(self._calls.values()):
            call.item["status"] = "incomplete"
            if "arguments" in call.item:
                call.item["arguments"] = "".join(call.pieces)
            steps += self._done(call.position)
        self._calls.clear()
        return steps

    def more_text(self, text: str) -> None:
        """Take text of the open message without a step: the stream's writer has its own, shorter way."""
        self._pieces.append(text)

    @property
    def is_cut(self) -> bool:
        """Tell whether the answer is incomplete."""
        return self.finish in ("length", "content_filter")

    def _used(self, event: Usage) -> list[Step]:
        self.usage = event
        return []

    def _finished(self, event: Finish) -> list[Step]:
        self.finish = event.reason
        return []

    def _refuse(self, event: Refusal) -> list[Step]:
        """Keep a refusal for the end: it is an item of its own, and is read when it is whole."""
        self._refusal.append(event.text)
        return []

    def _refused(self) -> list[Step]:
        text, self._refusal = "".join(self._refusal), []
        if not text:
            return []
        item = {"id": self._item_id("msg"), "type": "message", "status": "in_progress", "role": "assistant"}
        steps = self._add({**item, "content": []})
        place, part = self._place(-1), {"type": "refusal", "refusal": text}
        self.items[-1] |= {"content": [part], "status": "completed"}
        return [
            *steps,
            ("response.content_part.added", {**place, "part": {"type": "refusal", "refusal": ""}}),
            ("response.refusal.delta", {**place, "delta": text}),
            ("response.refusal.done", {**place, "refusal": text}),
            ("response.content_part.done", {**place, "part": part}),
            *self._done(-1),
        ]

    def _text(self, event: Text) -> list[Step]:
        if not event.text:
            return []
        steps: list[Step] = []
        if self.text_position < 0:
            steps = self._close()
            part = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
            item = {
                "id": self._item_id("msg"),
                "type": "message",
                "status": "in_progress",
                "role": "assistant",
                "content": [],
            }
            steps += self._add(item)
            self.text_position = len(self.items) - 1
            steps.append(("response.content_part.added", {**self._place(self.text_position), "part": part}))
        self._pieces.append(event.text)
        steps.append(
            ("response.output_text.delta", {**self._place(self.text_position), "delta": event.text, "logprobs": []})
        )
        return steps

    def _think(self, event: Reasoning) -> list[Step]:
        if not event.text:
            return []
        steps: list[Step] = []
        kind, counter = ("summary", "summary_index") if self._shown.summaries else ("content", "content_index")
        if not self._thinks:
            steps = self._close()
            steps += self._add({"id": self._item_id("rs"), "type": "reasoning", "status": "in_progress", "summary": []})
            self._thinks = True
            added = "reasoning_summary_part" if kind == "summary" else "content_part"
            part = {"type": "summary_text" if kind == "summary" else "reasoning_text", "text": ""}
            steps.append((f"response.{added}.added", {**self._place(-1, counter), "part": part}))
        self._pieces.append(event.text)
        name = "reasoning_summary_text" if kind == "summary" else "reasoning_text"
        steps.append((f"response.{name}.delta", {**self._place(-1, counter), "delta": event.text}))
        return steps

    def _beside(self, event: Extra) -> list[Step]:
        """Keep log probabilities, and encrypted thoughts: a client sends those back as they are."""
        told = event.fields.get("logprobs") if event.place == "choice" else None
        if isinstance(told, dict) and isinstance(told.get("content"), list):
            self._log_probabilities += told["content"]
        steps: list[Step] = []
        for content in sealed_in(event):
            if not self._thinks:
                steps += self._close()
                item = {"id": self._item_id("rs"), "type": "reasoning", "status": "in_progress", "summary": []}
                steps += self._add(item)
                self._thinks = True
            self.items[-1]["encrypted_content"] = content
            steps += self._close()  # The seal is the last of a thought.
        return steps

    def _call_start(self, event: CallStart) -> list[Step]:
        steps = self._close()
        server, own = self._names.split(event.name)
        item: JsonObject
        call_id = made_id("call")
        if event.name in self._asked_first:
            item = {"id": self._item_id("mcpr"), "type": "mcp_approval_request", "server_label": server, "name": own}
            item["arguments"] = ""
        elif event.name == LOCAL_SHELL and LOCAL_SHELL in self._shown.custom:
            action = {"type": "exec", "command": [], "env": {}}
            item = {"id": self._item_id("lsh"), "type": "local_shell_call", "call_id": call_id, "action": action}
            item["status"] = "in_progress"
        else:
            namespace, name = self._shown.namespaces.get(event.name, ("", event.name))
            free = event.name in self._shown.custom
            item = {
                "id": self._item_id("ctc" if free else "fc"),
                "type": "custom_tool_call" if free else "function_call",
            }
            item |= {"call_id": call_id, "name": name, "input" if free else "arguments": ""}
            if not free:
                item["status"] = "in_progress"
            if namespace:
                item["namespace"] = namespace
        steps += self._add(item)
        self._calls[event.index] = _Call(len(self.items) - 1, item, event.name)
        return steps

    def _arguments(self, event: ArgumentsDelta) -> list[Step]:
        call = self._calls[event.index]
        call.pieces.append(event.json)
        if call.item["type"] != "function_call" or not event.json:
            return []
        return [("response.function_call_arguments.delta", {**self._where(call.position), "delta": event.json})]

    def _call_end(self, event: CallEnd) -> list[Step]:
        call = self._calls.pop(event.index)
        item, where = call.item, self._where(call.position)
        arguments = "".join(call.pieces) or encode(event.arguments).decode()
        steps: list[Step] = []
        match item["type"]:
            case "function_call":
                if not call.pieces:
                    steps.append(("response.function_call_arguments.delta", {**where, "delta": arguments}))
                item |= {"arguments": arguments, "status": "completed"}
                steps.append(("response.function_call_arguments.done", {**where, "arguments": arguments}))
            case "custom_tool_call":
                item["input"] = free_input(event.arguments)
                steps.append(("response.custom_tool_call_input.delta", {**where, "delta": item["input"]}))
                steps.append(("response.custom_tool_call_input.done", {**where, "input": item["input"]}))
            case "local_shell_call":
                item["action"] |= shell_action(event.arguments)
                item["status"] = "completed"
            case _:
                item["arguments"] = arguments
        return steps + self._done(call.position)

    def _broken(self, event: BrokenCall) -> list[Step]:
        call = self._calls.pop(event.index, None) if event.index is not None else None
        if call is None:
            return self._text(Text(event.as_text))
        if "status" in call.item:
            call.item["status"] = "incomplete"
        if "arguments" in call.item:
            call.item["arguments"] = event.raw
        return self._done(call.position)

    def _hub_tools(self, event: HubTools) -> list[Step]:
        self._names = HubNames(event.tools)
        self._asked_first = frozenset(tool.name for tool in event.tools if self._shown.asks(tool))
        if not self._shown.hub_calls:
            return []
        steps: list[Step] = []
        for server in dict.fromkeys(tool.server for tool in event.tools):
            item: JsonObject = {
                "id": self._item_id("mcpl"),
                "type": "mcp_list_tools",
                "server_label": server,
                "tools": [],
            }
            steps += self._add(item)
            where = self._where(len(self.items) - 1)
            item["tools"] = [
                {
                    "name": self._names.split(tool.name)[1],
                    "description": tool.description,
                    "input_schema": tool.input_schema,
                    "annotations": tool.annotations,
                }
                for tool in event.tools
                if tool.server == server
            ]
            steps += [("response.mcp_list_tools.in_progress", where), ("response.mcp_list_tools.completed", where)]
            steps += self._done(len(self.items) - 1)
        return steps

    def _hub_call(self, event: CallStarted) -> list[Step]:
        if not self._shown.hub_calls:
            return []
        steps = self._close()
        server, name = self._names.split(event.call.name)
        arguments = encode(event.call.arguments).decode()
        asked = event.call.id if event.call.id.startswith("mcpr_") else None
        item: JsonObject = {
            "id": self._item_id("mcp"),
            "type": "mcp_call",
            "server_label": server,
            "name": name,
            "arguments": "",
        }
        item |= {"status": "in_progress", "approval_request_id": asked, "output": None, "error": None}
        steps += self._add(item)
        position = self._hub_calls[event.call.id] = len(self.items) - 1
        where = self._where(position)
        item["arguments"] = arguments
        return [
            *steps,
            ("response.mcp_call.in_progress", where),
            ("response.mcp_call_arguments.delta", {**where, "delta": arguments}),
            ("response.mcp_call_arguments.done", {**where, "arguments": arguments}),
        ]

    def _hub_result(self, event: CallFinished) -> list[Step]:
        position = self._hub_calls.pop(event.call.id, None)
        if position is None:
            return []
        failed, text = event.result.is_error, event.result.text
        if failed:
            told = {"type": "mcp_tool_execution_error", "content": [{"type": "text", "text": text}]}
            self.items[position] |= {"error": told, "status": "failed"}
        else:
            self.items[position] |= {"output": text, "status": "completed"}
        kind = "response.mcp_call.failed" if failed else "response.mcp_call.completed"
        return [(kind, self._where(position)), *self._done(position)]

    def _close(self) -> list[Step]:
        """End the text or the thoughts that are open."""
        text, self._pieces = "".join(self._pieces), []
        if self.text_position >= 0:
            position, self.text_position = self.text_position, -1
            probabilities, self._log_probabilities = self._log_probabilities, []
            part = {"type": "output_text", "text": text, "annotations": [], "logprobs": probabilities}
            self.items[position] |= {"content": [part], "status": "incomplete" if self.is_cut else "completed"}
            place = self._place(position)
            return [
                ("response.output_text.done", {**place, "text": text, "logprobs": []}),
                ("response.content_part.done", {**place, "part": part}),
                *self._done(position),
            ]
        if not self._thinks:
            return []
        self._thinks = False
        item = self.items[-1]
        item["status"] = "completed"
        if not text:
            return self._done(-1)
        held, kind, added, counter = ("content", "reasoning_text", "content_part", "content_index")
        if self._shown.summaries:
            held, kind, added, counter = ("summary", "summary_text", "reasoning_summary_part", "summary_index")
        part = {"type": kind, "text": text}
        item[held], name = [part], kind if held == "content" else f"reasoning_{kind}"
        where = self._place(-1, counter)
        done = [(f"response.{name}.done", {**where, "text": text}), (f"response.{added}.done", {**where, "part": part})]
        return [*done, *self._done(-1)]

    def _item_id(self, prefix: str) -> str:
        """Make the id of the next item; `response_of` finds the response by it, for clients that send it alone."""
        return f"{prefix}_{self._key}_{len(self.items)}"

    def _add(self, item: JsonObject) -> list[Step]:
        self.items.append(item)
        return [("response.output_item.added", {"output_index": len(self.items) - 1, "item": dict(item)})]

    def _done(self, position: int) -> list[Step]:
        position %= len(self.items)
        return [("response.output_item.done", {"output_index": position, "item": self.items[position]})]

    def _where(self, position: int) -> JsonObject:
        position %= len(self.items)
        return {"item_id": self.items[position]["id"], "output_index": position}

    def _place(self, position: int, counter: str = "content_index") -> JsonObject:
        return {**self._where(position), counter: 0}
