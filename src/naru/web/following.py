"""What changes round a running hub: its settings file (H8), and whether keys are asked for."""

from __future__ import annotations

import asyncio

from naru.config import load_settings
from naru.connections.link.connection import Connection
from naru.connections.manager import Manager
from naru.connections.rules.policy import PolicyGuard
from naru.errors import PolicyError
from naru.hub import Hub
from naru.records import ServerStatus
from naru.stores.files.watch import settled
from naru.web.face.profiles import check_profiles
from naru.web.gate.access import RateLimiter
from naru.web.gate.security import Gate, check_bind


def keys_are_asked(hub: Hub) -> None:
    """Do from now on what `auto` means where keys are asked for (S-50, S-56); the start could not know of it."""
    guard = hub.manager.guard
    if hub.approvals is not None and hub.settings.approvals.destructive == "auto":
        hub.approvals.asks_for_destructive = True
    if isinstance(guard, PolicyGuard) and hub.settings.mcp.security.quarantine == "auto":
        guard.quarantines = True
        hub.manager.look_again()


async def admit_anew(manager: Manager) -> None:
    """Close the links of servers that the rules admit no longer, and open those that they do now (H12)."""

    async def obey(connection: Connection) -> None:
        is_wanted = connection.record.auto_connect and connection.status in (ServerStatus.FAILED, ServerStatus.PENDING)
        try:
            manager.guard.admit(connection.record)
        except PolicyError:
            await manager.drop_own(connection.name)
            await connection.disconnect()
            is_wanted = True  # it fails, and says why
        if is_wanted and connection.name not in manager.personal_servers:
            await connection.connect()

    await asyncio.gather(*map(obey, manager.connections.values()))


class SettingsFollower:
    """Compares the file with what it said before; flags and environment have the last word as at the start."""

    def __init__(self, hub: Hub, gate: Gate, limiter: RateLimiter) -> None:
        self._hub = hub
        self._gate = gate
        self._limiter = limiter
        assert hub.followed is not None
        self.path, self._at_start = hub.followed
        self._before = self._at_start

    async def look(self) -> None:
        """Take up what has changed. Raises ConfigError when the file cannot be used: all stays as it is."""
        await settled([self.path])
        after = await asyncio.to_thread(load_settings, self.path)
        check_bind(after.server)
        check_profiles(after.chat)
        taken = self._hub.take_up(self._before, after, at_start=self._at_start)
        self._before = after
        if "mcp.security.allowed_server_names" in taken.live:
            await admit_anew(self._hub.manager)
        self._limiter.per_minute = self._hub.settings.server.rate_limit_per_minute
        await self._gate.take_up()
