"""A backend of many models, narrowed to one of them: its requests name it, its profile is that model's."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import replace

from naru.messages import ChatEvent, ChatRequest
from naru.models.backend import Backend, InBatches, Take, batches_of, deliver, inform
from naru.models.known.profile import Profile


class Narrowed(InBatches):
    """A view; closing it closes nothing."""

    def __init__(self, backend: Backend, model: str, profile: Callable[[], Profile] | None = None) -> None:
        self.backend = backend
        self.model = model
        self._profile = profile

    @property
    def profile(self) -> Profile:
        """The one model's."""
        return self._profile() if self._profile is not None else self.backend.profile

    def batches(self, request: ChatRequest) -> AsyncGenerator[Sequence[ChatEvent]]:
        """Ask the one model, in batches."""
        return batches_of(self.backend, replace(request, model=self.model))

    async def deliver(self, request: ChatRequest, take: Take) -> None:
        """Ask the one model; see `Delivering`."""
        await deliver(self.backend, replace(request, model=self.model), take)

    async def inform(self, model: str) -> None:
        """Ask about the one model."""
        await inform(self.backend, self.model)

    async def models(self) -> Sequence[str]:
        """Return the one name."""
        return [self.model]

    async def close(self) -> None:
        """Leave the endpoint to its owner."""
