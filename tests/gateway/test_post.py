"""The answer to a POST, when a keep-alive comes at the wrong moment."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from naru.gateway.faces.post import PostAnswer
from naru.gateway.wire import streams
from naru.gateway.wire.streams import StreamLimits
from tests.waiting import HANG_SECONDS


async def test_a_keep_alive_during_and_after_the_answer_begins_no_second_one() -> None:
    sent: list[str] = []
    answer: PostAnswer

    async def send(message: Any) -> None:
        sent.append(message["type"])
        answer.ping(1000.0)
        answer.emit(b"{}")
        await asyncio.sleep(0)

    answer = PostAnswer(send, StreamLimits(), since=0.0, wait=3.0)
    await answer.finish(b"{}")
    answer.ping(1000.0)
    await asyncio.sleep(0.01)
    assert sent == ["http.response.start", "http.response.body"]


async def test_a_slow_answer_becomes_a_stream_that_is_kept_open() -> None:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    answer = PostAnswer(send, StreamLimits(), since=0.0, wait=3.0)
    answer.ping(2.9)
    await asyncio.sleep(0.01)
    assert sent == []
    answer.ping(3.1)
    await asyncio.sleep(0.01)
    await answer.finish(b"{}")
    bodies = b"".join(message.get("body", b"") for message in sent)
    assert bodies == b": ping\n\nevent: message\ndata: {}\n\n"


async def test_a_client_that_does_not_read_its_answer_keeps_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "STALLED_SECONDS", 0.01)

    async def send(message: Any) -> None:
        await asyncio.sleep(60)  # as a connection whose buffers are full

    answer = PostAnswer(send, StreamLimits(), since=0.0, wait=3.0)
    answer.emit(b"{}")
    await asyncio.wait_for(answer.finish(b"{}"), HANG_SECONDS)
    assert not answer._stream or answer._stream.gone
