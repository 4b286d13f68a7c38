"""Servers that speak both eras may ask whatever the client's (issue 16, line 2): `protocol`, whose a question is."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest

from naru.connections.session.asking import find_asked
from naru.connections.session.options import RequestOptions, ServerRequest
from naru.connections.transports.base import Outgoing
from naru.records import TransportType
from tests.connections.conftest import managed, stdio
from tests.fixtures.odd_server import OddServer, Write, serve_http
from tests.gateway.by_hand import Client, Json, next_event, request
from tests.gateway.peers import CAPABILITIES, HttpPeer, asked
from tests.gateway.serving import Served, http_record, serving

ANSWER = {"action": "accept", "content": {"name": "Ada"}}
NO_WAY_BACK = "this transport context has no back-channel for server-initiated requests"


class BothEras(OddServer):
    """Speaks both eras at one address, as the SDKs do: `sample` asks in the way of sessions alone."""

    def __init__(self) -> None:
        super().__init__(modern=False)
        self.stateless = OddServer(modern=True)
        self.heard: list[str] = []

    async def take(self, message: Json, write: Write) -> None:
        is_stateless = "io.modelcontextprotocol/protocolVersion" in (message.get("params") or {}).get("_meta", {})
        self.heard.append(f"{'stateless' if is_stateless else 'session'} {message.get('method')}")
        if is_stateless and message["method"] == "tools/call" and message["params"]["name"] == "sample":
            await self._end(message["id"], write, NO_WAY_BACK)
        elif is_stateless:
            await self.stateless.take(message, write)
        else:
            await super().take(message, write)


@contextlib.asynccontextmanager
async def before(server: OddServer, **config: Any) -> AsyncIterator[tuple[Served, HttpPeer, HttpPeer]]:
    """A gateway before it, with a client of sessions and a stateless one."""
    async with (
        serve_http(server) as url,
        serving([http_record("odd", url, **config)]) as served,
        aiohttp.ClientSession() as http,
    ):
        by_hand = Client(http, served.url, served.gateway.engine, None)  # type: ignore[arg-type]
        yield served, HttpPeer(by_hand, await by_hand.initialize(**CAPABILITIES)), HttpPeer(by_hand, "")


async def answered(peer: HttpPeer, tool: str) -> str:
    """Call a tool whose server asks, as a client of sessions; answer, and return what it made of it."""
    call = asked(peer, "tools/call", {"name": f"odd__{tool}", "arguments": {}}, "id")
    heads = {"content-type": "application/json", "mcp-session-id": peer.session}
    async with peer.gateway.http.post(peer.gateway.url + "/mcp", data=json.dumps(call), headers=heads) as response:
        while True:
            event = await next_event(response)
            if "method" not in event:
                return str(event["result"]["content"][0]["text"])
            await peer.tell({"jsonrpc": "2.0", "id": event["id"], "result": ANSWER})


async def test_a_client_of_sessions_is_asked_by_a_server_of_both_eras() -> None:
    server = BothEras()
    async with before(server) as (served, session, stateless):
        assert served.manager.connection("odd").era == "modern"
        assert json.loads(await answered(session, "sample")) == ANSWER
        assert json.loads(await answered(session, "ask")) == ANSWER
        assert "session tools/call" in server.heard
        # The stateless client has the stateless link: nothing of it goes over a session.
        server.heard.clear()
        (answer,) = await stateless.ask(asked(stateless, "tools/call", {"name": "odd__cancelled", "arguments": {}}))
        assert answer["result"]["content"][0]["text"] == "0"
        assert [one for one in server.heard if one.endswith("tools/call")] == ["stateless tools/call"]


@pytest.mark.parametrize(("protocol", "era"), [("sessions", "legacy"), ("stateless", "modern")])
async def test_a_record_says_which_protocol_is_spoken(protocol: str, era: str) -> None:
    server = BothEras()
    async with before(server, protocol=protocol) as (served, session, _):
        assert served.manager.connection("odd").era == era
        if protocol == "sessions":
            assert json.loads(await answered(session, "sample")) == ANSWER
        else:
            (got,) = await session.ask(asked(session, "tools/call", {"name": "odd__sample", "arguments": {}}))
            assert got["result"]["content"][0]["text"] == NO_WAY_BACK
    kinds = {one.split()[0] for one in server.heard}
    assert kinds == ({"stateless"} if protocol == "stateless" else {"session"})


async def test_a_server_without_the_demanded_protocol_is_told_by_the_key() -> None:
    async with serve_http(OddServer(modern=False)) as url, managed() as manager:
        await manager.register(http_record("odd", url, protocol="stateless"))
        assert not await manager.connect("odd")
        found = manager.explain("odd")
        assert "does not speak the stateless protocol" in found.summary
        assert "`protocol`" in found.remedy


async def test_a_server_that_must_not_ask_has_one_link() -> None:
    server = BothEras()
    async with before(server, ask=[]) as (_, session, _stateless):
        (answer,) = await session.ask(asked(session, "tools/call", {"name": "odd__cancelled", "arguments": {}}))
        assert answer["result"]["content"][0]["text"] == "0"
    assert not [one for one in server.heard if one.startswith("session")]


@pytest.mark.parametrize(("transport", "sse"), [(TransportType.HTTP, False), (TransportType.SSE, True)])
async def test_a_server_of_sessions_alone_is_asked_over_them(transport: TransportType, sse: bool) -> None:
    async with (
        serve_http(OddServer(modern=False), sse=sse) as url,
        serving([http_record("odd", url, transport)]) as served,
        aiohttp.ClientSession() as http,
    ):
        by_hand = Client(http, served.url, served.gateway.engine, None)  # type: ignore[arg-type]
        session = HttpPeer(by_hand, await by_hand.initialize(**CAPABILITIES))
        assert json.loads(await answered(session, "sample")) == ANSWER


# Whose a question is that names no request (stdio).

ASKER = """
import json, sys
waiting = {}
for line in sys.stdin:
    message = json.loads(line)
    method, number = message.get("method"), message.get("id")
    def send(**rest):
        print(json.dumps({"jsonrpc": "2.0", **rest}), flush=True)
    if method == "initialize":
        info = {"name": "x", "version": "1"}
        send(id=number, result={"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info})
    elif method == "tools/list":
        tools = [{"name": name, "inputSchema": {"type": "object"}} for name in ("ask", "named", "wait")]
        send(id=number, result={"tools": tools})
    elif method == "tools/call" and message["params"]["name"] != "wait":
        waiting["q%s" % number] = number
        meta = {"_meta": {"progressToken": number}} if message["params"]["name"] == "named" else {}
        send(id="q%s" % number, method="elicitation/create", params={"message": "Who?", **meta})
    elif method is None:
        answer = json.dumps(message.get("result", message.get("error")))
        send(id=waiting.pop(number), result={"content": [{"type": "text", "text": answer}]})
    elif method not in ("tools/call", "notifications/initialized", "notifications/cancelled"):
        send(id=number, error={"code": -32601, "message": "Method not found"})
"""


@pytest.mark.parametrize(
    ("tool", "other_client", "other_caller", "outcome"),
    [
        ("ask", "same", "ann", "Ada"),
        ("ask", "none", "ann", "Ada"),
        ("named", "another", "bob", "Ada"),
        ("ask", "another", "ann", "several clients have calls under way"),
        ("ask", "none", "bob", "several clients have calls under way"),
    ],
)
async def test_a_question_reaches_the_client_whose_call_caused_it_while_others_run(
    tmp_path: Any, tool: str, other_client: str, other_caller: str, outcome: str
) -> None:
    program = tmp_path / "asker.py"
    program.write_text(ASKER, encoding="utf-8")
    ann, other = object(), object()

    async def answer(asked: ServerRequest) -> Json:
        return ANSWER

    async def wrong(asked: ServerRequest) -> Json:
        raise AssertionError("the question went to another client")

    async with managed() as manager:
        await manager.register(stdio("s", str(program), ask=["elicitation"]))
        assert await manager.connect("s"), manager.explain("s").summary
        connection = manager.connection("s")
        to_other = {"same": answer, "none": None, "another": wrong}[other_client]
        who = {"same": ann, "none": None, "another": other}[other_client]
        hanging = RequestOptions(on_request=to_other, client=who, caller=other_caller)
        held = asyncio.create_task(connection.request("tools/call", {"name": "wait", "arguments": {}}, hanging))
        await asyncio.sleep(0)
        options = RequestOptions(on_request=answer, client=ann, caller="ann")
        result = await connection.request("tools/call", {"name": tool, "arguments": {}}, options)
        held.cancel()
        await asyncio.gather(held, return_exceptions=True)
    assert outcome in result["content"][0]["text"]


def test_with_nobody_to_ask_the_refusal_says_so() -> None:
    assert find_asked([], {}) == (None, "is not available: no client that can be asked has a call under way")
    assert find_asked([Outgoing(1, "ping", b"")], {})[0] is None


async def test_an_unknown_tool_is_a_result_for_stateless_clients_and_an_error_in_sessions() -> None:
    """As the required set of the official suite has it."""
    async with before(OddServer(modern=True)) as (_, session, stateless):
        (answer,) = await stateless.ask(asked(stateless, "tools/call", {"name": "no_such", "arguments": {}}))
        assert answer["result"]["isError"] is True
        assert answer["result"]["content"] == [{"type": "text", "text": "Unknown tool: no_such"}]
        (answer,) = await session.ask(request("tools/call", {"name": "no_such", "arguments": {}}))
        assert answer["error"]["code"] == -32602
