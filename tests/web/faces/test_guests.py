"""MCP servers that a request names by URL, over every face, against the official SDK's server over HTTP (issue 18, 2).

And what must not come of it: addresses that nobody allowed, headers at a second server, secrets in what is kept (S-11,
S-12, S-30, S-34).
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import mcp_types as types
import pytest
from anthropic.types.beta import BetaMessage
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from openai.types.responses import Response as ResponseObject
from starlette.types import ASGIApp, Receive, Scope, Send

from naru.config import GuestSettings, Settings
from naru.config.mcp import PolicySettings
from naru.connections.guests import MOST, Guest, Guests
from naru.connections.rules.policy import Policy
from naru.errors import ConnectionFailedError, NaruError, PolicyError, UserError
from naru.hub import Hub, open_hub
from naru.messages import ChatRequest
from naru.models.scripted import Answer, ScriptedBackend
from naru.persons import Bounds, Person, Reach, current_person
from naru.web.app import open_app
from tests.web.conftest import served
from tests.web.faces.strict import events, post, strictly

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
CANARY = "canary-7f3a9b2c51d84e60"
ADMIN = Person("a", access="admin")


@dataclass
class Remote:
    """An MCP server of the official SDK, and every header that it got."""

    url: str = ""
    heads: list[dict[str, str]] = field(default_factory=list)
    called: list[Any] = field(default_factory=list)


@contextlib.asynccontextmanager
async def remote() -> AsyncIterator[Remote]:
    made = Remote()

    async def tools(context: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(
            tools=[
                types.Tool(name=name, description=f"{name} a text.", input_schema=TEXT) for name in ("echo", "shout")
            ]
        )

    async def call(context: Any, params: Any) -> types.CallToolResult:
        made.called.append((params.name, params.arguments))
        text = types.TextContent(type="text", text=f"{params.name}: {(params.arguments or {}).get('text')}")
        return types.CallToolResult(content=[text], is_error=False)

    manager = StreamableHTTPSessionManager(Server("remote", version="1", on_list_tools=tools, on_call_tool=call))

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        made.heads.append({name.decode(): value.decode() for name, value in scope["headers"]})
        await manager.handle_request(scope, receive, send)

    async with manager.run(), served(app) as base:
        made.url = f"{base}/mcp"
        yield made


def answering(status: int, headers: Sequence[tuple[bytes, bytes]] = ()) -> tuple[ASGIApp, list[dict[str, str]]]:
    """Return an application that answers so and notes what headers came."""
    heads: list[dict[str, str]] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        heads.append({name.decode(): value.decode() for name, value in scope["headers"]})
        await send({"type": "http.response.start", "status": status, "headers": list(headers)})
        await send({"type": "http.response.body", "body": b"{}"})

    return app, heads


def play(request: ChatRequest) -> Answer:
    """Call the guest's tool once, then say what it gave."""
    if request.messages[-1].role == "tool":
        return f"It said {request.messages[-1].text}."
    names = sorted(tool.name for tool in request.tools)
    if "away__echo" not in names:
        return f"I have {names}."
    return '<tool_call>\n{"name": "away__echo", "arguments": {"text": "hi"}}\n</tool_call>'


@contextlib.asynccontextmanager
async def hub_at(
    folder: Path, *addresses: str, access: str = "user", auth: str = "off", **mcp: Any
) -> AsyncIterator[tuple[str, Hub]]:
    """Serve a hub that lets these addresses be named."""
    settings = Settings.model_validate(
        {
            "hub": {"data_dir": folder, "store": "memory:"},
            "mcp": {"guests": {"addresses": list(addresses), "access": access}, **mcp},
            "server": {"auth": auth, "allowed_hosts": ["127.0.0.1:*"], "rate_limit_per_minute": 0},
        }
    )
    backend = ScriptedBackend(play, model="m")
    async with (
        open_hub(settings, backend=backend, asks_for_keys=auth == "on") as hub,
        open_app(hub) as app,
        served(app.asgi) as url,
    ):
        yield url, hub


def chat(url: str, **more: Any) -> tuple[str, dict[str, Any]]:
    tool = {"type": "mcp", "server_label": "away", "server_url": url, "require_approval": "never", **more}
    return "/v1/chat/completions", {"model": "m", "messages": [{"role": "user", "content": "Go."}], "tools": [tool]}


def responses(url: str, **more: Any) -> tuple[str, dict[str, Any]]:
    tool = {"type": "mcp", "server_label": "away", "server_url": url, "require_approval": "never", **more}
    return "/v1/responses", {"model": "m", "input": "Go.", "tools": [tool]}


def messages(url: str, **more: Any) -> tuple[str, dict[str, Any]]:
    server = {"type": "url", "name": "away", "url": url, **more}
    turns = [{"role": "user", "content": "Go."}]
    toolset = {"type": "mcp_toolset", "mcp_server_name": "away"}
    body = {"model": "m", "max_tokens": 99, "messages": turns, "mcp_servers": [server], "tools": [toolset]}
    return "/v1/messages", body


FACES = {"chat completions": chat, "Responses": responses, "Messages": messages}
TOKENS = {"chat completions": "authorization", "Responses": "authorization", "Messages": "authorization_token"}


def here(far: Remote) -> str:
    """Return what lets a server of this test be named: its address, written out."""
    return far.url.removesuffix("/mcp")


@pytest.mark.parametrize("face", FACES)
async def test_a_server_named_by_url_is_called_with_its_own_token_alone(face: str, tmp_path: Path) -> None:
    registered = {"allowed_server_names": ["none"]}  # which says nothing of servers that are registered nowhere
    async with remote() as far, hub_at(tmp_path, here(far), security=registered) as (url, _):
        path, body = FACES[face](far.url, **{TOKENS[face]: CANARY})
        status, answer = await post(url + path, body, {"x-other": "stays"})
        assert status == 200, answer
        assert "It said echo: hi." in json.dumps(answer)
        assert CANARY not in json.dumps(answer)
        await events(url + path, {**body, "stream": True})
    assert far.called == [("echo", {"text": "hi"})] * 2
    assert {head.get("authorization") for head in far.heads} == {f"Bearer {CANARY}"}
    assert not any("x-other" in head or "x-api-key" in head for head in far.heads)


async def test_responses_tells_its_list_and_its_calls_and_asks_first_by_default(tmp_path: Path) -> None:
    async with remote() as far, hub_at(tmp_path, here(far)) as (url, _):
        path, body = responses(far.url, allowed_tools=["echo"])
        _, answer = await post(url + path, body)
        whole = strictly(ResponseObject, answer)
        assert [item.type for item in whole.output] == ["mcp_list_tools", "mcp_call", "message"]
        assert [tool.name for tool in whole.output[0].tools] == ["echo"]
        assert (whole.output[1].name, whole.output[1].output) == ("echo", "echo: hi")
        assert whole.output[1].server_label == "away"

        del body["tools"][0]["require_approval"]
        body["tools"][0]["headers"] = {"X-Team": CANARY}
        _, answer = await post(url + path, body)
        asked = next(item for item in answer["output"] if item["type"] == "mcp_approval_request")
        assert (asked["server_label"], asked["name"]) == ("away", "echo")
        assert len(far.called) == 1
        yes = {"type": "mcp_approval_response", "approval_request_id": asked["id"], "approve": True}
        again = {**body, "input": [yes], "previous_response_id": answer["id"]}
        _, answer = await post(url + path, again)
        assert "It said echo: hi." in json.dumps(answer)
        assert len(far.called) == 2
        async with aiohttp.ClientSession() as session:
            kept = await (await session.get(f"{url}/v1/responses/{answer['id']}")).text()
    assert CANARY not in kept


async def test_messages_shows_the_calls_as_blocks_and_obeys_the_toolset(tmp_path: Path) -> None:
    async with remote() as far, hub_at(tmp_path, here(far)) as (url, _):
        path, body = messages(far.url)
        _, answer = await post(url + path, body)
        blocks = strictly(BetaMessage, answer).content
        assert [block.type for block in blocks] == ["mcp_tool_use", "mcp_tool_result", "text"]
        assert (blocks[0].server_name, blocks[0].name) == ("away", "echo")
        body["tools"] = [{"type": "mcp_toolset", "mcp_server_name": "away", "configs": {"echo": {"enabled": False}}}]
        _, answer = await post(url + path, body)
        assert "I have ['away__shout']." in json.dumps(answer)
        status, counted = await post(f"{url}/v1/messages/count_tokens", body)
        without = {key: value for key, value in body.items() if key not in ("mcp_servers", "tools")}
        assert status == 200
        assert counted["input_tokens"] > (await post(f"{url}/v1/messages/count_tokens", without))[1]["input_tokens"]


@pytest.mark.parametrize("face", FACES)
async def test_it_is_off_by_default_and_the_refusal_names_what_to_do(face: str, tmp_path: Path) -> None:
    async with remote() as far, hub_at(tmp_path) as (url, _):
        for stream in (False, True):
            path, body = FACES[face](far.url)
            status, answer = await post(url + path, {**body, "stream": stream})
            assert status == 403
            said = answer["error"]["message"]
            assert "by URL is off here" in said
            assert "mcp.guests.addresses" in said
            assert "naru servers add" in said
    assert not far.heads


@pytest.mark.slow
async def test_a_key_needs_the_right_to_name_one(tmp_path: Path) -> None:
    async with remote() as far, hub_at(tmp_path, here(far), access="admin", auth="on") as (url, hub):
        path, body = chat(far.url)
        keys = {role: hub.keys.create(role, bounds=Bounds())[1] for role in ("user", "operator", "admin")}
        told = {role: await post(url + path, body, {"Authorization": f"Bearer {key}"}) for role, key in keys.items()}
        assert {role: status for role, (status, _) in told.items()} == {"user": 403, "operator": 403, "admin": 200}
        assert "This key may not name servers by URL" in told["user"][1]["error"]["message"]
        narrow = hub.keys.create("admin", bounds=Bounds(servers=("hr",)))[1]
        status, answer = await post(url + path, body, {"Authorization": f"Bearer {narrow}"})
        assert (status, len(far.called)) == (403, 1)
        assert "may not have a server named 'away'" in answer["error"]["message"]
    assert {head.get("authorization") for head in far.heads} == {None}, "the hub's own key never goes on"


async def test_a_label_of_the_hub_means_the_hubs_own_server_and_nothing_goes_to_the_url(tmp_path: Path) -> None:
    async with remote() as far, remote() as own:
        declared = [{"name": "away", "transport": "http", "url": own.url}]
        async with hub_at(tmp_path, here(far), servers=declared) as (url, hub):
            await hub.manager.started(30)
            path, body = chat(far.url, authorization=CANARY)
            _, answer = await post(url + path, body)
    assert "It said echo: hi." in json.dumps(answer)
    assert (len(own.called), len(far.heads)) == (1, 0)
    assert not any("authorization" in head for head in own.heads)


async def test_a_server_that_cannot_be_reached_is_told_with_its_reason(tmp_path: Path) -> None:
    app, _ = answering(401, [(b"www-authenticate", b"Bearer")])
    async with served(app) as base, hub_at(tmp_path, base) as (url, _):
        for make in FACES.values():
            path, body = make(f"{base}/mcp", headers={"X-Key": CANARY})
            status, answer = await post(url + path, body)
            assert status == 424, answer
            assert "'away', named by URL, cannot be used" in answer["error"]["message"]
            assert CANARY not in json.dumps(answer)


async def test_no_placeholder_of_a_request_is_filled_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_OF_THE_HUB", CANARY)
    async with remote() as far, hub_at(tmp_path, here(far)) as (url, _):
        path, body = chat(far.url, headers={"X-A": "${SECRET_OF_THE_HUB}", "X-B": "${env:SECRET_OF_THE_HUB}"})
        assert (await post(url + path, body))[0] == 200
    assert far.heads[0]["x-a"] == "${SECRET_OF_THE_HUB}"
    assert CANARY not in repr(far.heads)


async def test_no_redirect_leads_to_another_origin_and_no_header_with_it(tmp_path: Path) -> None:
    trap, seen = answering(200)
    async with served(trap) as there:
        for status in (301, 302, 303, 307, 308):
            app, first = answering(status, [(b"location", f"{there}/mcp".encode())])
            async with served(app) as base, hub_at(tmp_path / str(status), base) as (url, _):
                path, body = chat(f"{base}/mcp", authorization=CANARY)
                answer = await post(url + path, body)
                assert answer[0] == 424, answer
            assert first
    assert not seen


async def test_nothing_of_its_headers_is_kept_or_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    async with remote() as far, hub_at(tmp_path, here(far)) as (url, hub):
        for face, make in FACES.items():
            path, body = make(f"{far.url}?key={CANARY}", **{TOKENS[face]: CANARY, "headers": {"X-Key": CANARY}})
            assert (await post(url + path, body))[0] == 200
        shown = [await _get(url + one) for one in ("/api/runs", "/metrics", "/api/mcp/servers", "/api/audit")]
        assert hub.manager.connections == {}
    assert all(CANARY not in text for text in shown)
    assert CANARY.encode() not in b"".join(one.read_bytes() for one in tmp_path.rglob("*") if one.is_file())
    assert CANARY not in caplog.text
    audited = b"".join(one.read_bytes() for one in tmp_path.rglob("audit*") if one.is_file())
    assert far.url.encode() in audited, "who called what is written down under its address"
    assert '"away"' not in shown[1], "names from outside make no rows of figures"


async def _get(url: str) -> str:
    async with aiohttp.ClientSession() as session, session.get(url) as response:
        return await response.text()


async def judged(
    url: str, addresses: Sequence[str], *, leads_to: Sequence[str] = ("93.184.216.34",), **more: Any
) -> NaruError | None:
    """Return why a URL is refused before or at its dial; None where only the network says no."""
    looked: list[str] = []

    async def lookup(host: str, port: int) -> Sequence[str]:
        looked.append(host)
        return leads_to

    guests = Guests(GuestSettings(addresses=list(addresses), access="user"), lookup=lookup)
    token = current_person.set(ADMIN)
    try:
        record = guests._admitted(Guest("away", url, more.get("headers") or {}))
        await guests._resolved(str(record.config["url"]).split("/")[2].split(":")[0].strip("[]"), 443)
    except (NaruError, OSError) as error:
        return error if isinstance(error, NaruError) else ConnectionFailedError(str(error))
    finally:
        current_person.reset(token)
        await guests.close()
    return None


@pytest.mark.parametrize(
    ("url", "allowed"),
    [
        ("http://mcp.example.com/mcp", ["mcp.example.com"]),
        ("https://mcp.example.com:8443/mcp", ["mcp.example.com"]),
        ("https://mcp.example.com.evil.net/mcp", ["mcp.example.com", "*.example.com"]),
        ("https://evil.net/mcp.example.com", ["*.example.com"]),
        ("https://evil.net/?x=mcp.example.com", ["*example.com"]),
        ("https://evil.net#.example.com", ["*.example.com"]),
        ("https://mcp.example.com@evil.net/mcp", ["mcp.example.com", "*"]),
        ("https://user:pw@mcp.example.com/mcp", ["mcp.example.com"]),
        ("https://evil.net\\@mcp.example.com/mcp", ["mcp.example.com"]),
        ("https://mcp.example.com/mcp/../admin", ["mcp.example.com/mcp"]),
        ("https://mcp.example.com/mcp/%2e%2e/admin", ["mcp.example.com/mcp"]),
        ("https://mcp.example.com/mcpx", ["mcp.example.com/mcp"]),
        ("https://mcp.example.com/", ["mcp.example.com/mcp"]),
        ("file:///etc/passwd", ["*"]),
        ("ftp://mcp.example.com/", ["*"]),
        ("//mcp.example.com/mcp", ["*"]),
        ("mcp.example.com", ["*"]),
        ("https://", ["*"]),
        ("", ["*"]),
        ("https://127.0.0.1/mcp", ["*", "*:*"]),
        ("https://127.1/mcp", ["*"]),
        ("https://10.0.0.8/mcp", ["*"]),
        ("https://[::1]/mcp", ["*"]),
        ("https://[::ffff:127.0.0.1]/mcp", ["*"]),
        ("https://[64:ff9b::7f00:1]/mcp", ["*"]),
        ("https://[2002:7f00:1::]/mcp", ["*"]),
        ("https://[fe80::1]/mcp", ["*"]),
        ("https://0.0.0.0/mcp", ["*"]),
        ("https://169.254.169.254/latest", ["*", "169.254.169.254"]),
        ("http://169.254.169.254/latest", ["http://169.254.169.254"]),
        ("https://100.64.0.1/mcp", ["*"]),
    ],
)
async def test_an_address_that_was_not_allowed_is_refused(url: str, allowed: list[str]) -> None:
    leads_to = ("127.0.0.1",) if url == "https://127.1/mcp" else ("93.184.216.34",)
    assert await judged(url, allowed, leads_to=leads_to) is not None


@pytest.mark.parametrize(
    ("url", "allowed", "leads_to"),
    [
        ("https://mcp.example.com/mcp", ["mcp.example.com"], ["93.184.216.34"]),
        ("https://MCP.Example.com/mcp", ["mcp.example.com"], ["93.184.216.34"]),
        ("https://a.b.example.com/mcp", ["*.example.com"], ["93.184.216.34"]),
        ("https://mcp.example.com/mcp/v1", ["mcp.example.com/mcp"], ["93.184.216.34"]),
        ("https://mcp.example.com/mcp/v1", ["mcp.example.com/mcp/*"], ["93.184.216.34"]),
        ("https://mcp.example.com:8443/mcp", ["mcp.example.com:*"], ["93.184.216.34"]),
        ("https://anything.net/sse", ["*"], ["2606:2800:220:1::1"]),
        ("http://tools.lan:8000/mcp", ["http://tools.lan:8000"], ["10.0.0.8"]),
        ("http://127.0.0.1:9000/mcp", ["http://127.0.0.1:9000"], []),
    ],
)
async def test_what_was_allowed_is_taken(url: str, allowed: list[str], leads_to: list[str]) -> None:
    assert await judged(url, allowed, leads_to=leads_to) is None


@pytest.mark.parametrize(
    "leads_to", [["127.0.0.1"], ["93.184.216.34", "10.0.0.1"], ["169.254.169.254"], ["::ffff:192.168.1.1"], []]
)
async def test_a_public_name_that_leads_to_a_private_address_is_not_dialled(leads_to: list[str]) -> None:
    refused = await judged("https://mcp.example.com/mcp", ["*.example.com"], leads_to=leads_to)
    assert "not public" in str(refused)


async def test_what_is_dialled_is_what_was_judged_and_asked_for_once_a_dial(tmp_path: Path) -> None:
    asked: list[tuple[str, int]] = []

    async def lookup(host: str, port: int) -> Sequence[str]:
        asked.append((host, port))
        return ["127.0.0.1"] if len(asked) == 1 else ["10.255.255.1"]  # a name server that changes its mind

    async with remote() as far:
        port = far.url.split(":")[2].split("/")[0]
        settings = GuestSettings(addresses=[f"http://mcp.test:{port}"], access="user")
        guests = Guests(settings, policy=Policy(PolicySettings()), lookup=lookup)
        token = current_person.set(ADMIN)
        try:
            guest = Guest("away", f"http://mcp.test:{port}/mcp", {"X-A": "b"})
            async with guests.linked([guest]) as linked:
                assert [tool.name for tool in await linked["away"].tools()] == ["echo", "shout"]
        finally:
            current_person.reset(token)
            await guests.close()
    assert asked[0] == ("mcp.test", int(port))
    assert {head["host"] for head in far.heads} == {f"mcp.test:{port}"}


@pytest.mark.parametrize(
    ("headers", "says"),
    [
        ({"Host": "internal"}, "'Host'"),
        ({"transfer-encoding": "chunked"}, "'transfer-encoding'"),
        ({"X-Forwarded-For": "127.0.0.1"}, "'X-Forwarded-For'"),
        ({"Mcp-Session-Id": "x"}, "'Mcp-Session-Id'"),
        ({"X-A": "b\r\nX-C: d"}, "'X-A'"),
    ],
)
async def test_headers_that_turn_a_request_round_are_refused_by_name(headers: dict[str, str], says: str) -> None:
    refused = await judged("https://mcp.example.com/mcp", ["*"], headers=headers)
    assert isinstance(refused, UserError)
    assert says in str(refused)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"server_url": 5}, "server_url must be a string"),
        ({"authorization": ["a"]}, "authorization must be a string"),
        ({"headers": ["a: b"]}, "headers must be an object"),
        ({"headers": {"a": 1}}, "headers must be an object"),
        ({"authorization": "a", "headers": {"authorization": "b"}}, "which one counts"),
        ({"server_label": "no/label"}, "cannot name an MCP server"),
    ],
)
async def test_what_cannot_be_read_is_refused_by_its_place(more: dict[str, Any], says: str, tmp_path: Path) -> None:
    async with hub_at(tmp_path, "*") as (url, _):
        for make in (chat, responses):
            path, body = make("https://mcp.example.com/mcp", **more)
            status, answer = await post(url + path, body)
            assert status == 400
            assert says in answer["error"]["message"]


async def test_a_request_names_so_many_and_those_who_ask_without_a_role_none() -> None:
    guests = Guests(GuestSettings(addresses=["*"], access="user"))
    many = [Guest(f"a{number}", "https://a.example/mcp") for number in range(MOST + 1)]
    with pytest.raises(UserError, match="17 servers"):
        async with guests.linked(many):
            pass
    for person in (Person(), Person("r", access="read")):
        token = current_person.set(person)
        try:
            with pytest.raises(PolicyError, match="may not name"):
                async with guests.linked(many[:1]):
                    pass
        finally:
            current_person.reset(token)
    token = current_person.set(Person("n", Reach.of(Bounds(servers=("hr",))), access="admin"))
    try:
        with pytest.raises(PolicyError, match="may not have a server named"):
            async with guests.linked(many[:1]):
                pass
    finally:
        current_person.reset(token)
    await guests.close()


async def test_clients_that_run_shell_commands_are_told_that_they_cannot(tmp_path: Path) -> None:
    async with hub_at(tmp_path, "*") as (url, _):
        path, body = chat("https://mcp.example.com/mcp")
        status, answer = await post(url + path, body, {"X-Naru-Client": "shell"})
    assert status == 400
    assert "servers of the hub alone" in answer["error"]["message"]
