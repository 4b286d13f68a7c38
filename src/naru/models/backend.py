"""The seam to a model endpoint."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import Protocol, TypeVar, cast

from naru.messages import ChatEvent, ChatRequest
from naru.models.known.profile import Profile

T = TypeVar("T")
Take = Callable[[Sequence[ChatEvent]], Awaitable[None] | None]
"""Takes events that are there together; returns what must be waited for before it can take more, if anything."""


class Backend(Protocol):
    """One model endpoint, over one wire.

    `stream` yields the answer in the one event form, with the text already read by the dialects' parser (R6):
    calls that the engine leaked into its text are CallStart … CallEnd like native ones.
    """

    @property
    def profile(self) -> Profile:
        """Facts about the model family behind this endpoint."""
        ...

    def stream(self, request: ChatRequest) -> AsyncGenerator[ChatEvent]:
        """Ask once; the last event is Finish. Raises ModelError; closing the iterator cancels the request."""
        ...

    async def models(self) -> Sequence[str]:
        """Return the names of the models that the endpoint serves."""
        ...

    async def close(self) -> None:
        """Let go of connections and processes."""
        ...


class Batching(Protocol):
    """A backend that can give together what arrived together: one send for many deltas."""

    def batches(self, request: ChatRequest) -> AsyncGenerator[Sequence[ChatEvent]]:
        """Give the events of `Backend.stream`, in lists; nothing waits for a list to fill."""
        ...


class InBatches(ABC):
    """Gives `Backend.stream` to a backend that has its answer in batches."""

    @abstractmethod
    def batches(self, request: ChatRequest) -> AsyncGenerator[Sequence[ChatEvent]]:
        """Give the events in lists; see `Batching`."""

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ChatEvent]:
        """Give the events one by one; see `Backend.stream`."""
        async with aclosing(self.batches(request)) as batches:
            async for batch in batches:
                for event in batch:
                    yield event


class Delivering(Protocol):
    """A backend that can hand its batches over where they arrive, for faces on the hot path: no task between."""

    async def deliver(self, request: ChatRequest, take: Take) -> None:
        """Have the batches taken one after the other; raises as `Backend.stream`, and what `take` raises."""
        ...


async def deliver(backend: Backend, request: ChatRequest, take: Take) -> None:
    """Ask a backend and have its batches taken, whether it can hand them over itself or not."""
    if hasattr(backend, "deliver"):
        await cast("Delivering", backend).deliver(request, take)
    else:
        await take_all(batches_of(backend, request), take)


async def take_all(batches: AsyncGenerator[Sequence[T]], take: Callable[[Sequence[T]], Awaitable[None] | None]) -> None:
    """Have the batches of a generator taken, and close it."""
    async with aclosing(batches):
        async for batch in batches:
            if (behind := take(batch)) is not None:
                await behind


def batches_of(backend: Backend, request: ChatRequest) -> AsyncGenerator[Sequence[ChatEvent]]:
    """Ask a backend in batches, whether it can give them itself or not."""
    # Asked by name: a check against the protocol costs as much as thirty deltas.
    if hasattr(backend, "batches"):
        return cast("Batching", backend).batches(request)
    return _one_by_one(backend, request)


async def _one_by_one(backend: Backend, request: ChatRequest) -> AsyncGenerator[Sequence[ChatEvent]]:
    async with aclosing(backend.stream(request)) as events:
        async for event in events:
            yield (event,)


class Selecting(Protocol):
    """A backend of many models, that can be narrowed to one."""

    def for_model(self, model: str) -> Backend:
        """Return the backend of one model, with that model's profile.

        Raises:
            NotFoundError: nobody serves it.
        """
        ...


def for_model(backend: Backend, model: str) -> Backend:
    """Narrow a backend to one model, so that `profile` speaks of that model; one of a single model is itself."""
    if hasattr(backend, "for_model"):
        return cast("Selecting", backend).for_model(model)
    return backend


class Informed(Protocol):
    """A backend whose endpoint can be asked what it says of a model."""

    async def inform(self, model: str) -> None:
        """Have `profile` tell what the endpoint says of this model, such as the length of its context; asked once."""
        ...


async def inform(backend: Backend, model: str) -> None:
    """Ask a backend's endpoint about a model, where it can be asked; never raises for what it does not tell."""
    if hasattr(backend, "inform"):
        await cast("Informed", backend).inform(model)
