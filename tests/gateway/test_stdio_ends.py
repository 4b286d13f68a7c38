"""The stdio face ends with its client, in whichever way that leaves."""

from __future__ import annotations

import asyncio
import io
import json
import os
import socket
import threading
from typing import Any

import pytest

from naru.gateway.engine import Engine
from naru.gateway.faces.stdio import StdioFace
from naru.gateway.requests.core import GatewaySettings
from tests.gateway.by_hand import META, request
from tests.gateway.scripted import ScriptedUpstream, ScriptedUpstreams
from tests.waiting import HANG_SECONDS


async def test_with_a_client_that_reads_no_further() -> None:
    engine = Engine(ScriptedUpstreams(ScriptedUpstream("a")))
    ours, theirs = socket.socketpair()
    reading, writing = os.pipe()
    os.close(reading)
    with ours, theirs.makefile("rb") as source, os.fdopen(writing, "wb", buffering=0) as sink:
        face = asyncio.create_task(StdioFace(engine, source, sink).serve())
        ours.sendall(json.dumps(request("ping")).encode() + b"\n")
        await asyncio.wait_for(face, 30)
        ours.shutdown(socket.SHUT_RDWR)
        await asyncio.to_thread(lambda: [one.join(30) for one in threading.enumerate() if one.name == "stdin"])
    theirs.close()
    await engine.close()


class Broken:
    """What cannot be read any more, as a terminal that was closed."""

    def readline(self, limit: int) -> bytes:
        raise OSError(5, "Input/output error")


async def test_with_a_terminal_that_is_closed() -> None:
    engine = Engine(ScriptedUpstreams(ScriptedUpstream("a")))
    with open(os.devnull, "wb") as sink:
        broken: Any = Broken()
        await asyncio.wait_for(StdioFace(engine, broken, sink).serve(), 30)
    await engine.close()


class Said:
    """A client that says one thing and closes its end."""

    def __init__(self, line: bytes) -> None:
        self.lines = [line]

    def readline(self, limit: int) -> bytes:
        return self.lines.pop() if self.lines else b""


async def test_with_a_client_that_only_listens_for_changes() -> None:
    engine = Engine(ScriptedUpstreams(ScriptedUpstream("a")), GatewaySettings(drain_seconds=2 * HANG_SECONDS))
    listen = request("subscriptions/listen", {"_meta": META, "notifications": {"toolsListChanged": True}})
    source: Any = Said(json.dumps(listen).encode() + b"\n")
    sink = io.BytesIO()
    await asyncio.wait_for(StdioFace(engine, source, sink).serve(), HANG_SECONDS)
    await engine.close()
    assert [json.loads(line).get("id") for line in sink.getvalue().splitlines()] == [None, 1], "one answer, no more"


@pytest.mark.parametrize(("length", "answer"), [(100, "result"), (101, "error")])
async def test_a_message_beyond_the_limit_is_said_to_be_that(length: int, answer: str) -> None:
    engine = Engine(ScriptedUpstreams(ScriptedUpstream("a")), GatewaySettings(body_bytes=lambda: 100))
    ping = json.dumps(request("ping", {"text": ""})).encode()
    source: Any = Said(ping.replace(b'""', b'"%b"' % (b"x" * (length - len(ping)))) + b"\r\n")
    sink = io.BytesIO()
    await asyncio.wait_for(StdioFace(engine, source, sink).serve(), HANG_SECONDS)
    await engine.close()
    told = json.loads(sink.getvalue())
    assert answer in told
    assert told.get("error", {}).get("message", "longer than 100 bytes") in "The message is longer than 100 bytes."
