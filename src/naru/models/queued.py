"""A backend behind a queue: every model call waits its turn, and a refusal is waited out and asked again (R11)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace

from naru.errors import ModelError
from naru.messages import ChatEvent, ChatRequest, Usage
from naru.models.backend import Backend, batches_of, for_model
from naru.models.json_text import encode
from naru.models.profile import Profile
from naru.models.queue import Caller, RequestQueue, current_caller
from naru.models.shared_rate import SharedRate

_BYTES_PER_TOKEN = 3.5
_RETRIES = {"rate_limited": 5, "overloaded": 2, "broken_off": 1, "upstream_failed": 1}
"""Kind of failure → how often it is asked again. A model call has no side effect, so asking again is safe."""
_WAITED_OUT = frozenset({"rate_limited", "overloaded"})
"""Kinds that say "not now": nobody's request goes to that key before its time."""


class QueuedBackend:
    """Wraps a backend; who asks is read from `current_caller`."""

    def __init__(self, backend: Backend, queue: RequestQueue, shared: SharedRate | None = None) -> None:
        self.backend = backend
        self.queue = queue
        self.shared = shared

    @property
    def profile(self) -> Profile:
        """The wrapped backend's."""
        return self.backend.profile

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ChatEvent]:
        """Ask when it is our turn; see `Backend.stream`. Also raises when the wait would be too long."""
        async with aclosing(self.batches(request)) as batches:
            async for batch in batches:
                for event in batch:
                    yield event

    async def batches(self, request: ChatRequest) -> AsyncGenerator[Sequence[ChatEvent]]:
        """Ask when it is our turn; see `Batching`."""
        caller = current_caller.get() or Caller()
        until = None if caller.wait_seconds is None else self.queue.now() + caller.wait_seconds
        tokens = estimate_tokens(request) if self._counts_tokens else 0
        refused: ModelError | None = None
        for attempt in range(max(_RETRIES.values()) + 1):
            if until is not None:
                caller = replace(caller, wait_seconds=max(0.0, until - self.queue.now()))
            async with self.queue.slot(caller, tokens=tokens, again=attempt > 0, cause=refused) as slot:
                begun = False
                spent = await self._spend(tokens, caller)
                try:
                    async with aclosing(batches_of(self.backend, request)) as batches:
                        async for batch in batches:
                            begun = True
                            for event in batch:
                                if isinstance(event, Usage):
                                    used = event.prompt_tokens + event.completion_tokens
                                    slot.used(used)
                                    if self.shared is not None and used:
                                        await self.shared.used(spent, tokens, used)
                            yield batch
                    slot.succeeded()
                    return
                except ModelError as error:
                    if begun or not error.retryable or attempt >= _RETRIES.get(error.code, 0):
                        raise
                    if error.code in _WAITED_OUT:
                        slot.refused(error.retry_after_seconds)
                        if self.shared is not None:
                            await self.shared.block(error.retry_after_seconds or 1.0)
                    refused = error

    async def _spend(self, tokens: int, caller: Caller) -> str:
        """Take the request from the allowance that all processes share, if there is one."""
        if self.shared is None:
            return ""
        longest = self.queue.max_wait_seconds if caller.wait_seconds is None else caller.wait_seconds
        return await self.shared.wait(tokens, longest)

    @property
    def _counts_tokens(self) -> bool:
        limits = self.queue.limits
        return bool(limits.tokens_per_minute or limits.tokens_per_day)

    def for_model(self, model: str) -> Backend:
        """Return the view of one model, behind the same queue."""
        inner = for_model(self.backend, model)
        return self if inner is self.backend else QueuedBackend(inner, self.queue, self.shared)

    async def models(self) -> Sequence[str]:
        """Return the wrapped backend's names."""
        return await self.backend.models()

    async def close(self) -> None:
        """Close the wrapped backend, and the connections to Redis."""
        await self.backend.close()
        if self.shared is not None:
            await self.shared.close()


def estimate_tokens(request: ChatRequest) -> int:
    """Guess a request's tokens before it is sent; the endpoint's own count replaces it afterwards."""
    size = sum(len(message.text.encode()) + 12 for message in request.messages)
    size += sum(len(encode(call.arguments)) for message in request.messages for call in message.tool_calls)
    size += sum(len(encode(tool.input_schema)) + len(tool.description.encode()) for tool in request.tools)
    return int(size / _BYTES_PER_TOKEN) + 1
