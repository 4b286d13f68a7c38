"""How a client hears a run while it works: its calls, their results, its servers' notes, in a form that it can show."""

from __future__ import annotations

from collections.abc import Iterator

from naru.agent.events import CallFinished, CallStarted
from naru.messages import Reasoning, Text
from naru.models.transport.json_text import encode
from naru.stores.secrets.redact import REDACTOR
from naru.web.face.seam import FaceEvent, Step, ToolNote

_SHOWN_CHARACTERS = 400

StepEvent = CallStarted | CallFinished | ToolNote


def told(event: StepEvent, form: str) -> Iterator[FaceEvent]:
    """Give what a client is told of a step in its form: thoughts, text, a field of its own, or nothing."""
    match form:
        case "reasoning":
            yield Reasoning(f"\n{_line(event)}\n")
        case "text":
            yield Text(f"\n> {_line(event)}\n\n")
        case "field":
            yield Step(_fields(event))


def _line(event: StepEvent) -> str:
    match event:
        case CallStarted(call=call):
            return f"→ {call.name} {_short(encode(call.arguments).decode())}"
        case CallFinished(call=call, result=result):
            return f"{'✗' if result.is_error else '←'} {call.name}: {_short(result.text)}"
        case ToolNote(message=message):
            return f"… {_short(message)}"


def _fields(event: StepEvent) -> dict[str, object]:
    match event:
        case CallStarted(call=call):
            return {"step": "call", "name": call.name, "arguments": _short(encode(call.arguments).decode())}
        case CallFinished(call=call, result=result, seconds=seconds, ran=ran):
            end = {"is_error": result.is_error, "ran": ran, "seconds": round(seconds, 3)}
            return {"step": "result", "name": call.name, "text": _short(result.text), **end}
        case ToolNote(message=message, progress=progress, total=total):
            return {"step": "progress", "text": _short(message), "progress": progress, "total": total}


def _short(text: str) -> str:
    """Return the beginning of a text, on one line and without secrets."""
    line = " ".join(REDACTOR.clean(text[: 4 * _SHOWN_CHARACTERS]).split())
    return line if len(line) <= _SHOWN_CHARACTERS else f"{line[:_SHOWN_CHARACTERS]}…"
