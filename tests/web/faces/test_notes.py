"""What Naru tells beside an answer, in every API, as the official packages of each take it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anthropic
import ollama
import openai
import pytest

from naru.config import HubSettings, Settings
from naru.messages import ChatEvent, Finish, Notice, Text, Usage
from naru.models.known.profile import Profile
from naru.models.scripted import ScriptedBackend
from naru.models.transport.endpoint import Endpoint
from naru.models.wires.openai_http import OpenAIBackend
from tests.models.fake_endpoint import Reply, delta, serve, sse
from tests.web.conftest import MemoryHub, application, served
from tests.web.faces.matrix import FACES
from tests.web.faces.strict import post
from tests.web.faces.test_matrix import body_of

TOLD = "temperature: not passed on, there does not take it."
SAID: list[ChatEvent] = [Text("Good "), Text("day."), Notice(TOLD), Usage(5, 3), Finish("stop")]
ASK: list[Any] = [{"role": "user", "content": "Go."}]


@asynccontextmanager
async def telling(tmp_path: Path, *notices: str) -> AsyncIterator[str]:
    settings = Settings(hub=HubSettings(data_dir=tmp_path))
    answer = [*SAID[:3], *map(Notice, notices), *SAID[3:]]
    async with served(application(MemoryHub(ScriptedBackend([answer] * 4), settings=settings))) as url:
        yield url


@pytest.mark.parametrize("face", FACES)
async def test_a_notice_stands_at_the_top_of_a_whole_answer(face: str, tmp_path: Path) -> None:
    async with telling(tmp_path, "Another.") as url:
        _, answer = await post(url + FACES[face], body_of(face, "text", stream=False))
    assert answer["naru"] == {"note": f"{TOLD}; Another."}


async def test_the_package_of_responses_takes_it_and_it_is_kept(tmp_path: Path) -> None:
    async with telling(tmp_path) as url, openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="x") as client:
        whole = await client.responses.create(model="m", input="Go.")
        kept = await client.responses.retrieve(whole.id)
        async with client.responses.stream(model="m", input="Go.") as stream:
            streamed = await stream.get_final_response()
    for response in (whole, kept, streamed):
        assert (response.output_text, response.model_extra["naru"]) == ("Good day.", {"note": TOLD})  # type: ignore[index]


async def test_the_package_of_messages_takes_it(tmp_path: Path) -> None:
    async with telling(tmp_path) as url, anthropic.AsyncAnthropic(base_url=url, api_key="x") as client:
        whole = await client.messages.create(model="m", max_tokens=9, messages=ASK)
        async with client.messages.stream(model="m", max_tokens=9, messages=ASK) as stream:
            ends = [event async for event in stream if event.type == "message_delta"]
            final = await stream.get_final_message()
    assert [whole.model_extra, ends[0].model_extra] == [{"naru": {"note": TOLD}}] * 2
    assert [one.content[0].text for one in (whole, final)] == ["Good day."] * 2  # type: ignore[union-attr]


async def test_the_package_of_ollama_takes_it(tmp_path: Path) -> None:
    async with telling(tmp_path) as url:
        client = ollama.AsyncClient(host=url)
        whole = await client.chat(model="m", messages=ASK)
        streamed = [part async for part in await client.generate(model="m", prompt="Go.", stream=True)]
    assert whole.message.content == "Good day."
    assert "".join(part.response or "" for part in streamed) == "Good day."
    assert streamed[-1].done


UNREAD: dict[str, dict[str, Any]] = {
    "/v1/messages": {"max_tokens": 9, "messages": ASK, "container": "c", "speed": "fast"},
    "/v1/responses": {"input": "Go.", "context_management": [{"type": "compaction"}]},
    "/api/chat": {"messages": ASK, "stream": False, "truncate": True},
}


@pytest.mark.parametrize(
    ("path", "named"),
    list(zip(UNREAD, ("container, speed", "context_management", "truncate"), strict=True)),
    ids=["messages", "responses", "ollama"],
)
async def test_a_field_that_is_not_read_is_named(path: str, named: str, tmp_path: Path) -> None:
    """N19: nothing is dropped with 200."""
    async with serve([Reply(sse(delta(content="ok"), delta("stop")))]) as fake:
        backend = OpenAIBackend(Endpoint.of(fake.base_url), Profile(), model="m")
        settings = Settings(hub=HubSettings(data_dir=tmp_path))
        async with served(application(MemoryHub(backend, settings=settings))) as url:
            status, answer = await post(url + path, {"model": "m", "temperature": None, **UNREAD[path]})
        await backend.close()
    assert (status, answer["naru"]["note"]) == (200, f"{named}: not read here, and left out")
