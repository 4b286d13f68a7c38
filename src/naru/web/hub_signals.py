"""Where several hubs serve as one: what each tells the others of its requests, and does about what it hears."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from naru.connections.changes import Change
from naru.errors import StoreError
from naru.gateway.sessions.owners import Owners
from naru.hub import Hub
from naru.messages import Json
from naru.web.gate.access import RateLimiter
from naru.web.gate.admission import Admission

if TYPE_CHECKING:
    from starlette.types import Scope

TELL_SECONDS = 0.2
"""How often a hub tells how many requests each key has made: what a limit may be passed by is what they make in it."""
_MOST_NAMES = 100
logger = logging.getLogger(__name__)
_OF_RECORDS = ("registered", "updated", "removed")


@asynccontextmanager
async def exchange_signals(hub: Hub, admission: Admission, limiter: RateLimiter, owners: Owners) -> AsyncIterator[None]:
    """Tell and hear while the block runs."""
    member = _Member(hub, admission, limiter)
    hub.commons.hear("document", member.changed)
    hub.commons.hear("spent", member.spent)
    hub.commons.hear("today", member.spent_today)
    if hub.tables is not None:  # on one machine the budgets are in one file
        hub.spending.share()
    owners.passed_on = member.passed_on
    limiter.share()
    forget = hub.manager.subscribe(member.registered)
    telling = asyncio.create_task(member.tell(), name="tells what was spent")
    try:
        yield
    finally:
        forget()
        telling.cancel()
        await asyncio.gather(telling, return_exceptions=True)
        await member.settle()


class _Member:
    """One hub among several."""

    def __init__(self, hub: Hub, admission: Admission, limiter: RateLimiter) -> None:
        self._hub = hub
        self._admission = admission
        self._limiter = limiter
        self._is_behind = False

    def changed(self, name: Json) -> None:
        """Take up a document that another hub has changed."""
        if name == "keys.json":
            self._hub.keys.look_again()
            self._admission.look()
        elif name == "pins.json":
            self._hub.manager.look_again()
        elif isinstance(name, str) and name.startswith("waiting/"):
            self._hub.manager.announce(Change("", "approvals"))

    def spent(self, counts: Json) -> None:
        """Count what another hub has served."""
        if isinstance(counts, dict):
            self._limiter.heard({name: count for name, count in counts.items() if isinstance(count, int)})

    def spent_today(self, counts: Json) -> None:
        """Count what another hub has taken from the budgets of the day."""
        if isinstance(counts, dict):
            self._hub.spending.heard({name: count for name, count in counts.items() if isinstance(count, int)})

    def passed_on(self, scope: Scope) -> None:
        """Leave a request to the hub that answers it to count."""
        self._limiter.give_back(scope["state"]["principal"])

    def registered(self, change: Change) -> None:
        """Tell of a changed record; a common database does that by itself."""
        if change.what in _OF_RECORDS and self._hub.tables is None:
            self._hub.commons.tell("servers", None)

    async def tell(self) -> None:
        """Tell what was counted, again and again."""
        while True:
            await asyncio.sleep(TELL_SECONDS)
            for topic, counts in (("spent", self._limiter.unsaid()), ("today", self._hub.spending.unsaid())):
                unsaid = list(counts.items())
                for start in range(0, len(unsaid), _MOST_NAMES):
                    self._hub.commons.tell(topic, dict(unsaid[start : start + _MOST_NAMES]))
            await self.settle()

    async def settle(self) -> None:
        """Write down what the others have told of budgets; if it cannot be, it is tried again."""
        try:
            await self._hub.spending.settle()
            self._is_behind = False
        except StoreError as error:
            if not self._is_behind:
                logger.warning("what other hubs have counted cannot be written down for now: %s", error)
            self._is_behind = True
