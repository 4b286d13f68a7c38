"""One id a request: in the answer's headers, in what is said of an error, and in the log's lines about it."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import aiohttp
import anthropic
import openai
import pytest

from naru.config import Settings
from naru.hub import open_hub
from naru.messages import ChatRequest
from naru.models.scripted import ScriptedBackend
from naru.models.transport.failures import failure
from naru.telemetry.logs import JsonFormatter, TextFormatter
from naru.web.app import open_app
from tests.web.conftest import served

HI: Any = [{"role": "user", "content": "hi"}]


def answer(request: ChatRequest) -> str | Exception:
    """Answer; fail as an endpoint may, or as Naru itself would where it has a bug."""
    return {"refused": failure("refused", "no such luck", status=400), "bug": RuntimeError("a bug")}.get(
        request.messages[-1].text, "hello"
    )


@pytest.fixture
async def url(tmp_path: Path) -> AsyncIterator[str]:
    given = {"hub": {"data_dir": tmp_path, "store": "memory:"}, "server": {"allowed_hosts": ["127.0.0.1:*"]}}
    async with AsyncExitStack() as stack:
        hub = await stack.enter_async_context(open_hub(Settings.model_validate(given), backend=ScriptedBackend(answer)))
        app = await stack.enter_async_context(open_app(hub))
        yield await stack.enter_async_context(served(app.asgi))


async def test_the_openai_package_shows_it_of_answers_streams_and_errors(url: str) -> None:
    async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="x", max_retries=0) as client:
        first, second = [await client.chat.completions.create(model="m", messages=HI) for _ in range(2)]
        assert first._request_id
        assert second._request_id
        assert first._request_id != second._request_id
        response = await client.responses.create(model="m", input="hi")
        assert response._request_id
        stream = await client.chat.completions.with_raw_response.create(
            model="m",
            messages=HI,
            stream=True,
        )
        assert stream.headers["x-request-id"]
        for said in ("refused", "bug"):
            with pytest.raises(openai.APIStatusError) as raised:
                await client.chat.completions.create(model="m", messages=[{"role": "user", "content": said}])
            assert raised.value.request_id
        assert str(raised.value.request_id) in str(raised.value), "for whoever reads the log for it"
        with pytest.raises(openai.NotFoundError) as missing:
            await client.get("/nothing", cast_to=object)
        assert missing.value.request_id


async def test_the_anthropic_package_shows_it_under_its_own_name(url: str) -> None:
    async with anthropic.AsyncAnthropic(base_url=url, api_key="x", max_retries=0) as client:
        message = await client.messages.create(model="m", max_tokens=9, messages=HI)
        assert message._request_id
        with pytest.raises(anthropic.BadRequestError) as raised:
            await client.messages.create(model="m", max_tokens=9, messages=[{"role": "user", "content": "refused"}])
        assert raised.value.request_id
        assert raised.value.body["request_id"] == raised.value.request_id  # type: ignore[index]


@pytest.mark.parametrize("path", ["/mcp", "/api/chat", "/generate_with_mcp", "/nowhere", "/health/live", "/v1/models"])
async def test_whatever_is_asked_is_answered_with_one(url: str, path: str) -> None:
    async with aiohttp.ClientSession() as client, client.post(f"{url}{path}", json={"model": "m"}) as response:
        (told,) = response.headers.getall("x-request-id")
        assert told
        if response.content_type == "application/problem+json":
            assert (await response.json())["requestId"] == told


async def told(url: str, given: str) -> str:
    headers = {"X-Request-Id": given}
    async with aiohttp.ClientSession() as client, client.get(f"{url}/v1/models", headers=headers) as response:
        (one,) = response.headers.getall("x-request-id")
        return str(one)


@pytest.mark.parametrize("given", ["0af7651916cd43dd8448eb211c80319c", "a/b:c.d_e=f+g@h-1", "x" * 128])
async def test_an_id_that_the_client_brings_is_kept(url: str, given: str) -> None:
    assert await told(url, given) == given


@pytest.mark.parametrize("given", ["", "x" * 129, "two words", 'a"b', "a\tlevel=ERROR", "é", "[x]", "%0a", "<b>"])
async def test_one_that_could_forge_a_log_line_is_not(url: str, given: str) -> None:
    assert (await told(url, given)).startswith("req_")


async def test_the_logs_lines_about_a_request_name_it(url: str) -> None:
    written = {JsonFormatter(): io.StringIO(), TextFormatter("%(levelname)s %(name)s: %(message)s"): io.StringIO()}
    handlers = [logging.StreamHandler(stream) for stream in written.values()]
    for handler, formatter in zip(handlers, written, strict=True):
        handler.setFormatter(formatter)
        logging.getLogger("naru.web").addHandler(handler)
    body = {"model": "m", "messages": [{"role": "user", "content": "bug"}]}
    try:
        async with aiohttp.ClientSession(headers={"X-Request-Id": "my-own-7"}) as client:
            async with client.post(f"{url}/v1/chat/completions", json=body) as response:
                assert response.status == 500
            async with client.get(f"{url}/api/logs?q=my-own-7") as response:
                (line,) = (await response.json())["lines"]
    finally:
        for handler in handlers:
            logging.getLogger("naru.web").removeHandler(handler)
    as_json, as_text = (stream.getvalue() for stream in written.values())
    assert json.loads(as_json.splitlines()[0])["request_id"] == "my-own-7"
    assert as_text.splitlines()[0] == "ERROR naru.web.face.endpoint: chat request failed [my-own-7]"
    assert (line["message"], line["request_id"]) == ("chat request failed", "my-own-7")
