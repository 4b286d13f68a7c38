"""What a person gave for a server is at every hub: sign-ins, renewals, sign-outs, secrets (issue 21)."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest

from naru.connections.oauth.signins import SignIns
from naru.errors import StoreError
from naru.stores.secrets.vault import Vault
from naru.stores.shared.open import common_rows
from naru.stores.shared.sealed import SealedTable
from tests.postgres_servers import PostgresServers
from tests.replicas.inside import hub_at
from tests.team.authority import Provider, say_yes
from tests.team.conftest import Team, call_mcp, declared
from tests.team.test_own_credentials import SIGN_IN
from tests.team.test_sign_in import BACK, upstream
from tests.waiting import HANG_SECONDS, later

pytestmark = pytest.mark.slow


@pytest.fixture
def store(postgres_servers: PostgresServers) -> str:
    return postgres_servers.fresh_database(15)


@asynccontextmanager
async def two_hubs(folder: Path, store: str) -> AsyncIterator[tuple[Provider, list[Any], list[Team]]]:
    """Two hubs, a protected server, one person's client at each, and the authority."""
    async with AsyncExitStack() as stack:
        provider, server = await stack.enter_async_context(upstream())
        servers = [
            {"name": "up", "url": server.url, "transport": "http", "credentials": "per-user"},
            declared("mine", credentials="per-user", env={"NOTED": "${input:NOTED}"}),
        ]
        hubs = [await stack.enter_async_context(hub_at(folder / str(number), store, servers)) for number in range(2)]
        key = hubs[0].key()
        clients = [await stack.enter_async_context(hub.client(key)) for hub in hubs]
        await until(lambda: hubs[1].hub.keys.look_again() or len(hubs[1].hub.keys.list()) == 1)
        yield provider, clients, hubs


async def until(holds: Any) -> None:
    """Wait until something holds; bounded."""
    deadline = time.monotonic() + HANG_SECONDS
    while True:
        found = holds()
        if await found if asyncio.iscoroutine(found) else found:
            return
        assert time.monotonic() < deadline, "it never came"
        await asyncio.sleep(0.02)


async def who(client: Any, tool: str = "up__whoami") -> str:
    """Return whose credentials a call went with; else empty."""
    answer = await call_mcp(client, "tools/call", {"name": tool, "arguments": {}})
    result = answer.get("result", {})
    return "" if result.get("isError") or not result else str(result["content"][0]["text"])


async def sign_in(begins: Any, ends: Any) -> dict[str, Any]:
    """Begin a sign-in at one hub and end it at another."""
    begun = await begins.post(SIGN_IN, json={"redirectUri": BACK})
    assert begun.status_code == 200, begun.text
    answer = await ends.post(f"{SIGN_IN}/answer", json=await say_yes(begun.json()["url"]))
    return {"status": answer.status_code, **answer.json()}


async def test_line1_a_sign_in_that_began_at_one_hub_ends_at_another_and_is_good_at_both(
    tmp_path: Path, store: str
) -> None:
    async with two_hubs(tmp_path, store) as (_, (first, second), _hubs):
        assert await who(second) == ""
        begun = await first.post(SIGN_IN, json={"redirectUri": BACK})
        assert begun.status_code == 200, begun.text
        answer = await say_yes(begun.json()["url"])
        done = await second.post(f"{SIGN_IN}/answer", json=answer)
        assert done.json() == {"server": "up", "connected": True}
        again = await first.post(f"{SIGN_IN}/answer", json=answer)
        assert again.status_code >= 400, "its answer is good once, wherever it is brought"
        assert await who(second) == "ada"
        await until(lambda: is_ada(first))


async def is_ada(client: Any) -> bool:
    return await who(client) == "ada"


async def test_line1_who_signs_out_at_one_hub_is_signed_out_of_all_at_once(tmp_path: Path, store: str) -> None:
    async with two_hubs(tmp_path, store) as (_, (first, second), _hubs):
        await sign_in(first, first)
        await until(lambda: is_ada(second))
        assert (await first.delete(SIGN_IN)).json() == {"revoked": True}
        await until(lambda: is_out(second))
        assert (await second.get(SIGN_IN)).json()["signedIn"] is False


async def is_out(client: Any) -> bool:
    return await who(client) == "" and not (await client.get(SIGN_IN)).json()["signedIn"]


async def test_line1_another_hub_lets_go_of_tokens_of_a_sign_out_even_where_the_authority_still_takes_them(
    tmp_path: Path, store: str
) -> None:
    async with two_hubs(tmp_path, store) as (provider, (first, second), _hubs):
        await sign_in(first, first)
        await until(lambda: is_ada(second))
        still_good = dict(provider.access)
        await first.delete(SIGN_IN)
        provider.access |= still_good
        await until(lambda: is_out(second))


async def test_line1_a_new_sign_in_at_one_hub_takes_the_place_of_the_old_at_all(tmp_path: Path, store: str) -> None:
    async with two_hubs(tmp_path, store) as (provider, (first, second), _hubs):
        await sign_in(first, first)
        await until(lambda: is_ada(second))
        provider.subject = "grace"
        await sign_in(second, second)
        assert await who(second) == "grace"

        async def is_grace() -> bool:
            return await who(first) == "grace"

        await until(is_grace)


async def test_line1_hubs_that_renew_at_once_spend_a_rotating_refresh_token_once(
    tmp_path: Path, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with two_hubs(tmp_path, store) as (provider, (first, second), hubs):
        provider.life = 600
        await sign_in(first, first)
        await until(lambda: is_ada(second))
        later(monkeypatch, 601)
        assert set(await asyncio.gather(*(who(client) for client in (first, second) * 10))) == {"ada"}
        assert provider.refreshed == 1
        kept = [next(iter(hub.hub.manager.signins._signed.values())).tokens for hub in hubs]
        assert kept[0].access_token == kept[1].access_token
        assert kept[0].refresh_token in provider.refresh, "the one that is good now, at both"


async def test_line2_a_secret_that_is_stored_at_one_hub_is_used_and_forgotten_at_all(
    tmp_path: Path, store: str
) -> None:
    async with two_hubs(tmp_path, store) as (_, (first, second), _hubs):
        place = "/api/mcp/servers/mine/secrets/NOTED"
        assert (await first.put(place, json={"value": "red"})).status_code == 204

        async def reads(client: Any, word: str) -> bool:
            return word in await who(client, "mine__read")

        await until(lambda: reads(second, "red"))
        assert (await second.put(place, json={"value": "blue"})).status_code == 204
        await until(lambda: reads(first, "blue"))
        assert (await first.delete(place)).status_code == 204

        async def is_forgotten() -> bool:
            return await who(second, "mine__read") == ""

        await until(is_forgotten)


async def test_what_was_changed_while_a_hub_was_away_is_followed_when_it_comes_back(tmp_path: Path, store: str) -> None:
    async with upstream() as (_, server):
        servers = [{"name": "up", "url": server.url, "transport": "http", "credentials": "per-user"}]
        async with hub_at(tmp_path / "a", store, servers) as first:
            key = first.key()
            async with (
                hub_at(tmp_path / "b", store, servers) as second,
                first.client(key) as asking,
                second.client(key) as other,
            ):
                await sign_in(asking, asking)
                await until(lambda: is_ada(other))
            async with first.client(key) as asking:
                await asking.delete(SIGN_IN)
            async with hub_at(tmp_path / "b", store, servers) as second, second.client(key) as other:
                assert await who(other) == "", "what is stale in its folder is not brought back"
                assert (await other.get(SIGN_IN)).json()["signedIn"] is False


def rows_of(folder: Path) -> set[str]:
    with closing(sqlite3.connect(folder / "vault.db")) as file:
        return {row[0] for row in file.execute("select person from sealed where kind = 'tokens'")}


async def test_what_one_hub_was_given_before_there_were_others_is_brought_to_all(tmp_path: Path, store: str) -> None:
    async with upstream() as (_, server):
        servers = [{"name": "up", "url": server.url, "transport": "http", "credentials": "per-user"}]
        alone = Vault(tmp_path / "a")
        alone.write("ada", "up", "tokens", {"is": "hers"})
        alone.close()
        stranger = Vault(tmp_path / "b")
        stranger.write("eve", "up", "tokens", {"is": "sealed with a key of her own"})
        stranger.close()
        async with hub_at(tmp_path / "a", store, servers), hub_at(tmp_path / "b", store, servers) as second:
            vault = second.hub.manager.signins.vault
            assert vault.read("ada", "up", "tokens") == {"is": "hers"}
            assert vault.read("eve", "up", "tokens") is None
            assert rows_of(tmp_path / "b") == {"ada"}
        with closing(sqlite3.connect(tmp_path / "b" / "vault.db.bak")) as file:
            assert file.execute("select person from sealed").fetchall() == [("eve",)], "and nothing of it is lost"


async def test_s46_what_the_database_holds_opens_with_the_key_alone_which_may_stay_out_of_it(
    tmp_path: Path, store: str
) -> None:
    async with upstream() as (_, server):
        servers = [{"name": "up", "url": server.url, "transport": "http", "credentials": "per-user"}]
        key = {"vault_key": "k" * 40}
        async with hub_at(tmp_path / "a", store, servers, **key) as first, first.client(first.key()) as asking:
            await sign_in(asking, asking)
            table = SealedTable(store, "")
            held = [row for row in table.all() if row.place[2] == "tokens"]
            table.close()
            assert len(held) == 1
            assert b"access_token" not in held[0].value
            assert not (tmp_path / "a" / "vault.key").exists()
        other = Vault(tmp_path / "c", "another key of forty characters, at least", common_rows(first.hub.settings.hub))
        other.join()
        with pytest.raises(StoreError, match="key is another"):
            other.read(*held[0].place)
        other.close()


def test_r22_a_vault_whose_database_is_away_is_read_and_refuses_changes(tmp_path: Path, store: str) -> None:
    table = SealedTable(store.replace(store.rsplit("/", 1)[1], "not_there"), "")
    alone = Vault(tmp_path)
    alone.write("ada", "up", "tokens", {"is": "hers"})
    alone.close()
    away = Vault(tmp_path, common=table)
    assert away.read("ada", "up", "tokens") == {"is": "hers"}
    with pytest.raises(StoreError, match="cannot be kept"):
        away.write("ada", "up", "tokens", {"is": "another"})
    assert away.read("ada", "up", "tokens") == {"is": "hers"}
    away.close()


@pytest.mark.parametrize("where", ["one folder", "one database"])
def test_line1_a_lease_is_one_process_s_alone_and_free_once_that_lets_go(
    where: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if where == "one folder":
        vaults = [Vault(tmp_path), Vault(tmp_path)]
    else:
        url = request.getfixturevalue("store")
        vaults = [Vault(tmp_path / name, common=SealedTable(url, name)) for name in "ab"]
    first, second = (vault.lease("sign-in/up/ada") for vault in vaults)
    again = vaults[0].lease("sign-in/up/ada")
    assert first.take()
    assert not second.take()
    assert not again.take(), "nor another task's of the same process"
    first.end()
    assert second.take()
    vaults[1].close()
    if where == "one database":
        assert again.take(), "who goes away lets go"
    for vault in vaults:
        vault.close()


def test_sign_ins_that_were_kept_before_they_had_a_name_still_open(tmp_path: Path) -> None:
    kept = json.loads(
        '{"url":"http://u/mcp","resource":"","issuer":"i","token_endpoint":"t","revocation_endpoint":"","client":'
        '{"client_id":"c","client_secret":"","method":"none","issuer":"i","redirect_uris":[],"expires_at":0,"scope":""},'
        '"access_token":"a","refresh_token":"r","scope":"","life":0.0,"expires_at":0.0}'
    )
    vault = Vault(tmp_path)
    vault.write("ada", "up", "tokens", kept)
    assert SignIns(vault).is_signed_in("ada", "up", "http://u/mcp")
