"""Attacks on the sign-in to the console: issue 21's list, OpenID Connect Core 3.1.3.7, RFC 9700, RFC 9207, RFC 8725."""

from __future__ import annotations

import base64
import hmac
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from cryptography.hazmat.primitives import serialization

from naru.web.oidc import question as questions
from naru.web.oidc.question import Question, read_question
from tests.team.oidc import BASE_URL, CLIENT, KEY, OTHER_KEY, SECRET, Visitor, published, question, signed, visited

NOT_WAITED = "did not begin this sign-in"
WAITING = "__Host-naru-person"


def waiting(visitor: Visitor) -> str:
    """Return what a browser holds of a sign-in that waits."""
    return next((one.value or "" for one in visitor.http.cookies.jar if one.name == WAITING), "")


async def refused(visitor: Visitor, url: str, says: str) -> httpx.Response:
    """Come back, and be told that; nobody is signed in."""
    answer = await visitor.comes_back(url)
    assert answer.status_code in (400, 403, 502), answer.text
    assert says in answer.text
    assert not any(one.startswith("__Host-naru=") for one in answer.headers.get_list("set-cookie"))
    assert await visitor.who() == 401
    return answer


# State: login CSRF, replay


async def test_an_answer_that_somebody_else_began_signs_nobody_in(tmp_path: Path) -> None:
    async with visited(tmp_path) as eve:
        eve.provider.subject = "eve"
        link = await eve.agrees(await eve.begins())
        ada = eve.other()
        await refused(ada, link, NOT_WAITED)
        await ada.begins()
        before = waiting(ada)
        answer = await refused(ada, link, NOT_WAITED)
        assert "set-cookie" not in answer.headers, "what ada began still waits"
        assert waiting(ada) == before
        assert "close this page" in answer.text


@pytest.mark.parametrize("state", ["", "state=", "state=x&state=y", "state=%00", "state=" + "A" * 43])
async def test_an_answer_without_the_state_is_refused(tmp_path: Path, state: str) -> None:
    async with visited(tmp_path) as ada:
        code = question(await ada.agrees(await ada.begins()))["code"]
        await refused(ada, f"{BASE_URL}/oauth/session?code={code}&{state}", NOT_WAITED)
        assert waiting(ada)


async def test_an_answer_is_taken_once_also_by_whoever_kept_the_cookie(tmp_path: Path) -> None:
    async with visited(tmp_path) as ada:
        ada.provider.is_lax = True  # RFC 6749 lets no issuer take a code twice; some do
        url = await ada.agrees(await ada.begins())
        kept = waiting(ada)
        assert (await ada.comes_back(url)).status_code == 303
        await ada.http.delete("/api/session")
        assert not waiting(ada)
        await refused(ada, url, NOT_WAITED)
        await refused(ada.other(Cookie=f"{WAITING}={kept}"), url, NOT_WAITED)


async def test_a_code_that_was_used_is_no_good_for_another_question(tmp_path: Path) -> None:
    async with visited(tmp_path) as ada:
        used = question(await ada.agrees(await ada.begins()))
        await ada.comes_back(f"{BASE_URL}/oauth/session?code={used['code']}&state={used['state']}")
        await ada.http.delete("/api/session")
        mine = question(await ada.agrees(await ada.begins()))
        await refused(
            ada, f"{BASE_URL}/oauth/session?code={used['code']}&state={mine['state']}", "gave nothing for the code"
        )


async def test_a_code_of_another_browser_is_no_good_here(tmp_path: Path) -> None:
    async with visited(tmp_path) as ada:
        eve = ada.other()
        stolen = question(await ada.agrees(await ada.begins()))["code"]
        state = question(await eve.agrees(await eve.begins()))["state"]
        await refused(eve, f"{BASE_URL}/oauth/session?code={stolen}&state={state}", "gave nothing for the code")


async def test_a_sign_in_that_took_too_long_is_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with visited(tmp_path) as ada:
        url = await ada.agrees(await ada.begins())
        monkeypatch.setattr(questions, "MOST_SECONDS", -1)
        await refused(ada, url, "longer than ten minutes")
        assert not waiting(ada)


def test_nothing_in_the_cookie_can_be_changed_without_losing_the_state() -> None:
    asked = Question.new("#/tools", "ko")
    assert read_question(asked.cookie) == asked
    secret, begun, language, page = asked.cookie.split(".")
    for changed in (
        f"{secret}.{int(begun) + 9999}.{language}.{page}",
        f"{secret}.{begun}.en.{page}",
        f"{secret}.{begun}.{language}.{base64.urlsafe_b64encode(b'#/keys').decode()}",
    ):
        other = read_question(changed)
        assert other is not None
        assert not other.is_answered_by(asked.state)
    for broken in (
        "",
        "x",
        asked.cookie + "x.y",
        f"{secret}.{begun}.{language}.{_text('//evil.example')}",
        f"..{page}",
    ):
        assert read_question(broken) is None
    derived = {asked.state, asked.nonce, asked.verifier, asked.secret}
    assert len(derived) == 4
    assert all(len(one) == 43 for one in derived), "a verifier has 43 characters or more (RFC 7636)"


def _text(value: str) -> str:
    return base64.urlsafe_b64encode(value.encode()).decode().rstrip("=")


# The ID token


def part(value: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def unsigned(claims: Mapping[str, Any]) -> str:
    return f"{part({'alg': 'none', 'kid': 'one'})}.{part(claims)}."


def by_shared(secret: bytes) -> Callable[[Mapping[str, Any]], str]:
    def sign(claims: Mapping[str, Any]) -> str:
        text = f"{part({'alg': 'HS256', 'kid': 'one'})}.{part(claims)}"
        mac = base64.urlsafe_b64encode(hmac.digest(secret, text.encode(), "sha256")).rstrip(b"=").decode()
        return f"{text}.{mac}"

    return sign


PEM = KEY.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
FORGED: dict[str, Callable[[Mapping[str, Any]], str | None]] = {
    "no signature": unsigned,
    "the public key as a shared secret": by_shared(PEM),
    "the published key as a shared secret": by_shared(json.dumps(published("one", KEY)).encode()),
    "the client's secret": by_shared(SECRET.encode()),
    "another key": lambda claims: signed(claims, OTHER_KEY),
    "another key that it brings along": lambda claims: signed(
        claims, OTHER_KEY, jwk=published("one", OTHER_KEY), jku="http://127.0.0.1:9/keys"
    ),
    "an unknown key": lambda claims: signed(claims, OTHER_KEY, kid="three"),
    "a key without a name": lambda claims: signed(claims, kid=""),
    "an access token": lambda claims: signed(claims, typ="at+jwt"),
    "a logout token": lambda claims: signed(claims, typ="logout+jwt"),
    "a critical extension": lambda claims: signed(claims, crit=["exp"]),
    "no token": lambda claims: None,
    "no JWT": lambda claims: "a.b.c",
    "a long one": lambda claims: signed({**claims, "more": "x" * 70_000}),
}


@pytest.mark.parametrize("forged", FORGED)
async def test_an_id_token_that_the_issuer_did_not_sign_is_not_taken(tmp_path: Path, forged: str) -> None:
    async with visited(tmp_path) as ada:
        ada.provider.sign = FORGED[forged]
        await refused(ada, await ada.agrees(await ada.begins()), "an ID token that is not good here")


@pytest.mark.parametrize(
    "told",
    [
        {"aud": "another-client"},
        {"aud": f"{BASE_URL}/mcp"},
        {"aud": ["another-client"]},
        {"aud": ...},
        {"aud": [CLIENT, "another-client"]},
        {"aud": [CLIENT, "another-client"], "azp": "another-client"},
        {"azp": "another-client"},
        {"iss": "https://evil.example"},
        {"iss": ...},
        {"nonce": "another"},
        {"nonce": ""},
        {"nonce": ...},
        {"nonce": "\ud800"},
        {"sub": "\ud800"},
        {"sub": ""},
        {"sub": ...},
        {"sub": 7},
        {"exp": ...},
        {"iat": ...},
        {"iat": "now"},
    ],
    ids=lambda told: json.dumps(told, default=lambda _: "missing").replace(BASE_URL, ""),
)
async def test_an_id_token_for_somebody_or_something_else_is_not_taken(tmp_path: Path, told: dict[str, Any]) -> None:
    async with visited(tmp_path) as ada:
        ada.provider.told = {"groups": ["bosses"], **told}
        await refused(ada, await ada.agrees(await ada.begins()), "an ID token that is not good here")


async def test_an_id_token_for_several_that_names_naru_is_taken(tmp_path: Path) -> None:
    async with visited(tmp_path) as ada:
        ada.provider.told |= {"aud": ["another-client", CLIENT], "azp": CLIENT}
        assert (await ada.signs_in()).status_code == 303


async def test_the_id_token_of_another_sign_in_is_not_taken(tmp_path: Path) -> None:
    async with visited(tmp_path) as ada:
        eve, given = ada.other(), []

        def noted(claims: Mapping[str, Any]) -> str:
            given.append(signed(claims))
            return given[-1]

        ada.provider.sign = noted
        assert (await ada.signs_in()).status_code == 303
        ada.provider.sign = lambda _: given[0]
        await refused(eve, await eve.agrees(await eve.begins()), "another sign-in (nonce)")


async def test_what_the_userinfo_endpoint_says_of_somebody_else_is_not_taken(tmp_path: Path) -> None:
    async with visited(tmp_path) as ada:
        ada.provider.told, ada.provider.more = {}, {"sub": "grace", "groups": ["bosses"]}
        await refused(ada, await ada.agrees(await ada.begins()), "somebody else (sub)")
        ada.provider.told = {"groups": ["others"]}
        await refused(ada, await ada.agrees(await ada.begins()), "nothing that it says of you is a role here")


async def test_an_id_token_is_no_access_token(tmp_path: Path) -> None:
    async with visited(tmp_path) as ada:
        given: list[str] = []
        ada.provider.sign = lambda claims: given.append(signed(claims)) or given[-1]  # type: ignore[func-returns-value]
        await ada.signs_in()
        assert await ada.other(Authorization=f"Bearer {given[0]}").who() == 401


# The issuer, and where it leads


@pytest.mark.parametrize("said", ["https://evil.example", "", "http://127.0.0.1:9"])
async def test_an_answer_of_another_issuer_is_a_mix_up(tmp_path: Path, said: str) -> None:
    async with visited(tmp_path) as ada:
        ada.provider.answer = {"iss": said}
        await refused(ada, await ada.agrees(await ada.begins()), "does not come from")
        assert ada.provider.access == {}, "the code went nowhere"


async def test_an_issuer_that_names_itself_with_every_answer_is_held_to_it(tmp_path: Path) -> None:
    async with visited(tmp_path) as ada:
        ada.provider.metadata = {"authorization_response_iss_parameter_supported": True}
        await refused(ada, await ada.agrees(await ada.begins()), "does not come from")
        ada.provider.answer = {"iss": ada.provider.issuer}
        assert (await ada.signs_in()).status_code == 303


async def test_an_error_of_another_issuer_is_a_mix_up_too(tmp_path: Path) -> None:
    async with visited(tmp_path) as ada:
        ada.provider.answer = {"iss": "https://evil.example", "error": "access_denied"}
        await refused(ada, await ada.agrees(await ada.begins()), "does not come from")


@pytest.mark.parametrize(
    "metadata",
    [
        {"issuer": "https://evil.example"},
        {"token_endpoint": "http://169.254.169.254/latest/meta-data"},
        {"token_endpoint": "http://evil.example/token"},
        {"token_endpoint": "file:///etc/passwd"},
        {"authorization_endpoint": "javascript:alert(1)"},
        {"authorization_endpoint": ""},
        {"userinfo_endpoint": "http://169.254.169.254/me"},
    ],
    ids=lambda metadata: "-".join(str(one) for one in metadata.items()),
)
async def test_poisoned_metadata_leads_nobody_anywhere(tmp_path: Path, metadata: dict[str, str]) -> None:
    async with visited(tmp_path) as ada:
        ada.provider.metadata = metadata
        told = await ada.http.post("/api/session/sign-in", json={})
        assert told.status_code == 502
        assert "could not begin" in told.json()["detail"]
        assert "set-cookie" not in told.headers


@pytest.mark.parametrize(
    "page",
    [
        "https://evil.example/",
        "//evil.example",
        "/\\evil.example",
        "#//../\r\nSet-Cookie: x=y",
        "#/x\nLocation: https://evil.example",
        "javascript:alert(1)",
        "@evil.example/#/",
        "#/" + "x" * 600,
        "#/<script>",
        "",
    ],
)
async def test_the_way_back_leads_to_a_page_of_the_console_alone(tmp_path: Path, page: str) -> None:
    async with visited(tmp_path) as ada:
        done = await ada.signs_in(page=page)
        assert done.status_code == 303
        assert done.headers["location"] == "/#/overview"


async def test_a_foreign_page_begins_nothing(tmp_path: Path) -> None:
    async with visited(tmp_path) as ada:
        foreign = await ada.http.post("/api/session/sign-in", json={}, headers={"Origin": "https://evil.example"})
        assert (foreign.status_code, foreign.json()["code"]) == (403, "bad_origin")
        form = await ada.http.post("/api/session/sign-in", content="{}", headers={"Content-Type": "text/plain"})
        assert form.status_code == 415
        assert not waiting(ada)
        assert (await ada.http.get("/api/session/sign-in")).status_code in (401, 405)
