"""What clients may send although few do: the same on every face."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from naru.gateway.requests import methods
from naru.gateway.requests.core import GatewaySettings
from naru.gateway.upstreams.upstream import Relay
from naru.gateway.wire.protocol import META_CAPABILITIES, RpcError
from tests.gateway.by_hand import Json, next_event, request
from tests.gateway.peers import SESSION_FACES, HttpPeer, Peer, StreamPeer, asked, peers
from tests.gateway.scripted import ScriptedUpstream
from tests.waiting import HANG_SECONDS

pytestmark = pytest.mark.slow


def words(text: str) -> Json:
    return {"content": [{"type": "text", "text": text}]}


def said(message: Json) -> str:
    return str(message["result"]["content"][0]["text"])


async def look(params: Json, relay: Relay | None) -> Json:
    """Answer with what came."""
    return {**words("seen"), "structuredContent": params}


async def report(params: Json, relay: Relay | None) -> Json:
    assert relay is not None
    relay.progress({"progressToken": 7, "progress": 1})
    return words("done")


async def still_serves(client: Peer) -> None:
    assert "result" in (await client.ask(asked(client, "tools/list", {}, "still")))[-1], client.face


async def test_an_id_comes_back_as_it_was_sent() -> None:
    async with peers() as every:
        for client in every:
            for request_id in ("", "1", -1, 0, 2**63, -(2**70), "é\u2028\ud7ff", "x" * 5000):
                for method, params in (("tools/list", {}), ("tools/call", {"name": "a__echo"})):
                    (answer,) = await client.ask(asked(client, method, params, request_id))
                    assert "result" in answer, (client.face, answer)
                    assert type(answer["id"]) is type(request_id)
                    assert answer["id"] == request_id


async def test_an_id_that_is_none_is_refused_and_nothing_else_suffers() -> None:
    async with peers() as every:
        for client in every:
            for request_id in (1.5, None, True, []):
                (answer,) = await client.ask(asked(client, "tools/list", {}, request_id))
                assert answer["error"]["code"] == -32600, (client.face, request_id)
            await still_serves(client)


async def test_an_answer_that_nobody_waits_for_is_nothing() -> None:
    async with peers(faces=SESSION_FACES) as every:
        for client in every:
            for request_id in (None, "nobody", 99, -1):
                await client.tell({"jsonrpc": "2.0", "id": request_id, "error": {"code": 1, "message": "no"}})
            await client.tell({"jsonrpc": "2.0", "id": 98, "result": {}})
            await client.tell({"jsonrpc": "2.0", "id": "98", "result": None})
            await still_serves(client)
            for request_id in ([], {}, 1.5, True):
                (refused,) = await client.ask({"jsonrpc": "2.0", "id": request_id, "result": {}})
                assert refused["error"]["code"] == -32600, (client.face, request_id)
            await still_serves(client)


async def test_params_and_arguments_may_be_absent_or_null() -> None:
    async with peers(ScriptedUpstream("a", {"look": look})) as every:
        for client in every:
            for params in ({"name": "a__look"}, {"name": "a__look", "arguments": None}):
                (answer,) = await client.ask(asked(client, "tools/call", params))
                assert "arguments" not in answer["result"]["structuredContent"], client.face
            (answer,) = await client.ask(asked(client, "tools/list", {"cursor": None}))
            assert answer["result"]["tools"]
            if not client.modern:
                for message in (request("tools/list"), {**request("tools/list"), "params": None}):
                    assert (await client.ask(message))[0]["result"]["tools"], client.face


async def test_arguments_that_are_no_object_are_refused() -> None:
    async with peers() as every:
        for client in every:
            for arguments in ([], "x", 5, True):
                (answer,) = await client.ask(asked(client, "tools/call", {"name": "a__echo", "arguments": arguments}))
                assert answer["error"]["code"] == -32602, (client.face, arguments)


async def test_a_tool_that_is_none_is_an_error_of_the_parameters() -> None:
    async with peers() as every:
        for client in every:
            for name in (None, 5, [], {}, "", "a__nope", "nope", "a__", "__echo"):
                (answer,) = await client.ask(asked(client, "tools/call", {"name": name}))
                if client.modern and isinstance(name, str) and "result" in answer:
                    assert answer["result"]["isError"], "something that the model can be told"
                else:
                    assert answer["error"]["code"] in (-32602, -32020), (client.face, name)


async def test_an_unknown_method_is_not_found_and_an_unknown_notification_is_nothing() -> None:
    methods = ("no/such", "", "tools/call/", "Tools/List", "rpc.discover", "notifications/initialized")
    notes: list[Json] = [
        {"method": "notifications/vendor/thing", "params": {"x": 1}},
        {"method": "notifications/cancelled"},
        {"method": "notifications/cancelled", "params": {"requestId": []}},
        {"method": "notifications/cancelled", "params": {"requestId": {"a": 1}, "reason": 5}},
        {"method": "notifications/progress", "params": {"progressToken": [], "progress": "x"}},
        {"method": "notifications/roots/list_changed", "params": None},
    ]
    async with peers() as every:
        for client in every:
            for method in methods:
                (answer,) = await client.ask(asked(client, method, {}))
                assert answer["error"]["code"] == -32601, (client.face, method)
            for note in notes:
                await client.tell({"jsonrpc": "2.0", **note})
            await still_serves(client)


async def test_keys_that_nobody_knows_reach_the_server() -> None:
    async with peers(ScriptedUpstream("a", {"look": look})) as every:
        for client in every:
            params = {"name": "a__look", "arguments": {"a": {"b": [None, 1.5, "é"]}}, "vendor": {"x": 1}}
            message = asked(client, "tools/call", params, **{"com.example/trace": {"id": 5}, "traceparent": "00-1-2"})
            (answer,) = await client.ask({**message, "vendor": True})
            seen = answer["result"]["structuredContent"]
            assert seen["arguments"] == params["arguments"], client.face
            assert seen["vendor"] == {"x": 1}
            assert seen["_meta"] == {"com.example/trace": {"id": 5}, "traceparent": "00-1-2"}


async def test_a_cursor_that_is_none_of_ours_is_refused() -> None:
    async with peers() as every:
        for client in every:
            for method in ("tools/list", "resources/list"):
                for cursor in (5, "", "=====", [], "é", "x" * 10_000, "dG9vbHM6MA=="):
                    (answer,) = await client.ask(asked(client, method, {"cursor": cursor}))
                    assert answer["error"]["code"] == -32602, (client.face, method, cursor)


async def test_progress_comes_under_the_token_that_was_given_and_under_no_other() -> None:
    async with peers(ScriptedUpstream("a", {"report": report})) as every:
        for client in every:
            for token in (0, -1, 1, "", "t", "1", 2**60, 1.5):
                call = asked(client, "tools/call", {"name": "a__report"}, progressToken=token)
                note, answer = await client.ask(call)
                assert note["method"] == "notifications/progress", client.face
                assert type(note["params"]["progressToken"]) is type(token)
                assert note["params"] == {"progressToken": token, "progress": 1}
                assert said(answer) == "done"
            for none in (None, [], {"a": 1}, True):
                (answer,) = await client.ask(asked(client, "tools/call", {"name": "a__report"}, progressToken=none))
                assert said(answer) == "done", (client.face, none)


async def test_cancelling_what_is_finished_or_was_never_asked_is_nothing() -> None:
    async with peers(faces=SESSION_FACES) as every:
        for client in every:
            for _ in range(2):
                assert "result" in (await client.ask(asked(client, "tools/call", {"name": "a__echo"}, 5)))[0]
                for request_id in (5, "5", 6, "x", -1, None):
                    params = {"requestId": request_id, "reason": "late"}
                    await client.tell({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})


async def test_subscribing_twice_counts_once_and_unsubscribing_from_nothing_is_no_error() -> None:
    server = ScriptedUpstream("a", items={"resources": [{"uri": "file:///x", "name": "x"}]})
    async with peers(server, faces=SESSION_FACES) as every:
        for client in every:
            server.seen.clear()
            for method in ("unsubscribe", "subscribe", "subscribe", "unsubscribe", "unsubscribe"):
                (answer,) = await client.ask(asked(client, f"resources/{method}", {"uri": "file:///x"}))
                assert answer["result"] == {}, client.face
            assert [kind for kind, *_ in server.seen if "subscribe" in kind] == ["subscribe", "unsubscribe"]
            for uri in (None, 5, []):
                (answer,) = await client.ask(asked(client, "resources/subscribe", {"uri": uri}))
                assert answer["error"]["code"] in (-32602, -32002)


async def test_a_session_watches_so_much_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(methods, "MAX_URIS", 2)
    async with peers(faces=SESSION_FACES) as every:
        for client in every:
            asked_for = [asked(client, "resources/subscribe", {"uri": f"x:{number}"}) for number in range(3)]
            got = [(await client.ask(one))[0] for one in asked_for]
            assert ["result" in one for one in got] == [True, True, False], client.face
            await client.ask(asked(client, "resources/unsubscribe", {"uri": "x:0"}))
            assert "result" in (await client.ask(asked_for[2]))[0]


async def test_an_error_of_a_server_says_nothing_of_the_hub() -> None:
    async def fail(params: Json, relay: Relay | None) -> Json:
        raise RpcError(-32000, "The database is away.")

    async with peers(ScriptedUpstream("a", {"fail": fail}), faces=("stateless",)) as (client,):
        status, answer, _ = await client.gateway.modern("tools/call", {"name": "a__fail"})
        assert (status, answer["error"]["message"]) == (200, "The database is away."), "503 is of a hub that is busy"


async def test_clients_may_all_number_their_requests_alike() -> None:
    async with peers() as every:
        for request_id in (1, "1", 2):
            calls = [
                client.ask(
                    asked(client, "tools/call", {"name": "a__echo", "arguments": {"text": client.face}}, request_id)
                )
                for client in every
            ]
            assert [said(got[-1]) for got in await asyncio.gather(*calls)] == [client.face for client in every]


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26"])
async def test_a_batch_is_answered_where_the_version_has_them(version: str) -> None:
    batch: list[Any] = [
        request("ping", request_id="p"),
        5,
        {"jsonrpc": "2.0", "method": "notifications/vendor"},
        request("tools/call", {"name": "a__echo", "arguments": {"text": "x"}}, 2),
        {"jsonrpc": "2.0"},
        request("no/such", request_id=3),
    ]
    async with peers(faces=SESSION_FACES, version=version) as every:
        for client in every:
            got = await answers_to(client, batch, 5)
            by_id = {answer["id"]: answer for answer in got}
            assert by_id["p"]["result"] == {}, client.face
            assert said(by_id[2]) == "x"
            assert by_id[3]["error"]["code"] == -32601
            bad = [answer["error"]["code"] for answer in got if answer["id"] is None]
            assert bad == [-32600, -32600], "a bad message of a batch is answered by itself"
            for refused in ([], [request("ping")] * 101):
                assert (await answers_to(client, refused, 1))[0]["error"]["code"] == -32600, client.face
            await still_serves(client)


async def test_a_batchs_requests_are_counted_and_can_be_cancelled() -> None:
    begun, go_on = asyncio.Queue[str](), asyncio.Event()

    async def wait(params: Json, relay: Any) -> Json:
        begun.put_nowait(params["arguments"]["text"])
        await go_on.wait()
        return {"content": [{"type": "text", "text": "waited"}]}

    def call(number: int) -> Json:
        return request("tools/call", {"name": "a__wait", "arguments": {"text": str(number)}}, number)

    server, settings = ScriptedUpstream("a", {"wait": wait}), GatewaySettings(max_inflight=3)
    async with peers(server, faces=["http"], version="2025-03-26", settings=settings) as (client,):
        assert isinstance(client, HttpPeer)
        asked = asyncio.create_task(client.ask([call(1), call(2), call(1), call(3), call(4)]))  # type: ignore[arg-type]
        assert {await begun.get() for _ in range(2)} == {"1", "2"}
        await client.tell({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
        go_on.set()
        got = await asked
    assert [(one["id"], said(one) if "result" in one else one["error"]["code"]) for one in got if one["id"] == 2] == [
        (2, "waited")
    ]
    assert sorted(one["error"]["code"] for one in got if one["id"] != 2) == [-32600, -32000, -32000]


async def answers_to(client: Peer, batch: list[Any], count: int) -> list[Json]:
    if isinstance(client, HttpPeer):
        return await client.ask(batch)  # type: ignore[arg-type]  # a batch is what the test is about
    assert isinstance(client, StreamPeer)
    await client.send(batch)
    return [await asyncio.wait_for(client.incoming.get(), HANG_SECONDS) for _ in range(count)]


async def test_what_is_no_message_is_refused_and_the_next_is_served() -> None:
    async with peers() as every:
        for client in every:
            for body in (5, "x", None, True, {}, {"jsonrpc": "1.0", "method": "ping", "id": 1}):
                if isinstance(client, HttpPeer):
                    status, answer, _ = await client.gateway.post(body, mcp_session_id=client.session)
                    assert status == 400
                else:
                    (answer,) = await client.ask(body)  # type: ignore[arg-type]  # no message, on purpose
                assert answer["error"]["code"] == -32600, (client.face, body)
            await still_serves(client)


async def test_a_question_may_be_declined_cancelled_or_answered_with_nothing() -> None:
    async def ask(params: Json, relay: Relay | None) -> Json:
        assert relay is not None
        return words(str(await relay.ask("elicitation/create", {"message": "?", "requestedSchema": {}})))

    async with peers(ScriptedUpstream("a", {"ask": ask}, modern=False), faces=("http", "stateless")) as every:
        for client in every:
            for answer in ({"action": "decline"}, {"action": "cancel"}, {"action": "accept", "content": {}}):
                assert said(await answered(client, "a__ask", {"result": answer})) == str(answer), client.face


async def test_a_refusal_of_a_sampling_request_reaches_the_server_as_it_is() -> None:
    heard: list[tuple[int, str]] = []

    async def ask(params: Json, relay: Relay | None) -> Json:
        assert relay is not None
        try:
            await relay.ask("sampling/createMessage", {"messages": [], "maxTokens": 5})
        except RpcError as error:
            heard.append((error.code, error.message))
        return words("went on")

    async with peers(ScriptedUpstream("a", {"ask": ask}, modern=False), faces=("http",)) as (client,):
        refusal = {"error": {"code": -1, "message": "User rejected sampling request"}}
        assert said(await answered(client, "a__ask", refusal)) == "went on"
        assert heard == [(-1, "User rejected sampling request")]


@pytest.mark.parametrize(
    ("answer", "heard"),
    [
        ({"error": "no"}, "neither"),
        ({"result": "yes"}, "neither"),
        ({"result": None}, "neither"),
        ({"result": {"action": "decline"}, "error": None}, "decline"),
    ],
    ids=str,
)
async def test_an_answer_that_is_no_object_is_an_error_and_never_a_yes(answer: Json, heard: str) -> None:
    async def ask(params: Json, relay: Relay | None) -> Json:
        assert relay is not None
        try:
            return words(str(await relay.ask("elicitation/create", {"message": "?", "requestedSchema": {}})))
        except RpcError as error:
            return words(f"{error.code} {error.message}")

    async with peers(ScriptedUpstream("a", {"ask": ask}, modern=False), faces=("http",)) as (client,):
        assert heard in said(await answered(client, "a__ask", answer))


async def test_a_task_that_nobody_offered_is_left_out_of_account() -> None:
    async with peers(ScriptedUpstream("a", {"look": look}, modern=False)) as every:
        for client in every:
            params = {"name": "a__look", "task": {"ttl": 60_000}}
            (answer,) = await client.ask(asked(client, "tools/call", params))
            assert answer["result"]["structuredContent"].keys() == {"name", "_meta"}, client.face


async def test_what_is_completed_is_named_or_the_request_is_refused() -> None:
    can = {"tools": {}, "resources": {}, "prompts": {}, "completions": {}}
    async with peers(ScriptedUpstream("a", capabilities=can)) as every:  # whose every URI is the one server's
        for client in every:
            for ref in (None, [], {"type": "ref/odd"}, {"type": []}, {"type": "ref/resource", "uri": 5}):
                params = {"ref": ref, "argument": {"name": "x", "value": ""}}
                (answer,) = await client.ask(asked(client, "completion/complete", params))
                assert answer["error"]["code"] == -32602, (client.face, ref)
                assert "ref/prompt with a name" in answer["error"]["message"]


async def answered(client: Peer, tool: str, answer: Json) -> Json:
    """Call a tool that asks something; answer it the way of the client's era; return the last message."""
    assert isinstance(client, HttpPeer)
    params: Json = {"name": tool}
    if client.modern:
        can = {META_CAPABILITIES: {"elicitation": {}, "sampling": {}}}
        (first,) = await client.ask(asked(client, "tools/call", params, 1, **can))
        (key,) = first["result"]["inputRequests"]
        retry = {"inputResponses": {key: answer["result"]}, "requestState": first["result"]["requestState"]}
        return (await client.ask(asked(client, "tools/call", {**params, **retry}, 2, **can)))[-1]
    heads = {"mcp-session-id": client.session}
    call = request("tools/call", params)
    async with client.gateway.http.post(client.gateway.url + "/mcp", json=call, headers=heads) as response:
        question = await next_event(response)
        await client.tell({"jsonrpc": "2.0", "id": question["id"], **answer})
        return await next_event(response)
