"""A chat completion's event stream, from bytes to events. No I/O."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import cast

import orjson

from naru.errors import ModelError
from naru.messages import ChatEvent, Extra, JsonObject, Usage
from naru.models.answers.normalise import AnswerReader
from naru.models.known.count import later
from naru.models.transport.failures import decode, error_text, failure, http_failure, refused_text
from naru.models.transport.json_text import decode_leniently, mended
from naru.models.transport.sse import SseReader
from naru.models.wires.openai_wire import (
    added_by,
    choice_extra,
    extra_of,
    first_choice,
    read_choice,
    reason_of,
    usage_of,
)

_DONE = b"[DONE]"
_NOTHING = frozenset({b"", b"null"})
_ERROR_FIELDS = frozenset({"object", "type", "message", "detail", "code", "status", "param"})
"""Of an error that stands for itself: in `event: error`, or in vLLM's own form."""
_FIRST = (None, 0, "0")
"""What the index of the one answer that was asked for may say."""


class AnswerStream:
    """Reads one answer: feed it what arrives until it has ended, then close it."""

    def __init__(self, where: str, reader: AnswerReader) -> None:
        self.ended = False
        """Nothing that comes after counts."""
        self.failure: ModelError | None = None
        """Why it ended, if not by itself; what was said before stays said."""
        self._where = where
        self._reader = reader
        self._sse = SseReader()
        self._frame = _Frame()
        self._reason: str | None = None
        self._usage: Usage | None = None
        self._half = ""
        """The first half of a surrogate pair that an endpoint has cut in two."""
        self._told: JsonObject = {}
        """Fields at the top of the chunks, which most endpoints repeat in each of them."""
        self._beside: list[ChatEvent] = []
        """What a chunk says beside its delta."""
        self._last: list[ChatEvent] = []
        """Of the piece that ended it, for `close`: they go out with the end."""

    @property
    def is_said(self) -> bool:
        """The endpoint has told why it stopped: only counts and the end's mark need follow."""
        return self._reason is not None

    def feed(self, piece: bytes) -> list[ChatEvent]:
        """Return the events that came together."""
        events: list[ChatEvent] = []
        try:
            self._read(self._sse.feed(piece), events)
        except ModelError as error:
            self.failure, self.ended = error, True
        except RecursionError:
            said = f"{self._where} sent an event that is nested too deeply to be read."
            self.failure, self.ended = failure("broken_off", said), True
        if self.ended:
            self._last = events
            return []
        return events

    def close(self) -> list[ChatEvent]:
        """Return the last events: after the stream has ended, or the body without it."""
        events = self._last
        try:
            if not self.ended:
                self._read(self._sse.close(), events)
            if self.failure is None:
                events += self._end()
        except ModelError as error:
            self.failure = error
        if self.failure is not None:
            events += self._reader.unsaid()
        return events

    def _read(self, payloads: Sequence[bytes], events: list[ChatEvent]) -> None:
        """Read what arrived together into `events`: neighbouring pieces of text are read as one."""
        text: list[str] = []

        def flush() -> None:
            if text:
                events.extend(self._reader.text("".join(text) if len(text) > 1 else text[0]))
                text.clear()

        try:
            for payload in payloads:
                content = None if self._half or self.ended else self._frame.text_in(payload)
                if content is None:
                    delta = self._delta(payload)
                    content = _words_alone(delta)
                    if self._beside or (delta and content is None):
                        flush()
                        events += self._beside
                        self._beside.clear()
                    elif delta and content is not None:
                        self._frame.learn(payload, content)
                    if content is None:
                        events += read_choice(self._reader, delta) if delta else ()
                        continue
                text.append(content)
        finally:
            flush()

    def _delta(self, payload: bytes) -> JsonObject | None:
        """Return what a chunk adds to the answer; notes usage and the reason of stopping."""
        if payload == _DONE or self.ended:
            self.ended = True
            return None
        chunk = decode(payload)
        if not isinstance(chunk, dict):
            chunk = self._odd_chunk(payload)
            if chunk is None:
                return None
        elif self._half:
            chunk = self._joined(chunk)
        if chunk.get("error"):
            if written := refused_text(chunk):
                self._reason, self.ended = "stop", True
                return {"content": written}
            raise http_failure(self._where, status_in(chunk), {}, payload)
        if chunk.get("usage"):
            self._usage = later(usage_of(chunk), self._usage)
        if (extra := extra_of(chunk)) and not extra.items() <= self._told.items():
            new = {name: value for name, value in extra.items() if self._told.get(name) != value}
            self._told |= new
            self._beside.append(Extra("answer", new))
        return self._choice(chunk, payload)

    def _choice(self, chunk: JsonObject, payload: bytes) -> JsonObject | None:
        choices = chunk.get("choices")
        if not choices:
            if chunk.keys() <= _ERROR_FIELDS and error_text(chunk):
                raise http_failure(self._where, status_in(chunk), {}, payload)
            return None
        choice = first_choice(choices)
        if choice is None:
            raise failure("broken_off", f"{self._where} sent a chunk that is no chat completion's: {payload[:120]!r}")
        if choice.get("index") not in _FIRST:
            return None  # A second answer, which nobody asked for.
        self._reason = choice.get("finish_reason") or self._reason
        if choice.get("usage"):
            self._usage = later(usage_of(chunk), self._usage)
        if extra := choice_extra(choice):
            self._beside.append(Extra("choice", extra))
        return added_by(choice)

    def _odd_chunk(self, payload: bytes) -> JsonObject | None:
        """Read an event that strict JSON is not, or that says nothing."""
        bare = payload.strip()
        self.ended = bare == _DONE
        if self.ended or bare in _NOTHING:
            return None
        chunk = decode_leniently(bare)
        if not isinstance(chunk, dict):
            raise failure("broken_off", f"{self._where} sent an event that is not JSON: {payload[:120]!r}")
        return self._joined(chunk)

    def _joined(self, chunk: JsonObject) -> JsonObject:
        """Put together what was cut in the middle of a character; what has no other half becomes U+FFFD."""
        choice = first_choice(chunk.get("choices"))
        delta = added_by(choice) if choice is not None else None
        if choice is None or delta is None or not isinstance(delta.get("content"), str):
            return cast("JsonObject", mended(chunk))
        text = self._half + delta["content"]
        self._half = text[-1] if "\ud800" <= text[-1:] <= "\udbff" else ""
        whole = text[: len(text) - len(self._half)]
        return cast("JsonObject", mended({**chunk, "choices": [{**choice, "delta": {**delta, "content": whole}}]}))

    def _end(self) -> list[ChatEvent]:
        if not self.ended and self._reason is None:
            raise failure("broken_off", f"{self._where} ended its stream in the middle of the answer.")
        rest = self._reader.text("\ufffd") if self._half else []
        return rest + self._reader.finish(reason_of(self._reason, self._where), self._usage)


def _words_alone(delta: JsonObject | None) -> str | None:
    """Return the text of a delta that adds nothing else."""
    if not delta:
        return None
    content = delta.get("content")
    return content if type(content) is str and (len(delta) == 1 or (len(delta) == 2 and "role" in delta)) else None


class _Frame:
    """What stands round the text of a chunk: from one to the next it seldom changes, so that only the text is decoded.

    Bytes that are the same mean the same: whatever else a chunk says, the one that was learned from has said it.
    """

    _CONTENT = re.compile(rb'"content":\s*("(?:[^"\\]|\\.)*")', re.DOTALL)
    _TRIES = 4
    """Frames that nothing came in, until an endpoint is taken for one whose every chunk differs."""

    __slots__ = ("_after", "_before", "_is_first", "_tries", "_was_met")

    def __init__(self) -> None:
        self._before = b"\n"  # As no payload begins.
        self._after = b""
        self._is_first = True
        self._was_met = False
        self._tries = self._TRIES

    def text_in(self, payload: bytes) -> str | None:
        """Return the text of a chunk that has this frame."""
        if not (payload.startswith(self._before) and payload.endswith(self._after)):
            return None
        try:
            text = orjson.loads(payload[len(self._before) : len(payload) - len(self._after)])
        except orjson.JSONDecodeError:
            return None
        self._was_met = True
        return text if type(text) is str else None

    def learn(self, payload: bytes, text: str) -> None:
        """Take the frame of a chunk that was read in full, if its text stands there once and plainly."""
        if self._is_first:
            self._is_first = False  # It often says more than the others, and is all there is of a short answer.
            return
        self._tries = self._TRIES if self._was_met else self._tries - 1
        if self._tries < 0:
            return
        found = self._CONTENT.search(payload)
        if found and not self._CONTENT.search(payload, found.end()) and decode(found[1]) == text:
            self._before, self._after = payload[: found.start(1)], payload[found.end(1) :]
            self._was_met = False


def status_in(answer: JsonObject) -> int:
    """Return the HTTP status that an error inside a 200 stands for."""
    error = answer.get("error")
    for key in ("code", "status_code", "status"):
        code = error.get(key) if isinstance(error, dict) else None
        if isinstance(code, int) and 400 <= code < 600:
            return code
    return 429 if "rate limit" in error_text(answer).lower() else 502
