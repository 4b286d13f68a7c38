"""Ollama's native API: unlike its /v1, it lets the context size be set, whose default silently cuts tool prompts."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import aiohttp

from naru.messages import ChatEvent, ChatRequest, ImagePart, JsonObject, MediaPart, Message, Usage
from naru.models.answers.normalise import AnswerReader
from naru.models.answers.parsing import answer_reader
from naru.models.asking.answer_form import form_asked
from naru.models.asking.offer import offer
from naru.models.asking.strategy import prepare
from naru.models.backend import Backend
from naru.models.known import size
from naru.models.known.context_length import of_ollama
from naru.models.known.knowledge import Knowledge, Said
from naru.models.known.profile import Profile
from naru.models.known.trial import Trial
from naru.models.narrowed import Narrowed
from naru.models.transport.endpoint import WHOLE_BODY_BYTES, Endpoint, HttpClient, read_some
from naru.models.transport.failures import decode, error_text, failure, http_failure
from naru.models.transport.json_text import encode

DEFAULT_CONTEXT = 8192
"""Ollama's own default, 4096 or less, cuts tool prompts without a word; more would cost memory that nobody gave."""


class OllamaBackend:
    """A `Backend` over Ollama's /api/chat."""

    def __init__(
        self,
        endpoint: Endpoint,
        profile: Profile | Knowledge | None = None,
        *,
        model: str = "",
        context_tokens: int = 0,
        timeout_seconds: float = 120.0,
    ) -> None:
        parts = urlsplit(endpoint.base_url)
        base_url = f"{parts.scheme}://{parts.netloc}"
        self.endpoint = Endpoint(base_url, endpoint.api_key, endpoint.extra_headers)
        self.http = HttpClient(self.endpoint, timeout_seconds=timeout_seconds)
        self.model = model
        self.knowledge = profile if isinstance(profile, Knowledge) else Knowledge(profile, default_model=model)
        self._context_tokens = context_tokens
        """0 takes the model's own `num_ctx`, else `DEFAULT_CONTEXT` or what it was trained for, if that is less."""
        self._told: dict[str, int] = {}
        """Model → that size."""

    @property
    def profile(self) -> Profile:
        """Facts about the model family behind this endpoint, mended by what it refused."""
        return self.knowledge.of(self.model).profile

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ChatEvent]:
        """Ask once, streaming; see `Backend.stream`."""
        with self.http.failures():
            async with self._opened(request) as (response, reader):
                async for line in response.content:
                    if not line.strip():
                        continue
                    answer = self._decode(line)
                    for event in _read_message(reader, answer.get("message") or {}):
                        yield event
                    if answer.get("done"):
                        for event in reader.finish(answer.get("done_reason"), _usage(answer)):
                            yield event
                        return
                raise failure("broken_off", f"{self.http.where} ended its stream in the middle of the answer.")

    @asynccontextmanager
    async def _opened(self, request: ChatRequest) -> AsyncIterator[tuple[aiohttp.ClientResponse, AnswerReader]]:
        if not self._context_tokens:
            await self.inform(request.model)
        learned = self.knowledge.of(request.model)
        trial = Trial(learned, request, "ollama")
        while True:
            offered = offer(trial.asked, trial.form)
            sent = prepare(offered.request, learned.profile, _carries, endpoint=self.http.where)
            tokens = self._context_tokens or self._told.get(request.model or self.model, DEFAULT_CONTEXT)
            model = request.model or self.model
            thinks = learned.profile.reasoning not in ("", "none")
            body = chat_body(sent, model=model, context_tokens=tokens, thinks=thinks)
            if sent.tools:
                body["tools"] = offered.declared(sent)
            response = await self.http.post("/api/chat", encode(body))
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
            yield response, reader
        finally:
            learned.saw_reasoning(reader.reasoned_in)
            response.release()

    def _decode(self, line: bytes) -> JsonObject:
        answer = decode(line)
        if not isinstance(answer, dict):
            raise failure("not_an_api", f"{self.http.where} answered with something that is no JSON: {line[:120]!r}")
        if answer.get("error"):
            raise failure("overloaded", f"{self.http.where} failed: {error_text(answer)}", status=500)
        return answer

    def for_model(self, model: str) -> Backend:
        """Return a view of one model, with its own profile."""
        return self if model in {"", self.model} else Narrowed(self, model, lambda: self.knowledge.of(model).profile)

    async def inform(self, model: str) -> None:
        """Ask for the size of a model and of its context."""
        name = model or self.model
        await self.knowledge.ask(name, lambda: self._said_of(name))

    async def _said_of(self, model: str) -> Said:
        with self.http.failures():
            async with await self.http.post("/api/show", encode({"model": model})) as response:
                shown = decode(await read_some(response, WHOLE_BODY_BYTES)) if response.status < 400 else None
        chosen, longest = of_ollama(shown)
        told = self._context_tokens or chosen or min(longest or DEFAULT_CONTEXT, DEFAULT_CONTEXT)
        self._told[model] = told
        return Said(told, size.of_ollama(shown))

    async def models(self) -> Sequence[str]:
        """Return the names of the models that are installed there."""
        listed = decode(await self.http.get("/api/tags"))
        if not isinstance(listed, dict):
            raise failure("not_an_api", f"{self.http.where} does not list models as Ollama does.")
        return [str(row.get("name") or row.get("model")) for row in listed.get("models") or [] if isinstance(row, dict)]

    async def close(self) -> None:
        """Close the connections."""
        await self.http.close()


def _carries(part: MediaPart) -> bool:
    """Tell whether this API has a form for a part: pictures, as data."""
    return isinstance(part, ImagePart) and bool(part.data)


def chat_body(request: ChatRequest, *, model: str, context_tokens: int, thinks: bool = False) -> JsonObject:
    """Build the body of a streaming request, already prepared; `thinks` gives a model its reasoning back."""
    options: JsonObject = {"num_ctx": context_tokens}
    if request.temperature is not None:
        options["temperature"] = request.temperature
    if request.max_tokens is not None:
        options["num_predict"] = request.max_tokens
    if request.stop:
        options["stop"] = list(request.stop)
    if (seed := request.extra.get("seed")) is not None:
        options["seed"] = seed
    if (top_p := request.extra.get("top_p")) is not None:
        options["top_p"] = top_p
    names = {call.id: call.name for message in request.messages for call in message.tool_calls}
    body: JsonObject = {
        "model": model,
        "messages": [_message(message, names, thinks=thinks) for message in request.messages],
        "stream": True,
        "options": options,
    }
    if (form := form_asked(request)) is not None:
        body["format"] = form
    if "reasoning_effort" in request.extra:
        body["think"] = request.extra["reasoning_effort"] != "none"
    for field in ("think", "keep_alive"):
        if field in request.extra:
            body[field] = request.extra[field]
    return body


def _message(message: Message, names: dict[str, str], *, thinks: bool) -> JsonObject:
    shown: JsonObject = {"role": message.role, "content": message.text}
    if thinks and message.reasoning and message.role == "assistant":
        shown["thinking"] = message.reasoning
    if isinstance(message.content, tuple) and message.role != "tool":
        images = [part.data for part in message.content if isinstance(part, ImagePart) and part.data]
        if images:
            words = tuple(part for part in message.content if not (isinstance(part, ImagePart) and part.data))
            shown |= {"content": Message(message.role, words).text, "images": images}
    if message.tool_calls:
        shown["tool_calls"] = [
            {"function": {"name": one.name, "arguments": one.arguments}} for one in message.tool_calls
        ]
    if message.role == "tool":
        shown["tool_name"] = message.name or names.get(message.tool_call_id, "")
    return shown


def _read_message(reader: AnswerReader, message: JsonObject) -> list[ChatEvent]:
    events: list[ChatEvent] = []
    if thinking := message.get("thinking"):
        events += reader.reasoning(str(thinking), "thinking")
    if content := message.get("content"):
        events += reader.text(str(content))
    for call in message.get("tool_calls") or ():
        function = call.get("function") or {}
        # Each call comes whole; a fresh key keeps two of the same tool apart.
        events += reader.whole_call(str(call.get("id") or ""), function.get("name") or "", function.get("arguments"))
    return events


def _usage(answer: JsonObject) -> Usage:
    return Usage(int(answer.get("prompt_eval_count") or 0), int(answer.get("eval_count") or 0))
