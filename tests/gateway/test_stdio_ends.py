"""The stdio face ends with its client, in whichever way that leaves."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import threading
from typing import Any

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
    with open(os.devnull, "wb") as sink:
        await asyncio.wait_for(StdioFace(engine, source, sink).serve(), HANG_SECONDS)
    await engine.close()
