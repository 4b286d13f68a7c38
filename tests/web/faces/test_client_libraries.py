"""Client libraries of each API as their makers ship them, before a scripted model (issue 18, real clients).

Each streams an answer, makes a round trip with a tool of its own, one with the hub's tool, and shows an error's reason.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from naru.cli.clients.entries import CLIENTS as CLIENTS_OF_CONNECT
from naru.cli.clients.entries import Address, filled
from naru.config import HubSettings, Settings
from naru.models.scripted import ScriptedBackend
from tests.client_environments import node_environment, python_environment
from tests.web.conftest import MemoryHub, application, served
from tests.web.faces.agents import SAID
from tests.web.faces.test_coding_agents import play

CLIENTS = Path(__file__).parent / "clients"
PYTHON = (
    "langchain-openai==1.7.4",
    "langchain-anthropic==1.7.10",
    "langchain-ollama==1.1.0",
    "pydantic-ai-slim[openai,anthropic]==2.68.0",
)
NODE = {
    "openai": "7.59.0",
    "@anthropic-ai/sdk": "1.14.0",
    "ollama": "0.6.4",
    "ai": "7.0.173",
    "@ai-sdk/openai": "4.0.118",
    "@ai-sdk/anthropic": "4.0.105",
    "@ai-sdk/openai-compatible": "3.0.92",
    "zod": "4.6.7",
}
PYTHON_CLIENTS = {
    *("langchain-openai, chat", "langchain-openai, Responses", "langchain-anthropic", "langchain-ollama"),
    *("pydantic-ai, chat", "pydantic-ai, Responses", "pydantic-ai, Anthropic", "pydantic-ai, Ollama"),
}
NODE_CLIENTS = {
    *("openai, chat", "openai, Responses", "@anthropic-ai/sdk", "ollama"),
    *("AI SDK, openai", "AI SDK, anthropic", "AI SDK, openai-compatible"),
}
GOOSE = "0.1.0a13"
GOOSE_CLIENTS = {"goose, openai", "goose, anthropic"}
_SECONDS = 180


async def told_by(tmp_path: Path, *command: str) -> dict[str, dict[str, Any]]:
    settings = Settings(hub=HubSettings(data_dir=tmp_path))
    async with served(application(MemoryHub(ScriptedBackend(play, model="m"), settings=settings))) as url:
        process = await asyncio.create_subprocess_exec(
            *command, url, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
        )
        try:
            out, error = await asyncio.wait_for(process.communicate(), _SECONDS)
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
    assert process.returncode == 0, error.decode()[-2000:]
    return dict(json.loads(line) for line in out.decode().splitlines() if line.startswith("["))


def expect_all(told: dict[str, dict[str, Any]], clients: set[str]) -> None:
    assert set(told) == clients
    for client, said in told.items():
        assert said["text"] == "Good day from the model (user).", client
        assert said["own"] == f"It said: {SAID}", client
        assert said["hub"] == "It said: echo: hi", client
        assert "no room" in said["error"], client


@pytest.mark.slow
async def test_langchain_and_pydantic_ai_work_over_every_api(tmp_path: Path) -> None:
    python = python_environment(*PYTHON)
    expect_all(await told_by(tmp_path, str(python), str(CLIENTS / "python_apis.py")), PYTHON_CLIENTS)


@pytest.mark.slow
async def test_gooses_own_providers_work_over_both_apis(tmp_path: Path) -> None:
    python = python_environment(f"goose-sdk=={GOOSE}")
    row = next(row for row in CLIENTS_OF_CONNECT if row.name == "goose")
    printed = "\n".join(filled(row.steps, Address("{url}", (), "m", asks_for_key=True)))
    custom = printed[printed.index("{\n") : printed.rindex("}") + 1]
    expect_all(await told_by(tmp_path, str(python), str(CLIENTS / "goose_apis.py"), custom), GOOSE_CLIENTS)


@pytest.mark.slow
@pytest.mark.node
async def test_node_packages_and_the_ai_sdks_providers_work_over_every_api(tmp_path: Path) -> None:
    folder = node_environment(NODE)
    script = folder / "node_apis.mjs"
    script.write_text((CLIENTS / "node_apis.mjs").read_text(encoding="utf-8"), encoding="utf-8")
    told = await told_by(tmp_path, "node", str(script))
    assert told.pop("background") == {
        "statuses": ["queued", "completed", True],
        "items": ["user", "user", "assistant"],
        "text": "Good day from the model (user).",
    }
    expect_all(told, NODE_CLIENTS)
