"""The one HTTP client of the process, and what goes with every request to one server: headers, token, authorities.

One connector and one SSLContext for all servers: making a client per call costs 20 to 30 CPU ms.
"""

from __future__ import annotations

import asyncio
import base64
import socket
import ssl
from collections.abc import Awaitable, Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol, TypeVar
from weakref import WeakValueDictionary

import aiohttp
from yarl import URL

from naru import __version__
from naru.connections.state.faults import Failure, LinkError
from naru.connections.transports.http.addresses import shown
from naru.connections.transports.http.destinations import CheckedResolver, Lookup
from naru.connections.transports.http.headers import headers_of, misconfigured
from naru.connections.transports.http.tokens import Grant, LeaseOf, TokenSource, grant_of, name_of
from naru.connections.transports.once import Once
from naru.http1.connection import Limits
from naru.http1.dial import keep_alive, reason_of
from naru.http1.faults import DialError, ExchangeError
from naru.http1.head import Address, address_of, request_head, with_body
from naru.http1.pool import Pool
from naru.http1.reply import Reply
from naru.stores.secrets.values import SecretValues
from naru.stores.shared.commons import ALONE

_TLS_REMEDY = "Check the URL; for an authority of your own put its PEM file into `caFile` of the server."
SIGNED_IN = "signedIn"
"""Where a config that was filled in holds the tokens of who is signed in; a record has no such key."""
R = TypeVar("R", Reply, aiohttp.ClientResponse)


class Bearer(Protocol):
    """Gives the token that goes with each request to a server."""

    async def current(self) -> str:
        """Return a token that is not about to expire. Raises LinkError."""
        ...

    async def instead_of(self, refused: str) -> str:
        """Return another token than one that was refused; empty when there is none. Raises LinkError."""
        ...

    def note(self, challenge: str) -> None:
        """Take note of the `WWW-Authenticate` of a refusal."""
        ...


class HttpClient:
    """Opens its session on first use, inside the running loop; shared by all transports and closed by the manager."""

    def __init__(
        self,
        *,
        connect_timeout_seconds: float = 10.0,
        kept_in: Path | None = None,
        lease: LeaseOf = ALONE.lease,
        lookup: Lookup | None = None,
    ) -> None:
        """Make a client.

        Args:
            connect_timeout_seconds: how long a dial may take.
            kept_in: the folder for renewed tokens.
            lease: by which the processes that have this folder renew them in turn.
            lookup: tells where a name may lead.
        """
        self.once: Once | None = None
        """How servers that run once for all hubs are reached, where there are others."""
        self._connect_timeout_seconds = connect_timeout_seconds
        self._kept_in = kept_in
        self._lease = lease
        self._lookup = lookup
        self._sources: dict[str, TokenSource] = {}
        self._session: aiohttp.ClientSession | None = None
        self._limits = Limits(connect_seconds=connect_timeout_seconds)
        # A pool lives as long as a server or an open connection needs it.
        self._pools: WeakValueDictionary[tuple[Address, ssl.SSLContext | None], Pool] = WeakValueDictionary()

    @property
    def session(self) -> aiohttp.ClientSession:
        """The shared session."""
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(
                    limit=0,
                    ttl_dns_cache=30,
                    use_dns_cache=self._lookup is None,
                    resolver=None if self._lookup is None else CheckedResolver(self._lookup),
                    socket_factory=_socket,
                ),
                # Cookies of one server must not reach another through us (S-30).
                cookie_jar=aiohttp.DummyCookieJar(),
                # A compressed body is inflated here, in steps and with a cap.
                auto_decompress=False,
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=self._connect_timeout_seconds),
                headers={"User-Agent": f"naru/{__version__}", "Accept-Encoding": "identity"},
                read_bufsize=256 * 1024,
            )
        return self._session

    def pool(self, url: URL, authorities: ssl.SSLContext | None = None) -> Pool:
        """Return the connections of the call path to a URL's address, the same ones for every link."""
        key = (address_of(url), authorities)
        pool = self._pools.get(key)
        if pool is None:
            pool = Pool(key[0], authorities=authorities, limits=self._limits, resolve=self._lookup)
            self._pools[key] = pool
        return pool

    def tokens(self, grant: Grant) -> TokenSource:
        """Return the source of a grant's tokens, the same one for every link."""
        name = name_of(grant)
        if name not in self._sources:
            kept = self._kept_in / name if self._kept_in else None
            self._sources[name] = TokenSource(grant, self.session, kept, self._lease)
        return self._sources[name]

    async def close(self) -> None:
        """Close all pooled connections."""
        for pool in list(self._pools.values()):
            pool.close()
        await asyncio.gather(*(source.close() for source in self._sources.values()))
        self._sources.clear()
        if self._session is not None:
            await self._session.close()
            self._session = None


class Remote:
    """One server's address with what goes with each request to it, and to nowhere else (S-12, S-30).

    Raises:
        LinkError: the config names no address that can be reached, or headers that cannot be sent.
    """

    def __init__(self, config: Mapping[str, Any], secrets: SecretValues, http: HttpClient) -> None:
        address = _address(config)
        # A user in the address goes as a header, as everywhere; one that is configured beside it counts instead.
        self.url = address.with_user(None)
        self.headers = headers_of(config)
        if address.user is not None and not config.get("auth") and "authorization" not in map(str.lower, self.headers):
            pair = f"{address.user}:{address.password or ''}"
            self.headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
        self._secrets = secrets
        self._http = http
        self._authorities = _authorities(config)
        self._pool = http.pool(self.url, self._authorities)
        self._last: tuple[URL, dict[str, str], bytes] | None = None
        self._tokens: Bearer | None = config.get(SIGNED_IN)
        auth = config.get("auth")
        if auth and self._tokens is None:
            grant = grant_of(auth, self.url)
            if isinstance(grant, str):
                self.headers |= {"Authorization": f"Bearer {grant}"} if grant else {}
            else:
                self._tokens = http.tokens(grant)

    async def post(self, url: URL, headers: Mapping[str, str], body: bytes) -> Reply:
        """POST on the call path; if its token is refused, once more with a renewed one: it was not carried out (R-11).

        `url` is of this server's own address.

        Raises:
            LinkError: there is no token to be had.
            OSError, ValueError: no answer came.
        """

        async def send(given: Mapping[str, str]) -> Reply:
            return await self._pool.ask(with_body(self._head(url, given), body))

        return await send(headers) if self._tokens is None else await self._with_token(headers, send)

    def _head(self, url: URL, headers: Mapping[str, str]) -> bytes:
        """Write the head of a POST; most are the same as the one before."""
        last = self._last
        if last is None or last[0] is not url or last[1] != headers:
            last = self._last = (url, dict(headers), request_head("POST", url, headers))
        return last[2]

    async def request(
        self, verb: str, url: URL, headers: Mapping[str, str], body: bytes | None = None
    ) -> aiohttp.ClientResponse:
        """Send a request beside the call path, with the same care for its token. Raises as `post`, and ClientError."""

        async def send(given: Mapping[str, str]) -> aiohttp.ClientResponse:
            session, trusted = self._http.session, self._authorities or True
            return await session.request(verb, url, data=body, headers=given, allow_redirects=False, ssl=trusted)

        return await send(headers) if self._tokens is None else await self._with_token(headers, send)

    async def _with_token(self, headers: Mapping[str, str], send: Callable[[Mapping[str, str]], Awaitable[R]]) -> R:
        assert self._tokens is not None
        token = await self._tokens.current()
        while True:
            self._secrets.learn_passing(token)
            response = await send({**headers, "Authorization": f"Bearer {token}"})
            if response.status == 403:
                self._tokens.note(response.headers.get("WWW-Authenticate", ""))
            if response.status != 401:
                return response
            try:
                other = await self._tokens.instead_of(token)
            except BaseException:
                response.close()
                raise
            if not other:
                return response
            response.close()
            token = other


def _socket(found: tuple[Any, ...]) -> socket.socket:
    """Make a socket for what `getaddrinfo` found."""
    made = socket.socket(*found[:3])
    keep_alive(made)
    return made


def _address(config: Mapping[str, Any]) -> URL:
    text = str(config["url"]).strip()
    try:
        url = URL(text)
    except ValueError as error:
        raise misconfigured("config.url is not a URL.") from error
    if url.scheme not in ("http", "https") or not url.host:
        raise misconfigured("config.url must start with http:// or https:// and name a host.")
    return url


def _authorities(config: Mapping[str, Any]) -> ssl.SSLContext | None:
    """Return what a server's certificate is checked against: `caFile` beside what the system trusts (A-07)."""
    path = config.get("caFile")
    if not path:
        return None
    try:
        stamp = Path(path).expanduser().stat()
        return _context(str(Path(path).expanduser()), stamp.st_mtime_ns)
    except (OSError, ssl.SSLError) as error:
        raise misconfigured(f"config.caFile {str(path)!r} cannot be used: {error}.") from error


@lru_cache(maxsize=64)
def _context(path: str, changed: int) -> ssl.SSLContext:
    """Build a context once for each version of a file: it costs 20 to 30 CPU ms."""
    context = ssl.create_default_context()
    context.load_verify_locations(path)
    context.set_alpn_protocols(["http/1.1"])
    return context


def unreachable(error: Exception, url: URL) -> LinkError:
    """Turn a client error into a fault that says whether the request can have been delivered."""
    where = shown(url.origin())
    if isinstance(error, DialError):
        return _broken(_undialled(error.__cause__, where))
    if isinstance(error, aiohttp.ClientConnectorCertificateError | aiohttp.ClientConnectorSSLError):
        failure = Failure(
            "connect",
            "tls",
            f"TLS to {where} failed: {_short(error)}.",
            "Check the URL; for an authority of your own put its PEM file into `caFile` of the server.",
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
        return misconfigured(f"the request to {where} cannot be made: {_short(error)}.")
    said = str(error) if isinstance(error, ExchangeError) else f"broke the connection off ({_short(error)})"
    failure = Failure("call", "cut", f"{where} {said}.", "See the server's own log.")
    return LinkError(failure, delivered=True)


def _undialled(reason: BaseException | None, where: str) -> Failure:
    match reason:
        case ssl.SSLError():
            return Failure("connect", "tls", f"TLS to {where} failed: {reason}.", _TLS_REMEDY)
        case socket.gaierror():
            return Failure("connect", "dns", f"the name of {where} was not found.", "Check the URL.")
        case TimeoutError():
            return Failure("connect", "timeout", f"{where} did not accept a connection.", "Check host and port.")
    said = reason_of(reason) if isinstance(reason, OSError) else str(reason)
    return Failure("connect", "refused", f"no connection to {where}: {said}.", "Start the server, or check its URL.")


def _broken(failure: Failure) -> LinkError:
    error = LinkError(failure)
    error.breaks_link = True
    return error


def _short(error: Exception) -> str:
    return (str(error) or type(error).__name__)[:200]
