"""Hot reload: the manager follows its store, its vault and what YAML declares, touching only what changed (R-30)."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence
from pathlib import Path

from naru.config import McpSettings
from naru.connections.manager import Manager
from naru.connections.vault_follower import VaultFollower
from naru.errors import NaruError, StoreUnavailableError
from naru.records import ServerRecord
from naru.stores.base import Store
from naru.stores.declared import Declared, follow, read_declared, seed
from naru.stores.files.watch import INTERVAL_SECONDS, ask, files_version, settled, watch

logger = logging.getLogger(__name__)


class Follower:
    """Owns the three watching tasks; make it, `start` it after the store is open, `close` it before the manager.

    Args:
        store: where the records are.
        manager: what follows them.
        settings: gives the `mcp` section as it is now, read anew when a file changes.
        paths: the settings file, if there is one; the files that the section names are watched as well.
        own: servers that this installation brings along; they seed the store like declared ones.
        interval: seconds between looks.
    """

    def __init__(
        self,
        store: Store,
        manager: Manager,
        settings: Callable[[], McpSettings],
        *,
        paths: list[Path] | None = None,
        own: Sequence[ServerRecord] = (),
        interval: float = INTERVAL_SECONDS,
    ) -> None:
        self._store = store
        self._manager = manager
        self._vault = VaultFollower(manager)
        self._settings = settings
        self._own_paths = paths or []
        self._own = own
        self._is_taken_up = False
        self._interval = interval
        self._section = McpSettings()
        self._declared = Declared({}, {}, ())
        self._tasks: list[asyncio.Task[None]] = []
        self._nudge = asyncio.Event()

    @property
    def declared(self) -> Declared:
        """What the files declare now, with what of it cannot be used."""
        return self._declared

    async def start(self) -> None:
        """Seed the store with declared servers, have the manager take up all, then watch (H8).

        A store that cannot be reached just now delays that and nothing else (R-22): it is asked again and again.

        Raises:
            StoreError: the store cannot be used.
        """
        self._section = self._settings()
        watched = (
            (self._store_version, self._take_up),
            (self._files_version, self._redeclare),
            (self._vault.version, self._vault.take_up),
        )
        seen = [await ask(version) for version, _ in watched]
        try:
            await self._vault.start()
        except NaruError as error:  # whoever needs a credential is told as well
            logger.error("what persons gave for servers cannot be read: %s", error)
        self._take(await read_declared(self._section))
        try:
            await self._take_up()
        except StoreUnavailableError as error:
            logger.error("no server is connected until the store is there: %s", error)
            self._manager.store_trouble = str(error)
        self._tasks = [
            asyncio.get_running_loop().create_task(
                watch(version, act, seen=before, interval=self._interval, nudge=nudge)
            )
            for (version, act), before, nudge in zip(watched, seen, (self._nudge, None, None), strict=True)
        ]

    def look(self) -> None:
        """Look at the store now: somebody said that it has changed."""
        self._nudge.set()

    async def close(self) -> None:
        """Stop watching."""
        for task in self._tasks:
            task.cancel()
        for task in self._tasks:
            with contextlib.suppress(asyncio.CancelledError):
                await task
        self._tasks = []

    async def _take_up(self) -> None:
        """Bring the manager to what the store says; the first time, the store to what is declared."""
        if self._is_taken_up:
            await self._manager.reload()
            return
        await seed(self._store, self._declared, self._own)
        await self._manager.initialize_from_store()
        self._is_taken_up = True

    async def _store_version(self) -> object:
        try:
            version = await self._store.version()
        except NaruError as error:
            self._manager.store_trouble = str(error)
            raise
        self._manager.store_trouble = ""
        return version

    @property
    def _paths(self) -> list[Path]:
        return [*self._own_paths, *(path.expanduser() for path in self._section.files)]

    async def _files_version(self) -> object:
        return await files_version(self._paths)

    async def _redeclare(self) -> None:
        await settled(self._paths)
        section = await asyncio.to_thread(self._settings)
        after = await read_declared(section)
        unread = {problem.place for problem in after.problems} & {str(path) for path in section.files}
        if unread:
            kept = {name: r for name, r in self._declared.records.items() if self._declared.origins[name] in unread}
            after = Declared({**kept, **after.records}, {**self._declared.origins, **after.origins}, after.problems)
        changed = await follow(self._store, self._declared, after)
        self._section = section
        self._take(after)
        if changed:
            await self._manager.reload()

    def _take(self, declared: Declared) -> None:
        for problem in declared.problems:
            if problem not in self._declared.problems:
                logger.warning("%s", problem.reason)
        self._declared = declared
