"""Coding agents as their makers ship them, offline, before a scripted model (issue 18, real clients).

Each says a text, calls a tool of its own and reads its result, has the hub's tool run, and shows an error's reason.
Made-up keys, empty home folders. Crush's package did not install here; Gemini CLI, Continue's CLI and the others of the
issue were not tried.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from naru.config import HubSettings, Settings
from naru.errors import ModelError
from naru.messages import ChatRequest
from naru.models.scripted import Answer, ScriptedBackend
from tests.client_environments import node_environment
from tests.web.conftest import MemoryHub, application, served

_SECONDS = 180
_SAID = "own-tool-said-this"
OWN_TOOLS = {
    "exec_command": {"cmd": f"echo {_SAID}"},
    "Bash": {"command": f"echo {_SAID}", "description": "say"},
    "run_shell_command": {"command": f"echo {_SAID}", "is_background": False, "description": "say"},
    "bash": {"command": f"echo {_SAID}", "description": "say"},
}
"""What each agent runs commands with."""


@dataclass(frozen=True)
class Agent:
    package: str
    version: str
    program: str
    arguments: Callable[[str, str], Sequence[str]]
    """Of the model and the question."""
    variables: Callable[[str, str], Mapping[str, str]]
    """Of the hub's URL and the model."""
    prepare: Callable[[Path, str, str], None] = lambda home, url, model: None
    """Writes its settings into an empty home folder."""


def _codex(home: Path, url: str, model: str) -> None:
    provider = f'[model_providers.naru]\nname = "Naru"\nbase_url = "{url}/v1"\nwire_api = "responses"\n'
    limits = 'env_key = "NARU_API_KEY"\nrequest_max_retries = 0\nstream_max_retries = 0\n'
    (home / ".codex").mkdir()
    text = f'model = "{model}"\nmodel_provider = "naru"\n{provider}{limits}'
    (home / ".codex" / "config.toml").write_text(text)


AGENTS = {
    "codex": Agent(
        "@openai/codex",
        "0.171.0",
        "codex",
        lambda model, asked: ["exec", "--skip-git-repo-check", "-s", "danger-full-access", asked],
        lambda url, model: {"NARU_API_KEY": "made-up"},
        _codex,
    ),
    "claude-code": Agent(
        "@anthropic-ai/claude-code",
        "2.1.197",
        "claude",
        lambda model, asked: ["-p", asked, "--allowedTools", "Bash"],
        lambda url, model: {
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_AUTH_TOKEN": "made-up",
            "ANTHROPIC_MODEL": model,
            "ANTHROPIC_SMALL_FAST_MODEL": model,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_MAX_RETRIES": "0",
        },
    ),
    "qwen-code": Agent(
        "@qwen-code/qwen-code",
        "0.15.10",
        "qwen",
        lambda model, asked: ["--auth-type", "openai", "--yolo", "-p", asked],
        lambda url, model: {"OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": "made-up", "OPENAI_MODEL": model},
    ),
}


def play(request: ChatRequest) -> Answer:
    """Play a model that does what the person's words ask for."""
    asked = " ".join(turn.text for turn in request.messages if turn.role == "user")
    last = request.messages[-1]
    names = {tool.name for tool in request.tools}
    if "please fail" in asked:
        return ModelError("The scripted model has no room.", status=400)
    if any(turn.role == "tool" for turn in request.messages):
        results = [turn.text for turn in request.messages if turn.role == "tool"]
        return f"It said: {results[-1][-200:]}"
    if "the hub's tool" in asked and "hub__echo" in names:
        return '<tool_call>\n{"name": "hub__echo", "arguments": {"text": "hi"}}\n</tool_call>'
    own = next((name for name in OWN_TOOLS if name in names), "")
    if "your own tool" in asked and own:
        return f"<tool_call>\n{json.dumps({'name': own, 'arguments': OWN_TOOLS[own]})}\n</tool_call>"
    return f"Good day from the model ({last.role})."


async def said_by(agent: Agent, tmp_path: Path, asked: str, model: str = "m") -> str:
    folder = node_environment({agent.package: agent.version})
    home = tmp_path / "home"
    (home / "work").mkdir(parents=True)
    hub = MemoryHub(ScriptedBackend(play, model="m"), settings=Settings(hub=HubSettings(data_dir=tmp_path / "data")))
    async with served(application(hub)) as url:
        agent.prepare(home, url, model)
        process = await asyncio.create_subprocess_exec(
            str(folder / "node_modules" / ".bin" / agent.program),
            *agent.arguments(model, asked),
            cwd=home / "work",
            env={"PATH": os.environ["PATH"], "HOME": str(home), **agent.variables(url, model)},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        try:
            out, _ = await asyncio.wait_for(process.communicate(), _SECONDS)
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
    return out.decode(errors="replace")


@pytest.mark.slow
@pytest.mark.node
@pytest.mark.xdist_group("coding-agents")
@pytest.mark.parametrize("name", AGENTS)
@pytest.mark.parametrize(
    ("asked", "model", "says"),
    [
        ("Say good day.", "m", "Good day from the model"),
        ("Use your own tool.", "m", f"It said: {'{rest}'}"),
        ("Use the hub's tool.", "m+tools", "It said: echo: hi"),
        ("Now please fail.", "m", "no room"),
    ],
    ids=["text", "own-tool", "hub-tool", "error"],
)
async def test_a_coding_agent_works_unchanged(name: str, asked: str, model: str, says: str, tmp_path: Path) -> None:
    out = await said_by(AGENTS[name], tmp_path, asked, model)
    assert says.removesuffix("{rest}") in out
    if "own tool" in asked:
        assert _SAID in out.partition("It said:")[2]
