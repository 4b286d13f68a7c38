"""What another hub holds, where that hub cannot be reached."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Mapping
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from naru.gateway.sessions import owners
from naru.gateway.sessions.owners import Owners, Shared
from naru.stores.shared.commons import Alone


class Two(Alone):
    """This hub and one other."""

    me = "one"

    def __init__(self, address: str) -> None:
        self.others = {"two": address}
        self.gone: list[str] = []

    def members(self) -> Mapping[str, str]:
        return self.others

    def lost(self, member: str) -> None:
        self.gone.append(member)


async def asked(commons: Two, ours: Owners | None = None) -> list[Any]:
    """Send a request of a session that the other hub holds; return what its client gets."""
    own = ours or Owners(commons)
    sent: list[Any] = []
    given: list[bool] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        if given:
            await asyncio.Event().wait()
        given.append(True)
        return {"type": "http.request", "body": b'{"jsonrpc":"2.0","id":1,"method":"ping"}', "more_body": False}

    async def nobody(scope: Any, receive: Any, send: Any) -> None:
        raise AssertionError("it is the other hub's")

    head = [(b"mcp-session-id", b"two.abc")]
    scope = {"type": "http", "method": "POST", "path": "/mcp", "headers": head, "query_string": b""}
    async with asyncio.timeout(60):
        await Shared(nobody, own, lambda: 1000)(scope, receive, send)
    if ours is None:
        await own.close()
    return sent


async def test_a_session_whose_hub_takes_no_connection_begins_anew_and_nobody_says_it_may_have_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(owners, "CONNECT_SECONDS", 0.05)
    # As a machine that was switched off: what asks to be let in is not even refused.
    with socket.create_server(("127.0.0.1", 0), backlog=0) as silent:
        waiting = [socket.socket() for _ in range(2)]
        for one in waiting:
            one.setblocking(False)
            one.connect_ex(silent.getsockname())
        commons = Two(f"http://127.0.0.1:{silent.getsockname()[1]}")
        sent = await asked(commons)
        for one in waiting:
            one.close()
    assert sent[0]["status"] == 404
    assert json.loads(sent[1]["body"])["error"]["message"] == "Session not found. Initialize again."
    assert commons.gone == ["two"]


async def test_r14_a_request_does_not_wait_for_a_hub_whose_machine_has_vanished(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(owners, "LOOK_SECONDS", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as silent:  # which takes the request, and says nothing any more
        commons = Two(f"http://127.0.0.1:{silent.getsockname()[1]}")
        asking = asyncio.create_task(asked(commons))
        taken, _ = await asyncio.to_thread(silent.accept)
        commons.others = {}  # as the database has it, whose connection with that machine is over
        with taken:
            sent = await asking
    assert sent[0]["status"] == 502
    assert "it may have run" in json.loads(sent[1]["body"])["error"]["message"]


async def test_connections_to_hubs_that_are_gone_are_not_kept() -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(text="{}")

    commons, left = Two(""), []
    ours = Owners(commons)
    for _ in range(3):  # as one that starts anew has another address
        server = TestServer(app := web.Application())
        app.router.add_post("/mcp", answer)
        async with server:
            commons.others = {"two": str(server.make_url("")).rstrip("/")}
            assert (await asked(commons, ours))[0]["status"] == 200
            left.append(len(ours._clients))
    assert left == [1, 1, 1]
    await ours.close()
