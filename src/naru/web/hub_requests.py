"""What other hubs ask of this one: servers that run once for all, and run here (`connections.transports.once`)."""

from __future__ import annotations

import asyncio
import hmac
from typing import TYPE_CHECKING

from naru.connections.link.connection import Connection
from naru.connections.session.options import RequestOptions
from naru.connections.state.faults import Failure, LinkError, RpcError
from naru.connections.transports.once import HERE, NOT_HERE, PATH
from naru.connections.wire.messages import decode, encode
from naru.connections.wire.protocol import LATEST_LEGACY, METHOD_NOT_FOUND
from naru.gateway.sessions.asgi import CLIENT, ClientGoneError, read_body
from naru.gateway.sessions.owners import gone
from naru.hub import Hub
from naru.messages import JsonObject
from naru.persons import nobody
from naru.web.routes import Access, Endpoint

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

_BODY_BYTES = 2**26
_FORGED, _MALFORMED = 401, 400


def endpoints(hub: Hub) -> list[Endpoint]:
    """Return the row, where there are other hubs; it is open to who has the secret that they have in common."""
    if hub.manager.http.once is None:
        return []
    return [Endpoint(PATH + "{name}", ("POST",), Peers(hub), Access.PUBLIC, raw=True)]


class Peers:
    """Answers one request of another hub in lines of JSON: notifications, then the answer or how the link broke."""

    def __init__(self, hub: Hub) -> None:
        self._manager = hub.manager

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, as long as the other hub waits."""
        once, name = self._manager.http.once, str(scope["path_params"]["name"])
        assert once is not None
        given = dict(scope["headers"]).get(b"authorization", b"")
        if not hmac.compare_digest(given, f"Bearer {once.secret}".encode()):
            await _whole(send, _FORGED)
            return
        try:
            message = decode(await read_body(receive, _BODY_BYTES))
        except ClientGoneError:
            return
        except (RpcError, ValueError):
            await _whole(send, _MALFORMED)
            return
        with nobody():
            connection = self._manager.connections.get(name)
            if connection is None or once.where.get(name) != HERE or not isinstance(message, dict):
                await _whole(send, NOT_HERE)
                return
            await send({"type": "http.response.start", "status": 200, "headers": []})
            asking = asyncio.create_task(_answer(connection, message, send))
            leaving = asyncio.create_task(gone(scope.get("extensions", {}).get(CLIENT), receive))
        try:
            await asyncio.wait({asking, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (asking, leaving):
                task.cancel()
            await asyncio.gather(asking, leaving, return_exceptions=True)


async def _answer(connection: Connection, message: JsonObject, send: Send) -> None:
    heard: asyncio.Queue[JsonObject | None] = asyncio.Queue()

    async def ask() -> JsonObject:
        try:
            return {"result": await _result(connection, message, heard)}
        except RpcError as error:
            return {"error": error.as_error()}
        except LinkError as error:
            return {"broke": error.failure.message, "remedy": error.failure.remedy, "delivered": error.delivered}
        finally:
            heard.put_nowait(None)

    asking = asyncio.create_task(ask())
    try:
        while (notification := await heard.get()) is not None:
            line = encode({"jsonrpc": "2.0", **notification}) + b"\n"
            await send({"type": "http.response.body", "body": line, "more_body": True})
        line = encode({"jsonrpc": "2.0", "id": message.get("id"), **await asking}) + b"\n"
        await send({"type": "http.response.body", "body": line})
    finally:
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)


async def _result(connection: Connection, message: JsonObject, heard: asyncio.Queue[JsonObject | None]) -> JsonObject:
    """Return what the server answers; it was greeted once, and who greets it again is told what it said then."""
    method, params = str(message.get("method")), message.get("params")
    if method == "ping":
        return {}
    if method == "initialize":
        if not await connection.settled():
            raise LinkError(Failure("connect", "elsewhere", "the hub that runs it could not start it."))
        return {
            "protocolVersion": LATEST_LEGACY,
            "capabilities": connection.capabilities,
            "serverInfo": connection.server_info,
            "instructions": connection.instructions,
        }
    if method == "server/discover":
        raise RpcError(METHOD_NOT_FOUND, "Method not found")
    options = RequestOptions(
        timeout_seconds=float("inf"),  # as long as the other hub waits
        on_notification=lambda told, about: heard.put_nowait({"method": told, "params": about}),
    )
    return await connection.request(method, params if isinstance(params, dict) else None, options)


async def _whole(send: Send, status: int) -> None:
    await send({"type": "http.response.start", "status": status, "headers": [(b"content-length", b"0")]})
    await send({"type": "http.response.body", "body": b""})
