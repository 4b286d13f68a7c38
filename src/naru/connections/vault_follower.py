"""Follows what other processes write into the vault's file: workers, and commands that find no hub (`logout`)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from naru.connections.credentials import SECRETS
from naru.connections.manager import Manager
from naru.connections.oauth.signins import TOKENS
from naru.stores.secrets.common_rows import Place


class VaultFollower:
    """One for a hub whose vault is a file of its own."""

    def __init__(self, manager: Manager) -> None:
        self._manager = manager
        self._vault = manager.signins.vault
        self._known: dict[Place, bytes] = {}
        """What is kept as this process knows it."""
        self._due: list[Place] = []
        """Whose links have not followed yet."""

    async def start(self) -> None:
        """Note what is kept now. Raises StoreError."""
        if not self._vault.is_a_copy:
            self._vault.written = self._note
            await asyncio.to_thread(self._vault.news, self._known)

    async def version(self) -> object:
        """Return what is another after another process has written. Raises StoreError."""
        return None if self._vault.is_a_copy else await asyncio.to_thread(self._vault.version)

    async def take_up(self) -> None:
        """Have the links of all whose rows others changed follow. Raises NaruError."""
        self._due += await asyncio.to_thread(self._vault.news, self._known)
        while self._due:
            await follow_links(self._manager, self._due[:1])
            del self._due[0]

    def _note(self, place: Place, sealed: bytes | None) -> None:
        if sealed is None:
            self._known.pop(place, None)
        else:
            self._known[place] = sealed


async def follow_links(manager: Manager, places: Sequence[Place]) -> None:
    """Have the links of those follow whose rows have changed. Raises NaruError."""
    for owner, server, kind in places:
        if kind == SECRETS or (kind == TOKENS and await manager.signins.look_again(owner, server)):
            await manager.signed(server, owner, wakes=False)
