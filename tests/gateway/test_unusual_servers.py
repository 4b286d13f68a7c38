"""What servers do although few do it, over each transport and in both eras, as clients of both eras see it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import aiohttp
import pytest

from naru.gateway.wire.protocol import META_CAPABILITIES
from naru.records import TransportType
from tests.fixtures.odd_server import NUMBERS, PARTS, TOOLS, OddServer, serve_http
from tests.gateway.by_hand import META, Client, Json, next_event, request
from tests.gateway.peers import CAPABILITIES, HttpPeer, asked
from tests.gateway.serving import FIXTURES, http_record, serving, stdio_record

pytestmark = pytest.mark.slow

UPSTREAMS = ("stdio", "stdiolegacy", "http", "httplegacy", "sse")
CAN = {META_CAPABILITIES: {"elicitation": {}, "sampling": {}, "roots": {}}}


@dataclass(frozen=True)
class Pair:
    """A client and the server it talks to."""

    client: HttpPeer
    server: str

    @property
    def label(self) -> str:
        return f"{'stateless' if self.client.modern else 'session'} client, {self.server} server"

    async def call(self, tool: str, *, token: Any = None, **params: Any) -> list[Json]:
        meta = {**(CAN if self.client.modern else {}), **({"progressToken": token} if token is not None else {})}
        call = asked(self.client, "tools/call", {"name": f"{self.server}__{tool}", **params}, "id", **meta)
        async with asyncio.timeout(60):
            return await self.client.ask(call)


@contextlib.asynccontextmanager
async def pairs() -> AsyncIterator[list[Pair]]:
    """Give every client before every server, in one gateway."""
    async with contextlib.AsyncExitStack() as stack:
        http = await stack.enter_async_context(serve_http(OddServer(modern=True)))
        old = await stack.enter_async_context(serve_http(OddServer(modern=False)))
        sse = await stack.enter_async_context(serve_http(OddServer(modern=False), sse=True))
        program = FIXTURES / "odd_server.py"
        records = [
            stdio_record("stdio", program),
            stdio_record("stdiolegacy", program, "--legacy"),
            http_record("http", http),
            http_record("httplegacy", old),
            http_record("sse", sse, TransportType.SSE),
        ]
        served = await stack.enter_async_context(serving(records))
        eras = {name: served.manager.connection(name).era for name in UPSTREAMS}
        assert [name for name, era in eras.items() if era == "modern"] == ["stdio", "http"]
        session = await stack.enter_async_context(aiohttp.ClientSession())
        by_hand = Client(session, served.url, served.gateway.engine, None)  # type: ignore[arg-type]  # real servers
        legacy = HttpPeer(by_hand, await by_hand.initialize(**CAPABILITIES))
        yield [Pair(client, server) for client in (legacy, HttpPeer(by_hand, "")) for server in UPSTREAMS]


def text_of(messages: list[Json]) -> str:
    return str(messages[-1]["result"]["content"][0]["text"])


async def test_what_servers_do_though_few_do_it() -> None:
    async with pairs() as every:
        for pair in every:
            await notes_before_the_answer(pair)
            for tool in ("late", "twice", "storm", "wrong_id"):
                assert text_of(await pair.call(tool, token="t")) == "done", (pair.label, tool)
            await answers_pass_untouched(pair)
            await errors_say_what_was_said(pair)
            assert text_of(await pair.call("late")) == "done", pair.label


async def test_a_list_shows_each_servers_tools_as_it_wrote_them() -> None:
    async with pairs() as every:
        for client in {id(pair.client): pair.client for pair in every}.values():
            (answer,) = await client.ask(asked(client, "tools/list"))
            tools = {tool["name"]: tool for tool in answer["result"]["tools"]}
            assert len(tools) == len(UPSTREAMS) * len(TOOLS)
            for server in UPSTREAMS:
                shown = tools[f"{server}__structured"]
                assert shown["outputSchema"] == shown["inputSchema"], server
                assert shown["inputSchema"]["$defs"] == {"n": {"type": "integer"}}, server
                assert shown["vendor"] == {"k": [1]}, server


async def test_a_storm_of_changes_is_told_in_few_words_and_only_to_who_listens() -> None:
    """Of 300 notices the first is told at once, the rest together (R-19): once a second while they come."""
    async with pairs() as every:
        (pair,) = (pair for pair in every if pair.server == "stdiolegacy" and not pair.client.modern)
        client = pair.client
        heads = {"mcp-session-id": client.session, "accept": "text/event-stream"}
        async with client.gateway.http.get(client.gateway.url + "/mcp", headers=heads) as stream:
            told, start = asyncio.create_task(next_event(stream)), time.monotonic()
            assert [message.get("method") for message in await pair.call("storm")] == [None], "not on the call's stream"
            assert (await told)["method"] == "notifications/tools/list_changed"
            more = 0
            with contextlib.suppress(TimeoutError):
                while more < 300:
                    again = await asyncio.wait_for(next_event(stream), 1.5)
                    more += again["method"] == "notifications/tools/list_changed"
            assert more <= 3 + time.monotonic() - start, "300 changes were told one by one"


async def notes_before_the_answer(pair: Pair) -> None:
    *notes, answer = await pair.call("early", token="t")
    progress = [note["params"] for note in notes if note["method"] == "notifications/progress"]
    assert progress == [{"progressToken": "t", "progress": 1}, {"progressToken": "t", "progress": 2}], pair.label
    logs = [note["params"]["data"] for note in notes if note["method"] == "notifications/message"]
    assert logs == ([] if pair.client.modern else [{"deep": [1]}]), pair.label
    assert text_of([answer]) == "done"


async def answers_pass_untouched(pair: Pair) -> None:
    result = (await pair.call("parts"))[-1]["result"]
    assert (result["content"], result["vendor"], result["_meta"]["com.example/k"]) == (PARTS, True, 1), pair.label
    result = (await pair.call("structured"))[-1]["result"]
    assert result["structuredContent"] == {"n": "not what the schema says"}, pair.label
    result = (await pair.call("numbers"))[-1]["result"]
    assert json.dumps(result["structuredContent"]) == json.dumps(NUMBERS), pair.label


async def errors_say_what_was_said(pair: Pair) -> None:
    error = (await pair.call("error"))[-1]["error"]
    assert (error["code"], error["message"], error["data"]) == (-31999, "no", {"why": [1]}), pair.label
    assert (await pair.call("nothing"))[-1]["result"]["content"] == [], pair.label  # a result without content is empty
    for tool in ("odd_error", "both"):
        answer = (await pair.call(tool))[-1]
        assert "error" in answer, (pair.label, tool, answer)
        error = answer["error"]
        assert error["code"] == -32603, (pair.label, tool)
        assert error["message"], (pair.label, tool)


async def test_questions_of_every_server_reach_clients_of_both_eras_and_every_answer_its_server() -> None:
    answers: list[tuple[str, Json]] = [
        ("ask", {"action": "accept", "content": {"name": "Ada"}}),
        ("ask", {"action": "decline"}),
        ("ask", {"action": "cancel"}),
        ("sample", {"role": "assistant", "content": {"type": "text", "text": "hi"}, "model": "m", "vendor": 1}),
    ]
    async with pairs() as every:
        for pair in every:
            for tool, answer in answers:
                last = await (stateless_answer if pair.client.modern else pushed_answer)(pair, tool, answer)
                assert json.loads(text_of([last])) == answer, (pair.label, tool)


async def stateless_answer(pair: Pair, tool: str, answer: Json) -> Json:
    (first,) = await pair.call(tool)
    assert first["result"]["resultType"] == "input_required", (pair.label, first)
    (key,) = first["result"]["inputRequests"]
    state = first["result"]["requestState"]
    return (await pair.call(tool, inputResponses={key: answer}, requestState=state))[-1]


async def pushed_answer(pair: Pair, tool: str, answer: Json) -> Json:
    client = pair.client
    call = request("tools/call", {"name": f"{pair.server}__{tool}"}, "q")
    heads = {"mcp-session-id": client.session}
    async with client.gateway.http.post(client.gateway.url + "/mcp", json=call, headers=heads) as response:
        question = await next_event(response)
        assert question["method"] in ("elicitation/create", "sampling/createMessage"), (pair.label, question)
        await client.tell({"jsonrpc": "2.0", "id": question["id"], "result": answer})
        return await next_event(response)


async def test_a_call_given_up_is_given_up_at_every_server() -> None:
    async with pairs() as every:
        for pair in every:
            client, name = pair.client, f"{pair.server}__silent"
            before = int(text_of(await pair.call("cancelled")))
            params = {"name": name, "_meta": {**(META if client.modern else {}), "progressToken": 1}}
            call = request("tools/call", params, "gone")
            heads = {key.replace("_", "-"): value for key, value in client._heads(call).items()}
            async with client.gateway.http.post(client.gateway.url + "/mcp", json=call, headers=heads) as response:
                assert (await next_event(response))["method"] == "notifications/progress", pair.label
                if not client.modern:
                    note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "gone"}}
                    await client.tell(note)
                response.close()
            if pair.server == "http":
                continue  # here the closed stream is the word; the server keeps no count of those
            async with asyncio.timeout(30):
                while int(text_of(await pair.call("cancelled"))) == before:
                    await asyncio.sleep(0.01)
