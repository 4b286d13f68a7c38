"""What is kept of a run: its steps as plain data (N13), which `naru.replaying` runs again; and a span over them."""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Protocol

from naru.agent.events import AgentEvent, CallFinished, ClientCalls, ModelAnswered, Prompted, RoundStarted, RunFinished
from naru.errors import NaruError
from naru.messages import ChatRequest, JsonObject, Message, ToolCall, ToolDefinition
from naru.records import now_ms
from naru.telemetry.tracing import Tracing

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
    except Exception as error:
        run |= {"reason": "failed", "note": str(error) or type(error).__name__}
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
        "started_at": now_ms(),
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
            rounds[-1]["written"] = list(map(_call_data, calls))
        case CallFinished(call=call, result=result, seconds=seconds, ran=ran, writer=writer, mended=mended):
            told = {"ran": ran, "writer": writer, "mended": mended, "is_error": result.is_error, "text": result.text}
            rounds[-1]["calls"].append(_call_data(call) | told | {"seconds": round(seconds, 3)})
        case ClientCalls(calls=calls):
            run["handed"] = [{"name": call.name, "arguments": call.arguments} for call in calls]
        case RunFinished(reason=reason, answer=answer, usage=usage, note=note):
            run |= {"reason": reason, "answer": answer, "note": note}
            run["usage"] = {"prompt_tokens": usage.prompt_tokens, "completion_tokens": usage.completion_tokens}


def message_data(turn: Message) -> JsonObject:
    """Return a turn as plain data."""
    data: JsonObject = {"role": turn.role, "content": turn.text}
    if turn.tool_calls:
        data["calls"] = list(map(_call_data, turn.tool_calls))
    return data | ({"call_id": turn.tool_call_id, "name": turn.name} if turn.role == "tool" else {})


def _call_data(call: ToolCall) -> JsonObject:
    return {"id": call.id, "name": call.name, "arguments": call.arguments}


async def traced(
    events: AsyncGenerator[AgentEvent, None], tracing: Tracing, model: str
) -> AsyncGenerator[AgentEvent, None]:
    """Pass a run's events on inside of a span.

    The span is current while the run works, not while whoever reads the events does: a generator shares its reader's
    context.
    """
    attributes = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": "naru",
        "gen_ai.agent.name": "naru",
        "gen_ai.request.model": model or None,
    }
    span = tracing.begin("invoke_agent naru", "internal", attributes)
    try:
        async with aclosing(events) as passing:
            while True:
                with span.current():
                    event = await anext(passing, None)
                if event is None:
                    break
                if isinstance(event, RunFinished):
                    read, written = event.usage.prompt_tokens, event.usage.completion_tokens
                    span.set({"gen_ai.response.finish_reasons": [event.reason], "naru.agent.rounds": event.rounds})
                    span.set({"gen_ai.usage.input_tokens": read, "gen_ai.usage.output_tokens": written})
                yield event
    except NaruError as error:
        span.fail(error.code, error.message)
        raise
    except Exception as error:
        span.fail(type(error).__name__)
        raise
    finally:
        span.end()
