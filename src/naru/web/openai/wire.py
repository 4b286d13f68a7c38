"""OpenAI's chat wire form, written by Naru alone: chunks, whole answers and errors (LESSONS 20 to 22).

Nothing of an upstream's chunk is copied: index, id, type, name, arguments, finish_reason, usage and [DONE] are
made here from events.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from naru.agent.events import CallStarted, RunFinished
from naru.errors import NaruError
from naru.messages import ArgumentsDelta, CallEnd, CallStart, Finish, Reasoning, Text, Usage
from naru.models.json_text import encode
from naru.stores.redact import REDACTOR
from naru.web.face.errors import status_of
from naru.web.face.seam import KEEP_ALIVE, FaceEvent

DONE = b"data: [DONE]\n\n"


def arguments_text(arguments: Mapping[str, Any]) -> str:
    """Return the arguments as the JSON text that `function.arguments` carries."""
    return encode(dict(arguments)).decode("utf-8")


def call_id() -> str:
    """Make an id for a call, unique over all conversations."""
    return f"call_{secrets.token_hex(12)}"


def usage_object(usage: Usage) -> dict[str, int]:
    """Return OpenAI's `usage`."""
    total = usage.prompt_tokens + usage.completion_tokens
    return {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": total,
    }


@dataclass(slots=True)
class Outcome:
    """What has been said so far, and the finish_reason that follows from it."""

    calls: int = 0
    """Complete calls."""
    upstream: str = "stop"
    """What the model's endpoint gave as its reason."""
    usage: Usage = field(default_factory=Usage)
    note: dict[str, Any] = field(default_factory=dict)
    """What Naru adds to the end of an answer: why the loop ended (R10)."""

    @property
    def finish_reason(self) -> str:
        """`length` wins; `tool_calls` if and only if complete calls were sent."""
        if self.upstream in ("length", "content_filter"):
            return self.upstream
        return "tool_calls" if self.calls else "stop"


class ChunkWriter:
    """Renders one streamed answer: feed it events, send what it returns."""

    def __init__(self, model: str, *, include_usage: bool = False) -> None:
        self.outcome = Outcome()
        self._include_usage = include_usage
        self._sent_arguments: set[int] = set()
        identity = {
            "id": f"chatcmpl-{secrets.token_hex(12)}",
            "object": "chat.completion.chunk",
            "created": int(time.time()),
            "model": model,
        }
        self._identity = encode(identity)[1:-1]
        nulls = b',"usage":null' if include_usage else b""
        self._head = b"data: {" + self._identity + b',"choices":[{"index":0,"delta":'
        self._tail = b',"finish_reason":null}]' + nulls + b"}\n\n"
        self._text_head = self._head + b'{"content":'
        self._text_tail = b"}" + self._tail

    def start(self) -> bytes:
        """Return the first chunk: the role."""
        return self._head + b'{"role":"assistant","content":""}' + self._tail

    def feed(self, event: FaceEvent) -> bytes:
        """Return the chunks of one event; nothing for usage and the model's own end."""
        match event:
            case Text(text=text):
                return self._text_head + encode(text) + self._text_tail if text else b""
            case ArgumentsDelta(index=index, json=piece):
                return self._arguments(index, piece)
            case Reasoning(text=text):
                return self._head + b'{"reasoning_content":' + encode(text) + b"}" + self._tail if text else b""
            case CallStart():
                return self._call_start(event)
            case CallEnd(index=index, arguments=arguments):
                self.outcome.calls += 1
                return b"" if index in self._sent_arguments else self._arguments(index, arguments_text(arguments))
            case Usage():
                self.outcome.usage = event
            case Finish(reason=reason):
                self.outcome.upstream = reason
            case RunFinished():
                self.outcome.note = _note(event)
            case CallStarted():
                return KEEP_ALIVE
        return b""

    def fail(self, error: NaruError) -> bytes:
        """Return an error as the last chunk."""
        return failed_stream(error)

    def end(self) -> bytes:
        """Return the one chunk with a finish_reason, the usage if it was asked for, and [DONE]."""
        tail = b',"usage":null' if self._include_usage else b""
        if note := self.outcome.note:
            tail += b"," + encode(note)[1:-1]
        reason = encode(self.outcome.finish_reason)
        out = self._head + b'{},"finish_reason":' + reason + b"}]" + tail + b"}\n\n"
        if self._include_usage:
            usage = encode(usage_object(self.outcome.usage))
            out += b"data: {" + self._identity + b',"choices":[],"usage":' + usage + b"}\n\n"
        return out + DONE

    def _call_start(self, event: CallStart) -> bytes:
        call = {
            "index": event.index,
            "id": call_id(),
            "type": "function",
            "function": {"name": event.name, "arguments": ""},
        }
        return self._head + b'{"tool_calls":[' + encode(call) + b"]}" + self._tail

    def _arguments(self, index: int, piece: str) -> bytes:
        if not piece:
            return b""
        self._sent_arguments.add(index)
        where = b'{"tool_calls":[{"index":%d,"function":{"arguments":' % index
        return self._head + where + encode(piece) + b"}}]}" + self._tail


class WholeAnswer:
    """Collects the same events into one `chat.completion` object."""

    def __init__(self, model: str) -> None:
        self.outcome = Outcome()
        self._model = model
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._open: dict[int, list[str]] = {}
        """Name and pieces of arguments of the calls that have not ended."""
        self._calls: list[dict[str, Any]] = []

    def feed(self, event: FaceEvent) -> None:
        """Take one event."""
        match event:
            case Text(text=text):
                self._text.append(text)
            case Reasoning(text=text):
                self._reasoning.append(text)
            case CallStart(index=index, name=name):
                self._open[index] = [name]
            case ArgumentsDelta(index=index, json=piece):
                self._open[index].append(piece)
            case CallEnd(index=index, arguments=arguments):
                name = self._open.pop(index)[0]
                function = {"name": name, "arguments": arguments_text(arguments)}
                self._calls.append({"id": call_id(), "type": "function", "function": function})
                self.outcome.calls += 1
            case Usage():
                self.outcome.usage = event
            case Finish(reason=reason):
                self.outcome.upstream = reason
            case RunFinished():
                self.outcome.note = _note(event)

    def body(self) -> bytes:
        """Return the JSON body."""
        # A call that never ended is none; what was written of it is not lost.
        unread = [f"{name}({''.join(pieces)})" for name, *pieces in self._open.values()]
        content = "".join(self._text + unread)
        message: dict[str, Any] = {"role": "assistant", "content": content or (None if self._calls else "")}
        if self._reasoning:
            message["reasoning_content"] = "".join(self._reasoning)
        if self._calls:
            message["tool_calls"] = self._calls
        choice = {
            "index": 0,
            "message": message,
            "logprobs": None,
            "finish_reason": self.outcome.finish_reason,
        }
        answer = {
            "id": f"chatcmpl-{secrets.token_hex(12)}",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": self._model,
            "choices": [choice],
            "usage": usage_object(self.outcome.usage),
            **self.outcome.note,
        }
        return encode(answer)


def error_object(error: NaruError) -> dict[str, Any]:
    """Return OpenAI's error object."""
    status = status_of(error)
    kind = {429: "rate_limit_error", 403: "permission_error", 404: "not_found_error"}.get(
        status, "invalid_request_error" if status < 500 else "upstream_error"
    )
    # The message may quote a provider's own words (S-67).
    details = {
        "message": REDACTOR.clean(str(error)),
        "type": kind,
        "param": getattr(error, "param", None),
        "code": error.code,
    }
    return {"error": details}


def failed_stream(error: NaruError) -> bytes:
    """Return the one object that ends a stream that breaks off."""
    return b"data: " + encode(error_object(error)) + b"\n\n"


def _note(end: RunFinished) -> dict[str, Any]:
    note: dict[str, Any] = {"ended": end.reason, "rounds": end.rounds, "calls": list(end.calls)}
    if end.note:
        note["note"] = end.note
    return {"naru": note}
