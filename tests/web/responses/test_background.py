"""Answers in the background, followed, cancelled, failed and lost, by the `openai` package (issue 18, line 2)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp
import openai
import pytest
from openai.types.responses import Response, ResponseStreamEvent

from naru.config import HubSettings, Settings
from naru.errors import ModelError
from naru.hub import open_hub
from naru.messages import ChatEvent, ChatRequest, Finish, Json, Text, Usage
from naru.models.scripted import ScriptedBackend
from naru.stores.kept.responses import Kept, ResponseStore
from naru.stores.shared.commons import Alone, Hear
from naru.web.app import open_app
from naru.web.responses import background
from tests.waiting import HANG_SECONDS
from tests.web.conftest import MemoryHub, application, served
from tests.web.faces.strict import strictly

ASKED: dict[str, Any] = {"model": "m", "input": "Think long.", "background": True}


class Patient(ScriptedBackend):
    """Says a word, and the rest when it is told to."""

    def __init__(self) -> None:
        super().__init__([])
        self.go_on = asyncio.Event()
        self.left = asyncio.Event()

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ChatEvent]:
        try:
            yield Text("Good ")
            await asyncio.wait_for(self.go_on.wait(), 60)
            yield Text("day.")
            yield Usage(5, 3)
            yield Finish("stop")
        finally:
            self.left.set()


def hub_of(tmp_path: Path, backend: ScriptedBackend) -> MemoryHub:
    return MemoryHub(backend, settings=Settings(hub=HubSettings(data_dir=tmp_path)))


def client_of(url: str) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="x", max_retries=0)


async def until_ended(client: openai.AsyncOpenAI, response_id: str) -> Response:
    async with asyncio.timeout(60):
        while (found := await client.responses.retrieve(response_id)).status in ("queued", "in_progress"):
            await asyncio.sleep(0.02)
    strictly(Response, found.model_dump(exclude_unset=True))
    return found


async def test_an_answer_is_made_while_its_client_is_away(tmp_path: Path) -> None:
    backend = Patient()
    async with served(application(hub_of(tmp_path, backend))) as url, client_of(url) as client:
        begun = await client.responses.create(**ASKED)
        strictly(Response, begun.model_dump(exclude_unset=True))
        assert (begun.status, begun.background, begun.output) == ("queued", True, [])
        assert (await client.responses.retrieve(begun.id)).status == "in_progress"
        backend.go_on.set()
        ended = await until_ended(client, begun.id)
        assert (ended.status, ended.output_text, ended.background) == ("completed", "Good day.", True)
        assert ended.usage is not None
        later = await client.responses.create(model="m", input="And?", previous_response_id=begun.id)
        assert later.status == "completed"


async def test_its_stream_is_left_and_followed_on_from_where_it_was(tmp_path: Path) -> None:
    backend = Patient()
    async with served(application(hub_of(tmp_path, backend))) as url, client_of(url) as client:
        seen: list[Any] = []
        async with await client.responses.create(**ASKED, stream=True) as stream:
            async for event in stream:
                seen.append(event)
                if event.type == "response.output_text.delta":
                    break
        backend.go_on.set()
        followed = await client.responses.retrieve(
            seen[0].response.id, stream=True, starting_after=seen[-1].sequence_number
        )
        seen += [event async for event in followed]
        for event in seen:
            strictly(ResponseStreamEvent, event.model_dump(exclude_unset=True))
        assert [event.sequence_number for event in seen] == list(range(len(seen)))
        assert "".join(event.delta for event in seen if event.type == "response.output_text.delta") == "Good day."
        assert seen[-1].response.status == "completed"
        whole = await client.responses.retrieve(seen[0].response.id, stream=True, extra_query={"starting_after": "-99"})
        assert [event.sequence_number async for event in whole] == list(range(len(seen))), "from before the first on"
        for odd in ("x", "--1", "9" * 5000):
            with pytest.raises(openai.BadRequestError, match="sequence number"):
                await client.responses.retrieve(seen[0].response.id, stream=True, extra_query={"starting_after": odd})


async def test_who_follows_hears_something_while_the_model_says_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "KEEP_ALIVE_SECONDS", 0.05)
    backend = Patient()
    async with (
        served(application(hub_of(tmp_path, backend))) as url,
        aiohttp.ClientSession() as session,
        session.post(f"{url}/v1/responses", json={**ASKED, "stream": True}) as stream,
    ):
        said = await asyncio.wait_for(stream.content.readuntil(b": keep-alive\n\n"), HANG_SECONDS)
        told = json.loads(said.partition(b"data: ")[2].partition(b"\n")[0])
        path = f"{url}/v1/responses/{told['response']['id']}?stream=true"
        async with session.get(path) as followed:
            await asyncio.wait_for(followed.content.readuntil(b": keep-alive\n\n"), HANG_SECONDS)
            backend.go_on.set()
            assert b"response.completed" in await asyncio.wait_for(followed.content.read(), HANG_SECONDS)


async def test_one_that_is_cancelled_ends_the_models_work_and_stays_cancelled(tmp_path: Path) -> None:
    backend = Patient()
    async with served(application(hub_of(tmp_path, backend))) as url, client_of(url) as client:
        begun = await client.responses.create(**ASKED)
        for _ in range(2):  # A second time tells the same.
            cancelled = await client.responses.cancel(begun.id)
            strictly(Response, cancelled.model_dump(exclude_unset=True))
            assert cancelled.status == "cancelled"
        await asyncio.wait_for(backend.left.wait(), 60)
        assert (await client.responses.retrieve(begun.id)).status == "cancelled"


async def test_one_that_is_deleted_is_stopped_and_does_not_come_back(tmp_path: Path) -> None:
    backend = Patient()
    async with served(application(hub_of(tmp_path, backend))) as url, client_of(url) as client:
        begun = await client.responses.create(**ASKED)
        await client.responses.delete(begun.id)
        await asyncio.wait_for(backend.left.wait(), 60)
        with pytest.raises(openai.NotFoundError):
            await client.responses.retrieve(begun.id)


class Member(Alone):
    """One of two hubs that hear each other."""

    def __init__(self, me: str) -> None:
        self.me = me
        self.other: Member | None = None
        self.heard: dict[str, Hear] = {}

    def members(self) -> dict[str, str]:
        return {self.other.me: "here"} if self.other is not None else {}

    def tell(self, topic: str, what: Json) -> None:
        assert self.other is not None
        self.other.heard[topic](what)

    def hear(self, topic: str, hear: Hear) -> None:
        self.heard[topic] = hear


async def test_one_that_is_deleted_at_another_hub_is_stopped_too(tmp_path: Path) -> None:
    one, two = Member("one"), Member("two")
    one.other, two.other = two, one
    backend = Patient()
    busy, idle = (replace(hub_of(tmp_path, backend), commons=member) for member in (one, two))
    async with (
        served(application(busy)) as at,
        served(application(idle)) as elsewhere,
        client_of(at) as client,
        client_of(elsewhere) as other,
    ):
        begun = await client.responses.create(**ASKED)
        await other.responses.delete(begun.id)
        await asyncio.wait_for(backend.left.wait(), 60)
        with pytest.raises(openai.NotFoundError):
            await client.responses.retrieve(begun.id)


async def test_one_whose_hub_is_gone_is_told_as_failed_at_another_and_at_no_other_time(tmp_path: Path) -> None:
    one, two = Member("one"), Member("two")
    one.other, two.other = two, one
    backend = Patient()
    busy, idle = (replace(hub_of(tmp_path, backend), commons=member) for member in (one, two))
    async with (
        served(application(busy)) as at,
        served(application(idle)) as elsewhere,
        client_of(at) as client,
        client_of(elsewhere) as other,
    ):
        begun = await client.responses.create(**ASKED)
        for asked in (client, other):
            found = await asked.responses.retrieve(begun.id)
            strictly(Response, found.model_dump(exclude_unset=True))
            assert found.status == "in_progress"
        two.other = None
        lost = await other.responses.retrieve(begun.id)
        assert lost.status == "failed"
        assert lost.error is not None
        assert "stopped" in lost.error.message
        two.other = one
        backend.go_on.set()
        assert (await until_ended(client, begun.id)).status == "completed", "it was only not heard of"
        assert (await other.responses.retrieve(begun.id)).status == "completed"


async def test_an_answer_whose_beginning_cannot_be_kept_ends_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend, keep = Patient(), ResponseStore.save

    async def save(store: ResponseStore, caller: str, kept: Kept) -> None:
        if kept.response["status"] == "in_progress":
            raise RuntimeError("the first time it fails in a way that nobody thought of")
        await keep(store, caller, kept)

    monkeypatch.setattr(ResponseStore, "save", save)
    async with served(application(hub_of(tmp_path, backend))) as url, client_of(url) as client:
        begun = await client.responses.create(**ASKED)
        backend.go_on.set()
        async with asyncio.timeout(30):
            while not (found := await _kept(client, begun.id)):
                await asyncio.sleep(0.02)
        assert found.status == "completed"


async def _kept(client: openai.AsyncOpenAI, response_id: str) -> Response | None:
    try:
        return await client.responses.retrieve(response_id)
    except openai.NotFoundError:
        return None


async def test_one_that_fails_says_why(tmp_path: Path) -> None:
    backend = ScriptedBackend([ModelError("There is no room.", status=400)])
    async with served(application(hub_of(tmp_path, backend))) as url, client_of(url) as client:
        ended = await until_ended(client, (await client.responses.create(**ASKED)).id)
        assert ended.status == "failed"
        assert ended.error is not None
        assert "There is no room." in ended.error.message


async def test_one_that_was_lost_with_its_hub_is_told_as_failed(tmp_path: Path) -> None:
    backend = ScriptedBackend(["Good day."])
    async with served(application(hub_of(tmp_path, backend))) as url, client_of(url) as client:
        begun = await until_ended(client, (await client.responses.create(**ASKED)).id)
        store = ResponseStore(tmp_path / "responses.db", days=1)
        await store.save("local", Kept({**begun.model_dump(), "status": "in_progress"}, [], None))
    async with served(application(hub_of(tmp_path, backend))) as url, client_of(url) as client:
        lost = await client.responses.retrieve(begun.id)
        assert lost.status == "failed"
        assert lost.error is not None
        assert "stopped" in lost.error.message


async def test_one_that_is_made_when_naru_stops_is_kept_as_failed(tmp_path: Path) -> None:
    backend = Patient()
    settings = Settings.model_validate(
        {"hub": {"data_dir": tmp_path, "store": "memory:"}, "server": {"allowed_hosts": ["127.0.0.1:*"]}}
    )
    async with open_hub(settings, backend=backend) as hub:
        async with open_app(hub) as app, served(app.asgi) as url, client_of(url) as client:
            begun = await client.responses.create(**ASKED)
            assert (await client.responses.retrieve(begun.id)).status == "in_progress"
        assert backend.left.is_set(), "its work has ended before what it works with is closed"
    kept = await ResponseStore(tmp_path / "responses.db", days=1).get("local", begun.id)
    assert kept is not None
    assert kept.response["status"] == "failed"
    assert "is stopping" in kept.response["error"]["message"]


@pytest.mark.parametrize(("more", "named"), [({"store": False}, "store"), ({"background": "yes"}, "background")])
async def test_what_cannot_be_is_refused(tmp_path: Path, more: dict[str, Any], named: str) -> None:
    backend = ScriptedBackend(["Good day."])
    async with served(application(hub_of(tmp_path, backend))) as url, client_of(url) as client:
        with pytest.raises(openai.BadRequestError, match=named):
            await client.responses.create(**{**ASKED, **more})


async def test_one_that_is_being_made_is_no_beginning_of_another(tmp_path: Path) -> None:
    backend = Patient()
    async with served(application(hub_of(tmp_path, backend))) as url, client_of(url) as client:
        begun = await client.responses.create(**ASKED)
        with pytest.raises(openai.BadRequestError, match="still being made") as refused:
            await client.responses.create(model="m", input="And?", previous_response_id=begun.id)
        assert refused.value.param == "previous_response_id"
        backend.go_on.set()
        await until_ended(client, begun.id)
        await client.responses.create(model="m", input="And?", previous_response_id=begun.id)
