"""Notices that something changed by asking for its version again and again, which works on every file system."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

from naru.errors import NaruError

logger = logging.getLogger(__name__)

INTERVAL_SECONDS = 1.0
SETTLED_SECONDS = 0.3
"""So long a file that was written stays as it is before it counts as written."""
Version = Callable[[], Awaitable[object]]
"""Returns a value that differs whenever what is watched may have changed."""


async def watch(
    version: Version,
    act: Callable[[], Awaitable[object]],
    *,
    seen: object,
    interval: float = INTERVAL_SECONDS,
    nudge: asyncio.Event | None = None,
) -> None:
    """Run `act` after each change, for ever; a failure is logged once and what runs goes on as it is.

    Args:
        version: asked every `interval` seconds.
        seen: the version that was asked for before the state was read, so that no change falls between.
        act: run when the version is another one than before.
        interval: in seconds.
        nudge: set by who knows of a change; then it is looked at once.
    """
    told = ""
    while True:
        await _pause(interval, nudge)
        try:
            if (now := await ask(version)) == seen:
                continue
            await act()
            seen, told = now, ""
        except Exception as error:  # noqa: BLE001  # the edge: a defect ends no watching; tried again at the next look
            if str(error) != told:
                logger.error("what changed is not taken up: %s", error, exc_info=not isinstance(error, NaruError))
            told = str(error)


async def _pause(seconds: float, nudge: asyncio.Event | None) -> None:
    if nudge is None:
        await asyncio.sleep(seconds)
        return
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(nudge.wait(), seconds)
    nudge.clear()


FileVersion = tuple[int, int, int]


def version_of(info: os.stat_result) -> FileVersion:
    """Return what tells a file from the one before: which it is, when it was written, how long it is."""
    return info.st_ino, info.st_mtime_ns, info.st_size


async def files_version(paths: list[Path]) -> object:
    """Return the versions of files; None for one that is not there."""

    def look() -> list[FileVersion | None]:
        found: list[FileVersion | None] = []
        for path in paths:
            try:
                found.append(version_of(path.stat()))
            except OSError:
                found.append(None)
        return found

    return await asyncio.to_thread(look)


async def settled(paths: list[Path]) -> None:
    """Wait until nobody writes these files: the first half of one may be a whole one, and lack what the second says."""
    before = None
    while (now := await files_version(paths)) != before:
        before = now
        await asyncio.sleep(SETTLED_SECONDS)


async def ask(version: Version) -> object:
    """Return the version; what cannot be read is a version too."""
    try:
        return await version()
    except NaruError as error:
        return str(error)
