"""Messages of a client with one stream for everything (legacy SSE, stdio); both eras may be spoken on it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from naru.gateway.engine import Engine
from naru.gateway.sessions.asgi import count_more
from naru.gateway.sessions.exchange import Emit, Sender
from naru.gateway.sessions.session import Session
from naru.gateway.sessions.subscriptions import Listen, read_filter
from naru.gateway.wire import frames
from naru.gateway.wire.frames import Frame
from naru.gateway.wire.headers import check_envelope
from naru.gateway.wire.protocol import (
    BATCH_VERSIONS,
    INVALID_REQUEST,
    OVERLOADED,
    RpcError,
    is_modern,
)
from naru.messages import Json, JsonObject

MAX_BATCH = 100
Handle = Callable[[Engine, JsonObject, Session], Awaitable[Frame]]


def busy() -> RpcError:
    """Make the refusal of one request too many. Anew each time: an error keeps the frames that raised it."""
    return RpcError(OVERLOADED, "Too many requests are under way. Try again in a moment.")


def too_many() -> RpcError:
    """Make the refusal of a batch of more requests than its caller may make now."""
    return RpcError(OVERLOADED, "The batch has more requests than this key may make now. Send fewer, or wait.")


def no_batch() -> RpcError:
    """Make the refusal of a batch."""
    return RpcError(
        INVALID_REQUEST, f"JSON-RPC batches, of up to {MAX_BATCH} messages, are taken in 2025-03-26 and older only."
    )


async def count(message: Json, sender: Sender) -> float:
    """Count the requests of a batch, of which the first is counted; return the seconds to wait, 0 when all may pass."""
    if not isinstance(message, list):
        return 0.0
    return await count_more(sender.counted, sum(isinstance(each, dict) and "id" in each for each in message) - 1)


def take(engine: Engine, message: Json, session: Session) -> None:
    """Take a message, or a batch where the version has them; a bad message of a batch is answered by itself.

    Raises:
        RpcError: it cannot be taken.
    """
    if not isinstance(message, list):
        accept(engine, frames.check_message(message), session)
        return
    if session.version not in BATCH_VERSIONS or not 0 < len(message) <= MAX_BATCH:
        raise no_batch()
    for each in message:
        try:
            accept(engine, frames.check_message(each), session)
        except RpcError as error:
            session.emit(frames.failure(frames.id_of(each), error))


def accept(engine: Engine, message: JsonObject, session: Session) -> None:
    """Take a well-formed message; its answer goes to the session's stream.

    Raises:
        RpcError: it cannot be taken now.
    """
    if "method" not in message or "id" not in message:
        engine.receive(message, session)
        return
    modern = is_modern(message) and message["method"] != "initialize"
    handle = legacy if not modern else _listen if message["method"] == "subscriptions/listen" else _modern
    begin(engine, message, session, handle, session.emit)


def begin(engine: Engine, message: JsonObject, session: Session, handle: Handle, emit: Emit) -> asyncio.Task[None]:
    """Answer a request in a task of its own, which counts, and ends without an answer where the client cancels it.

    Raises:
        RpcError: it cannot be taken now.
    """
    if engine.busy:
        raise busy()
    return engine.run(_answer(handle, engine, message, session, emit))


async def _answer(handle: Handle, engine: Engine, message: JsonObject, session: Session, emit: Emit) -> None:
    task = asyncio.current_task()
    assert task is not None
    request_id = message["id"]
    try:
        session.begin(request_id, task)
    except RpcError as error:
        emit(frames.failure(request_id, error))
        return
    try:
        frame = await handle(engine, message, session)
    except RpcError as error:
        frame = frames.failure(request_id, error)
    finally:
        session.finish(request_id)
    emit(frame)


async def legacy(engine: Engine, message: JsonObject, session: Session) -> Frame:
    """Answer a request of a session."""
    return await engine.answer_legacy(message, session, session.emit)


async def _modern(engine: Engine, message: JsonObject, session: Session) -> Frame:
    return (await engine.answer_modern(message, Sender(session.caller, session.view), session.emit))[0]


async def _listen(engine: Engine, message: JsonObject, session: Session) -> Frame:
    """Keep a subscription open until the client cancels it or the hub stops."""
    check_envelope(message)
    kinds, uris = read_filter(message["params"])
    ended: asyncio.Future[Frame] = asyncio.get_running_loop().create_future()

    def push(frame: Frame) -> bool:
        session.emit(frame)
        return True

    def end(frame: Frame) -> None:
        if not ended.done():
            ended.set_result(frame)

    listen = Listen(message["id"], session.view, kinds, uris, push, end)
    async with engine.listening(listen):
        return await ended
