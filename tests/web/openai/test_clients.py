"""Real clients, unchanged: a tool round trip, streamed and not, over several dialects of model text."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from naru.messages import ChatRequest
from naru.models.scripted import ScriptedBackend
from tests.client_environments import node_environment, python_environment
from tests.web.conftest import MemoryHub, application, served
from tests.web.openai.model_texts import MODEL_TEXTS

CLIENTS = Path(__file__).parent / "clients"
PYTHON = ("litellm==1.110.2", "langchain-openai==1.7.4", "pydantic-ai-slim[openai]==2.68.0")
NODE = {"openai": "6.49.0", "ai": "6.0.326", "@ai-sdk/openai-compatible": "2.0.92", "zod": "4.6.7"}
_SECONDS = 120


def answer(request: ChatRequest) -> str:
    """Play a model: its name is its dialect; with a result in front of it, it answers."""
    if any(message.role == "tool" for message in request.messages):
        return "It is sunny in Seoul."
    return MODEL_TEXTS[request.model]


async def round_trips(command: list[str]) -> list[Any]:
    async with served(application(MemoryHub(ScriptedBackend(answer)))) as url:
        process = await asyncio.create_subprocess_exec(
            *command,
            f"{url}/v1",
            *MODEL_TEXTS,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            out, error = await asyncio.wait_for(process.communicate(), _SECONDS)
        except TimeoutError:
            process.kill()
            raise
    assert process.returncode == 0, error.decode()[-2000:]
    return [json.loads(line) for line in out.decode().splitlines() if line.startswith("[")]


def expect_round_trips(results: list[Any]) -> None:
    call = [["get_weather", {"city": "Seoul"}]]
    wanted = [
        [dialect, stream, call, "It is sunny in Seoul.", ["tool_calls", "stop"]]
        for dialect in MODEL_TEXTS
        for stream in (False, True)
    ]
    assert results == wanted


@pytest.mark.slow
async def test_the_openai_package_round_trips() -> None:
    expect_round_trips(await round_trips([sys.executable, str(CLIENTS / "openai_python.py")]))


@pytest.mark.slow
@pytest.mark.parametrize("client", ["litellm_python.py", "langchain_python.py", "pydantic_ai_python.py"])
async def test_python_frameworks_round_trip(client: str) -> None:
    python = python_environment(*PYTHON)
    expect_round_trips(await round_trips([str(python), str(CLIENTS / client)]))


@pytest.mark.slow
@pytest.mark.node
@pytest.mark.parametrize("client", ["openai_node.mjs", "vercel_ai.mjs"])
async def test_node_clients_round_trip(client: str) -> None:
    folder = node_environment(NODE)
    script = folder / client
    script.write_text((CLIENTS / client).read_text(encoding="utf-8"), encoding="utf-8")
    expect_round_trips(await round_trips(["node", str(script)]))
