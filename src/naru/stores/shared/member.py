"""What is the same for members of every kind: who else is there, what is heard and leased, which files are common."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from naru.messages import Json
from naru.stores.secrets.common_rows import Lease
from naru.stores.shared.commons import Hear
from naru.stores.shared.mirror import Mirror

logger = logging.getLogger(__name__)


class Leasing(Protocol):
    """Whatever one member alone may hold at a time."""

    def lease(self, name: str) -> Lease:
        """Return one to be tried for."""
        ...

    def holds(self, name: str) -> bool:
        """Tell whether this process has it now. Raises StoreError."""
        ...

    def holder(self, name: str) -> str:
        """Return who has it; empty for nobody. Raises StoreError."""
        ...


class Member:
    """One of those that share a data folder; a kind says how they tell each other."""

    def __init__(self, me: str, folder: Path, leases: Leasing) -> None:
        self.me = me
        self._mirror = Mirror(folder)
        self._members: dict[str, str] = {}
        self._hearers: dict[str, list[Hear]] = {}
        self.lease, self.holds, self.holder = leases.lease, leases.holds, leases.holder

    def members(self) -> Mapping[str, str]:
        """Return the addresses of the others that are there now, by id."""
        return self._members

    def hear(self, topic: str, hear: Hear) -> None:
        """Have a function told what others tell about a topic."""
        self._hearers.setdefault(topic, []).append(hear)

    def covers(self, name: str) -> bool:
        """Tell whether this file of the folder is common."""
        return self._mirror.covers(name)

    def _pass_on(self, topic: str, what: Json) -> None:
        for hear in self._hearers.get(topic, ()):
            try:
                hear(what)
            except Exception:  # the edge: a defect of one keeps nothing from the others
                logger.exception("what another process told about %s was not taken", topic)
