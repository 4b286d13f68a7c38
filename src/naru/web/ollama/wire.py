"""Ollama's wire form, written by Naru alone: lines of JSON, the last with counts and durations; errors."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Any

from naru.agent.events import RunFinished
from naru.errors import NaruError
from naru.messages import (
    BrokenCall,
    CallEnd,
    CallStart,
    Extra,
    Finish,
    JsonObject,
    Notice,
    Reasoning,
    Refusal,
    Text,
    Usage,
)
from naru.models.transport.json_text import encode
from naru.stores.secrets.redact import REDACTOR
from naru.web.face.notes import Notes
from naru.web.face.seam import FaceEvent
from naru.web.openai.wire import call_id

_REASONS = frozenset({"length", "load", "unload"})
"""Of an end; all others are `stop`."""


def error_object(error: NaruError) -> JsonObject:
    """Return Ollama's error object."""
    # The message may quote a provider's own words (S-67).
    return {"error": REDACTOR.clean(str(error))}


def now() -> str:
    """Return the time as Ollama writes it."""
    return datetime.now(UTC).isoformat().replace("+00:00", "Z")


class Lines:
    """Renders one answer of /api/chat or /api/generate: streamed as lines, or whole."""

    def __init__(self, model: str, *, generates: bool, thinks: bool) -> None:
        self._generates = generates
        self._thinks = thinks
        self._model = model
        self._began = time.monotonic_ns()
        self._first: int | None = None
        self._notes = Notes()
        self._usage = Usage()
        self._finish = "stop"
        self._names: dict[int, str] = {}
        head = {"model": model, "created_at": now()}
        self._head = encode(head)[:-1] + (b"," if generates else b',"message":{"role":"assistant",')
        self._tail = b',"done":false}\n' if generates else b'},"done":false}\n'
        self._text_head = self._head + (b'"response":' if generates else b'"content":')
        self._text: list[str] = []
        self._thoughts: list[str] = []
        self._calls: list[JsonObject] = []
        self._log_probabilities: list[JsonObject] = []

    def start(self) -> bytes:
        """Nothing comes before the first words."""
        return b""

    def feed(self, event: FaceEvent) -> bytes:
        """Write one event as a line, where it is one."""
        match event:
            case Text(text=text) | Refusal(text=text) if text:
                return self._said(text)
            case Reasoning(text=text) if text and self._thinks:
                self._note_first()
                self._thoughts.append(text)
                words = b'"response":"","thinking":' if self._generates else b'"content":"","thinking":'
                return self._head + words + encode(text) + self._tail
            case CallStart(index=index, name=name):
                self._names[index] = name
            case CallEnd(index=index, arguments=arguments):
                return self._called(self._names.pop(index, ""), arguments)
            case BrokenCall() if event.as_text:
                return self._said(event.as_text)
            case Extra(place="choice", fields={"logprobs": {"content": list(found)}}):
                self._log_probabilities += found
                return encode({**self._nothing(), "logprobs": found, "done": False}) + b"\n"
            case Notice() | RunFinished():
                self._notes.take(event)
            case Usage():
                self._usage = event
            case Finish(reason=reason):
                self._finish = reason
        return b""

    def end(self) -> bytes:
        """Return the last line."""
        return encode({**self._nothing(), **self._ending()}) + b"\n"

    def _nothing(self) -> JsonObject:
        """Return a line that has no words."""
        said: JsonObject = {"response": ""} if self._generates else {"message": {"role": "assistant", "content": ""}}
        return {"model": self._model, "created_at": now(), **said}

    def fail(self, error: NaruError) -> bytes:
        """Return the error as the last line."""
        return encode(error_object(error)) + b"\n"

    def body(self) -> bytes:
        """Return the whole answer."""
        text, thought = "".join(self._text), "".join(self._thoughts)
        said: JsonObject = {"thinking": thought} if thought else {}
        if self._generates:
            said = {"response": text, **said}
        else:
            calls: JsonObject = {"tool_calls": self._calls} if self._calls else {}
            said = {"message": {"role": "assistant", "content": text, **said, **calls}}
        if self._log_probabilities:
            said["logprobs"] = self._log_probabilities
        return encode({"model": self._model, "created_at": now(), **said, **self._ending()})

    def _said(self, text: str) -> bytes:
        self._note_first()
        self._text.append(text)
        return self._text_head + encode(text) + self._tail

    def _called(self, name: str, arguments: dict[str, Any]) -> bytes:
        self._note_first()
        # Clients put the calls of a stream together by their index: without one all are the first.
        function = {"index": len(self._calls), "name": name, "arguments": arguments}
        call = {"id": call_id(), "function": function}
        self._calls.append(call)
        return self._head + b'"content":"","tool_calls":' + encode([call]) + self._tail

    def _note_first(self) -> None:
        if self._first is None:
            self._first = time.monotonic_ns()

    def _ending(self) -> JsonObject:
        """Return what stands at the end; times are those seen here, in nanoseconds."""
        ended = time.monotonic_ns()
        first = self._first or ended
        return {
            "done": True,
            "done_reason": self._finish if self._finish in _REASONS else "stop",
            "total_duration": ended - self._began,
            "load_duration": 0,
            "prompt_eval_count": self._usage.prompt_tokens,
            "prompt_eval_duration": first - self._began,
            "eval_count": self._usage.completion_tokens,
            "eval_duration": ended - first,
            **self._notes.fields,
        }
