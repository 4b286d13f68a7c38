"""Who signed in at the console is that person on every face: credentials, tools, runs (issue 21, Build 2, 3)."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest

from naru.messages import JsonObject
from tests.team.authority import say_yes
from tests.team.conftest import call_mcp
from tests.team.oidc import BASE_URL, Visitor, signed, visited
from tests.team.test_sign_in import upstream

pytestmark = pytest.mark.slow

WHO: JsonObject = {"name": "up__whoami", "arguments": {}}
BY_PAGE = {"elicitation": {"form": {}, "url": {}}}


@asynccontextmanager
async def two_persons(folder: Path, **more: Any) -> AsyncIterator[tuple[Visitor, Visitor]]:
    """Give ada and bob, both signed in at the console of a hub with a server that wants each person's own sign-in."""
    async with upstream() as (_, server):
        entry = {"name": "up", "url": server.url, "transport": "http", "credentials": "per-user"}
        async with visited(folder, mcp={"servers": [entry]}, **more) as ada:
            await ada.hub.manager.started(60)
            bob = ada.other()
            await ada.signs_in()
            ada.provider.subject = "bob"
            await bob.signs_in()
            yield ada, bob


async def signs_in_at_the_server(person: Visitor) -> None:
    begun = await person.http.post("/api/mcp/servers/up/sign-in")
    assert begun.status_code == 200, begun.text
    back = await person.http.get("/oauth/callback", params=await say_yes(begun.json()["url"]))
    assert back.status_code == 200, back.text


async def called(person: Visitor) -> str:
    """Call the server's tool in the console."""
    answer = (await person.http.post("/api/tools/call", json=WHO)).json()
    return str(answer)


def by_token(person: Visitor, subject: str) -> httpx.AsyncClient:
    """Return a client that comes with the issuer's access token of that subject."""
    claims = {
        "iss": person.provider.issuer,
        "aud": f"{BASE_URL}/mcp",
        "sub": subject,
        "exp": time.time() + 600,
        "groups": ["staff"],
    }
    return person.other(Authorization=f"Bearer {signed(claims)}").http


async def test_a_persons_sign_in_at_a_server_is_theirs_with_a_token_too_and_nobody_elses(tmp_path: Path) -> None:
    async with two_persons(tmp_path) as (ada, bob):
        await signs_in_at_the_server(ada)
        assert "'text': 'ada'" in await called(ada)
        assert "only_ada" in (await ada.http.get("/api/tools")).text
        assert "'text': 'ada'" not in await called(bob)
        assert "only_ada" not in (await bob.http.get("/api/tools")).text
        answer = await call_mcp(by_token(ada, "ada"), "tools/call", WHO)
        assert answer["result"]["content"][0]["text"] == "ada"
        answer = await call_mcp(by_token(ada, "bob"), "tools/call", WHO, can=BY_PAGE)
        (asked,) = answer["result"]["inputRequests"].values()
        assert asked["params"]["url"] == f"{BASE_URL}/#/servers/up", "who has a token has the console as well now"


async def test_persons_see_their_own_runs_and_manage_no_keys(tmp_path: Path) -> None:
    async with two_persons(tmp_path, says=["I looked.", "I looked."]) as (ada, bob):
        listed = (await ada.http.get("/v1/models")).json()["data"]
        model = next(one["id"] for one in listed if one["id"].endswith("+tools"))
        asked = {"model": model, "messages": [{"role": "user", "content": "Look."}]}
        answer = await ada.http.post("/v1/chat/completions", json=asked)
        assert answer.status_code == 200, answer.text
        (run,) = (await ada.http.get("/api/runs")).json()["runs"]
        assert run["caller"] == f"{ada.provider.issuer}#ada"
        assert (await bob.http.get("/api/runs")).json() == {"runs": []}
        assert (await bob.http.get(f"/api/runs/{run['id']}")).status_code == 404
        assert (await by_token(ada, "ada").get(f"/api/runs/{run['id']}")).status_code == 200
        for person in (ada, bob):
            assert (await person.http.get("/api/keys")).status_code == 403
