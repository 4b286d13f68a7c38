"""A backend around another one: what it does not do in a way of its own, it leaves to that."""

from __future__ import annotations

from collections.abc import Sequence

from naru.models.backend import Backend, InBatches, inform
from naru.models.known.profile import Profile


class WrappedBackend(InBatches):
    """Leaves all but the asking to the backend that it wraps."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend

    @property
    def profile(self) -> Profile:
        """The wrapped backend's."""
        return self.backend.profile

    async def inform(self, model: str) -> None:
        """Ask the wrapped backend about a model."""
        await inform(self.backend, model)

    async def models(self) -> Sequence[str]:
        """Return the wrapped backend's names."""
        return await self.backend.models()

    async def close(self) -> None:
        """Close the wrapped backend."""
        await self.backend.close()
