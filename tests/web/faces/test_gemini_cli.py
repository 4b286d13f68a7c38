"""Gemini CLI as its makers ship it: an MCP client of Naru, with what `naru connect gemini` writes (issue 18, 7).

Its model is Google's API alone, so an endpoint here speaks that API; keys are made up.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from naru.cli.clients.entries import CLIENTS, Address
from naru.config import Settings
from naru.hub import open_hub
from naru.messages import CallEnd, CallStart, ChatRequest, Finish, Text, Usage
from naru.models.scripted import Answer, ScriptedBackend
from naru.web.app import open_app
from tests.client_environments import node_environment
from tests.models.fake_endpoint import serve
from tests.web.conftest import served
from tests.web.faces import gemini
from tests.web.faces.agents import words_of

ROW = next(row for row in CLIENTS if row.name == "gemini")


def play(request: ChatRequest) -> Answer:
    """Call the hub's tool that the CLI declares, then say what came of it."""
    last = request.messages[-1]
    if last.role == "tool":
        return [Text(f"It said: {last.text}"), Usage(5, 3), Finish("stop")]
    name = next((tool.name for tool in request.tools if tool.name.endswith("get_employee_info")), "")
    if not name:
        return [Text(f"I have {sorted(tool.name for tool in request.tools)}."), Usage(5, 3), Finish("stop")]
    return [CallStart(0, "c", name), CallEnd(0, {"employee_id": "EMP001"}), Usage(5, 3), Finish("tool_calls")]


async def run(home: Path, *arguments: str, **variables: str) -> str:
    program = node_environment({"@google/gemini-cli": ROW.tested}) / "node_modules" / ".bin" / "gemini"
    variables["GEMINI_CLI_TRUST_WORKSPACE"] = "true"
    return await words_of(str(program), *arguments, home=home, variables=variables)


@pytest.mark.slow
@pytest.mark.node
async def test_gemini_cli_connects_with_what_naru_writes_and_calls_a_tool_of_the_hub(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "work").mkdir(parents=True)
    (home / ".gemini").mkdir()
    settings = Settings.model_validate(
        {
            "hub": {"data_dir": tmp_path / "data", "store": "memory:", "demo": True},
            "server": {"allowed_hosts": ["127.0.0.1:*"], "auth": "off"},
        }
    )
    async with (
        open_hub(settings, backend=ScriptedBackend([])) as hub,
        open_app(hub) as app,
        served(app.asgi) as url,
        serve(gemini.answering(play)) as google,
    ):
        await hub.manager.started(60)
        assert ROW.entry is not None
        entry = {"mcpServers": {"naru": ROW.entry(Address(url, (), "m"))}}
        shown = {"security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": {"usageStatisticsEnabled": False}}
        (home / ".gemini" / "settings.json").write_text(json.dumps(entry | shown), encoding="utf-8")
        listed = await run(home, "mcp", "list")
        assert f"naru: {url}/mcp (http) - Connected" in listed
        key = {"GEMINI_API_KEY": "made-up", "GOOGLE_GEMINI_BASE_URL": google.base_url.removesuffix("/v1")}
        said = await run(home, "-m", "gemini-2.5-flash", "--yolo", "-p", "Who is EMP001?", **key)
    assert "It said:" in said
    assert "EMP001" in said.partition("It said:")[2]
