"""What is told where a path leads nowhere: a client that nobody knows, a base URL with a `/v1` too many or none."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from typing import Any

import aiohttp
import anthropic
import openai
import pytest

from naru.models.scripted import ScriptedBackend
from naru.web import faces
from naru.web.app import as_asgi, dispatch
from naru.web.gate.security import guard
from tests.web.conftest import MemoryHub, served

OF_CLIENTS = sorted(
    (method, row.path)
    for row in faces.endpoints(MemoryHub(ScriptedBackend([])))
    for method in row.methods
    if row.path.startswith("/clients/")
)
ASK: Any = [{"role": "user", "content": "hi"}]


@pytest.fixture
async def url() -> AsyncIterator[str]:
    hub = MemoryHub(ScriptedBackend(["hello"], repeat_last=True))
    settings = hub.settings.server.model_copy(update={"allowed_hosts": ["127.0.0.1:*"]})
    async with served(guard(dispatch, map(as_asgi, faces.endpoints(hub)), settings)) as address:
        yield address


@pytest.mark.parametrize(("method", "path"), OF_CLIENTS, ids=[" ".join(row) for row in OF_CLIENTS])
async def test_every_path_of_a_client_that_nobody_knows_is_a_404_that_names_those_that_are(
    url: str, method: str, path: str
) -> None:
    asked = re.sub(r"\{[^}]*\}", "x", path.replace("{client}", "voyd"))
    async with (
        aiohttp.ClientSession() as session,
        session.request(method, url + asked, json={} if method == "POST" else None) as response,
    ):
        answer = await response.json()
    assert response.status == 404
    assert "There is no client profile 'voyd'; there are openai, void, continue," in answer["error"]["message"]


async def test_a_client_that_is_known_is_answered_however_its_name_is_written(url: str) -> None:
    async with openai.AsyncOpenAI(base_url=f"{url}/clients/Void/v1", api_key="x", max_retries=0) as client:
        assert (await client.models.list()).data
        answer = await client.chat.completions.create(model="m", messages=ASK)
    assert answer.choices[0].message.content == "hello"


def _openai(url: str) -> Any:
    return openai.AsyncOpenAI(base_url=url, api_key="x", max_retries=0).chat.completions.create(model="m", messages=ASK)


def _anthropic(url: str) -> Any:
    client = anthropic.AsyncAnthropic(base_url=url, api_key="x", max_retries=0)
    return client.messages.create(model="m", max_tokens=9, messages=ASK)


@pytest.mark.parametrize(
    ("ask", "base", "meant"),
    [
        (_openai, "", "/v1/chat/completions"),
        (_openai, "/v1/v1", "/v1/chat/completions"),
        (_openai, "/clients/void", "/clients/void/v1/chat/completions"),
        (_anthropic, "/v1", "/v1/messages"),
    ],
    ids=["none", "twice", "none-behind-a-client", "anthropic"],
)
async def test_a_wrong_base_url_is_told_by_what_it_should_have_led_to(
    url: str, ask: Callable[[str], Any], base: str, meant: str
) -> None:
    with pytest.raises((openai.NotFoundError, anthropic.NotFoundError)) as told:
        await ask(url + base)
    assert f"Is {meant} meant? Then mend the base URL." in str(told.value)


async def test_ollamas_clients_are_told_to_leave_the_version_out(url: str) -> None:
    async with aiohttp.ClientSession() as session, session.post(f"{url}/v1/api/chat", json={}) as response:
        assert (response.status, (await response.json())["remedy"]) == (
            404,
            "Is /api/chat meant? Then mend the base URL.",
        )


async def test_a_method_that_is_not_possible_is_told_with_those_that_are(url: str) -> None:
    async with aiohttp.ClientSession() as session, session.get(f"{url}/v1/chat/completions") as response:
        assert (response.status, response.headers["allow"]) == (405, "POST")
        assert (await response.json())["error"]["message"] == "GET is not possible here. Possible: POST."
