"""Responses' wire form, written by Naru alone: the object, the stream's numbered events."""

from __future__ import annotations

import re
import time
from collections.abc import Awaitable, Callable
from typing import Any

from naru.agent.events import RunFinished
from naru.errors import ModelError, NaruError
from naru.messages import JsonObject, Notice, Text, Usage
from naru.models.transport.json_text import encode
from naru.stores.secrets.redact import REDACTOR
from naru.web.face.notes import Notes
from naru.web.face.seam import FaceEvent
from naru.web.openai.wire import CODES
from naru.web.responses.output import Output, Shown, Step, made_id

Keep = Callable[[JsonObject], Awaitable[None]]
"""Keeps a response that has ended."""
_ECHOED = ("instructions", "max_output_tokens", "max_tool_calls", "previous_response_id", "prompt_cache_key")
_ECHOED_TOO = ("safety_identifier", "service_tier", "temperature", "top_logprobs", "top_p", "user")
_REASONS = {"length": "max_output_tokens", "content_filter": "content_filter"}


class Answer:
    """One response: what was asked of it, and what has come of it."""

    def __init__(
        self, body: JsonObject, model: str, shown: Shown, keep: Keep | None, *, conversation: str = ""
    ) -> None:
        response_id = made_id("resp")
        self.output = Output(response_id, shown)
        self._notes = Notes()
        self._keep = keep
        self._object: JsonObject = {
            "id": response_id,
            "object": "response",
            "created_at": int(time.time()),
            "model": model,
            "background": body.get("background") is True,
            "metadata": body.get("metadata") or {},
            "parallel_tool_calls": body.get("parallel_tool_calls") is not False,
            "store": keep is not None and body.get("store") is not False,
            "reasoning": body.get("reasoning") or {"effort": None, "summary": None},
            "text": body.get("text") or {"format": {"type": "text"}},
            "tool_choice": body.get("tool_choice") or "auto",
            "tools": [_without_secrets(tool) for tool in body.get("tools") or ()],
            "truncation": body.get("truncation") or "disabled",
            **{name: body.get(name) for name in (*_ECHOED, *_ECHOED_TOO)},
        }
        if conversation:
            self._object["conversation"] = {"id": conversation}

    def feed(self, event: FaceEvent) -> list[Step]:
        """Take one event; return the steps that it makes of the output."""
        if isinstance(event, Notice | RunFinished):
            self._notes.take(event)
        return self.output.feed(event)

    def object(self, status: str, error: JsonObject | None = None) -> JsonObject:
        """Return the response as it stands."""
        ended = status != "in_progress"
        reason = _REASONS.get(self.output.finish) if status == "incomplete" else None
        return {
            **self._object,
            "status": status,
            "completed_at": int(time.time()) if status == "completed" else None,
            "error": error,
            "incomplete_details": {"reason": reason} if reason else None,
            "output": self.output.items if ended else [],
            "usage": usage_object(self.output.usage) if ended and error is None else None,
            **self._notes.fields,
        }

    def ended(self) -> JsonObject:
        """Return the response at its end."""
        return self.object("incomplete" if self.output.is_cut else "completed")

    async def keep(self) -> None:
        """Keep the response, before its client is told the end."""
        if self._keep is not None:
            await self._keep(self.ended())


def usage_object(usage: Usage) -> JsonObject:
    """Return the API's `usage`."""
    return {
        "input_tokens": usage.prompt_tokens,
        "input_tokens_details": {
            "cached_tokens": usage.cached_tokens,
            "cache_write_tokens": usage.cache_write_tokens,
        },
        "output_tokens": usage.completion_tokens,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
        "total_tokens": usage.total_tokens,
    }


def _without_secrets(tool: Any) -> Any:
    """Return a tool as it is told back, and kept: never the headers and tokens of its server, nor its URL's query."""
    if not isinstance(tool, dict):
        return tool
    told = {key: value for key, value in tool.items() if key not in ("headers", "authorization")}
    address = told.get("server_url")
    return told | {"server_url": re.split(r"[?#]", address)[0]} if isinstance(address, str) else told


class EventWriter:
    """Renders one streamed response."""

    def __init__(self, answer: Answer) -> None:
        self.keep = answer.keep
        self._answer = answer
        self._output = answer.output
        self._number = 0
        self._text_head = b""
        self._text_position = -1

    def start(self) -> bytes:
        """Return `response.created` and `response.in_progress`."""
        begun = encode(self._answer.object("in_progress"))
        return self._written("response.created", begun) + self._written("response.in_progress", begun)

    def feed(self, event: FaceEvent) -> bytes:
        """Write one event."""
        output = self._output
        if type(event) is Text and event.text and output.text_position >= 0:
            if self._text_position != output.text_position:
                self._text_position = output.text_position
                item = output.items[self._text_position]["id"]
                self._text_head = (
                    'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","content_index":0,'
                    f'"logprobs":[],"item_id":"{item}","output_index":{self._text_position},"sequence_number":'
                ).encode()
            output.more_text(event.text)
            number = self._number
            self._number = number + 1
            return b'%b%d,"delta":%b}\n\n' % (self._text_head, number, encode(event.text))
        return self._events(self._answer.feed(event))

    def end(self) -> bytes:
        """Return the ends of open items, and the last event with the whole response."""
        last = self._events(self._answer.output.close())
        response = self._answer.ended()
        return last + self._event(f"response.{response['status']}", {"response": response})

    def fail(self, error: NaruError) -> bytes:
        """Return `response.failed`."""
        last = self._events(self._answer.output.close())
        return last + self._event("response.failed", {"response": self._answer.object("failed", error_of(error))})

    def _events(self, steps: list[Step]) -> bytes:
        return b"".join([self._event(kind, fields) for kind, fields in steps])

    def _written(self, kind: str, response: bytes) -> bytes:
        """Write an event whose response is JSON already."""
        head = f'event: {kind}\ndata: {{"type":"{kind}","sequence_number":{self._number},"response":'
        self._number += 1
        return head.encode() + response + b"}\n\n"

    def _event(self, kind: str, fields: JsonObject) -> bytes:
        data = encode({"type": kind, "sequence_number": self._number, **fields})
        self._number += 1
        return b"event: %s\ndata: " % kind.encode() + data + b"\n\n"


class ObjectWriter:
    """Collects the same events into one response."""

    def __init__(self, answer: Answer) -> None:
        self.keep = answer.keep
        self._answer = answer

    def feed(self, event: FaceEvent) -> None:
        """Take one event."""
        self._answer.feed(event)

    def body(self) -> bytes:
        """Return the JSON body."""
        self._answer.output.close()
        return encode(self._answer.ended())


def error_of(error: NaruError) -> JsonObject:
    """Return a response's own error."""
    limited = isinstance(error, ModelError) and error.status == 429
    code = CODES.get(error.code, "rate_limit_exceeded" if limited else "server_error")
    # The message may quote a provider's own words (S-67).
    return {"code": code, "message": REDACTOR.clean(str(error))}
