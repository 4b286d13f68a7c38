"""No secret out, no ordinary word masked (S-34; issue 16, line 6): a hub before parties that quote what they got."""

from __future__ import annotations

import json
import logging
import re
import sqlite3
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from naru.config import Settings
from naru.connections.manager import Manager
from naru.hub import Hub, open_hub
from naru.messages import ChatRequest
from naru.models.backend import Backend
from naru.models.scripted import ScriptedBackend
from naru.models.transport.failures import failure, http_failure
from naru.records import ServerRecord
from naru.stores.secrets.redact import REDACTOR, Redactor
from naru.web.app import open_app
from tests.connections.conftest import managed
from tests.connections.fake_http import FakeHttpServer
from tests.fixtures import quoting_server
from tests.fixtures.quoting_server import FAILURES, RESULTS, STATUSES, quoting_http
from tests.web.conftest import served

SENTINEL = "SENTINEL"
CODED = ("U0VOVElORU", "NFTlRJTkVM", "TRU5USU5FT", "53454e54494e454c")
"""The sentinel's beginning in base64, by what stands before it, and in hexadecimal digits."""


def config_of(kind: str, address: str) -> dict[str, Any]:
    """A record with a sentinel wherever one may stand, and ordinary values beside them."""
    if kind == "stdio":
        return {
            "command": sys.executable,
            "args": [
                quoting_server.__file__,
                "--api-key",
                "SENTINEL-arg-01",
                "--token=SENTINEL-arg-02",
                "--level",
                "warning",
            ],
            "env": {
                "API_KEY": "SENTINEL-env-01",
                "DB_URL": "postgresql://app:SENTINEL-env-02@db/app",
                "PLAIN_NAME": "${MY_SERVICE_TOKEN}",
                "ASKED": "${input:pass-word}",
                "OPAQUE": "SENTINEL9f3c2b7a1d5e8f04",
                "GOOGLE_CREDENTIALS": json.dumps({"type": "service_account", "private_key": "SENTINEL-env-05"}),
                "LOG_LEVEL": "warning",
                "MODE": "production",
                "DB_PASSWORD": "postgres",
            },
        }
    path = "sse" if kind == "sse" else "mcp"
    return {
        "url": f"http://{address}/{path}/SENTINEL7d8f9a0b1c2d3e?api_key=SENTINEL-url-01&q=plain",
        "headers": {
            "Authorization": "Bearer SENTINEL-head-01",
            "X-Api-Key": "SENTINEL-head-02",
            "Cookie": "sid=SENTINEL-head-03; theme=production",
            "X-Custom": "SENTINEL1a2b3c4d5e6f7a8b",
            "X-Environment": "production",
        },
    }


@asynccontextmanager
async def hub_before(kind: str, folder: Path, backend: Backend) -> AsyncIterator[tuple[Hub, str]]:
    """A hub with one quoting server, over its own HTTP; gives the base URL."""
    settings = Settings.model_validate(
        {"hub": {"data_dir": folder, "store": "memory:"}, "server": {"allowed_hosts": ["127.0.0.1:*"]}}
    )
    async with AsyncExitStack() as stack:
        address = "" if kind == "stdio" else await stack.enter_async_context(quoting_http(sse=kind == "sse"))
        hub = await stack.enter_async_context(open_hub(settings, backend=backend))
        app = await stack.enter_async_context(open_app(hub))
        url = await stack.enter_async_context(served(app.asgi))
        declared = {"stdio": "STDIO", "http": "HTTP", "sse": "SSE"}[kind]
        await hub.manager.register(ServerRecord(name="q", transport_type=declared, config=config_of(kind, address)))
        assert await hub.manager.connect("q"), hub.manager.explain("q").summary
        yield hub, url


def calls_what_is_asked(request: ChatRequest) -> str:
    """A model that calls the tool that the question names, and answers once it has the result."""
    turns = [turn for turn in request.messages if turn.role in ("user", "tool")]
    asked = re.search(r"call (\w+)", turns[0].text)
    assert asked is not None
    if len(turns) > 1 or "<tool_response>" in turns[0].text:
        return "Done."
    return f'<tool_call>\n{{"name": "q__{asked[1]}", "arguments": {{}}}}\n</tool_call>'


async def everything_shown(hub: Hub, url: str, names: list[str]) -> dict[str, str]:
    """Walk every face: what each said."""
    shown: dict[str, str] = {}
    async with aiohttp.ClientSession() as client:

        async def ask(label: str, verb: str, path: str, body: Any = None, **headers: str) -> None:
            async with client.request(verb, url + path, json=body, headers=headers) as response:
                shown[label] = f"{dict(response.headers)} {await response.text()}"

        for name in names:
            asked = {"messages": [{"role": "user", "content": f"call {name}"}], "max_iterations": 5}
            body = {"jsonrpc": "2.0", "method": "generate_content", "params": asked, "id": 1}
            await ask(f"generate {name}", "POST", "/generate_with_mcp", body)
            await ask(f"rest {name}", "POST", "/api/tools/call", {"name": f"q__{name}", "arguments": {}})
            message = {
                "jsonrpc": "2.0",
                "id": 1,
                "method": "tools/call",
                "params": {"name": f"q__{name}", "arguments": {}},
            }
            accept = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28"}
            prefix = "io.modelcontextprotocol/"
            message["params"]["_meta"] = {  # type: ignore[index]
                f"{prefix}protocolVersion": "2026-07-28",
                f"{prefix}clientCapabilities": {},
                f"{prefix}logLevel": "debug",
                "progressToken": 1,
            }
            await ask(
                f"mcp {name}",
                "POST",
                "/mcp",
                message,
                **accept,
                **{"Mcp-Method": "tools/call", "Mcp-Name": f"q__{name}"},
            )
        for path in (
            "/api/tools",
            "/api/servers",
            "/api/servers/q",
            "/api/servers/q/log",
            "/readyz",
            "/metrics",
            "/api/runs",
        ):
            await ask(path, "GET", path)
        async with client.get(url + "/api/runs") as response:
            runs = (await response.json())["runs"]
        assert len(runs) == len(names)
        for run in runs:
            await ask(f"run {run['question']}", "GET", f"/api/runs/{run['id']}")
        for kind in ("resources/list", "prompts/list", "tools/list", "server/discover"):
            meta = {f"{prefix}protocolVersion": "2026-07-28", f"{prefix}clientCapabilities": {}}
            body = {"jsonrpc": "2.0", "id": 2, "method": kind, "params": {"_meta": meta}}
            await ask(f"mcp {kind}", "POST", "/mcp", body, **accept, **{"Mcp-Method": kind})
    shown["explain"] = repr(hub.manager.explain("q")) + hub.manager.connection("q").log_text
    return shown


def leaks(shown: dict[str, str]) -> list[str]:
    """Name the places where a sentinel can be read, in any of its forms."""
    marks = (SENTINEL, *CODED)
    return sorted(
        f"{place}: …{text[max(0, at - 60) : at + 40]!r}"
        for place, text in shown.items()
        for mark in marks
        if (at := text.find(mark)) >= 0
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["stdio", "http", "sse"])
async def test_s34_no_sentinel_leaves_by_any_face_log_prompt_run_or_store(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("MY_SERVICE_TOKEN", "SENTINEL-env-03")
    monkeypatch.setenv("NARU_INPUT_PASS_WORD", "SENTINEL-env-04")
    caplog.set_level(logging.DEBUG)
    names = [*RESULTS, *FAILURES, *(() if kind == "stdio" else STATUSES)]
    backend = ScriptedBackend(calls_what_is_asked)
    async with hub_before(kind, tmp_path, backend) as (hub, url):
        shown = await everything_shown(hub, url, names)
    assert {f"q__{name}" for name in names if f"q__{name}" in shown[f"generate {name}"]} == {
        f"q__{name}" for name in names
    }
    shown["prompts"] = repr(backend.requests)
    shown["logs"] = caplog.text
    for path in sorted(tmp_path.rglob("*")):
        if path.is_file():
            shown[path.name] = path.read_bytes().decode("utf-8", "replace")
    with sqlite3.connect(tmp_path / "runs.db") as database:
        shown["runs"] = "\n".join(database.iterdump())
    assert "error_result" in shown["runs"], "the run was not kept"
    assert leaks(shown) == []
    # What is no secret stays legible: in results, lists, logs of the server.
    assert "warning" in shown["rest text"] if kind == "stdio" else "production" in shown["rest text"]
    assert "••••" in shown["rest text"]


ORDINARY = {
    "LOG_LEVEL": "warning", "NODE_ENV": "production", "DB_PASSWORD": "postgres", "MODEL": "claude-3-5-sonnet-20241022",
    "AUTHOR": "Kim Minjun", "AUTH_MODE": "oauth2", "MAX_TOKENS": "100000", "TOKENIZER": "cl100k_base",
    "SESSION_DIR": "/var/lib/sessions", "REGION": "ap-northeast-2", "PRIVATE": "true", "SORT_KEY": "created_at",
    "API_KEY": "ollama", "COOKIE_CONSENT": "required", "KEYBOARD": "qwerty",
    "TENANT": "123e4567-e89b-12d3-a456-426614174000",
    "MEMORY_FILE_PATH": "/data/memory.json", "ALLOWED": "echo,search,read_file", "TZ": "Asia/Seoul", "TOKEN": "none",
    "VERSION": "v2.13.4-alpine", "START": "2026-07-28T09:00:00Z", "BASE_URL": "https://api.example.com/v1/search?page=2",
}  # fmt: skip


@pytest.mark.slow
async def test_in_10000_results_no_ordinary_word_is_masked(manager_with_echo: Manager) -> None:
    """What a configuration says in ordinary words stays in what servers say: here our documents, with those words."""
    docs = Path(__file__).parent.parent.parent / "docs"
    lines = [
        line for page in sorted(docs.rglob("*.md")) for line in page.read_text(encoding="utf-8").splitlines() if line
    ]
    words = list(ORDINARY.values())
    changed, masks = [], 0
    for number in range(10_000):
        said = f"{lines[number % len(lines)]} {words[number % len(words)]}"
        masks += "••••" in said
        result = await manager_with_echo.call_tool("e", "echo", {"text": said})
        if result.text != said:
            changed.append((said, result.text))
    assert changed == []
    assert masks < 500


@pytest.fixture
async def manager_with_echo() -> AsyncIterator[Manager]:
    headers = {f"X-{name.replace('_', '-')}": value for name, value in ORDINARY.items()}
    async with FakeHttpServer() as server, managed() as manager:
        record = ServerRecord(
            name="e", transport_type="HTTP", config={"url": server.url, "headers": headers, "env": ORDINARY}
        )
        await manager.register(record)
        assert await manager.connect("e"), manager.explain("e").summary
        yield manager


async def test_a_model_endpoints_refusal_does_not_quote_its_key() -> None:
    """An endpoint that answers 401 with the request's headers: on the face, in the log, in the error (line 6)."""
    REDACTOR.learn(["SENTINEL-model-1"])
    error = http_failure(
        "http://h/v1", 401, {}, json.dumps({"error": {"message": "." * 390 + " SENTINEL-model-1"}}).encode()
    )
    assert "SENT" not in str(error)
    assert "SENT" not in str(failure("overloaded", "h failed: SENTINEL-model-1"))


def test_a_challenge_stays_legible() -> None:
    """NEEDS_AUTH says what the server asks for (line 6)."""
    asked = 'Bearer realm="mcp", error="invalid_token", scope="token:read", resource_metadata="https://h/.well-known/x"'
    assert Redactor(["SENTINEL-1"]).clean(asked) == asked
