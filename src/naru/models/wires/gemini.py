"""Gemini and Gemma through Google's own SDK (`naru[gemini]`); the session below it is ours.

Gemma there has neither system field nor function declarations: its profile folds and prompts (R12).
"""

from __future__ import annotations

import base64
import binascii
import importlib
import secrets
from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import aiohttp

from naru.errors import ConfigError, ModelError, UserError
from naru.extras import install_command
from naru.messages import (
    AudioPart,
    ChatEvent,
    ChatRequest,
    ContentPart,
    Extra,
    ImagePart,
    JsonObject,
    MediaPart,
    Message,
    ResourcePart,
    Usage,
)
from naru.models.answers.normalise import AnswerReader
from naru.models.asking.answer_form import form_asked
from naru.models.known.count import later
from naru.models.known.knowledge import Knowledge
from naru.models.known.profile import Profile
from naru.models.known.thinking import WORDS, effort_asked
from naru.models.transport.endpoint import Endpoint
from naru.models.transport.failures import classify, failure, retry_after_seconds
from naru.models.wires.sdk_session import SdkSession
from naru.models.wires.tries import Knowing

DEFAULT_BASE_URL = "https://generativelanguage.googleapis.com"
_SIGNATURES_KEPT = 1000
_WHOLE_ANSWER_MILLISECONDS = 600_000
_NO_SIGNATURE = b"skip_thought_signature_validator"
"""Google's documented stand-in for calls whose signature is not known (from another model or an older run)."""
_PASSED = ("top_p", "top_k", "seed", "presence_penalty", "frequency_penalty")
_BUDGETS = {"none": 0, "minimal": 1024, "low": 1024, "medium": 8192, "high": 24576, "xhigh": 24576, "max": 24576}
_REASONS = {"STOP": "stop", "TOO_MANY_TOOL_CALLS": "stop", "MAX_TOKENS": "length", "CONTINUATION": "length"}
"""All others are filters."""
_NO_ENDS = frozenset(
    {"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MALFORMED_RESPONSE", "MISSING_THOUGHT_SIGNATURE"}
)
"""What the model wrote could not be read there, and is not told: the answer is not whole."""
_MISSHAPEN = (AttributeError, LookupError, OverflowError, TypeError, ValueError)
"""What the SDK raises for what it was not made for, from either side."""
_responses: ContextVar[list[aiohttp.ClientResponse] | None] = ContextVar("_responses", default=None)
"""The HTTP responses of the request that is being made, so that they can be closed."""


async def _remember(_: aiohttp.ClientSession, __: object, ended: aiohttp.TraceRequestEndParams) -> None:
    if (responses := _responses.get()) is not None:
        responses.append(ended.response)


def _sdk(name: str) -> Any:
    try:
        return importlib.import_module(f"google.genai{name}")
    except ImportError as error:
        raise ConfigError(
            "Gemini's SDK (google-genai) is not installed.", remedy=f"Install it: {install_command('gemini')}"
        ) from error


class GeminiBackend(Knowing):
    """A `Backend` over the Gemini API."""

    takes = frozenset({*_PASSED, *WORDS, "temperature", "stop", "response_format"})

    def __init__(
        self,
        endpoint: Endpoint,
        profile: Profile | Knowledge | None = None,
        *,
        model: str = "",
        timeout_seconds: float = 120.0,
    ) -> None:
        super().__init__(profile, model)
        self.endpoint = endpoint
        trace = aiohttp.TraceConfig()
        trace.on_request_end.append(_remember)
        keyless = Endpoint(endpoint.base_url, "", endpoint.extra_headers)
        self.http = SdkSession(keyless, timeout_seconds=timeout_seconds, trace=trace)
        self._client: Any = None
        self._signatures: OrderedDict[str, bytes] = OrderedDict()
        """Call id → thought signature, which Gemini 3 wants back beside the call."""

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ChatEvent]:
        """Ask once, streaming; see `Backend.stream`."""
        with self.http.failures(), self._api_failures():
            chunks, chunk, reader, responses = await self._opened(request)
            reason: str | None = None
            usage: Usage | None = None
            try:
                while chunk is not None:
                    reason = _reason_of(chunk) or reason
                    usage = later(_usage_of(chunk), usage)
                    with self._misshapen():
                        events = self._read(reader, chunk)
                    for event in events:
                        yield event
                    with self._misshapen():
                        chunk = await anext(chunks, None)
            finally:
                _close(responses)
            if reason is None:
                raise failure("broken_off", f"{self.http.where} ended its stream in the middle of the answer.")
            if reason in _NO_ENDS:
                raise failure("broken_off", f"{self.http.where} broke off its answer; its reason is {reason}.")
            for event in reader.finish(_REASONS.get(reason, "content_filter"), usage):
                yield event

    async def _opened(
        self, request: ChatRequest
    ) -> tuple[AsyncIterator[Any], Any, AnswerReader, list[aiohttp.ClientResponse]]:
        """Ask until the endpoint takes the request in one of its forms; returns the chunks and the first of them."""
        tries = self.tries(request, "gemini", self.http.where)
        while True:
            sent, offered = tries.next()
            contents, config = self.arguments(sent, offered.declared(sent))
            responses: list[aiohttp.ClientResponse] = []
            token = _responses.set(responses)
            try:
                with self._api_failures():
                    chunks = await self._genai().aio.models.generate_content_stream(
                        model=tries.model, contents=contents, config=config
                    )
                    first = await anext(chunks, None)  # the request is sent only now
            except ModelError as error:
                _close(responses)
                tries.refused(error)
                continue
            except _MISSHAPEN as error:
                _close(responses)
                if responses:
                    raise self._odd(error) from error
                said = " ".join(str(error).split())[:400]
                raise UserError(f"The request cannot be written for Gemini: {said}.") from error
            except BaseException:
                _close(responses)
                raise
            finally:
                _responses.reset(token)
            if reader := tries.taken():
                return chunks, first, reader, responses
            _close(responses)

    def arguments(
        self, request: ChatRequest, declarations: Sequence[JsonObject] = ()
    ) -> tuple[list[JsonObject], JsonObject]:
        """Return contents and config for the SDK, from a prepared request."""
        system = [message.text for message in request.messages if message.role == "system"]
        names = {call.id: call.name for message in request.messages for call in message.tool_calls}
        contents: list[JsonObject] = []
        for message in request.messages:
            if message.role == "system":
                continue
            role = "model" if message.role == "assistant" else "user"
            parts = self._parts(message, names)
            if contents and contents[-1]["role"] == role:
                contents[-1]["parts"] += parts
            elif parts:
                contents.append({"role": role, "parts": parts})
        config: JsonObject = {"automatic_function_calling": {"disable": True}}
        if system:
            config["system_instruction"] = "\n\n".join(system)
        if declarations:
            config["tools"] = [{"function_declarations": list(declarations)}]
            if (mode := _tool_mode(request.tool_choice)) is not None:
                config["tool_config"] = {"function_calling_config": mode}
        if (form := form_asked(request)) is not None:
            config |= {"response_mime_type": "application/json"}
            config |= {} if form == "json" else {"response_json_schema": form}
        for field, value in (
            ("temperature", request.temperature),
            ("max_output_tokens", request.max_tokens),
            ("stop_sequences", list(request.stop) or None),
            ("thinking_config", _thinking(effort_asked(request))),
            *((name, request.extra.get(name)) for name in _PASSED),
        ):
            if value is not None:
                config[field] = value
        return contents, config

    def _parts(self, message: Message, names: Mapping[str, str]) -> list[JsonObject]:
        if message.role == "tool":
            name = message.name or names.get(message.tool_call_id, "tool")
            return [{"function_response": {"name": name, "response": {"result": message.text}}}]
        parts = _content_parts(message.content)
        if parts and (signed := _signature(message.carried)):
            parts[-1]["thought_signature"] = signed
        for call in message.tool_calls:
            signature = _signature(call.carried) or self._signatures.get(call.id, _NO_SIGNATURE)
            called = {"name": call.name, "args": call.arguments}
            parts.append({"function_call": called, "thought_signature": signature})
        return parts

    def _read(self, reader: AnswerReader, chunk: Any) -> list[ChatEvent]:
        events: list[ChatEvent] = []
        candidates = chunk.candidates or ()
        content = candidates[0].content if candidates else None
        for part in (content.parts if content else None) or ():
            if part.function_call is not None:
                call_id = part.function_call.id or f"call_{secrets.token_urlsafe(12)}"
                if part.thought_signature:
                    self._keep_signature(call_id, part.thought_signature)
                called = part.function_call
                signed = _signed(part.thought_signature)
                events += reader.whole_call(call_id, called.name or "", called.args or {}, signed)
                continue
            if part.text:
                events += reader.reasoning(part.text) if part.thought else reader.text(part.text)
            if drawn := _drawn(part):
                events.append(Extra("message", {"images": [drawn]}))
            if signed := _signed(part.thought_signature):
                events.append(Extra("message", signed))
        return events

    def _keep_signature(self, call_id: str, signature: bytes) -> None:
        self._signatures[call_id] = signature
        if len(self._signatures) > _SIGNATURES_KEPT:
            self._signatures.popitem(last=False)

    def _genai(self) -> Any:
        if self._client is None:
            types = _sdk(".types")
            options = types.HttpOptions(
                base_url=self.endpoint.base_url,
                headers=dict(self.endpoint.extra_headers),
                api_version="v1beta",
                # For the whole answer, not for silence as elsewhere: the agent loop has its own deadline.
                timeout=_WHOLE_ANSWER_MILLISECONDS,
                # Retries are the queue's; the SDK's own sleep up to ten seconds inside a request.
                retry_options=types.HttpRetryOptions(attempts=1),
                aiohttp_client=self.http.session,
            )
            self._client = _sdk("").Client(api_key=self.endpoint.api_key or "none", http_options=options)
        return self._client

    @contextmanager
    def _api_failures(self) -> Iterator[None]:
        """Tell the SDK's errors by kind."""
        try:
            yield
        except _sdk(".errors").APIError as error:
            text = str(error.message or error)
            code = classify(error.code, text)
            headers = dict(getattr(error.response, "headers", None) or {})
            wait = retry_after_seconds(headers, error.details, text)
            said = f"{self.http.where} answered {error.code}: {text[:400]}"
            raise failure(code, said, status=error.code, wait_seconds=wait, detail=error.details) from error

    @contextmanager
    def _misshapen(self) -> Iterator[None]:
        """Tell a chunk that has another form than the API's."""
        try:
            yield
        except _MISSHAPEN as error:
            raise self._odd(error) from error

    def _odd(self, error: Exception) -> ModelError:
        said = " ".join(str(error).split())[:200]
        return failure("not_an_api", f"{self.http.where} sent something of another form than its API's: {said}.")

    def carries(self, part: MediaPart) -> bool:
        """Take pictures, sounds and files."""
        return isinstance(part, ImagePart | AudioPart) or (isinstance(part, ResourcePart) and part.blob is not None)

    async def models(self) -> Sequence[str]:
        """Return the names of the models that can generate."""
        with self.http.failures(), self._api_failures(), self._misshapen():
            pager = await self._genai().aio.models.list()
            return [
                str(model.name).removeprefix("models/")
                async for model in pager
                if not model.supported_actions or "generateContent" in model.supported_actions
            ]

    async def close(self) -> None:
        """Close the connections."""
        await self.http.close()


def _close(responses: Sequence[aiohttp.ClientResponse]) -> None:
    """Close what the SDK leaves to the garbage collector: streams that are not read to their end."""
    for response in responses:
        response.close()


def _decoded(part: MediaPart, data: str) -> bytes:
    try:
        return base64.b64decode(data)
    except ValueError as error:
        raise UserError(f"{part.where or 'A part'}: its data is no base64.", remedy="Encode it again.") from error


def _tool_mode(choice: str | JsonObject | None) -> JsonObject | None:
    if choice == "required":
        return {"mode": "ANY"}
    if isinstance(choice, dict):
        name = (choice.get("function") or choice).get("name")
        return {"mode": "ANY", "allowed_function_names": [name]}
    return None


def _thinking(effort: str) -> JsonObject | None:
    """Say how much is to be thought as Google's OpenAI endpoint does."""
    budget = _BUDGETS.get(effort)
    return {"thinking_budget": budget, "include_thoughts": budget > 0} if budget is not None else None


def _signed(signature: bytes | None) -> JsonObject:
    """Put a thought signature as Google's OpenAI endpoint does, so that clients can keep it."""
    return (
        {"extra_content": {"google": {"thought_signature": base64.b64encode(signature).decode()}}} if signature else {}
    )


def _drawn(part: Any) -> JsonObject | None:
    """Return a picture that the model made, as OpenRouter tells it."""
    held = part.inline_data
    if held is None or not held.data or not str(held.mime_type).startswith("image/"):
        return None
    url = f"data:{held.mime_type};base64,{base64.b64encode(held.data).decode()}"
    return {"type": "image_url", "image_url": {"url": url}}


def _signature(carried: JsonObject) -> bytes | None:
    google = (carried.get("extra_content") or {}).get("google")
    text = google.get("thought_signature") if isinstance(google, dict) else None
    try:
        return base64.b64decode(text, validate=True) if isinstance(text, str) else None
    except binascii.Error:
        return None


def _content_parts(content: str | tuple[ContentPart, ...]) -> list[JsonObject]:
    if isinstance(content, str):
        return [{"text": content}] if content else []
    parts: list[JsonObject] = []
    for part in content:
        if isinstance(part, ImagePart | AudioPart) and part.data:
            parts.append({"inline_data": {"mime_type": part.mime_type, "data": _decoded(part, part.data)}})
        elif isinstance(part, ResourcePart) and part.blob is not None:
            parts.append({"inline_data": {"mime_type": part.mime_type, "data": _decoded(part, part.blob)}})
        elif isinstance(part, ImagePart):
            parts.append({"file_data": {"mime_type": part.mime_type, "file_uri": part.url}})
        elif text := Message("user", (part,)).text:
            parts.append({"text": text})
    return parts


def _reason_of(chunk: Any) -> str | None:
    """Return why an answer ended, in Google's word; None while it goes on."""
    if chunk.prompt_feedback is not None and chunk.prompt_feedback.block_reason is not None:
        return "SAFETY"
    reason = chunk.candidates[0].finish_reason if chunk.candidates else None
    return str(reason.value) if reason is not None else None


def _usage_of(chunk: Any) -> Usage | None:
    used = chunk.usage_metadata
    if used is None:
        return None
    thought, cached = used.thoughts_token_count or 0, used.cached_content_token_count or 0
    details: JsonObject = {}
    if cached:
        details["prompt_tokens_details"] = {"cached_tokens": cached}
    if thought:
        details["completion_tokens_details"] = {"reasoning_tokens": thought}
    return Usage(used.prompt_token_count or 0, (used.candidates_token_count or 0) + thought, details)
