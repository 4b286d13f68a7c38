"""Whose credentials go upstream: issue 21 line 2, S-14, S-18, S-30, S-66, N20."""

from __future__ import annotations

import asyncio
import gc
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from naru.connections import personal
from naru.connections.credentials import forget_secret, secret_names, store_secret
from naru.connections.oauth.signins import TOKENS
from naru.errors import ConflictError
from naru.messages import JsonObject
from naru.records import ServerRecord
from naru.stores.secrets.redact import REDACTOR
from naru.stores.secrets.vault import Vault
from tests.team.authority import say_yes
from tests.team.conftest import Team, call_mcp, declared, team
from tests.team.test_sign_in import BACK, upstream
from tests.waiting import until

pytestmark = pytest.mark.slow

PERSONS = ("ada", "bob", "eve")
SIGN_IN = "/api/mcp/servers/up/sign-in"


def own(name: str = "mine", **config: Any) -> JsonObject:
    """Return a program's entry that wants a person's own NOTED."""
    return declared(name, credentials="per-user", env={"NOTED": "${input:NOTED}"}, **config)


async def noted(hub: Team, value: str, name: str = "mine") -> str:
    """Make a key and store its own NOTED; return it."""
    key = hub.key()
    async with hub.client(key) as asking:
        stored = await asking.put(f"/api/mcp/servers/{name}/secrets/NOTED", json={"value": value})
        assert stored.status_code == 204, stored.text
    return key


async def said(hub: Team, key: str, tool: str = "mine__read", **headers: str) -> str:
    async with hub.client(key, **headers) as asking:
        answer = await call_mcp(asking, "tools/call", {"name": tool, "arguments": {}})
    return str(answer["result"]["content"][0]["text"])


async def names(hub: Team, key: str) -> list[str]:
    async with hub.client(key) as asking:
        return [one["name"] for one in (await call_mcp(asking, "tools/list"))["result"]["tools"]]


async def test_each_person_has_a_process_a_list_and_answers_of_their_own(tmp_path: Path) -> None:
    async with team(tmp_path, servers=[own(), declared("kept")], waits=False) as hub:
        keys = {who: await noted(hub, who) for who in PERSONS}
        pids = set()
        for _ in range(2):
            for who, key in keys.items():
                _, tool, mark, pid = (await said(hub, key)).split(":")
                assert (tool, mark) == ("read", who)
                pids.add((who, pid))
        assert len(pids) == 3, "a process each, and it is kept"
        for who, key in keys.items():
            offered = await names(hub, key)
            assert f"mine__only_{who}" in offered
            assert not [one for one in offered if "only_" in one and who not in one]
            async with hub.client(key) as asking:
                shown = (await asking.get("/api/console/tools?server=mine")).text
                assert f"only_{who}" in shown
                assert not any(f"only_{other}" in shown for other in PERSONS if other != who)
                read = await call_mcp(asking, "resources/read", {"uri": "note://mine"})
                assert read["result"]["contents"][0]["text"] == f"mine:{who}"
                shown = (await asking.get("/api/mcp/servers/mine")).text
                assert not any(f"only_{other}" in shown for other in PERSONS if other != who)
        shared = {await said(hub, key, "kept__read") for key in keys.values()}
        assert len(shared) == 1, "a server that is everybody's has one process"


async def test_who_gave_nothing_is_told_what_to_give_and_hinders_nobody(tmp_path: Path) -> None:
    async with team(tmp_path, servers=[own(), declared("kept")], waits=False) as hub:
        ada = await noted(hub, "ada")
        bob = hub.key()
        assert (await said(hub, ada)).startswith("mine:read:ada")
        assert not [one for one in await names(hub, bob) if one.startswith("mine")]
        told = await said(hub, bob)
        assert "NOTED" in told
        assert "naru servers secret set mine" in (await explained(hub, bob))
        assert (await said(hub, bob, "kept__read")).startswith("kept")
        async with hub.client(bob) as asking:
            assert (await asking.get("/api/mcp/servers/mine/secrets")).json() == {"names": []}
        async with hub.client(ada) as asking:
            assert (await asking.get("/api/mcp/servers/mine/secrets")).json() == {"names": ["NOTED"]}
            assert (await asking.delete("/api/mcp/servers/mine/secrets/NOTED")).status_code == 204
        assert "NOTED" in await said(hub, ada)


async def test_a_secret_that_a_server_does_not_use_leaves_its_link_alone(tmp_path: Path) -> None:
    async with team(tmp_path, servers=[own()], waits=False) as hub:
        key = await noted(hub, "ada")
        before = await said(hub, key)
        other = "/api/mcp/servers/mine/secrets/OTHER"
        async with hub.client(key) as asking:
            assert (await asking.put(other, json={"value": "eve-1"})).status_code == 204
            assert await said(hub, key) == before, "the same process"
            assert (await asking.delete(other)).status_code == 204
        assert await said(hub, key) == before
        async with hub.client(key) as asking:
            await asking.put("/api/mcp/servers/mine/secrets/NOTED", json={"value": "eve"})
        assert ":eve:" in await said(hub, key)


async def test_a_secret_connects_no_server_that_somebody_disconnected(tmp_path: Path) -> None:
    async with team(tmp_path, servers=[declared("kept")]) as hub, hub.client(hub.key("operator")) as asking:
        one = "/api/mcp/servers/kept"
        assert (await asking.post(f"{one}/disconnect")).json()["status"] == "DISCONNECTED"
        for changed in (
            await asking.put(f"{one}/secrets/A", json={"value": "a"}),
            await asking.delete(f"{one}/secrets/A"),
        ):
            assert changed.status_code == 204
            assert (await asking.get(one)).json()["status"] == "DISCONNECTED"


async def test_r27_secrets_that_are_stored_at_once_by_several_processes_are_all_kept(tmp_path: Path) -> None:
    record = ServerRecord(name="mine", config={"url": "http://h/"})
    vaults = [Vault(tmp_path) for _ in range(2)]
    names = [f"N{number}" for number in range(10)]
    stored = (store_secret(vaults[at % 2], "ada", record, name, "value") for at, name in enumerate(names))
    await asyncio.gather(*stored)
    for vault in vaults:
        assert secret_names(vault, "ada", record) == names
        vault.close()


async def test_s19_one_person_stores_so_many_secrets_and_can_go_on_with_those(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("naru.connections.credentials.MOST_SECRETS", 2)
    vault, record = Vault(tmp_path), ServerRecord(name="mine", config={"command": "x", "credentials": "per-user"})
    for name in ("A_TOKEN", "B_TOKEN", "A_TOKEN"):
        await store_secret(vault, "ada", record, name, "value")
    with pytest.raises(ConflictError, match="2 secrets are stored"):
        await store_secret(vault, "ada", record, "C_TOKEN", "value")
    await forget_secret(vault, "ada", record, "A_TOKEN")
    await store_secret(vault, "ada", record, "C_TOKEN", "value")
    assert secret_names(vault, "ada", record) == ["B_TOKEN", "C_TOKEN"]
    vault.close()


async def test_a_running_hub_follows_what_a_command_that_found_no_hub_changed(tmp_path: Path) -> None:
    async with upstream() as (provider, server):
        entry = {"name": "up", "url": server.url, "transport": "http", "credentials": "per-user"}
        async with team(tmp_path, servers=[entry, own()], waits=False) as hub:
            key = await noted(hub, "ada")
            async with hub.client(key) as asking:
                begun = await asking.post(SIGN_IN, json={"redirectUri": BACK})
                await asking.post(f"{SIGN_IN}/answer", json=await say_yes(begun.json()["url"]))
            assert await said(hub, key, "up__whoami") == "ada"
            _, _, mark, pid = (await said(hub, key)).split(":")
            assert mark == "ada"
            person = hub.hub.keys.list()[-1].id
            command = Vault(tmp_path)
            command.delete(person, "up", TOKENS)  # and an authority that revokes nothing

            await eventually(hub, key, "up__whoami", lambda text: text != "ada")
            assert provider.access, "they are good as ever, and not used"
            assert (await said(hub, key)).endswith(f":{pid}"), "what was not changed is left alone"
            await store_secret(command, person, hub.hub.manager.connection("mine").record, "NOTED", "eve")
            await eventually(hub, key, "mine__read", lambda text: ":eve:" in text)
            command.close()


async def eventually(hub: Team, key: str, tool: str, is_said: Callable[[str], bool]) -> None:
    """Ask again and again until a tool says so; bounded."""
    async with asyncio.timeout(60), hub.client(key) as asking:
        while True:
            answer = await call_mcp(asking, "tools/call", {"name": tool, "arguments": {}})
            if is_said(answer.get("result", {}).get("content", [{"text": ""}])[0]["text"]):
                return
            await asyncio.sleep(0.05)


async def explained(hub: Team, key: str) -> str:
    async with hub.client(key) as asking:
        return (await asking.get("/api/mcp/servers/mine/explanation")).text


async def test_the_hubs_own_secrets_are_nobodys_in_particular(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOTED_TOKEN", "of-the-hub")
    monkeypatch.setenv("NARU_INPUT_NOTED", "of-the-hub")
    entry = declared("mine", credentials="per-user", env={"NOTED": "${NOTED_TOKEN}"})
    async with team(tmp_path, servers=[entry, own("other")], waits=False) as hub:
        key = hub.key()
        assert "of-the-hub" not in await said(hub, key) + await said(hub, key, "other__read")


async def test_signed_in_persons_never_share_a_token(tmp_path: Path) -> None:
    async with upstream() as (provider, server):
        entry = {"name": "up", "url": server.url, "transport": "http", "credentials": "per-user"}
        async with team(tmp_path, servers=[entry], waits=False) as hub:
            keys = {who: hub.key() for who in PERSONS}
            for who, key in keys.items():
                provider.subject = who
                async with hub.client(key) as asking:
                    begun = await asking.post(SIGN_IN, json={"redirectUri": BACK})
                    done = await asking.post(f"{SIGN_IN}/answer", json=await say_yes(begun.json()["url"]))
                    assert done.json()["connected"] is True
            for _ in range(3):
                found = await asyncio.gather(*(said(hub, key, "up__whoami") for key in keys.values()))
                assert list(found) == list(PERSONS)
            for who, key in keys.items():
                assert f"up__only_{who}" in await names(hub, key)
            nobody = hub.key("admin")
            assert "up__whoami" not in await names(hub, nobody), "an admin has no more than others"
            async with hub.client(keys["ada"]) as asking:
                assert (await asking.delete(SIGN_IN)).status_code == 200
            assert await said(hub, keys["ada"], "up__whoami") != "ada"
            assert await said(hub, keys["bob"], "up__whoami") == "bob"


async def test_named_headers_go_to_their_server_alone_and_never_narus_own(tmp_path: Path) -> None:
    async with upstream() as (_, one), upstream() as (_, other):
        forwards = {"X-Upstream-Authorization": "Authorization", "X-Tenant": "X-Tenant"}
        entries = [
            {"name": "one", "url": one.url, "transport": "http", "credentials": "forward", "forwardHeaders": forwards},
            {"name": "other", "url": other.url, "transport": "http"},
        ]
        async with team(tmp_path, servers=entries, waits=False) as hub:
            key = hub.key()
            for who in ("ada", "bob"):
                one.provider.subject = who
                headers = {"X-Upstream-Authorization": f"Bearer of-{who}", "X-Tenant": who, "X-Other": "no"}
                await said(hub, key, "one__whoami", **headers)
            sent = [{name.lower(): value for name, value in got.items()} for got in one.headers]
            assert {got.get("authorization") for got in sent} == {"Bearer of-ada", "Bearer of-bob"}
            assert {got["x-tenant"] for got in sent} == {"ada", "bob"}
            assert all(got["authorization"] == f"Bearer of-{got['x-tenant']}" for got in sent), (
                "of one request together"
            )
            assert key not in str(one.headers) + str(other.headers)
            assert "x-other" not in str(sent)
            assert "of-ada" not in str(other.headers)
            assert "of-ada" not in REDACTOR.clean("refused: of-ada"), "no line of the hub's own may show it"
        # Or each token of each person would make every line slower, for as long as the hub runs.
        await until(lambda: gc.collect() >= 0 and "of-ada" in REDACTOR.clean("refused: of-ada"))


@pytest.mark.parametrize("header", ["Authorization", "x-api-key", "Cookie", "Host"])
def test_narus_own_headers_cannot_be_forwarded(header: str) -> None:
    with pytest.raises(ValueError, match="forwardHeaders"):
        ServerRecord(
            name="x", config={"url": "http://h/", "credentials": "forward", "forwardHeaders": {header: "X-Theirs"}}
        )


def test_forwarding_needs_an_address_and_names() -> None:
    for config in (
        {"command": "x", "credentials": "forward", "forwardHeaders": ["X-A"]},
        {"url": "http://h/", "credentials": "forward"},
        {"url": "http://h/", "forwardHeaders": ["X-A"]},
        {"url": "http://h/", "credentials": "theirs"},
    ):
        with pytest.raises(ValueError, match=r"forwardHeaders|credentials"):
            ServerRecord(name="x", config=config)


async def test_processes_of_persons_are_few_and_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(personal, "MOST_PROCESSES", 2)
    async with team(tmp_path, servers=[own(idleStopMs=300)], waits=False) as hub:
        keys = [await noted(hub, who) for who in ("ada", "bob")]
        first = [(await said(hub, key)).split(":")[3] for key in keys]
        for _ in range(600):
            if not any(os.path.exists(f"/proc/{pid}") for pid in first):
                break
            await asyncio.sleep(0.1)
        assert not any(os.path.exists(f"/proc/{pid}") for pid in first), "unused for a while, they are ended"
        third = await noted(hub, "eve")
        assert (await said(hub, third)).startswith("mine:read:eve")
        assert (await said(hub, keys[1])).startswith("mine:read:bob")


async def test_the_longest_unused_process_gives_way_to_another_person(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(personal, "MOST_PROCESSES", 2)
    async with team(tmp_path, servers=[own()], waits=False) as hub:
        keys = {who: await noted(hub, who) for who in PERSONS}
        for _ in range(2):
            for who, key in keys.items():
                assert (await said(hub, key)).startswith(f"mine:read:{who}")


async def test_a_secret_is_void_when_the_server_becomes_another(tmp_path: Path) -> None:
    async with team(tmp_path, servers=[own()], waits=False) as hub:
        key = await noted(hub, "ada")
        assert (await said(hub, key)).startswith("mine:read:ada")
        record = await hub.hub.manager.find_server("mine")
        assert record is not None
        config = {**record.config, "args": [record.config["args"][0], "thief"]}
        await hub.hub.manager.update(record.model_copy(update={"config": config, "updated_at": record.updated_at + 1}))
        assert "thief:read:ada" not in await said(hub, key)


async def test_twenty_persons_mixed_get_no_foreign_answer(tmp_path: Path) -> None:
    """A small number here; `bench/persons.py` makes a million."""
    async with upstream() as (provider, server):
        entry = {"name": "up", "url": server.url, "transport": "http", "credentials": "per-user"}
        async with team(tmp_path, servers=[entry], waits=False) as hub:
            keys = {}
            for number in range(20):
                who = f"p{number:02}"
                provider.subject, keys[who] = who, hub.key()
                async with hub.client(keys[who]) as asking:
                    begun = await asking.post(SIGN_IN, json={"redirectUri": BACK})
                    await asking.post(f"{SIGN_IN}/answer", json=await say_yes(begun.json()["url"]))

            async def ask(who: str) -> bool:
                return await said(hub, keys[who], "up__whoami") == who

            asked = [who for _ in range(10) for who in keys]
            assert all(await asyncio.gather(*(ask(who) for who in asked)))
