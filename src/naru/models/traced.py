"""A backend whose every request is a span `chat MODEL`; put round a wire only while tracing is on."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass

from naru.errors import NaruError
from naru.messages import CallEnd, CallStart, ChatEvent, ChatRequest, Finish, Message, Text, Usage
from naru.models.backend import Backend, batches_of, for_model
from naru.models.wrapped import WrappedBackend
from naru.telemetry.tracing import Attribute, Span, Tracing, content


@dataclass(frozen=True, slots=True)
class Target:
    """Where requests go, as spans name it."""

    provider: str
    """`gen_ai.provider.name`."""
    address: str = ""
    port: int | None = None


class TracedBackend(WrappedBackend):
    """Wraps a wire; one try is one span, so what a queue asks again shows as another."""

    def __init__(self, backend: Backend, tracing: Tracing, target: Target) -> None:
        super().__init__(backend)
        self._tracing = tracing
        self._target = target

    async def batches(self, request: ChatRequest) -> AsyncGenerator[Sequence[ChatEvent]]:
        """Ask once; see `Batching`."""
        span = self._tracing.begin(f"chat {request.model}".rstrip(), "client", self._attributes(request))
        answer = _Answer(span, self._tracing)
        try:
            async with aclosing(batches_of(self.backend, request)) as batches:
                async for batch in batches:
                    answer.take(batch)
                    yield batch
        except NaruError as error:
            span.fail(error.code, error.message)
            raise
        except BaseException as error:
            # A client that goes away in the middle is no failure of the model.
            if not isinstance(error, GeneratorExit):
                span.fail(type(error).__name__)
            raise
        finally:
            answer.finish()
            span.end()

    def for_model(self, model: str) -> Backend:
        """Return the traced view of one model."""
        inner = for_model(self.backend, model)
        return self if inner is self.backend else TracedBackend(inner, self._tracing, self._target)

    def _attributes(self, request: ChatRequest) -> dict[str, Attribute | None]:
        target = self._target
        return {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": target.provider,
            "gen_ai.request.model": request.model or None,
            "gen_ai.request.temperature": request.temperature,
            "gen_ai.request.max_tokens": request.max_tokens,
            "gen_ai.request.stop_sequences": list(request.stop) or None,
            "gen_ai.request.stream": True,
            "server.address": target.address or None,
            "server.port": target.port,
            "gen_ai.input.messages": content(self._tracing, [_message(turn) for turn in request.messages]),
            "gen_ai.tool.definitions": content(self._tracing, [asdict(tool) for tool in request.tools]),
        }


class _Answer:
    """What a span is told of an answer."""

    def __init__(self, span: Span, tracing: Tracing) -> None:
        self._span = span
        self._tracing = tracing
        self._started = time.monotonic()
        self._first = 0.0
        self._texts: list[str] = []
        self._names: dict[int, str] = {}
        self._calls: list[dict[str, object]] = []
        self._finish = ""

    def take(self, batch: Sequence[ChatEvent]) -> None:
        self._first = self._first or time.monotonic() - self._started
        for event in batch:
            match event:
                case Usage(prompt_tokens=read, completion_tokens=written):
                    self._span.set({"gen_ai.usage.input_tokens": read, "gen_ai.usage.output_tokens": written})
                case Finish(reason=reason):
                    self._finish = reason
                case Text(text=text) if self._tracing.content:
                    self._texts.append(text)
                case CallStart(index=index, name=name):
                    self._names[index] = name
                case CallEnd(index=index, arguments=arguments) if self._tracing.content:
                    call: dict[str, object] = {
                        "type": "tool_call",
                        "name": self._names.get(index, ""),
                        "arguments": arguments,
                    }
                    self._calls.append(call)

    def finish(self) -> None:
        reasons = [self._finish] if self._finish else None
        self._span.set({"gen_ai.response.finish_reasons": reasons})
        if self._first:
            self._span.set({"gen_ai.response.time_to_first_chunk": self._first})
        if self._tracing.content:
            parts: list[dict[str, object]] = [{"type": "text", "content": "".join(self._texts)}, *self._calls]
            said = [{"role": "assistant", "parts": parts, "finish_reason": self._finish}]
            self._span.set({"gen_ai.output.messages": content(self._tracing, said)})


def _message(turn: Message) -> dict[str, object]:
    if turn.role == "tool":
        return {
            "role": "tool",
            "parts": [{"type": "tool_call_response", "id": turn.tool_call_id, "response": turn.text}],
        }
    parts: list[dict[str, object]] = [{"type": "text", "content": turn.text}] if turn.text else []
    parts += [
        {"type": "tool_call", "id": call.id, "name": call.name, "arguments": call.arguments} for call in turn.tool_calls
    ]
    return {"role": turn.role, "parts": parts}
