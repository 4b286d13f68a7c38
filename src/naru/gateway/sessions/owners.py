"""Where other hubs serve too: what one of them holds is asked of it, whichever a request came to.

A session of the older protocol versions, and a call that waits for its client's answer, live in the hub that opened
them: its id says which. The request goes there as it came, with the client's own key; the answer comes back.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

import aiohttp

from naru.gateway.sessions.asgi import CLIENT, ClientGoneError, read_body, refuse
from naru.gateway.sessions.exchange import Client, ElsewhereError
from naru.gateway.wire import frames
from naru.gateway.wire.protocol import INTERNAL_ERROR, INVALID_REQUEST, RpcError
from naru.gateway.wire.streams import event
from naru.messages import Json, JsonObject
from naru.persons import current_request
from naru.stores.shared.commons import Commons, socket_of
from naru.tasks import Tasks

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

logger = logging.getLogger(__name__)

HOP = b"x-naru-hop"
"""Set on what one hub passes to another, which keeps it."""
CONNECT_SECONDS = 1.0
LOOK_SECONDS = 5.0
"""How often a hub that owes an answer is looked for; it may be struck out by mistake once."""
_NEVER_SENT = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError, aiohttp.InvalidURL)
"""No hub is there: refused, silent as a machine that is off, or gone from the list meanwhile."""
_SESSION = b"mcp-session-id"
_ITS_OWN = frozenset({b"connection", b"transfer-encoding", b"content-length", b"keep-alive", HOP})
"""Headers of one connection alone."""
_REQUEST_ID = b"x-request-id"
_OF_ITS_GATE = frozenset(
    {b"date", b"vary", b"x-content-type-options", b"strict-transport-security", _REQUEST_ID, b"request-id"}
)
"""Headers that our own gate writes again."""


class Owners:
    """Marks what this hub holds, and finds who holds what others marked."""

    def __init__(self, commons: Commons) -> None:
        self._commons = commons
        self.passed_on: Callable[[Scope], None] = lambda scope: None
        """Told of each request that another hub answers, and counts."""
        self._clients: dict[str, aiohttp.ClientSession] = {}
        self._asking: Counter[str] = Counter()
        """Requests under way, by address."""
        self._closing = Tasks()

    def mark(self, token: str) -> str:
        """Return an id that says that this hub holds what it is of."""
        return f"{self._commons.me}.{token}"

    def holder(self, marked: str) -> str:
        """Return which other hub, one that is there, holds what the id is of; empty for ours and for nobody's."""
        member, dot, _ = marked.partition(".")
        return member if dot and member in self._commons.members() else ""

    async def close(self) -> None:
        """Close the connections to the others."""
        for client in self._clients.values():
            await client.close()
        await self._closing.ended()

    async def pass_on(self, member: str, scope: Scope, body: bytes, receive: Receive, send: Send) -> None:
        """Have another hub answer a request."""
        address = self._commons.members().get(member, "")
        relay = _Relay(body, send)
        client: Client | None = scope.get("extensions", {}).get(CLIENT)
        asking = asyncio.create_task(self._ask(relay, address, scope, body), name=f"asks hub {member}")
        listening = asyncio.create_task(gone(client, receive), name="client's end")
        leaving = asyncio.create_task(self._left(member), name=f"end of hub {member}")
        self.passed_on(scope)
        self._asking[address] += 1
        try:
            await asyncio.wait({asking, listening, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if asking.done():
                await asking
            elif leaving.done():
                asking.cancel()  # it must not write any more
                raise TimeoutError
        except _NEVER_SENT:
            logger.warning("hub %s at %s does not answer; what it held is gone", member, address)
            self._commons.lost(member)
            await refuse(send, 404, RpcError(INVALID_REQUEST, "Session not found. Initialize again."))
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            logger.warning("hub %s broke off an answer: %s", member, type(error).__name__)
            self._commons.lost(member)
            await relay.broken()
        finally:
            if client is not None:
                client.when_gone(None)
            for task in (asking, listening, leaving):
                task.cancel()
            await asyncio.gather(asking, listening, leaving, return_exceptions=True)
            self._asking[address] -= 1

    async def _left(self, member: str) -> None:
        """Wait until a hub is not there any more: no word comes from a machine that vanished (R-14)."""
        missed = 0
        while missed < 2:
            await asyncio.sleep(LOOK_SECONDS)
            missed = 0 if member in self._commons.members() else missed + 1

    async def _ask(self, relay: _Relay, address: str, scope: Scope, body: bytes) -> None:
        left_out = _ITS_OWN | {_REQUEST_ID}
        headers = [(n.decode("latin-1"), v.decode("latin-1")) for n, v in scope["headers"] if n not in left_out]
        query = scope.get("query_string", b"").decode("latin-1")
        local, scheme = socket_of(address)
        base = f"{scheme}://hub" if local else address
        url = f"{base}{scope['path']}{f'?{query}' if query else ''}"
        async with self._client(address).request(
            scope["method"],
            url,
            headers=[*headers, (_REQUEST_ID.decode(), current_request.get()), (HOP.decode(), "1")],
            data=body or None,
            allow_redirects=False,
            ssl=not local,
        ) as answer:
            await relay.begin(answer)
            async for piece in answer.content.iter_any():
                await relay.add(piece)
            await relay.end()

    def _client(self, address: str) -> aiohttp.ClientSession:
        """Return the connections to an address: an URL, or a socket on this machine (`unix+http:PATH`)."""
        client = self._clients.get(address)
        if client is None:
            local, _ = socket_of(address)
            connector = aiohttp.UnixConnector(local, limit=0) if local else aiohttp.TCPConnector(limit=0)
            timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS)
            self._forget_gone()
            client = self._clients[address] = aiohttp.ClientSession(
                connector=connector, timeout=timeout, auto_decompress=False, skip_auto_headers=("User-Agent", "Accept")
            )
        return client

    def _forget_gone(self) -> None:
        """Close the connections to hubs that are gone: each that starts anew may have another address."""
        self._asking = +self._asking
        for address in self._clients.keys() - self._asking.keys() - set(self._commons.members().values()):
            self._closing.begin(self._clients.pop(address).close())


class _Relay:
    """The answer of another hub on its way to the client."""

    def __init__(self, body: bytes, send: Send) -> None:
        self._body = body
        self._send = send
        self._is_stream: bool | None = None
        """None before the head."""

    async def begin(self, answer: aiohttp.ClientResponse) -> None:
        kept = [
            (name.lower(), value)
            for name, value in answer.raw_headers
            if name.lower() not in _ITS_OWN | _OF_ITS_GATE and not name.lower().startswith(b"access-control-")
        ]
        self._is_stream = answer.content_type == "text/event-stream"
        await self._send({"type": "http.response.start", "status": answer.status, "headers": kept})

    async def add(self, piece: bytes) -> None:
        await self._send({"type": "http.response.body", "body": piece, "more_body": True})

    async def end(self) -> None:
        await self._send({"type": "http.response.body", "body": b""})

    async def broken(self) -> None:
        """Say that the answer broke off, where that can still be said."""
        why = RpcError(
            INTERNAL_ERROR,
            "The hub that held this session stopped while the call was under way: it may have run. Initialize again.",
        )
        request_id: Json = None
        try:
            message: object = frames.decode(self._body, frames.Limits()) if self._body else None
            request_id = frames.id_of(message) if isinstance(message, dict) else None
        except RpcError:
            pass
        if self._is_stream is None:
            await refuse(self._send, 502, why, request_id=request_id)
        elif self._is_stream:
            await self.add(event(frames.failure(request_id, why)) if request_id is not None else b"")
            await self.end()
        else:
            raise ClientGoneError from None


class Shared:
    """An MCP face where other hubs serve too."""

    def __init__(self, app: ASGIApp, owners: Owners, body_bytes: Callable[[], int]) -> None:
        self._app = app
        self._owners = owners
        self._body_bytes = body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or have it answered where what it is about lives."""
        headers = dict(scope["headers"])
        if HOP in headers:  # it has come all the way
            await self._app(scope, receive, send)
            return
        member = self._owners.holder(_named(scope, headers))
        kept = _Kept(receive, self._body_bytes())
        if not member:
            try:
                await self._app(scope, kept, send)
                return
            except ElsewhereError as error:
                member = error.member
        try:
            body = await kept.whole()
        except (ClientGoneError, RpcError):
            await refuse(send, 413, RpcError(INVALID_REQUEST, "The message is too long."))
            return
        await self._owners.pass_on(member, scope, body, receive, send)


class _Kept:
    """A request's body that can be read once more."""

    def __init__(self, receive: Receive, limit: int) -> None:
        self._receive = receive
        self._limit = limit
        self._parts: list[bytes] = []
        self._is_read = False

    async def __call__(self) -> JsonObject:
        message = dict(await self._receive())
        if message["type"] == "http.request" and not self._is_read:
            self._parts.append(message.get("body", b""))
            self._is_read = not message.get("more_body", False)
        return message

    async def whole(self) -> bytes:
        """Return all of it. Raises RpcError, ClientGoneError."""
        if not self._is_read:
            await read_body(self, self._limit)
        return b"".join(self._parts)


def _named(scope: Scope, headers: dict[bytes, bytes]) -> str:
    """Return the session that a request names."""
    if _SESSION in headers:
        return headers[_SESSION].decode("latin-1")
    query = scope.get("query_string", b"")
    if not query or not scope["path"].endswith("/message"):
        return ""
    fields = parse_qs(query.decode("latin-1"), max_num_fields=10)
    return str((fields.get("session_id") or fields.get("sessionId") or [""])[0])


async def gone(client: Client | None, receive: Receive) -> None:
    """Wait until the client is gone."""
    if client is not None:
        gone = asyncio.Event()
        client.when_gone(gone.set)
        await gone.wait()
        return
    while (await receive())["type"] != "http.disconnect":
        pass
