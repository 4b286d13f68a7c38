"""The lines of stdin, waited for without holding up the event loop; Ctrl-C ends the wait."""

from __future__ import annotations

import asyncio
import os


class Lines:
    """Reads a terminal, a pipe or a file line by line, past Python's own buffer, which a wait cannot look into."""

    def __init__(self, descriptor: int = 0) -> None:
        self._descriptor = descriptor
        self._held = b""
        self._at_end = False

    async def next(self) -> str | None:
        """Return the next line without its end; None when there are no more."""
        while b"\n" not in self._held and not self._at_end:
            await self._wait()
            piece = os.read(self._descriptor, 65536)
            self._held += piece
            self._at_end = not piece
        line, end, self._held = self._held.partition(b"\n")
        return line.decode(errors="replace").rstrip("\r") if line or end else None

    async def _wait(self) -> None:
        loop = asyncio.get_running_loop()
        ready = asyncio.Event()
        try:
            loop.add_reader(self._descriptor, ready.set)
        except (OSError, NotImplementedError):  # a file keeps nobody waiting; Windows cannot wait for a console
            return
        try:
            await ready.wait()
        finally:
            loop.remove_reader(self._descriptor)
