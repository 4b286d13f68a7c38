"""`naru import` and `naru connect` on a machine with other products' files (N14)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from naru.cli.terminal.exit_codes import Exit


@pytest.fixture
def home(tmp_path: Path) -> Path:
    files = {
        ".cursor/mcp.json": {
            "mcpServers": {
                "gh": {"command": "npx", "args": ["gh@1.0.0", "--token", "SENTINEL-ARG"], "env": {"T": "SENTINEL-ENV"}},
                "self": {"url": "http://127.0.0.1:9/mcp"},
            }
        },
        "xdg/Claude/claude_desktop_config.json": {
            "mcpServers": {"gh": {"command": "other"}, "b c": {"url": "${NOPE}/x"}}
        },
        "xdg/Code/User/mcp.json": {"servers": {"gh": {"command": "other"}}, "inputs": []},
    }  # fmt: skip
    for name, data in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(data), encoding="utf-8")
    return tmp_path


def test_nothing_is_written_before_it_was_shown_and_agreed_to(naru, home: Path) -> None:
    shown = naru("import", code=Exit.NOT_WELL)
    assert "--yes" in shown.stderr
    assert json.loads(naru("servers", "list", "--json").stdout) == []
    added = naru("import", "--yes")
    assert added.stdout == shown.stdout
    assert "Added 3 servers" in added.stderr
    assert "SENTINEL" not in shown.stdout + shown.stderr
    added_names = {one["name"] for one in json.loads(naru("servers", "list", "--json").stdout)}
    assert added_names == {"b-c", "gh", "gh-cursor"}


def test_each_server_says_what_becomes_of_it(naru, home: Path) -> None:
    rows = {(row["name"], row["client"]): row for row in json.loads(naru("import", "--dry-run", "--json").stdout)}
    assert {key: row["outcome"] for key, row in rows.items()} == {
        ("gh", "claude-desktop"): "new",
        ("b-c", "claude-desktop"): "new",
        ("gh-cursor", "cursor"): "new",
        ("self", "cursor"): "is Naru itself",
        ("gh", "vscode"): "found twice",
    }
    assert "NOPE not set" in rows["b-c", "claude-desktop"]["note"]
    naru("import", "--yes")
    again = json.loads(naru("import", "--from", "vscode", "--json").stdout)
    assert [row["outcome"] for row in again] == ["registered already"]


def test_what_vs_code_would_ask_for_is_named_and_defaults_are_used(naru, home: Path) -> None:
    asked = [{"id": "host", "default": "h.example"}, {"id": "key", "description": "Key of the wiki", "password": True}]
    servers = {"wiki": {"url": "https://${input:host}/mcp", "headers": {"X-Key": "${input:key}"}}}
    (home / "xdg/Code/User/mcp.json").write_text(json.dumps({"inputs": asked, "servers": servers}), encoding="utf-8")
    (row,) = json.loads(naru("import", "--from", "vscode", "--dry-run", "--json").stdout)
    assert "set NARU_INPUT_KEY: Key of the wiki" in row["note"]
    assert "HOST" not in row["note"]
    assert row["config"]["url"] == "https://${NARU_INPUT_HOST:-h.example}/mcp"


def test_a_product_that_is_unknown_and_a_file_that_is_not_there_are_said(naru, home: Path) -> None:
    assert "claude-desktop" in naru("import", "--from", "emacs", code=Exit.NOT_FOUND).stderr
    assert "nowhere.json" in naru("import", "nowhere.json", code=Exit.NOT_FOUND).stderr
    (home / "none.json").write_text('{"mcpServers": {}}', encoding="utf-8")
    assert naru("import", "none.json").stderr == "There are no MCP servers in none.json.\n"


def test_connect_shows_then_writes_and_says_what_to_do_next(naru, home: Path) -> None:
    path = home / ".cursor" / "mcp.json"
    before = path.read_text(encoding="utf-8")
    shown = naru("connect", "cursor")
    assert json.loads(shown.stdout) == {"mcpServers": {"naru": {"url": "http://127.0.0.1:9/mcp"}}}
    assert path.read_text(encoding="utf-8") == before
    written = naru("connect", "cursor", "--write")
    assert "naru serve" in written.stderr
    found = json.loads(path.read_text(encoding="utf-8"))
    assert found["mcpServers"]["naru"] == {"url": "http://127.0.0.1:9/mcp"}
    assert {**found["mcpServers"], "naru": None}.keys() == {"gh", "self", "naru"}
    (kept,) = path.parent.glob("mcp.json.*.bak")
    assert kept.read_text(encoding="utf-8") == before


def test_where_keys_are_asked_for_the_client_is_told_of_a_variable_and_never_of_the_key(naru, home: Path) -> None:
    secret = naru("keys", "create").stdout.strip()
    naru("connect", "codex", "--write")
    text = (home / ".codex" / "config.toml").read_text(encoding="utf-8")
    assert 'bearer_token_env_var = "NARU_API_KEY"' in text
    assert secret not in text
    assert "naru keys create" in naru("connect", "codex").stderr


def test_clients_without_a_file_get_steps_and_writing_is_refused(naru, home: Path) -> None:
    assert "OPENAI_BASE_URL=http://127.0.0.1:9/v1" in naru("connect", "openai").stdout
    assert "no settings file" in naru("connect", "openai", "--write", code=Exit.USAGE).stderr
    assert "cursor" in naru("connect", "emacs", code=Exit.NOT_FOUND).stderr
    listed = json.loads(naru("connect", "--json").stdout)
    checked = {one["client"]: one["checked"] for one in listed}
    assert (checked["zed"], checked["openai"]) == ("by its documentation", "tested with the package itself")
    assert {one["client"] for one in listed if one["found"]} == {"claude-desktop", "cursor", "vscode"}


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--url", "127.0.0.1:20006"),
        ("--url", "http://"),
        ("--url", "http://[::1"),
        ("--url", "http://h:99999"),
        ("--name", " "),
    ],
)
def test_an_address_or_a_name_that_no_client_could_use_is_not_written(
    naru, home: Path, option: str, value: str
) -> None:
    path = home / ".cursor" / "mcp.json"
    before = path.read_text(encoding="utf-8")
    naru("connect", "cursor", "--write", option, value, code=Exit.USAGE)
    assert path.read_text(encoding="utf-8") == before


def test_an_entry_differs_by_what_it_says_and_not_by_empty_lists_that_some_products_write(naru, home: Path) -> None:
    """N14"""
    naru("servers", "add", "time", "--", "uvx", "mcp-server-time")
    file = home / "mcp.json"
    file.write_text(
        json.dumps({"mcpServers": {"time": {"command": "uvx", "args": ["mcp-server-time"], "env": {}}}}),
        encoding="utf-8",
    )
    (row,) = json.loads(naru("import", str(file), "--json").stdout)
    assert (row["outcome"], row["note"]) == ("registered already", "")
