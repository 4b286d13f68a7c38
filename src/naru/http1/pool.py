"""The connections to one address: as many as there are requests under way, kept for the next ones."""

from __future__ import annotations

import asyncio
import ssl

from naru.deadlines import uptime
from naru.http1.connection import Connection, Limits
from naru.http1.dial import Resolve, dial
from naru.http1.faults import ExchangeError, UnansweredError
from naru.http1.head import Address
from naru.http1.reply import Fault, Reply

DEFAULT_LIMITS = Limits()


def _as_it_is(error: ExchangeError) -> Exception:
    return error


class Pool:
    """Connections to one address."""

    def __init__(
        self,
        address: Address,
        *,
        authorities: ssl.SSLContext | None = None,
        limits: Limits = DEFAULT_LIMITS,
        fault: Fault = _as_it_is,
        resolve: Resolve | None = None,
    ) -> None:
        """Take an address; nothing is opened yet.

        Args:
            address: where requests go.
            authorities: what certificates are checked against, in place of what the system trusts.
            limits: how long things may take.
            fault: makes of an `ExchangeError` what callers catch.
            resolve: tells what may be connected to, in place of the system's name service.
        """
        self.address = address
        self.limits = limits
        self.fault = fault
        self._authorities = authorities
        self._resolve = resolve
        self._idle: list[Connection] = []
        self._open: set[Connection] = set()
        self._sweeper: asyncio.TimerHandle | None = None

    async def ask(self, request: bytes, *, is_repeatable: bool = False) -> Reply:
        """Send a request over a kept connection or a new one; return its reply once the head is there.

        Args:
            request: head and body.
            is_repeatable: it may reach the server twice: sent again over a new connection when a kept one proves to
                have been closed, as long as not a byte came back.

        Raises:
            ExchangeError: there is no reply; or what `fault` makes of that.
        """
        kept = self._kept()
        if kept is not None:
            reply = await kept.ask(request)
            if isinstance(reply, Reply):
                return reply
            if not (is_repeatable and isinstance(reply, UnansweredError)):
                raise self.fault(reply)
        reply = await (await self._dial()).ask(request)
        if isinstance(reply, ExchangeError):
            raise self.fault(reply)
        return reply

    def close(self) -> None:
        """Close every connection."""
        for connection in list(self._open):
            connection.abort()
        if self._sweeper is not None:
            self._sweeper.cancel()
            self._sweeper = None

    # What a connection calls.

    def take_back(self, connection: Connection) -> None:
        """Keep a connection for the next request."""
        if not self.limits.idle_seconds:
            connection.abort()
            return
        self._idle.append(connection)
        if self._sweeper is None:
            self._sweeper = asyncio.get_running_loop().call_later(self.limits.idle_seconds, self._sweep)

    def forget(self, connection: Connection) -> None:
        """Drop a connection that is closed."""
        self._open.discard(connection)
        if connection in self._idle:
            self._idle.remove(connection)

    def _kept(self) -> Connection | None:
        if not self._idle:
            return None
        oldest = uptime() - self.limits.idle_seconds  # its other end is gone after a sleep of this machine
        while self._idle:
            connection = self._idle.pop()
            if connection.is_open and connection.idle_since >= oldest:
                return connection
            connection.abort()
        return None

    async def _dial(self) -> Connection:
        try:
            connection = await dial(
                lambda: Connection(self),
                self.address,
                authorities=self._authorities,
                timeout_seconds=self.limits.connect_seconds,
                resolve=self._resolve,
            )
        except ExchangeError as error:
            told = self.fault(error)
        else:
            if connection.is_open:
                self._open.add(connection)
            return connection
        raise told

    def _sweep(self) -> None:
        """Close what has been idle for long."""
        oldest = uptime() - self.limits.idle_seconds
        for connection in [one for one in self._idle if one.idle_since <= oldest]:
            connection.abort()
        later = asyncio.get_running_loop().call_later
        self._sweeper = later(self.limits.idle_seconds, self._sweep) if self._idle else None
