"""Any OpenAI-compatible endpoint, streaming: llama.cpp, vLLM, LM Studio, OpenAI, Gemini's own."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import cast

from naru.errors import ModelError
from naru.http1.reply import Reply
from naru.messages import ChatEvent, ChatRequest, JsonObject, Usage
from naru.models.adapt import ATTEMPTS
from naru.models.backend import Backend
from naru.models.endpoint import ERROR_BODY_BYTES, WHOLE_BODY_BYTES, Endpoint
from naru.models.failures import decode, error_text, failure, http_failure, looks_like_html, refused_text
from naru.models.http_pool import HttpPool
from naru.models.json_text import decode_leniently, encode, mended
from naru.models.knowledge import Knowledge
from naru.models.local import LocalEngine
from naru.models.narrowed import Narrowed
from naru.models.normalise import AnswerReader
from naru.models.offer import offer
from naru.models.openai_wire import added_by, first_choice, read_choice, request_body, usage_of
from naru.models.parsing import answer_reader
from naru.models.profile import Profile
from naru.models.sse import SseReader
from naru.models.strategy import prepare

_DONE = b"[DONE]"
_NOTHING = frozenset({b"", b"null"})
_ERROR_FIELDS = frozenset({"object", "type", "message", "detail", "code", "status", "param"})
"""Of an error that stands for itself: in `event: error`, or in vLLM's own form."""
_FIRST = frozenset({None, 0, "0"})
"""What the index of the one answer that was asked for may say."""
__all__ = ["Endpoint", "OpenAIBackend"]


class OpenAIBackend:
    """A `Backend` over the chat completions API.

    `http` is open to the chat proxy's raw path, which shares the connections.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        profile: Profile | Knowledge | None = None,
        *,
        model: str = "",
        schemas: str = "openai",
        timeout_seconds: float = 120.0,
        engine: LocalEngine | None = None,
    ) -> None:
        """Take an endpoint; nothing is sent yet.

        Args:
            endpoint: where it is.
            profile: facts about its one model, or what is known of its models; None goes by their names.
            model: sent when a request names no model.
            schemas: form of tool schemas that the endpoint takes, a row of `tools.provider_schemas`.
            timeout_seconds: longest silence.
            engine: the local engine behind the endpoint: started again when it has died, stopped at the end.
        """
        self.endpoint = endpoint
        self.model = model
        self.knowledge = profile if isinstance(profile, Knowledge) else Knowledge(profile, default_model=model)
        self.http = HttpPool(endpoint, timeout_seconds=timeout_seconds)
        self._schemas = schemas
        self._engine = engine

    @property
    def is_local(self) -> bool:
        """Whether a local engine of ours is behind the endpoint."""
        return self._engine is not None

    @property
    def profile(self) -> Profile:
        """Facts about the model family behind this endpoint, mended by what it refused."""
        return self.knowledge.of(self.model).profile

    @property
    def where(self) -> str:
        """How messages name this endpoint."""
        return self.http.where

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ChatEvent]:
        """Ask once, streaming; see `Backend.stream`."""
        async with aclosing(self.batches(request)) as batches:
            async for batch in batches:
                for event in batch:
                    yield event

    async def batches(self, request: ChatRequest) -> AsyncGenerator[Sequence[ChatEvent]]:
        """Ask once; what arrived together is given together, see `Batching`."""
        answer, reader = await self._ask(request)
        try:
            if answer.content_type != "text/event-stream":
                events = await self._read_whole(answer, reader)
                answer.release()
                yield events
                return
            # One loop, no generator in a generator: this is the path of every delta.
            sse = SseReader()
            state = _StreamState()
            while not state.done and (chunk := await answer.read()):
                events = []
                try:
                    self._read(sse.feed(chunk), events, reader, state)
                finally:
                    if events and not state.done:  # Also before an error: what was said stays said.
                        yield events
            if not state.done:
                events = []
                self._read(sse.close(), events, reader, state)
            events += self._end(reader, state)
            answer.release()
            yield events
        finally:
            answer.close()

    async def _ask(self, request: ChatRequest) -> tuple[Reply, AnswerReader]:
        """Ask until the endpoint takes the request in one of its forms; see `adapt`."""
        if self._engine is not None:
            await self._engine.ensure_running()
        learned = self.knowledge.of(request.model)
        for attempt in range(1, ATTEMPTS + 1):
            asked = learned.without_refused(request)
            offered = offer(asked, self._schemas)
            sent = prepare(offered.request, learned.profile)
            model = request.model or self.model
            body = request_body(sent, learned.profile, model=model, tools=offered.declared(sent))
            answer = await self._post(encode(body))
            if answer.status < 300:
                break
            error = await self._refusal(answer)
            if attempt == ATTEMPTS or not learned.learn(error, asked):
                raise error
        return answer, answer_reader(offered.request, learned.profile, offered.names)

    async def _refusal(self, answer: Reply) -> ModelError:
        try:
            error = http_failure(self.where, answer.status, answer.headers, await answer.read_some(ERROR_BODY_BYTES))
            answer.release()
        finally:
            answer.close()
        return error

    async def _post(self, body: bytes) -> Reply:
        try:
            return await self.http.post("/chat/completions", body)
        except ModelError as error:
            # An engine that dies accepts, and breaks off, what comes in its last moment.
            is_gone = error.code in ("unreachable", "broken_off")
            if not is_gone or self._engine is None or not await self._engine.has_died():
                raise
        await self._engine.ensure_running()
        return await self.http.post("/chat/completions", body)

    async def _read_whole(self, answer: Reply, reader: AnswerReader) -> list[ChatEvent]:
        """Read an answer that is no event stream, or does not say so."""
        text = await answer.read_some(WHOLE_BODY_BYTES)
        if looks_like_html(answer.content_type, text):
            shown = text[:200].decode("utf-8", "replace")
            what = f"a web page ({answer.content_type}): {shown}"
            raise failure("not_an_api", f"{self.where} answered {answer.status} with {what}", status=200)
        if text.lstrip().startswith((b"data:", b":", b"event:")):
            sse = SseReader()
            return self._read_payloads([*sse.feed(text), *sse.close()], reader)
        return self._whole(decode(text), text, reader)

    def _read_payloads(self, payloads: Sequence[bytes], reader: AnswerReader) -> list[ChatEvent]:
        state = _StreamState()
        events: list[ChatEvent] = []
        self._read(payloads, events, reader, state)
        return events + self._end(reader, state)

    def _read(
        self, payloads: Sequence[bytes], events: list[ChatEvent], reader: AnswerReader, state: _StreamState
    ) -> None:
        """Read what arrived together into `events`: neighbouring pieces of text are read as one."""
        text: list[str] = []
        try:
            for payload in payloads:
                delta = self._delta(payload, state)
                if not delta:
                    continue
                content = delta.get("content")
                if type(content) is str and (len(delta) == 1 or (len(delta) == 2 and "role" in delta)):
                    text.append(content)
                    continue
                if text:
                    events += reader.text("".join(text))
                    text.clear()
                events += read_choice(reader, delta)
        finally:
            if text:
                events += reader.text("".join(text))

    def _delta(self, payload: bytes, state: _StreamState) -> JsonObject | None:
        """Return what a chunk adds to the answer; notes usage and the reason of stopping."""
        if payload == _DONE or state.done:
            state.done = True
            return None
        chunk = decode(payload)
        if not isinstance(chunk, dict):
            chunk = self._odd_chunk(payload, state)
            if chunk is None:
                return None
        elif state.half:
            chunk = state.joined(chunk)
        if chunk.get("error"):
            if written := refused_text(chunk):
                state.reason, state.done = "stop", True
                return {"content": written}
            raise http_failure(self.where, _status_in(chunk), {}, payload)
        if chunk.get("usage"):
            state.usage = usage_of(chunk)
        choices = chunk.get("choices")
        if not choices:
            if chunk.keys() <= _ERROR_FIELDS and error_text(chunk):
                raise http_failure(self.where, _status_in(chunk), {}, payload)
            return None
        choice = first_choice(choices)
        if choice is None:
            raise failure("broken_off", f"{self.where} sent a chunk that is no chat completion's: {payload[:120]!r}")
        if choice.get("index") not in _FIRST:
            return None  # A second answer, which nobody asked for.
        state.reason = choice.get("finish_reason") or state.reason
        return added_by(choice)

    def _odd_chunk(self, payload: bytes, state: _StreamState) -> JsonObject | None:
        """Read an event that strict JSON is not, or that says nothing."""
        bare = payload.strip()
        state.done = bare == _DONE
        if state.done or bare in _NOTHING:
            return None
        chunk = decode_leniently(bare)
        if not isinstance(chunk, dict):
            raise failure("broken_off", f"{self.where} sent an event that is not JSON: {payload[:120]!r}")
        return state.joined(chunk)

    def _end(self, reader: AnswerReader, state: _StreamState) -> list[ChatEvent]:
        if not state.done and state.reason is None:
            raise failure("broken_off", f"{self.where} ended its stream in the middle of the answer.")
        rest = reader.text("\ufffd") if state.half else []
        return rest + reader.finish(state.reason, state.usage)

    def _whole(self, answer: object, body: bytes, reader: AnswerReader) -> list[ChatEvent]:
        """Read an answer of an endpoint that does not stream."""
        if not isinstance(answer, dict):
            raise failure("not_an_api", f"{self.where} answered 200 with something that is no JSON: {body[:120]!r}")
        if answer.get("error"):
            if written := refused_text(answer):
                return reader.text(written) + reader.finish("stop", usage_of(answer))
            raise http_failure(self.where, _status_in(answer), {}, body)
        choices = answer.get("choices")
        if not choices:
            raise failure("not_an_api", f"{self.where} answered without choices: {body[:200]!r}")
        choice = first_choice(choices)
        if choice is None:
            raise failure("not_an_api", f"{self.where} answered with choices that are none: {body[:200]!r}")
        events = read_choice(reader, added_by(choice) or {})
        return events + reader.finish(choice.get("finish_reason"), usage_of(answer))

    def for_model(self, model: str) -> Backend:
        """Return a view of one model, with its own profile."""
        return self if model in {"", self.model} else Narrowed(self, model, lambda: self.knowledge.of(model).profile)

    async def models(self) -> Sequence[str]:
        """Return the names of the models that the endpoint serves."""
        body = await self.http.get("/models")
        listed = decode(body)
        if not isinstance(listed, dict):
            raise failure("not_an_api", f"{self.where} lists no models but {body[:120]!r}")
        rows = listed.get("data") or listed.get("models") or []
        return [str(row.get("id") or row.get("name")) for row in rows if isinstance(row, dict)]

    async def close(self) -> None:
        """Close the connections, then what was opened for them."""
        await self.http.close()
        if self._engine is not None:
            await self._engine.stop()


@dataclass(slots=True)
class _StreamState:
    reason: str | None = None
    usage: Usage | None = None
    done: bool = False
    half: str = ""
    """The first half of a surrogate pair that an endpoint has cut in two."""

    def joined(self, chunk: JsonObject) -> JsonObject:
        """Put together what was cut in the middle of a character; what has no other half becomes U+FFFD."""
        choice = first_choice(chunk.get("choices"))
        delta = added_by(choice) if choice is not None else None
        if choice is None or delta is None or not isinstance(delta.get("content"), str):
            return cast("JsonObject", mended(chunk))
        text = self.half + delta["content"]
        self.half = text[-1] if "\ud800" <= text[-1:] <= "\udbff" else ""
        whole = text[: len(text) - len(self.half)]
        return cast("JsonObject", mended({**chunk, "choices": [{**choice, "delta": {**delta, "content": whole}}]}))


def _status_in(answer: JsonObject) -> int:
    """Return the HTTP status that an error inside a 200 stands for."""
    error = answer.get("error")
    for key in ("code", "status_code", "status"):
        code = error.get(key) if isinstance(error, dict) else None
        if isinstance(code, int) and 400 <= code < 600:
            return code
    return 429 if "rate limit" in error_text(answer).lower() else 502
