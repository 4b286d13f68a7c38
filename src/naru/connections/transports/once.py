"""A program that runs once for all hubs (`"run": "once"`): the hub with its lease runs it, and the others ask that hub.

Only hubs that hold the lease start it. A hub that dies lets go of it by dying, and whichever is asked next takes over.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any

import aiohttp

from naru.connections.state.faults import Failure, LinkError
from naru.connections.transports.base import Counters, Inbox, LogRing, Outgoing, Transport
from naru.connections.wire.messages import decode, encode
from naru.errors import StoreError
from naru.messages import JsonObject
from naru.stores.secrets.common_rows import Lease
from naru.stores.secrets.file import secret_of
from naru.stores.secrets.values import SecretValues
from naru.stores.shared.commons import Commons, socket_of

logger = logging.getLogger(__name__)

PATH = "/api/hubs/servers/"
HERE = "here"
NOT_HERE = 410
"""How a hub answers that does not run the server now."""
FIND_SECONDS = 5.0
"""How long a hub looks for the one that runs a server, which may just be beginning or ending."""
CHECK_SECONDS = 5.0
"""How often a hub makes sure that a lease is still its own: a database that was away has given them all back."""
_LOOK_SECONDS = 0.1
_CONNECT_SECONDS = 2.0
_MOST_LINE_BYTES = 2**26


class Once:
    """What a hub knows of servers that run once."""

    def __init__(self, commons: Commons, key: Path, hosts: tuple[str, ...], port: int) -> None:
        """Take leases from `commons`; hubs know each other by the common file `key`, and answer to `hosts`."""
        self._commons = commons
        self._key = key
        self._hosts = hosts
        self._port = port
        self.where: dict[str, str] = {}
        """Server → the address of the hub that runs it, or `here`, as far as it was needed."""

    @property
    def secret(self) -> str:
        """What hubs know each other by. Raises StoreError."""
        return secret_of(self._key).hex()

    def lease(self, server: str) -> Lease:
        """Return a lease of a server."""
        return self._commons.lease(_named(server))

    def holds(self, server: str) -> bool:
        """Tell whether the lease is still ours. Raises StoreError."""
        return self._commons.holds(_named(server))

    def holder(self, server: str) -> str:
        """Return the address of the hub that has the lease; empty where none is known. Raises StoreError."""
        return self._commons.members().get(self._commons.holder(_named(server)), "")

    def lost(self, address: str) -> None:
        """Note that a hub does not answer."""
        for member, where in list(self._commons.members().items()):
            if where == address:
                self._commons.lost(member)

    def headers(self, address: str) -> dict[str, str]:
        """Return what goes with a request to another hub."""
        known = next((host for host in self._hosts if "*" not in host), "")
        port = self._port if socket_of(address)[0] else address.rpartition(":")[2]
        host = known or f"localhost:{port}"
        return {"Host": host, "Authorization": f"Bearer {self.secret}", "Content-Type": "application/json"}


class OnceTransport:
    """The program itself where this hub holds the lease; else the way to the hub that does."""

    def __init__(self, server: str, make: Callable[[], Transport], once: Once, secrets: SecretValues) -> None:
        self._server = server
        self._make = make
        self._once = once
        self._go_by(PeerTransport(server, "", once, secrets))
        self._lease: Lease | None = None
        self._checking: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int | None:
        """Its process, where it runs here."""
        return getattr(self._inner, "pid", None)

    @property
    def unfinished_bytes(self) -> int:
        """What has arrived of a message that is not whole."""
        return self._inner.unfinished_bytes

    async def open(self, inbox: Inbox) -> None:
        """Take the lease and start the program, or find who runs it. Raises LinkError."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + FIND_SECONDS
        try:
            while not await self._take():
                address = await asyncio.to_thread(self._once.holder, self._server)
                if address:
                    peer = PeerTransport(self._server, address, self._once, self.secrets)
                    await peer.open(inbox)
                    if await peer.answers():
                        self._go_by(peer)
                        self._once.where[self._server] = address
                        return
                if loop.time() > deadline:
                    raise LinkError(Failure("launch", "held", _HELD, _HELD_REMEDY))
                await asyncio.sleep(_LOOK_SECONDS)
        except StoreError as error:
            said = f"it runs once for all hubs, and whether another one runs it cannot be told: {error.message}"
            raise LinkError(Failure("launch", "held", said, error.remedy)) from error
        self._go_by(self._make())
        await self._inner.open(inbox)
        self._once.where[self._server] = HERE
        self._checking = loop.create_task(self._check(inbox), name=f"lease of {self._server}")

    async def exchange(self, call: Outgoing) -> JsonObject:
        """Send a request and return the message that answers it. Raises LinkError."""
        return await self._inner.exchange(call)

    async def send(self, body: bytes, *, version: str) -> None:
        """Send a notification, or an answer to a server's request. Raises LinkError."""
        await self._inner.send(body, version=version)

    def abandon(self, call: Outgoing, reason: str) -> None:
        """Tell the server that nobody waits any more."""
        self._inner.abandon(call, reason)

    def listen(self, version: str) -> None:
        """Do nothing: a program needs no stream of its own."""

    async def close(self) -> None:
        """End the program, and only then let another hub start it."""
        checking = [self._checking] if self._checking is not None else []
        for task in checking:
            task.cancel()
        try:
            await self._inner.close()  # first: whoever closes may be cancelled at any of these waits
        finally:
            self._once.where.pop(self._server, None)
            if self._lease is not None:
                await asyncio.to_thread(self._lease.end)
        await asyncio.gather(*checking, return_exceptions=True)

    def _go_by(self, inner: Transport) -> None:
        self._inner = inner
        self.counters, self.logs, self.secrets = inner.counters, inner.logs, inner.secrets

    async def _take(self) -> bool:
        if self._lease is not None:  # its session is over
            await asyncio.to_thread(self._lease.end)
        self._lease = self._once.lease(self._server)
        return await asyncio.to_thread(self._lease.take)

    async def _check(self, inbox: Inbox) -> None:
        """End the link once another hub has the lease; while the database is away nobody can take it."""
        while True:
            await asyncio.sleep(CHECK_SECONDS)
            with contextlib.suppress(StoreError):
                if not await asyncio.to_thread(self._once.holds, self._server) and not await self._take():
                    logger.warning("server %s: another hub runs it now", self._server)
                    inbox.lost(Failure("call", "held", "Another hub runs it now.", "It is asked there from now on."))
                    return


class PeerTransport:
    """A server that another hub runs: each request is asked of that hub, which answers in lines of JSON."""

    unfinished_bytes = 0

    def __init__(self, server: str, address: str, once: Once, secrets: SecretValues) -> None:
        self.counters = Counters()
        self.secrets = secrets
        self.logs = LogRing(0, secrets)
        self._address = address
        self._once = once
        self._inbox: Inbox | None = None
        local, scheme = socket_of(address)
        self._url = f"{f'{scheme}://hub' if local else address}{PATH}{server}"
        self._local = local
        self._session: aiohttp.ClientSession | None = None

    async def open(self, inbox: Inbox) -> None:
        """Have notifications of requests received."""
        self._inbox = inbox

    async def answers(self) -> bool:
        """Tell whether that hub runs the server now."""
        try:
            async with self._asked(encode({"jsonrpc": "2.0", "id": 0, "method": "ping"})) as answer:
                is_there = answer.status == 200
        except (aiohttp.ClientError, OSError, TimeoutError):
            is_there = False
        if not is_there:
            await self.close()
        return is_there

    async def exchange(self, call: Outgoing) -> JsonObject:
        """Ask the other hub. Raises LinkError: one that is gone, or does not run it any more, breaks this link."""
        try:
            async with self._asked(call.body) as answer:
                if answer.status != 200:
                    raise self._broken("it is not run there any more", delivered=False)
                async for line in answer.content:
                    message = decode(line)
                    if not isinstance(message, dict):
                        break
                    if "method" not in message:
                        return _answer_of(message)
                    if self._inbox is not None:
                        self._inbox.receive(message, call)
        except aiohttp.ClientConnectorError as error:
            self._once.lost(self._address)
            raise self._broken("the hub that runs it does not answer", delivered=False) from error
        except (aiohttp.ClientError, OSError, ValueError) as error:
            self._once.lost(self._address)
            raise self._broken("the hub that ran it stopped while it was asked", delivered=True) from error
        raise self._broken("the hub that ran it stopped while it was asked", delivered=True)

    async def send(self, body: bytes, *, version: str) -> None:
        """Do nothing: that hub has greeted it, and answers what it asks."""

    def abandon(self, call: Outgoing, reason: str) -> None:
        """Do nothing: whoever does not wait any more has closed the request, and that hub cancels it."""

    def listen(self, version: str) -> None:
        """Do nothing: that hub tells of changes."""

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _broken(self, said: str, *, delivered: bool) -> LinkError:
        failure = Failure("call", "elsewhere", f"It runs once for all hubs, and {said}.", "Another hub takes it over.")
        error = LinkError(failure, delivered=delivered)
        error.breaks_link = True
        if self._inbox is not None:
            self._inbox.lost(failure)
        return error

    @contextlib.asynccontextmanager
    async def _asked(self, body: bytes) -> AsyncIterator[aiohttp.ClientResponse]:
        if self._session is None:
            connector = aiohttp.UnixConnector(self._local, limit=0) if self._local else aiohttp.TCPConnector(limit=0)
            timeout = aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_SECONDS)
            self._session = aiohttp.ClientSession(
                connector=connector, timeout=timeout, read_bufsize=_MOST_LINE_BYTES, cookie_jar=aiohttp.DummyCookieJar()
            )
        headers: Mapping[str, Any] = self._once.headers(self._address)
        async with self._session.post(
            self._url, data=body, headers=headers, allow_redirects=False, ssl=not self._local
        ) as answer:
            yield answer


def _answer_of(message: JsonObject) -> JsonObject:
    """Return what answers a request. Raises LinkError: the other hub tells that its own link broke."""
    if "broke" not in message:
        return message
    failure = Failure("call", "elsewhere", str(message["broke"]), str(message.get("remedy") or ""))
    raise LinkError(failure, delivered=bool(message.get("delivered")))


_HELD = "it runs once for all hubs, and the one that runs it was not found."
_HELD_REMEDY = "Try again; see hub.replica_address of the hubs, which must reach each other."


def _named(server: str) -> str:
    return f"server/{server}"
