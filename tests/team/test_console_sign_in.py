"""Persons sign in to the console at the issuer of `server.oauth` (issue 21, Build 3; OpenID Connect Core)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from naru.config import OAuthSettings, Settings
from naru.errors import ConfigError
from naru.hub import open_hub
from naru.models.scripted import ScriptedBackend
from naru.web.app import open_app
from naru.web.gate.access import KeyRing
from naru.web.gate.access_tokens import AccessTokens
from naru.web.gate.logins import Logins
from naru.web.oidc.refusals import REASONS
from tests.team.oidc import BACK, BASE_URL, CLIENT, KEY, SCOPES, Visitor, published, settings, signed, visited
from tests.waiting import until

ROLES = {"server": {"roles": {"analyst": {"access": "user", "servers": ["hr"]}}}}


async def test_a_person_signs_in_and_is_the_person_of_their_access_tokens(tmp_path: Path) -> None:
    async with visited(tmp_path) as ada:
        refused = await ada.http.get("/api/session")
        assert refused.status_code == 401
        assert refused.json()["signIn"] == "127.0.0.1"
        done = await ada.signs_in(page="#/servers/up?tab=tools")
        assert done.status_code == 303, done.text
        assert done.headers["location"] == "/#/servers/up?tab=tools"
        who = await ada.who()
        assert (who["role"], who["owner"]) == ("user", "ada@example.com")
        token = signed({"iss": ada.provider.issuer, "aud": f"{BASE_URL}/mcp", "sub": "ada", "exp": 4e9})
        known = await ada.other(Authorization=f"Bearer {token}").http.get("/metrics")
        assert known.status_code == 403, "known, and without a role of its own"
        assert who["id"] == f"{ada.provider.issuer}#ada"
        asked = ada.provider.asked[0]
        assert (asked["response_type"], asked["code_challenge_method"]) == ("code", "S256")
        assert (asked["client_id"], asked["redirect_uri"], asked["scope"]) == (CLIENT, BACK, "openid profile email")
        assert "resource" not in asked, "large issuers refuse what they do not know there"


async def test_the_sessions_cookie_is_strict_and_the_sign_ins_is_not(tmp_path: Path) -> None:
    async with visited(tmp_path) as ada:
        begun = await ada.http.post("/api/session/sign-in", json={})
        (kept,) = begun.headers.get_list("set-cookie")
        assert kept.startswith("__Host-naru-person=")
        assert kept.endswith("; Max-Age=600; Path=/; Secure; HttpOnly; SameSite=Lax")
        done = await ada.comes_back(await ada.agrees(begun.json()["url"]))
        session, forgotten = done.headers.get_list("set-cookie")
        assert session.startswith("__Host-naru=")
        assert session.endswith("; Max-Age=43200; Path=/; Secure; HttpOnly; SameSite=Strict")
        assert forgotten == "__Host-naru-person=; Max-Age=0; Path=/; Secure; HttpOnly; SameSite=Lax"
        assert done.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    ("oauth", "told", "role"),
    [
        ({}, {"groups": ["x", "staff"]}, "user"),
        ({}, {"groups": ["staff", "bosses"]}, "admin"),
        ({"role_claim": "realm.roles", "roles": {"hr": "analyst"}}, {"realm": {"roles": ["hr"]}}, "user"),
        ({"role_claim": "", "scopes": ["openid", "naru:use"]}, {}, "user"),
        ({"role_claim": "", "scopes": SCOPES.split()}, {}, "admin"),
    ],
    ids=["a group", "the first of the settings", "an own role", "a granted scope", "the best granted scope"],
)
async def test_claims_and_granted_scopes_give_the_role(
    tmp_path: Path, oauth: dict[str, Any], told: dict[str, Any], role: str
) -> None:
    async with visited(tmp_path, oauth=oauth, **ROLES) as ada:
        ada.provider.told = told
        assert (await ada.signs_in()).status_code == 303
        assert (await ada.who())["role"] == role


async def test_who_has_no_role_is_told_so_and_comes_not_in(tmp_path: Path) -> None:
    async with visited(tmp_path) as eve:
        eve.provider.told = {"groups": ["others"], "name": "<b>Eve</b>"}
        refused = await eve.signs_in()
        assert refused.status_code == 403
        assert "nothing that it says of you is a role here" in refused.text
        assert "&lt;b&gt;Eve&lt;/b&gt;" in refused.text
        assert "server.oauth.roles" in refused.text
        assert await eve.who() == 401


async def test_groups_that_the_issuer_tells_at_its_userinfo_endpoint_alone_count_too(tmp_path: Path) -> None:
    async with visited(tmp_path) as ada:
        ada.provider.told, ada.provider.more = {}, {"groups": ["bosses"], "name": "Ada"}
        assert (await ada.signs_in()).status_code == 303
        who = await ada.who()
        assert (who["role"], who["owner"]) == ("admin", "Ada")
        ada.provider.told = {"groups": ["staff"]}
        again = ada.other()
        assert (await again.signs_in()).status_code == 303
        assert (await again.who())["role"] == "user", "the ID token has the last word"
        ada.provider.told = {"preferred_username": "ada@example.com"}
        ada.provider.more = {"groups": ["staff"], "preferred_username": "root", "iss": "https://evil.example"}
        third = ada.other()
        assert (await third.signs_in()).status_code == 303
        who = await third.who()
        assert (who["id"], who["owner"]) == (f"{ada.provider.issuer}#ada", "ada@example.com")
        ada.provider.more = {"scope": "naru:admin"}
        assert "is a role here" in (await ada.other().signs_in()).text


async def test_signing_out_ends_it_on_the_server(tmp_path: Path) -> None:
    async with visited(tmp_path) as ada:
        await ada.signs_in()
        kept = ada.session
        assert (await ada.http.delete("/api/session")).status_code == 204
        thief = ada.other(Cookie=f"__Host-naru={kept}")
        assert await thief.who() == 401


async def test_a_session_that_is_over_leads_to_the_sign_in_page_however_often_it_is_tried(tmp_path: Path) -> None:
    async with visited(tmp_path) as ada:
        await ada.signs_in()
        await ada.other(Cookie=f"__Host-naru={ada.session}").http.delete("/api/session")
        answers = [await ada.http.get("/api/session") for _ in range(10)]
        assert {one.status_code for one in answers} == {401}, "not told to wait for trying wrong keys"
        assert answers[0].headers["set-cookie"] == "__Host-naru=; Max-Age=0; Path=/; Secure; HttpOnly; SameSite=Strict"
        assert [one.headers.get("set-cookie") for one in answers[1:]] == [None] * 9
        assert not ada.session
        ada.http.cookies.set("__Host-naru", "of the hub before its restart", domain="127.0.0.1")
        await ada.http.get("/api/session")
        key = ada.hub.keys.create("read")[1]
        by_key = await ada.http.post("/api/session", headers={"Authorization": f"Bearer {key}"})
        assert by_key.status_code == 200, "the session that is over does not come along any more"
        guesser = ada.other(Authorization="Bearer wrong")
        answers = [await guesser.http.get("/api/session") for _ in range(10)]
        assert answers[-1].status_code == 429
        assert not any("set-cookie" in one.headers for one in answers)


async def test_who_brings_a_key_beside_a_session_that_is_over_is_served_and_signed_in_anew(tmp_path: Path) -> None:
    async with visited(tmp_path) as ada:
        await ada.signs_in()
        over = ada.session
        await ada.http.delete("/api/session")
        key = ada.hub.keys.create("operator")[1]
        browser = ada.other(Cookie=f"__Host-naru={over}", Authorization=f"Bearer {key}")
        assert (await browser.who())["role"] == "operator"
        assert (await browser.http.post("/api/session")).status_code == 200
        assert browser.session not in ("", over)
        goes_on = ada.other(Cookie=f"__Host-naru={browser.session}", Authorization=f"Bearer {key}")
        refused = await goes_on.http.get("/api/session")
        assert (refused.status_code, refused.json()["code"]) == (400, "several_credentials")


async def test_each_sign_in_has_a_session_of_its_own(tmp_path: Path) -> None:
    async with visited(tmp_path) as ada:
        fixed = ada.other(Cookie="__Host-naru=chosen-by-somebody-else")
        url = await ada.agrees(await ada.begins())
        cookie = next(one.value for one in ada.http.cookies.jar if one.name == "__Host-naru-person")
        given = f"__Host-naru=chosen-by-somebody-else; __Host-naru-person={cookie}"
        done = await ada.other(Cookie=given).comes_back(url)
        assert done.status_code == 303
        assert "chosen-by-somebody-else" not in str(done.headers.get_list("set-cookie"))
        assert await fixed.who() == 401
        first, second = ada.other(), ada.other()
        await first.signs_in()
        await second.signs_in()
        assert first.session != second.session
        assert (await first.who())["id"] == (await second.who())["id"]
        await first.http.delete("/api/session")
        assert (await second.who())["role"] == "user"


async def test_any_hub_takes_the_answer(tmp_path: Path) -> None:
    async with visited(tmp_path / "one") as ada:
        made = settings(ada.provider, tmp_path / "two")
        async with open_hub(made, backend=ScriptedBackend([]), asks_for_keys=True) as hub, open_app(hub) as app:
            there = Visitor(hub, app, ada.provider)
            url = await ada.agrees(await ada.begins())
            there.http.cookies = ada.http.cookies
            assert (await there.comes_back(url)).status_code == 303
            assert (await there.who())["id"] == f"{ada.provider.issuer}#ada"


async def test_behind_a_trusted_proxy_all_of_it_is_below_the_path(tmp_path: Path) -> None:
    back = "https://tools.example.com/naru/oauth/session"
    rules = {"root_path": "/naru/", "trusted_proxies": ["127.0.0.0/8"], "allowed_hosts": ["tools.example.com"]}
    async with visited(tmp_path, server=rules, redirect_uri=back) as ada:
        outside = ada.other(**{"X-Forwarded-Host": "tools.example.com", "X-Forwarded-Proto": "https"})
        begun = await outside.http.post("/naru/api/session/sign-in", json={"page": "#/tools"})
        kept = begun.headers["set-cookie"]
        assert kept.startswith("__Secure-naru-person=")
        assert "; Path=/naru/;" in kept
        assert ada.provider.issuer in begun.json()["url"]
        url = await ada.agrees(begun.json()["url"])
        assert url.startswith(f"{back}?")
        done = await outside.comes_back(url)
        assert done.headers["location"] == "/naru/#/tools"
        assert done.headers.get_list("set-cookie")[0].startswith("__Secure-naru=")
        assert (await outside.http.get("/naru/api/session")).json()["role"] == "user"
        begun = await outside.http.post("/naru/api/session/sign-in", json={})
        refused = await outside.http.get("/naru/oauth/session?state=x&code=y")
        assert "href='/naru/#/overview'" in refused.text


async def test_without_a_client_nothing_is_offered(tmp_path: Path) -> None:
    async with visited(tmp_path, oauth={"client_id": "", "client_secret": ""}) as ada:
        assert "signIn" not in (await ada.http.get("/api/session")).json()
        assert (await ada.http.post("/api/session/sign-in", json={})).status_code == 401
        assert (await ada.http.get("/oauth/session?state=x&code=y")).status_code == 401


async def test_a_session_holds_while_its_issuer_and_its_role_are_those_of_the_settings(tmp_path: Path) -> None:
    logins = Logins(tmp_path / "logins.json")
    async with visited(tmp_path / "hub", **ROLES) as ada:
        roles, oauth = ada.hub.settings.server.roles, ada.hub.settings.server.oauth
        person = f"{oauth.issuer}#ada"

        def ring(oauth: OAuthSettings, roles: Any) -> KeyRing:
            again = Logins(tmp_path / "logins.json")  # as after a start, or on another hub
            return KeyRing(ada.hub.keys, AccessTokens(oauth, roles), roles, logins=again)

        token = ring(oauth, roles).open_for_person(person, "analyst", "Ada").encode()
        found = ring(oauth, roles).verify(token)
        assert found is not None
        assert (found.id, found.owner, found.reach.server("docs")) == (person, "Ada", False)
        assert ring(oauth, {}).verify(token) is None
        assert ring(oauth.model_copy(update={"client_id": ""}), roles).verify(token) is None
        assert ring(oauth.model_copy(update={"issuer": "https://other.example"}), roles).verify(token) is None
        assert KeyRing(ada.hub.keys, None, roles, logins=logins).verify(token) is None
        key, _ = ada.hub.keys.create("read")
        before = {"logins": {**json.loads((tmp_path / "logins.json").read_bytes())["logins"]}}
        before["logins"][next(iter(before["logins"]))] = [key.id, 4e9]  # as a version before wrote it
        (tmp_path / "logins.json").write_text(json.dumps(before), encoding="utf-8")
        kept = ring(oauth, roles).verify(token)
        assert kept is not None
        assert kept.id == key.id


async def test_a_token_opens_no_session_that_would_be_good_for_nothing(tmp_path: Path) -> None:
    async with visited(tmp_path) as ada:
        await ada.signs_in()
        refused = await ada.http.post("/api/session", json={})
        assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
        assert (await ada.who())["role"] == "user", "the session that it has is as it was"


async def test_it_is_written_down_who_came_and_why_somebody_did_not(tmp_path: Path) -> None:
    async with visited(tmp_path) as ada:
        await ada.signs_in()
        await ada.http.get("/oauth/session?state=x&code=secret-code")
        await until(lambda: "refused.sign_in" in _log(tmp_path))
        assert '"session.opened"' in _log(tmp_path)
        assert f"{ada.provider.issuer}#ada" in _log(tmp_path)
        assert "not_waited" in _log(tmp_path)
        assert "secret-code" not in _log(tmp_path)


def _log(folder: Path) -> str:
    return "".join(one.read_text(encoding="utf-8") for one in folder.rglob("audit*") if one.is_file())


# What a person reads


async def test_an_issuer_that_is_away_is_told_before_anybody_goes_there(tmp_path: Path) -> None:
    async with visited(tmp_path, oauth={"issuer": "http://127.0.0.1:9", "name": "Team login"}) as ada:
        assert (await ada.http.get("/api/session")).json()["signIn"] == "Team login"
        for _ in range(2):
            told = await ada.http.post("/api/session/sign-in", json={})
            assert told.status_code == 502
            assert "sign-in with Team login could not begin: http://127.0.0.1:9" in told.json()["detail"]
            assert told.json()["remedy"]
            assert "set-cookie" not in told.headers


async def test_a_person_who_says_no_is_told_what_to_do_in_their_language(tmp_path: Path) -> None:
    async with visited(tmp_path, oauth={"name": "Team login"}) as ada:
        ada.provider.answer = {"error": "access_denied", "error_description": "<i>not today</i>"}
        english = await ada.signs_in()
        korean = await ada.signs_in(language="ko", page="#/tools")
        assert english.status_code == korean.status_code == 400
        assert "Team login says no" in english.text
        assert "Naru tried to sign you in with Team login." in english.text
        assert "Team login에서 거절했습니다." in korean.text
        assert "<html lang=ko>" in korean.text
        assert "href='/#/tools'" in korean.text
        for page in (english, korean):
            assert "&lt;i&gt;not today&lt;/i&gt;" in page.text
            assert "default-src 'none'" in page.headers["content-security-policy"]
        asked = await ada.other(**{"Accept-Language": "ko-KR,ko;q=0.9"}).http.get("/oauth/session")
        assert "로그인하지 못했습니다" in asked.text


@pytest.mark.parametrize(("apart", "life"), [(-3600, 300), (3600, 300), (-3600, 9000)])
async def test_a_clock_that_is_wrong_is_called_that(tmp_path: Path, apart: int, life: int) -> None:
    async with visited(tmp_path) as ada:
        ada.provider.sign = lambda claims: signed(
            {**claims, "iat": claims["iat"] + apart, "exp": claims["iat"] + apart + life}
        )
        refused = await ada.signs_in()
        assert refused.status_code == 400
        assert "clocks" in refused.text
        where = "in the future" if apart > 0 else "ago"
        assert f"s {where}." in refused.text
        assert await ada.who() == 401


async def test_other_trouble_at_the_issuer_is_told_in_its_words(tmp_path: Path) -> None:
    async with visited(tmp_path) as ada:
        ada.provider.answer = {"error": "invalid_scope", "error_description": "no profile here"}
        assert "invalid_scope no profile here" in (await ada.signs_in()).text
        ada.provider.answer = {}
        url = await ada.agrees(await ada.begins())
        ada.provider.clients[CLIENT].client_secret = "another"
        assert "check server.oauth.client_id and client_secret" in (await ada.comes_back(url)).text


async def test_a_key_that_the_issuer_just_began_to_use_is_fetched_at_the_sign_in(tmp_path: Path) -> None:
    async with visited(tmp_path) as ada:
        assert (await ada.signs_in()).status_code == 303
        ada.provider.keys = [published("two", KEY)]
        ada.provider.sign = lambda claims: signed(claims, kid="two")
        assert (await ada.signs_in()).status_code == 303


async def test_an_issuer_that_does_not_say_that_it_has_pkce_is_taken_with_a_secret_alone(tmp_path: Path) -> None:
    async with visited(tmp_path) as ada:
        ada.provider.metadata = {"code_challenge_methods_supported": []}
        assert (await ada.signs_in()).status_code == 303
    async with visited(tmp_path, oauth={"client_secret": ""}) as ada:
        ada.provider.metadata = {"code_challenge_methods_supported": []}
        told = await ada.http.post("/api/session/sign-in", json={})
        assert told.status_code == 502
        assert "PKCE" in told.json()["detail"]


async def test_the_secret_may_lie_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "client-secret"
    file.write_text("a-client-secret-that-is-long-enough\n", encoding="utf-8")
    async with visited(tmp_path / "hub", oauth={"client_secret": f"file:{file}"}) as ada:
        assert (await ada.signs_in()).status_code == 303
    made = Settings.model_validate(
        {
            "hub": {"data_dir": tmp_path / "other", "store": "memory:"},
            "server": {
                "oauth": {
                    "issuer": "https://login.example",
                    "resource": "https://me.example/mcp",
                    "client_id": "naru",
                    "client_secret": f"file:{tmp_path / 'missing'}",
                }
            },
        }
    )
    with pytest.raises(ConfigError, match=r"server\.oauth\.client_secret names .*missing"):
        async with open_hub(made, backend=ScriptedBackend([])) as hub, open_app(hub):
            pass


@pytest.mark.slow
def test_where_nobody_signs_in_nothing_of_it_is_imported() -> None:
    look = "import sys, naru.web.app; print([m for m in sys.modules if m == 'jwt' or m.startswith('naru.web.oidc')])"
    told = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True, timeout=120)
    assert told.stdout.strip() == "[]"


def test_every_reason_is_told_in_both_languages() -> None:
    for code, texts in REASONS.items():
        assert set(texts) == {"en", "ko"}, code
        assert all(len(words) == 2 and all(words) for words in texts.values()), code


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"client_id": "naru"}, "oauth.client_id is of no use without oauth.issuer"),
        ({"client_id": "naru", "scopes": ["profile"]}, "openid"),
        ({"client_id": "https://me.example/mcp"}, "must differ"),
    ],
)
def test_settings_with_which_nobody_could_sign_in_are_refused(given: dict[str, Any], says: str) -> None:
    base = {} if "no use" in says else {"issuer": "https://login.example", "resource": "https://me.example/mcp"}
    with pytest.raises(ValueError, match=says):
        OAuthSettings.model_validate({**base, **given})
