"""/v1/conversations by the `openai` package, over SQLite and PostgreSQL (issue 18, line 2)."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import openai
import pytest
from openai.types.conversations import Conversation, ConversationItem, ConversationItemList

from naru.config import HubSettings, Settings
from naru.messages import ChatRequest
from naru.models.scripted import ScriptedBackend
from naru.stores.kept.conversations import ConversationStore
from naru.stores.kept.responses import Kept, ResponseStore, Sizes
from naru.stores.postgres import PostgresDriver
from naru.stores.tables import SharedTables
from tests.postgres_servers import PostgresServers
from tests.web.conftest import MemoryHub, application, served
from tests.web.faces.strict import strictly

HELLO: Any = {"type": "message", "role": "user", "content": "I am Ada."}
PICTURE: Any = {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo="}


def heard(request: ChatRequest) -> str:
    return " | ".join(f"{turn.role}: {turn.text}" for turn in request.messages)


@asynccontextmanager
async def talking(tmp_path: Path) -> AsyncIterator[openai.AsyncOpenAI]:
    settings = Settings(hub=HubSettings(data_dir=tmp_path))
    hub = MemoryHub(ScriptedBackend(heard, model="m"), settings=settings)
    async with (
        served(application(hub)) as url,
        openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="x", max_retries=0) as client,
    ):
        yield client


async def test_a_conversation_is_made_described_and_forgotten(tmp_path: Path) -> None:
    async with talking(tmp_path) as client:
        made = await client.conversations.create(items=[HELLO], metadata={"topic": "names"})
        found = await client.conversations.retrieve(made.id)
        assert strictly(Conversation, found.model_dump()) == made
        assert (found.metadata, made.id[:5]) == ({"topic": "names"}, "conv_")
        changed = await client.conversations.update(made.id, metadata={"topic": "people"})
        assert (changed.metadata, changed.created_at) == ({"topic": "people"}, made.created_at)
        gone = await client.conversations.delete(made.id)
        assert (gone.deleted, gone.object) == (True, "conversation.deleted")
        for work in (client.conversations.retrieve(made.id), client.conversations.items.create(made.id, items=[HELLO])):
            with pytest.raises(openai.NotFoundError, match="conversation"):
                await work


async def test_items_are_added_listed_in_pages_and_taken_out(tmp_path: Path) -> None:
    async with talking(tmp_path) as client:
        made = await client.conversations.create()
        called: Any = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
        result: Any = {"type": "function_call_output", "call_id": "c", "output": "sun"}
        seen: Any = {"role": "user", "content": [{"type": "input_text", "text": "Look."}, PICTURE]}
        added = await client.conversations.items.create(made.id, items=[HELLO, called, result, seen])
        strictly(ConversationItemList, added.model_dump(exclude_unset=True))
        assert [item.type for item in added.data] == ["message", "function_call", "function_call_output", "message"]
        newest = await client.conversations.items.list(made.id, limit=3)
        assert [item.id for item in newest.data] == [item.id for item in reversed(added.data[1:])]
        assert [item.id async for item in newest] == [item.id for item in reversed(added.data)]
        oldest = await client.conversations.items.list(made.id, order="asc", limit=1)
        assert (oldest.data[0].id, oldest.has_more) == (added.data[0].id, True)
        first = added.data[0].id or ""
        one = await client.conversations.items.retrieve(first, conversation_id=made.id)
        strictly(ConversationItem, one.model_dump(exclude_unset=True))
        await client.conversations.items.delete(first, conversation_id=made.id)
        with pytest.raises(openai.NotFoundError, match="item"):
            await client.conversations.items.retrieve(first, conversation_id=made.id)


async def test_a_page_after_an_item_that_was_taken_out_is_an_error_and_not_the_first_page_again(tmp_path: Path) -> None:
    async with talking(tmp_path) as client:
        made = await client.conversations.create(items=[HELLO, HELLO, HELLO])
        page = await client.conversations.items.list(made.id, order="asc", limit=1)
        await client.conversations.items.delete(page.data[0].id or "", conversation_id=made.id)
        with pytest.raises(openai.BadRequestError, match="not in this list") as refused:
            await page.get_next_page()
        assert refused.value.param == "after"


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
async def test_a_response_goes_on_with_a_conversation_and_adds_to_it(tmp_path: Path, stream: bool) -> None:
    async with talking(tmp_path) as client:
        made = await client.conversations.create(items=[HELLO])
        for question in ("Who?", "Sure?"):
            asked: Any = {"model": "m", "conversation": made.id, "input": question}
            if stream:
                async with client.responses.stream(**asked) as events:
                    answer: Any = await events.get_final_response()
            else:
                answer = await client.responses.create(**asked)
            assert answer.conversation.id == made.id
        assert answer.output_text == (
            "user: I am Ada. | user: Who? | assistant: user: I am Ada. | user: Who? | user: Sure?"
        )
        items = [item async for item in client.conversations.items.list(made.id, order="asc")]
        for item in items:
            strictly(ConversationItem, item.model_dump(exclude_unset=True))
        assert [getattr(item, "role", "") for item in items] == ["user", *["user", "assistant"] * 2]
        unkept = await client.responses.create(model="m", conversation=made.id, input="Once.", store=False)
        with pytest.raises(openai.NotFoundError):
            await client.responses.retrieve(unkept.id)


async def test_what_is_no_conversation_is_refused(tmp_path: Path) -> None:
    async with talking(tmp_path) as client:
        with pytest.raises(openai.BadRequestError, match="20"):
            await client.conversations.create(items=[HELLO] * 21)
        with pytest.raises(openai.BadRequestError, match="metadata"):
            await client.conversations.create(extra_body={"metadata": {"a": 1}})
        with pytest.raises(openai.NotFoundError, match="conv_none"):
            await client.responses.create(model="m", conversation="conv_none", input="Hi.")


MADE = [
    ("ada", "r1"),
    ("ada", "r2"),
    ("eve", "r3"),
    *(("ada", f"a{n}") for n in (1, 2, 3)),
    ("bob", "b1"),
    ("bob", "b2"),
]


@asynccontextmanager
async def stores(where: str, tmp_path: Path, servers: Any, days: int) -> AsyncIterator[Any]:
    if where == "sqlite":
        yield (
            ConversationStore(tmp_path / "c.db", days=days),
            ResponseStore(tmp_path / "r.db", days=days),
        )
        return
    tables = SharedTables(PostgresDriver(servers.fresh_database(int(where.removeprefix("postgres ")))))
    await tables.open()
    try:
        yield ConversationStore(tables, days=days), ResponseStore(tables, days=days)
    finally:
        await tables.close()


async def keeps(conversations: ConversationStore, responses: ResponseStore) -> None:
    now = int(time.time())
    await conversations.create("ada", "conv_1", {"a": "b"}, now)
    await conversations.add("ada", "conv_1", [{"id": f"i{n}", "text": "x\0y" if n else "나"} for n in range(30)])
    await conversations.add("bob", "conv_1", [{"id": "foreign"}])
    assert [item["id"] for item in await conversations.items("ada", "conv_1")] == [f"i{n}" for n in range(30)]
    assert await conversations.items("bob", "conv_1") == []
    assert await conversations.get("bob", "conv_1") is None
    assert await conversations.get("ada", "conv_1") == (now, {"a": "b"})
    assert not await conversations.remove("bob", "conv_1", "i0")
    assert await conversations.remove("ada", "conv_1", "i0")
    await conversations.create("ada", "conv_old", {}, now - 40 * 86_400)
    await conversations.add("ada", "conv_old", [])  # Whoever uses one keeps it.
    assert await conversations.get("ada", "conv_old") is not None
    await responses.save("ada", Kept({"id": "r1", "created_at": now, "output": [{"o": 1}]}, [{"i": 1}]))
    await responses.save("ada", Kept({"id": "r2", "created_at": now, "output": [{"o": 2}]}, [{"i": 2}], "r1"))
    assert await responses.conversation("ada", "r2") == [{"i": 1}, {"o": 1}, {"i": 2}, {"o": 2}]
    responses._sizes = Sizes(each=200_000, all=300_000)
    under_way = {"id": "r3", "created_at": now, "status": "in_progress", "output": []}
    await responses.save("eve", Kept(under_way, [{"i": "x" * 400_000}]))
    for caller, name, after in (
        ("ada", "a1", 1),
        ("ada", "a2", 2),
        ("ada", "a3", 3),
        ("bob", "b1", 4),
        ("bob", "b2", 5),
    ):
        await responses.save(
            caller, Kept({"id": name, "created_at": now + after, "output": []}, [{"i": "한" * 30_000}])
        )
    left = {(caller, one) for caller, one in MADE if await responses.get(caller, one) is not None}
    assert left == {("eve", "r3"), ("ada", "a3"), ("bob", "b1"), ("bob", "b2")}, "200,000 of each, 300,000 of all"
    await responses.save("ada", Kept({"id": "old", "created_at": now - 40 * 86_400, "output": []}, []))
    assert await responses.get("ada", "old") is None


async def forgets(conversations: ConversationStore) -> None:
    now = int(time.time())
    await conversations.create("ada", "conv_old", {}, now - 40 * 86_400)
    assert await conversations.get("ada", "conv_old") is None
    await conversations.create("ada", "conv_new", {}, now)
    found = await conversations.tables.run((f"select id from {conversations.tables.prefix}conversations", {}))
    assert [row[0] for row in found] == ["conv_new"]


async def test_sqlite_keeps_and_forgets_by_days(tmp_path: Path) -> None:
    async with stores("sqlite", tmp_path, None, 30) as (conversations, responses):
        await keeps(conversations, responses)
    async with stores("sqlite", tmp_path / "other", None, 30) as (conversations, _):
        await forgets(conversations)


@pytest.mark.slow
@pytest.mark.postgres
@pytest.mark.parametrize("version", [15, 18])
async def test_postgresql_keeps_and_forgets_by_days(
    tmp_path: Path, postgres_servers: PostgresServers, version: int
) -> None:
    async with stores(f"postgres {version}", tmp_path, postgres_servers, 30) as (conversations, responses):
        await keeps(conversations, responses)
    async with stores(f"postgres {version}", tmp_path, postgres_servers, 30) as (conversations, _):
        await forgets(conversations)


async def test_responses_kept_by_an_earlier_version_count_too(tmp_path: Path) -> None:
    now, before = int(time.time()), tmp_path / "r.db"
    with closing(sqlite3.connect(before)) as connection, connection:
        connection.executescript(
            "create table responses (id text primary key, caller text not null, previous text, created_at integer "
            "not null, input text not null, response text not null); pragma user_version = 1;"
        )
        row = ("r1", "ada", None, now - 1, json.dumps(["한" * 334], ensure_ascii=False), json.dumps({"id": "r1"}))
        connection.execute("insert into responses values (?, ?, ?, ?, ?, ?)", row)
    store = ResponseStore(before, days=1, sizes=Sizes(each=1000))
    assert await store.get("ada", "r1") is not None
    await store.save("ada", Kept({"id": "r2", "created_at": now, "output": []}, []))
    assert await store.get("ada", "r1") is None
    assert await store.get("ada", "r2") is not None
