"""A backend as one limited person may use it: hidden models do not exist, tokens are taken from a budget of the day."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Awaitable, Sequence
from contextlib import aclosing
from dataclasses import replace

from naru.errors import ModelError, NotFoundError, StoreError
from naru.messages import ArgumentsDelta, ChatEvent, ChatRequest, Reasoning, Text, Usage
from naru.models.backend import Backend, Take, batches_of, deliver, for_model
from naru.models.limits.queued import BYTES_PER_TOKEN, bytes_of, estimate_tokens
from naru.models.wrapped import WrappedBackend
from naru.persons import Person
from naru.stores.kept.spending import Spending, seconds_to_tomorrow

logger = logging.getLogger(__name__)


class BoundedBackend(WrappedBackend):
    """A view; closing it closes nothing."""

    def __init__(self, backend: Backend, person: Person, spending: Spending, default: str = "") -> None:
        """Wrap a backend for a person; `default` is the model of requests that name none."""
        super().__init__(backend)
        self._person = person
        self._spending = spending
        self._default = default

    def for_model(self, model: str) -> Backend:
        """Return the view of one model. Raises NotFoundError, also for one that is hidden."""
        if not model:
            return self  # which it is, is found out when it is asked
        self._check(model)
        try:
            inner = for_model(self.backend, model)
        except NotFoundError:
            raise _unknown(model) from None
        return BoundedBackend(inner, self._person, self._spending, self._default)

    async def batches(self, request: ChatRequest) -> AsyncGenerator[Sequence[ChatEvent]]:
        """Ask once, in batches."""
        request = await self._allowed(request)
        bill = _Bill(request)
        try:
            async with aclosing(batches_of(self.backend, request)) as batches:
                async for batch in batches:
                    bill.see(batch)
                    yield batch
        except NotFoundError:
            raise _unknown(request.model) from None
        finally:
            await self._pay(bill.tokens)

    async def deliver(self, request: ChatRequest, take: Take) -> None:
        """Ask once and have the batches taken; see `Delivering`."""
        request = await self._allowed(request)
        bill = _Bill(request)

        def seen(batch: Sequence[ChatEvent]) -> Awaitable[None] | None:
            bill.see(batch)
            return take(batch)

        try:
            await deliver(self.backend, request, seen)
        except NotFoundError:
            raise _unknown(request.model) from None
        finally:
            await self._pay(bill.tokens)

    async def models(self) -> Sequence[str]:
        """Return the names of the models that the person sees."""
        return [name for name in await self.backend.models() if self._person.reach.model(name)]

    async def close(self) -> None:
        """Leave the backend to its owner."""

    async def raw(self, model: str, size: int) -> Backend:
        """Return the view of one model for a request that is passed on unread; its bytes count as tokens.

        Raises:
            NotFoundError, ModelError: as `stream`.
        """
        allowed = await self._allowed(ChatRequest(model, ()))
        await self._pay(int(size / BYTES_PER_TOKEN) + 1)
        return self.for_model(allowed.model)

    def _check(self, model: str) -> None:
        if not self._person.reach.model(model):
            raise _unknown(model)

    async def _allowed(self, request: ChatRequest) -> ChatRequest:
        if not request.model and self._person.reach.bounds_models:
            seen = self._default if self._default and self._person.reach.model(self._default) else ""
            seen = seen or next(iter(await self.models()), "")
            request = replace(request, model=seen)
        if self._person.reach.bounds_models:
            self._check(request.model)
        budget = self._person.reach.tokens_per_day
        if budget is not None and (await self._spending.of_soon(self._person.id)).tokens >= budget:
            wait = seconds_to_tomorrow()
            error = ModelError(
                f"This key has used its {budget} tokens of today (UTC).",
                remedy=f"Wait {wait} s; the budget is set with the key, or with its role in server.roles.",
                status=429,
                retry_after_seconds=wait,
            )
            error.code = "budget_used_up"
            raise error
        return request

    async def _pay(self, tokens: int) -> None:
        if not tokens or self._person.reach.tokens_per_day is None:
            return
        try:
            await self._spending.add_tokens(self._person.id, tokens)
        except StoreError as error:  # The answer is given, or its own failure is told.
            logger.error("%d tokens of %s are not counted: %s", tokens, self._person.id, error)


class _Bill:
    """What one request costs: the endpoint's own count, else a guess from what was sent and said."""

    def __init__(self, request: ChatRequest) -> None:
        self._request = request
        self._used: Usage | None = None
        self._bytes = 0
        self._began = False

    def see(self, batch: Sequence[ChatEvent]) -> None:
        """Take note of what came."""
        self._began = True
        for event in batch:
            match event:
                case Usage():
                    self._used = event
                case Text(text=said) | Reasoning(text=said) | ArgumentsDelta(json=said):
                    self._bytes += bytes_of(said)

    @property
    def tokens(self) -> int:
        """Tokens so far; nothing for a request that was refused."""
        if self._used is not None and (told := self._used.prompt_tokens + self._used.completion_tokens):
            return told
        return estimate_tokens(self._request) + int(self._bytes / BYTES_PER_TOKEN) if self._began else 0


def _unknown(model: str) -> NotFoundError:
    return NotFoundError(f"There is no model {model[:200]!r}.", remedy="GET /v1/models lists them.")
