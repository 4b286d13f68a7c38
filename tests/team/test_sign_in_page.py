"""A call that waits for its person's sign-in shows them the console's page for that (issue 21, Build 1)."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2 as httpx
import orjson
import pytest
from mcp import Client, MCPError, UrlElicitationRequiredError
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ElicitRequestURLParams, ElicitResult

from naru.connections.credentials import may_sign_in
from naru.messages import JsonObject
from naru.persons import Person
from naru.records import ServerRecord
from tests.journeys.browser import Browser, open_browser
from tests.team.authority import Protected, Provider, say_yes
from tests.team.conftest import BASE_URL, MODERN, Team, call_mcp, team
from tests.team.test_sign_in import upstream
from tests.web.conftest import served

pytestmark = pytest.mark.slow

Asked = Callable[[ElicitRequestURLParams], Awaitable[str]]
BY_PAGE = {"elicitation": {"form": {}, "url": {}}}
WHO: JsonObject = {"name": "up__whoami", "arguments": {}}
SECRET = {"clientId": "n", "clientSecret": "s", "issuer": "https://login.example"}
SIGN_IN = "/api/mcp/servers/up/sign-in"


def entry(server: Protected, **config: Any) -> JsonObject:
    return {"name": "up", "url": server.url, "transport": "http", "credentials": "per-user", **config}


@asynccontextmanager
async def opened(folder: Path, **config: Any) -> AsyncIterator[tuple[Team, Provider]]:
    settings = {"server": {"allowed_hosts": ["127.0.0.1:*"], **config.pop("server", {})}}
    async with (
        upstream() as (provider, server),
        team(folder, servers=[entry(server, **config)], waits=False, **settings) as hub,
    ):
        yield hub, provider


@asynccontextmanager
async def sdk(address: str, key: str, mode: Any, asked: Asked | None = None) -> AsyncIterator[Client]:
    """Connect the official SDK's client with a key; it shows pages to `asked`, if there is one."""

    async def show(_: Any, params: Any) -> ElicitResult:
        assert asked is not None
        return ElicitResult(action=await asked(params))  # type: ignore[arg-type]

    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {key}"}, timeout=120) as http:
        way = streamable_http_client(f"{address}/mcp", http_client=http)
        async with Client(way, mode=mode, elicitation_callback=show if asked else None) as client:
            yield client


async def never(params: ElicitRequestURLParams) -> str:
    raise AssertionError(params)


async def at_console(hub: Team, key: str) -> None:
    """Do what a person does on the page: sign in at the console with a key, press the button, come back."""
    async with hub.client(key) as asking:
        cookies = [(await asking.post("/api/session")).headers["set-cookie"].split(";")[0]]
    async with hub.client("", Cookie=cookies[0]) as browser:
        del browser.headers["Authorization"]
        begun = await browser.post(SIGN_IN)
        assert begun.status_code == 200, begun.text
        browser.headers["Cookie"] = "; ".join([*cookies, begun.headers["set-cookie"].split(";")[0]])
        back = await browser.get("/oauth/callback", params=await say_yes(begun.json()["url"]))
        assert back.status_code == 200, back.text


async def refusal(client: Client, tool: str = "up__whoami") -> UrlElicitationRequiredError:
    with pytest.raises(MCPError) as told:
        await client.call_tool(tool, {})
    assert told.value.error.code == -32042, told.value
    return UrlElicitationRequiredError.from_error(told.value.error)


def text(result: Any) -> str:
    return str(result.content[0].text)


async def test_a_session_is_shown_the_page_and_the_same_call_goes_through_afterwards(tmp_path: Path) -> None:
    async with opened(tmp_path) as (hub, _), served(hub.app.asgi) as address:
        key = hub.key()
        async with sdk(address, key, "legacy", never) as client:
            (shown,) = (await refusal(client)).elicitations
            assert shown.url == f"{address}/#/servers/up"
            assert shown.elicitation_id
            assert "'up' wants you to sign in" in shown.message
            await at_console(hub, key)
            assert text(await client.call_tool("up__whoami", {})) == "ada"


@pytest.mark.chromium
async def test_a_person_who_opens_the_page_signs_in_there_and_again_for_more(tmp_path: Path) -> None:
    async with opened(tmp_path) as (hub, _), served(hub.app.asgi) as address:
        key = hub.key()

        def go_there(browser: Browser, url: str, button: str) -> None:
            browser.driver.get("about:blank")
            browser.driver.get(url)
            browser.sees("up")
            browser.click(button)
            browser.wait(lambda: "Signed in at up" in browser.driver.page_source)

        def first(browser: Browser, url: str) -> None:
            browser.driver.get(url)
            browser.find("input[type=password]").send_keys(key)
            browser.click("Sign in")
            browser.sees("Needs sign-in")
            go_there(browser, url, "Sign in")

        async with sdk(address, key, "legacy", never) as client:
            with open_browser(address, tmp_path / "profile") as browser:
                await asyncio.to_thread(first, browser, (await refusal(client)).elicitations[0].url)
                assert text(await client.call_tool("up__whoami", {})) == "ada"
                (shown,) = (await refusal(client, "up__write")).elicitations
                assert "Sign in again" in shown.message
                await asyncio.to_thread(go_there, browser, shown.url, "Sign in again")
                assert text(await client.call_tool("up__write", {})) == "ada"


async def test_a_stateless_client_is_shown_the_page_and_its_retry_goes_through(tmp_path: Path) -> None:
    async with opened(tmp_path) as (hub, _), served(hub.app.asgi) as address:
        key, shown = hub.key(), []

        async def go_there(params: ElicitRequestURLParams) -> str:
            shown.append(params)
            await at_console(hub, key)
            return "accept"

        async with sdk(address, key, MODERN, go_there) as client:
            assert text(await client.call_tool("up__whoami", {})) == "ada"
        assert [one.url for one in shown] == [f"{address}/#/servers/up"]
        assert shown[0].elicitation_id is None, "this era has none"


@pytest.mark.parametrize("action", ["accept", "decline", "cancel"])
async def test_who_does_not_sign_in_is_asked_once_a_call_and_then_told_why(tmp_path: Path, action: str) -> None:
    async with opened(tmp_path) as (hub, _), served(hub.app.asgi) as address:
        shown = []

        async def stay(params: ElicitRequestURLParams) -> str:
            shown.append(params)
            return action

        async with sdk(address, hub.key(), MODERN, stay) as client:
            for calls in (1, 2):
                result = await client.call_tool("up__whoami", {})
                assert result.is_error
                assert "wants credentials" in text(result)
                assert len(shown) == calls


async def test_nobody_signs_in_for_somebody_else(tmp_path: Path) -> None:
    async with opened(tmp_path) as (hub, provider), served(hub.app.asgi) as address:
        ada, bob = hub.key(), hub.key()
        async with sdk(address, ada, "legacy", never) as client, sdk(address, bob, "legacy", never) as other:
            (shown,) = (await refusal(client)).elicitations
            assert shown.url == (await refusal(other)).elicitations[0].url, "it names nobody"
            provider.subject = "bob"
            await at_console(hub, bob)  # who opened ada's page
            await refusal(client)
            assert text(await other.call_tool("up__whoami", {})) == "bob"
            provider.subject = "ada"
            await at_console(hub, ada)
            assert text(await client.call_tool("up__whoami", {})) == "ada"
            assert text(await other.call_tool("up__whoami", {})) == "bob"


async def test_the_page_is_shown_too_when_a_sign_in_ended_or_gives_too_little(tmp_path: Path) -> None:
    async with opened(tmp_path) as (hub, provider), served(hub.app.asgi) as address:
        key = hub.key()
        await at_console(hub, key)
        async with sdk(address, key, "legacy", never) as client:
            assert text(await client.call_tool("up__whoami", {})) == "ada"
            await refusal(client, "up__write")
            await at_console(hub, key)
            assert text(await client.call_tool("up__write", {})) == "ada"
            provider.access.clear()
            provider.refresh.clear()
            await refusal(client)
            await refusal(client)
            await at_console(hub, key)
            assert text(await client.call_tool("up__whoami", {})) == "ada"


@pytest.mark.parametrize("mode", ["legacy", MODERN])
async def test_a_client_that_shows_no_pages_is_told_as_before(tmp_path: Path, mode: str) -> None:
    async with opened(tmp_path) as (hub, _), served(hub.app.asgi) as address:
        key = hub.key()
        async with sdk(address, key, mode) as client:
            if mode == MODERN:
                result = await client.call_tool("up__whoami", {})
                assert "wants credentials" in text(result)
            else:
                with pytest.raises(MCPError, match="wants credentials") as told:
                    await client.call_tool("up__whoami", {})
                assert told.value.error.code == -32602
        async with hub.client(key) as asking:
            for can in ({"elicitation": {}}, {"elicitation": {"form": {}}}):
                answer = await call_mcp(asking, "tools/call", WHO, can=can)
                assert answer["result"]["resultType"] == "complete", answer


async def test_a_session_of_an_older_version_is_told_as_before(tmp_path: Path) -> None:
    async with opened(tmp_path) as (hub, _), hub.client(hub.key()) as asking:
        for version, code in (("2025-06-18", -32602), ("2025-11-25", -32042)):
            hello = {"protocolVersion": version, "capabilities": BY_PAGE, "clientInfo": {"name": "t", "version": "1"}}
            body: JsonObject = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
            began = await asking.post("/mcp", json=body)
            headers = {"Mcp-Session-Id": began.headers["mcp-session-id"]}
            answer = await asking.post("/mcp", json={**body, "method": "tools/call", "params": WHO}, headers=headers)
            last = answer.text.rpartition("data:")[2]
            assert orjson.loads(last)["error"]["code"] == code, answer.text


async def shown(hub: Team, key: str, path: str = "/mcp", **headers: str) -> str:
    """Return the page that a stateless client is shown; empty when it is told of an error."""
    async with hub.client(key, **headers) as asking:
        result = (await call_mcp(asking, "tools/call", WHO, path, can=BY_PAGE))["result"]
    if result["resultType"] == "complete":
        assert "wants credentials" in result["content"][0]["text"]
        return ""
    assert "requestState" not in result
    (asked,) = result["inputRequests"].values()
    return str(asked["params"]["url"])


async def test_the_page_is_where_the_client_came_from_outside(tmp_path: Path) -> None:
    rules = {"root_path": "/naru", "trusted_proxies": ["127.0.0.0/8"], "allowed_hosts": ["127.0.0.1:*", "example.com"]}
    async with opened(tmp_path, server=rules) as (hub, _):
        key = hub.key()
        assert await shown(hub, key, "/naru/mcp") == f"{BASE_URL}/naru/#/servers/up"
        said = {"X-Forwarded-Host": "example.com", "X-Forwarded-Proto": "https", "X-Forwarded-Prefix": "/team/"}
        assert await shown(hub, key, **said) == "https://example.com/team/#/servers/up"


async def test_everybodys_sign_in_is_shown_to_those_who_may_make_it(tmp_path: Path) -> None:
    async with opened(tmp_path, credentials="shared") as (hub, _):
        user, operator = hub.key(), hub.key("operator")
        assert await shown(hub, user) == ""
        assert await shown(hub, operator) == f"{BASE_URL}/#/servers/up"
        await at_console(hub, operator)
        async with hub.client(user) as asking:
            answer = await call_mcp(asking, "tools/call", WHO, can=BY_PAGE)
            assert answer["result"]["content"][0]["text"] == "ada"


@pytest.mark.parametrize("given", [{"auth": {"bearer": "wrong"}}, {"headers": {"Authorization": "Bearer wrong"}}])
async def test_a_wrong_token_in_the_entry_is_no_matter_of_signing_in(tmp_path: Path, given: JsonObject) -> None:
    async with opened(tmp_path, **given) as (hub, _):
        assert await shown(hub, hub.key()) == ""


async def test_over_stdio_there_is_no_page(tmp_path: Path) -> None:
    async with upstream() as (_, server):
        listed = {"mcpServers": {"up": {"url": server.url, "type": "http"}}}
        (tmp_path / "mcp.json").write_bytes(orjson.dumps(listed))
        (tmp_path / "mcp.json").chmod(0o600)
        environment = {
            **os.environ,
            "NARU_HUB__DATA_DIR": str(tmp_path),
            "NARU_HUB__STORE": f"file:{tmp_path / 'mcp.json'}",
        }
        command = ["-m", "naru.cli.main", "serve", "--stdio"]
        way = stdio_client(StdioServerParameters(command=sys.executable, args=command, env=environment))

        async def show(_: Any, params: Any) -> ElicitResult:
            raise AssertionError(params)

        async with Client(way, mode="legacy", elicitation_callback=show) as client:
            with pytest.raises(MCPError, match="wants credentials") as told:
                await client.call_tool("up__whoami", {})
            assert told.value.error.code == -32602


@pytest.mark.parametrize(
    ("config", "person", "may"),
    [
        ({}, Person("k", access="user"), False),
        ({}, Person("k", access="operator"), True),
        ({}, Person("", access="admin"), False),
        ({"credentials": "per-user"}, Person("k", access="user"), True),
        ({"credentials": "per-user"}, Person("https://login.example#ada", access="user"), False),
        ({"credentials": "per-user", "auth": {"clientId": "naru"}}, Person("k"), True),
        ({"credentials": "per-user", "auth": SECRET}, Person("k"), False),
        ({"credentials": "per-user", "headers": {"authorization": "Bearer ${TOKEN}"}}, Person("k"), False),
        ({"credentials": "forward", "forwardHeaders": {"X-Theirs": "Authorization"}}, Person("k"), False),
        ({"credentials": "forward", "forwardHeaders": ["X-Tenant"]}, Person("k"), True),
        ({"url": "https://ada:secret@up.example/mcp", "credentials": "per-user"}, Person("k"), False),
    ],
    ids=[
        "everybody's, a user", "everybody's, an operator", "nobody", "their own", "by a token, without a console",
        "a client of ours", "a client's secret", "a header of the entry", "a token passed on", "a tenant passed on",
        "a password in the address",
    ],
)  # fmt: skip
def test_who_may_sign_in_where(config: JsonObject, person: Person, may: bool) -> None:
    record = ServerRecord(name="up", config={"url": "https://up.example/mcp", **config})
    assert may_sign_in(record, person) is may


def test_who_has_a_token_may_sign_in_where_its_issuer_opens_the_console() -> None:
    person = Person("https://login.example#ada", access="user")
    own = ServerRecord(name="up", config={"url": "https://up.example/mcp", "credentials": "per-user"})
    everybodys = ServerRecord(name="up", config={"url": "https://up.example/mcp"})
    assert may_sign_in(own, person, tokens_too=True)
    assert not may_sign_in(everybodys, person, tokens_too=True)


def test_a_server_that_is_a_program_has_no_sign_in() -> None:
    record = ServerRecord(name="up", config={"command": "x", "credentials": "per-user"})
    assert not may_sign_in(record, Person("k", access="admin"))
