"""An endpoint over HTTP: where it is, one connection pool, failures told by kind. No wire's format lives here."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import aiohttp

from naru.errors import ConfigError
from naru.models.transport.failures import failure, http_failure

ERROR_BODY_BYTES = 64 << 10
WHOLE_BODY_BYTES = 64 << 20
_POST_ATTEMPTS = 3
_HEADERS = {"Content-Type": "application/json", "Accept": "text/event-stream, application/x-ndjson, application/json"}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model is served, and what to show at the door."""

    base_url: str
    """With its version, such as `http://127.0.0.1:11434/v1`."""
    api_key: str = field(default="", repr=False)
    extra_headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    keep_alive: bool = True
    """False for llama.cpp, which closes each connection after a stream though it announces the contrary."""

    @classmethod
    def of(cls, base_url: str, api_key: str = "", extra_headers: Mapping[str, str] | None = None) -> Endpoint:
        """Check and complete a base URL as people write it: a missing path becomes /v1.

        Raises:
            ConfigError: it is not an http(s) URL.
        """
        parts = urlsplit(base_url.strip())
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ConfigError(
                f"The base URL {base_url!r} is not an http or https address.",
                remedy="Give one such as http://127.0.0.1:11434/v1.",
            )
        path = parts.path.rstrip("/").removesuffix("/chat/completions") or "/v1"
        return cls(f"{parts.scheme}://{parts.netloc}{path}", api_key, extra_headers or {})

    @property
    def headers(self) -> dict[str, str]:
        """Headers of every request."""
        authorization = {"Authorization": f"Bearer {self.api_key}"} if self.api_key else {}
        return {**authorization, **self.extra_headers}

    @property
    def shown(self) -> str:
        """The address for messages, without credentials."""
        parts = urlsplit(self.base_url)
        port = f":{parts.port}" if parts.port else ""
        return f"{parts.scheme}://{parts.hostname}{port}{parts.path}"


class HttpClient:
    """One endpoint's connection pool. The chat proxy's raw path shares `session`."""

    def __init__(self, endpoint: Endpoint, *, timeout_seconds: float, trace: aiohttp.TraceConfig | None = None) -> None:
        self.endpoint = endpoint
        self._traces = [trace] if trace is not None else []
        self._timeout = aiohttp.ClientTimeout(total=None, sock_connect=10.0, sock_read=timeout_seconds)
        self._session: aiohttp.ClientSession | None = None

    @property
    def session(self) -> aiohttp.ClientSession:
        """The pool; made on first use, inside the running loop."""
        if self._session is None or self._session.closed:
            self._session = aiohttp.ClientSession(
                headers=self.endpoint.headers,
                timeout=self._timeout,
                connector=aiohttp.TCPConnector(limit=0, ttl_dns_cache=300, force_close=not self.endpoint.keep_alive),
                read_bufsize=1 << 18,
                trace_configs=self._traces,
            )
        return self._session

    @property
    def where(self) -> str:
        """How messages name this endpoint."""
        return f"The model endpoint {self.endpoint.shown}"

    async def post(self, path: str, body: bytes) -> aiohttp.ClientResponse:
        """Post; again when a kept connection proves to be closed. A model call has no effect to be repeated."""
        for attempt in range(1, _POST_ATTEMPTS + 1):
            try:
                return await self.session.post(f"{self.endpoint.base_url}{path}", data=body, headers=_HEADERS)
            except aiohttp.ClientConnectorError:
                raise
            except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError):
                if attempt == _POST_ATTEMPTS:
                    raise
        raise AssertionError

    async def get(self, path: str) -> bytes:
        """Get a whole body.

        Raises:
            ModelError: it cannot be had.
        """
        with self.failures():
            async with self.session.get(f"{self.endpoint.base_url}{path}") as response:
                body = await read_some(response, WHOLE_BODY_BYTES)
        if response.status >= 400:
            raise http_failure(self.where, response.status, response.headers, body)
        return body

    @contextmanager
    def failures(self) -> Iterator[None]:
        """Tell failures of the connection by kind."""
        try:
            yield
        except aiohttp.ServerTimeoutError as error:
            if isinstance(error, aiohttp.ConnectionTimeoutError):
                raise failure("unreachable", f"{self.where} cannot be reached: no answer in 10 s.") from error
            raise failure("overloaded", f"{self.where} sent nothing for {self._timeout.sock_read:g} s.") from error
        except aiohttp.ClientConnectorError as error:
            raise failure("unreachable", f"{self.where} cannot be reached: {_reason(error)}.") from error
        except aiohttp.ClientError as error:
            raise failure("broken_off", f"{self.where} broke off its answer: {_reason(error)}.") from error

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()


async def read_some(response: aiohttp.ClientResponse, limit_bytes: int = ERROR_BODY_BYTES) -> bytes:
    """Read a body up to a limit."""
    pieces: list[bytes] = []
    left = limit_bytes
    while left > 0 and (piece := await response.content.read(left)):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


def _reason(error: BaseException) -> str:
    if isinstance(error, aiohttp.ClientConnectorError):
        return os.strerror(error.os_error.errno) if error.os_error.errno else str(error.os_error)
    return str(error) or type(error).__name__
