"""The engine's child process: starting, refusing, dying."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import aiohttp
import jsonschema
import psutil
import pytest

if TYPE_CHECKING:
    from tests.conftest import EngineAddress

from naru.errors import ModelError
from naru.messages import (
    ArgumentsDelta,
    CallEnd,
    CallStart,
    ChatEvent,
    ChatRequest,
    Finish,
    Message,
    Text,
    ToolDefinition,
    Usage,
)
from naru.models.known.families import profile_for
from naru.models.local.engine import LocalEngine
from naru.models.wires.openai_http import Endpoint, OpenAIBackend

pytestmark = [pytest.mark.slow, pytest.mark.engine]


async def test_the_engine_answers_through_the_openai_backend(local_engine: EngineAddress) -> None:
    backend = OpenAIBackend(Endpoint(local_engine.base_url, local_engine.api_key), profile_for(local_engine.model))
    try:
        assert await backend.models() == [local_engine.model]
        request = ChatRequest("", [Message("user", "Say the word ferry.")], temperature=0, max_tokens=8)
        events = [event async for event in backend.stream(request)]
        assert any(isinstance(event, Text) and event.text for event in events)
        assert isinstance(events[-2], Usage)
        assert events[-1] in {Finish("stop"), Finish("length")}
    finally:
        await backend.close()


async def test_the_engine_asks_for_its_key_and_opens_no_door_to_web_pages(local_engine: EngineAddress) -> None:
    async with aiohttp.ClientSession() as session:
        async with session.get(f"{local_engine.base_url}/props") as response:
            assert response.status == 401
        async with session.get(
            f"{local_engine.base_url}/models", headers={"Origin": "http://evil.example"}
        ) as response:
            assert not response.headers.get("Access-Control-Allow-Origin")


async def test_the_key_is_in_no_argument_list(local_engine: EngineAddress) -> None:
    assert local_engine.api_key not in " ".join(psutil.Process(local_engine.pid).cmdline())


async def test_a_model_that_llama_cpp_cannot_load_gives_its_last_lines(tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF" + b"\xff" * 4096)
    engine = LocalEngine(broken)
    with pytest.raises(ModelError, match=r"could not load .*broken\.gguf and ended with .*last lines: ") as refused:
        await engine.start()
    assert "\n" not in str(refused.value)
    assert not engine.is_running


async def test_an_engine_that_was_killed_comes_back_for_the_next_request(demo_model: Path) -> None:
    async with LocalEngine(demo_model) as engine:
        backend = OpenAIBackend(Endpoint(engine.base_url, engine.api_key, keep_alive=False), engine=engine)
        request = ChatRequest("", [Message("user", "Say hi.")], max_tokens=2)
        first = [event async for event in backend.stream(request)]
        assert engine.pid is not None
        os.kill(engine.pid, signal.SIGKILL)
        second, third = await asyncio.gather(*(_all(backend, request) for _ in range(2)))
        assert isinstance(first[-1], Finish)
        assert isinstance(second[-1], Finish)
        assert isinstance(third[-1], Finish)
        await backend.close()
        assert not engine.is_running


async def _all(backend: OpenAIBackend, request: ChatRequest) -> list[ChatEvent]:
    return [event async for event in backend.stream(request)]


async def test_stopping_leaves_no_process_and_stopping_twice_is_harmless(demo_model: Path) -> None:
    engine = LocalEngine(demo_model)
    await engine.start()
    pid = engine.pid
    assert pid is not None
    await engine.stop()
    await engine.stop()
    assert not psutil.pid_exists(pid)


@pytest.mark.skipif(sys.platform != "linux", reason="PR_SET_PDEATHSIG is Linux's; elsewhere the end of stdin does it")
async def test_the_engine_dies_with_a_parent_that_is_killed(demo_model: Path) -> None:
    program = (
        "import asyncio, sys\n"
        "from pathlib import Path\n"
        "from naru.models.local.engine import LocalEngine\n"
        "async def main():\n"
        "    engine = LocalEngine(Path(sys.argv[1]))\n"
        "    await engine.start()\n"
        "    print(engine.pid, flush=True)\n"
        "    await asyncio.sleep(60)\n"
        "asyncio.run(main())\n"
    )
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, str(demo_model), stdout=asyncio.subprocess.PIPE
    )
    assert parent.stdout is not None
    child = psutil.Process(int(await asyncio.wait_for(parent.stdout.readline(), 60)))
    parent.kill()
    await parent.wait()
    gone, alive = await asyncio.to_thread(psutil.wait_procs, [child], 30)
    assert alive == []
    assert gone == [child]


async def test_a_guided_call_is_always_a_valid_call_of_an_offered_tool(local_engine: EngineAddress) -> None:
    """The grammar is llama.cpp's to judge: every construct that ours uses must load, and bind."""
    schema = {
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "days": {"type": "integer"},
            "unit": {"enum": ["celsius", "fahrenheit"]},
            "hours": {"type": "array", "items": {"type": "number"}},
            "place": {"type": "object", "properties": {"zip": {"type": "string"}}, "required": ["zip"]},
            "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            'odd "key"\\': {"type": "boolean"},
        },
        "required": ["city", "unit"],
    }
    tools = [ToolDefinition("forecast", "Forecast the weather.", schema), ToolDefinition("now", "Tell the time.")]
    profile = replace(profile_for(local_engine.model), strategy="guided", guided="grammar")
    endpoint = Endpoint(local_engine.base_url, local_engine.api_key, keep_alive=False)
    backend = OpenAIBackend(endpoint, profile, schemas="llama.cpp")
    try:
        request = ChatRequest(
            "", [Message("user", "Forecast Seoul.")], tools=tools, tool_choice="required", temperature=0, max_tokens=200
        )
        events = [event async for event in backend.stream(request)]
        named = replace(request, tool_choice={"type": "function", "function": {"name": "now"}})
        events_named = [event async for event in backend.stream(named)]
    finally:
        await backend.close()
    starts = [event.name for event in events if isinstance(event, CallStart)]
    calls = [event.arguments for event in events if isinstance(event, CallEnd)]
    assert starts in (["forecast"], ["now"])
    if starts == ["forecast"]:
        jsonschema.validate(calls[0], schema)
        # They come while the engine writes, not all at its end.
        assert sum(isinstance(event, ArgumentsDelta) for event in events) > 2
    assert [event.name for event in events_named if isinstance(event, CallStart)] == ["now"]
