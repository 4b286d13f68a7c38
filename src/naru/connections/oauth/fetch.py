"""Requests to addresses that a server named (S-11, S-12): https, checked where they lead, bounded, never redirected.

A public server may lead to public addresses alone. Its own origin is always allowed, as the hub talks to it anyway; a
server of this machine may lead to this machine; hosts of `mcp.sign_in.hosts` are allowed to be private. A name is
resolved once, all its addresses are checked, and those are what is connected to: a second answer is never asked for.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from urllib.parse import urlencode

import aiohttp
from yarl import URL

from naru.connections.state.faults import Failure, LinkError
from naru.connections.transports.http.addresses import is_same_origin, shown
from naru.connections.transports.http.bodies import read_body
from naru.connections.transports.http.destinations import (
    CheckedResolver,
    Lookup,
    is_address,
    is_forbidden,
    is_public,
    look_up,
    plain,
)
from naru.connections.wire import messages as wire
from naru.messages import JsonObject

SECONDS = 15.0
MOST_BYTES = 256 * 1024
_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


class Fetch:
    """Requests for one server's sign-in. Use as an async context."""

    def __init__(self, home: URL, *, hosts: Sequence[str] = (), lookup: Lookup = look_up) -> None:
        """Go out for the server at `home`; `hosts` may be private although it is public."""
        self._home = home
        self._hosts = frozenset(host.lower() for host in hosts)
        self._lookup = lookup
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Fetch:
        connector = aiohttp.TCPConnector(
            resolver=CheckedResolver(self.resolve), limit=4, use_dns_cache=False, force_close=True
        )
        self._session = aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=SECONDS),
            headers={"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "naru"},
            auto_decompress=False,
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._session is not None:
            await self._session.close()

    async def get(self, address: str, version: str = "", *, token: str = "") -> tuple[int, JsonObject]:
        """GET a JSON object; whatever is none is an empty one. Raises LinkError."""
        headers = {"MCP-Protocol-Version": version} if version else {}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        return await self._talk("GET", address, headers, None)

    async def post_form(
        self, address: str, form: Mapping[str, str], headers: Mapping[str, str] | None = None
    ) -> tuple[int, JsonObject]:
        """POST a form. Raises LinkError."""
        given = {"Content-Type": "application/x-www-form-urlencoded", **(headers or {})}
        return await self._talk("POST", address, given, urlencode(form).encode())

    async def post_json(self, address: str, value: JsonObject) -> tuple[int, JsonObject]:
        """POST JSON. Raises LinkError."""
        return await self._talk("POST", address, {"Content-Type": "application/json"}, wire.encode(value))

    async def challenge(self, headers: Mapping[str, str]) -> tuple[int, str]:
        """Ask the server itself without a token; return the status and its `WWW-Authenticate`. Raises LinkError."""
        asked = {"jsonrpc": "2.0", "id": 0, "method": "ping", "params": {}}
        given = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **headers}
        async with self._sent("POST", str(self._home), given, wire.encode(asked)) as response:
            return response.status, ", ".join(response.headers.getall("WWW-Authenticate", []))

    async def _talk(
        self, verb: str, address: str, headers: Mapping[str, str], body: bytes | None
    ) -> tuple[int, JsonObject]:
        async with self._sent(verb, address, headers, body) as response:
            try:
                value = wire.decode(await read_body(response, MOST_BYTES))
            except (ValueError, LinkError):
                value = None
            return response.status, value if isinstance(value, dict) else {}

    @asynccontextmanager
    async def _sent(
        self, verb: str, address: str, headers: Mapping[str, str], body: bytes | None
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        assert self._session is not None
        url = self.check(address)
        try:
            async with self._session.request(verb, url, data=body, headers=headers, allow_redirects=False) as response:
                yield response
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            raise unavailable(f"{shown(url)} did not answer: {str(error) or type(error).__name__}.") from error

    def check(self, address: str) -> URL:
        """Return an address as a URL if it may be gone to, as far as it says so itself. Raises LinkError."""
        try:
            url = URL(address)
        except ValueError:
            raise refused("The server names an address that is none.") from None
        host = (url.host or "").lower()
        if not host or url.user is not None or url.scheme not in ("http", "https"):
            raise refused(f"The server names {address[:100]!r}, which is no plain http address.")
        is_own = is_same_origin(url, self._home)
        if url.scheme == "http" and not is_own and not (host in _LOOPBACK and self._is_at_home):
            raise refused(f"The server leads to {shown(url)}, which is not https.")
        if is_address(host) and not self.may_go(host, [host], url.port or 0):
            raise refused(f"The server leads to {shown(url)}, an address that is not public.")
        return url

    def may_go(self, host: str, addresses: Sequence[str], port: int) -> bool:
        """Tell whether a host with these addresses may be connected to."""
        if not addresses:
            return False
        if host == (self._home.host or "").lower() and port == self._home.port:
            return True
        if any(is_forbidden(one) for one in addresses):
            return False
        if host in self._hosts:
            return True
        if self._is_at_home:
            return all(is_public(one) or plain(one).is_loopback for one in addresses)
        return all(is_public(one) for one in addresses)

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        """Return a name's addresses, if all of them may be gone to. Raises OSError."""
        addresses = await self._lookup(host, port)
        if not self.may_go(host.lower(), addresses, port):
            raise OSError(f"{host} leads to an address that is not public")
        return addresses

    @property
    def _is_at_home(self) -> bool:
        """Whether the server is on this machine, by its own address and not by what a name server says."""
        return (self._home.host or "").lower() in _LOOPBACK


def refused(message: str, remedy: str = "") -> LinkError:
    """Return the error of a sign-in that must not go on."""
    failure = Failure("connect", "sign_in_refused", message, remedy, retryable=False, needs_auth=True, by_sign_in=True)
    return LinkError(failure)


def unavailable(message: str) -> LinkError:
    """Return the error of an authorization server that is away."""
    return LinkError(Failure("connect", "no_token", message, "Try again; see the authorization server."))
