"""Signing in to the console at an issuer, behind nginx with TLS before two hubs on one PostgreSQL (issue 21)."""

from __future__ import annotations

import asyncio
import json
import ssl
from contextlib import ExitStack
from pathlib import Path

import httpx2 as httpx
import pytest

from tests.certificates import make_certificates
from tests.postgres_servers import PostgresServers
from tests.replicas.cluster import NGINX, Cluster, cluster, eventually
from tests.team.oidc import CLIENT, SECRET, agreed, issuer

pytestmark = pytest.mark.slow
SIGNED_OUT = (401, 429)
TLS = """listen 127.0.0.1:{{port}} ssl;
    ssl_certificate {certificate};
    ssl_certificate_key {key};
    add_header X-Hub $upstream_addr always;"""
"""Each request goes to the next hub in turn, and the answer says to which."""
FORWARDED = """proxy_set_header X-Forwarded-For $remote_addr;
        proxy_set_header X-Forwarded-Proto $scheme;
        proxy_set_header Host"""


async def test_a_sign_in_begun_at_one_hub_ends_at_another_and_a_sign_out_at_one_ends_it_at_both(
    tmp_path: Path, postgres_servers: PostgresServers
) -> None:
    certificates = make_certificates(tmp_path / "certificates")
    tls = TLS.format(certificate=certificates.certificate, key=certificates.key)
    site = NGINX.replace("listen 127.0.0.1:{port};", tls).replace("proxy_set_header Host", FORWARDED)
    settings = {
        "NARU_SERVER__TRUSTED_PROXIES": json.dumps(["127.0.0.1"]),
        "NARU_SERVER__OAUTH__RESOURCE": "https://naru.example.com/mcp",
        "NARU_SERVER__OAUTH__CLIENT_ID": CLIENT,
        "NARU_SERVER__OAUTH__CLIENT_SECRET": SECRET,
        "NARU_SERVER__OAUTH__ROLE_CLAIM": "groups",
        "NARU_SERVER__OAUTH__ROLES": json.dumps({"staff": "user"}),
    }
    async with issuer() as provider:
        hubs = cluster(
            tmp_path / "hubs",
            postgres_servers.fresh_database(15),
            2,
            site=site,
            NARU_SERVER__OAUTH__ISSUER=provider.issuer,
            **settings,
        )
        with ExitStack() as stack:  # in threads: the issuer answers meanwhile
            two = await asyncio.to_thread(stack.enter_context, hubs)
            outside = two.proxy.replace("http:", "https:")
            provider.serves(f"{outside}/oauth/session")
            trusted = ssl.create_default_context(cafile=str(certificates.authority))
            async with httpx.AsyncClient(base_url=outside, verify=trusted, timeout=90) as browser:
                begun = await browser.post("/api/session/sign-in", json={"page": "#/tools"})
                assert begun.status_code == 200, begun.text
                back = await agreed(provider, begun.json()["url"])
                assert back.startswith(f"{outside}/oauth/session?")
                done = await browser.get(back)
                assert (done.status_code, done.headers["location"]) == (303, "/#/tools"), done.text
                assert {begun.headers["x-hub"], done.headers["x-hub"]} == {
                    url.removeprefix("http://") for url in two.urls
                }, "one hub began, and the other took the answer"
                session = browser.cookies["__Host-naru"]
                for number in range(2):
                    await asyncio.to_thread(eventually, lambda number=number: asked(two, number, session) == 200)
                assert (await browser.get("/api/session")).json()["id"] == f"{provider.issuer}#ada"
                assert (await browser.delete("/api/session")).status_code == 204
                for number in range(2):
                    await asyncio.to_thread(eventually, lambda number=number: asked(two, number, session) in SIGNED_OUT)
            await asyncio.to_thread(stack.close)


def asked(two: Cluster, number: int, session: str) -> int:
    """Return what one hub, asked without nginx, answers to that session."""
    cookie = {"Cookie": f"__Host-naru={session}"}
    return httpx.get(f"{two.urls[number]}/api/session", headers=cookie, timeout=90).status_code
