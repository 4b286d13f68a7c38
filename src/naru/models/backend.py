"""The seam to a model endpoint."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Protocol

from naru.messages import ChatEvent, ChatRequest
from naru.models.profile import Profile


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
