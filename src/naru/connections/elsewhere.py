"""Follows what persons gave for servers, or took back, at another hub of this installation: their links here follow."""

from __future__ import annotations

import asyncio
import logging

from naru.connections.credentials import SECRETS
from naru.connections.manager import Manager
from naru.connections.oauth.signins import TOKENS
from naru.errors import NaruError
from naru.messages import Json
from naru.persons import nobodys_context
from naru.stores.secrets.common_rows import Place
from naru.stores.shared.commons import Commons

logger = logging.getLogger(__name__)


class Elsewhere:
    """One for a hub that has others."""

    def __init__(self, manager: Manager, commons: Commons) -> None:
        """Tell the others of what is kept here, and hear of what is kept there."""
        self._manager = manager
        self._vault = manager.signins.vault
        self._vault.written = lambda place: commons.tell("sealed", list(place))
        self._tasks: set[asyncio.Task[None]] = set()
        commons.hear("sealed", self._heard)
        commons.hear("linked", lambda _: self._begin(None))

    async def start(self) -> None:
        """Take up what is common before anything connects; a database that is away is waited for by nobody."""
        try:
            await asyncio.to_thread(self._vault.join)
        except NaruError as error:
            logger.error("what persons gave for servers is the one that this folder holds: %s", error)

    async def close(self) -> None:
        """Give up what is being followed."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _heard(self, what: Json) -> None:
        if isinstance(what, list) and len(what) == 3:
            person, server, kind = (str(part) for part in what)
            self._begin((person, server, kind))

    def _begin(self, place: Place | None) -> None:
        task = asyncio.get_running_loop().create_task(self._follow(place), context=nobodys_context())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _follow(self, place: Place | None) -> None:
        """Take up one row, or all where notices may have been missed."""
        try:
            if place is None:
                places = await asyncio.to_thread(self._vault.join)
            elif place[2] in (TOKENS, SECRETS):
                await asyncio.to_thread(self._vault.pull, *place)
                places = [place]
            else:  # nothing here depends on it: it is read when it is needed
                places = []
            for owner, server, kind in places:
                if kind == SECRETS or (kind == TOKENS and await self._manager.signins.look_again(owner, server)):
                    await self._manager.signed(server, owner, is_here=False)
        except NaruError as error:
            logger.error("what a person changed at another hub is not taken up: %s", error)
