"""HTTP+SSE as the seed writes it (V1), for clients that know nothing newer."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from urllib.parse import urljoin, urlsplit

import aiohttp

from naru.config import ServerSettings
from naru.gateway.requests.core import GatewaySettings
from tests.gateway.by_hand import META, Client, gateway, next_event, request
from tests.waiting import until


@contextlib.asynccontextmanager
async def stream(
    client: Client, path: str = "/sse", **headers: str
) -> AsyncIterator[tuple[aiohttp.ClientResponse, str]]:
    """Open a stream; gives it with the address for messages."""
    async with client.http.get(client.url + path, headers=headers) as response:
        assert response.status == 200
        assert response.content_type == "text/event-stream"
        assert await response.content.readline() == b"event: endpoint\n"
        data = (await response.content.readline()).decode().removeprefix("data: ").strip()
        yield response, urljoin(client.url + path, data)


async def test_the_seeds_walk_endpoint_first_202_on_post_answers_on_the_stream() -> None:
    async with gateway() as client, stream(client) as (events, endpoint):
        hello = request(
            "initialize",
            {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "void", "version": "1.0"}},
        )
        async with client.http.post(endpoint, json=hello) as response:
            assert (response.status, await response.text()) == (202, "Accepted")
        answer = await next_event(events)
        assert (answer["id"], answer["result"]["protocolVersion"]) == (1, "2024-11-05")
        async with client.http.post(
            endpoint, json={"jsonrpc": "2.0", "method": "notifications/initialized"}
        ) as response:
            assert response.status == 202
        async with client.http.post(endpoint, json=request("tools/list", request_id="two")) as response:
            assert response.status == 202
        assert [tool["name"] for tool in (await next_event(events))["result"]["tools"]] == ["a__echo"]


async def test_the_endpoint_is_a_path_so_that_it_holds_behind_a_proxy() -> None:
    settings = ServerSettings(port=0, auth="off", allowed_hosts=["10.0.0.5:*"])  # a15
    async with gateway(server=settings) as client:
        async with client.http.get(client.url + "/sse", headers={"host": "10.0.0.5:8000"}) as response:
            await response.content.readline()
            data = (await response.content.readline()).decode().removeprefix("data: ").strip()
        assert data.startswith("/sse/message?session_id=")
        assert urlsplit(data).netloc == ""


async def test_one_servers_stream_leads_to_its_own_messages() -> None:
    async with gateway() as client, stream(client, "/servers/a/sse") as (events, endpoint):
        assert "/servers/a/sse/message" in endpoint
        async with client.http.post(endpoint, json=request("initialize", {"capabilities": {}})) as response:
            assert response.status == 202
        assert (await next_event(events))["id"] == 1
        async with client.http.post(endpoint.replace("/servers/a", ""), json=request("ping")) as response:
            assert response.status == 404


async def test_a_message_for_an_unknown_session_is_404_and_without_one_400() -> None:
    async with gateway() as client:
        assert (await client.post(request("ping"), "/sse/message?session_id=nobody"))[0] == 404
        assert (await client.post(request("ping"), "/sse/message"))[0] == 400


async def test_a_session_ends_with_its_stream() -> None:
    async with gateway() as client:
        async with stream(client) as (_, endpoint):
            assert len(client.engine.sessions) == 1
        await until(lambda: not client.engine.sessions)
        async with client.http.post(endpoint, json=request("ping")) as response:
            assert response.status == 404


async def test_a_second_stream_is_a_second_session() -> None:
    async with gateway() as client, stream(client) as (first, one), stream(client) as (second, two):  # S-13
        assert one != two
        async with client.http.post(one, json=request("ping", request_id=1)):
            assert (await next_event(first))["id"] == 1
        async with client.http.post(two, json=request("ping", request_id=2)):
            assert (await next_event(second))["id"] == 2


async def test_a_silent_stream_is_kept_open_by_comments() -> None:
    settings = GatewaySettings(keep_alive_seconds=0.2)  # a19
    async with gateway(settings=settings) as client, stream(client) as (events, _):
        comments = 0
        async with asyncio.timeout(30):
            async for line in events.content:
                assert not line.startswith(b"event:"), "a keep-alive is no event"
                comments += line == b": ping\n"
                if comments == 3:
                    break
        assert comments == 3


async def test_a_post_to_the_base_url_is_answered_at_once() -> None:
    async with gateway() as client:
        status, answer, _ = await client.post(request("tools/list"), "/sse")
        assert (status, answer["result"]["tools"][0]["name"]) == (200, "a__echo")
        call = request("tools/call", {"name": "a__echo", "arguments": {"text": "hi"}})
        assert (await client.post(call, "/sse"))[1]["result"]["content"][0]["text"] == "hi"
        session = await client.initialize("2024-11-05", path="/sse")
        assert (await client.post(request("ping"), "/sse", mcp_session_id=session))[1]["result"] == {}
        assert client.engine.sessions.keys() == {session}


async def test_a_stateless_client_may_speak_on_the_stream_too() -> None:
    async with gateway() as client, stream(client) as (events, endpoint):
        listen = request("subscriptions/listen", {"_meta": META, "notifications": {"toolsListChanged": True}}, "sub")
        async with client.http.post(endpoint, json=listen) as response:
            assert response.status == 202
        assert (await next_event(events))["method"] == "notifications/subscriptions/acknowledged"
        async with client.http.post(endpoint, json=request("tools/list", {"_meta": META}, 7)) as response:
            assert response.status == 202
        assert (await next_event(events))["result"]["resultType"] == "complete"
