"""Where several hubs serve as one: what each tells the others of its requests, and does about what it hears."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from naru.connections.changes import Change
from naru.gateway.owners import Owners
from naru.hub import Hub
from naru.messages import Json
from naru.web.access import RateLimiter
from naru.web.admission import Admission

if TYPE_CHECKING:
    from starlette.types import Scope

TELL_SECONDS = 0.2
"""How often a hub tells how many requests each key has made: what a limit may be passed by is what they make in it."""
_MOST_NAMES = 100


@asynccontextmanager
async def together(hub: Hub, admission: Admission, limiter: RateLimiter, owners: Owners) -> AsyncIterator[None]:
    """Tell and hear while the block runs."""
    commons, manager = hub.commons, hub.manager

    def changed(name: Json) -> None:
        if name == "keys.json":
            hub.keys.look_again()
            admission.look()
        elif name == "pins.json":
            manager.look_again()
        elif isinstance(name, str) and name.startswith("waiting/"):
            manager.announce(Change("", "approvals"))

    def spent(counts: Json) -> None:
        if isinstance(counts, dict):
            limiter.heard({name: count for name, count in counts.items() if isinstance(count, int)})

    def passed_on(scope: Scope) -> None:
        limiter.give_back(scope["state"]["principal"])

    async def tell() -> None:
        while True:
            await asyncio.sleep(TELL_SECONDS)
            unsaid = list(limiter.unsaid().items())
            for start in range(0, len(unsaid), _MOST_NAMES):
                commons.tell("spent", dict(unsaid[start : start + _MOST_NAMES]))

    commons.hear("document", changed)
    commons.hear("spent", spent)
    owners.passed_on = passed_on
    limiter.share()
    telling = asyncio.create_task(tell(), name="tells what was spent")
    try:
        yield
    finally:
        telling.cancel()
        await asyncio.gather(telling, return_exceptions=True)
