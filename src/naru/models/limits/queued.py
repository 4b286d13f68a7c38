"""A backend behind a queue: every model call waits its turn, and a refusal is waited out and asked again (R11)."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import AsyncGenerator, Awaitable, Sequence
from contextlib import aclosing
from dataclasses import replace
from types import TracebackType

from naru.errors import ModelError, NaruError
from naru.messages import ChatEvent, ChatRequest, Usage
from naru.models.backend import Backend, Take, batches_of, deliver, for_model
from naru.models.limits.queue import Caller, RequestQueue, current_caller
from naru.models.limits.shared_rate import SharedRate
from naru.models.transport.json_text import encode
from naru.models.wrapped import WrappedBackend

BYTES_PER_TOKEN = 3.5
_RETRIES = {"rate_limited": 5, "overloaded": 2, "broken_off": 1, "upstream_failed": 1}
"""Kind of failure → how often it is asked again. A model call has no side effect, so asking again is safe."""
_RETRIES_BLIND = 2
"""The same where "not now" came without a time: after 3 s the caller's own retries, which expect to hear, take over."""
_LOADING_PAUSE_SECONDS = 5.0
"""The longest pause before a model that is being loaded is asked again: it is there after 10 s or after 60."""
logger = logging.getLogger(__name__)
_NOT_NOW = frozenset({"rate_limited", "overloaded", "loading"})
"""Kinds that hold others back as well: who asks the same model, or the whole key where the endpoint says so."""


class QueuedBackend(WrappedBackend):
    """Wraps a backend; who asks is read from `current_caller`."""

    def __init__(self, backend: Backend, queue: RequestQueue, shared: SharedRate | None = None) -> None:
        super().__init__(backend)
        self.queue = queue
        self.shared = shared

    async def batches(self, request: ChatRequest) -> AsyncGenerator[Sequence[ChatEvent]]:
        """Ask when it is our turn; see `Batching`."""
        tries = _Tries(self, request)
        while not tries.done:
            async with tries, aclosing(batches_of(self.backend, request)) as batches:
                async for batch in batches:
                    tries.see(batch)
                    yield batch

    async def deliver(self, request: ChatRequest, take: Take) -> None:
        """Ask when it is our turn; see `Delivering`."""
        tries = _Tries(self, request)

        def seen(batch: Sequence[ChatEvent]) -> Awaitable[None] | None:
            tries.see(batch)
            return take(batch)

        while not tries.done:
            async with tries:
                await deliver(self.backend, request, seen)

    @property
    def counts_tokens(self) -> bool:
        """Whether a request's tokens must be guessed."""
        limits = self.queue.limits
        return bool(limits.tokens_per_minute or limits.tokens_per_day)

    def for_model(self, model: str) -> Backend:
        """Return the view of one model, behind the same queue."""
        inner = for_model(self.backend, model)
        return self if inner is self.backend else QueuedBackend(inner, self.queue, self.shared)

    async def close(self) -> None:
        """Close the wrapped backend, and the connections to Redis."""
        try:
            await self.backend.close()
        finally:
            if self.shared is not None:
                await self.shared.close()


class _Tries:
    """The tries of one request, each an async context that holds a slot and swallows what is worth another try."""

    def __init__(self, backend: QueuedBackend, request: ChatRequest) -> None:
        self.done = False
        self._queue, self._shared = backend.queue, backend.shared
        self._caller = current_caller.get() or Caller()
        longest = self._queue.max_wait_seconds
        if self._caller.wait_seconds is not None:
            longest = min(longest, self._caller.wait_seconds)
        self._longest, self._until = longest, math.inf
        self._tokens = estimate_tokens(request) if backend.counts_tokens else 0
        self._failures = 0
        self._refused: ModelError | None = None
        self._begun = False
        self._used: Usage | None = None
        self._model = request.model
        self._waited = self._granted = self._first = 0.0
        self._spent = ""

    def see(self, batch: Sequence[ChatEvent]) -> None:
        """Take note of what came: after anything came, the request is not asked again."""
        if not self._begun:
            self._begun, self._first = True, time.monotonic()
        for event in batch:
            if type(event) is Usage:
                self._used = event

    async def __aenter__(self) -> None:
        again = self._failures > 0
        caller = replace(self._caller, wait_seconds=self._left) if again else self._caller
        self._slot = self._queue.slot(caller, model=self._model, tokens=self._tokens, again=again)
        asked = time.monotonic()
        try:
            await self._slot.take()
            if not again:
                self._until = self._slot.asked_at + self._longest
            self._spent = await self._spend()
        except ModelError as error:
            if self._refused is None:
                raise
            raise self._told(self._refused) from error
        self._granted = time.monotonic()
        self._waited += self._granted - asked

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        try:
            # An endpoint that counts nothing has used what was guessed.
            if self._used is not None and (used := self._used.prompt_tokens + self._used.completion_tokens):
                self._slot.used(used)
                if self._shared is not None:
                    await _tell_others(self._shared.used(self._spent, self._tokens, used))
            if error is None:
                self.done = True
                self._slot.succeeded()
                self._tell("")
                return False
            if isinstance(error, ModelError) and await self._is_worth_another(error):
                return True
            self._tell(error.code if isinstance(error, NaruError) else "cancelled")
            return False
        finally:
            self._slot.leave()

    def _tell(self, error: str) -> None:
        """Count the request, with its last try's time and all that it waited."""
        figures = self._queue.figures
        if figures is None:
            return
        tokens = (self._used.prompt_tokens, self._used.completion_tokens) if self._used is not None else None
        figures.model(
            self._model or "default",
            time.monotonic() - self._granted,
            waited=self._waited,
            first=self._first - self._granted if self._begun else 0.0,
            tokens=tokens,
            error=error,
        )

    async def _is_worth_another(self, error: ModelError) -> bool:
        if self._begun or not error.retryable:
            return False
        retries = _RETRIES.get(error.code, 0)
        if error.code in _NOT_NOW:
            seconds, model = error.retry_after_seconds, None if error.is_of_key else self._model
            if error.code == "loading":  # Ends by itself: asked until it is there, or the request's time is up.
                retries = self._failures + 1
                seconds = seconds or min(2.0**self._failures, _LOADING_PAUSE_SECONDS)
            self._slot.refused(seconds, model=model, said=error.message)
            if self._shared is not None and error.code == "rate_limited":
                await _tell_others(self._shared.block(seconds or 1.0, model=model))
            if seconds is None:
                retries, error.retry_after_seconds = _RETRIES_BLIND, self._queue.rests_for(self._model)
        if self._failures >= retries:
            return False
        self._failures += 1
        self._refused = error
        return True

    @property
    def _left(self) -> float:
        """Seconds that may still be waited: the whole of it is bounded, however often it is asked again."""
        return max(0.0, self._until - self._queue.now())

    def _told(self, refused: ModelError) -> ModelError:
        """Return the endpoint's refusal as it is told to who has waited for its end as long as may be."""
        rest = self._queue.rests_for(self._model)
        error = ModelError(
            f"{refused.message.rstrip('.')}. It is left alone for another {rest:.0f} s, longer than the rest of the "
            f"{self._longest:g} s that a request waits in all.",
            remedy="Ask again then, or raise model.limits.max_wait_seconds (for agents: agent.model_timeout_seconds).",
            status=refused.status,
            retryable=True,
            retry_after_seconds=rest,
        )
        error.code = refused.code
        return error

    async def _spend(self) -> str:
        """Take the request from the allowance that all processes share, if there is one."""
        if self._shared is None:
            return ""
        try:
            return await self._shared.wait(self._tokens, self._left, model=self._model)
        except BaseException:
            self._slot.leave()
            raise


async def _tell_others(telling: Awaitable[None]) -> None:
    """Tell the processes that share the key what came of a request; its answer does not depend on that."""
    try:
        await telling
    except ModelError as error:
        logger.warning("other processes are not told what a request has used: %s", error)


def estimate_tokens(request: ChatRequest) -> int:
    """Guess a request's tokens before it is sent; the endpoint's own count replaces it afterwards."""
    size = sum(bytes_of(message.text) + 12 for message in request.messages)
    size += sum(len(encode(call.arguments)) for message in request.messages for call in message.tool_calls)
    size += sum(len(encode(tool.input_schema)) + bytes_of(tool.description) for tool in request.tools)
    return int(size / BYTES_PER_TOKEN) + 1


def bytes_of(text: str) -> int:
    """Return how long a text is in UTF-8; halves of surrogate pairs count, too."""
    return len(text.encode("utf-8", "surrogatepass"))
