"""What the chat face needs of the hub, so that it can be tested without one."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from naru.agent.hooks import Hooks
from naru.agent.limits import Limits
from naru.config import Settings
from naru.connections.guests import Guest
from naru.models.backend import Backend
from naru.stores.shared.commons import Commons
from naru.stores.tables import SharedTables
from naru.tools.toolset import Toolset


class ChatHub(Protocol):
    """A model, tools, and how much one run may use."""

    @property
    def settings(self) -> Settings:
        """All settings; `chat` is read."""
        ...

    @property
    def backend(self) -> Backend:
        """The model, or a router over several."""
        ...

    @property
    def limits(self) -> Limits:
        """The limits of one agent run."""
        ...

    @property
    def hooks(self) -> Hooks:
        """What goes with every run: the journal, the choice of tools."""
        ...

    @property
    def tables(self) -> SharedTables | None:
        """Where answers are kept for all hubs of the installation; None keeps them in the data folder."""
        ...

    @property
    def commons(self) -> Commons:
        """The other hubs of the installation."""
        ...

    def tools(self, servers: Sequence[str] | None) -> Toolset:
        """Return the tools of these servers, or of all of them.

        Raises:
            NotFoundError: there is no server of that name.
        """
        ...

    def with_guests(
        self, servers: Sequence[str] | None, guests: Sequence[Guest]
    ) -> AbstractAsyncContextManager[Toolset]:
        """Return the same with the servers that a request names by URL, linked until the context ends.

        Raises:
            NotFoundError, UserError, PolicyError, ConnectionFailedError: one cannot be had.
        """
        ...
