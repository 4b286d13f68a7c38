"""What the gate refuses is said in the form of the API that was asked: its packages show nothing else."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import anthropic
import ollama
import openai
import pytest

from naru.config import Settings
from naru.hub import open_hub
from naru.models.scripted import ScriptedBackend
from naru.web.app import open_app
from tests.web.conftest import served

KEY = secrets.token_hex(24)
LARGE = "x" * 5000
TOO_LARGE = "The body has more than 2000 bytes. The limit is server.max_media_body_bytes"
NO_KEY = "The key is not valid. Send it as Authorization: Bearer …, or as X-API-Key."


@pytest.fixture
async def url(tmp_path: Path) -> AsyncIterator[str]:
    limits = {"max_body_bytes": 2000, "max_media_body_bytes": 2000}
    given: dict[str, Any] = {
        "hub": {"data_dir": tmp_path, "store": "memory:"},
        "server": {"allowed_hosts": ["127.0.0.1:*"], "auth": "on", "api_key": KEY, **limits},
    }
    async with AsyncExitStack() as stack:
        hub = await stack.enter_async_context(open_hub(Settings.model_validate(given), backend=ScriptedBackend([])))
        app = await stack.enter_async_context(open_app(hub))
        yield await stack.enter_async_context(served(app.asgi))


@pytest.mark.parametrize(
    ("is_known", "status", "said"), [(False, 401, NO_KEY), (True, 413, TOO_LARGE)], ids=["wrong key", "too large"]
)
async def test_every_package_shows_what_is_wrong_and_what_to_do(
    url: str, is_known: bool, status: int, said: str
) -> None:
    key = KEY if is_known else "wrong"
    turn: Any = {"role": "user", "content": LARGE}
    async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key=key, max_retries=0) as client:
        with pytest.raises(openai.APIStatusError) as told:
            await client.chat.completions.create(model="m", messages=[turn])
    assert told.value.status_code == status
    assert said in told.value.body["message"]  # type: ignore[index]

    async with anthropic.AsyncAnthropic(base_url=url, api_key=key, max_retries=0) as messages:
        with pytest.raises(anthropic.APIStatusError) as refused:
            await messages.messages.create(model="m", max_tokens=9, messages=[turn])
    body: Any = refused.value.body
    kind = {401: "authentication_error", 413: "request_too_large"}[status]
    assert (refused.value.status_code, body["type"], body["error"]["type"]) == (status, "error", kind)
    assert said in body["error"]["message"]
    assert body["request_id"] == refused.value.request_id

    ollamas = ollama.AsyncClient(host=url, headers={"Authorization": f"Bearer {key}"})
    with pytest.raises(ollama.ResponseError) as shown:
        await ollamas.chat("m", [turn])
    assert shown.value.status_code == status
    assert shown.value.error.startswith(said)
