"""The gate: S-01 to S-08 of SECURITY.md."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import FrameType

import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Message, Receive, Scope, Send

from naru.config import ServerSettings
from naru.errors import ConfigError
from naru.web.gate.admission import auth_is_on
from naru.web.gate.principal import KeyCheck, Principal
from naru.web.gate.security import Gate, check_bind, guard
from naru.web.routes import Access, Endpoint

SERVER = ("127.0.0.1", 20006)


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with who asked, after reading the body."""
    while (await receive()).get("more_body"):
        pass
    principal = scope["state"]["principal"]
    await PlainTextResponse(f"{principal.id} {principal.role.name} {scope['path']}")(scope, receive, send)


TABLE = [
    Endpoint("/healthz", ("GET",), echo, Access.PUBLIC, raw=True),
    Endpoint("/mcp", ("GET", "POST", "DELETE"), echo, Access.USER, raw=True),
    Endpoint("/sse", ("GET",), echo, Access.USER, raw=True),
    Endpoint("/sse/message", ("POST",), echo, Access.USER, raw=True),
    Endpoint("/v1/chat/completions", ("POST",), echo, Access.USER, raw=True),
    Endpoint("/v1/models", ("GET",), echo, Access.READ, raw=True),
    Endpoint("/generate_with_mcp", ("POST",), echo, Access.USER, raw=True),
    Endpoint("/api/mcp/servers", ("GET",), echo, Access.READ, raw=True),
    Endpoint("/api/mcp/servers", ("POST",), echo, Access.ADMIN, raw=True),
    Endpoint("/api/mcp/servers/{name}", ("GET",), echo, Access.READ, raw=True),
    Endpoint("/api/mcp/servers/{name}", ("PUT", "DELETE"), echo, Access.ADMIN, raw=True),
]
ROUTES = [(row, method) for row in TABLE for method in row.methods]
IDS = [f"{method} {row.path}" for row, method in ROUTES]


class Keys:
    """Keys by their text."""

    tokens = None
    sessions_are_shared = False

    def __init__(self, **roles: Access) -> None:
        self.roles = roles

    def were_made(self) -> bool:
        return bool(self.roles)

    def ensure_admin(self) -> Path | None:
        return None

    def verify(self, secret: bytes) -> Principal | None:
        role = self.roles.get(secret.decode("latin-1"))
        return Principal(f"id-{role.name}", role) if role else None


KEYS = Keys(reads=Access.READ, uses=Access.USER, operates=Access.OPERATOR, rules=Access.ADMIN)


def gate(keys: KeyCheck | None = None, **settings: object) -> Gate:
    made = guard(echo, TABLE, ServerSettings.model_validate(settings), keys=keys)
    assert isinstance(made, Gate)
    return made


async def ask(
    app: Gate,
    path: str,
    method: str = "GET",
    headers: list[tuple[str, str]] | None = None,
    *,
    host: str | None = "127.0.0.1:20006",
    chunks: tuple[bytes, ...] = (b"",),
    query: bytes = b"",
) -> tuple[int, dict[str, str], bytes]:
    """Send one request through the gate; return status, headers and body."""
    raw = [(name.lower().encode(), value.encode("latin-1")) for name, value in headers or []]
    if host is not None:
        raw.insert(0, (b"host", host.encode()))
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": query,
        "headers": raw,
        "server": SERVER,
        "client": ("127.0.0.1", 5),
        "scheme": "http",
    }
    left = list(chunks)
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": left.pop(0), "more_body": bool(left)}

    async def send(message: Message) -> None:
        sent.append(message)

    await app(scope, receive, send)
    assert [message["type"] for message in sent].count("http.response.start") == 1
    answered = {name.decode(): value.decode("latin-1") for name, value in sent[0]["headers"]}
    return sent[0]["status"], answered, b"".join(message.get("body", b"") for message in sent[1:])


def path_of(row: Endpoint) -> str:
    return row.path.replace("{name}", "s1")


GOOD_HOSTS = ["127.0.0.1:20006", "localhost:20006", "[::1]:20006", "LOCALHOST:20006"]
BAD_HOSTS = [
    "evil.example.net",
    "evil.example.net:20006",
    "localhost:evil.com",
    "localhost",
    "localhost:3000",
    "localhost.:20006",
    "localhost:20006.",
    "localhost:020006x",
    "user@localhost:20006",
    "localhost:20006@evil.com",
    "127.0.0.1.evil.com:20006",
    "127.0.0.1:20006/",
    "0.0.0.0:20006",
    "192.168.1.5:20006",
    "::1:20006",
    "[::1]",
    "[::1%25eth0]:20006",
    "2130706433:20006",
    "localhost\t:20006",
    "",
]
BAD_ORIGINS = [
    "null",
    "http://evil.example.net",
    "http://localhost:3000",
    "http://localhost",
    "http://localhost:20006.evil.com",
    "http://localhost:1.evil.com",
    "http://localhost:20006/",
    "http://user@localhost:20006",
    "https://localhost:20006",
    "file://",
    "http://127.0.0.1:200060",
    "http://localhost.:20006",
    "chrome-extension://abc",
    "",
]


@pytest.mark.parametrize(("row", "method"), ROUTES, ids=IDS)
@pytest.mark.parametrize("host", BAD_HOSTS)
async def test_s02_h06_a_foreign_host_is_refused_on_every_route(row: Endpoint, method: str, host: str) -> None:
    status, _, _ = await ask(gate(), path_of(row), method, host=host)
    assert status == 421


@pytest.mark.parametrize(("row", "method"), ROUTES, ids=IDS)
@pytest.mark.parametrize("origin", BAD_ORIGINS)
async def test_s02_h06_a_foreign_origin_is_refused_on_every_route(row: Endpoint, method: str, origin: str) -> None:
    status, answered, _ = await ask(gate(), path_of(row), method, [("Origin", origin)])
    assert status == 403
    assert "access-control-allow-origin" not in answered


@pytest.mark.parametrize("host", GOOD_HOSTS)
async def test_s02_own_names_are_answered(host: str) -> None:
    assert (await ask(gate(), "/mcp", host=host))[0] == 200
    assert (await ask(gate(), "/mcp", headers=[("Origin", f"http://{host.lower()}")], host=host))[0] == 200


async def test_s02_two_hosts_or_none_are_refused() -> None:
    assert (await ask(gate(), "/mcp", headers=[("Host", "127.0.0.1:20006")]))[0] == 400
    assert (await ask(gate(), "/mcp", host=None))[0] == 400


@pytest.mark.parametrize(
    ("host", "expected"),
    [("tools.example.com", 200), ("tools.example.com:8443", 200), ("evil.example.net", 421)],
)
async def test_a31_configured_hosts_are_answered_and_a_refusal_names_the_setting(
    host: str, expected: int, caplog: pytest.LogCaptureFixture
) -> None:
    status, _, body = await ask(gate(auth="off", allowed_hosts=["tools.example.com:*"]), "/mcp", host=host)
    assert status == expected
    if expected != 200:
        assert b"server.allowed_hosts" in body
        assert any("allowed_hosts" in line and host in line for line in caplog.messages)


@pytest.mark.parametrize(("row", "method"), ROUTES, ids=IDS)
async def test_s03_h05_every_route_but_health_needs_a_key(row: Endpoint, method: str) -> None:
    app = gate(KEYS)
    for headers in ([], [("Authorization", "Bearer wrong")], [("X-API-Key", "wrong")], [("Authorization", "Bearer ")]):
        status, answered, _ = await ask(app, path_of(row), method, headers)
        assert status == (200 if row.access is Access.PUBLIC else 401)
        if row.access is not Access.PUBLIC:
            assert answered["www-authenticate"].startswith("Bearer")
    assert (await ask(app, path_of(row), method, [("Authorization", "Bearer rules")]))[0] == 200


@pytest.mark.parametrize("carrier", ["Authorization", "X-API-Key", "Cookie"])
@pytest.mark.parametrize(("row", "method"), ROUTES, ids=IDS)
@pytest.mark.parametrize(("key", "role"), list(KEYS.roles.items()))
async def test_s04_s06_the_role_decides_whatever_carries_the_key(
    carrier: str, row: Endpoint, method: str, key: str, role: Access
) -> None:
    value = {"Authorization": f"Bearer {key}", "X-API-Key": key, "Cookie": f"a=b; __Host-naru={key}"}[carrier]
    status, _, _ = await ask(gate(KEYS), path_of(row), method, [(carrier, value)])
    assert status == (200 if role >= row.access else 403)


@pytest.mark.parametrize(
    "path",
    [
        "//api/mcp/servers",
        "/API/mcp/servers",
        "/api/mcp/servers;x",
        "/api/mcp/..;/servers/",
        "/healthz/../mcp",
        "/healthz;",
        "/unlisted",
        "/healthz/x",
        "/healthz%2f..%2fmcp",
        "\\healthz",
        "/ healthz",
        "http://127.0.0.1:20006/mcp",
    ],
)
async def test_s05_a_path_that_no_row_names_is_closed(path: str) -> None:
    assert (await ask(gate(KEYS), path, query=b"x=/healthz"))[0] == 401
    assert (await ask(gate(KEYS), path, headers=[("X-API-Key", "rules"), ("X-Original-URL", "/healthz")]))[0] == 404
    assert (await ask(gate(), path))[0] == 404


async def test_s06_several_keys_or_one_in_the_url_are_refused() -> None:
    both = [("Authorization", "Bearer rules"), ("X-API-Key", "rules")]
    assert (await ask(gate(KEYS), "/mcp", headers=both))[0] == 400
    for query in (b"api_key=rules", b"x=1&token=rules", b"access_token=rules"):
        assert (await ask(gate(KEYS), "/mcp", query=query, headers=both[:1]))[0] == 400


DEAD, LIVE = ("Cookie", "a=b; __Host-naru=over"), ("Cookie", "__Host-naru=rules")


@pytest.mark.parametrize("key", [("Authorization", "Bearer uses"), ("X-API-Key", "uses")], ids=lambda key: key[0])
async def test_s06_a_session_that_is_over_takes_nothing_from_the_key_beside_it(key: tuple[str, str]) -> None:
    status, _, body = await ask(gate(KEYS), "/mcp", headers=[DEAD, key])
    assert (status, body) == (200, b"id-USER USER /mcp")


@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ([DEAD], 401, "wrong_key"),
        ([DEAD, ("Authorization", "Bearer wrong")], 401, "wrong_key"),
        ([DEAD, ("Cookie", "__Host-naru=rules")], 400, "several_credentials"),
        ([DEAD, ("Cookie", "__Host-naru=over"), ("X-API-Key", "rules")], 400, "several_credentials"),
        ([DEAD, ("Authorization", "Bearer rules"), ("X-API-Key", "wrong")], 400, "several_credentials"),
        ([LIVE, ("Authorization", "Bearer reads")], 400, "several_credentials"),
        ([LIVE, ("Authorization", "Bearer wrong")], 400, "several_credentials"),
    ],
)
async def test_s06_a_session_that_is_over_opens_nothing_and_one_that_goes_on_is_a_key_like_others(
    headers: list[tuple[str, str]], status: int, code: str
) -> None:
    answered, told, body = await ask(gate(KEYS), "/mcp", headers=headers)
    said = json.loads(body)
    assert (answered, said["code"]) == (status, code)
    assert status != 401 or ("Authorization: Bearer" in said["remedy"] and "Max-Age=0" in told["set-cookie"])


@pytest.mark.parametrize(
    ("code", "method", "headers", "do"),
    [
        ("headers_too_large", "GET", [("X-API-Key", "rules"), ("X", "x" * 17_000)], "Send fewer"),
        ("several_credentials", "GET", [("X-API-Key", "rules"), ("Authorization", "Bearer rules")], "Send one"),
        ("forbidden", "POST", [("X-API-Key", "uses")], "naru keys create admin"),
    ],
)
async def test_a_refusal_says_what_to_do(code: str, method: str, headers: list[tuple[str, str]], do: str) -> None:
    said = json.loads((await ask(gate(KEYS), "/api/mcp/servers", method, headers))[2])
    assert said["code"] == code
    assert do in said["remedy"]


async def test_s68_a_page_elsewhere_gains_nothing_by_a_session_that_is_over() -> None:
    headers = [DEAD, ("Authorization", "Bearer rules"), ("Origin", "http://evil.example.net")]
    assert (await ask(gate(KEYS), "/mcp", "POST", headers))[0] == 403


async def test_on_an_open_loopback_any_key_is_ignored() -> None:
    status, _, body = await ask(gate(), "/mcp", headers=[("Authorization", "Bearer sk-anything")])
    assert (status, body) == (200, b"local ADMIN /mcp")


async def test_s08_bodies_over_the_limit_are_refused_before_they_are_read() -> None:
    app = gate(max_body_bytes=1000)
    assert (await ask(app, "/mcp", "POST", [("Content-Length", "1001")]))[0] == 413
    assert (await ask(app, "/mcp", "POST", chunks=(b"x" * 600, b"x" * 600)))[0] == 413
    assert (await ask(app, "/mcp", "POST", chunks=(b"x" * 600, b"x" * 300)))[0] == 200
    assert (await ask(app, "/mcp", headers=[("X", "y" * 20_000)]))[0] == 431


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"])
async def test_h06_a_simple_content_type_is_refused(kind: str) -> None:
    assert (await ask(gate(), "/generate_with_mcp", "POST", [("Content-Type", kind)]))[0] == 415


@pytest.mark.parametrize("coding", ["br", "deflate", "gzip", "GZIP, gzip"])
async def test_a_compressed_body_is_refused_by_its_coding(coding: str) -> None:
    status, _, body = await ask(gate(), "/mcp", "POST", [("Content-Encoding", coding)])
    assert (status, coding.encode() in body, b"without Content-Encoding" in body) == (415, True, True)
    assert (await ask(gate(), "/mcp", "POST", [("Content-Encoding", "identity")]))[0] == 200


@pytest.mark.parametrize("path", ["/mcp/", "/sse/", "/api/mcp/servers/s1/"])
async def test_a17_a_trailing_slash_changes_nothing(path: str) -> None:
    status, _, body = await ask(gate(), path)
    assert status == 200
    assert body.endswith(path.rstrip("/").encode())


async def test_a_method_that_no_row_has_is_told_which_are() -> None:
    status, answered, _ = await ask(gate(), "/v1/models", "DELETE")
    assert (status, answered["allow"]) == (405, "GET, HEAD")
    assert (await ask(gate(), "/mcp", "OPTIONS"))[1]["allow"] == "GET, POST, DELETE, HEAD, OPTIONS"


async def test_s16_there_is_no_cors_by_default() -> None:
    headers = [("Origin", "http://localhost:6274"), ("Access-Control-Request-Method", "POST")]
    status, answered, _ = await ask(gate(), "/mcp", "OPTIONS", headers)
    assert status == 403
    assert not [name for name in answered if name.startswith("access-control")]


async def test_a21_a_listed_page_gets_cors_with_the_session_header_also_on_errors() -> None:
    app = gate(KEYS, allowed_origins=["http://localhost:6274"])
    origin = ("Origin", "http://localhost:6274")
    status, answered, _ = await ask(app, "/mcp", "OPTIONS", [origin])
    assert status == 204
    assert "Mcp-Protocol-Version" in answered["access-control-allow-headers"]
    for headers, expected in (([origin], 401), ([origin, ("X-API-Key", "uses")], 200)):
        status, answered, _ = await ask(app, "/mcp", "POST", headers)
        assert status == expected
        assert answered["access-control-allow-origin"] == "http://localhost:6274"
        assert "Mcp-Session-Id" in answered["access-control-expose-headers"]
        assert "access-control-allow-credentials" not in answered


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "", "example.com"])
def test_s01_h01_beyond_loopback_it_refuses_to_serve_without_keys(host: str) -> None:
    with pytest.raises(ConfigError, match="reachable from other machines"):
        check_bind(ServerSettings(host=host, auth="off"))
    check_bind(ServerSettings(host=host, auth="off", dangerously_allow_open_bind=True))
    check_bind(ServerSettings(host=host))
    assert auth_is_on(ServerSettings(host=host), were_made=False)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.3.4.5"])
def test_a01_auto_is_off_on_loopback_until_a_key_exists(host: str) -> None:
    assert not auth_is_on(ServerSettings(host=host), were_made=False)
    assert auth_is_on(ServerSettings(host=host), were_made=True)
    assert auth_is_on(ServerSettings(host=host, auth="on"), were_made=False)


def test_s16_every_origin_is_refused_on_an_open_port() -> None:
    with pytest.raises(ConfigError, match="every web page"):
        check_bind(ServerSettings(allowed_origins=["*"]))


async def test_the_gate_takes_few_steps_for_a_request(record_property: pytest.RecordProperty) -> None:
    async def nothing(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    app = guard(nothing, TABLE, ServerSettings(), keys=KEYS)
    headers = [
        (b"host", b"127.0.0.1:20006"),
        (b"authorization", b"Bearer uses"),
        (b"content-type", b"application/json"),
    ]
    headers += [(b"content-length", b"100"), (b"accept", b"*/*"), (b"mcp-session-id", b"x" * 32)]
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/mcp",
        "headers": headers,
        "server": SERVER,
        "query_string": b"",
    }

    async def receive() -> Message:
        return {"type": "http.request", "body": b""}

    async def send(message: Message) -> None: ...

    await app(dict(scope), receive, send)  # What is built once is not counted.
    calls = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        await app(dict(scope), receive, send)
    finally:
        sys.setprofile(None)
    record_property("python calls", calls)
    assert calls < 50
