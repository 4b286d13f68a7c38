"""Guests: MCP servers that a request names by URL. Each is linked for the life of that request and known to no other.

Who may name which is a setting (`mcp.guests`). A guest's headers come from the request and go to that server alone:
no placeholder is filled in, nothing is kept, no sign-in is begun. Where its name leads is looked up once and judged
(S-11).
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from urllib.parse import unquote

from yarl import URL

from naru.config import GuestSettings
from naru.config.guests import ADDRESS
from naru.connections.link.connection import Connection
from naru.connections.link.surroundings import Surroundings, as_stored
from naru.connections.rules.policy import Policy, PolicyGuard
from naru.connections.state.lifecycle import ReconnectPolicy
from naru.connections.state.settings import ConnectionSettings
from naru.connections.state.starts import Starts
from naru.connections.toolset import ServerToolset
from naru.connections.transports.http.addresses import shown
from naru.connections.transports.http.client import HttpClient
from naru.connections.transports.http.destinations import Lookup, is_address, is_forbidden, is_public, look_up
from naru.errors import ConnectionFailedError, PolicyError, UserError
from naru.persons import check_may_have, current_person
from naru.records import SERVER_NAME, ServerRecord
from naru.tools.supervision.calls import Supervision

MOST = 16
"""Guests of one request."""
COUNTED_AS = "guest"
_ACCESS = ("user", "operator", "admin")
_NOT_THEIRS = re.compile(
    r"host|connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect|content-.*|accept|accept-encoding"
    r"|proxy-.*|mcp-.*|last-event-id|x-forwarded-.*|forwarded",
    re.IGNORECASE,
)
"""Headers that HTTP, the protocol or whoever stands between them needs, so that no request can turn them round."""


@dataclass(frozen=True, slots=True)
class Guest:
    """A server as a request names it."""

    label: str
    url: str = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class Allowed:
    """One address of the setting."""

    scheme: str
    host: str
    port: int | None
    """None is any."""
    path: str

    @staticmethod
    def of(text: str) -> Allowed:
        """Read one that the settings took."""
        found = ADDRESS.fullmatch(text)
        assert found is not None
        scheme = found["scheme"] or "https"
        port = found["port"] or ("443" if scheme == "https" else "80")
        path = (found["path"] or "").removesuffix("*").rstrip("/")
        return Allowed(scheme, found["host"].strip("[]").lower(), None if port == "*" else int(port), path)

    def fits(self, url: URL) -> bool:
        """Tell whether a URL is one of these."""
        host = (url.raw_host or "").lower()
        if url.scheme != self.scheme or self.port not in (None, url.port) or not fnmatchcase(host, self.host):
            return False
        return not self.path or url.raw_path == self.path or url.raw_path.startswith(f"{self.path}/")


class _GuestGuard(PolicyGuard):
    """The rules for tools and results. Whom a request may name is said in `mcp.guests`; the label is its own."""

    def admit(self, record: ServerRecord) -> None:
        """Let it be connected: its address was judged."""


class Guests:
    """Links the guests of requests."""

    def __init__(
        self,
        settings: GuestSettings,
        connections: ConnectionSettings | None = None,
        policy: Policy | None = None,
        supervision: Supervision | None = None,
        *,
        lookup: Lookup = look_up,
    ) -> None:
        self.settings = settings
        self._policy = policy or Policy()
        self._supervision = supervision or Supervision()
        self._lookup = lookup
        self._http = HttpClient(lookup=self._resolved)
        # A guest is tried once, by the request that names it: nobody knocks at its door, or redials it, later.
        given = connections or ConnectionSettings()
        self._connections = replace(
            given, kept_in=None, is_lazy=False, knock_interval_seconds=0, reconnect=ReconnectPolicy(enabled=False)
        )

    async def close(self) -> None:
        """Close what is kept open between requests: idle connections."""
        await self._http.close()

    @asynccontextmanager
    async def linked(self, guests: Sequence[Guest]) -> AsyncIterator[Mapping[str, ServerToolset]]:
        """Link these servers, side by side, until the context ends; gives their tools by label.

        Raises:
            UserError: one cannot be a server as it is named.
            PolicyError: whoever asks may not name it.
            ConnectionFailedError: one cannot be reached.
        """
        if len(guests) > MOST:
            raise UserError(f"A request names {len(guests)} servers by URL; {MOST} are taken.")
        records = [self._admitted(guest) for guest in guests]
        async with AsyncExitStack() as stack:
            toolsets: dict[str, ServerToolset] = {}
            for record in records:
                guard = _GuestGuard(self._policy)
                around = Surroundings(
                    self._connections, self._http, resolve=as_stored, guard=guard, starts=Starts(MOST)
                )
                connection = Connection(record, around)
                stack.push_async_callback(connection.close)
                address = shown(URL(record.config["url"]))
                toolsets[record.name] = ServerToolset(
                    connection, guard, self._supervision, known_as=address, counted_as=COUNTED_AS
                )
            await asyncio.gather(*(_connect(one.connection) for one in toolsets.values()))
            yield toolsets

    def _admitted(self, guest: Guest) -> ServerRecord:
        """Return a guest's record, if whoever asks may name it. Raises UserError, PolicyError."""
        url = self._judged(guest)
        for name, value in guest.headers.items():
            if _NOT_THEIRS.fullmatch(name):
                raise UserError(f"The header {name!r} of the MCP server {guest.label!r} cannot be set by a request.")
            if not value.isprintable():
                raise UserError(f"The header {name!r} of the MCP server {guest.label!r} cannot be sent.")
        config = {"url": str(url), "headers": dict(guest.headers)}
        return ServerRecord(name=guest.label, config=config)

    def _judged(self, guest: Guest) -> URL:
        allowed, person = self.settings.addresses, current_person.get()
        if not SERVER_NAME.fullmatch(guest.label):
            told = f"{guest.label[:80]!r} cannot name an MCP server"
            raise UserError(f"{told}: use up to 64 of a-z, A-Z, 0-9, '_', '.', '-'.")
        if not allowed or _rank(person.access) < _rank(self.settings.access):
            why = "Naming MCP servers by URL is off here." if not allowed else "This key may not name servers by URL."
            raise PolicyError(
                f"{why} {guest.label!r} is no server of this hub.",
                remedy="Name a server of the hub by its label alone, or have an admin register this one (naru servers "
                "add), or allow its address: mcp.guests.addresses and mcp.guests.access.",
            )
        check_may_have(guest.label)
        try:
            url = URL(guest.url)
        except ValueError:
            url = URL()
        path = unquote(url.raw_path)
        is_http = url.scheme in ("http", "https") and bool(url.host)
        if not is_http or url.user is not None or ".." in path or "\\" in path:
            raise UserError(f"The URL of the MCP server {guest.label!r} is no plain http address without a user in it.")
        found = [one for one in map(Allowed.of, allowed) if one.fits(url)]
        host = (url.raw_host or "").lower()
        if not found or (is_address(host) and not self._may_go(host, [host])):
            raise PolicyError(
                f"The MCP server {guest.label!r} is at {shown(url.origin())}, which no request may name here.",
                remedy="Addresses that may be named are in mcp.guests.addresses; https, and public ones behind a '*'.",
            )
        return url.with_fragment(None)

    def _may_go(self, host: str, addresses: Sequence[str]) -> bool:
        """Tell whether a host with these addresses may be connected to: one that is written out may be private."""
        if not addresses or any(map(is_forbidden, addresses)):
            return False
        is_written_out = any(Allowed.of(one).host == host for one in self.settings.addresses)
        return is_written_out or all(map(is_public, addresses))

    async def _resolved(self, host: str, port: int) -> Sequence[str]:
        addresses = [host] if is_address(host) else await self._lookup(host, port)
        if not self._may_go(host.lower(), addresses):
            raise OSError(f"{host} leads to an address that is not public")
        return addresses


async def _connect(connection: Connection) -> None:
    if await connection.connect():
        return
    failure = connection.life.last_failure
    said = failure.message if failure is not None else f"it is {connection.status}."
    raise ConnectionFailedError(
        f"The MCP server {connection.name!r}, named by URL, cannot be used: {said}",
        remedy=(failure.remedy if failure is not None else "") or "Check its URL and its credentials.",
    )


def _rank(access: str) -> int:
    return _ACCESS.index(access) if access in _ACCESS else -1
