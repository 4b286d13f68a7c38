"""An HTTP session for a provider's own SDK, with failures told by kind; wires of ours go over `transport.http_pool`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import aiohttp

from naru.http1.dial import reason_of
from naru.models.transport.endpoint import Endpoint
from naru.models.transport.failures import failure


class SdkSession:
    """One endpoint's connections, lent to the SDK."""

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


def _reason(error: BaseException) -> str:
    if isinstance(error, aiohttp.ClientConnectorError):
        return reason_of(error.os_error)
    return str(error) or type(error).__name__
