"""The lines of stdin, waited for without holding up the event loop, or in place; Ctrl-C ends the wait."""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import signal
import socket
import sys
from collections.abc import Callable, Iterator


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


def answered(question: str) -> str:
    """Ask on stderr and return the line that is typed, without its end; "" where the input ends.

    Raises:
        KeyboardInterrupt: Ctrl-C was pressed. An event loop that runs would take it, and answer after the question.
    """
    with _asking(question) as wait:
        wait()
        return sys.stdin.readline().rstrip("\r\n")


def pasted(question: str) -> bytes:
    """Ask on stderr and return all that is typed or pasted until the input ends. Raises KeyboardInterrupt."""
    pieces: list[bytes] = []
    with _asking(f"{question}\n") as wait:
        while True:
            wait()
            if not (piece := os.read(sys.stdin.fileno(), 65536)):
                return b"".join(pieces)
            pieces.append(piece)


@contextlib.contextmanager
def _asking(question: str) -> Iterator[Callable[[], None]]:
    """Write a question and give the wait for a line.

    Ctrl-C counts from the question's first letter on. A plain read loses the one that comes between the question
    and its own wait in the kernel, and then waits for a line that nobody types; here the signal itself ends the wait.
    """
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    heard, told = socket.socketpair()
    told.setblocking(False)
    descriptor = signal.set_wakeup_fd(told.fileno())

    def wait() -> None:
        with contextlib.suppress(OSError):  # Windows cannot wait for a console
            select.select([sys.stdin, heard], [], [])

    try:
        sys.stderr.write(question)
        sys.stderr.flush()
        yield wait
    finally:
        signal.set_wakeup_fd(descriptor)
        signal.signal(signal.SIGINT, handler)
        heard.close()
        told.close()
