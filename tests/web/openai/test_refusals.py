"""Issue 17 line 9: every refusal under /v1 is told in the client's language, so that its package shows the reason."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import openai
import pytest

from naru import config
from naru.models.scripted import ScriptedBackend
from naru.web import faces
from naru.web.app import as_asgi, dispatch
from naru.web.gate.access import RateLimiter
from naru.web.gate.principal import Principal
from naru.web.gate.security import guard
from naru.web.routes import Access
from tests.web.conftest import MemoryHub, served

ASK: Any = [{"role": "user", "content": "hi"}]


class Keys:
    """Two keys: one that may read, one that may use."""

    tokens = None
    sessions_are_shared = False

    def is_empty(self) -> bool:
        return False

    def were_made(self) -> bool:
        return True

    def verify(self, secret: bytes) -> Principal | None:
        role = {b"reads": Access.READ, b"uses": Access.USER}.get(secret)
        return Principal(secret.decode(), role) if role else None


@contextlib.asynccontextmanager
async def serving(**settings: Any) -> AsyncIterator[str]:
    server = config.ServerSettings.model_validate({"allowed_hosts": ["127.0.0.1:*"], **settings})
    hub = MemoryHub(ScriptedBackend(["hello"], repeat_last=True))
    limits = RateLimiter(server.rate_limit_per_minute)
    async with served(guard(dispatch, map(as_asgi, faces.endpoints(hub)), server, keys=Keys(), limits=limits)) as url:
        yield url


async def refusal(url: str, key: str, **body: Any) -> openai.APIStatusError:
    async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key=key, max_retries=0, timeout=30) as client:
        with pytest.raises(openai.APIStatusError) as caught:
            await client.chat.completions.create(model="m", messages=ASK, **body)
        return caught.value


async def test_a_wrong_key_and_one_that_may_not_are_told() -> None:
    """r2-14: 401 and 403."""
    async with serving() as url:
        wrong = await refusal(url, "wrong")
        assert (wrong.status_code, wrong.body["message"][:21]) == (401, "The key is not valid.")  # type: ignore[index]
        assert "Authorization: Bearer" in str(wrong)
        weak = await refusal(url, "reads")
        assert (weak.status_code, weak.type) == (403, "permission_error")
        assert "needs the role user" in str(weak)


@pytest.mark.parametrize(("method", "path", "status"), [("POST", "/v1/nothing", 404), ("PUT", "/v1/models", 405)])
@pytest.mark.parametrize("prefix", ["", "/clients/void"])
async def test_a_path_or_method_that_is_none_is_told(prefix: str, method: str, path: str, status: int) -> None:
    headers = {"Authorization": "Bearer uses"}
    async with (
        serving() as url,
        aiohttp.ClientSession(headers=headers) as session,
        session.request(method, f"{url}{prefix}{path}", json={}) as response,
    ):
        told = await response.json(content_type=None)
    assert response.status == status
    assert told["error"]["message"].startswith(told["detail"])
    assert set(told["error"]) == {"message", "type", "param", "code"}


async def test_other_paths_keep_the_problem_document_alone() -> None:
    async with serving() as url, aiohttp.ClientSession() as session, session.get(f"{url}/nothing") as response:
        assert "error" not in await response.json(content_type=None)


async def test_too_many_requests_name_the_setting() -> None:
    """r2-38."""
    async with serving(rate_limit_per_minute=2) as url:
        async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="uses", max_retries=0, timeout=30) as client:
            for _ in range(2):
                await client.chat.completions.create(model="m", messages=ASK)
        told = await refusal(url, "uses")
    assert isinstance(told, openai.RateLimitError)
    assert "NARU_SERVER__RATE_LIMIT_PER_MINUTE" in str(told)
    assert int(told.response.headers["retry-after"]) >= 1


async def test_a_screenshot_of_five_megabytes_passes_and_more_than_the_setting_is_told() -> None:
    """r2-37: pictures have a limit of their own."""
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 5_000_000}}
    messages: Any = [{"role": "user", "content": [picture]}]
    async with serving() as url, openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="uses", timeout=60) as client:
        answer = await client.chat.completions.create(model="m", messages=messages)
        assert answer.choices[0].message.content == "hello"
    async with serving(max_body_bytes=1000, max_media_body_bytes=2000) as url:
        told = await refusal(url, "uses", user="x" * 3000)
    assert told.status_code == 413
    assert "NARU_SERVER__MAX_MEDIA_BODY_BYTES" in str(told)
