"""Follows what persons gave for servers, or took back, at other hubs of the installation: their links here follow."""

from __future__ import annotations

import asyncio
import logging

from naru.config import Settings
from naru.connections.changes import Change
from naru.connections.credentials import SECRETS
from naru.connections.manager import Manager
from naru.connections.oauth.signins import TOKENS
from naru.connections.transports.once import HERE, Once
from naru.connections.vault_follower import follow_links
from naru.errors import NaruError
from naru.messages import Json
from naru.persons import nobodys_context
from naru.stores.secrets.common_rows import Place
from naru.stores.shared.commons import Commons
from naru.tasks import Tasks

logger = logging.getLogger(__name__)
_LISTS = ("tools", "prompts", "resources")


class OtherHubs:
    """One for a hub that has others."""

    def __init__(self, manager: Manager, commons: Commons, settings: Settings) -> None:
        """Hear of what is kept at the others, and tell them what a server that runs here for all offers."""
        key = settings.hub.data_dir / "hubs.key"
        manager.http.once = Once(commons, key, tuple(settings.server.allowed_hosts), settings.server.port)
        self._manager = manager
        self._vault = manager.signins.vault
        self._tasks = Tasks()
        commons.hear("sealed", self._heard)  # which the database tells; workers have one file, and `VaultFollower`
        commons.hear("listed", self._listed)
        self._forget = manager.subscribe(lambda change: self._changed(change, commons))
        commons.hear("linked", lambda _: self._begin(None))

    async def start(self) -> None:
        """Take up what is common before anything connects; a database that is away is waited for by nobody."""
        try:
            await asyncio.to_thread(self._vault.join)
        except NaruError as error:
            logger.error("what persons gave for servers is the one that this folder holds: %s", error)

    async def close(self) -> None:
        """Give up what is being followed."""
        self._forget()
        await self._tasks.end()

    def _heard(self, what: Json) -> None:
        if isinstance(what, list) and len(what) == 3:
            person, server, kind = (str(part) for part in what)
            self._begin((person, server, kind))

    def _changed(self, change: Change, commons: Commons) -> None:
        """Tell the others that a server that runs here for all hubs offers other things."""
        once = self._manager.http.once
        if once is not None and change.what in _LISTS and once.where.get(change.server) == HERE:
            commons.tell("listed", change.server)

    def _listed(self, server: Json) -> None:
        once = self._manager.http.once
        if once is not None and once.where.get(str(server), HERE) != HERE:
            self._tasks.begin(self._relist(str(server)), context=nobodys_context())

    async def _relist(self, server: str) -> None:
        connection = self._manager.connections.get(server)
        if connection is not None and connection.is_live:
            try:
                await connection.refresh()
            except NaruError as error:
                logger.warning("server %s: what it offers now is not known: %s", server, error)

    def _begin(self, place: Place | None) -> None:
        self._tasks.begin(self._follow(place), context=nobodys_context())

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
            await follow_links(self._manager, places)
        except NaruError as error:
            logger.error("what a person changed at another hub is not taken up: %s", error)
