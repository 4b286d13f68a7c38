"""Links of one caller's own, for servers that keep state between calls: `"isolation": "caller"` (PERF 9.1)."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from typing import Generic, Protocol, TypeVar

from naru.connections.link.remembered import Memory
from naru.connections.link.surroundings import Surroundings, ignore
from naru.connections.state.faults import BusyError, Failure
from naru.records import ServerRecord, ServerStatus

MOST = 32
"""Links of callers that one server has at a time; the longest unused one gives way."""
KEY = "isolation"
IDLE_MS = 300_000


def is_isolated(record: ServerRecord) -> bool:
    """Tell whether each caller has a link of its own to this server."""
    return record.config.get(KEY) == "caller"


def in_protocol(record: ServerRecord, protocol: str) -> ServerRecord:
    """Return the record of a server that is talked to in one era alone."""
    return record.model_copy(update={"config": {**record.config, "protocol": protocol}})


class Link(Protocol):
    """What is asked of a connection here."""

    @property
    def status(self) -> ServerStatus:
        """Its state."""
        ...

    @property
    def in_flight(self) -> int:
        """Requests that run."""
        ...

    @property
    def queued(self) -> int:
        """Requests that wait for a slot."""
        ...

    async def connect(self) -> bool:
        """Open it."""
        ...

    async def close(self) -> None:
        """End it for good."""
        ...


L = TypeVar("L", bound=Link)


class PrivateLinks(Generic[L]):
    """One connection for each caller, opened at the caller's first request and closed when it has rested."""

    def __init__(
        self,
        record: ServerRecord,
        around: Surroundings,
        make: Callable[[ServerRecord, Surroundings], L],
    ) -> None:
        config = {"idleStopMs": IDLE_MS, **{key: value for key, value in record.config.items() if key != KEY}}
        self._record = record.model_copy(update={"config": config})
        # What becomes of them is nobody's news: the shared link speaks for the server.
        self._around = replace(around, changed=ignore, memory=Memory())
        self._make = make
        self._links: OrderedDict[str, L] = OrderedDict()
        self._epoch = 0
        """Grows whenever all are closed."""

    def __len__(self) -> int:
        return len(self._links)

    async def of(self, caller: str) -> L:
        """Return a caller's own connection. Raises BusyError when too many callers are at work."""
        link = self._links.get(caller)
        if link is None:
            epoch = self._epoch
            await self._make_room()
            if epoch != self._epoch:  # a link that is made now would be nobody's to close
                raise BusyError(Failure("call", "busy", "its links are being closed.", "Try again."))
            link = self._links.setdefault(caller, self._make(self._record, self._around))
        self._links.move_to_end(caller)
        if link.status in (ServerStatus.PENDING, ServerStatus.CONNECTING):  # later its requests see to that, no storm
            await link.connect()
        return link

    async def close(self) -> None:
        """Close all of them."""
        self._epoch += 1
        links, self._links = self._links, OrderedDict()
        await asyncio.gather(*(link.close() for link in links.values()))

    async def _make_room(self) -> None:
        while len(self._links) >= MOST:  # others may have taken the room meanwhile
            resting = (caller for caller, link in self._links.items() if not link.in_flight and not link.queued)
            longest = next(resting, None)
            if longest is None:
                said = f"{MOST} callers are at work on links of their own."
                raise BusyError(Failure("call", "busy", said, "Try again later."))
            await self._links.pop(longest).close()
