"""What went wrong with other servers' MCP faces, from public reports: each is fixed as a kind here."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Sequence
from urllib.parse import urljoin

import pytest

from naru.config import ServerSettings
from naru.gateway.catalog import CatalogSettings
from naru.gateway.faces.legacy_sse import _endpoint
from naru.gateway.requests.core import GatewaySettings
from naru.gateway.sessions.asgi import sender_of
from naru.gateway.sessions.session import Session
from naru.gateway.upstreams.upstream import ListKind, Relay
from tests.gateway.by_hand import Json, gateway, request
from tests.gateway.scripted import ScriptedUpstream
from tests.waiting import HANG_SECONDS, until


def test_the_endpoint_keeps_the_prefix_that_the_app_is_mounted_under() -> None:
    session = Session("", "")
    for path, root in (("/tools/sse", "/tools"), ("/tools/sse/", "/tools"), ("/sse", "")):  # a13
        data = _endpoint({"path": path, "root_path": root}, session)
        resolved = urljoin(f"http://host{path}", data)
        assert resolved == f"http://host{root}/sse/message?session_id={session.id}"


async def test_a_browser_may_read_the_session_id() -> None:
    page = "http://localhost:6274"
    async with gateway(server=ServerSettings(port=0, allowed_origins=[page])) as client:  # a21
        hello = request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}})
        _, _, headers = await client.post(hello, origin=page)
        assert headers["access-control-allow-origin"] == page
        assert "mcp-session-id" in headers["access-control-expose-headers"].lower()
        _, _, headers = await client.post(request("ping"), origin=page, mcp_session_id="gone")
        assert headers["access-control-allow-origin"] == page, "error replies too"


@pytest.mark.slow
async def test_parallel_calls_of_which_some_are_cancelled_all_end_rightly() -> None:
    begun: list[int] = []
    go_on = asyncio.Event()

    async def nap(params: Json, relay: Relay | None) -> Json:
        begun.append(params["arguments"]["n"])
        await go_on.wait()
        return {"content": [{"type": "text", "text": str(params["arguments"]["n"])}]}

    async with gateway(ScriptedUpstream("a", {"nap": nap})) as client:  # a28
        session = await client.initialize()

        async def call(number: int) -> Json | list[Json]:
            message = request("tools/call", {"name": "a__nap", "arguments": {"n": number}}, number)
            return (await client.post(message, mcp_session_id=session))[1]

        running = [asyncio.create_task(call(number)) for number in range(20)]
        await until(lambda: len(begun) == 20)
        for number in range(0, 20, 4):
            note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}}
            await client.post(note, mcp_session_id=session)
        go_on.set()
        answers = await asyncio.gather(*running)
        for number, answer in enumerate(answers):
            if number % 4 == 0:
                assert answer == []
            else:
                assert isinstance(answer, dict)
                assert (answer["id"], answer["result"]["content"][0]["text"]) == (number, str(number))
        assert isinstance(await call(21), dict)


async def test_a_large_result_arrives_whole_and_the_session_goes_on() -> None:
    blob = "A" * (3 * 1024 * 1024)

    async def big(params: Json, relay: Relay | None) -> Json:
        resource = {"uri": "file:///big", "blob": blob, "mimeType": "application/octet-stream"}
        return {"content": [{"type": "resource", "resource": resource}]}

    async with gateway(ScriptedUpstream("a", {"big": big})) as client:  # a30
        session = await client.initialize()
        _, answer, _ = await client.post(request("tools/call", {"name": "a__big"}), mcp_session_id=session)
        assert answer["result"]["content"][0]["resource"]["blob"] == blob
        assert (await client.post(request("ping"), mcp_session_id=session))[1]["result"] == {}


async def test_a_face_says_who_asks_by_the_gate_alone() -> None:
    headers = {"x-user": "admin", "authorization": "Bearer x"}
    assert sender_of({"path_params": {}}, headers).caller == ""  # S-13: never from what the client says


async def test_lists_are_paged_in_a_stable_order_and_strange_cursors_refused() -> None:
    server = ScriptedUpstream("a", items={"tools": [{"name": f"t{n}", "inputSchema": {}} for n in range(25)]})
    settings = GatewaySettings(catalog=CatalogSettings(page_size=10))
    async with gateway(server, settings=settings) as client:
        names: list[str] = []
        params: Json = {}
        while True:
            _, answer, _ = await client.modern("tools/list", params)
            names += [tool["name"] for tool in answer["result"]["tools"]]
            if "nextCursor" not in answer["result"]:
                break
            params = {"cursor": answer["result"]["nextCursor"]}
        assert names == [f"a__t{n}" for n in range(25)]
        within_a_page = base64.urlsafe_b64encode(b"tools:3").decode()
        for cursor in ("x", "YWZ0ZXI6OTk5", "YWZ0ZXI6LTE=", 5, within_a_page):
            _, answer, _ = await client.modern("tools/list", {"cursor": cursor})
            assert answer["error"]["code"] == -32602


async def test_the_meta_tools_find_describe_and_call_any_tool() -> None:
    tools = [{"name": f"tool{n}", "description": f"Handles topic {n}", "inputSchema": {"x": n}} for n in range(40)]
    city = {"type": "string", "x-mcp-header": "City"}  # as a client repeats it that calls the tool itself
    schema = {"type": "object", "properties": {"city": city}}
    weather = {"name": "forecast", "description": "Tell tomorrow's weather in a city", "inputSchema": schema}

    async def forecast(params: Json, relay: Relay | None) -> Json:
        return {"content": [{"type": "text", "text": f"sunny in {params['arguments']['city']}"}]}

    server = ScriptedUpstream("a", {"forecast": forecast}, items={"tools": [*tools, weather]})
    async with gateway(server, settings=GatewaySettings(meta_tools=True)) as client:
        _, answer, _ = await client.modern("tools/list")
        assert [tool["name"] for tool in answer["result"]["tools"]] == ["search_tools", "describe_tool", "call_tool"]

        async def call(tool: str, /, **arguments: object) -> Json:
            return dict((await client.modern("tools/call", {"name": tool, "arguments": arguments}))[1]["result"])

        found = await call("search_tools", query="weather city")
        assert found["structuredContent"]["tools"][0] == "a__forecast"
        nothing = await call("search_tools", query=" ".join(f"w{n}" for n in range(100_000)) + " weather")
        assert len(nothing["content"][0]["text"]) < 1000, "and it was not looked for in every tool"
        assert "tomorrow" in (await call("describe_tool", name="a__forecast"))["content"][0]["text"]
        assert (await call("describe_tool", name="nope"))["isError"]
        result = await call("call_tool", name="a__forecast", arguments={"city": "Busan"})
        assert result["content"][0]["text"] == "sunny in Busan"


async def test_a_list_that_fails_in_an_unforeseen_way_holds_up_nothing() -> None:
    class Broken(ScriptedUpstream):
        async def list(self, kind: ListKind) -> Sequence[Json]:
            raise ZeroDivisionError

    settings = GatewaySettings(catalog=CatalogSettings(patience_seconds=HANG_SECONDS))
    async with gateway(Broken("broken"), ScriptedUpstream("good"), settings=settings) as client:
        async with asyncio.timeout(HANG_SECONDS / 2):
            for _ in range(2):
                _, answer, _ = await client.modern("tools/list")
                assert [tool["name"] for tool in answer["result"]["tools"]] == ["good__echo"]


async def test_a_slow_server_holds_up_no_list_but_its_own() -> None:
    held = asyncio.Event()
    slow, quick = ScriptedUpstream("slow", held=held), ScriptedUpstream("quick")
    settings = GatewaySettings(catalog=CatalogSettings(patience_seconds=0.2))
    async with gateway(slow, quick, settings=settings) as client:
        _, answer, _ = await client.modern("tools/list")
        assert [tool["name"] for tool in answer["result"]["tools"]] == ["quick__echo"]
        held.set()
        async with asyncio.timeout(30):
            while len(answer["result"]["tools"]) < 2:
                await asyncio.sleep(0.05)
                _, answer, _ = await client.modern("tools/list")


async def test_two_servers_with_the_same_uri_are_both_readable() -> None:
    uri = "file:///readme"
    servers = [ScriptedUpstream(name, items={"resources": [{"uri": uri, "name": "r"}]}) for name in ("a", "b")]
    async with gateway(*servers) as client:  # S-47, S-51
        _, answer, _ = await client.modern("resources/list")
        first, second = (item["uri"] for item in answer["result"]["resources"])
        assert first == uri
        read = [(await client.modern("resources/read", {"uri": each}))[1]["result"] for each in (first, second)]
        assert [result["contents"][0]["text"] for result in read] == [f"a {uri}", f"b {uri}"]
        for strange in ("file:///../../etc/passwd", "naru://none/x", "naru://a/", "x" * 10_000):
            _, answer, _ = await client.modern("resources/read", {"uri": strange})
            assert answer["error"]["code"] == -32602


async def test_an_address_that_nobody_serves_is_named_in_the_error_that_people_see() -> None:
    """Many clients show the message alone, and not its data."""
    async with gateway(ScriptedUpstream("a"), ScriptedUpstream("b")) as client:
        _, answer, _ = await client.modern("resources/read", {"uri": "file:///nothere"})
        assert answer["error"]["message"] == "Resource not found: file:///nothere"
        _, answer, _ = await client.modern("resources/read", {})
        assert "params.uri" in answer["error"]["message"]
