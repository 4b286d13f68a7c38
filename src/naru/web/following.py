"""The settings file of a running hub: what was changed there is taken up, or said to wait for the next start (H8)."""

from __future__ import annotations

import asyncio
from pathlib import Path

from naru.config import load_settings
from naru.hub import Hub
from naru.stores.files.watch import settled
from naru.web.gate.access import RateLimiter
from naru.web.gate.security import Gate, check_bind


class SettingsFollower:
    """Compares the file with what it said before; flags and environment have the last word as at the start."""

    def __init__(self, hub: Hub, path: Path, gate: Gate, limiter: RateLimiter) -> None:
        self._hub = hub
        self._path = path
        self._gate = gate
        self._limiter = limiter
        self._before = load_settings(path)

    async def look(self) -> None:
        """Take up what has changed. Raises ConfigError when the file cannot be used: all stays as it is."""
        await settled([self._path])
        after = await asyncio.to_thread(load_settings, self._path)
        check_bind(after.server)
        self._hub.take_up(self._before, after)
        self._before = after
        self._limiter.per_minute = self._hub.settings.server.rate_limit_per_minute
        await self._gate.take_up()
