"""N13: a run is kept with every step, and replays offline; a difference is said."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from tests.agent.conftest import Shop

from naru.agent.hooks import Hooks
from naru.agent.loop import run
from naru.agent.trace import Journal
from naru.builtins.hr.server import hr_toolset
from naru.errors import StoreError
from naru.messages import ChatRequest, JsonObject, Message
from naru.models.known.profile import Profile
from naru.models.scripted import ScriptedBackend
from naru.replaying import replay
from naru.stores.kept.runs import RunStore
from naru.stores.postgres import PostgresDriver
from naru.stores.tables import SharedTables
from naru.tools.combined import CombinedToolset

CALL = '<tool_call>\n{"name": "shop__get_order", "arguments": {"order_id": "ORD7"}}\n</tool_call>'


async def kept_run(shop: Shop, journal: Journal, answers=(CALL, "Three lamps.")) -> None:
    request = ChatRequest("scripted", (Message("user", "What is in ORD7?"),))
    async for _ in run(ScriptedBackend(list(answers)), shop, request, hooks=Hooks(journal=journal)):
        pass


async def only_run(store: RunStore) -> JsonObject:
    found = await store.newest()
    assert len(found) == 1
    whole = await store.get(found[0]["id"])
    assert whole
    return whole


async def test_a_run_is_kept_with_prompt_raw_text_calls_and_answer(shop: Shop, tmp_path: Path) -> None:
    store = RunStore(tmp_path / "runs.db")
    await kept_run(shop, store)
    found = await only_run(store)
    assert (found["question"], found["answer"], found["reason"]) == ("What is in ORD7?", "Three lamps.", "answered")
    first = found["rounds"][0]
    assert first["raw"] == CALL
    assert first["prompt"][0]["content"] == "What is in ORD7?"
    assert "Mina Park" in first["calls"][0]["text"]
    json.dumps(found)


async def test_a_replay_needs_no_model_and_no_tool_and_comes_to_the_same(shop: Shop, tmp_path: Path) -> None:
    store = RunStore(tmp_path / "runs.db")
    await kept_run(shop, store)
    shop.ran.clear()
    again = await replay(await only_run(store))
    assert (again["same"], again["differences"]) == (True, [])
    assert shop.ran == []


async def test_a_replay_against_another_model_says_what_differs(shop: Shop, tmp_path: Path) -> None:
    store = RunStore(tmp_path / "runs.db")
    await kept_run(shop, store)
    other = ScriptedBackend(["I do not know."], model="other")
    again = await replay(await only_run(store), backend=other, model="other")
    assert not again["same"]
    assert {one["what"] for one in again["differences"]} == {"answer", "calls"}


async def test_runs_are_listed_newest_first_and_found_by_their_words(tmp_path: Path) -> None:
    store = RunStore(tmp_path / "runs.db")
    for number in range(3):
        await store.save(
            {"id": f"r{number}", "started_at": number, "model": "m", "question": f"100%_{number}", "reason": "answered",
             "caller": "a" if number else "b", "seconds": 0.1}
        )  # fmt: skip
    assert [one["id"] for one in await store.newest()] == ["r2", "r1", "r0"]
    assert [one["id"] for one in await store.newest(text="0%_1")] == ["r1"]
    assert [one["id"] for one in await store.newest(caller="b")] == ["r0"]


async def runs_much(store: RunStore) -> None:
    async def save(number: int, caller: str) -> None:
        await store.save(
            {"id": f"{caller}{number}", "started_at": number, "model": "m", "question": "q", "reason": "answered",
             "caller": caller, "seconds": 0.1}
        )  # fmt: skip

    for number, caller in enumerate("abcccccc"):
        await save(number, caller)
    assert [one["id"] for one in await store.newest()] == ["c7", "c6", "b1", "a0"]
    for number, caller in enumerate("de", 8):
        await save(number, caller)
    assert [one["id"] for one in await store.newest()] == ["e9", "d8", "c7", "b1"], "of equals the oldest"


@pytest.mark.parametrize("where", ["sqlite", pytest.param("postgres 18", marks=pytest.mark.slow)])
async def test_s66_who_runs_much_has_their_own_oldest_runs_forgotten_and_nobody_elses(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, postgres_servers: Any
) -> None:
    monkeypatch.setattr("naru.stores.kept.runs.KEPT", 4)
    if where == "sqlite":
        await runs_much(RunStore(tmp_path / "runs.db"))
        return
    tables = SharedTables(PostgresDriver(postgres_servers.fresh_database(18)))
    await tables.open()
    try:
        await runs_much(RunStore(tables))
    finally:
        await tables.close()


async def test_runs_of_a_minute_are_those_that_end_in_it_too(tmp_path: Path) -> None:
    store = RunStore(tmp_path / "runs.db")
    for name, started_at, seconds in (("before", 57_000, 2.9), ("into", 58_000, 4.0), ("in", 61_000, 1.0)):
        await store.save(
            {"id": name, "started_at": started_at, "model": "m", "question": "q", "reason": "answered", "caller": "",
             "seconds": seconds}
        )  # fmt: skip
    assert [one["id"] for one in await store.newest(after=60_000, before=120_000)] == ["in", "into"]


async def test_a_journal_that_fails_costs_no_answer(shop: Shop) -> None:
    class Full:
        async def save(self, run: JsonObject) -> None:
            raise StoreError("The disk is full.")

    await kept_run(shop, Full())
    assert shop.ran


async def test_issue_14_1_who_wrote_a_call_and_what_was_mended_is_in_the_record(tmp_path: Path) -> None:
    store = RunStore(tmp_path / "runs.db")
    call = '{"name": "get_employee_info", "arguments": {"employee_id": "EMP003", "mood": "good"}}'
    small = ScriptedBackend([call, "EMP003 is in Sales."], profile=Profile(small=True), model="qwen2.5-coder-0.5b")
    request = ChatRequest("qwen2.5-coder-0.5b", (Message("user", "Which department is EMP003 in?"),))
    async for _ in run(small, CombinedToolset({"hr": hr_toolset()}), request, hooks=Hooks(journal=store)):
        pass
    found = await only_run(store)
    (made,) = found["rounds"][0]["calls"]
    assert (made["writer"], made["mended"], made["arguments"]) == ("model", True, {"employee_id": "EMP003"})
    (written,) = found["rounds"][0]["written"]
    assert (written["id"], written["arguments"]) == (made["id"], {"employee_id": "EMP003", "mood": "good"})
    again = await replay(found)
    assert (again["same"], again["differences"]) == (True, [])


async def test_line7_runs_older_than_the_days_that_are_kept_are_forgotten(tmp_path: Path) -> None:
    store = RunStore(tmp_path / "runs.db", days=2)
    now = int(time.time() * 1000)
    row = {"model": "m", "question": "q", "reason": "answer", "caller": "", "seconds": 1.0}
    await store.save({**row, "id": "old", "started_at": now - 3 * 86_400_000})
    await store.save({**row, "id": "new", "started_at": now - 86_400_000})
    assert [run["id"] for run in await store.newest()] == ["new"]


async def test_a_run_that_a_defect_ends_is_kept_as_failed(shop: Shop, tmp_path: Path) -> None:
    store = RunStore(tmp_path / "runs.db")
    with pytest.raises(ZeroDivisionError):
        await kept_run(shop, store, [ZeroDivisionError("by zero")])
    found = await only_run(store)
    assert (found["reason"], found["note"]) == ("failed", "by zero")
