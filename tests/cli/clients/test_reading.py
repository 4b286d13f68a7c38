"""Servers of other products as records of ours."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from naru.cli.clients.places import Place
from naru.cli.clients.reading import is_naru, read_place
from naru.records import ServerRecord, TransportType
from naru.stores.formats.shapes import Problem
from naru.stores.formats.spellings import understood


def servers_of(tmp_path: Path, name: str, text: str) -> dict[str, ServerRecord | Problem]:
    path = tmp_path / name
    path.write_bytes(text.encode(errors="surrogateescape"))
    return {one.name: one.outcome for one in read_place(Place("x", "X", name), path, tmp_path)}


def test_codex_says_tokens_and_tools_in_its_own_words(tmp_path: Path) -> None:
    found = servers_of(
        tmp_path,
        "config.toml",
        'model = "o"\n[mcp_servers.docs]\nurl = "https://h/mcp"\nbearer_token_env_var = "DOCS"\nenabled_tools = ["a"]\n'
        'env_http_headers = { X-Team = "TEAM" }\n[mcp_servers.fs]\ncommand = "npx"\nargs = ["-y", "fs"]\n',
    )
    docs, program = found["docs"], found["fs"]
    assert isinstance(docs, ServerRecord)
    assert isinstance(program, ServerRecord)
    assert docs.config["headers"] == {"Authorization": "Bearer ${DOCS}", "X-Team": "${TEAM}"}
    assert docs.allowed_tools == {"a"}
    assert program.transport_type is TransportType.STDIO


def test_continue_lists_its_servers_in_yaml(tmp_path: Path) -> None:
    found = servers_of(
        tmp_path,
        "config.yaml",
        "name: mine\nmcpServers:\n  - name: My Server\n    type: streamable-http\n    url: https://h/mcp\n"
        "    requestOptions:\n      headers:\n        X-Key: k\n",
    )
    record = found["My-Server"]
    assert isinstance(record, ServerRecord)
    assert record.config["headers"] == {"X-Key": "k"}
    assert record.transport_type is TransportType.HTTP


def test_claude_code_has_servers_for_one_folder_as_well(tmp_path: Path) -> None:
    text = json.dumps(
        {
            "mcpServers": {"a": {"url": "http://h"}},
            "projects": {str(tmp_path): {"mcpServers": {"b": {"command": "b"}}}, "/other": {"mcpServers": {"c": {}}}},
        }
    )
    assert set(servers_of(tmp_path, ".claude.json", text)) == {"a", "b"}


def test_vs_code_settings_hold_servers_one_level_down(tmp_path: Path) -> None:
    text = '{"editor.x": 1, /* c */ "mcp": {"inputs": [], "servers": {"a": {"type": "stdio", "command": "x"}}}}'
    assert set(servers_of(tmp_path, "settings.json", text)) == {"a"}


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("mcp.json", "{", "Expecting property name"),
        ("mcp.json", "[[1", "Expecting ',' delimiter"),
        ("mcp.json", "\x00", "Expecting value"),
        ("config.yaml", "name: x\nmcpServers: [1,", "line 2: expected the node content, but found '<stream end>'"),
        ("config.yaml", "name: \udcf7", "it is no UTF-8 text (invalid start byte)"),
    ],
    ids=["cut", "cut list", "binary", "cut yaml", "another encoding"],
)
def test_a_broken_file_is_one_problem_with_its_reason(tmp_path: Path, name: str, text: str, why: str) -> None:
    (problem,) = servers_of(tmp_path, name, text).values()
    assert isinstance(problem, Problem)
    assert problem.reason.startswith(f"it cannot be read: {why}")


@pytest.mark.parametrize(
    ("config", "is_it"),
    [
        ({"command": "/opt/venv/bin/naru", "args": ["serve", "--stdio"]}, True),
        ({"command": "python", "args": ["-m", "naru.cli.main", "serve", "--stdio"]}, True),
        ({"url": "http://localhost:20006/mcp"}, True),
        ({"command": "npx", "args": ["mcp-remote", "http://127.0.0.1:20006/sse"]}, True),
        ({"url": "http://localhost:8080/mcp"}, False),
        ({"command": "naru-hr", "args": []}, False),
        ({"command": "serve", "args": ["naru"]}, True),
    ],
)
def test_naru_is_recognised_so_that_it_never_serves_itself(config: dict, is_it: bool) -> None:
    assert is_naru(ServerRecord(name="x", config=config), ["http://127.0.0.1:20006"]) is is_it


def test_words_that_all_know_stay() -> None:
    entry = {"command": "x", "disabledTools": ["a"], "note": 1}
    assert understood(entry) == entry
