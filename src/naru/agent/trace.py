"""A run as plain data: every step with its time, kept by a journal, replayed without a model or a tool (N13)."""

from __future__ import annotations

import json
import logging
import secrets
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any, Protocol

from naru.agent.events import (
    AgentEvent,
    CallFinished,
    ClientCalls,
    ModelAnswered,
    Prompted,
    RoundStarted,
    RunFinished,
)
from naru.agent.limits import canonical
from naru.errors import NaruError, UnknownToolError
from naru.messages import ChatRequest, JsonObject, Message, TextPart, ToolCall, ToolDefinition, ToolResult
from naru.tools.toolset import CallContext

logger = logging.getLogger(__name__)


class Journal(Protocol):
    """Keeps finished runs."""

    async def save(self, run: JsonObject) -> None:
        """Keep one run. Raises StoreError."""
        ...


async def recorded(
    events: AsyncGenerator[AgentEvent, None],
    request: ChatRequest,
    tools: Sequence[ToolDefinition],
    journal: Journal,
    caller: str = "",
) -> AsyncGenerator[AgentEvent, None]:
    """Pass a run's events on, and keep it when it is over; a journal that fails costs a log line, not the answer."""
    started = time.monotonic()
    run = _head(request, tools, caller)
    try:
        async with aclosing(events) as passing:
            async for event in passing:
                _note(run, event, time.monotonic() - started)
                yield event
    except NaruError as error:
        run |= {"reason": "failed", "note": str(error)}
        raise
    finally:
        run["seconds"] = round(time.monotonic() - started, 3)
        try:
            await journal.save(run)
        except NaruError as error:
            logger.warning("run %s is not kept: %s", run["id"], error)


def _head(request: ChatRequest, tools: Sequence[ToolDefinition], caller: str) -> JsonObject:
    question = next((turn.text for turn in reversed(request.messages) if turn.role == "user"), "")
    return {
        "id": f"run_{secrets.token_urlsafe(12)}",
        "started_at": int(time.time() * 1000),
        "model": request.model,
        "question": question[:2000],
        "caller": caller,
        "reason": "cancelled",
        "answer": "",
        "messages": [message_data(turn) for turn in request.messages],
        "tools": [{"name": tool.name, "description": tool.description, "schema": tool.input_schema} for tool in tools],
        "rounds": [],
    }


def _note(run: JsonObject, event: AgentEvent, at: float) -> None:
    """Write an event into the run."""
    rounds: list[JsonObject] = run["rounds"]
    match event:
        case RoundStarted(round=number, final=final, offered=offered):
            rounds.append({"round": number, "final": final, "offered": list(offered), "at": round(at, 3), "calls": []})
        case Prompted(messages=messages):
            rounds[-1]["prompt"] = [message_data(turn) for turn in messages]
        case ModelAnswered(raw=raw, calls=calls, seconds=seconds, first_seconds=first):
            rounds[-1] |= {"raw": raw, "seconds": round(seconds, 3), "first_seconds": round(first, 3)}
            rounds[-1]["written"] = [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in calls]
        case CallFinished(call=call, result=result, seconds=seconds, ran=ran, writer=writer, mended=mended):
            rounds[-1]["calls"].append(
                {
                    "id": call.id,
                    "name": call.name,
                    "arguments": call.arguments,
                    "ran": ran,
                    "writer": writer,
                    "mended": mended,
                    "is_error": result.is_error,
                    "text": result.text,
                    "seconds": round(seconds, 3),
                }
            )
        case ClientCalls(calls=calls):
            run["handed"] = [{"name": call.name, "arguments": call.arguments} for call in calls]
        case RunFinished(reason=reason, answer=answer, usage=usage, note=note):
            run |= {"reason": reason, "answer": answer, "note": note}
            run["usage"] = {"prompt_tokens": usage.prompt_tokens, "completion_tokens": usage.completion_tokens}


def message_data(turn: Message) -> JsonObject:
    """Return a turn as plain data."""
    data: JsonObject = {"role": turn.role, "content": turn.text}
    if turn.tool_calls:
        data["calls"] = [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in turn.tool_calls]
    return data | ({"call_id": turn.tool_call_id, "name": turn.name} if turn.role == "tool" else {})


def message_from(data: JsonObject) -> Message:
    """Read a turn back."""
    calls = tuple(ToolCall(call["id"], call["name"], call["arguments"]) for call in data.get("calls", ()))
    return Message(
        data["role"], data["content"], tool_calls=calls, tool_call_id=data.get("call_id", ""), name=data.get("name", "")
    )


def recorded_texts(run: JsonObject) -> list[str]:
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


def calls_of(run: JsonObject) -> list[tuple[str, Any]]:
    """Return the calls that ran, in order, for comparing runs."""
    return [(call["name"], call["arguments"]) for one in run["rounds"] for call in one["calls"] if call["ran"]]
