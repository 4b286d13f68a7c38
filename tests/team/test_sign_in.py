"""Signing in at an upstream server's authority: issue 21 line 1, S-32, R-11. The authority is the official SDK's."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from mcp.server.auth.provider import TokenError
from yarl import URL

from naru.connections.credentials import secret_names, store_secret
from naru.connections.manager import Manager
from naru.connections.oauth import signins
from naru.connections.oauth.signins import SignIns, Wish
from naru.connections.state.faults import LinkError
from naru.errors import NotFoundError, StoreError
from naru.records import ServerRecord, ServerStatus
from naru.stores.secrets.vault import SHARED, Vault
from tests.connections.conftest import QUICK, http, managed
from tests.team.authority import Protected, Provider, protected, say_yes, sdk_authority
from tests.team.conftest import call_mcp, team
from tests.waiting import later, until

pytestmark = pytest.mark.slow

BACK = "http://127.0.0.1:9/oauth/callback"


@asynccontextmanager
async def upstream() -> AsyncIterator[tuple[Provider, Protected]]:
    async with sdk_authority() as (provider, issuer), protected(provider, issuer) as server:
        yield provider, server


def wish(record: ServerRecord, owner: str = "", asker: str = "ada") -> Wish:
    return Wish(record.name, record.config, owner, asker, BACK, by_browser=False)


async def sign_in(manager: Manager, record: ServerRecord, owner: str = "") -> None:
    begun = await manager.signins.begin(wish(record, owner))
    await manager.signins.finish(await say_yes(begun.url), asker="ada")


async def called(manager: Manager, tool: str = "whoami") -> str:
    return (await manager.call_tool("up", tool, {})).text


async def test_a_server_that_wants_a_person_says_so_and_works_once_one_is_signed_in() -> None:
    async with upstream() as (provider, server), managed() as manager:
        record = http("up", server.url)
        await manager.register(record)
        assert not await manager.connect("up")
        assert manager.get_status("up") is ServerStatus.NEEDS_AUTH
        assert "naru servers login" in manager.explain("up").remedy
        begun = await manager.signins.begin(wish(record))
        asked = dict(part.split("=", 1) for part in begun.url.split("?", 1)[1].split("&"))
        assert asked["code_challenge_method"] == "S256"
        assert asked["scope"] == "read", "what the challenge names, and no more"
        assert "resource" in asked
        await manager.signins.finish(await say_yes(begun.url), asker="ada")
        assert await manager.signed("up", "")
        assert await called(manager) == "ada"
        granted = next(iter(provider.access.values()))
        assert (granted.resource, granted.scopes) == (server.url, ["read"])


async def test_more_rights_are_asked_for_when_a_call_needs_them_and_the_link_stays() -> None:
    async with upstream() as (provider, server), managed() as manager:
        record = http("up", server.url)
        await manager.register(record)
        await sign_in(manager, record)
        assert await manager.signed("up", "")
        with pytest.raises(Exception, match="more rights") as told:
            await called(manager, "write")
        assert "naru servers login" in told.value.remedy  # type: ignore[attr-defined]
        assert await called(manager) == "ada", "other calls go on"
        await sign_in(manager, record)
        await manager.signed("up", "")
        assert sorted(list(provider.access.values())[-1].scopes) == ["read", "write"], "those before stay"
        assert await called(manager, "write") == "ada"


async def test_tokens_are_renewed_ahead_of_time_once_for_all_who_wait_and_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    async with upstream() as (provider, server), managed() as manager:
        record = http("up", server.url)
        await manager.register(record)
        provider.life = 600
        await sign_in(manager, record)
        assert await manager.signed("up", "")
        later(monkeypatch, 590)
        assert set(await asyncio.gather(*(called(manager) for _ in range(20)))) == {"ada"}
        assert provider.refreshed == 1
        kept = manager.signins.vault.read("", "up", "tokens")
        assert kept is not None
        assert kept["refresh_token"] in provider.refresh, "the one that is good now"


async def test_who_waits_for_a_renewal_when_somebody_signs_out_gets_an_error_and_is_not_cut_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with upstream() as (provider, server), managed() as manager:
        record = http("up", server.url)
        await manager.register(record)
        provider.life = 600
        await sign_in(manager, record)
        assert await manager.signed("up", "")
        later(monkeypatch, 601)
        asked, go_on = asyncio.Event(), asyncio.Event()

        async def slowly(client: Any, refresh_token: str) -> Any:
            asked.set()
            await go_on.wait()
            return provider.refresh.get(refresh_token)

        provider.load_refresh_token = slowly  # type: ignore[method-assign]
        calling = asyncio.gather(*(called(manager) for _ in range(3)), return_exceptions=True)
        await asked.wait()
        out = asyncio.create_task(manager.signins.sign_out("", "up"))
        said = await calling
        go_on.set()
        await out
        assert [type(one).__name__ for one in said] == ["ToolError"] * 3, said
        assert "sign-in was changed" in str(said[0])
        assert provider.refreshed == 1
        assert not provider.refresh, "what came of it is revoked, too"


async def test_renewed_tokens_that_cannot_be_kept_are_used_and_kept_later(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with upstream() as (provider, server), managed() as manager:
        record = http("up", server.url)
        await manager.register(record)
        await sign_in(manager, record)
        vault, is_full = manager.signins.vault, True
        write = vault.write

        def full(*place_and_value: Any) -> None:
            if is_full:
                raise StoreError("the disk is full")
            write(*place_and_value)

        monkeypatch.setattr(vault, "write", full)
        monkeypatch.setattr(signins, "_AGAIN_SECONDS", 0.02)
        assert await manager.signed("up", "")
        for renewed in (1, 2):
            provider.access.clear()
            manager.signins.source("", "up", server.url)._renewed_at = -1e9  # type: ignore[union-attr]
            assert await called(manager) == "ada"
            assert provider.refreshed == renewed
            assert not await manager.signins.look_again("", "up"), "the older ones of the vault are not taken up"
            assert await called(manager) == "ada"
        assert [record.levelname for record in caplog.records if "in memory alone" in record.getMessage()] == ["ERROR"]
        is_full = False
        await until(lambda: vault.read("", "up", "tokens")["refresh_token"] in provider.refresh)  # type: ignore[index]


async def test_a_link_that_is_opened_while_somebody_signs_out_keeps_nobody_signed_in() -> None:
    async with upstream() as (_, server), managed() as manager:
        record = http("up", server.url)
        await manager.register(record)
        await sign_in(manager, record)
        assert await manager.signed("up", "")
        elsewhere = manager.signins.vault.lease("sign-in/up/")  # as another process that renews the token
        assert elsewhere.take()
        out = asyncio.create_task(manager.signins.sign_out("", "up"))
        await until(lambda: not manager.signins._signed)
        assert await manager.signed("up", ""), "it is the last moment before"
        elsewhere.end()
        await out
        assert manager.signins.source("", "up", server.url) is None


async def test_a_refused_token_is_renewed_once_and_then_the_person_is_asked_for() -> None:
    async with upstream() as (provider, server), managed() as manager:
        record = http("up", server.url)
        await manager.register(record)
        await sign_in(manager, record)
        assert await manager.signed("up", "")
        provider.access.clear()
        assert await called(manager) == "ada"
        assert provider.refreshed == 1
        provider.access.clear()
        provider.refresh.clear()
        manager.signins.source("", "up", server.url)._renewed_at = -1e9  # type: ignore[union-attr]
        with pytest.raises(Exception, match="up"):
            await called(manager)
        before = len(server.headers)
        for _ in range(5):
            with pytest.raises(Exception, match="up"):
                await called(manager)
        assert len(server.headers) - before <= 2, "no storm"
        assert manager.get_status("up") is ServerStatus.NEEDS_AUTH


@pytest.mark.parametrize(
    ("code", "is_gone"),
    [("invalid_grant", True), ("invalid_client", True), ("invalid_request", False), ("invalid_scope", False)],
)
async def test_a_sign_in_is_forgotten_only_where_its_authority_says_that_it_is_void(
    code: Any, is_gone: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """RFC 6749, 5.2: all others say that this one request was not taken."""

    async def refuse(*_: object) -> Any:
        raise TokenError(code)

    async with upstream() as (provider, server), managed() as manager:
        record = http("up", server.url)
        await manager.register(record)
        await sign_in(manager, record)
        assert await manager.signed("up", "")
        takes = provider.exchange_refresh_token
        monkeypatch.setattr(provider, "exchange_refresh_token", refuse)
        source = manager.signins.source("", "up", server.url)
        assert source is not None
        with pytest.raises(LinkError, match=code) as told:
            await source.instead_of(source.tokens.access_token)
        assert manager.signins.is_signed_in("", "up", server.url) is not is_gone
        assert ("The sign-in is kept" in str(told.value)) is not is_gone
        if not is_gone:
            monkeypatch.setattr(provider, "exchange_refresh_token", takes)
            assert await source.instead_of(source.tokens.access_token)


async def test_signing_out_revokes_and_forgets() -> None:
    async with upstream() as (provider, server), managed() as manager:
        record = http("up", server.url)
        await manager.register(record)
        await sign_in(manager, record)
        assert await manager.signins.sign_out("", "up") == ""
        assert len(provider.revoked) == 2
        assert not provider.access
        assert not manager.signins.is_signed_in("", "up", server.url)
        assert not await manager.signed("up", "")
        with pytest.raises(NotFoundError):
            await manager.signins.sign_out("", "up")


async def test_an_answer_is_taken_once_and_from_who_began(tmp_path: Path) -> None:
    async with upstream() as (_, server):
        signins = SignIns(Vault(tmp_path))
        record = http("up", server.url)
        begun = await signins.begin(wish(record))
        answer = await say_yes(begun.url)
        with pytest.raises(LinkError, match="somebody else"):
            await signins.finish(answer, asker="eve")
        with pytest.raises(LinkError, match="not waited for"):
            await signins.finish(answer, asker="ada")  # burnt by the attempt
        begun = await signins.begin(wish(record))
        answer = await say_yes(begun.url)
        await signins.finish(answer, asker="ada")
        with pytest.raises(LinkError, match="not waited for"):
            await signins.finish(answer, asker="ada")
        for forged in ({}, {"state": ""}, {"state": "x" * 43, "code": answer["code"]}):
            with pytest.raises(LinkError, match="not waited for"):
                await signins.finish(forged, asker="ada")
        await signins.close()


async def test_another_process_of_the_folder_can_finish_and_use_what_was_begun(tmp_path: Path) -> None:
    async with upstream() as (_, server):
        record = http("up", server.url)
        one, other = SignIns(Vault(tmp_path)), SignIns(Vault(tmp_path))
        begun = await one.begin(wish(record))
        await other.finish(await say_yes(begun.url), asker="ada")
        assert one.is_signed_in("", "up", server.url)
        await one.close()
        await other.close()


async def test_tokens_are_sealed_and_open_only_as_what_they_were_kept_as(tmp_path: Path) -> None:
    async with upstream() as (provider, server):
        signins = SignIns(Vault(tmp_path))
        record = http("up", server.url)
        begun = await signins.begin(wish(record, owner="ada"))
        await signins.finish(await say_yes(begun.url), asker="ada")
        await signins.close()
        everything = b"".join(one.read_bytes() for one in tmp_path.iterdir())
        for secret in (*provider.access, *provider.refresh):
            assert secret.encode() not in everything
        assert {
            one.stat().st_mode & 0o077 for one in tmp_path.iterdir() if not one.name.endswith(("-wal", "-shm"))
        } == {0}
        vault = Vault(tmp_path)
        vault._file.run("update sealed set person = ? where kind = 'tokens'", ("eve",))
        with pytest.raises(StoreError, match="cannot be opened"):
            vault.read("eve", "up", "tokens")
        vault.close()
        (tmp_path / "vault.key").unlink()
        with pytest.raises(StoreError, match="sealed with it") as told:
            Vault(tmp_path).write("eve", "up", "tokens", {})
        assert "move that file away" in told.value.remedy
    (tmp_path / "vault.db").rename(tmp_path / "aside")
    anew = Vault(tmp_path)
    anew.write("eve", "up", "tokens", {"as": "told"})
    assert anew.read("eve", "up", "tokens") == {"as": "told"}
    anew.close()


async def test_what_another_key_has_sealed_is_told_and_can_be_given_anew(tmp_path: Path) -> None:
    async with upstream() as (_, server):
        signed, keyed = http("up", server.url), http("keyed", "http://127.0.0.1:9/", headers={"X-Key": "${input:KEY}"})
        async with managed(replace(QUICK, kept_in=tmp_path)) as manager:
            await sign_in(manager, signed)
            await store_secret(manager.signins.vault, SHARED, keyed, "KEY", "value")
        (tmp_path / "vault.key").write_text("0" * 64, encoding="ascii")
        async with managed(replace(QUICK, kept_in=tmp_path)) as manager:
            for record in (signed, keyed):
                await manager.register(record)
                assert not await manager.connect(record.name)
                told = manager.explain(record.name)
                assert "the key is another" in told.summary
                assert "hub.vault_key" in told.remedy
            await sign_in(manager, signed)
            assert await manager.signed("up", SHARED)
            assert await called(manager) == "ada"
            vault = manager.signins.vault
            assert secret_names(vault, SHARED, keyed) == []
            await store_secret(vault, SHARED, keyed, "KEY", "value")
            await manager.signed("keyed", SHARED)
            assert "no connection to" in manager.explain("keyed").summary, "it is dialled now"


async def test_tokens_do_not_go_where_a_changed_record_points() -> None:
    async with upstream() as (_, server), managed() as manager:
        record = http("up", server.url)
        await manager.register(record)
        await sign_in(manager, record)
        async with upstream() as (_, thief):
            moved = record.model_copy(update={"config": {"url": thief.url}, "updated_at": record.updated_at + 1})
            await manager.update(moved)
            assert not await manager.connect("up")
            assert all("Authorization" not in one for one in thief.headers)


async def test_the_console_and_a_program_sign_in_over_http(tmp_path: Path) -> None:
    async with upstream() as (provider, server):
        entry = {"name": "up", "url": server.url, "transport": "http"}
        opened = team(tmp_path, servers=[entry], waits=False)
        async with opened as hub:
            admin, user = hub.key("operator"), hub.key("user")
            path = "/api/mcp/servers/up/sign-in"
            async with hub.client(user) as asking:
                assert (await asking.post(path)).status_code == 403, "the credentials are everybody's"
            async with hub.client(admin) as asking:
                begun = await asking.post(path)
                assert begun.status_code == 200, begun.text
                cookie = begun.headers["set-cookie"]
                assert {"HttpOnly", "Secure", "SameSite=Lax"} <= {part.strip() for part in cookie.split(";")}
                answer = await say_yes(begun.json()["url"])
            async with hub.client("") as browser:
                del browser.headers["Authorization"]
                foreign = await browser.get("/oauth/callback", params=answer)
                assert foreign.status_code == 400, "another browser's: CSRF"
                assert not provider.access
            async with hub.client(admin) as asking:
                begun = await asking.post(path)
                cookie = begun.headers["set-cookie"].split(";")[0]
                answer = await say_yes(begun.json()["url"])
            async with hub.client("", Cookie=cookie) as browser:
                del browser.headers["Authorization"]
                back = await browser.get("/oauth/callback", params=answer)
                assert back.status_code == 200, back.text
                assert "Signed in at up" in back.text
            async with hub.client(user) as asking:
                result = await call_mcp(asking, "tools/call", {"name": "up__whoami", "arguments": {}})
                assert result["result"]["content"][0]["text"] == "ada"
                assert (await asking.get(path)).json()["signedIn"] is True
            async with hub.client(admin) as asking:
                assert (await asking.delete(path)).json() == {"revoked": True}
            async with hub.client(hub.key("admin")) as asking:
                listed = (await asking.get("/api/audit", params={"what": "server.signed_in"})).json()["entries"]
                assert [(one["server"], one["path"]) for one in listed] == [("up", "/oauth/callback")]
            async with hub.client(admin) as asking:
                begun = await asking.post(path, json={"redirectUri": BACK})
                bad = await asking.post(path, json={"redirectUri": "https://evil.example/back"})
                assert bad.status_code == 400
                answer = await say_yes(begun.json()["url"])
                async with hub.client(hub.key("operator")) as other:
                    assert (await other.post(f"{path}/answer", json=answer)).status_code == 400
                begun = await asking.post(path, json={"redirectUri": BACK})
                answer = await say_yes(begun.json()["url"])
                assert (await asking.post(f"{path}/answer", json=answer)).json()["connected"] is True


async def test_the_page_of_the_way_back_shows_no_markup_of_others(tmp_path: Path) -> None:
    opened = team(tmp_path, servers=[{"name": "up", "url": "http://127.0.0.1:9/mcp"}], waits=False)
    async with opened as hub, hub.client("") as browser:
        del browser.headers["Authorization"]
        said: Any = {"state": "x", "error": "<script>alert(1)</script>", "iss": "<b>"}
        back = await browser.get("/oauth/callback", params=said)
        assert "<script>" not in back.text
        assert "default-src 'none'" in back.headers["content-security-policy"]


async def test_a_command_signs_in_by_a_port_of_its_own_and_out(tmp_path: Path) -> None:
    async with upstream() as (provider, server):
        environment = {
            **os.environ,
            "NARU_HUB__DATA_DIR": str(tmp_path),
            "NARU_HUB__STORE": f"file:{tmp_path / 'mcp.json'}",
            "NARU_SERVER__PORT": "1",
        }
        (tmp_path / "mcp.json").write_text(
            json.dumps({"mcpServers": {"up": {"url": server.url, "type": "http"}}}), encoding="utf-8"
        )
        (tmp_path / "mcp.json").chmod(0o600)

        async def naru(*arguments: str) -> asyncio.subprocess.Process:
            command = (sys.executable, "-m", "naru.cli.main", "servers", *arguments)
            return await asyncio.create_subprocess_exec(*command, env=environment, stdout=PIPE, stderr=PIPE)

        async def begun() -> tuple[asyncio.subprocess.Process, str, URL]:
            """Begin to sign in; return the command, where it says to go, and where it waits for the answer."""
            login = await naru("login", "up", "--no-browser")
            assert login.stderr is not None
            lines: list[str] = []
            async with asyncio.timeout(120):
                while not (lines and lines[-1].startswith("http")):
                    line = await login.stderr.readline()
                    assert line, lines
                    lines.append(line.decode().strip())
            return login, lines[-1], URL(dict(URL(lines[-1]).query)["redirect_uri"])

        def written_down() -> list[str]:
            return [
                json.loads(line)["what"] for line in (tmp_path / "audit.jsonl").read_text(encoding="utf-8").splitlines()
            ]

        login, page, back = await begun()
        async with aiohttp.ClientSession() as browser:
            refused = {"error": "access_denied", "state": dict(URL(page).query)["state"]}
            assert (await browser.get(back.with_query(refused))).status == 200
        _, told = await login.communicate()
        assert (login.returncode, b"access_denied" in told) == (5, True), told
        assert written_down() == ["server.signing_in"], "nobody is said to be signed in who is not"
        login, _, _ = await begun()
        login.send_signal(signal.SIGINT)
        await asyncio.wait_for(login.communicate(), 60)
        assert login.returncode == 130, "Ctrl-C ends the waiting"
        login, page, back = await begun()
        # Browsers open a second connection ahead of time and say nothing on it.
        _, silent = await asyncio.open_connection("127.0.0.1", back.port)
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(60)) as browser:
            forged = await browser.get(back.with_query(code="x", state="forged"))
            assert forged.status == 404, "the port takes no other answer"
            answer = await say_yes(page)
            assert (await browser.get(back.with_query(answer))).status == 200
        said, _ = await login.communicate()
        silent.close()
        assert (login.returncode, said.decode().strip()) == (0, "Signed in at up")
        assert len(provider.access) == 1
        assert written_down()[1:] == ["server.signing_in", "server.signed_in"]
        logout = await naru("logout", "up")
        said, told = await logout.communicate()
        assert (logout.returncode, said.decode().strip()) == (0, "Signed out at up"), told
        assert len(provider.revoked) == 2
