"""A stdio server: one child, many requests in flight, nothing of it left behind."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import math
import os
import signal
import sys
from collections.abc import Mapping
from typing import Any, cast

from naru.connections.state.faults import Failure, LinkError
from naru.connections.state.settings import ConnectionSettings
from naru.connections.transports import descendants
from naru.connections.transports.base import Counters, Inbox, LogRing, Outgoing
from naru.connections.transports.framing import LineFramer, Oversized
from naru.connections.transports.launch import Launch, in_child, inherited_secrets, prepare
from naru.connections.transports.pending import PendingAnswers, cancelled
from naru.connections.wire import messages as wire
from naru.messages import Json, JsonObject
from naru.stores.secrets.values import SecretValues

logger = logging.getLogger(__name__)

_WHY_NOT_STARTED = {
    errno.ENOENT: "The interpreter that its first line names does not exist: install it, or name it as `command`.",
    errno.ENOEXEC: "It is no program for this machine, or a script whose first line names no interpreter.",
    errno.E2BIG: "Its arguments and variables are too long together.",
}
_ENDING_SECONDS = 2.0
"""How long a process that closed its output may take to end: a busy machine lets that take a while."""
_LAST_WORDS_SECONDS = 0.25
"""How long answers may still arrive after the process ended, when something else holds its stdout open."""


class StdioTransport(asyncio.SubprocessProtocol):
    """Starts a server as a child and exchanges lines with it.

    Frames are read where the event loop delivers them, so there is no reader task to lose. The child leads its own
    session, dies with Naru, and `close` ends everything that it started.
    """

    def __init__(self, config: Mapping[str, Any], secrets: SecretValues, settings: ConnectionSettings) -> None:
        self.counters = Counters()
        self.secrets = secrets
        self.logs = LogRing(settings.log_bytes, secrets)
        self.pid: int | None = None
        self._config = config
        self._settings = settings
        self._framer = LineFramer(settings.max_frame_bytes)
        self._pending = PendingAnswers(self.counters)
        self._mark = descendants.new_mark()
        self._bad_in_a_row = 0
        self._inbox: Inbox | None = None
        self._process: asyncio.SubprocessTransport | None = None
        self._stdin: asyncio.WriteTransport | None = None
        self._writable = asyncio.Event()
        self._exited = asyncio.Event()
        self._last_words: asyncio.Handle | None = None
        self._ends_at = math.inf
        self._failure: Failure | None = None
        self._closing = False

    async def open(self, inbox: Inbox) -> None:
        """Start the child. Raises LinkError."""
        self._inbox = inbox
        launch = prepare(self._config)
        self.secrets.learn(inherited_secrets())
        process, _ = await self._spawn(launch)
        self._process = process
        self.pid = process.get_pid()
        stdin = process.get_pipe_transport(0)
        # uvloop's pipes are no subclass of asyncio's.
        self._stdin = cast("asyncio.WriteTransport", stdin)
        self._writable.set()

    async def _spawn(self, launch: Launch) -> tuple[asyncio.SubprocessTransport, Any]:
        pipe = asyncio.subprocess.PIPE
        environment = {**launch.environment, descendants.VARIABLE: self._mark}
        try:
            return await asyncio.get_running_loop().subprocess_exec(
                lambda: self,
                *launch.argv,
                stdin=pipe,
                stdout=pipe,
                stderr=pipe,
                cwd=launch.cwd,
                env=environment,
                start_new_session=sys.platform != "win32",
                preexec_fn=in_child(launch.limits),
            )
        except OSError as error:
            failure = Failure(
                "launch",
                "not_started",
                f"{launch.argv[0]!r} could not be started: {error.strerror or error}.",
                _WHY_NOT_STARTED.get(error.errno or 0, "Run the command by hand to see why."),
            )
            raise LinkError(failure) from error

    @property
    def unfinished_bytes(self) -> int:
        """What has arrived of a line that is not whole."""
        return self._framer.unfinished_bytes

    # What the event loop calls

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Take what the child wrote."""
        if fd != 1:
            self.logs.add(data)
            return
        for line in self._framer.feed(data):
            self._take(line)

    def pause_writing(self) -> None:
        """Hold writers back: the child does not read its stdin fast enough."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """Let writers go on."""
        self._writable.set()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """Notice that the child closed a pipe: without stdout or stdin it is of no use."""
        if fd in (0, 1):
            # Its exit code, if it is about to have one, says more than the closed pipe.
            self._die_soon()

    def process_exited(self) -> None:
        """Notice the child's end, and give its last words time to arrive."""
        self._exited.set()
        if sys.platform != "win32" and self.pid is not None:
            # Reaped this instant, so its number still names the group of what it left behind.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
        self._die_soon()

    def connection_lost(self, exc: Exception | None) -> None:
        """Notice that the child and all its pipes are gone."""
        self._die()

    def _die_soon(self) -> None:
        loop = asyncio.get_running_loop()
        end = loop.time() + (_LAST_WORDS_SECONDS if self._exited.is_set() else _ENDING_SECONDS)
        self._ends_at = min(end, self._ends_at)  # later signs of the same end, such as writes that go nowhere: no delay
        if self._last_words is not None:
            self._last_words.cancel()
        self._last_words = loop.call_at(self._ends_at, self._die)  # a moment that is past has no timer in uvloop

    def _die(self) -> None:
        if self._last_words is not None:
            self._last_words.cancel()
        self._fail(self._describe_end())

    def _describe_end(self) -> Failure:
        code = self._process.get_returncode() if self._process is not None else None
        if code is None:
            what, word = "the process closed its output", "closed"
        elif code < 0:
            what, word = f"the process was ended by {_signal_name(-code)}", "killed"
        else:
            what, word = f"the process exited with code {code}", "exited"
        tail = self.logs.tail()
        remedy = "Its log says why." if tail else "Run the command by hand to see why."
        return Failure("stream", word, f"{what}.", remedy, detail=tail)

    def _fail(self, failure: Failure) -> None:
        if self._failure is not None:
            return
        self._failure = failure
        self._writable.set()
        self._pending.fail_all(failure)
        if self._inbox is not None and not self._closing:
            self._inbox.lost(failure)

    # Frames

    def _take(self, line: bytes | Oversized) -> None:
        if isinstance(line, Oversized):
            self.counters.oversized += 1
            self._pending.fail_oversized(line, self._settings.max_frame_bytes)
            return
        line = line.strip()
        if not line:
            return
        if not line.startswith((b"{", b"[", b"\xef\xbb\xbf")):
            self._note_noise(line)
            return
        try:
            value: Json = self.secrets.data(line, wire.decode(line.removeprefix(b"\xef\xbb\xbf")))
        except ValueError:
            self._note_noise(line)
            return
        # A batch was legal once (2025-03-26); its members are still single messages.
        messages = value if isinstance(value, list) and value else [value]
        if not all(map(wire.is_message, messages)):
            self._note_noise(line)
            return
        self._bad_in_a_row = 0
        assert self._inbox is not None
        for message in messages:
            self._pending.dispatch(message, self._inbox)

    def _note_noise(self, line: bytes) -> None:
        self.counters.noise_lines += 1
        self._bad_in_a_row += 1
        self.logs.add(b"[stdout] " + line[:2000] + b"\n")
        if self._bad_in_a_row == self._settings.max_bad_lines:
            last = self.secrets.text(line.decode("utf-8", "replace"))[:200]
            failure = Failure(
                "stream",
                "noise",
                f"{self._bad_in_a_row} lines in a row on its stdout were not JSON-RPC, the last: {last!r}.",
                "A stdio server must print its logs to stderr.",
            )
            self._fail(failure)

    async def exchange(self, call: Outgoing) -> JsonObject:
        """Send a request and wait for its answer. Raises LinkError."""
        future = self._pending.expect(call)
        try:
            await self._write(call.body)
        except BaseException:
            self._pending.forget(call)
            raise
        return await self._pending.wait(call, future)

    async def send(self, body: bytes, *, version: str = "") -> None:
        """Send a notification or an answer. Raises LinkError."""
        await self._write(body)

    async def _write(self, body: bytes) -> None:
        if self._failure is None and self._stdin is not None and self._stdin.is_closing():
            self._writable.clear()  # until it is known why: the event loop refuses in words of its own
            self._die_soon()
        if not self._writable.is_set():
            await self._writable.wait()
        if self._failure is not None or self._stdin is None:
            failure = self._failure or Failure("launch", "not_started", "the process was not started.")
            error = LinkError(failure)
            error.breaks_link = True
            raise error
        self._stdin.write(body + b"\n")

    def abandon(self, call: Outgoing, reason: str) -> None:
        """Tell the child that nobody waits any more."""
        notification = cancelled(call, reason)
        if notification and self._failure is None and self._stdin is not None and self._writable.is_set():
            self._stdin.write(wire.encode(notification) + b"\n")

    def listen(self, version: str) -> None:
        """Do nothing: everything comes on stdout."""

    # The end

    async def close(self) -> None:
        """Close stdin, then SIGTERM, then SIGKILL, each after its patience; then end every descendant."""
        self._closing = True
        process = self._process
        if process is None:
            return
        patience = self._settings.close_timeout_seconds
        try:
            if self._stdin is not None:
                self._stdin.close()
            if not await self._exits_within(patience):
                self._signal_group(signal.SIGTERM)
                await self._exits_within(patience)
        finally:
            # Also on cancellation: force needs no waiting.
            self._signal_group(_SIGKILL)
            await self._bury(process)
            self._fail(Failure("close", "closed", "the connection was closed."))

    async def _bury(self, process: asyncio.SubprocessTransport) -> None:
        try:
            await self._exits_within(self._settings.close_timeout_seconds)
        finally:  # whoever closes may be cancelled at any of these waits
            process.close()
            killed = await asyncio.to_thread(descendants.end_marked, self._mark)
            if killed:
                logger.info("ended %d processes that %s left behind", killed, self.pid)

    async def _exits_within(self, seconds: float) -> bool:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._exited.wait(), seconds)
        return self._exited.is_set()

    def _signal_group(self, number: int) -> None:
        if self.pid is None or (self._exited.is_set() and sys.platform == "linux"):
            return  # once the leader is reaped its number may belong to others; the mark finds the rest
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if sys.platform == "win32":
                os.kill(self.pid, number)
            else:
                os.killpg(self.pid, number)


_SIGKILL = signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
