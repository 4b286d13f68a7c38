"""What stands before us: `server.root_path` and what trusted proxies say (issue 21 line 4; S-05, S-17)."""

from __future__ import annotations

import pytest
from pydantic import ValidationError
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from naru.config import ServerSettings
from naru.gateway.sessions.asgi import address_seen
from naru.web.app import as_asgi, dispatch
from naru.web.gate.proxy import endpoints as behind_rows
from naru.web.gate.security import Gate, guard
from naru.web.routes import Access, Endpoint
from tests.web.test_security import KEYS, ask


async def told(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with what the scope says, and a place of ours."""
    facts = {"path": scope["path"], "client": scope["client"][0], "address": address_seen(scope)}
    await JSONResponse(facts, headers={"Location": "/api/keys/1"})(scope, receive, send)


ROWS = [
    Endpoint("/", ("GET",), told, Access.PUBLIC, raw=True),
    Endpoint("/v1/models", ("GET",), told, Access.READ, raw=True),
    Endpoint("/api/keys", ("POST",), told, Access.ADMIN, raw=True),
]


def gate(**settings: object) -> Gate:
    made = ServerSettings.model_validate({"allowed_hosts": ["example.com"], **settings})
    return guard(told, [*ROWS, *behind_rows(made)], made, keys=KEYS)


@pytest.mark.parametrize("path", ["/naru/v1/models", "/v1/models"], ids=["passed on", "cut off by the proxy"])
async def test_a_path_below_the_root_path_is_the_row_of_that_name(path: str) -> None:
    app = gate(root_path="/naru/")
    status, _, body = await ask(app, path, headers=[("X-API-Key", "reads")], host="example.com")
    assert status == 200
    assert b'"path":"/v1/models"' in body
    assert b'"address":"http://example.com/naru"' in body


@pytest.mark.parametrize(
    "path", ["/naru/v1/models", "/naru/%2e%2e/api/keys", "/naru//api/keys", "/naru/naru/v1/models"]
)
async def test_s05_no_path_below_it_opens_what_needs_a_key(path: str) -> None:
    status, _, _ = await ask(gate(root_path="/naru"), path, host="example.com")
    assert status == 401


async def test_the_bare_root_path_leads_to_the_page_below_which_links_count() -> None:
    settings = ServerSettings.model_validate({"allowed_hosts": ["example.com"], "root_path": "/naru"})
    app = guard(dispatch, map(as_asgi, [*ROWS, *behind_rows(settings)]), settings, keys=KEYS)
    status, headers, _ = await ask(app, "/naru", host="example.com")
    assert (status, headers["location"]) == (308, "/naru/")


async def test_where_an_answer_leads_to_is_below_the_root_path() -> None:
    _, headers, _ = await ask(
        gate(root_path="/naru"), "/naru/api/keys", "POST", [("X-API-Key", "rules")], host="example.com"
    )
    assert headers["location"] == "/naru/api/keys/1"


FORWARDED = [
    ("X-Forwarded-For", "6.6.6.6, 203.0.113.7, 127.0.0.9"),
    ("X-Forwarded-Proto", "https"),
    ("X-Forwarded-Host", "example.com"),
    ("X-Forwarded-Prefix", "/below"),
]


async def test_s17_a_trusted_proxy_says_who_came_how_and_below_what() -> None:
    app = gate(trusted_proxies=["127.0.0.0/8"])
    _, headers, body = await ask(app, "/", headers=FORWARDED, host="inside:80")
    assert body == b'{"path":"/","client":"203.0.113.7","address":"https://example.com/below"}'
    assert headers["location"] == "/below/api/keys/1"


async def test_s17_from_anybody_else_forwarded_headers_mean_nothing() -> None:
    _, headers, body = await ask(gate(trusted_proxies=["10.0.0.1"]), "/", headers=FORWARDED, host="example.com")
    assert body == b'{"path":"/","client":"127.0.0.1","address":"http://example.com"}'
    assert headers["location"] == "/api/keys/1"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("X-Forwarded-For", "not an address"),
        ("X-Forwarded-For", "203.0.113.7, ::garbage"),
        ("X-Forwarded-Proto", "gopher"),
        ("X-Forwarded-Prefix", "//evil.example/x"),
        ("X-Forwarded-Prefix", "/a b"),
    ],
)
async def test_s17_garbage_from_a_trusted_proxy_changes_nothing(name: str, value: str) -> None:
    app = gate(trusted_proxies=["127.0.0.1"])
    _, headers, body = await ask(app, "/", headers=[(name, value)], host="example.com")
    assert body == b'{"path":"/","client":"127.0.0.1","address":"http://example.com"}'
    assert headers["location"] == "/api/keys/1"


@pytest.mark.parametrize("host", ["evil.example", "example.com, evil.example", "example.com@evil.example", "\x7f"])
async def test_s02_a_forwarded_host_is_judged_like_any_other(host: str) -> None:
    app = gate(trusted_proxies=["127.0.0.1"])
    status, _, _ = await ask(app, "/", headers=[("X-Forwarded-Host", host)], host="example.com")
    assert status == 421


async def test_s17_two_forwarded_hosts_are_none() -> None:
    twice = [("X-Forwarded-Host", "example.com"), ("X-Forwarded-Host", "example.com")]
    status, _, _ = await ask(gate(trusted_proxies=["127.0.0.1"]), "/", headers=twice, host="example.com")
    assert status == 421


async def test_s68_below_a_path_the_session_is_not_sent_to_the_rest_of_the_site() -> None:
    below, own = gate(root_path="/naru"), gate()
    for app, name, other in ((below, "__Secure-naru", "__Host-naru"), (own, "__Host-naru", "__Secure-naru")):
        statuses = [
            (await ask(app, "/v1/models", headers=[("Cookie", f"{one}=reads")], host="example.com"))[0]
            for one in (name, other)
        ]
        assert statuses == [200, 401]


@pytest.mark.parametrize("path", ["/a b", "/a?b", "/../x/%41", "http://h/x"])
def test_a_root_path_that_is_none_is_refused(path: str) -> None:
    with pytest.raises(ValidationError, match="is no path such as /naru/"):
        ServerSettings.model_validate({"root_path": path})


@pytest.mark.parametrize("proxy", ["nginx", "10.0.0.0/99", ""])
def test_a_trusted_proxy_that_is_no_address_is_refused(proxy: str) -> None:
    with pytest.raises(ValidationError):
        ServerSettings.model_validate({"trusted_proxies": [proxy]})
