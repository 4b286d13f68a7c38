"""Ollama's native API: unlike its /v1, it lets the context size be set, whose default silently cuts tool prompts."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace

from naru.messages import ChatEvent, ChatRequest, Extra, ImagePart, JsonObject, MediaPart, Message, Usage
from naru.models.answers.normalise import AnswerReader
from naru.models.asking.answer_form import form_asked
from naru.models.asking.strategy import OF_OLLAMA, strategy_for
from naru.models.known import sight, size
from naru.models.known.context_length import of_ollama
from naru.models.known.count import count
from naru.models.known.knowledge import Knowledge, Said
from naru.models.known.profile import Profile
from naru.models.known.thinking import WORDS, effort_asked
from naru.models.transport.endpoint import WHOLE_BODY_BYTES, Endpoint
from naru.models.transport.failures import decode, error_text, failure
from naru.models.transport.json_text import encode
from naru.models.transport.sse import LineReader
from naru.models.wires.frame import Splitter, WireBackend

_OPTIONS = (
    *("seed", "top_k", "top_p", "min_p", "typical_p", "repeat_last_n", "repeat_penalty"),
    *("presence_penalty", "frequency_penalty"),
)
_PASSED = ("keep_alive", "logprobs", "top_logprobs")
_API = re.compile(r"/(?:v1|api(?:/\w+)?)$")
"""With what people end its address; a path before it, of a proxy, stays."""
_NOTHING_KNOWN = Profile()
DEFAULT_CONTEXT = 8192
"""Ollama's own default, 4096 or less, cuts tool prompts without a word; more would cost memory that nobody gave."""


class OllamaBackend(WireBackend):
    """A `Backend` over Ollama's /api/chat."""

    path = "/api/chat"
    schemas = "ollama"
    takes = frozenset({*_OPTIONS, *_PASSED, *WORDS, "temperature", "stop", "response_format"})
    form_beside_tools = False
    pictures_in_results = False
    whole_answers = False
    openai_path = "/v1"
    """Where the endpoint has embeddings and plain completions in OpenAI's form."""
    listing = ("/api/tags", "models", ("name", "model"))

    def __init__(
        self,
        endpoint: Endpoint,
        profile: Profile | Knowledge | None = None,
        *,
        model: str = "",
        context_tokens: int = 0,
        timeout_seconds: float = 120.0,
    ) -> None:
        root = replace(endpoint, base_url=_API.sub("", endpoint.base_url))
        super().__init__(root, profile, model=model, timeout_seconds=timeout_seconds)
        self._context_tokens = context_tokens
        """0 takes the model's own `num_ctx`, else `DEFAULT_CONTEXT` or what it was trained for, if that is less."""

    async def batches(self, request: ChatRequest) -> AsyncGenerator[Sequence[ChatEvent]]:
        """Ask once, with the model's size of context; see `Batching`."""
        if not self._context_tokens:
            await self.inform(request.model)
        async with aclosing(super().batches(request)) as batches:
            async for batch in batches:
                yield batch

    def body(self, sent: ChatRequest, model: str, tools: list[JsonObject], profile: Profile) -> JsonObject:
        """Build the body."""
        own = sent.extra.get(OF_OLLAMA, {})
        said = own.get("num_ctx") or self.knowledge.of(model).said_tokens
        tokens = self._context_tokens or said or DEFAULT_CONTEXT
        body = chat_body(sent, model=model, context_tokens=tokens, profile=profile)
        if isinstance(choice := sent.tool_choice, dict):  # There is no word for it; what is not shown is not chosen.
            tools = [tool for tool in tools if tool["function"]["name"] == choice["function"]["name"]]
        return {**body, "tools": tools} if tools else body

    async def load(self, request: ChatRequest) -> None:
        """Have a model loaded, or unloaded where the request keeps it for no time: what a request without turns does.

        Raises:
            ModelError: it cannot be.
        """
        if not self._context_tokens:
            await self.inform(request.model)
        body = self.body(request, request.model or self.model, [], self.profile)
        answer = await self.http.post(self.path, encode({**body, "stream": False}))
        if answer.status >= 400:
            raise await self.http.refusal(answer)
        try:
            await answer.read_some(WHOLE_BODY_BYTES)
            answer.release()
        finally:
            answer.close()

    def events(self, reader: AnswerReader) -> EventReader:
        """Read the stream's lines."""
        return EventReader(reader, self.http.where)

    def carries(self, part: MediaPart) -> bool:
        """Take pictures, as data."""
        return isinstance(part, ImagePart) and bool(part.data)

    def leaves_out(self, request: ChatRequest) -> frozenset[str]:
        """The settings' size of the context holds for every request; there is no word for a call that must be made."""
        own = request.extra.get(OF_OLLAMA, {})
        is_other = self._context_tokens and own.get("num_ctx") not in (None, self._context_tokens)
        profile = self.knowledge.of(request.model).profile
        wants_call = request.tools and request.tool_choice not in (None, "auto", "none")
        is_lost = wants_call and strategy_for(request, profile) == "native"
        return frozenset([*(["num_ctx"] if is_other else ()), *(["tool_choice"] if is_lost else ())])

    def split(self) -> Splitter:
        """Split lines."""
        return LineReader()

    async def inform(self, model: str) -> None:
        """Ask for the size of a model and of its context."""
        name = model or self.model
        await self.knowledge.ask(name, lambda: self._said_of(name))

    async def _said_of(self, model: str) -> Said:
        answer = await self.http.post("/api/show", encode({"model": model}))
        if answer.status >= 400:  # Not loaded yet, not pulled yet: it may say so later.
            raise await self.http.refusal(answer)
        try:
            shown = decode(await answer.read_some(WHOLE_BODY_BYTES))
            answer.release()
        finally:
            answer.close()
        chosen, longest = of_ollama(shown)
        told = self._context_tokens or chosen or min(longest or DEFAULT_CONTEXT, DEFAULT_CONTEXT)
        return Said(told, size.of_ollama(shown), sees=sight.of_ollama(shown))


class EventReader:
    """Reads the objects of one stream."""

    def __init__(self, reader: AnswerReader, where: str) -> None:
        self.ended = False
        self._reader = reader
        self._where = where

    def feed(self, event: JsonObject) -> list[ChatEvent]:
        """Read one object; the one that is `done` gives the end.

        Raises:
            ModelError: the endpoint tells an error.
        """
        if event.get("error"):
            raise failure("overloaded", f"{self._where} failed: {error_text(event)}", status=500)
        events = _read_message(self._reader, event.get("message") or {})
        if told := event.get("logprobs"):
            events.append(Extra("choice", {"logprobs": {"content": told}}))
        if event.get("done"):
            self.ended = True
            events += self._reader.finish(event.get("done_reason"), _usage(event))
        return events

    def whole(self, answer: JsonObject) -> list[ChatEvent]:
        """Read an answer that came at once."""
        return self.feed(answer)


def chat_body(
    request: ChatRequest, *, model: str, context_tokens: int, profile: Profile = _NOTHING_KNOWN
) -> JsonObject:
    """Build the body of a streaming request, already prepared."""
    options: JsonObject = {"num_ctx": context_tokens}
    if request.temperature is not None:
        options["temperature"] = request.temperature
    if request.max_tokens is not None:
        options["num_predict"] = request.max_tokens
    if request.stop:
        options["stop"] = list(request.stop)
    own = request.extra.get(OF_OLLAMA, {})
    kept = {name: own[name] for name in _PASSED if name in own}
    options = {name: value for name, value in own.items() if name not in kept} | options
    options |= {name: request.extra[name] for name in _OPTIONS if request.extra.get(name) is not None}
    names = {call.id: call.name for message in request.messages for call in message.tool_calls}
    body: JsonObject = {
        "model": model,
        "messages": [_message(message, names, thinks=profile.takes_thoughts) for message in request.messages],
        "stream": True,
        "options": options,
    }
    if (form := form_asked(request)) is not None:
        body["format"] = form
    if effort := effort_asked(request):
        body["think"] = _think(effort, profile)
    return body | kept | {name: request.extra[name] for name in _PASSED if name in request.extra}


def _think(effort: str, profile: Profile) -> bool | str:
    """Say how hard a model shall think; most of them take a yes or a no."""
    if effort == "none" or not profile.thinks_in_levels:
        return bool(effort != "none")
    return {"minimal": "low", "xhigh": "high", "max": "high"}.get(effort, effort)


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
    return Usage(count(answer.get("prompt_eval_count")), count(answer.get("eval_count")))
