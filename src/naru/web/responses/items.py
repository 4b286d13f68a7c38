"""Input items of a Responses request as turns: messages, thoughts, calls of every kind and their outputs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from naru.messages import JsonObject, Message, ToolCall
from naru.models.transport.json_text import encode
from naru.tools.names import exposed_name
from naru.web.face.errors import BadRequestError
from naru.web.face.reading.body import Kinds, check_kinds
from naru.web.face.reading.history import read_arguments, read_messages
from naru.web.face.reading.parts import text_of
from naru.web.responses.seals import opened, opened_summary

LOCAL_SHELL = "local_shell"
_OUTPUTS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output")
_UNSEEN = ("mcp_list_tools", "compaction_trigger", "additional_tools", "configuration_update")
"""Items that tell a model nothing."""
_KINDS: Kinds = {"id": (str,), "type": (str,), "content": (str, list, dict), "summary": (list,)}
_TURN = re.compile(r"\bmessages\[(\d+)\]")
_BEFORE = "[Summary of the conversation so far:]"
_DENIED = "(A person said no to this call; it was not made.)"


@dataclass(slots=True)
class Conversation:
    """The items of a conversation, read."""

    messages: tuple[Message, ...]
    approved: list[tuple[str, ToolCall]] = field(default_factory=list)
    """Calls that the client's person has approved and that have not run: the request's id, the call."""


def as_items(value: Any, name: str = "input") -> list[JsonObject]:
    """Return a field of items as a list of them.

    Raises:
        BadRequestError: it is neither text nor a list of objects, or one of them says something in no form.
    """
    if isinstance(value, str):
        content = [{"type": "input_text", "text": value}]
        return [{"type": "message", "role": "user", "content": content}]
    if not isinstance(value, list):
        raise BadRequestError(f"{name} must be text or a list of items.", param=name)
    for position, item in enumerate(value):
        if not isinstance(item, dict):
            raise BadRequestError(f"{name}[{position}] must be an object.", param=f"{name}[{position}]")
        check_kinds(item, _KINDS, f"{name}[{position}].")
    return value


def namespaced(namespace: Any, name: Any) -> str:
    """Return one name for a tool of a namespace, which other APIs do not have."""
    if not namespace:
        return text_of(name)
    return f"{namespace}{name}" if str(namespace).endswith("__") else f"{namespace}__{name}"


def read_items(items: Sequence[JsonObject], instructions: str, *, kept: int = 0) -> Conversation:
    """Read the items into turns; the first `kept` of them are not the request's own.

    Raises:
        BadRequestError: one cannot be taken; the message names its place.
    """
    reader = _Reader()
    if instructions:
        reader.turns.append({"role": "system", "content": instructions})
        reader.places.append("instructions")
    for position, item in enumerate(items):
        reader.take(item, f"input[{position - kept}]" if position >= kept else "the conversation before")
    reader.flush()
    answered = {text_of(item.get("approval_request_id")) for item in items if item.get("type") == "mcp_call"}
    approved = [(key, call) for key, call in reader.approved if key not in answered]
    if not reader.turns:
        raise BadRequestError("input must hold at least one item that says something.", param="input")
    try:
        return Conversation(read_messages(reader.turns), approved)
    except BadRequestError as error:
        raise _placed(error, reader.places) from None


def _placed(error: BadRequestError, places: Sequence[str]) -> BadRequestError:
    """Return an error of a turn as one of the item that the client has sent."""

    def placed(text: str) -> str:
        return _TURN.sub(lambda found: places[int(found[1])] if int(found[1]) < len(places) else found[0], text)

    return BadRequestError(placed(error.message), param=placed(error.param) if error.param else None)


class _Reader:
    """Puts what the model said together into one turn: thoughts, words and calls are items of their own here."""

    def __init__(self) -> None:
        self.turns: list[JsonObject] = []
        self.places: list[str] = []
        """Where in the request each of the turns begins."""
        self._where = self._said_where = ""
        self.approved: list[tuple[str, ToolCall]] = []
        self._said: JsonObject = {}
        self._asked: dict[str, JsonObject] = {}
        """Approval requests by their id."""

    def take(self, item: JsonObject, where: str) -> None:
        self._where = where
        if not self._said:
            self._said_where = where
        kind = item.get("type") or "message"
        if kind == "message":
            self._message(item)
        elif kind == "reasoning":
            self._reasoning(item)
        elif kind in ("function_call", "custom_tool_call", "local_shell_call"):
            self._call(item.get("call_id") or item.get("id"), *_called(item))
        elif kind in _OUTPUTS:
            self._result(item.get("call_id") or item.get("id"), item.get("output"))
        elif kind == "mcp_call":
            name = exposed_name(text_of(item.get("server_label")), text_of(item.get("name")))
            self._call(item.get("id"), name, item.get("arguments"))
            error = item.get("error")
            said = error.get("message") or encode(error).decode() if isinstance(error, dict) else error
            self._result(item.get("id"), item.get("output") or said or "")
        elif kind == "mcp_approval_request":
            self._asked[text_of(item.get("id"))] = item
        elif kind == "mcp_approval_response":
            self._answered(item, where)
        elif kind == "compaction" and (summary := opened_summary(text_of(item.get("encrypted_content")))):
            self.flush()
            self._add({"role": "user", "content": f"{_BEFORE}\n{summary}"})
        elif kind not in _UNSEEN:
            raise BadRequestError(
                f"{where} is of the type {kind!r}, which no model here can be shown; leave it out.", param=where
            )

    def flush(self) -> None:
        """End the model's turn."""
        if self._said:
            self.turns.append({"role": "assistant", "content": "", **self._said})
            self.places.append(self._said_where)
            self._said = {}
        self._said_where = self._where

    def _message(self, item: JsonObject) -> None:
        role = item.get("role")
        # Calls wait for their results: what the model says beside them is of the same turn.
        if role == "assistant" and ("content" not in self._said or "tool_calls" in self._said):
            self._said["content"] = [*_parts(self._said.get("content")), *_parts(item.get("content"))]
            return
        self.flush()
        self._add({"role": role, "content": item.get("content")})

    def _reasoning(self, item: JsonObject) -> None:
        if "content" in self._said and "tool_calls" not in self._said:
            self.flush()
        told = item.get("content") or item.get("summary") or ()
        text = "\n".join(text_of(one.get("text")) for one in told if isinstance(one, dict))
        if text:  # What was thought and not told is no turn.
            before = self._said.get("reasoning_content")
            self._said["reasoning_content"] = f"{before}\n{text}" if before else text
        if content := text_of(item.get("encrypted_content")):
            sealed = opened(content, item.get("id"))
            self._said.setdefault("reasoning_details", []).append(sealed)

    def _call(self, call_id: Any, name: str, arguments: Any) -> None:
        call = {"id": text_of(call_id), "type": "function", "function": {"name": name, "arguments": arguments}}
        self._said.setdefault("tool_calls", []).append(call)

    def _result(self, call_id: Any, output: Any) -> None:
        self.flush()
        self._add({"role": "tool", "tool_call_id": text_of(call_id), "content": output})

    def _add(self, turn: JsonObject) -> None:
        self.turns.append(turn)
        self.places.append(self._where)

    def _answered(self, item: JsonObject, where: str) -> None:
        request_id = text_of(item.get("approval_request_id"))
        asked = self._asked.get(request_id)
        if asked is None:
            raise BadRequestError(f"{where} answers {request_id!r}, which nobody asked.", param=where)
        name = exposed_name(text_of(asked.get("server_label")), text_of(asked.get("name")))
        if item.get("approve") is True:
            self.approved.append((request_id, ToolCall(request_id, name, read_arguments(asked.get("arguments")))))
            return
        self._call(request_id, name, asked.get("arguments"))
        reason = text_of(item.get("reason"))
        self._result(request_id, f"{_DENIED} {reason}".rstrip())


def _parts(content: Any) -> list[Any]:
    return content if isinstance(content, list) else [] if content is None else [content]


def _called(item: Mapping[str, Any]) -> tuple[str, Any]:
    match item.get("type"):
        case "custom_tool_call":
            return namespaced(item.get("namespace"), item.get("name")), {"input": item.get("input")}
        case "local_shell_call":
            action = item.get("action")
            own = {key: value for key, value in action.items() if key != "type"} if isinstance(action, dict) else {}
            return LOCAL_SHELL, own
    return namespaced(item.get("namespace"), item.get("name")), item.get("arguments")
