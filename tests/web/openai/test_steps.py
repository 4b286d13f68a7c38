"""Issue 17 line 10: a run is heard while it works, in a form that its client can show; report r2-22 (N7)."""

from __future__ import annotations

import asyncio

import aiohttp
import pytest

from naru.config import Settings
from naru.messages import JsonObject, ToolResult
from naru.tools.toolset import CallContext
from tests.web.conftest import EchoTools, MemoryHub, application, served
from tests.web.openai.test_whole import ECHO, both, saying
from tests.web.openai.whole import ASK, Told, ask
from tests.web.upstream import Reply, delta, upstream

WORDS = Reply([delta(content="Let me look."), delta(tool_calls=[ECHO]), delta("tool_calls"), "[DONE]"])
SCRIPT = [WORDS, saying("done")]


class TalkingTools(EchoTools):
    """A tool that says how far it is."""

    async def call(self, name: str, arguments: JsonObject, context: CallContext) -> ToolResult:
        if context.on_progress is not None:
            await context.on_progress(1.0, 3.0, "page 1 of 3")
        return await super().call(name, arguments, context)


async def run_of(profile: str, *, stream: bool = True, settings: Settings | None = None) -> Told:
    async with upstream(SCRIPT) as model:
        hub = MemoryHub(model.backend(), TalkingTools(), settings=settings or Settings())
        return await ask(hub, stream=stream, tools=True, headers={"x-naru-client": profile})


def steps(told: Told) -> list[JsonObject]:
    if not told.chunks:
        return list(told.naru.get("steps", ()))
    return [chunk["naru"] for chunk in told.chunks if "step" in chunk.get("naru", {})]


@both
async def test_a_client_of_openais_form_hears_the_calls_in_a_field(stream: bool) -> None:
    told = await run_of("openai", stream=stream)
    call, note, result = steps(told)
    assert call == {"step": "call", "name": "hub__echo", "arguments": '{"text":"hi"}'}
    assert note == {"step": "progress", "text": "page 1 of 3", "progress": 1.0, "total": 3.0}
    assert (result["step"], result["text"], result["is_error"]) == ("result", "echo: hi", False)
    assert told.content == "Let me look.\n\ndone"
    assert told.naru["ended"] == "answered"


@both
@pytest.mark.parametrize("profile", ["open-webui", "librechat"])
async def test_a_client_that_shows_thoughts_hears_them_there(profile: str, stream: bool) -> None:
    told = await run_of(profile, stream=stream)
    assert steps(told) == []
    said = told.message["reasoning_content"]
    assert said.split("\n") == [
        "",
        '→ hub__echo {"text":"hi"}',
        "",
        "… page 1 of 3",
        "",
        "← hub__echo: echo: hi",
        "",
    ]
    assert told.content == "Let me look.\n\ndone"


@both
async def test_a_setting_gives_a_profile_another_form(stream: bool) -> None:
    settings = Settings.model_validate({"chat": {"steps": {"openai": "text"}}})
    told = await run_of("openai", stream=stream, settings=settings)
    assert "> → hub__echo" in told.content
    assert told.content.endswith("done")
    silent = Settings.model_validate({"chat": {"steps": {"openai": ""}}})
    told = await run_of("openai", stream=stream, settings=silent)
    assert (steps(told), told.content) == ([], "Let me look.\n\ndone")


@both
@pytest.mark.parametrize("profile", ["strict", "void", "cline", "continue"])
async def test_clients_that_it_would_break_hear_nothing(profile: str, stream: bool) -> None:
    told = await run_of(profile, stream=stream)
    assert steps(told) == []
    assert "→" not in str(told.message)
    assert told.content == "Let me look.\n\ndone"


async def test_a_short_answer_streams_as_it_is_written() -> None:
    """The first words of a run's answer do not wait for two hundred characters."""
    reply = Reply([delta(content="First "), delta(content="words."), delta("stop"), "[DONE]"], held_at=1)
    body = {"model": "m+tools", "messages": ASK, "stream": True}
    async with asyncio.timeout(60), upstream([reply]) as model:
        hub = MemoryHub(model.backend(), EchoTools())
        async with (
            served(application(hub)) as url,
            aiohttp.ClientSession() as session,
            session.post(f"{url}/v1/chat/completions", json=body) as response,
        ):
            while b"First" not in await response.content.readuntil(b"\n\n"):
                pass
            reply.seen.set()
            assert b"words." in await response.read()
