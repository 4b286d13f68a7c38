"""OpenAI's chat wire form, written by Naru alone: chunks, whole answers and errors.

Index, id, type, name, arguments, finish_reason, usage and [DONE] are made here from events, never copied; what Naru
does not read (`Extra`) stands where the endpoint put it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from naru.agent.events import CallStarted, RunFinished
from naru.errors import NaruError
from naru.fields import merge
from naru.messages import (
    ArgumentsDelta,
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
from naru.web.face.errors import status_of
from naru.web.face.notes import FIELD, said_by
from naru.web.face.reading.tools import free_input
from naru.web.face.seam import KEEP_ALIVE, FaceEvent, Step
from naru.web.openai.thoughts import Thoughts, Turn

DONE = b"data: [DONE]\n\n"
CODES = {"context_exceeded": "context_length_exceeded", "out_of_credit": "insufficient_quota"}
"""Where OpenAI has a word of its own, by which clients shorten a conversation, or ask no more."""


def arguments_text(arguments: Mapping[str, Any]) -> str:
    """Return the arguments as the JSON text that `function.arguments` carries."""
    return encode(dict(arguments)).decode("utf-8")


def call_id() -> str:
    """Make an id for a call, unique over all conversations."""
    return f"call_{os.urandom(12).hex()}"


def usage_object(usage: Usage) -> JsonObject:
    """Return OpenAI's `usage`, with all that the endpoint counted."""
    counts: JsonObject = {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.prompt_tokens + usage.completion_tokens,
    }
    return counts | usage.details if usage.details else counts


@dataclass(frozen=True, slots=True)
class CallForm:
    """How a client wants its calls written."""

    older: bool = False
    """It offered `functions`, as before there were `tools`: it reads one `function_call`."""
    custom: frozenset[str] = frozenset()
    """Its tools that take plain text."""

    def named(self, name: str, text: str) -> JsonObject:
        """Return what a call holds, by the kind of its tool."""
        if name in self.custom:
            return {"type": "custom", "custom": {"name": name, "input": text}}
        return {"type": "function", "function": {"name": name, "arguments": text}}

    def text(self, name: str, arguments: JsonObject) -> str:
        """Return a call's arguments as it holds them."""
        return free_input(arguments) if name in self.custom else arguments_text(arguments)


_PLAIN = CallForm()


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
    older: bool = False
    """The client offered `functions`, as before there were `tools`: it reads one `function_call`."""

    @property
    def finish_reason(self) -> str:
        """`length` wins; `tool_calls` if and only if complete calls were sent."""
        if self.upstream in ("length", "content_filter"):
            return self.upstream
        return ("function_call" if self.older else "tool_calls") if self.calls else "stop"


class ChunkWriter:
    """Renders one streamed answer: feed it events, send what it returns."""

    def __init__(
        self, model: str, *, include_usage: bool = False, thoughts: Thoughts | None = None, form: CallForm = _PLAIN
    ) -> None:
        self.outcome = Outcome(older=form.older)
        self._form = form
        self._custom: dict[int, str] = {}
        """Calls of tools that take plain text, which is read out of their arguments at their end."""
        self._thoughts = thoughts
        self._turn_now: Turn | None = None
        self._include_usage = include_usage
        self._sent_arguments: set[int] = set()
        identity = {
            "id": f"chatcmpl-{os.urandom(12).hex()}",
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
        self._nulls = nulls
        self._beside: JsonObject = {}
        """What the endpoint says at the top of its chunks: from then on in all of ours."""

    @property
    def _turn(self) -> Turn:
        """What stands beside the answer's calls; most answers have none."""
        if self._turn_now is None:
            self._turn_now = Turn()
        return self._turn_now

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
                self._turn.reasoning.append(text)
                return self._head + b'{"reasoning_content":' + encode(text) + b"}" + self._tail if text else b""
            case CallStart():
                return self._call_start(event)
            case CallEnd(index=index, arguments=arguments):
                self.outcome.calls += 1
                return b"" if index in self._sent_arguments else self._whole_arguments(index, arguments)
            case Usage():
                self.outcome.usage = event
            case Finish(reason=reason):
                self.outcome.upstream = reason
            case RunFinished() | Notice():
                self.outcome.note = _note(event, self.outcome.note)
            case CallStarted():
                return KEEP_ALIVE
            case Extra() | Refusal() | BrokenCall() | Step():
                return self._seldom(event)
        return b""

    def _seldom(self, event: Extra | Refusal | BrokenCall | Step) -> bytes:
        if isinstance(event, Step):
            return self._head + b'{},"finish_reason":null}],"naru":' + encode(event.fields) + self._nulls + b"}\n\n"
        if isinstance(event, BrokenCall):
            return self.feed(Text("" if event.index is not None else event.as_text))
        if isinstance(event, Refusal):
            return self._head + b'{"refusal":' + encode(event.text) + b"}" + self._tail
        self._turn.take(event)
        match event.place:
            case "answer":
                self._beside |= event.fields
                self._tail = b',"finish_reason":null}]' + self._nulls + b"," + encode(self._beside)[1:-1] + b"}\n\n"
                self._text_tail = b"}" + self._tail
                return b""
            case "choice":
                return self._head + b"{}," + encode(event.fields)[1:-1] + self._tail
            case "message":
                return self._head + encode(event.fields) + self._tail
            case "call" if self.outcome.older:
                return b""  # There is no place for it.
            case "call":
                piece = {"index": event.index, "function": {"arguments": ""}, **event.fields}
                return self._head + b'{"tool_calls":[' + encode(piece) + b"]}" + self._tail

    def fail(self, error: NaruError) -> bytes:
        """Return an error as the last chunk."""
        return failed_stream(error)

    def end(self) -> bytes:
        """Return the one chunk with a finish_reason, the usage if it was asked for, and [DONE]."""
        if self._thoughts is not None and self.outcome.calls:
            self._thoughts.keep(self._turn)
        note = self.outcome.note
        kept = {name: value for name, value in self._beside.items() if name not in note}  # A Naru behind this one.
        beside = b"," + encode(kept)[1:-1] if kept else b""
        tail = self._nulls + beside
        if note:
            tail += b"," + encode(note)[1:-1]
        reason = encode(self.outcome.finish_reason)
        out = self._head + b'{},"finish_reason":' + reason + b"}]" + tail + b"}\n\n"
        if self._include_usage:
            usage = encode(usage_object(self.outcome.usage))
            out += b"data: {" + self._identity + b',"choices":[],"usage":' + usage + beside + b"}\n\n"
        return out + DONE

    def _call_start(self, event: CallStart) -> bytes:
        self._turn.ids[event.index] = own = call_id()
        call = {"index": event.index, "id": own, **self._form.named(event.name, "")}
        if event.name in self._form.custom:
            self._custom[event.index] = event.name
        if self.outcome.older:
            return self._head + b'{"function_call":' + encode(call["function"]) + b"}" + self._tail
        return self._head + b'{"tool_calls":[' + encode(call) + b"]}" + self._tail

    def _whole_arguments(self, index: int, arguments: JsonObject) -> bytes:
        if (name := self._custom.pop(index, None)) is None:
            return self._arguments(index, arguments_text(arguments))
        piece = encode(self._form.text(name, arguments))
        return self._head + b'{"tool_calls":[{"index":%d,"custom":{"input":' % index + piece + b"}}]}" + self._tail

    def _arguments(self, index: int, piece: str) -> bytes:
        if not piece or index in self._custom:
            return b""
        self._sent_arguments.add(index)
        if self.outcome.older:
            return self._head + b'{"function_call":{"arguments":' + encode(piece) + b"}}" + self._tail
        where = b'{"tool_calls":[{"index":%d,"function":{"arguments":' % index
        return self._head + where + encode(piece) + b"}}]}" + self._tail


class WholeAnswer:
    """Collects the same events into one `chat.completion` object."""

    def __init__(self, model: str, *, thoughts: Thoughts | None = None, form: CallForm = _PLAIN) -> None:
        self.outcome = Outcome(older=form.older)
        self._form = form
        self._thoughts = thoughts
        self._turn_now: Turn | None = None
        self._model = model
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._names: dict[int, str] = {}
        """Of the calls that have not ended."""
        self._calls: list[dict[str, Any]] = []
        self._refusal: list[str] = []
        self._steps: list[JsonObject] = []
        self._beside: dict[str, JsonObject] = {"answer": {}, "choice": {}, "message": {}}
        self._beside_calls: dict[int, JsonObject] = {}

    @property
    def _turn(self) -> Turn:
        """What stands beside the answer's calls; most answers have none."""
        if self._turn_now is None:
            self._turn_now = Turn()
        return self._turn_now

    def feed(self, event: FaceEvent) -> None:
        """Take one event."""
        match event:
            case Text(text=text):
                self._text.append(text)
            case Reasoning(text=text):
                self._reasoning.append(text)
            case CallStart(index=index, name=name):
                self._names[index] = name
            case CallEnd(index=index, arguments=arguments):
                name = self._names.pop(index)
                called = self._form.named(name, self._form.text(name, arguments))
                beside = self._beside_calls.get(index, {})
                self._turn.ids[index] = own = call_id()
                self._calls.append({"id": own, **called, **beside})
                self.outcome.calls += 1
            case Usage():
                self.outcome.usage = event
            case Finish(reason=reason):
                self.outcome.upstream = reason
            case RunFinished() | Notice():
                self.outcome.note = _note(event, self.outcome.note)
            case _:
                self._seldom(event)

    def _seldom(self, event: FaceEvent) -> None:
        match event:
            case Extra():
                self._extra(event)
            case Refusal(text=text):
                self._refusal.append(text)
            case Step(fields=fields):
                self._steps.append(fields)
            case BrokenCall():
                self._text.append(event.as_text)

    def _extra(self, event: Extra) -> None:
        self._turn.take(event)
        if event.place == "call":
            self._beside_calls.setdefault(event.index, {}).update(event.fields)
        elif event.place == "answer":
            self._beside["answer"] |= event.fields  # What is said again stands for what was.
        else:
            merge(self._beside[event.place], event.fields)

    def body(self) -> bytes:
        """Return the JSON body."""
        if self._thoughts is not None and self._calls:
            self._turn.reasoning = self._reasoning
            self._thoughts.keep(self._turn)
        content = "".join(self._text)
        says_nothing = bool(self._calls or self._refusal)
        message: dict[str, Any] = {"role": "assistant", "content": content or (None if says_nothing else "")}
        if self._refusal:
            message["refusal"] = "".join(self._refusal)
        if self._reasoning:
            message["reasoning_content"] = "".join(self._reasoning)
        if self._calls and self.outcome.older:
            message["function_call"] = self._calls[0]["function"]
        elif self._calls:
            message["tool_calls"] = self._calls
        choice = {
            "index": 0,
            "message": message | self._beside["message"],
            "logprobs": None,
            "finish_reason": self.outcome.finish_reason,
            **self._beside["choice"],
        }
        answer = {
            "id": f"chatcmpl-{os.urandom(12).hex()}",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": self._model,
            "choices": [choice],
            "usage": usage_object(self.outcome.usage),
            **self._beside["answer"],
            **self.outcome.note,
        }
        if self._steps and "naru" in answer:
            answer["naru"] |= {"steps": self._steps}
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
        "code": CODES.get(error.code, error.code),
    }
    return {"error": details}


def failed_stream(error: NaruError) -> bytes:
    """Return the one object that ends a stream that breaks off."""
    return b"data: " + encode(error_object(error)) + b"\n\n"


def _note(event: RunFinished | Notice, before: JsonObject) -> JsonObject:
    """Return what Naru adds to the end of an answer: how the run ended, what was left out on the way."""
    told = said_by(event)
    if isinstance(event, Notice):
        said = before.get(FIELD, {}).get("note")
        return {FIELD: {"note": f"{said}; {told}" if said else told}}
    note: JsonObject = {"ended": event.reason, "rounds": event.rounds, "calls": list(event.calls)}
    if told:
        note["note"] = told
    return {FIELD: note}
