"""No configuration is ignored in silence (issue 16, line 8): read where its meaning is plain, else an error with its
place, alike in `serve`, `validate`, `import` and `servers check`; one bad entry never stops the others."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from naru.cli.terminal.exit_codes import Exit
from naru.config import McpSettings, load_settings
from naru.connections.manager import Manager
from naru.records import ServerRecord
from naru.stores.declared import read_declared
from naru.stores.formats.shapes import Problem, parse_document, read_record
from naru.stores.json_file import JsonFileStore

URL = "http://127.0.0.1:10/mcp"
X = {"X-A": "1"}
READ: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "Headers": ({"url": URL, "Headers": X}, {"headers": X}),
    "header": ({"url": URL, "header": X}, {"headers": X}),
    "http-headers": ({"url": URL, "http-headers": X}, {"headers": X}),
    "two of one meaning": ({"url": URL, "Headers": X, "headers": {"X-B": "2"}}, {"headers": {"X-A": "1", "X-B": "2"}}),
    "options.headers": ({"url": URL, "options": {"headers": X}}, {"headers": X}),
    "requestOptions": ({"url": URL, "requestOptions": {"headers": X}}, {"headers": X}),
    "requestInit": ({"url": URL, "requestInit": {"Headers": X}}, {"headers": X}),
    "config beside a url": ({"url": URL, "config": {"headers": X}}, {"url": URL, "headers": X}),
    "all in config": ({"type": "http", "config": {"url": URL, "headers": X}}, {"url": URL, "headers": X}),
    "lines of headers": ({"url": URL, "headers": ["X-A: 1"]}, {"headers": X}),
    "named headers": ({"url": URL, "headers": [{"name": "X-A", "value": "1"}]}, {"headers": X}),
    "Authorization outside": ({"url": URL, "Authorization": "Bearer t"}, {"headers": {"Authorization": "Bearer t"}}),
    "URL": ({"URL": URL}, {"url": URL}),
    "Command": ({"Command": "npx", "Args": ["a"], "ENV": {"A": 1}}, {"command": "npx", "args": ["a"],
                "env": {"A": "1"}}),
    "env as lines": ({"command": "npx", "env": ["A=1"]}, {"env": {"A": "1"}}),
    "allowed-tools": ({"url": URL, "allowed-tools": ["a"]}, {"allowedTools": ["a"]}),
    "tools": ({"url": URL, "tools": ["a"]}, {"allowedTools": ["a"]}),
    "startup_timeout_sec": ({"url": URL, "startup_timeout_sec": 40}, {"startTimeout": "40s"}),
    "toolTimeoutMs": ({"url": URL, "toolTimeoutMs": 500}, {"timeout": "500ms"}),
}  # fmt: skip
REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "allowedTools text": ({"url": URL, "allowedTools": "a"}, "config.allowedTools must be a list of tool names"),
    "allowedTools table": ({"url": URL, "allowedTools": {"a": True}}, "config.allowedTools must be a list of tool"),
    "disabledTools text": ({"url": URL, "disabledTools": "a"}, "config.disabledTools must be a list of tool names"),
    "excludeTools number": ({"url": URL, "excludeTools": 5}, "config.disabledTools must be a list of tool names"),
    "toolFilter text": ({"url": URL, "toolFilter": "a"}, "config.toolFilter must be"),
    "toolFilter without mode": ({"url": URL, "toolFilter": {"tools": ["a"]}}, "config.toolFilter must be"),
    "headers text": ({"url": URL, "headers": "X-A: 1"}, "config.headers must be an object of strings"),
    "headers null": ({"url": URL, "headers": {"X-A": None}}, "headers.X-A is none"),
    "headers list": ({"url": URL, "headers": ["X-A"]}, "config.headers must be an object of strings"),
    "auth list": ({"url": URL, "auth": ["x"]}, "config.auth must be a token, or an object of strings"),
    "timeout word": ({"url": URL, "timeout": "soon"}, "config.timeout must be a number of milliseconds"),
    "timeout true": ({"url": URL, "timeout": True}, "config.timeout must be a number of milliseconds"),
    "timeout below zero": ({"url": URL, "timeout": -1}, "config.timeout must be a number of milliseconds"),
    "startTimeout list": ({"url": URL, "startTimeout": [1]}, "config.startTimeout must be"),
    "protocol": ({"url": URL, "protocol": "both"}, "config.protocol must be one of auto, sessions, stateless"),
    "ask text": ({"url": URL, "ask": "elicitation"}, "config.ask must be a list"),
    "limits": ({"url": URL, "limits": {"memory": "1g"}}, "config.limits must be"),
    "limits beyond all counting": ({"url": URL, "limits": {"answerMb": 1e305}}, "config.limits must be"),
}  # fmt: skip
TOLD: dict[str, tuple[dict[str, Any], str]] = {
    "a slip": ({"url": URL, "hedaers": X}, "Did you mean headers?"),
    "headers of a program": ({"command": "python3", "args": ["a@1"], "headers": X}, "its headers is not used"),
    "env of an address": ({"url": URL, "env": {"A": "1"}}, "its env is not used"),
    "a token of its own": ({"url": URL, "apiToken": "t"}, "A credential belongs into headers, auth or env."),
}


@pytest.mark.parametrize("kind", READ)
def test_what_is_plain_is_read(kind: str) -> None:
    entry, expected = READ[kind]
    found = read_record("a", "mcpServers.a", entry, lambda: 1)
    assert isinstance(found, ServerRecord), found
    assert {key: found.config.get(key) for key in expected} == expected
    assert set(found.config) <= set(expected) | {"url", "command", "args"}, "nothing is left over that has no effect"


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_not_plain_is_an_error_with_its_place_everywhere(kind: str, naru: Any, tmp_path: Path) -> None:
    entry, said = REFUSED[kind]
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps({"mcpServers": {"bad": entry, "good": {"url": URL}}}), encoding="utf-8")
    validated = json.loads(naru("validate", str(file), "--json", code=Exit.NOT_WELL).stdout)["problems"]
    assert [one["field"] for one in validated if one["level"] == "error"] == ["mcpServers.bad"]
    assert said in validated[0]["message"]
    assert validated[0]["line"] == 1
    imported = {row["name"]: row for row in json.loads(naru("import", str(file), "--dry-run", "--json").stdout)}
    assert said in imported["bad"]["note"]
    assert imported["good"]["outcome"] == "new"
    checked = naru("servers", "check", "--store", f"file:{file}", code=Exit.NOT_WELL).stdout
    assert said in checked
    assert "mcpServers.bad" in checked


@pytest.mark.parametrize("kind", REFUSED)
async def test_a_declaration_or_store_takes_the_good_ones_and_names_the_bad(kind: str, tmp_path: Path) -> None:
    entry, said = REFUSED[kind]
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps({"mcpServers": {"bad": entry, "good": {"url": URL}}}), encoding="utf-8")
    store = JsonFileStore(file)
    await store.open()
    manager = Manager(store)
    await manager.initialize_from_store()
    try:
        assert set(manager.connections) == {"good"}, "a filter that cannot be read offers nothing"
        assert said in manager.problems()[0].reason
    finally:
        await manager.close()
    yaml = tmp_path / "naru.yaml"
    yaml.write_text(
        json.dumps({"mcp": {"servers": [{"name": "bad", **entry}, {"name": "good", "url": URL}]}}), encoding="utf-8"
    )
    for settings in (McpSettings(files=[file]), load_settings(yaml).mcp):
        declared = await read_declared(settings)
        assert list(declared.records) == ["good"]
        assert len(declared.problems) == 1
        assert kind.split()[0] in declared.problems[0].reason or said in declared.problems[0].reason


async def started(store: JsonFileStore) -> None:
    """Take the servers up, as `serve` does."""
    await store.open()
    manager = Manager(store)
    await manager.initialize_from_store()
    await manager.close()


@pytest.mark.parametrize("kind", TOLD)
def test_what_has_no_effect_is_told_everywhere(
    kind: str, naru: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    entry, said = TOLD[kind]
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps({"mcpServers": {"a": entry}}), encoding="utf-8")
    problems = json.loads(naru("validate", str(file), "--json", code=0).stdout)
    assert said in str([one for one in problems["problems"] if one["level"] == "warning"])
    assert said in naru("import", str(file), "--dry-run", "--json").stdout
    assert said in naru("servers", "check", "--store", f"file:{file}", code=Exit.NOT_WELL).stdout
    asyncio.run(started(JsonFileStore(file)))
    assert said in caplog.text


@pytest.mark.parametrize(
    "document",
    [
        {"mcpservers": {"a": {"url": URL}}},
        {"MCPServers": {"a": {"url": URL}}},
        {"MCP-Servers": {"a": {"url": URL}}},
        {"Servers": {"a": {"URL": URL}}},
        {"mcp_server": {"a": {"url": URL}}},
        {"mcp": {"Servers": {"a": {"url": URL}}}},
        {"mcpServers": {}, "servers": {"a": {"url": URL}}},
        {"a": {"url": URL}},
        {"a": {"Cmd": "npx"}},
        {"mcpServers": [{"name": "a", "url": URL}, 5]},
    ],
    ids=str,
)
def test_servers_are_found_under_any_key_that_means_them(document: Any) -> None:
    found = [name for name, _, entry in parse_document(json.dumps(document)).entries() if isinstance(entry, dict)]
    assert found == ["a"]


def test_one_server_without_a_name_is_told_how_to_get_one(naru: Any, tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps({"command": "npx", "args": ["a"]}), encoding="utf-8")
    (problem,) = json.loads(naru("validate", str(file), "--json", code=Exit.NOT_WELL).stdout)["problems"]
    assert 'write {"mcpServers": {"NAME": …}} around it' in problem["message"]


def test_every_shape_of_nonsense_is_a_problem_and_never_a_traceback() -> None:
    """Each known key with each type of value."""
    values: list[Any] = [None, True, 0, -1, 1.5, "", "x", [], [None], ["x"], [["x"]], {}, {"a": None}, {"a": {"b": []}}]
    known = {key for entry, _ in [*READ.values(), *REFUSED.values()] for key in entry}
    keys = [*sorted(known), "type", "autoConnect", "naru"]
    for key in keys:
        for value in values:
            found = read_record("a", "p.a", {"url": URL, key: value}, lambda: 1)
            if isinstance(found, ServerRecord):
                assert found.timeout_seconds is None or found.timeout_seconds > 0
                assert found.start_seconds(30) > 0
                assert found.allowed_tools is None or isinstance(found.allowed_tools, frozenset)
            else:
                assert isinstance(found, Problem)
                assert "p.a" in found.reason
