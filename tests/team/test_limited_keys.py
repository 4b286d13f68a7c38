"""Keys and roles that see a part of the hub: issue 21 line 3, S-04, S-65, S-66."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from naru.errors import PolicyError
from naru.persons import Bounds, Person, Reach, current_person
from naru.records import ServerRecord
from naru.stores.files import small_database
from naru.stores.kept.spending import Spending, Spent
from naru.stores.secrets.keys import KeyFile
from tests.team.conftest import Team, call_mcp, declared, team

BODIES: dict[tuple[str, str], Any] = {
    ("POST", "/v1/chat/completions"): {"model": "alpha+tools", "messages": [{"role": "user", "content": "hi"}]},
    ("POST", "/v1/responses"): {"model": "alpha", "input": "hi"},
    ("POST", "/v1/messages"): {
        "model": "alpha+tools",
        "max_tokens": 9,
        "messages": [{"role": "user", "content": "hi"}],
    },
    ("POST", "/api/chat"): {"model": "alpha+tools", "stream": False, "messages": [{"role": "user", "content": "hi"}]},
    ("POST", "/api/show"): {"model": "alpha"},
}


async def tools_of(hub: Team, key: str) -> list[str]:
    async with hub.client(key) as asking:
        return [one["name"] for one in (await call_mcp(asking, "tools/list"))["result"]["tools"]]


async def test_no_route_says_anything_of_what_is_hidden(tmp_path: Path) -> None:
    async with team(tmp_path) as hub:
        async with hub.client(hub.key("admin")) as asking:  # what others did leaves its traces: a run, figures
            await call_mcp(asking, "tools/call", {"name": "zebra__read", "arguments": {}})
            asked = {"model": "omega+tools", "messages": [{"role": "user", "content": "zebra?"}]}
            assert (await asking.post("/v1/chat/completions", json=asked)).status_code == 200
        for role in ("read", "operator", "admin"):
            limited = hub.key(role, servers=("kept",), models=("alpha",))
            async with hub.client(limited) as asking:
                for row in hub.app.endpoints:
                    if row.path.endswith(("events", "/mcp", "/sse")):
                        continue  # streams that do not end; tested below
                    for method in row.methods:
                        if method not in ("GET", "POST"):
                            continue
                        path = row.path.replace("{name}", "kept").replace("{client}", "openai")
                        body = BODIES.get((method, row.path)) if method == "POST" else None
                        if "{" in path or (method == "POST" and body is None):
                            continue
                        answer = await asking.request(method, path, json=body)
                        said = answer.text.replace("zebra?", "")
                        assert "zebra" not in said, (role, method, path)
                        assert "omega" not in said, (role, method, path)


async def test_hidden_servers_and_tools_do_not_exist_on_the_mcp_face(tmp_path: Path) -> None:
    async with team(tmp_path) as hub:
        key = hub.key(servers=("kept",), tools=("kept/read", "plain", "zebra/*"))
        assert await tools_of(hub, key) == ["kept__read", "kept__plain"]
        async with hub.client(key) as asking:
            for name in ("zebra__read", "kept__write", "nothing__there"):
                answer = await call_mcp(asking, "tools/call", {"name": name, "arguments": {}})
                assert answer["result"]["isError"] is True
                assert answer["result"]["content"][0]["text"] == f"Unknown tool: {name}"
            good = await call_mcp(asking, "tools/call", {"name": "kept__read", "arguments": {}})
            assert good["result"]["content"][0]["text"].startswith("kept:read")
            for uri in ("note://zebra", "naru://zebra/note%3A%2F%2Fzebra", "note://nothing"):
                read = await call_mcp(asking, "resources/read", {"uri": uri})
                assert "zebra:" not in str(read), "the one server with resources that is seen is asked, and no other"
            listed = await call_mcp(asking, "resources/list")
            assert [one["name"] for one in listed["result"]["resources"]] == ["kept"]
            prompts = await call_mcp(asking, "prompts/list")
            assert [one["name"] for one in prompts["result"]["prompts"]] == ["kept__ask"]
            assert "zebra" not in str(await call_mcp(asking, "server/discover"))
            there = await call_mcp(asking, "tools/list", path="/servers/zebra/mcp")
            nowhere = await call_mcp(asking, "tools/list", path="/servers/nothing/mcp")
            assert str(there).replace("zebra", "nothing") == str(nowhere)
        assert len(await tools_of(hub, hub.key())) == 8, "who is not limited sees all, also afterwards"


async def test_a_hidden_name_is_answered_like_one_that_does_not_exist_on_every_face(tmp_path: Path) -> None:
    async with team(tmp_path) as hub:
        key = hub.key("admin", servers=("kept",), models=("alpha",))
        talk = {"messages": [{"role": "user", "content": "hi"}]}
        asked: list[tuple[str, str, Any]] = [
            ("GET", "/api/mcp/servers/<s>", None),
            ("GET", "/api/mcp/servers/<s>/tools", None),
            ("GET", "/api/mcp/servers/<s>/logs", None),
            ("POST", "/api/mcp/servers/<s>/connect", {}),
            ("POST", "/api/mcp/servers/<s>/approve", {}),
            ("DELETE", "/api/mcp/servers/<s>", None),
            ("GET", "/api/console/tools/<s>__read", None),
            ("POST", "/api/tools/call", {"name": "<s>__read"}),
            ("POST", "/v1/chat/completions", {"model": "alpha", "mcp_servers": ["<s>"], **talk}),
            ("POST", "/generate_with_mcp", {"jsonrpc": "2.0", "id": 1, "method": "generate", "params": {
                "model": "alpha", "mcp_servers": ["<s>"], **talk}}),
            ("POST", "/v1/chat/completions", {"model": "<m>", **talk}),
            ("POST", "/v1/messages", {"model": "<m>", "max_tokens": 9, **talk}),
            ("POST", "/api/chat", {"model": "<m>", "stream": False, **talk}),
            ("POST", "/api/show", {"model": "<m>"}),
            ("POST", "/v1/responses", {"model": "<m>", "input": "hi"}),
            ("POST", "/v1/embeddings", {"model": "<m>", "input": "hi"}),
            ("POST", "/api/embed", {"model": "<m>", "input": "hi"}),
            ("GET", "/v1/models/<m>", None),
        ]  # fmt: skip
        async with hub.client(key) as asking:
            for method, path, body in asked:
                said = []
                for server, model in (("zebra", "omega"), ("horse", "sigma")):
                    filled = json.dumps(body).replace("<s>", server).replace("<m>", model)
                    sent = None if body is None else json.loads(filled)
                    answer = await asking.request(method, path.replace("<s>", server).replace("<m>", model), json=sent)
                    said.append((answer.status_code, answer.text.replace(server, "it").replace(model, "it")))
                assert said[0][0] == said[1][0], (method, path, said)
                assert "Known" not in said[0][1]
                if "msg_" not in said[0][1] and "req" not in said[0][1]:
                    assert said[0] == said[1], (method, path)
        assert "zebra" in hub.hub.manager.connections, "nothing was removed"


async def test_models_are_listed_and_asked_within_the_limits(tmp_path: Path) -> None:
    async with team(tmp_path, chat={"aliases": {"fast": "omega", "slow": "alpha"}}) as hub:
        async with hub.client(hub.key(models=("al*",))) as asking:
            listed = [one["id"] for one in (await asking.get("/v1/models")).json()["data"]]
            assert {name.removesuffix("+tools").removesuffix("-4o") for name in listed} == {"alpha", "slow"}
            for name, status in (
                ("alpha", 200),
                ("slow", 200),
                ("", 200),
                ("omega", 404),
                ("fast", 404),
                ("quick", 404),
            ):
                asked = {"model": name, "messages": [{"role": "user", "content": "hi"}]}
                answer = await asking.post("/v1/chat/completions", json=asked)
                assert answer.status_code == status, name
                if status == 200:
                    assert answer.json()["choices"][0]["message"]["content"] == "I am alpha."
        async with hub.client(hub.key()) as asking:
            assert "omega" in [one["id"] for one in (await asking.get("/v1/models")).json()["data"]]


async def test_read_only_keys_get_tools_that_say_so_and_do_not_contradict_it(tmp_path: Path) -> None:
    async with team(tmp_path) as hub:
        assert await tools_of(hub, hub.key(read_only=True)) == ["kept__read", "zebra__read"]


@pytest.mark.slow
async def test_a_limited_key_grants_nothing_that_it_has_not(tmp_path: Path) -> None:
    async with team(tmp_path) as hub:
        whole = hub.hub.keys.create("user")[0]
        async with hub.client(hub.key("admin", servers=("kept*",))) as asking:
            assert (await asking.post("/api/keys", json={"role": "user"})).status_code == 403
            assert (await asking.post(f"/api/keys/{whole.id}/rotate")).status_code == 403
            assert (await asking.get("/api/keys")).status_code == 403
            body = {"name": "horse", "config": {"url": "http://127.0.0.1:9/mcp"}, "autoConnect": False}
            assert (await asking.post("/api/mcp/servers", json=body)).status_code == 403
            made = await asking.post("/api/mcp/servers", json={**body, "name": "kept2"})
            assert made.status_code == 201, made.text
            session = await asking.post("/api/session")
            cookie = session.headers["set-cookie"].split(";")[0]
        async with hub.client("", Cookie=cookie) as browser:
            del browser.headers["Authorization"]
            listed = (await browser.get("/api/mcp/servers")).json()
            assert [one["name"] for one in listed] == ["kept", "kept2"], "nor has the session that it opens"


async def test_a_role_of_the_settings_limits_its_keys_and_goes_with_them(tmp_path: Path) -> None:
    roles = {"analyst": {"access": "user", "tools": ["kept/*", "!write"], "read_only": False}}
    async with team(tmp_path, server={"roles": roles}) as hub:
        assert await tools_of(hub, hub.key("analyst")) == ["kept__read", "kept__plain", "kept__lie"]
        assert await tools_of(hub, hub.key("analyst", tools=("read",))) == ["kept__read"], "both must allow"
        key = hub.key("analyst")
    async with team(tmp_path) as hub, hub.client(key) as asking:
        assert (await asking.get("/v1/models")).status_code == 401, "a role that is gone opens nothing"


async def test_requests_of_a_day_are_counted_over_restarts_and_end_in_429(tmp_path: Path) -> None:
    async with team(tmp_path, servers=[declared("kept")]) as hub:
        key = hub.key(requests_per_day=3)
        async with hub.client(key) as asking:
            for _ in range(2):
                assert (await asking.get("/v1/models")).status_code == 200
    async with team(tmp_path, servers=[declared("kept")]) as hub, hub.client(key) as asking:
        assert (await asking.get("/v1/models")).status_code == 200
        refused = await asking.get("/v1/models")
        assert refused.status_code == 429
        assert 0 < int(refused.headers["retry-after"]) <= 86_400
        assert "3 requests of today" in refused.text
        async with hub.client(hub.key()) as other:
            assert (await other.get("/v1/models")).status_code == 200


@pytest.mark.slow
async def test_s19_each_request_of_a_batch_counts(tmp_path: Path) -> None:
    """MCP's older versions put up to a hundred calls into one POST."""
    hello = {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    async with team(tmp_path) as hub, hub.client(hub.key(requests_per_day=6)) as asking:
        begun = await asking.post("/mcp", json={"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello})
        session = {"Mcp-Session-Id": begun.headers["mcp-session-id"]}
        pings = [{"jsonrpc": "2.0", "id": number, "method": "ping"} for number in range(4)]
        notice = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        assert len((await asking.post("/mcp", json=[notice, *pings], headers=session)).json()) == 4
        refused = await asking.post("/mcp", json=pings, headers=session)
        assert refused.status_code == 429
        assert int(refused.headers["retry-after"]) > 0
        assert "than this key may make" in refused.json()["error"]["message"]
    async with team(tmp_path / "chat") as hub, hub.client(hub.key(requests_per_day=3)) as asking:
        ask = {"jsonrpc": "2.0", "method": "generate", "params": {"messages": [{"role": "user", "content": "hi"}]}}
        asked = [{**ask, "id": number} for number in range(2)]
        assert len((await asking.post("/generate", json=asked)).json()) == 2
        assert (await asking.post("/generate", json=asked)).status_code == 429


async def test_tokens_of_a_day_are_counted_by_every_face_and_end_in_429(tmp_path: Path) -> None:
    async with team(tmp_path, servers=[declared("kept")]) as hub:
        key = hub.key("user", tokens_per_day=20)
        talk = {"messages": [{"role": "user", "content": "How many are there? " * 3}]}
        async with hub.client(key) as asking:
            assert (await asking.post("/v1/chat/completions", json={"model": "alpha", **talk})).status_code == 200
            for path, body in (
                ("/v1/chat/completions", {"model": "alpha", **talk}),
                ("/v1/messages", {"model": "alpha", "max_tokens": 5, **talk}),
                ("/v1/responses", {"model": "alpha", "input": "hi"}),
                ("/v1/embeddings", {"model": "alpha", "input": "hi"}),
            ):
                refused = await asking.post(path, json=body)
                assert refused.status_code == 429, path
                assert "20 tokens of today" in refused.text
            assert (await asking.get("/v1/models")).status_code == 200
        async with hub.client(hub.key("admin")) as asking:
            shown = next(one for one in (await asking.get("/api/keys")).json() if one.get("tokensPerDay") == 20)
            assert shown["tokensToday"] >= 20


async def test_a_limit_beyond_all_counting_is_as_good_as_none(tmp_path: Path) -> None:
    async with team(tmp_path) as hub, hub.client(hub.key("admin")) as asking:
        for limit, value in (("requestsPerDay", 10**30), ("tokensPerDay", 10**30), ("rateLimitPerMinute", 10**400)):
            made = await asking.post("/api/keys", json={"role": "user", limit: value})
            async with hub.client(made.json()["key"]) as limited:
                assert (await limited.get("/v1/models")).status_code == 200, limit


async def test_what_is_spent_is_counted_without_holding_up_others_where_another_process_writes(tmp_path: Path) -> None:
    spending = Spending(tmp_path / "spending.db")
    await spending.add_tokens("key_1", 5)
    with closing(sqlite3.connect(tmp_path / "spending.db", isolation_level=None)) as other:
        other.execute("begin immediate")
        paying = asyncio.ensure_future(spending.add_tokens("key_1", 5))
        asking = asyncio.ensure_future(spending.of_soon("key_1"))
        taking = asyncio.ensure_future(spending.take_request("key_1", 1))
        await asyncio.sleep(0.02)
        assert not paying.done()
        assert not taking.done()
        other.execute("commit")
    await paying
    assert await taking is True
    assert await spending.take_request("key_1", 1) is False
    assert (await asking).tokens in (5, 10), "as it was asked before or after"
    assert spending.of("key_1").tokens == 10
    spending.close()


async def test_what_other_hubs_have_counted_holds_up_nobody_while_the_file_is_taken_and_counts_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(small_database, "_BUSY_SECONDS", 60)  # so long waits who waits for it
    spending = Spending(tmp_path / "spending.db")
    await spending.add_tokens("key_1", 5)
    with closing(sqlite3.connect(tmp_path / "spending.db", isolation_level=None)) as other:
        other.execute("begin immediate")
        began = time.monotonic()
        spending.heard({"requests key_1": 3, "tokens key_1": 10, "key key_1": 1})
        spending.give_back("key_1")
        assert time.monotonic() - began < 60
        other.execute("commit")
    assert await spending.take_request("key_1", 3) is True
    assert await spending.of_soon("key_1") == Spent(3, 15)
    spending.heard({"tokens key_1": 1})
    await spending.settle()
    assert spending.of("key_1") == Spent(3, 16)
    spending.close()


async def test_the_tools_of_who_comes_often_are_kept_when_there_are_too_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("naru.hub.MOST_REACHES", 2)
    async with team(tmp_path) as hub:

        def tools_of(server: str) -> object:
            token = current_person.set(Person(server, Reach.of(Bounds(servers=(server,)))))
            try:
                return hub.hub.tools()
            finally:
                current_person.reset(token)

        often = tools_of("often")
        for other in ("b", "c", "d"):
            tools_of(other)
            assert tools_of("often") is often


async def test_sessions_hear_nothing_of_hidden_servers(tmp_path: Path) -> None:
    async with team(tmp_path) as hub:
        heard: dict[str, list[bytes]] = {}
        engine = hub.app.gateway.engine
        for name, reach in (("limited", Reach.of(Bounds(servers=("kept",)))), ("whole", Reach())):
            session = engine.open_session(name, "")
            session.reach, session.initialized = reach, True
            heard[name] = []
            session.attach(lambda frame, to=heard[name]: to.append(bytes(frame)) or True)
        for server in ("zebra", "kept"):
            hub.hub.manager._heard(server, "notifications/message", {"level": "error", "data": f"log of {server}"})
        assert [b"kept" in one for one in heard["limited"]] == [True]
        assert len(heard["whole"]) == 2


async def test_a_session_whose_person_comes_back_with_less_hears_no_more_than_that(tmp_path: Path) -> None:
    async with team(tmp_path) as hub:
        heard: list[bytes] = []
        engine = hub.app.gateway.engine
        session = engine.open_session("issuer#ada", "")
        session.initialized = True
        session.subscriptions = {(name, "", f"note://{name}"): f"note://{name}" for name in ("zebra", "kept")}
        session.attach(lambda frame: heard.append(bytes(frame)) or True)
        token = current_person.set(Person("issuer#ada", Reach.of(Bounds(servers=("kept",)))))
        try:
            assert engine.find_session(session.id, "issuer#ada") is session
        finally:
            current_person.reset(token)
        for server in ("zebra", "kept"):
            hub.hub.manager._heard(server, "notifications/message", {"level": "error", "data": f"log of {server}"})
            hub.hub.manager._heard(server, "notifications/resources/updated", {"uri": f"note://{server}"})
        assert [b"kept" in one for one in heard] == [True, True]


async def test_changes_of_hidden_servers_are_not_streamed(tmp_path: Path) -> None:
    async with team(tmp_path) as hub:
        limited, whole = [], []

        token = current_person.set(Person("x", Reach.of(Bounds(servers=("kept",)))))
        stop = hub.hub.manager.subscribe(limited.append)
        current_person.reset(token)
        hub.hub.manager.subscribe(whole.append)
        await hub.hub.manager.disconnect("zebra")
        await hub.hub.manager.disconnect("kept")
        stop()
        assert {one.server for one in limited} == {"kept"}
        assert {one.server for one in whole} == {"kept", "zebra"}


def test_rotation_keeps_who_it_is_and_the_old_secret_for_the_overlap(tmp_path: Path) -> None:
    keys = KeyFile(tmp_path / "keys.json")
    key, old = keys.create("user", owner="ada", bounds=Bounds(servers=("kept",), requests_per_day=5))
    turned, new = keys.rotate(key.id, overlap_seconds=3600)
    assert (turned.id, turned.owner, turned.bounds) == (key.id, "ada", key.bounds)
    assert [keys.find(one.encode()).id for one in (old, new)] == [key.id, key.id]  # type: ignore[union-attr]
    assert [one.id for one in keys.list()] == [key.id], "it is one key"
    assert old not in keys.path.read_text(encoding="utf-8") + str(turned.shown())
    _, newest = keys.rotate(key.id)
    assert [keys.find(one.encode()) is not None for one in (old, new, newest)] == [False, False, True]
    keys.rotate(key.id, overlap_seconds=0.05)
    time.sleep(0.1)
    assert keys.find(newest.encode()) is None, "the overlap is over"
    keys.revoke(key.id)
    assert keys.list() == []


def test_a_limit_that_this_version_does_not_know_closes_the_file(tmp_path: Path) -> None:
    keys = KeyFile(tmp_path / "keys.json")
    _, secret = keys.create("user", bounds=Bounds(servers=("kept",)))
    keys.path.write_text(keys.path.read_text(encoding="utf-8").replace('"servers"', '"galaxies"'), encoding="utf-8")
    with pytest.raises(Exception, match="cannot be read"):
        KeyFile(keys.path).find(secret.encode())


@pytest.mark.parametrize(
    ("bounds", "seen"),
    [
        (Bounds(), True),
        (Bounds(servers=("h*",)), True),
        (Bounds(servers=()), False),
        (Bounds(servers=("!hr",)), False),
        (Bounds(servers=("!docs",)), True),
        (Bounds(tools=()), False),
        (Bounds(tools=("hr/list_*",)), True),
        (Bounds(tools=("hr__list_*",)), True),
        (Bounds(tools=("list_*",)), True),
        (Bounds(tools=("HR/list_*",)), False),
        (Bounds(tools=("docs/*",)), False),
        (Bounds(tools=("*", "!list_people")), False),
        (Bounds(tools=("hr/*", "!docs/*")), True),
        (Bounds(servers=("docs",), tools=("hr/*",)), False),
        (Bounds(read_only=True), False),
    ],
)
def test_patterns_of_tools(bounds: Bounds, seen: bool) -> None:
    assert bounds.tool("hr", "list_people", {}) is seen
    assert Reach.of(bounds).tool("hr", "list_people", {}) is seen


def test_a_tool_that_calls_itself_like_another_servers_is_not_taken_for_it() -> None:
    bounds = Bounds(tools=("hr__*",))
    assert not bounds.tool("evil", "hr__delete", None)
    assert not bounds.tool("hr__evil", "delete", None)
    assert not bounds.server("evil")


async def test_a_limited_person_registers_only_what_it_sees(tmp_path: Path) -> None:

    async with team(tmp_path, servers=[declared("kept")]) as hub:
        token = current_person.set(Person("x", Reach.of(Bounds(servers=("kept",)))))
        try:
            with pytest.raises(PolicyError, match="may not have a server named 'other'"):
                await hub.hub.manager.register(ServerRecord(name="other", config={"url": "http://127.0.0.1:9/"}))
        finally:
            current_person.reset(token)
