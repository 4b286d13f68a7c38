"""The console's endpoints: tools, results by type, the dialect inspector, runs, files under a strict policy (S-68)."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2 as httpx

from naru.config import Settings
from naru.hub import open_hub
from naru.messages import ToolDefinition, ToolResult
from naru.models.scripted import ScriptedBackend
from naru.records import ServerRecord, ServerStatus
from naru.web.app import open_app
from naru.web.console.pages import FILES

BASE_URL = "http://127.0.0.1:20006"
LIBRARIES = {"uplot.js", "uplot.css", "marked.js"}
"""Fetched after the first view, by the pages that draw with them."""
KEY = "Zq7xW2pLm9vRt4sB8nKc3Jd6Hf5Gy1Ua0Ei"


@asynccontextmanager
async def console(folder: Path, answers: list[str], **server: object) -> AsyncIterator[httpx.AsyncClient]:
    settings = Settings.model_validate({"hub": {"data_dir": folder, "store": "memory:"}, "server": server})
    async with open_hub(settings, backend=ScriptedBackend(answers)) as hub, open_app(hub) as app:
        transport = httpx.ASGITransport(app.asgi)
        async with httpx.AsyncClient(transport=transport, base_url=BASE_URL, timeout=60) as client:
            yield client


async def test_every_file_is_served_without_inline_code_and_small(tmp_path: Path) -> None:
    async with console(tmp_path, []) as client:
        total = 0
        for name in FILES:
            answer = await client.get("/" if name == "index.html" else f"/console/{name}")
            assert answer.status_code == 200
            assert "default-src 'none'" in answer.headers["content-security-policy"]
            assert "unsafe" not in answer.headers["content-security-policy"]
            total += 0 if name in LIBRARIES else len(answer.content)
            again = await client.get(answer.url, headers={"If-None-Match": answer.headers["etag"]})
            assert again.status_code == 304
        assert total < 177_000, "ours, without the libraries; a page fetches its own alone"


async def test_no_file_builds_markup_from_text() -> None:
    folder = Path(__file__).parents[3] / "src" / "naru" / "web" / "console" / "static"
    for file in folder.glob("*.js"):
        if file.name in LIBRARIES:
            continue  # of marked only its reader into tokens is used
        for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
            assert way not in file.read_text(encoding="utf-8"), file.name


async def test_a_models_text_is_inspected_with_spans_that_cover_it(tmp_path: Path) -> None:
    text = 'Hi. <tool_call>\n{"name": "look", "arguments": {"id": "7"}}\n</tool_call>'
    tool = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}
    async with console(tmp_path, []) as client:
        read = (await client.post("/api/dialects/inspect", json={"text": text, "tools": [tool]})).json()
    assert [(call["name"], call["arguments"]) for call in read["calls"]] == [("look", {"id": "7"})]
    assert read["spans"][0]["start"] == 0
    assert read["spans"][-1]["end"] == len(text)


async def test_a_tool_that_fails_is_a_result_that_says_so(tmp_path: Path) -> None:
    async with console(tmp_path, []) as client:
        result = (await client.post("/api/tools/call", json={"name": "none__such", "arguments": {}})).json()
    assert result["isError"]
    assert "none__such" in result["content"][0]["text"]


async def test_models_are_shown_with_what_is_known_of_them(tmp_path: Path) -> None:
    async with console(tmp_path, []) as client:
        models = (await client.get("/api/models")).json()["models"]
    assert models[0]["name"] == "scripted"
    assert models[0]["strategy"] == "native"


async def test_a_run_streams_its_steps_and_is_kept(tmp_path: Path) -> None:
    async with console(tmp_path, ["Hello."]) as client:
        body = {"model": "scripted", "messages": [{"role": "user", "content": "Hi"}], "servers": []}
        streamed = await client.post("/api/play", json=body)
        steps = [json.loads(line[6:]) for line in streamed.text.splitlines() if line.startswith("data: ")]
        assert [step["step"] for step in steps if step["step"] != "text"] == ["round", "prompt", "model", "end"]
        assert "".join(step["text"] for step in steps if step["step"] == "text") == "Hello."
        runs = (await client.get("/api/runs")).json()["runs"]
        assert runs[0]["question"] == "Hi"
        again = (await client.post(f"/api/runs/{runs[0]['id']}/replay")).json()
        assert again["same"]
        assert (await client.get("/api/runs/none")).status_code == 404


async def test_a_run_that_names_no_model_is_kept_with_the_one_that_answered(tmp_path: Path) -> None:  # N13
    async with console(tmp_path, ["Hello."]) as client:
        await client.post("/api/play", json={"messages": [{"role": "user", "content": "Hi"}], "servers": []})
        assert (await client.get("/api/runs")).json()["runs"][0]["model"] == "scripted"


async def test_a_run_of_another_caller_is_not_found(tmp_path: Path) -> None:  # S-66
    async with console(tmp_path, ["Hello."], auth="on", api_key=KEY) as client:
        admin = {"Authorization": f"Bearer {KEY}"}
        made = (await client.post("/api/keys", json={"role": "user"}, headers=admin)).json()
        body = {"model": "scripted", "messages": [{"role": "user", "content": "secret"}], "servers": []}
        await client.post("/api/play", json=body, headers=admin)
        run = (await client.get("/api/runs", headers=admin)).json()["runs"][0]
        user = {"Authorization": f"Bearer {made['key']}"}
        assert (await client.get("/api/runs", headers=user)).json()["runs"] == []
        assert (await client.get(f"/api/runs/{run['id']}", headers=user)).status_code == 404


async def test_metrics_count_runs_and_show_the_state_of_servers(tmp_path: Path) -> None:
    async with console(tmp_path, ["Hello."]) as client:
        body = {"model": "scripted", "messages": [{"role": "user", "content": "Hi"}], "servers": []}
        await client.post("/api/play", json=body)
        figures = (await client.get("/metrics")).text
    assert 'naru_runs_total{reason="no_tools"} 1.0' in figures
    assert 'naru_servers{status="CONNECTED"} 0.0' in figures


WORDS = re.compile(r"^  (\w+): (\[.*\]),$", re.MULTILINE)
STATIC = Path(__file__).parents[3] / "src" / "naru" / "web" / "console" / "static"


def words() -> dict[str, list[str]]:
    text = (STATIC / "text.js").read_text(encoding="utf-8")
    return {key: json.loads(value) for key, value in WORDS.findall(text)}


def test_every_word_of_the_console_is_there_in_both_languages() -> None:
    found = words()
    assert len(found) > 150
    for key, (english, korean) in found.items():
        assert english.strip()
        assert korean.strip(), key
        assert key == "language" or re.search("[가-힣]", korean) or english == korean, key
        assert set(re.findall(r"{\w+}", english)) == set(re.findall(r"{\w+}", korean)), key


def test_every_word_that_pages_ask_for_exists_and_none_is_left_over() -> None:
    code = "".join(
        file.read_text(encoding="utf-8") for file in STATIC.glob("*.js") if file.name not in {"text.js", *LIBRARIES}
    )
    asked = set(re.findall(r'\bt\(\s*"(\w+)"', code))
    assert asked <= words().keys()
    own = (STATIC / "text.js").read_text(encoding="utf-8").partition("const kept")[2]
    mentioned = set(re.findall(r'"(\w+)"', code + own)) | set(re.findall(r"^  (\w+): \[", code, re.MULTILINE))
    roles = {f"{role}May" for role in ("read", "user", "operator", "admin")}
    checks = {key for key in words() if key.startswith("check_")}
    statuses = {status.value for status in ServerStatus} | {"pending", "changed"}
    assert words().keys() - mentioned - roles - statuses - checks == set()


def test_no_page_has_english_of_its_own() -> None:
    for file in STATIC.glob("*.js"):
        if file.name in {"text.js", *LIBRARIES}:
            continue
        for said in re.findall(r'h\("\w+", \{[^{}]*\}, "([A-Z][a-z]+[^"]*)"', file.read_text(encoding="utf-8")):
            raise AssertionError(f"{file.name}: {said!r} belongs in text.js")


async def test_a_thousand_servers_are_shown_in_small_pages_those_in_trouble_first(tmp_path: Path) -> None:
    settings = Settings.model_validate({"hub": {"data_dir": tmp_path, "store": "memory:"}})
    async with open_hub(settings, backend=ScriptedBackend([])) as hub, open_app(hub) as app:
        for number in range(1000):
            config = {"url": f"http://127.0.0.1:9/{number}", "disabled": number % 2 == 0}
            await hub.manager.register(ServerRecord(name=f"s{number:04}", config=config, auto_connect=False))
        transport = httpx.ASGITransport(app.asgi)
        async with httpx.AsyncClient(transport=transport, base_url=BASE_URL, timeout=30) as client:
            first = await client.get("/api/console/servers")
            assert len(first.content) < 15_000
            page = first.json()
            assert (page["total"], len(page["servers"])) == (1000, 50)
            assert page["states"] == {"PENDING": 500, "DISABLED": 500}
            assert page["servers"][0]["status"] == "PENDING"
            last = (await client.get("/api/console/servers?offset=990")).json()["servers"]
            assert [one["name"] for one in last][-1] == "s0998"
            found = (await client.get("/api/console/servers?q=S0123&state=pending")).json()
            assert [one["name"] for one in found["servers"]] == ["s0123"]


class Many:
    """A toolset of many tools that nobody calls."""

    def __init__(self, tools: list[ToolDefinition]) -> None:
        self._tools = tools

    async def open(self) -> None: ...

    async def tools(self) -> list[ToolDefinition]:
        return self._tools

    async def call(self, name: str, arguments: dict, context: object) -> ToolResult:
        raise AssertionError(name)

    async def close(self) -> None: ...


async def test_five_thousand_tools_are_searched_and_shown_in_small_pages(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {f"p{n}": {"type": "string", "description": "x" * 80} for n in range(8)}}
    tools = [ToolDefinition(f"tool_{n}", f"Does thing {n}. " + "y" * 400, schema) for n in range(5000)]
    settings = Settings.model_validate({"hub": {"data_dir": tmp_path, "store": "memory:"}})
    async with open_hub(settings, backend=ScriptedBackend([])) as hub, open_app(hub) as app:
        toolset = Many(tools)
        hub.tools = lambda servers=None: toolset  # type: ignore[method-assign]
        transport = httpx.ASGITransport(app.asgi)
        async with httpx.AsyncClient(transport=transport, base_url=BASE_URL, timeout=30) as client:
            first = await client.get("/api/console/tools")
            assert first.json()["total"] == 5000
            assert len(first.content) < 25_000
            found = (await client.get("/api/console/tools?q=thing+4321.")).json()
            assert [one["name"] for one in found["tools"]] == ["tool_4321"]
            whole = (await client.get("/api/console/tools/tool_4321")).json()
            assert whole["inputSchema"] == schema
            assert (await client.get("/api/console/tools/none")).status_code == 404


async def test_files_are_packed_for_browsers_that_take_it(tmp_path: Path) -> None:
    async with console(tmp_path, []) as client:
        total = 0
        for name in FILES:
            path = "/" if name == "index.html" else f"/console/{name}"
            async with client.stream("GET", path, headers={"Accept-Encoding": "gzip"}) as answer:
                assert answer.headers["content-encoding"] == "gzip"
                size = sum([len(piece) async for piece in answer.aiter_raw()])
                total += 0 if name in LIBRARIES else size
            plain = await client.get(path, headers={"Accept-Encoding": "identity"})
            assert "content-encoding" not in plain.headers
    assert total < 67_000, "ours, without the libraries"


def test_every_file_of_the_console_is_listed_and_every_import_of_one_is_there() -> None:
    assert {file.name for file in STATIC.iterdir()} == set(FILES)
    for file in STATIC.glob("*.js"):
        assert set(re.findall(r'from "\./([\w.]+)"', file.read_text(encoding="utf-8"))) <= set(FILES)


async def test_a_pages_files_are_no_requests_of_a_persons_key(tmp_path: Path) -> None:
    async with console(tmp_path, [], auth="on", api_key=KEY, rate_limit_per_minute=3) as client:
        client.headers["Authorization"] = f"Bearer {KEY}"
        for _ in range(20):  # a page that is loaded anew asks for as many
            assert (await client.get("/console/app.js")).status_code == 200
        assert [(await client.get("/api/session")).status_code for _ in range(4)] == [200, 200, 200, 429]
