"""Messages of a client with one stream for everything (legacy SSE, stdio); both eras may be spoken on it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from naru.gateway import frames
from naru.gateway.engine import Engine
from naru.gateway.exchange import Sender
from naru.gateway.frames import Frame
from naru.gateway.headers import check_envelope
from naru.gateway.protocol import META_SUBSCRIPTION, OVERLOADED, RpcError, is_modern
from naru.gateway.session import Session
from naru.gateway.subscriptions import Listen, read_filter
from naru.messages import JsonObject

BUSY = RpcError(OVERLOADED, "Too many requests are under way. Try again in a moment.")


def accept(engine: Engine, message: JsonObject, session: Session) -> None:
    """Take a well-formed message; its answer goes to the session's stream.

    Raises:
        RpcError: it cannot be taken now.
    """
    if "method" not in message or "id" not in message:
        engine.receive(message, session)
        return
    if engine.busy:
        raise BUSY
    modern = is_modern(message) and message["method"] != "initialize"
    handle = _legacy if not modern else _listen if message["method"] == "subscriptions/listen" else _modern
    engine.run(_answer(handle, engine, message, session))


async def _answer(
    handle: Callable[[Engine, JsonObject, Session], Awaitable[Frame]],
    engine: Engine,
    message: JsonObject,
    session: Session,
) -> None:
    task = asyncio.current_task()
    assert task is not None
    request_id = message["id"]
    try:
        session.begin(request_id, task)
    except RpcError as error:
        session.emit(frames.failure(request_id, error))
        return
    try:
        frame = await handle(engine, message, session)
    except RpcError as error:
        frame = frames.failure(request_id, error)
    finally:
        session.finish(request_id)
    session.emit(frame)


async def _legacy(engine: Engine, message: JsonObject, session: Session) -> Frame:
    return await engine.answer_legacy(message, session, session.emit)


async def _modern(engine: Engine, message: JsonObject, session: Session) -> Frame:
    return (await engine.answer_modern(message, Sender(session.caller, session.view), session.emit))[0]


async def _listen(engine: Engine, message: JsonObject, session: Session) -> Frame:
    """Keep a subscription open until the client cancels it or the hub stops."""
    check_envelope(message)
    kinds, uris = read_filter(message["params"])
    ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def push(frame: Frame) -> bool:
        session.emit(frame)
        return True

    def end() -> None:
        if not ended.done():
            ended.set_result(None)

    listen = Listen(message["id"], session.view, kinds, uris, push, end)
    async with engine.listening(listen):
        await ended
    return frames.reply(message["id"], {"resultType": "complete", "_meta": {META_SUBSCRIPTION: message["id"]}})
