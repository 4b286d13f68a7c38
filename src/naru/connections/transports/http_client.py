"""The one HTTP client of the process, and how bodies are read: capped, inflated in steps, never redirected away.

One connector and one SSLContext for all servers: making a client per call costs 20 to 30 CPU ms (PERF.md).
"""

from __future__ import annotations

import re
import socket
import ssl
import zlib
from collections.abc import AsyncIterator, Mapping
from typing import Any

import aiohttp
from yarl import URL

from naru import __version__
from naru.connections.faults import Failure, LinkError
from naru.connections.transports.pending import too_large
from naru.connections.transports.posting import DialError, Poster, Reply

_RESERVED = frozenset({"content-length", "transfer-encoding", "connection", "accept-encoding"})
_BAD_HEADER = re.compile(r"[\r\n\0]")


class HttpClient:
    """Opens its session on first use, inside the running loop; shared by all transports and closed by the manager."""

    def __init__(self, *, connect_timeout_seconds: float = 10.0) -> None:
        self._connect_timeout_seconds = connect_timeout_seconds
        self._session: aiohttp.ClientSession | None = None
        self._poster = Poster(connect_timeout_seconds=connect_timeout_seconds)

    @property
    def session(self) -> aiohttp.ClientSession:
        """The shared session."""
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, ttl_dns_cache=30),
                # Cookies of one server must not reach another through us (S-30).
                cookie_jar=aiohttp.DummyCookieJar(),
                # A compressed body is inflated here, in steps and with a cap.
                auto_decompress=False,
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=self._connect_timeout_seconds),
                headers={"User-Agent": f"naru/{__version__}", "Accept-Encoding": "identity"},
                read_bufsize=256 * 1024,
            )
        return self._session

    async def post(self, url: URL, body: bytes, headers: Mapping[str, str]) -> Reply:
        """POST on the call path. Raises OSError or ValueError, which `unreachable` reads."""
        return await self._poster.post(url, body, headers)

    async def close(self) -> None:
        """Close all pooled connections."""
        self._poster.close()
        if self._session is not None:
            await self._session.close()
            self._session = None


def endpoint(config: Mapping[str, Any]) -> tuple[URL, dict[str, str]]:
    """Read URL and headers of a record's config. Raises LinkError for what cannot be sent."""
    text = str(config["url"]).strip()
    try:
        url = URL(text)
    except ValueError as error:
        raise _misconfigured("config.url is not a URL.") from error
    if url.scheme not in ("http", "https") or not url.host:
        raise _misconfigured("config.url must start with http:// or https:// and name a host.")
    headers: dict[str, str] = {}
    for name, value in (config.get("headers") or {}).items():
        if not re.fullmatch(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+", str(name)) or _BAD_HEADER.search(str(value)):
            raise _misconfigured(f"the header {str(name)!r} of config.headers cannot be sent.")
        if str(name).lower() not in _RESERVED:
            headers[str(name)] = str(value)
    return url, headers


def _misconfigured(message: str) -> LinkError:
    return LinkError(Failure("config", "bad_config", message, "Correct the server's record.", retryable=False))


def shown(url: URL) -> str:
    """Return a URL fit for messages: no user, password or query, which may hold secrets."""
    return str(url.with_user(None).with_query(None).with_fragment(None))


def is_same_origin(one: URL, other: URL) -> bool:
    """Tell whether credentials for one may be sent to the other (S-12)."""
    return (one.scheme, one.host, one.port) == (other.scheme, other.host, other.port)


def unreachable(error: Exception, url: URL, stage: str = "connect") -> LinkError:
    """Turn a client error into a fault that says whether the request can have been delivered."""
    where = shown(url.origin())
    if isinstance(error, DialError):
        return _broken(_undialled(error.__cause__, where))
    if isinstance(error, aiohttp.ClientConnectorCertificateError | aiohttp.ClientConnectorSSLError):
        failure = Failure(
            "connect", "tls", f"TLS to {where} failed: {_short(error)}.", "Check the certificate and the URL."
        )
        return _broken(failure)
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return _broken(Failure("connect", "dns", f"the name of {where} was not found.", "Check the URL."))
    if isinstance(error, aiohttp.ClientConnectorError):
        reason = error.os_error.strerror or str(error.os_error)
        return _broken(
            Failure("connect", "refused", f"no connection to {where}: {reason}.", "Start the server, or check its URL.")
        )
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return _broken(Failure("connect", "timeout", f"{where} did not accept a connection.", "Check host and port."))
    if isinstance(error, aiohttp.InvalidURL | ValueError):
        return _misconfigured(f"the request to {where} cannot be made: {_short(error)}.")
    failure = Failure(
        "call", "cut", f"{where} broke the connection off ({_short(error)}).", "See the server's own log."
    )
    return LinkError(failure, delivered=True)


def _undialled(reason: BaseException | None, where: str) -> Failure:
    match reason:
        case ssl.SSLError():
            return Failure("connect", "tls", f"TLS to {where} failed: {reason}.", "Check the certificate and the URL.")
        case socket.gaierror():
            return Failure("connect", "dns", f"the name of {where} was not found.", "Check the URL.")
        case TimeoutError():
            return Failure("connect", "timeout", f"{where} did not accept a connection.", "Check host and port.")
    said = getattr(reason, "strerror", None) or str(reason)
    return Failure("connect", "refused", f"no connection to {where}: {said}.", "Start the server, or check its URL.")


def _broken(failure: Failure) -> LinkError:
    error = LinkError(failure)
    error.breaks_link = True
    return error


def _short(error: Exception) -> str:
    return (str(error) or type(error).__name__)[:200]


class Inflater:
    """Undoes a content encoding that we did not ask for, never past the cap (R-08)."""

    def __init__(self, encoding: str, cap: int) -> None:
        if encoding not in ("gzip", "deflate", "x-gzip"):
            raise LinkError(
                Failure("call", "encoding", f"the server answered in {encoding!r} although identity was asked for.")
            )
        self._cap = cap
        self._total = 0
        self._inner = zlib.decompressobj(47 if encoding != "deflate" else zlib.MAX_WBITS)

    def feed(self, data: bytes) -> bytes:
        """Return what the chunk inflates to. Raises LinkError beyond the cap."""
        try:
            out = self._inner.decompress(data, self._cap - self._total + 1)
        except zlib.error as error:
            raise LinkError(Failure("call", "encoding", "the server's compressed answer is broken.")) from error
        self._total += len(out)
        if self._total > self._cap:
            raise LinkError(too_large(None, self._cap, "max_body_bytes"), delivered=True)
        return out


async def chunks(response: aiohttp.ClientResponse | Reply, cap: int) -> AsyncIterator[bytes]:
    """Yield a body as it arrives, inflated; event streams may be endless, so the cap holds for one inflated chunk."""
    encoding = response.headers.get("Content-Encoding", "").lower()
    source = response if isinstance(response, Reply) else response.content
    if encoding in ("", "identity"):
        async for chunk in source.iter_any():
            yield chunk
        return
    inflater = Inflater(encoding, cap)
    async for chunk in source.iter_any():
        yield inflater.feed(chunk)


async def read_body(response: aiohttp.ClientResponse | Reply, cap: int) -> bytes:
    """Return a whole body. Raises LinkError when it is longer than the cap, before it is all read."""
    if (response.content_length or 0) > cap:
        raise LinkError(too_large(response.content_length, cap, "max_body_bytes"), delivered=True)
    if isinstance(response, Reply) and response.is_whole and "Content-Encoding" not in response.headers:
        body = response.take()
        if len(body) > cap:
            raise LinkError(too_large(None, cap, "max_body_bytes"), delivered=True)
        return body
    parts: list[bytes] = []
    size = 0
    async for chunk in chunks(response, cap):
        size += len(chunk)
        if size > cap:
            raise LinkError(too_large(None, cap, "max_body_bytes"), delivered=True)
        parts.append(chunk)
    return parts[0] if len(parts) == 1 else b"".join(parts)
