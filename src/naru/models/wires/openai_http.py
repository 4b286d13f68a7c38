"""Any OpenAI-compatible endpoint, streaming: llama.cpp, vLLM, LM Studio, OpenAI, Gemini's own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Sequence
from contextlib import aclosing, suppress
from dataclasses import replace

from naru.deadlines import bound
from naru.errors import ModelError
from naru.http1.reply import Reply
from naru.messages import ChatEvent, ChatRequest, Extra
from naru.models.answers.normalise import AnswerReader
from naru.models.backend import InBatches, Take
from naru.models.known import engines, sight, size
from naru.models.known.adapt import Learned
from naru.models.known.context_length import of_listed, of_props
from naru.models.known.knowledge import Knowledge, Said
from naru.models.known.listed import name_of, rows_of
from naru.models.known.profile import Profile
from naru.models.local.engine import LocalEngine
from naru.models.transport.endpoint import WHOLE_BODY_BYTES, Endpoint
from naru.models.transport.failures import decode, failure, http_failure, looks_like_html, refused_text
from naru.models.transport.http_pool import HttpPool
from naru.models.transport.json_text import encode
from naru.models.wires.openai_stream import AnswerStream, status_in
from naru.models.wires.openai_wire import (
    added_by,
    choice_extra,
    extra_of,
    first_choice,
    read_choice,
    reason_of,
    request_body,
    usage_of,
)
from naru.models.wires.tries import Knowing

__all__ = ["Endpoint", "OpenAIBackend"]

_REST_SECONDS = 5.0
"""How long counts and the end's mark may take after the reason of stopping, or the last words."""


class OpenAIBackend(InBatches, Knowing):
    """A `Backend` over the chat completions API.

    `http` is open to the chat proxy's raw path, which shares the connections.
    """

    openai_path = ""
    """Where the endpoint has embeddings and plain completions in OpenAI's form."""

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
        super().__init__(profile, model)
        self.endpoint = endpoint
        self.http = HttpPool(endpoint, timeout_seconds=timeout_seconds)
        self._root = HttpPool(replace(endpoint, base_url=endpoint.base_url.removesuffix("/v1")), timeout_seconds=5.0)
        """For the engines' own paths, which stand beside /v1."""
        self._schemas = schemas
        self._engine = engine

    @property
    def is_local(self) -> bool:
        """Whether a local engine of ours is behind the endpoint."""
        return self._engine is not None

    @property
    def where(self) -> str:
        """How messages name this endpoint."""
        return self.http.where

    async def batches(self, request: ChatRequest) -> AsyncGenerator[Sequence[ChatEvent]]:
        """Ask once; what arrived together is given together, see `Batching`."""
        answer, reader, learned = await self._ask(request)
        try:
            if answer.content_type != "text/event-stream":
                events = await self._read_whole(answer, reader)
                answer.release()
                yield events
                return
            stream = AnswerStream(self.where, reader)
            async with aclosing(_batches(answer, stream)) as batches:
                async for events in batches:
                    yield events
            if events := _last_of(stream, answer):
                yield events
            if stream.failure is not None:
                raise stream.failure
        finally:
            learned.saw_reasoning(reader.reasoned_in)
            answer.close()

    async def deliver(self, request: ChatRequest, take: Take) -> None:
        """Ask once; what arrives is read and taken in the connection's own turn of the event loop."""
        answer, reader, learned = await self._ask(request)
        try:
            if answer.content_type != "text/event-stream":
                await _taken(take(await self._read_whole(answer, reader)))
                answer.release()
                return
            stream = AnswerStream(self.where, reader)

            def read(piece: bytes) -> Awaitable[None] | None:
                events = stream.feed(piece)
                if stream.ended or stream.is_said:
                    answer.leave()
                return take(events) if events else None

            await answer.each(read)
            async with aclosing(_batches(answer, stream)) as rest:
                async for events in rest:
                    await _taken(take(events))
            if events := _last_of(stream, answer):
                await _taken(take(events))
            if stream.failure is not None:
                raise stream.failure
        finally:
            learned.saw_reasoning(reader.reasoned_in)
            answer.close()

    async def _ask(self, request: ChatRequest) -> tuple[Reply, AnswerReader, Learned]:
        """Ask until the endpoint takes the request in one of its forms; see `adapt`."""
        if self._engine is not None:
            await self._engine.ensure_running()
        tries = self.tries(request, self._schemas, self.where)
        while True:
            sent, offered = tries.next()
            body = request_body(sent, tries.profile, model=tries.model, tools=offered.declared(sent))
            answer = await self._post(encode(body))
            if answer.status >= 300:
                tries.refused(await self.http.refusal(answer))
            elif reader := tries.taken():
                return answer, reader, tries.learned
            else:
                answer.close()

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
            stream = AnswerStream(self.where, reader)
            events = [*stream.feed(text), *stream.close()]
            if stream.failure is not None:
                raise stream.failure
            return events
        return self._whole(decode(text), text, reader)

    def _whole(self, answer: object, body: bytes, reader: AnswerReader) -> list[ChatEvent]:
        """Read an answer of an endpoint that does not stream."""
        if answer is None and body.lstrip().startswith(b"{"):
            raise failure("broken_off", f"{self.where} answered 200 with JSON that is not whole: {body[:120]!r}.")
        if not isinstance(answer, dict):
            raise failure("not_an_api", f"{self.where} answered 200 with something that is no JSON: {body[:120]!r}")
        if answer.get("error"):
            if written := refused_text(answer):
                return reader.text(written) + reader.finish("stop", usage_of(answer))
            raise http_failure(self.where, status_in(answer), {}, body)
        choices = answer.get("choices")
        if not choices:
            raise failure("not_an_api", f"{self.where} answered without choices: {body[:200]!r}")
        choice = first_choice(choices)
        if choice is None:
            raise failure("not_an_api", f"{self.where} answered with choices that are none: {body[:200]!r}")
        events: list[ChatEvent] = [Extra("answer", extra)] if (extra := extra_of(answer)) else []
        if extra := choice_extra(choice):
            events.append(Extra("choice", extra))
        events += read_choice(reader, added_by(choice) or {})
        return events + reader.finish(reason_of(choice.get("finish_reason"), self.where), usage_of(answer))

    async def inform(self, model: str) -> None:
        """Ask the endpoint for a model's context, size and engine: its list, then what llama.cpp and LM Studio have."""
        name = model or self.model
        await self.knowledge.ask(name, lambda: self._said_of(name))

    async def _said_of(self, model: str) -> Said:
        listed = decode(await self.http.get("/models"))
        row, parameters = of_listed(listed, model), size.of_listed(listed, model)
        said = Said(row, parameters, engines.of_listed(listed), sight.of_listed(listed, model))
        with suppress(ModelError):
            # What the engine runs with counts, not what the model was trained for.
            props = decode(await self._root.get("/props"))
            sees = said.sees if (told := sight.of_props(props)) is None else told
            said = Said(of_props(props) or row, parameters, engines.of_props(props) or said.schema_form, sees)
        if not said.schema_form and self._engine is None:
            with suppress(ModelError):
                studio = decode(await self._root.get("/api/v0/models"))
                if form := engines.of_lm_studio(studio):
                    sees = sight.of_listed(studio, model)
                    said = Said(of_listed(studio, model) or said.context_tokens, parameters, form, sees)
        return said

    async def models(self) -> Sequence[str]:
        """Return the names of the models that the endpoint serves."""
        try:
            body = await self.http.get("/models")
        except ModelError as error:
            return self.unlisted(error)
        listed = decode(body)
        rows = rows_of(listed)
        if rows is None:
            raise failure("not_an_api", f"{self.where} lists no models but {body[:120]!r}")
        self.knowledge.engine_takes(engines.of_listed(listed))
        return list(filter(None, map(name_of, rows)))

    async def close(self) -> None:
        """Close the connections, then what was opened for them."""
        await self.http.close()
        await self._root.close()
        if self._engine is not None:
            await self._engine.stop()


async def _batches(answer: Reply, stream: AnswerStream) -> AsyncGenerator[list[ChatEvent]]:
    """Give what arrives until the answer has ended, which some endpoints never say: they send pings, or nothing."""
    now = asyncio.get_running_loop().time
    until = now() + _REST_SECONDS
    while not stream.ended:
        if stream.is_said:
            piece = b""
            with suppress(TimeoutError, ModelError), bound(until - now()):
                piece = await answer.read()
        else:
            piece = await answer.read()
            until = now() + _REST_SECONDS
        if not piece:
            return
        if events := stream.feed(piece):
            yield events
            until = now() + _REST_SECONDS


async def _taken(behind: Awaitable[None] | None) -> None:
    if behind is not None:
        await behind


def _last_of(stream: AnswerStream, answer: Reply) -> list[ChatEvent]:
    """Return the last events; the connection of an answer that ended well is kept."""
    events = stream.close()
    if stream.failure is None:
        answer.release()
    return events
