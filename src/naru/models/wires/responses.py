"""A model endpoint that speaks OpenAI's Responses API."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager

import aiohttp

from naru.messages import ChatEvent, ChatRequest
from naru.models.answers.parsing import answer_reader
from naru.models.asking.offer import offer
from naru.models.asking.strategy import prepare
from naru.models.backend import Backend
from naru.models.known.knowledge import Knowledge
from naru.models.known.profile import Profile
from naru.models.known.trial import Trial
from naru.models.narrowed import Narrowed
from naru.models.transport.endpoint import Endpoint, HttpClient, read_some
from naru.models.transport.failures import decode, failure, http_failure
from naru.models.transport.json_text import encode
from naru.models.transport.sse import SseReader
from naru.models.wires.responses_wire import EventReader, carries, responses_body


class ResponsesBackend:
    """A `Backend` over /v1/responses; nothing is kept there."""

    def __init__(
        self,
        endpoint: Endpoint,
        profile: Profile | Knowledge | None = None,
        *,
        model: str = "",
        timeout_seconds: float = 120.0,
    ) -> None:
        self.endpoint = endpoint
        self.http = HttpClient(endpoint, timeout_seconds=timeout_seconds)
        self.model = model
        self.knowledge = profile if isinstance(profile, Knowledge) else Knowledge(profile, default_model=model)

    @property
    def profile(self) -> Profile:
        """Facts about the model family behind this endpoint, mended by what it refused."""
        return self.knowledge.of(self.model).profile

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ChatEvent]:
        """Ask once, streaming; see `Backend.stream`."""
        with self.http.failures():
            async with self._opened(request) as (response, reader):
                split = SseReader()
                async for chunk in response.content.iter_any():
                    for payload in split.feed(chunk):
                        event = decode(payload)
                        for told in reader.feed(event) if isinstance(event, dict) else ():
                            yield told
                    if reader.ended:
                        return
                raise failure("broken_off", f"{self.http.where} ended its stream in the middle of the answer.")

    @asynccontextmanager
    async def _opened(self, request: ChatRequest) -> AsyncIterator[tuple[aiohttp.ClientResponse, EventReader]]:
        learned = self.knowledge.of(request.model)
        trial = Trial(learned, request, "openai")
        while True:
            offered = offer(trial.asked, trial.form)
            sent = prepare(offered.request, learned.profile, carries, endpoint=self.http.where)
            tools = offered.declared(sent) if sent.tools else []
            body = responses_body(sent, model=request.model or self.model, tools=tools)
            response = await self.http.post("/responses", encode(body))
            if response.status >= 400:
                error = http_failure(self.http.where, response.status, response.headers, await read_some(response))
                if refused := trial.refused(error, offered.own_names(sent)):
                    raise refused
            elif trial.accepted():
                break
            else:
                response.close()
        learned.succeeded(sent)
        reader = answer_reader(offered.request, learned.profile, offered.names)
        reader.notes = sent.notes
        try:
            yield response, EventReader(reader, self.http.where)
        finally:
            response.close()

    def for_model(self, model: str) -> Backend:
        """Return a view of one model, with its own profile."""
        return self if model in {"", self.model} else Narrowed(self, model, lambda: self.knowledge.of(model).profile)

    async def models(self) -> Sequence[str]:
        """Return the names of the models that the endpoint lists."""
        listed = decode(await self.http.get("/models"))
        if not isinstance(listed, dict):
            raise failure("not_an_api", f"{self.http.where} does not list models as OpenAI does.")
        return [str(row["id"]) for row in listed.get("data") or [] if isinstance(row, dict) and row.get("id")]

    async def close(self) -> None:
        """Close the connections."""
        await self.http.close()
