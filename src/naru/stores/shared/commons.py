"""The seam to whatever lets several hubs serve as one; `Alone` is a hub that has no others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from naru.messages import Json
from naru.stores.secrets.common_rows import Lease

Hear = Callable[[Json], None]
"""Gets what another member told, on the event loop."""


class Commons(Protocol):
    """Who else serves this installation, and how they hear of each other. Use inside one event loop."""

    me: str
    """This member's id; empty when there is nobody else."""

    def members(self) -> Mapping[str, str]:
        """Return the addresses of the others that are there now, by id."""
        ...

    def lost(self, member: str) -> None:
        """Note that a member did not answer; it counts as gone until it shows itself again."""
        ...

    def tell(self, topic: str, what: Json) -> None:
        """Tell all others, soon; what cannot be told is lost, and nobody waits for it."""
        ...

    def hear(self, topic: str, hear: Hear) -> None:
        """Have a function told what others tell about a topic."""
        ...

    def lease(self, name: str) -> Lease:
        """Return a lease of what one member alone may hold."""
        ...

    def holds(self, name: str) -> bool:
        """Tell whether this member has a lease now. Raises StoreError."""
        ...

    def holder(self, name: str) -> str:
        """Return which member has a lease; empty for nobody. Raises StoreError."""
        ...


class Alone:
    """A hub without others: it tells nobody and hears nothing."""

    me = ""

    def members(self) -> Mapping[str, str]:
        """Return nobody."""
        return {}

    def lost(self, member: str) -> None:
        """Do nothing."""

    def tell(self, topic: str, what: Json) -> None:
        """Do nothing."""

    def hear(self, topic: str, hear: Hear) -> None:
        """Do nothing."""

    def lease(self, name: str) -> Lease:
        """Return a lease that nobody else wants."""
        return Lease(lambda: True, lambda: None)

    def holds(self, name: str) -> bool:
        """Tell that it is ours."""
        return True

    def holder(self, name: str) -> str:
        """Return nobody else."""
        return ""


ALONE: Commons = Alone()


def socket_of(address: str) -> tuple[str, str]:
    """Return path and scheme of an address on this machine; empty for a URL."""
    kind, _, path = address.partition(":")
    return (path, kind.removeprefix("unix+")) if kind.startswith("unix+") else ("", "")
