"""Logs and the audit log over HTTP: newest first, filtered, in pages, for those who may see them (issue 22, line 4)."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2 as httpx
import pytest

from naru.config import Settings
from naru.hub import open_hub
from naru.models.scripted import ScriptedBackend
from naru.telemetry.audit_file import AuditFile, Head, chained
from naru.telemetry.audit_reading import MOST_LOOKED_AT, newest
from naru.web.app import open_app

KEY = "Zq7xW2pLm9vRt4sB8nKc3Jd6Hf5Gy1Ua0Ei"


@asynccontextmanager
async def served(folder: Path, **server: object) -> AsyncIterator[httpx.AsyncClient]:
    settings = Settings.model_validate({"hub": {"data_dir": folder, "store": "memory:"}, "server": server})
    async with open_hub(settings, backend=ScriptedBackend([])) as hub, open_app(hub) as app:
        transport = httpx.ASGITransport(app.asgi)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:20006", timeout=60) as client:
            yield client


async def lines(client: httpx.AsyncClient, query: str = "") -> list[dict[str, object]]:
    return list((await client.get(f"/api/logs?{query}")).json()["lines"])


async def test_log_lines_are_listed_newest_first_by_level_words_and_place(tmp_path: Path) -> None:
    log = logging.getLogger("naru.test")
    async with served(tmp_path) as client:
        for number in range(5):
            log.warning("the ferry %d left", number)
        log.error("the pier burns")
        found = await lines(client, "q=Ferry&level=warning")
        assert [one["message"] for one in found] == [f"the ferry {number} left" for number in (4, 3, 2, 1, 0)]
        assert [one["message"] for one in await lines(client, "level=error")] == ["the pier burns"]
        second = found[1]["id"]
        assert [one["message"] for one in await lines(client, f"q=ferry&before={second}&limit=1")] == [
            "the ferry 2 left"
        ]
        assert [one["message"] for one in await lines(client, f"q=ferry&after={second}")] == ["the ferry 4 left"]
        refused = await client.get("/api/logs?level=loud")
        assert refused.status_code == 400
        assert "debug, info, warning, error" in refused.json()["remedy"]
    log.warning("nobody hears this")


async def test_a_secret_in_a_log_line_is_masked_before_it_is_kept(tmp_path: Path) -> None:
    async with served(tmp_path) as client:
        logging.getLogger("naru.test").warning("sent Authorization: Bearer %s", KEY)
        assert KEY not in (await client.get("/api/logs")).text


async def test_readers_see_neither_logs_nor_the_audit_log(tmp_path: Path) -> None:
    async with served(tmp_path, auth="on", api_key=KEY) as client:
        admin = {"Authorization": f"Bearer {KEY}"}
        for role, logs, audit in (("user", 403, 403), ("operator", 200, 403), ("admin", 200, 200)):
            made = (await client.post("/api/keys", json={"role": role}, headers=admin)).json()
            key = {"Authorization": f"Bearer {made['key']}"}
            assert (await client.get("/api/logs", headers=key)).status_code == logs
            assert (await client.get("/api/audit", headers=key)).status_code == audit
            assert (await client.get("/api/audit/proof", headers=key)).status_code == audit


async def test_the_audit_log_is_read_from_its_end_and_its_chain_proved(tmp_path: Path) -> None:
    async with served(tmp_path) as client:
        made = (await client.post("/api/keys", json={"role": "user", "owner": "Kim"})).json()
        key = {"Authorization": f"Bearer {made['key']}"}
        assert (await client.get("/api/audit", headers=key)).status_code == 403
    async with served(tmp_path, api_key=KEY, auth="on") as client:
        client.headers["Authorization"] = f"Bearer {KEY}"
        entries = (await client.get("/api/audit")).json()["entries"]
        assert [one["seq"] for one in entries] == sorted((one["seq"] for one in entries), reverse=True)
        assert {one["what"] for one in entries} >= {"admin.asked", "admin.done"}
        only = (await client.get("/api/audit?what=admin.asked&q=KEYS&limit=1")).json()["entries"]
        assert [one["what"] for one in only] == ["admin.asked"]
        assert (await client.get("/api/audit/proof")).json()["holds"] is True
        path = tmp_path / "audit.jsonl"
        path.write_bytes(path.read_bytes().replace(b"/api/keys", b"/api/kexs", 1))
        assert (await client.get("/api/audit/proof")).json()["holds"] is False
        assert [one for one in (await client.get("/api/audit")).json()["entries"] if one.get("changed")]


@pytest.fixture
def long_log(tmp_path: Path) -> Path:
    """A log of 3,000 entries in several files."""
    file = AuditFile(tmp_path / "audit.jsonl", max_bytes=100_000)
    for start in range(0, 3000, 100):
        file.append([{"what": "call", "at": "2026-01-01T00:00:00Z", "n": start + one} for one in range(100)])
    file.close()
    assert len(list(tmp_path.glob("audit-*.jsonl"))) > 2
    return tmp_path / "audit.jsonl"


def test_pages_of_several_files_hold_each_entry_once(long_log: Path) -> None:
    seen: list[int] = []
    before: int | None = None
    while True:
        page = newest(long_log, lambda _: True, limit=170, before=before)
        seen += [entry["seq"] for entry in page.entries]
        if page.goes_on is None:
            break
        before = page.goes_on
    assert seen == list(range(3000, 0, -1))
    assert [entry["seq"] for entry in newest(long_log, lambda _: True, limit=500, after=2997).entries] == [
        3000,
        2999,
        2998,
    ]


def test_what_is_rare_is_looked_for_in_steps(tmp_path: Path) -> None:
    path, head, lines = tmp_path / "audit.jsonl", Head(), []
    for number in range(MOST_LOOKED_AT + 10):
        head, line = chained(head, {"what": "call", "n": number})
        lines.append(line)
    path.write_bytes(b"".join(lines))
    page = newest(path, lambda entry: entry["n"] == 0, limit=10)
    assert (page.entries, page.goes_on) == ([], 11)
    page = newest(path, lambda entry: entry["n"] == 0, limit=10, before=page.goes_on)
    assert ([entry["n"] for entry in page.entries], page.goes_on) == ([0], None)
    assert json.loads(lines[0])["n"] == 0
