"""Issue 19 lines 9, 10: one's own functions as an MCP server in one line, filtered, approved and audited."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.replicas.cluster import eventually

from naru.cli.options import Transport
from naru.cli.tool.serve import entry
from naru.config import Settings
from naru.errors import ConfigError
from naru.persons import Bounds
from naru.serve import serve
from naru.stores.secrets.keys import KeyFile
from naru.tools.functions.modules import module_toolset

WAIT_SECONDS = 60
SOURCE = """
from naru.tools import register_tool

@register_tool(annotations={"readOnlyHint": True})
def add(a: int, b: int = 2) -> dict[str, int]:
    '''Add two numbers.'''
    return {"sum": a + b}

@register_tool(annotations={"destructiveHint": True})
def wipe() -> str:
    return "wiped"

@register_tool
def hidden() -> str:
    return "never"
"""
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}


def ask(number: int, method: str, **params: object) -> dict:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "their_tools.py").write_text(SOURCE, encoding="utf-8")
    (tmp_path / "their_server.py").write_text(
        "import their_tools\nfrom naru.serve import serve\n"
        "serve([their_tools.add, their_tools.wipe, their_tools.hidden], name='theirs', deny=['hid*'])\n",
        encoding="utf-8",
    )
    return {
        **os.environ,
        "HOME": str(tmp_path),
        "PYTHONPATH": str(tmp_path),
        "NARU_HUB__DATA_DIR": str(tmp_path / "data"),
        "NARU_APPROVALS__DENY": '["*/wipe"]',
    }


@pytest.mark.slow
@pytest.mark.parametrize("way", ["command", "file", "python"])
def test_over_stdio_with_the_filter_the_approvals_and_the_audit(way, home, tmp_path):
    words = [
        "-m",
        "naru.cli.main",
        "tool",
        "serve",
        "--module",
        "their_tools.py" if way == "file" else "their_tools",
        "--name",
        "theirs",
        "--deny",
        "hid*",
        "--stdio",
    ]
    given = [
        INITIALIZE,
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        ask(2, "tools/list"),
        ask(3, "tools/call", name="add", arguments={"a": "40"}),
        ask(4, "tools/call", name="wipe", arguments={}),
        ask(5, "tools/call", name="hidden", arguments={}),
    ]
    process = subprocess.Popen(
        [sys.executable, *([str(tmp_path / "their_server.py")] if way == "python" else words)],
        env=home,
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    answers: dict[int, dict] = {}
    try:
        for message in given:  # one at a time: answers come in the order of the calls
            process.stdin.write(json.dumps(message) + "\n")
            process.stdin.flush()
            if "id" in message:
                answers[message["id"]] = json.loads(process.stdout.readline())
        _, told = process.communicate(timeout=WAIT_SECONDS)
    finally:
        process.kill()
        process.wait()
    assert [tool["name"] for tool in answers[2]["result"]["tools"]] == ["add", "wipe"]
    assert answers[2]["result"]["tools"][0]["outputSchema"]["additionalProperties"] == {"type": "integer"}
    assert answers[3]["result"]["structuredContent"] == {"sum": 42}
    assert answers[4]["result"]["isError"] is True
    assert "wiped" not in json.dumps(answers[4])
    assert "error" in answers[5]
    if way != "python":
        shown = json.loads(told[told.index("{") : told.rindex("}") + 1])["mcpServers"]["theirs"]
        assert shown["args"][:2] == ["tool", "serve"]
        assert shown["args"][3] == (str(tmp_path / "their_tools.py") if way == "file" else "their_tools")
        assert "--stdio" in shown["args"]
        assert shown["env"] == {"PYTHONPATH": str(tmp_path)}
    audit = "".join(path.read_text(encoding="utf-8") for path in (tmp_path / "data").rglob("audit.jsonl"))
    assert '"add"' in audit
    assert '"wipe"' in audit


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("broken_company.py", None, "is not there"),
        ("broken_company.py", "import not_there_at_all", "No module named"),
        ("company.txt", "a note", "is no .py file"),
        ("./company.txt", "a note", "is no .py file"),
    ],
    ids=["not there", "does not run", "no Python", "no Python by its path"],
)
def test_a_file_that_cannot_be_read_is_told_with_what_to_do(name, text, told, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if text is not None:
        (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=told) as raised:
        module_toolset((name,))
    assert raised.value.remedy


@contextmanager
def over_http(home, tmp_path, *more):
    """Serve the functions; gives the address, and what was said until it was."""
    words = [sys.executable, "-m", "naru.cli.main", "tool", "serve", "-m", "their_tools", *more, "--port", "0"]
    process = subprocess.Popen(words, env=home, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    said = ""
    try:
        address = ""
        for line in process.stderr:
            said += line
            if found := re.search(r"Naru serves their_tools on (http\S+)/mcp", line):
                address = found[1]
                break
        assert address
        yield address, said
    finally:
        process.terminate()
        process.communicate(timeout=WAIT_SECONDS)


@pytest.mark.slow
def test_over_http(home, tmp_path):
    with over_http(home, tmp_path, "--allow", "add") as (address, said):
        session, _ = post(f"{address}/mcp", INITIALIZE)
        _, listed = post(f"{address}/mcp", ask(2, "tools/list"), {"mcp-session-id": session})
    assert '"add"' in listed
    assert "wipe" not in listed
    assert f'"url": "{address}/mcp"' in said, "the entry of a client names the port that was free"


@pytest.mark.slow
def test_over_http_keys_count_as_at_a_hub(home, tmp_path):
    """S-19, S-56: roles of one's own, budgets of a day, and a person's yes from the moment that a key is made."""
    roles = {"NARU_SERVER__ROLES": '{"analyst": {"access": "user"}}', "NARU_APPROVALS__WAIT_SECONDS": "0.1"}
    with over_http({**home, "NARU_APPROVALS__DENY": "[]", **roles}, tmp_path) as (address, _):
        post(f"{address}/mcp", INITIALIZE)
        keys = KeyFile(tmp_path / "data" / "keys.json", roles=["analyst"])
        analyst, few = keys.create("analyst")[1], keys.create("user", bounds=Bounds(requests_per_day=1))[1]
        eventually(lambda: refused(f"{address}/mcp", {}) == 401)  # another process's key is seen within a second
        session, _ = post(f"{address}/mcp", INITIALIZE, {"x-api-key": analyst})
        its_own = {"x-api-key": analyst, "mcp-session-id": session}
        _, answer = post(f"{address}/mcp", ask(2, "tools/call", name="wipe", arguments={}), its_own)
        assert "needs a person's yes" in answer
        assert [refused(f"{address}/mcp", {"x-api-key": few}) for _ in range(2)] == [0, 429]


def refused(url: str, headers: dict[str, str]) -> int:
    """Return the status that a client is refused with; 0 when it is not."""
    try:
        post(url, INITIALIZE, headers)
    except urllib.error.HTTPError as error:
        return error.code
    return 0


def post(url: str, message: dict, more: dict[str, str] | None = None) -> tuple[str, str]:
    """Return the session and the body of an answer."""
    headers = {"content-type": "application/json", "accept": "application/json, text/event-stream", **(more or {})}
    request = urllib.request.Request(url, json.dumps(message).encode(), headers)
    with urllib.request.urlopen(request, timeout=WAIT_SECONDS) as answer:
        return answer.headers.get("mcp-session-id", ""), answer.read().decode()


def test_the_entry_of_a_client_points_at_what_is_served():
    settings = Settings()
    assert '"url": "http://127.0.0.1:20006/mcp"' in entry("t", [], settings, Transport.HTTP, 20006)
    assert '"url": "http://127.0.0.1:20006/sse"' in entry("t", [], settings, Transport.SSE, 20006)


def test_a_transport_that_there_is_not_is_told_with_those_that_there_are():
    with pytest.raises(ConfigError, match=r"'ftp'.*\n?.*stdio, sse, http"):
        serve([print], transport="ftp")


@pytest.mark.slow
def test_the_hint_after_a_refused_call_repeats_the_module():
    done = subprocess.run(
        [sys.executable, "-m", "naru.cli.main", "tool", "run", "-m", "tests.cli.tool_examples", "add", "a=x"],
        capture_output=True,
        text=True,
        timeout=WAIT_SECONDS,
        check=False,
    )
    assert "tool schema -m tests.cli.tool_examples add" in done.stderr
