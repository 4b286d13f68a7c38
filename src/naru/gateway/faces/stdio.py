"""The stdio face: one client, one JSON-RPC message a line, either era; stdout carries nothing else."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import queue
import sys
import threading
from typing import BinaryIO

from naru.gateway.engine import Engine
from naru.gateway.faces.duplex import take
from naru.gateway.sessions.session import Session
from naru.gateway.wire import frames
from naru.gateway.wire.frames import Frame
from naru.gateway.wire.protocol import INVALID_REQUEST, RpcError
from naru.messages import Json

logger = logging.getLogger(__name__)

MAX_WAITING_BYTES = 64 * 1024 * 1024
"""A client that leaves so much unread is given up (R-37)."""


class StdioFace:
    """Serves one client on a pair of byte streams, until its end of file."""

    def __init__(self, engine: Engine, source: BinaryIO, sink: BinaryIO, *, view: str = "") -> None:
        self._engine = engine
        self._source = source
        self._sink = sink
        self._view = view
        self._outgoing: queue.SimpleQueue[Frame | None] = queue.SimpleQueue()
        self._waiting_bytes = 0
        self._ended = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    async def serve(self) -> None:
        """Answer until the client closes its end; what is under way is finished first."""
        session = self._engine.open_session("stdio", self._view)
        session.attach(self._push)
        # Reading and writing block, and may block for good: threads that need not end before the process does.
        reader = threading.Thread(target=self._read, args=(session,), name="stdin", daemon=True)
        writer = threading.Thread(target=self._write, name="stdout", daemon=True)
        reader.start()
        writer.start()
        try:
            await self._ended.wait()
            self._engine.subscriptions.end_all()  # they would last for ever
            under_way = list((session.inflight or {}).values())
            if under_way:
                await asyncio.wait(under_way, timeout=self._engine.settings.drain_seconds)
        finally:
            self._engine.close_session(session)
            self._outgoing.put(None)
            await asyncio.to_thread(writer.join, 2.0)

    def _push(self, frame: Frame) -> bool:
        self._waiting_bytes += len(frame)
        if self._waiting_bytes > MAX_WAITING_BYTES:
            logger.error("the stdio client does not read: %d bytes wait", self._waiting_bytes)
            self._ended.set()
            return False
        self._outgoing.put(frame)
        return True

    def _read(self, session: Session) -> None:
        limit = self._engine.settings.body_bytes()
        try:
            while line := self._source.readline(limit + 2):
                if line.strip():
                    self._loop.call_soon_threadsafe(self._take, line, session)
                if not line.endswith(b"\n") and len(line) > limit:
                    while (rest := self._source.readline(limit)) and not rest.endswith(b"\n"):
                        pass
        except (OSError, ValueError, RuntimeError) as error:
            # The stream or the loop was closed under us: the process is going down.
            logger.info("stdin cannot be read any more: %s", error)
        self._end()

    def _take(self, line: bytes, session: Session) -> None:
        message: Json = None
        limit = self._engine.settings.body_bytes()
        try:
            if len(line.rstrip(b"\r\n")) > limit:
                raise RpcError(INVALID_REQUEST, f"The message is longer than {limit} bytes.")
            message = frames.decode(line.strip(), self._engine.settings.limits)
            take(self._engine, message, session)
        except RpcError as error:
            self._push(frames.failure(frames.id_of(message), error))

    def _write(self) -> None:
        try:
            while (frame := self._outgoing.get()) is not None:
                self._sink.write(frame + b"\n")
                if self._outgoing.empty():
                    self._sink.flush()
                self._loop.call_soon_threadsafe(self._written, len(frame))
            self._sink.flush()
        except (OSError, ValueError, RuntimeError) as error:
            logger.warning("the stdio client takes no more answers: %s", error)
        self._end()

    def _end(self) -> None:
        """Have the face end, from one of its threads: without both of them it serves nobody."""
        with contextlib.suppress(RuntimeError):  # the loop is closed: it has ended
            self._loop.call_soon_threadsafe(self._ended.set)

    def _written(self, length: int) -> None:
        self._waiting_bytes -= length


def take_stdout() -> BinaryIO:
    """Take stdout for the protocol alone: whatever else is printed from now on goes to stderr."""
    sys.stdout.flush()
    private = os.fdopen(os.dup(1), "wb", buffering=64 * 1024)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return private


def take_stdin() -> BinaryIO:
    """Return stdin as a stream of its own: a thread that waits in `sys.stdin` makes Python abort when it ends."""
    return open(0, "rb", closefd=False)
