"""Clients of either era before servers of either era (N11)."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from naru.gateway.upstreams.upstream import Relay
from naru.gateway.wire.protocol import (
    META_CAPABILITIES,
    META_CLIENT,
    META_LOG_LEVEL,
    META_SERVER,
    META_VERSION,
    RpcError,
)
from tests.gateway.by_hand import META, Json, gateway, request
from tests.gateway.scripted import ScriptedUpstream

ASKED: Json = {"message": "Name?", "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}}}
CAN_ASK = {META_VERSION: "2026-07-28", META_CAPABILITIES: {"elicitation": {"form": {}, "url": {}}}}


def said(result: Json) -> str:
    return str(result["content"][0]["text"])


def words(text: str) -> Json:
    return {"content": [{"type": "text", "text": text}]}


async def push_twice(params: Json, relay: Relay | None) -> Json:
    """A server of sessions: asks the client in the middle of the call, two times."""
    assert relay is not None
    first = await relay.ask("elicitation/create", ASKED)
    second = await relay.ask("elicitation/create", ASKED)
    return words(f"{first['content']['name']} {second['content']['name']}")


async def want_input(params: Json, relay: Relay | None) -> Json:
    """A stateless server: ends the call with what it wants to know."""
    given = params.get("inputResponses") or {}
    if "who" not in given:
        return {
            "resultType": "input_required",
            "inputRequests": {"who": {"method": "elicitation/create", "params": ASKED}},
            "requestState": "state of a",
        }
    assert params["requestState"] == "state of a"
    return {**words(given["who"]["content"]["name"]), "resultType": "complete"}


async def test_a_stateless_client_answers_a_server_of_sessions_over_several_requests() -> None:
    async with gateway(ScriptedUpstream("a", {"ask": push_twice}, modern=False)) as client:
        params: Json = {"name": "a__ask", "arguments": {}, "_meta": CAN_ASK}
        _, answer, _ = await client.modern("tools/call", params)
        for name in ("Ada", "Eve"):
            result = answer["result"]
            assert result["resultType"] == "input_required"
            (key,) = result["inputRequests"]
            assert result["inputRequests"][key]["params"] == ASKED
            given = {key: {"action": "accept", "content": {"name": name}}}
            retry = {**params, "inputResponses": given, "requestState": result["requestState"]}
            _, answer, _ = await client.modern("tools/call", retry)
        assert said(answer["result"]) == "Ada Eve"
        _, replayed, _ = await client.modern("tools/call", retry)
        assert replayed["error"]["code"] == -32602, "a parked call can be taken up once"


async def test_what_is_asked_while_nobody_waits_is_asked_only_of_who_can_be_asked_it() -> None:
    parked = asyncio.Event()

    async def push(params: Json, relay: Relay | None) -> Json:
        assert relay is not None
        first = asyncio.ensure_future(relay.ask("elicitation/create", ASKED))
        await parked.wait()
        try:
            await relay.ask("sampling/createMessage", {"messages": [], "maxTokens": 5})
        except RpcError as error:
            return words(f"{error.code} {(await first)['action']}")
        return words("asked")

    async with gateway(ScriptedUpstream("a", {"ask": push}, modern=False)) as client:
        params: Json = {"name": "a__ask", "_meta": {**META, META_CAPABILITIES: {"elicitation": {}}}}
        _, answer, _ = await client.modern("tools/call", params)
        parked.set()
        (key,) = answer["result"]["inputRequests"]
        retry = {"inputResponses": {key: {"action": "decline"}}, "requestState": answer["result"]["requestState"]}
        _, answer, _ = await client.modern("tools/call", {**params, **retry})
        assert said(answer["result"]) == "-32601 decline"


async def test_a_session_client_is_pushed_what_a_stateless_server_wants() -> None:
    async with gateway(ScriptedUpstream("a", {"ask": want_input})) as client:
        session = await client.initialize(elicitation={})
        call = request("tools/call", {"name": "a__ask", "arguments": {}}, "c1")
        async with client.http.post(client.url + "/mcp", json=call, headers={"mcp-session-id": session}) as response:
            got: list[Json] = []
            async with asyncio.timeout(30):
                async for line in response.content:
                    if not line.startswith(b"data: {"):
                        continue
                    got.append(json.loads(line[6:]))
                    if got[-1].get("method") == "elicitation/create":
                        reply = {"jsonrpc": "2.0", "id": got[-1]["id"]}
                        reply["result"] = {"action": "accept", "content": {"name": "Ada"}}
                        assert (await client.post(reply, mcp_session_id=session))[0] == 202
        assert said(got[-1]["result"]) == "Ada"
        assert "resultType" not in got[-1]["result"]


async def test_state_goes_back_to_its_own_server_byte_for_byte_and_to_no_other() -> None:
    servers = (ScriptedUpstream("a", {"ask": want_input}), ScriptedUpstream("b", {"ask": want_input}))
    async with gateway(*servers) as client:  # S-58
        params: Json = {"name": "a__ask", "arguments": {"x": 1}, "_meta": CAN_ASK}
        _, answer, _ = await client.modern("tools/call", params)
        state = answer["result"]["requestState"]
        assert state != "state of a"
        given: Json = {"inputResponses": {"who": {"action": "accept", "content": {"name": "Ada"}}}}
        for wrong in (
            {**params, "name": "b__ask", **given, "requestState": state},
            {**params, "arguments": {"x": 2}, **given, "requestState": state},
            {**params, **given, "requestState": state + "-TAMPERED"},
            {**params, **given, "requestState": "state of a"},
        ):
            _, refused, _ = await client.modern("tools/call", wrong)
            assert refused["error"]["code"] == -32602
        assert [call for call in servers[1].seen if call[0] == "tools/call"] == []
        _, answer, _ = await client.modern("tools/call", {**params, **given, "requestState": state})
        assert said(answer["result"]) == "Ada"


async def test_a_server_of_sessions_that_wants_a_page_visited_is_asked_again_afterwards() -> None:
    visits = []

    async def pay(params: Json, relay: Relay | None) -> Json:
        visits.append(1)
        if len(visits) == 1:
            wanted = {"mode": "url", "url": "https://pay.example/1", "elicitationId": "e", "message": "Pay"}
            raise RpcError(-32042, "URL elicitation required", {"elicitations": [wanted]})
        return words("paid")

    async with gateway(ScriptedUpstream("a", {"pay": pay}, modern=False)) as client:
        params: Json = {"name": "a__pay", "_meta": CAN_ASK}
        _, answer, _ = await client.modern("tools/call", params)
        (key, wanted), *_ = answer["result"]["inputRequests"].items()
        assert wanted["params"]["url"] == "https://pay.example/1"
        retry = {"inputResponses": {key: {"action": "accept"}}, "requestState": answer["result"]["requestState"]}
        _, answer, _ = await client.modern("tools/call", {**params, **retry})
        assert said(answer["result"]) == "paid"


async def test_no_server_sees_the_answer_to_a_question_of_our_own() -> None:
    server = ScriptedUpstream("a")
    async with gateway(server) as client:
        for others in ({}, {"who": {"action": "accept"}}):
            given = {"naru.sign_in": {"action": "accept"}, **others}
            await client.modern("tools/call", {"name": "a__echo", "_meta": CAN_ASK, "inputResponses": given})
    sent = [params for method, params, _ in server.seen if method == "tools/call"]
    assert [params.get("inputResponses") for params in sent] == [None, {"who": {"action": "accept"}}]


async def test_a_stateless_server_learns_each_clients_own_capabilities() -> None:
    server = ScriptedUpstream("a")
    async with gateway(server) as client:
        meta = {META_VERSION: "2026-07-28", META_CAPABILITIES: {"sampling": {}}, META_CLIENT: {"name": "one"}}
        await client.modern("tools/call", {"name": "a__echo", "_meta": {**meta, META_LOG_LEVEL: "warning", "mine": 1}})
        session = await client.initialize(elicitation={})
        await client.post(request("tools/call", {"name": "a__echo"}), mcp_session_id=session)
        (_, sent, first), (_, _, second) = [call for call in server.seen if call[0] == "tools/call"]
        assert first is not None
        assert second is not None
        assert (first.capabilities, first.client, first.log_level) == ({"sampling": {}}, {"name": "one"}, "warning")
        assert sent["_meta"] == {"mine": 1}
        assert (second.capabilities, second.client["name"]) == ({"elicitation": {}}, "t")


async def test_log_messages_reach_who_asked_for_them_from_their_level_on() -> None:
    async def chatty(params: Json, relay: Relay | None) -> Json:
        assert relay is not None
        for level in ("debug", "error"):
            relay.notify("notifications/message", {"level": level, "data": level})
        return words("done")

    async with gateway(ScriptedUpstream("a", {"chat": chatty})) as client:
        meta = {META_VERSION: "2026-07-28", META_CAPABILITIES: {}}
        _, silent, _ = await client.modern("tools/call", {"name": "a__chat", "_meta": meta})
        assert said(silent["result"]) == "done", "no level, no messages"
        _, got, _ = await client.modern("tools/call", {"name": "a__chat", "_meta": {**meta, META_LOG_LEVEL: "warning"}})
        assert [event["params"]["level"] for event in got[:-1]] == ["error"]
        session = await client.initialize()
        call = request("tools/call", {"name": "a__chat"})
        _, got, _ = await client.post(call, mcp_session_id=session)
        assert len(got) == 3
        await client.post(request("logging/setLevel", {"level": "warning"}, 2), mcp_session_id=session)
        _, got, _ = await client.post(call, mcp_session_id=session)
        assert [event["params"]["level"] for event in got[:-1]] == ["error"]


async def test_a_log_level_that_one_server_refuses_is_set_at_all_others() -> None:
    class Refuses(ScriptedUpstream):
        async def set_log_level(self, level: str) -> None:
            raise RpcError(-32603, "no")

    servers = [Refuses("a"), ScriptedUpstream("b"), Refuses("c"), ScriptedUpstream("d")]
    async with gateway(*servers) as client:
        session = await client.initialize()
        _, answer, _ = await client.post(request("logging/setLevel", {"level": "warning"}), mcp_session_id=session)
        assert answer["result"] == {}
        assert [len(server.seen) for server in servers] == [0, 1, 0, 1]


@pytest.mark.parametrize(
    ("version", "kinds"),
    [
        ("2024-11-05", ["text", "text", "text"]),
        ("2025-03-26", ["text", "audio", "text"]),
        ("2025-06-18", ["text", "audio", "resource_link"]),
        ("2025-11-25", ["text", "audio", "resource_link"]),
    ],
)
async def test_content_that_a_version_does_not_know_becomes_its_placeholder(version: str, kinds: list[str]) -> None:
    async def show(params: Json, relay: Relay | None) -> Json:
        parts: list[Any] = [{"type": "text", "text": "a"}, {"type": "audio", "data": "AA==", "mimeType": "audio/wav"}]
        return {"content": [*parts, {"type": "resource_link", "uri": "file:///x", "name": "x"}]}

    async with gateway(ScriptedUpstream("a", {"show": show})) as client:
        session = await client.initialize(version)
        _, answer, _ = await client.post(request("tools/call", {"name": "a__show"}), mcp_session_id=session)
        assert [part["type"] for part in answer["result"]["content"]] == kinds


async def test_the_result_says_that_naru_answered_a_stateless_client_only() -> None:
    async with gateway() as client:
        _, answer, _ = await client.modern("tools/call", {"name": "a__echo"})
        assert answer["result"]["_meta"][META_SERVER]["name"] == "naru"
        session = await client.initialize()
        _, answer, _ = await client.post(request("tools/call", {"name": "a__echo"}), mcp_session_id=session)
        assert "_meta" not in answer["result"]
