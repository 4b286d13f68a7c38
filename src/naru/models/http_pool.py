"""Connections to one model endpoint over HTTP/1.1, kept for the next request.

What is not here is left out on purpose: no redirects (they would carry the key elsewhere), no cookies, no proxies.
"""

from __future__ import annotations

import asyncio
import base64
import ipaddress
import os
import socket
import ssl
from functools import lru_cache
from urllib.parse import quote, unquote, urlsplit

import aiohappyeyeballs

from naru.errors import ConfigError
from naru.models.endpoint import WHOLE_BODY_BYTES, Endpoint
from naru.models.failures import failure, http_failure
from naru.models.http_connection import Answer, Connection

_CONNECT_SECONDS = 10.0
_OTHER_ADDRESS_SECONDS = 0.25
"""After which the next address of the host is tried beside the first (RFC 8305)."""
_IDLE_SECONDS = 15.0
_ACCEPT = "text/event-stream, application/x-ndjson, application/json"


class HttpPool:
    """Connections to one endpoint, as many as there are requests under way."""

    def __init__(self, endpoint: Endpoint, *, timeout_seconds: float) -> None:
        """Take an endpoint; nothing is opened yet. `timeout_seconds` is the longest silence.

        Raises:
            ConfigError: a header or the key cannot be sent.
        """
        self.endpoint = endpoint
        self.timeout_seconds = timeout_seconds
        self.where = f"The model endpoint {endpoint.shown}"
        parts = urlsplit(endpoint.base_url)
        self._host = parts.hostname or ""
        self._is_address = _is_address(self._host)
        self._is_tls = parts.scheme == "https"
        self._port = parts.port or (443 if self._is_tls else 80)
        self._path = quote(parts.path.rstrip("/"), safe="/%:@!$&'()*+,;=~")
        self._headers = _header_lines(endpoint)
        self._heads: dict[str, bytes] = {}
        self._idle: list[Connection] = []
        self._busy: set[Connection] = set()
        self._sweeper: asyncio.TimerHandle | None = None

    async def post(self, path: str, body: bytes) -> Answer:
        """Post JSON; again when a kept connection proves to be closed. A model call has no effect to be repeated.

        Raises:
            ModelError: the endpoint cannot be reached, broke off, went silent or speaks no HTTP.
        """
        return await self._ask(b"%b%d\r\n\r\n%b" % (self.head(path), len(body), body))

    def head(self, path: str) -> bytes:
        """Return what stands before the body's length; the same for every request to a path."""
        head = self._heads.get(path)
        if head is None:
            lines = f"POST {self._path}{path} HTTP/1.1\r\n{self._headers}Content-Type: application/json\r\n"
            head = self._heads[path] = f"{lines}Content-Length: ".encode("latin-1")
        return head

    async def get(self, path: str) -> bytes:
        """Get a whole body.

        Raises:
            ModelError: it cannot be had.
        """
        answer = await self._ask(f"GET {self._path}{path} HTTP/1.1\r\n{self._headers}\r\n".encode("latin-1"))
        try:
            body = await answer.read_some(WHOLE_BODY_BYTES)
        finally:
            answer.release()
        if answer.status >= 300:
            raise http_failure(self.where, answer.status, answer.headers, body)
        return body

    async def close(self) -> None:
        """Close all connections."""
        if self._sweeper is not None:
            self._sweeper.cancel()
            self._sweeper = None
        for connection in (*self._idle, *self._busy):
            connection.abort()
        self._idle.clear()
        await asyncio.sleep(0)  # Lets the transports close.

    def take_back(self, connection: Connection) -> None:
        """Keep a connection for the next request."""
        if not self.endpoint.keep_alive:
            connection.abort()
            return
        connection.idle_since = asyncio.get_running_loop().time()
        self._busy.discard(connection)
        self._idle.append(connection)
        if self._sweeper is None:
            self._sweeper = asyncio.get_running_loop().call_later(_IDLE_SECONDS, self._sweep)

    def forget(self, connection: Connection) -> None:
        """Drop a connection that is closed."""
        self._busy.discard(connection)
        if connection in self._idle:
            self._idle.remove(connection)

    async def _ask(self, data: bytes) -> Answer:
        answer = None
        if (connection := self._kept()) is not None:
            answer = await connection.ask(data)
        if answer is None:
            connection = await self._connect()
            self._busy.add(connection)
            answer = await connection.ask(data)
        if answer is None:
            raise failure("broken_off", f"{self.where} closed the connection without an answer.")
        if 300 <= answer.status < 400:
            answer.close()
            to = answer.headers.get("location", "elsewhere")[:200]
            raise failure(
                "not_an_api", f"{self.where} answered {answer.status} and points to {to}.", status=answer.status
            )
        return answer

    def _kept(self) -> Connection | None:
        oldest = asyncio.get_running_loop().time() - _IDLE_SECONDS
        while self._idle:
            connection = self._idle.pop()
            if connection.is_open and connection.idle_since >= oldest:
                self._busy.add(connection)
                return connection
            connection.abort()
        return None

    def _sweep(self) -> None:
        """Close what has been idle for long."""
        loop = asyncio.get_running_loop()
        oldest = loop.time() - _IDLE_SECONDS
        for connection in [one for one in self._idle if one.idle_since <= oldest]:
            connection.abort()
            self._idle.remove(connection)
        self._sweeper = loop.call_later(_IDLE_SECONDS, self._sweep) if self._idle else None

    async def _connect(self) -> Connection:
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                return await self._open()
        except TimeoutError as error:
            raise failure(
                "unreachable", f"{self.where} cannot be reached: no answer in {_CONNECT_SECONDS:g} s."
            ) from error
        except OSError as error:
            raise failure("unreachable", f"{self.where} cannot be reached: {_reason(error)}.") from error

    async def _open(self) -> Connection:
        loop = asyncio.get_running_loop()
        tls = _tls() if self._is_tls else None
        name = self._host if self._is_tls else None
        if self._is_address:  # Nothing to look up, nothing to choose from.
            _, connection = await loop.create_connection(
                lambda: Connection(self), self._host, self._port, ssl=tls, server_hostname=name
            )
            return connection
        addresses = await loop.getaddrinfo(self._host, self._port, type=socket.SOCK_STREAM)
        opened = await aiohappyeyeballs.start_connection(
            addresses, happy_eyeballs_delay=_OTHER_ADDRESS_SECONDS, loop=loop
        )
        _, connection = await loop.create_connection(
            lambda: Connection(self), sock=opened, ssl=tls, server_hostname=name
        )
        return connection


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _reason(error: OSError) -> str:
    if isinstance(error, ssl.SSLError | socket.gaierror) or not error.errno:
        return error.strerror or str(error) or type(error).__name__
    return os.strerror(error.errno)


@lru_cache(maxsize=1)
def _tls() -> ssl.SSLContext:
    """Make the one context of the process: reading the certificates takes tens of milliseconds."""
    return ssl.create_default_context()


def _header_lines(endpoint: Endpoint) -> str:
    parts = urlsplit(endpoint.base_url)
    name = (parts.hostname or "").encode("idna").decode()
    host = f"[{name}]" if ":" in name else name
    headers = {
        "Host": f"{host}:{parts.port}" if parts.port else host,
        "Accept": _ACCEPT,
        "Accept-Encoding": "identity",
        "User-Agent": "naru",
    }
    if parts.username is not None:
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    if not endpoint.keep_alive:
        headers["Connection"] = "close"
    given = {name.lower() for name in endpoint.headers}
    headers = {name: value for name, value in headers.items() if name.lower() not in given} | dict(endpoint.headers)
    for name, value in headers.items():
        if not name.isascii() or any(character in f"{name}{value}" for character in "\r\n\0"):
            raise ConfigError(
                f"The header {name[:40]!r} for {endpoint.shown} has a line break or a sign that cannot be sent."
            )
    return "".join(f"{name}: {value.encode().decode('latin-1')}\r\n" for name, value in headers.items())
