"""D5: documents found for the question stand before it when the model is called; the text-to-SQL example uses them."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import aiohttp
import pytest

from naru.agent.loop import run
from naru.builtins.data.retrieval import HEADING, last_question, retrieval_hook, with_documents
from naru.builtins.data.sources import DataSources
from naru.builtins.data.toolset import data_toolset
from naru.config import DataSettings, Settings
from naru.hub import open_hub
from naru.messages import ChatRequest, Message
from naru.models.open import open_backend
from naru.models.scripted import ScriptedBackend
from tests.web.conftest import MemoryHub, application, served

SYSTEM = Message("system", "You write SQL.")
QUESTION = Message("user", "라인별 수율은?")


def embedded(folder: Path, **settings: str) -> DataSettings:
    """Settings that name no service, whatever the environment says."""
    none = dict.fromkeys(("text_embedding_model_url", "chromadb_host", "postgresql_db_host", "postgresql_db_name"), "")
    return DataSettings(**{**none, "naru_data_dir": folder, **settings}, _env_file=None)


def test_documents_stand_before_the_last_question_and_are_replaced_the_next_time():
    request = ChatRequest("m", (SYSTEM, QUESTION))
    once = with_documents(request, ["bga_lot.yield_pct: 수율"])
    assert [message.text for message in once.messages] == [
        SYSTEM.text,
        HEADING + '["bga_lot.yield_pct: 수율"]',
        QUESTION.text,
    ]
    again = with_documents(once, ["other"])
    assert [message.text for message in again.messages] == [SYSTEM.text, HEADING + '["other"]', QUESTION.text]
    assert last_question(again.messages) == QUESTION.text


@pytest.mark.slow
async def test_the_hook_finds_fifteen_columns_for_the_question(tmp_path: Path):
    sources = DataSources(embedded(tmp_path))
    request = await retrieval_hook(sources)(ChatRequest("m", (SYSTEM, QUESTION)))
    found = json.loads(request.messages[1].text.removeprefix(HEADING))
    assert len(found) == 15
    assert found == (await sources.search([QUESTION.text], 15))[0]
    assert any(document.startswith("bga_lot.yield_pct") for document in found)
    nothing = ChatRequest("m", (SYSTEM,))
    assert await retrieval_hook(sources)(nothing) is nothing
    await sources.close()


@pytest.mark.slow
async def test_a_search_that_fails_costs_the_documents_and_not_the_answer(tmp_path: Path, caplog):
    sources = DataSources(embedded(tmp_path, text_embedding_model_url="http://127.0.0.1:9/v1/embeddings"))
    request = ChatRequest("m", (SYSTEM, QUESTION))
    assert await retrieval_hook(sources)(request) is request
    assert "no reference documents" in caplog.text
    await sources.close()


@pytest.mark.slow
async def test_a_setting_puts_documents_before_every_question(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("NARU_DATA_DIR", str(tmp_path))
    settings = Settings.model_validate(
        {"hub": {"data_dir": tmp_path, "store": "memory:"}, "agent": {"retrieved_documents": 3}}
    )
    backend = ScriptedBackend(["아직 모릅니다."])
    async with open_hub(settings, backend=backend) as hub:
        asked = ChatRequest("scripted", (QUESTION,))
        events = [event async for event in run(hub.backend, None, asked, hooks=hub.hooks)]
    assert events
    assert len(json.loads(backend.requests[0].messages[0].text.removeprefix(HEADING))) == 3


class FixedDocuments:
    """Finds the same for every question."""

    async def search(self, queries: Sequence[str], n_results: int) -> list[list[str]]:
        return [["bga_lot.yield_pct: 수율"] for _ in queries]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("model", ["scripted", "scripted+tools"])
async def test_issue_20_5_every_question_on_the_chat_path_gets_its_documents(model: str, stream: bool):
    backend = ScriptedBackend(["97.1 %"])
    hub = MemoryHub(backend, before_model=[retrieval_hook(FixedDocuments())])
    body = {"model": model, "stream": stream, "messages": [{"role": "user", "content": QUESTION.text}]}
    async with (
        served(application(hub)) as url,
        aiohttp.ClientSession() as session,
        session.post(f"{url}/v1/chat/completions", json=body) as answer,
    ):
        assert "97.1" in await answer.text()
    (asked,) = backend.requests
    texts = [message.text for message in asked.messages if message.role == "user"]
    assert texts == [HEADING + '["bga_lot.yield_pct: 수율"]', QUESTION.text]


@pytest.mark.slow
@pytest.mark.engine
@pytest.mark.postgres
async def test_the_text_to_sql_example_answers_on_the_local_model(demo_model: Path, tmp_path: Path, monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[3] / "examples"))
    text_to_sql = __import__("text_to_sql")
    backend = await open_backend(Settings())
    sources = DataSources(embedded(tmp_path))
    toolset = data_toolset(sources)
    try:
        trace = await text_to_sql.ask(backend, toolset, sources, "Which product has the largest warpage?")
    finally:
        await toolset.close()
        await sources.close()
        await backend.close()
        sys.modules.pop("text_to_sql", None)
    assert any(column.startswith("bga_pkg.warpage_um") for column in trace.columns)
    assert trace.rows[0]["product_code"] == "BGA-104"
    assert "BGA-104" in trace.answer
