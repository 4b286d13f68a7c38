"""Issue 22 line 3: one's own functions in a hub: listed, called, approved and audited like any server's tools."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest

from naru.config import Settings
from naru.connections.own_servers import own_records
from naru.errors import ConfigError, PolicyError
from naru.hub import Hub, open_hub
from naru.messages import ChatRequest
from naru.models.scripted import ScriptedBackend
from naru.records import ServerRecord
from naru.stores.open import open_store
from naru.stores.with_own_servers import WithOwnServers
from naru.web.app import open_app
from tests.waiting import until

SOURCE = '''
from naru.tools import register_tool

@register_tool
def price(product: str, amount: int = 1) -> dict:
    """Return the price of a product in won."""
    return {"product": product, "won": 1200 * amount}

@register_tool(annotations={"destructiveHint": True})
def wipe() -> str:
    return "wiped"

@register_tool
def seen(name: str) -> str:
    import os
    return os.environ.get(name, "nothing")

@register_tool
def asked_by(current_user: str = "nobody") -> str:
    return repr(current_user)
'''


def settings(folder: Path, *modules: str, **sections: dict[str, Any]) -> Settings:
    given: dict[str, Any] = {"hub": {"data_dir": folder / "data", "store": f"sqlite:{folder / 'naru.db'}"}, **sections}
    return Settings.model_validate({**given, "tools": {"modules": list(modules), **sections.get("tools", {})}})


@pytest.fixture
def company(tmp_path: Path) -> Path:
    path = tmp_path / "company.py"
    path.write_text(SOURCE, encoding="utf-8")
    return path


def answer(request: ChatRequest) -> str:
    if any("3600" in message.text for message in request.messages):
        return "Three pens cost 3600 won."
    return '```json\n{"name": "company__price", "arguments": {"product": "pen", "amount": 3}}\n```'


@asynccontextmanager
async def served(made: Settings) -> AsyncIterator[tuple[Hub, httpx.AsyncClient]]:
    async with open_hub(made, backend=ScriptedBackend(answer)) as hub, open_app(hub) as app:
        transport = httpx.ASGITransport(app.asgi)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:20006", timeout=60) as client:
            await until(lambda: hub.manager.connection("company").is_live)
            yield hub, client


async def text_of(hub: Hub, tool: str, **arguments: object) -> str:
    return (await hub.manager.call_tool("company", tool, arguments)).text


@pytest.mark.slow
async def test_a_model_calls_ones_own_function_and_the_audit_log_has_it(company: Path, tmp_path: Path) -> None:
    made = settings(tmp_path, str(company), approvals={"deny": ["company/wipe"]})
    async with served(made) as (hub, client):
        shown = (await client.get("/api/tools")).json()["tools"]
        assert {one["name"] for one in shown} >= {"company__price", "company__seen"}
        listed = {one["name"]: one for one in (await client.get("/api/mcp/servers")).json()}
        assert listed["company"]["status"] == "CONNECTED"
        asked = {"model": "scripted+tools", "messages": [{"role": "user", "content": "What do three pens cost?"}]}
        told = (await client.post("/v1/chat/completions", json=asked)).json()
        assert told["choices"][0]["message"]["content"] == "Three pens cost 3600 won."
        with pytest.raises(PolicyError):
            await text_of(hub, "wipe")
        lines = (await client.get("/api/audit")).json()
        assert "price" in json.dumps(lines)
    store = open_store(made.hub.store)
    await store.open()
    assert await store.list() == [], "nothing stays in the store of what a hub brings along"
    await store.close()


@pytest.mark.slow
async def test_an_edit_changes_the_tools_of_a_running_hub_and_a_broken_one_is_in_its_log(
    company: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with served(settings(tmp_path, str(company))) as (hub, client):
        changes: list[str] = []
        hub.manager.subscribe(lambda change: changes.append(f"{change.server} {change.what}"))
        company.write_text(SOURCE.replace("1200", "1300").replace("def wipe", "def wipe_all"), encoding="utf-8")
        await until(lambda: "company tools" in changes)
        await until(lambda: "wipe_all" in [tool.name for tool in hub.manager.tools("company")])
        assert json.loads(await text_of(hub, "price", product="pen"))["won"] == 1300
        with caplog.at_level(logging.ERROR):
            company.write_text("def price(:\n", encoding="utf-8")
            await until(lambda: "company.py, line 1: SyntaxError" in caplog.text)
        assert json.loads(await text_of(hub, "price", product="pen"))["won"] == 1300
        logs = (await client.get("/api/logs?level=error")).json()["lines"]
        assert "The tools that there were stay" in logs[0]["message"]


@pytest.mark.slow
async def test_functions_get_no_variable_but_those_named_and_nobodys_identity(
    company: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_URL", "shop.example")
    monkeypatch.setenv("OTHER_KEY", "not for it")
    made = settings(tmp_path, str(company), tools={"environment": ["SHOP_URL"]})
    made.tools.modules = [str(company)]
    async with served(made) as (hub, _):
        assert await text_of(hub, "seen", name="SHOP_URL") == "shop.example"
        assert await text_of(hub, "seen", name="OTHER_KEY") == "nothing"
        assert "stdio" not in await text_of(hub, "asked_by")


@pytest.mark.slow
async def test_a_broken_file_is_told_at_the_start_and_taken_up_once_it_is_mended(
    company: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    company.write_text("def price(:\n", encoding="utf-8")
    async with served(settings(tmp_path, str(company))) as (hub, _):
        await until(lambda: "It has no tools yet" in caplog.text)
        company.write_text(SOURCE, encoding="utf-8")
        await until(lambda: len(hub.manager.tools("company")) == 4)


def test_what_cannot_be_a_file_of_functions_is_refused_with_a_remedy(
    tmp_path: Path, company: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigError, match=r"nowhere\.py is not there") as missing:
        own_records(settings(tmp_path, str(tmp_path / "nowhere.py")))
    assert "my_package.tools" in missing.value.remedy
    monkeypatch.chdir(tmp_path)
    Path("notes.txt").write_text("no functions", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"notes\.txt is no \.py file"):
        own_records(settings(tmp_path, "notes.txt"))
    with pytest.raises(ConfigError, match=r"two of tools\.modules are called 'company'"):
        own_records(settings(tmp_path, str(company), "other.company"))


def test_the_record_is_the_same_in_every_process_and_holds_no_value_of_a_variable(
    tmp_path: Path, company: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_KEY", "hunter2hunter2")
    made = settings(tmp_path, str(company), tools={"modules": [str(company)], "environment": ["SHOP_KEY"]})
    first, second = own_records(made)[0], own_records(made)[0]
    assert first.id == second.id
    assert "hunter2" not in first.model_dump_json()
    odd = company.with_name("우리 tools-2.py")
    odd.write_text(SOURCE, encoding="utf-8")
    assert own_records(settings(tmp_path, str(odd)))[0].name == "tools-2"


async def test_what_a_hub_brings_along_hides_a_server_of_its_name_and_leaves_it_in_the_store(tmp_path: Path) -> None:
    inner = open_store(f"sqlite:{tmp_path / 'naru.db'}")
    store = WithOwnServers(inner, [ServerRecord(name="company", config={"command": "ours"})])
    await store.open()
    await inner.save(ServerRecord(name="company", config={"command": "theirs"}))
    assert [record.config["command"] for record in await store.list()] == ["ours"]
    assert await store.delete("company")
    assert [record.config["command"] for record in await store.list()] == ["theirs"]
    await store.close()
