"""Coding agents and terminal clients as their makers ship them, offline, before a scripted model (issue 18).

Each calls a tool of its own and reads its result (or edits a file), has the hub's tool run and says its text, and shows
an error's reason. Made-up keys, empty home folders. docs/how-to/chat-clients.md tells of those that are not tested so.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from naru.cli.clients.entries import CLIENTS
from naru.config import HubSettings, Settings
from naru.errors import ModelError
from naru.messages import ChatRequest
from naru.models.scripted import Answer, ScriptedBackend
from tests.client_environments import node_environment, python_environment
from tests.web.conftest import MemoryHub, application, served
from tests.web.faces.agents import AGENTS, SAID, Agent, words_of

OWN_TOOLS = {
    "exec_command": {"cmd": f"echo {SAID}"},
    "Bash": {"command": f"echo {SAID}", "description": "say"},
    "run_shell_command": {"command": f"echo {SAID}", "is_background": False, "description": "say"},
    "bash": {"command": f"echo {SAID}", "description": "say"},
}
"""What each agent runs commands with."""


def play(request: ChatRequest) -> Answer:
    """Play a model that does what the person's words ask for."""
    asked = " ".join(turn.text for turn in request.messages if turn.role == "user")
    names = {tool.name for tool in request.tools}
    if "please fail" in asked:
        return ModelError("The scripted model has no room.", status=400)
    if any(turn.role == "tool" for turn in request.messages):
        results = [turn.text for turn in request.messages if turn.role == "tool"]
        return f"It said: {results[-1][-200:]}"
    if "the hub's tool" in asked and "hub__echo" in names:
        return '<tool_call>\n{"name": "hub__echo", "arguments": {"text": "hi"}}\n</tool_call>'
    if "please edit" in asked and not names:
        return f"a.txt\n```\n{SAID}\n```\n"
    own = next((name for name in OWN_TOOLS if name in names), "")
    if "your own tool" in asked and own:
        return f"<tool_call>\n{json.dumps({'name': own, 'arguments': OWN_TOOLS[own]})}\n</tool_call>"
    return f"Good day from the model ({request.messages[-1].role})."


async def said_by(agent: Agent, tmp_path: Path, asked: str, model: str = "m") -> str:
    home = tmp_path / "home"
    (home / "work").mkdir(parents=True)
    (home / "work" / "a.txt").write_text("one\n", encoding="utf-8")
    hub = MemoryHub(ScriptedBackend(play, model="m"), settings=Settings(hub=HubSettings(data_dir=tmp_path / "data")))
    async with served(application(hub)) as url:
        agent.prepare(home, url, model)
        variables = agent.variables(url, model)
        return await words_of(_program(agent), *agent.arguments(model, asked), home=home, variables=variables)


def _program(agent: Agent) -> str:
    if agent.is_python:
        return str(python_environment(f"{agent.package}=={agent.version}").with_name(agent.program))
    return str(node_environment({agent.package: agent.version}) / "node_modules" / ".bin" / agent.program)


@pytest.mark.slow
@pytest.mark.node
@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in AGENTS])
@pytest.mark.parametrize(
    ("asked", "model", "says"),
    [
        ("Use your own tool.", "m", f"It said: {'{rest}'}"),
        ("Use the hub's tool.", "m+tools", "It said: echo: hi"),
        ("Now please fail.", "m", "no room"),
    ],
    ids=["own-tool", "hub-tool", "error"],
)
async def test_a_coding_agent_works_unchanged(name: str, asked: str, model: str, says: str, tmp_path: Path) -> None:
    agent = AGENTS[name]
    if "own tool" in asked and not agent.has_tools:
        await said_by(agent, tmp_path, "Now please edit a.txt.", model)
        assert (tmp_path / "home" / "work" / "a.txt").read_text(encoding="utf-8") == f"{SAID}\n"
        return
    out = await said_by(agent, tmp_path, asked, model)
    assert says.removesuffix("{rest}") in out
    if "own tool" in asked:
        assert SAID in out.partition("It said:")[2]


def test_naru_connect_tells_the_versions_that_are_tested_here() -> None:
    assert {row.name: row.tested for row in CLIENTS if row.name in AGENTS} == {
        name: agent.version for name, agent in AGENTS.items()
    }
