"""Messages' wire form, written by Naru alone: the stream's events, whole messages, errors."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from naru.agent.events import CallFinished, CallStarted, RunFinished
from naru.errors import NaruError
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
from naru.persons import current_request
from naru.stores.secrets.redact import REDACTOR
from naru.web.face.errors import status_of
from naru.web.face.notes import Notes
from naru.web.face.seam import FaceEvent, HubNames, HubTools

_KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
    504: "timeout_error",
    529: "overloaded_error",
}
_REASONS = {"length": "max_tokens", "content_filter": "refusal"}
_TOO_LONG = "prompt is too long"
"""The API's words, by which Claude Code and others shorten a conversation: it has no code for that."""
_PIECES_PER_PING = 64
PING = b'event: ping\ndata: {"type":"ping"}\n\n'


def error_object(error: NaruError) -> JsonObject:
    """Return Anthropic's error object."""
    status = status_of(error)
    status = 402 if error.code == "out_of_credit" else status
    kind = _KINDS.get(status, "invalid_request_error" if status < 500 else "api_error")
    # The message may quote a provider's own words (S-67).
    said = REDACTOR.clean(str(error))
    if error.code == "context_exceeded" and _TOO_LONG not in said:
        said = f"{_TOO_LONG}: {said}"
    told: JsonObject = {"type": kind, "message": said}
    if details := getattr(error, "details", None):
        told["details"] = details
    return {"type": "error", "error": told, "request_id": current_request.get() or None}


def failed_stream(error: NaruError) -> bytes:
    """Return the event that ends a stream that breaks off."""
    return b"event: error\ndata: " + encode(error_object(error)) + b"\n\n"


@dataclass(slots=True)
class Ending:
    """What has been said so far, and the stop_reason and usage that follow from it."""

    calls: int = 0
    refused: bool = False
    stops: Sequence[str] = ()
    """Texts that the client wants the answer to end at."""
    stopped_by: str | None = None
    """The one of them that ended it, where the endpoint says so."""
    upstream: str = "stop"
    usage: Usage = field(default_factory=Usage)
    notes: Notes = field(default_factory=Notes)

    def note(self, event: Usage | Finish | Notice | RunFinished) -> bytes:
        """Take an event of the end; nothing is written of it yet."""
        if isinstance(event, Usage):
            self.usage = event
        elif isinstance(event, Finish):
            self.upstream = event.reason
        else:
            self.notes.take(event)
        return b""

    def note_stop(self, event: Extra) -> None:
        """Take what an endpoint says of the text that ended its answer."""
        said = event.fields.get("stop_reason") if event.place == "choice" else None
        self.stopped_by = said if said in self.stops else self.stopped_by

    @property
    def why(self) -> JsonObject:
        """`max_tokens` and `refusal` win; `tool_use` if and only if complete calls were sent."""
        said = "tool_use" if self.calls else "refusal" if self.refused else "end_turn"
        reason = _REASONS.get(self.upstream, said)
        if reason == "end_turn" and self.stopped_by is not None:
            reason = "stop_sequence"
        return {"stop_reason": reason, "stop_sequence": self.stopped_by if reason == "stop_sequence" else None}

    def delta(self) -> JsonObject:
        """Return what the stream's end tells of the whole message."""
        return {"delta": self.why, "usage": self.usage_object(), **self.notes.fields}

    def usage_object(self) -> JsonObject:
        """Return Anthropic's `usage`."""
        cached = min(self.usage.cached_tokens, self.usage.prompt_tokens)
        written = min(self.usage.cache_write_tokens, self.usage.prompt_tokens - cached)
        return {
            "input_tokens": self.usage.prompt_tokens - cached - written,
            "cache_creation_input_tokens": written,
            "cache_read_input_tokens": cached,
            "output_tokens": self.usage.completion_tokens,
            "output_tokens_details": {"thinking_tokens": self.usage.reasoning_tokens},
        }


def message_object(model: str, content: list[JsonObject], ending: Ending | None) -> JsonObject:
    """Return a message; without an ending it has only begun."""
    return {
        "id": f"msg_{secrets.token_hex(12)}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        **(ending.why if ending else {"stop_reason": None, "stop_sequence": None}),
        "usage": (ending or Ending()).usage_object(),
        **(ending.notes.fields if ending else {}),
    }


def _tool_use(name: str, arguments: JsonObject) -> JsonObject:
    return {"type": "tool_use", "id": f"toolu_{secrets.token_hex(12)}", "name": name, "input": arguments}


def sealed_in(event: Extra) -> Iterator[JsonObject]:
    """Give the blocks of thoughts that an endpoint of this kind has signed, or shows to nobody."""
    blocks = event.fields.get("thinking_blocks") if event.place == "message" else None
    for block in blocks if isinstance(blocks, list) else ():
        if isinstance(block, dict) and block.get("type") == "redacted_thinking" and isinstance(block.get("data"), str):
            yield {"type": "redacted_thinking", "data": block["data"]}
        elif isinstance(block, dict) and isinstance(block.get("signature"), str) and block["signature"]:
            yield {"type": "thinking", "thinking": "", "signature": block["signature"]}


class HubBlocks:
    """The blocks of what ran here, for clients that asked for MCP servers in Anthropic's form."""

    def __init__(self) -> None:
        self._names = HubNames()

    def block(self, event: HubTools | CallStarted | CallFinished) -> JsonObject | None:
        """Return the block of a call or of its result."""
        if isinstance(event, HubTools):
            self._names = HubNames(event.tools)
            return None
        block_id = f"mcptoolu_{event.call.id}"
        if isinstance(event, CallFinished):
            content = [{"type": "text", "text": event.result.text}]
            error = event.result.is_error
            return {"type": "mcp_tool_result", "tool_use_id": block_id, "is_error": error, "content": content}
        server, tool = self._names.split(event.call.name)
        called = {"name": tool, "server_name": server, "input": event.call.arguments}
        return {"type": "mcp_tool_use", "id": block_id, **called}


class EventWriter:
    """Renders one streamed answer: one block at a time, as the API does."""

    def __init__(self, model: str, *, shows_hub_calls: bool = False, stops: Sequence[str] = ()) -> None:
        self._model = model
        self._ending = Ending(stops=stops)
        self._hub = HubBlocks() if shows_hub_calls else None
        self._index = -1
        self._open = ""
        """Type of the block that is open."""
        self._names: dict[int, str] = {}
        """Of the calls that have not ended."""
        self._unsaid = 0
        """How many pieces of arguments came."""
        self._text_head = b""
        self._signature = ""
        self._writers: Mapping[type, Callable[[Any], bytes]] = {
            Text: self._text,
            Refusal: self._text,
            Reasoning: self._thinking,
            CallStart: self._call_event,
            ArgumentsDelta: self._call_event,
            CallEnd: self._call_event,
            BrokenCall: self._broken,
            Extra: self._beside,
            Usage: self._ending.note,
            Finish: self._ending.note,
            Notice: self._ending.note,
            RunFinished: self._ending.note,
            HubTools: self._hub_event,
            CallStarted: self._hub_event,
            CallFinished: self._hub_event,
        }

    def start(self) -> bytes:
        """Return `message_start`."""
        return _event("message_start", {"message": message_object(self._model, [], None)})

    def feed(self, event: FaceEvent) -> bytes:
        """Write one event."""
        write = self._writers.get(type(event))
        return write(event) if write is not None else b""

    def end(self) -> bytes:
        """Return the end of the last block, `message_delta`, `message_stop`."""
        last = self._close()
        return last + _event("message_delta", self._ending.delta()) + _event("message_stop", {})

    def fail(self, error: NaruError) -> bytes:
        """Return the error."""
        return failed_stream(error)

    def _text(self, event: Text | Refusal) -> bytes:
        if not event.text:
            return b""
        if isinstance(event, Refusal):
            self._ending.refused = True
        head = b""
        if self._open != "text":
            head = self._begin({"type": "text", "text": ""})
            self._text_head = (
                b'event: content_block_delta\ndata: {"type":"content_block_delta","index":%d,'
                b'"delta":{"type":"text_delta","text":' % self._index
            )
        return head + self._text_head + encode(event.text) + b"}}\n\n"

    def _thinking(self, event: Reasoning) -> bytes:
        if not event.text:
            return b""
        head = b"" if self._open == "thinking" else self._begin({"type": "thinking", "thinking": "", "signature": ""})
        return head + self._delta({"type": "thinking_delta", "thinking": event.text})

    def _beside(self, event: Extra) -> bytes:
        """Write what seals the thoughts: those that were told, or some of which nothing was."""
        self._ending.note_stop(event)
        out = b""
        for block in sealed_in(event):
            if block["type"] == "thinking" and self._open != "thinking":
                out += self._begin({**block, "signature": ""})
            elif block["type"] != "thinking":
                out += self._begin(block)
            self._signature = block.get("signature", "")
            out += self._close()
        return out

    def _hub_event(self, event: HubTools | CallStarted | CallFinished) -> bytes:
        block = self._hub.block(event) if self._hub is not None else None
        if block:
            return self._begin(block) + self._close()
        return PING if isinstance(event, CallStarted) else b""

    def _call_event(self, event: CallStart | ArgumentsDelta | CallEnd) -> bytes:
        """Write a call when it has ended: clients run what a block holds, and none can be taken back."""
        match event:
            case CallStart(name=name, index=index):
                self._names[index] = name
                return PING
            case CallEnd(index=index, arguments=arguments):
                self._ending.calls += 1
                begun = self._begin(_tool_use(self._names.pop(index), {}))
                written = {"type": "input_json_delta", "partial_json": encode(arguments).decode()}
                return begun + self._delta(written) + self._close()
        self._unsaid += 1
        return PING if self._unsaid % _PIECES_PER_PING == 0 else b""

    def _broken(self, event: BrokenCall) -> bytes:
        """Say what was written of a call that will not end."""
        return self._text(Text(event.as_text))

    def _begin(self, block: JsonObject) -> bytes:
        out = self._close()
        self._index += 1
        self._open = block["type"]
        return out + _event("content_block_start", {"index": self._index, "content_block": block})

    def _delta(self, delta: JsonObject) -> bytes:
        return _event("content_block_delta", {"index": self._index, "delta": delta})

    def _close(self) -> bytes:
        if not self._open:
            return b""
        signed = b""
        if self._open == "thinking":
            signed = self._delta({"type": "signature_delta", "signature": self._signature})
            self._signature = ""
        self._open = ""
        return signed + _event("content_block_stop", {"index": self._index})


def _event(kind: str, fields: JsonObject) -> bytes:
    return b"event: %s\ndata: " % kind.encode() + encode({"type": kind, **fields}) + b"\n\n"


class MessageWriter:
    """Collects the same events into one message."""

    def __init__(self, model: str, *, shows_hub_calls: bool = False, stops: Sequence[str] = ()) -> None:
        self._model = model
        self._ending = Ending(stops=stops)
        self._hub = HubBlocks() if shows_hub_calls else None
        self._blocks: list[JsonObject] = []
        self._pieces: list[str] = []
        """Of the text or thinking block that is last."""
        self._names: dict[int, str] = {}
        """Of the calls that have not ended."""

    def feed(self, event: FaceEvent) -> None:
        """Take one event."""
        match event:
            case Text(text=text):
                self._add("text", text)
            case Reasoning(text=text):
                self._add("thinking", text)
            case CallStart(index=index, name=name):
                self._names[index] = name
            case CallEnd(index=index, arguments=arguments):
                self._blocks.append(_tool_use(self._names.pop(index), arguments))
                self._ending.calls += 1
            case Usage() | Finish() | Notice() | RunFinished():
                self._ending.note(event)
            case HubTools() | CallStarted() | CallFinished() if self._hub is not None:
                self._blocks += [block] if (block := self._hub.block(event)) else []
            case BrokenCall() | Extra() | Refusal():
                self._seldom(event)

    def _seldom(self, event: BrokenCall | Extra | Refusal) -> None:
        if isinstance(event, Refusal):
            self._add("text", event.text)
            self._ending.refused = True
        elif isinstance(event, BrokenCall):
            self._add("text", event.as_text)
        else:
            self._ending.note_stop(event)
            for block in sealed_in(event):
                if block["type"] == "thinking" and self._is_open("thinking"):
                    self._blocks[-1]["signature"] = block["signature"]
                else:
                    self._blocks.append(block)

    def body(self) -> bytes:
        """Return the JSON body."""
        content = [_joined(block) for block in self._blocks]
        return encode(message_object(self._model, content, self._ending))

    def _add(self, kind: str, text: str) -> None:
        if not text:
            return
        if not self._is_open(kind):
            self._pieces = []
            signed: JsonObject = {"signature": ""} if kind == "thinking" else {}
            self._blocks.append({"type": kind, kind: self._pieces, **signed})
        self._pieces.append(text)

    def _is_open(self, kind: str) -> bool:
        """Tell whether the last block is of a kind and more of it may come: thoughts end with their signature."""
        last = self._blocks[-1] if self._blocks else {}
        return last.get("type") == kind and not last.get("signature")


def _joined(block: JsonObject) -> JsonObject:
    kind: Any = block["type"]
    return {**block, kind: "".join(block[kind])} if kind in ("text", "thinking") else block
