"""Run a recorded run again: its texts or a live model, its tools as they answered then; say what differs (N13)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import aclosing
from typing import Any

from naru.agent.hooks import Hooks
from naru.agent.limits import canonical
from naru.agent.loop import run as run_agent
from naru.errors import ModelError, UnknownToolError
from naru.messages import ChatRequest, JsonObject, Message, TextPart, ToolCall, ToolDefinition, ToolResult
from naru.models.backend import Backend
from naru.models.known.families import profile_for
from naru.models.scripted import ScriptedBackend
from naru.tools.toolset import CallContext


class _Kept:
    """A journal for one run."""

    def __init__(self) -> None:
        self.run: JsonObject = {}

    async def save(self, run: JsonObject) -> None:
        """Keep it."""
        self.run = run


async def replay(run: JsonObject, *, backend: Backend | None = None, model: str = "") -> JsonObject:
    """Return the new run with what differs from the old: `{same, differences, run}`.

    Args:
        run: as it was kept.
        backend: a live model; None replays what the model wrote then, through today's parser and loop.
        model: the name to ask the live model for.
    """
    name = model or run["model"]
    asked = backend or ScriptedBackend(_texts(run), profile=profile_for(name), model=name)
    request = ChatRequest(name, tuple(_message(turn) for turn in run["messages"]))
    kept = _Kept()
    try:
        async with aclosing(run_agent(asked, RecordedTools(run), request, hooks=Hooks(journal=kept))) as events:
            async for _ in events:
                pass
    except ModelError as error:
        # The replay asked more often than the run did, or the live model failed: the record says so.
        kept.run.setdefault("note", str(error))
    differences = _differences(run, kept.run)
    return {"same": not differences, "differences": differences, "run": kept.run}


def _differences(old: JsonObject, new: JsonObject) -> list[JsonObject]:
    found: list[JsonObject] = [
        {"what": what, "before": old.get(what), "after": new.get(what)}
        for what in ("reason", "answer")
        if old.get(what) != new.get(what)
    ]
    if _calls(old) != _calls(new):
        found.append({"what": "calls", "before": _calls(old), "after": _calls(new)})
    return found


def _message(data: JsonObject) -> Message:
    """Read a turn back."""
    calls = tuple(ToolCall(call["id"], call["name"], call["arguments"]) for call in data.get("calls", ()))
    return Message(
        data["role"], data["content"], tool_calls=calls, tool_call_id=data.get("call_id", ""), name=data.get("name", "")
    )


def _texts(run: JsonObject) -> list[str]:
    """Return what the model wrote in each round, for a scripted backend; calls given natively are written as text."""
    return [_as_text(one) for one in run["rounds"] if one["round"]]  # Runs of older versions have a round 0.


def _as_text(one: JsonObject) -> str:
    raw = str(one.get("raw", ""))
    written = one.get("written", [])
    if not written or any(call["name"].rsplit("__", 1)[-1] in raw for call in written):
        return raw
    calls = (json.dumps({"name": call["name"], "arguments": call["arguments"]}, ensure_ascii=False) for call in written)
    return raw + "".join(f"<tool_call>\n{call}\n</tool_call>" for call in calls)


class RecordedTools:
    """The tools of a recorded run, which answer as they did then; a call that was not made then is an error."""

    def __init__(self, run: JsonObject) -> None:
        self._tools = tuple(
            ToolDefinition(tool["name"], tool["description"], tool["schema"], server=tool["name"].partition("__")[0])
            for tool in run["tools"]
        )
        self._results = {
            canonical(ToolCall("", call["name"], call["arguments"])): ToolResult(
                (TextPart(call["text"]),), is_error=call["is_error"]
            )
            for one in run["rounds"]
            for call in one["calls"]
            if call["ran"]
        }

    async def open(self) -> None:
        """Do nothing."""

    async def tools(self) -> Sequence[ToolDefinition]:
        """Return the tools of that time."""
        return self._tools

    async def call(self, name: str, arguments: JsonObject, context: CallContext) -> ToolResult:
        """Return the result of that time. Raises UnknownToolError for a call that was not made."""
        result = self._results.get(canonical(ToolCall("", name, arguments)))
        if result is None:
            raise UnknownToolError(f"{name} was not called with these arguments in the recorded run.")
        return result

    async def close(self) -> None:
        """Do nothing."""


def _calls(run: JsonObject) -> list[tuple[str, Any]]:
    """Return the calls that ran, in order, for comparing runs."""
    return [(call["name"], call["arguments"]) for one in run["rounds"] for call in one["calls"] if call["ran"]]
