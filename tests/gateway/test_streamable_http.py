"""Streamable HTTP on the wire, both eras."""

from __future__ import annotations

from typing import Any

import pytest

from naru.gateway.upstreams.upstream import Change
from naru.gateway.wire.protocol import META_CAPABILITIES, META_VERSION
from tests.gateway.by_hand import META, Json, gateway, next_event, request
from tests.gateway.scripted import ScriptedUpstream


async def test_a_legacy_client_initializes_calls_and_leaves() -> None:
    async with gateway() as client:
        session = await client.initialize()
        status, answer, _ = await client.post(
            request("tools/call", {"name": "a__echo", "arguments": {"text": "hi"}}), mcp_session_id=session
        )
        assert (status, answer["result"]["content"][0]["text"]) == (200, "hi")
        assert "resultType" not in answer["result"]
        async with client.http.delete(client.url + "/mcp", headers={"mcp-session-id": session}) as response:
            assert response.status == 204
        assert (await client.post(request("ping"), mcp_session_id=session))[0] == 404  # a10


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
async def test_every_handshake_version_is_kept(version: str) -> None:
    async with gateway() as client:
        await client.initialize(version)


async def test_an_unknown_version_is_answered_with_our_newest() -> None:
    async with gateway() as client:
        _, answer, _ = await client.post(request("initialize", {"protocolVersion": "1900-01-01", "capabilities": {}}))
        assert answer["result"]["protocolVersion"] == "2025-11-25"


async def test_a_session_is_404_when_unknown_and_400_when_missing() -> None:
    async with gateway() as client:  # a09
        for session in ("00000000-dead", "x"):
            status, answer, _ = await client.post(request("tools/list"), mcp_session_id=session)
            assert status == 404
            assert answer["error"]["code"] == -32600
        assert (await client.post(request("tools/list")))[0] == 400


async def test_both_spellings_of_a_path_are_one_face() -> None:
    async with gateway() as client:  # a17
        for path in ("/mcp", "/mcp/", "/servers/a/mcp", "/servers/a/mcp/", "/sse", "/sse/"):
            await client.initialize(path=path)
            async with client.http.options(client.url + path, allow_redirects=False) as response:
                assert response.status == 204


async def test_one_servers_face_has_its_own_names_and_an_unknown_server_is_404() -> None:
    async with gateway() as client:
        session = await client.initialize(path="/servers/a/mcp")
        _, answer, _ = await client.post(request("tools/list"), "/servers/a/mcp", mcp_session_id=session)
        assert [tool["name"] for tool in answer["result"]["tools"]] == ["echo"]
        assert (await client.post(request("tools/list"), "/mcp", mcp_session_id=session))[0] == 404
        assert (await client.post(request("initialize", {}), "/servers/none/mcp"))[0] == 404


async def test_a_stateless_client_needs_no_session() -> None:
    async with gateway() as client:
        status, answer, headers = await client.modern("tools/call", {"name": "a__echo", "arguments": {"text": "hi"}})
        assert (status, answer["result"]["resultType"]) == (200, "complete")
        assert "mcp-session-id" not in headers
        _, answer, _ = await client.modern("tools/list")
        assert answer["result"]["cacheScope"] == "private"
        assert answer["result"]["ttlMs"] >= 0
        _, answer, _ = await client.modern("server/discover")
        assert answer["result"]["supportedVersions"] == ["2026-07-28"]


@pytest.mark.parametrize(
    ("method", "status", "code"),
    [("ping", 404, -32601), ("initialize", 404, -32601), ("logging/setLevel", 404, -32601), ("no/such", 404, -32601)],
)
async def test_methods_of_the_other_era_are_not_found(method: str, status: int, code: int) -> None:
    async with gateway() as client:
        got, answer, _ = await client.modern(method)
        assert (got, answer["error"]["code"], answer["id"]) == (status, code, 1)


async def test_an_unserved_version_says_what_is_served() -> None:
    async with gateway() as client:
        params = {"_meta": {META_VERSION: "2099-01-01", META_CAPABILITIES: {}}}
        status, answer, _ = await client.post(
            request("tools/list", params), mcp_protocol_version="2099-01-01", mcp_method="tools/list"
        )
        assert (status, answer["error"]["code"]) == (400, -32022)
        assert answer["error"]["data"] == {"supported": ["2026-07-28"], "requested": "2099-01-01"}


async def test_a_batch_is_taken_where_the_version_has_them_and_refused_elsewhere() -> None:
    async with gateway() as client:
        batch = [request("ping", request_id=1), request("tools/list", request_id=2)]
        old, new = await client.initialize("2025-03-26"), await client.initialize("2025-06-18")
        status, answers, _ = await client.post(batch, mcp_session_id=old)
        assert status == 200
        assert {answer["id"] for answer in answers} == {1, 2}
        assert (await client.post(batch, mcp_session_id=new))[0] == 400


async def test_hostile_bodies_are_answered_400_or_413_and_never_500() -> None:
    async with gateway() as client:
        session = await client.initialize()
        for body in (
            b"{",
            b"[]",
            b"null",
            b'{"a": NaN}',
            b"[" * 5000,
            b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}',
        ):
            assert (await client.post(body, mcp_session_id=session))[0] == 400
        big = b'"' + b"x" * (4 * 1024 * 1024) + b'"'
        assert (await client.post(big, mcp_session_id=session))[0] == 413


async def test_progress_comes_under_the_clients_own_token_and_before_the_answer() -> None:
    async def work(params: Json, relay: Any) -> Json:
        for step in (1, 2):
            relay.progress({"progressToken": 99, "progress": step, "message": "at it", "vendor": True})
        return {"content": [], "vendor": {"kept": [1]}}

    async with gateway(ScriptedUpstream("a", {"work": work})) as client:
        session = await client.initialize()
        call = request("tools/call", {"name": "a__work", "_meta": {"progressToken": "mine"}})
        _, got, _ = await client.post(call, mcp_session_id=session)
        assert [event["params"]["progressToken"] for event in got[:-1]] == ["mine", "mine"]
        assert got[0]["params"]["vendor"] is True
        assert got[-1]["result"]["vendor"] == {"kept": [1]}


async def test_a_list_change_reaches_sessions_and_listeners_once() -> None:
    async with gateway() as client:
        session = await client.initialize()
        get = {"mcp-session-id": session, "accept": "text/event-stream"}
        listen = request("subscriptions/listen", {"_meta": META, "notifications": {"toolsListChanged": True}}, "sub")
        heads = {"mcp-protocol-version": "2026-07-28", "mcp-method": "subscriptions/listen"}
        async with (
            client.http.get(client.url + "/mcp", headers=get) as old,
            client.http.post(client.url + "/mcp", json=listen, headers=heads) as new,
        ):
            first = await next_event(new)
            assert first["method"] == "notifications/subscriptions/acknowledged"
            assert first["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == "sub"
            for _ in range(5):
                client.upstreams.tell(Change("a", "tools"))
                client.upstreams.tell(Change("a", "prompts"))
            changed = await next_event(new)
            assert changed["method"] == "notifications/tools/list_changed"
            assert changed["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == "sub"
            methods = {(await next_event(old))["method"], (await next_event(old))["method"]}
            assert methods == {"notifications/prompts/list_changed", "notifications/tools/list_changed"}
            client.engine.end_streams()
            last = await next_event(new)
            assert last["id"] == "sub"
            assert last["result"]["resultType"] == "complete"
