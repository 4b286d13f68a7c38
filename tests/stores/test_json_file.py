"""`mcp.json` in every shape that people have: R4, f01, f06, f08, f13, f14, R-26, S-24, S-34."""

from __future__ import annotations

import errno
import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from naru.errors import ConfigError, StoreError
from naru.records import ServerRecord, TransportType, now_ms
from naru.stores.formats.shapes import parse_document, read_record
from naru.stores.json_file import JsonFileStore

URL = "http://127.0.0.1:9/mcp"


def write(path: Path, content: str | bytes) -> JsonFileStore:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return JsonFileStore(path)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "mcp.json"


def record(name: str = "new", **config: Any) -> ServerRecord:
    return ServerRecord(name=name, config=config or {"url": URL})


async def test_r4_a_missing_file_is_made_as_an_empty_array(path: Path) -> None:
    store = JsonFileStore(path)
    await store.open()
    assert json.loads(path.read_text(encoding="utf-8")) == []
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    await store.save(record("tts", url="http://192.168.0.18:23016/sse"))
    (entry,) = json.loads(path.read_text(encoding="utf-8"))
    assert {key: entry[key] for key in ("name", "url")} == {"name": "tts", "url": "http://192.168.0.18:23016/sse"}
    await store.delete("tts")
    assert json.loads(path.read_text(encoding="utf-8")) == []


SHAPES = {
    "seed": '[{"name": "a", "url": "http://h/sse"}, {"name": "b", "url": "http://h/mcp"}]',
    "claude-desktop": '{"mcpServers": {"a": {"url": "http://h/sse"}, "b": {"url": "http://h/mcp"}}, "theme": "dark"}',
    "vs-code": '{"inputs": [{"id": "k"}], "servers": {"a": {"type": "sse", "url": "http://h/x"}, "b": {"url": "http://h/mcp"}}}',
    "vs-code-settings": '{"editor.x": 1, "mcp": {"servers": {"a": {"url": "http://h/sse"}, "b": {"url": "http://h/mcp"}}}}',
    "list-inside": '{"mcpServers": [{"name": "a", "url": "http://h/sse"}, {"name": "b", "url": "http://h/mcp"}]}',
    "inside-alone": '{"a": {"url": "http://h/sse"}, "b": {"url": "http://h/mcp"}}',
    "opencode": '{"$schema": "x", "mcp": {"a": {"type": "remote", "url": "http://h/sse"}, "b": {"url": "http://h/mcp"}}}',
    "zed": '{"theme": "dark", "context_servers": {"a": {"url": "http://h/sse"}, "b": {"url": "http://h/mcp"}}}',
    "amp": '{"amp.mcpServers": {"a": {"url": "http://h/sse"}, "b": {"url": "http://h/mcp"}}}',
    "mcp-mcpServers": '{"mcp": {"mcpServers": {"a": {"url": "http://h/sse"}, "b": {"url": "http://h/mcp"}}}}',
    "windows-lines": '{\r\n  "mcpServers": {"a": {"url": "http://h/sse"},\r\n "b": {"url": "http://h/mcp"}}\r\n}\r\n',
    "json5": '\ufeff// mine\n{"mcpServers": {/* x */ "a": {"url": "http://h/sse",}, "b": {"url": "http://h/mcp"},},}\n',
}


@pytest.mark.parametrize("shape", SHAPES)
async def test_r4_every_shape_is_read_and_kept_when_written(path: Path, shape: str) -> None:
    store = write(path, SHAPES[shape])
    await store.open()
    assert [(kept.name, kept.transport_type) for kept in await store.list()] == [("a", TransportType.SSE), ("b", None)]
    await store.save(record())
    await store.delete("a")
    before, after = parse_document(SHAPES[shape]), parse_document(path.read_text(encoding="utf-8"))
    assert after.path == before.path
    assert [name for name, _, _ in after.entries()] == ["b", "new"]
    assert after.find("b") == before.find("b"), "an entry that was not changed stays as it was written"
    if isinstance(before.root, dict):
        whole = json.loads(path.read_text(encoding="utf-8"))
        for key in ("theme", "inputs", "editor.x"):
            if key in SHAPES[shape]:
                assert key in whole


def test_r4_codex_toml_is_read() -> None:
    text = '[mcp_servers.docs]\ncommand = "npx"\nargs = ["-y", "x"]\nstartup_timeout_ms = 20000\n[model]\nx = 1\n'
    document = parse_document(text, toml=True)
    ((name, place, entry),) = document.entries()
    found = read_record(name, place, entry, now_ms)
    assert isinstance(found, ServerRecord)
    assert (found.name, found.transport_type) == ("docs", TransportType.STDIO)
    assert found.start_seconds(30) == 20


@pytest.mark.parametrize("url_key", ["url", "serverUrl", "httpUrl"])
@pytest.mark.parametrize("type_key", ["type", "transport", "transportType"])
@pytest.mark.parametrize(
    ("spelling", "expected"),
    [
        ("http", TransportType.HTTP),
        ("HTTP", TransportType.HTTP),
        ("streamable-http", TransportType.HTTP),
        ("streamableHttp", TransportType.HTTP),
        ("streamable_http", TransportType.HTTP),
        ("sse", TransportType.SSE),
        ("SSE", TransportType.SSE),
        ("remote", None),
        (None, None),
    ],
)
async def test_f06_every_spelling_of_a_transport_is_known_and_kept(
    path: Path, url_key: str, type_key: str, spelling: str | None, expected: TransportType | None
) -> None:
    entry = {url_key: URL, type_key: spelling, "alwaysAllow": ["x"], "timeout": 60_000}
    store = write(path, json.dumps({"mcpServers": {"a": entry}}))
    await store.open()
    (found,) = await store.list()
    assert found.transport_type is expected
    assert found.config["url"] == URL
    assert found.timeout_seconds == 60
    await store.update(found.model_copy(update={"description": "new"}))
    written = json.loads(path.read_text(encoding="utf-8"))["mcpServers"]["a"]
    assert written[url_key] == URL
    if spelling:
        assert written[type_key] == spelling
    assert written["alwaysAllow"] == ["x"]
    assert written["description"] == "new"
    assert (await store.list())[0].transport_type is expected


@pytest.mark.parametrize(
    ("kind", "transport"), [("stdio", TransportType.STDIO), ("local", TransportType.STDIO), (None, TransportType.STDIO)]
)
async def test_f06_a_command_is_stdio(path: Path, kind: str | None, transport: TransportType) -> None:
    store = write(path, json.dumps({"mcpServers": {"a": {"command": "npx", **({"type": kind} if kind else {})}}}))
    await store.open()
    assert (await store.list())[0].transport_type is TransportType.STDIO


BAD_ENTRIES = [
    (1, "mcpServers.bad must be an object, found int"),
    (None, "mcpServers.bad must be an object"),
    ([], "mcpServers.bad must be an object"),
    ({}, "config.url is required for a URL transport, or config.command for a program"),
    ({"url": ""}, "config.url is required"),
    ({"url": 5}, "config.url is required"),
    ({"command": [1]}, "config.command is required"),
    ({"command": []}, "config.command is required"),
    ({"command": "x", "args": "y"}, "config.args must be a list of strings"),
    ({"command": "x", "args": [["y"]]}, "config.args must be a list of strings"),
    ({"command": "x", "env": {"A": {}}}, "config.env must be an object of strings"),
    ({"command": "x", "env": ["A"]}, "config.env must be an object of strings"),
    ({"url": URL, "type": "carrier-pigeon"}, "use stdio, sse or http"),
    ({"url": URL, "type": 5}, "transport must be a string"),
    ({"url": URL, "headers": "x"}, "config.headers must be an object of strings"),
    ({"url": URL, "description": {}}, "description"),
]


@pytest.mark.parametrize(("entry", "said"), BAD_ENTRIES)
async def test_f08_a_bad_entry_is_named_and_costs_only_itself(path: Path, entry: object, said: str) -> None:
    store = write(path, json.dumps({"mcpServers": {"bad": entry, "good": {"url": URL}}}))
    await store.open()
    assert [kept.name for kept in await store.list()] == ["good"]
    (problem,) = store.problems()
    assert problem.place == "mcpServers.bad"
    assert said in problem.reason
    assert "mcpServers.bad" in problem.reason
    await store.save(record())
    assert json.loads(path.read_text(encoding="utf-8"))["mcpServers"]["bad"] == entry, "what cannot be used is kept"


ODD_ENTRIES = {
    "opencode-list": (
        {"type": "local", "command": ["npx", "-y", "x"], "environment": {"A": "1"}},
        {"command": "npx", "args": ["-y", "x"], "env": {"A": "1"}},
    ),
    "zed-object": (
        {"source": "custom", "command": {"path": "npx", "args": ["x"], "env": {"A": "1"}}},
        {"command": "npx", "args": ["x"], "env": {"A": "1"}},
    ),
    "goose": (
        {"type": "stdio", "cmd": "npx", "args": ["x"], "envs": {"A": "1"}},
        {"command": "npx", "args": ["x"], "env": {"A": "1"}},
    ),
    "goose-uri": ({"type": "streamable_http", "uri": URL}, {"url": URL}),
    "numbers": (
        {"command": "npx", "args": ["--port", 3000, 1.5, True], "env": {"PORT": 3000, "DEBUG": False, "NO": None}},
        {"args": ["--port", "3000", "1.5", "true"], "env": {"PORT": "3000", "DEBUG": "false"}},
    ),
    "registry": (
        {"transport": {"type": "streamable-http", "url": URL, "headers": {"X": "1"}}},
        {"url": URL, "headers": {"X": "1"}},
    ),
    "gemini-filters": (
        {"httpUrl": URL, "includeTools": ["a"], "excludeTools": ["b"]},
        {"url": URL, "allowedTools": ["a"], "disabledTools": ["b"]},
    ),
    "node": ({"url": URL, "requestInit": {"headers": {"X": "1"}}}, {"url": URL, "headers": {"X": "1"}}),
    "codex": (
        {"url": URL, "bearer_token_env_var": "T", "http_headers": {"X": "1"}, "env_http_headers": {"Y": "V"}},
        {"headers": {"X": "1", "Y": "${V}", "Authorization": "Bearer ${T}"}},
    ),
    "both": ({"command": ["npx", "a"], "args": ["b"]}, {"command": "npx", "args": ["a", "b"]}),
}


@pytest.mark.parametrize("kind", ODD_ENTRIES)
async def test_r4_entries_of_other_products_are_understood(path: Path, kind: str) -> None:
    entry, expected = ODD_ENTRIES[kind]
    store = write(path, json.dumps({"mcpServers": {"a": entry}}))
    await store.open()
    assert list(store.problems()) == []
    (found,) = await store.list()
    assert {key: found.config[key] for key in expected} == expected
    assert json.loads(path.read_text(encoding="utf-8"))["mcpServers"]["a"] == entry, "reading changes nothing"
    await store.update(found.model_copy(update={"description": "new"}))
    (again,) = await store.list()
    assert again.config == found.config
    assert again.transport_type is found.transport_type


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("github.com/owner/server", "github.com-owner-server"),
        ("My Server!", "My-Server"),
        ("@scope/name", "scope-name"),
        ("한글", ""),
    ],
)
async def test_s23_a_name_that_is_not_allowed_comes_with_one_that_is(path: Path, name: str, other: str) -> None:
    store = write(path, json.dumps({"mcpServers": {name: {"url": URL}, "good": {"url": URL}}}))
    await store.open()
    assert [kept.name for kept in await store.list()] == ["good"]
    (problem,) = store.problems()
    assert ("for instance" in problem.reason) is bool(other)
    assert other in problem.reason


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"])
async def test_f08_what_windows_writes_is_read(path: Path, encoding: str) -> None:
    text = '{"mcpServers": {"a": {"url": "http://h/mcp", "description": "설명"}}}'
    mark = "\ufeff" if encoding.endswith(("le", "be")) else ""
    store = write(path, (mark + text).encode(encoding))
    await store.open()
    assert [kept.description for kept in await store.list()] == ["설명"]
    await store.save(record())
    assert {kept.name for kept in await store.list()} == {"a", "new"}


async def test_f08_a_path_of_windows_with_single_backslashes_is_told_how_to_write_it(path: Path) -> None:
    store = write(path, '{"mcpServers": {"a": {"command": "C:\\Users\\me\\x.exe"}}}'.replace("\\\\", "\\"))
    await store.open()
    (problem,) = store.problems()
    assert "line 1" in problem.reason
    assert "two \\ for each one" in problem.reason


@pytest.mark.parametrize(
    ("value", "is_enabled"),
    [
        (True, False),
        ("true", False),
        (1, False),
        ("yes", False),
        (False, True),
        ("false", True),
        (0, True),
        (None, True),
        ("?", True),
    ],
)
def test_a_switch_is_read_as_people_write_it(value: object, is_enabled: bool) -> None:
    assert record(url=URL, disabled=value).enabled is is_enabled


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (60_000, 60),
        (1000, 1),
        (60, 60),
        (0.5, 0.5),
        (999, 999),
        ("60", 60),
        ("60s", 60),
        ("500 ms", 0.5),
        ("2m", 120),
        (0, None),
    ],
)
def test_a_timeout_is_in_milliseconds_or_plainly_in_seconds(value: object, seconds: float | None) -> None:
    assert record(url=URL, timeout=value).timeout_seconds == seconds


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('{"mcpServers":{"a":{"url":"http://h/mcp"},}}', ["a"]),
        ('{"mcpServers": null}', []),
        ('{"servers": null, "inputs": []}', []),
        ('\ufeff{"mcpServers":{}}', []),
        ('// note\n{"mcpServers":{}}', []),
        ("", []),
        (" \n", []),
        ("[]", []),
        ("{}", []),
        ('{"other": 1}', []),
        ('{"mcpServers":{"a":{"url":"http://h/a//b,]","headers":{"X":"/* no */ , }"}}}}', ["a"]),
        ('/* a "quote */ [ {"name": "a", "url": "http://h" , } , ] // end', ["a"]),
    ],
)
async def test_f08_what_people_paste_is_read(path: Path, text: str, names: list[str]) -> None:
    store = write(path, text)
    await store.open()
    assert [kept.name for kept in await store.list()] == names
    assert list(store.problems()) == []
    for kept in await store.list():
        assert kept.config["url"].startswith("http://h")
        assert kept.config.get("headers", {"X": "/* no */ , }"}) == {"X": "/* no */ , }"}
    await store.save(record())
    assert {kept.name for kept in await store.list()} == {*names, "new"}


BROKEN = {
    "cut": b'{"mcpServers": {"a": {"url": "http://h/m',
    "no-json": b"hello",
    "half-comment": b"/* {",
    "two-documents": b"{} {}",
    "wrong-top": b'"mcpServers"',
    "number-top": b"5",
    "wrong-servers": b'{"mcpServers": 5}',
    "servers-of-numbers": b'{"servers": [1, 2]}',
    "binary": b"\x00\xff\xfe\x80" * 50,
    "utf-16-cut": b'\xff\xfe{\x00"',
    "nul-padding": b'{"mcpServers": {}}' + b"\0" * 100,
    "deep": b"[" * 100_000,
}


@pytest.mark.parametrize("kind", BROKEN)
@pytest.mark.parametrize("with_backup", [True, False])
async def test_r26_a_broken_file_is_put_aside_and_never_becomes_an_empty_registry(
    path: Path, kind: str, with_backup: bool
) -> None:
    if with_backup:
        store = write(path, json.dumps({"mcpServers": {"kept": {"url": URL}}}))
        await store.open()
        await store.save(record())
        await store.delete("new")
    write(path, BROKEN[kind])
    store = JsonFileStore(path)
    await store.open()
    assert {kept.name for kept in await store.list()} == ({"kept", "new"} if with_backup else set())
    (problem,) = store.problems()
    assert str(path) in problem.reason
    assert "Mend the file" in problem.reason
    for change in (store.save(record("x")), store.delete("kept"), store.update(record("kept"))):
        with pytest.raises(StoreError, match=r"mcp\.json"):
            await change
    assert path.read_bytes() == BROKEN[kind], "never overwritten"
    (aside,) = path.parent.glob("mcp.json.broken-*")
    assert aside.read_bytes() == BROKEN[kind]
    assert aside.name in problem.reason
    if with_backup:
        assert "mcp.json.bak" in problem.reason
    path.write_text(json.dumps({"mcpServers": {"mended": {"url": URL}}}), encoding="utf-8")
    assert [kept.name for kept in await store.list()] == ["mended"]
    await store.save(record("x"))
    assert list(store.problems()) == []


@pytest.mark.timeout(60)
@pytest.mark.parametrize("comment", ["/* off */ ", "// off   \n"], ids=["block", "line"])
async def test_f08_any_number_of_comments_after_a_comma_is_read_at_once(path: Path, comment: str) -> None:
    store = write(
        path, '{"mcpServers": {"a": {"url": "http://h/a"},' + comment * 60 + '\n"b": {"url": "http://h/b",},},}'
    )
    await store.open()
    assert [one.name for one in await store.list()] == ["a", "b"]


async def test_r26_a_file_that_lost_its_content_is_not_taken_for_an_empty_one(path: Path) -> None:
    store = write(path, json.dumps({"mcpServers": {"a": {"url": URL}}}))
    await store.open()
    await store.save(record())
    path.write_bytes(b"")
    again = JsonFileStore(path)
    await again.open()
    assert {kept.name for kept in await again.list()} == {"a"}
    with pytest.raises(StoreError, match="it is empty, and its backup is not"):
        await again.save(record("x"))


@pytest.mark.parametrize("code", [errno.EPERM, errno.EOPNOTSUPP], ids=["fat", "smb"])
async def test_a_file_system_that_gives_no_second_name_keeps_files_and_backups(
    path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    def link(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "link", link)
    store = JsonFileStore(path)
    await store.open()
    await store.save(record("a"))
    await store.save(record("b"))
    assert {kept["name"] for kept in json.loads(path.read_text(encoding="utf-8"))} == {"a", "b"}
    backup = path.with_name("mcp.json.bak")
    assert {kept["name"] for kept in json.loads(backup.read_text(encoding="utf-8"))} == {"a"}
    assert not [one.name for one in path.parent.iterdir() if one.suffix in (".old", ".tmp")]


async def test_a_folder_of_a_network_drive_need_not_be_synced(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.fsync

    def fsync(handle: int) -> None:
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        real(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    store = JsonFileStore(path)
    await store.open()
    await store.save(record("a"))
    assert {kept["name"] for kept in json.loads(path.read_text(encoding="utf-8"))} == {"a"}


async def test_f16_a_file_that_breaks_while_running_leaves_the_running_state(path: Path) -> None:
    store = write(path, json.dumps({"mcpServers": {"a": {"url": URL}}}))
    await store.open()
    path.write_text("{", encoding="utf-8")
    assert [kept.name for kept in await store.list()] == ["a"]
    path.unlink()
    assert [kept.name for kept in await store.list()] == ["a"]
    with pytest.raises(StoreError, match="Cannot read"):
        await store.save(record())


async def test_f16_a_file_that_was_away_is_written_again_once_it_is_back(
    path: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = write(path, SHAPES["seed"])
    await store.open()
    path.rename(tmp_path / "aside")
    for _ in range(3):
        assert [one.name for one in await store.list()] == ["a", "b"]
    assert caplog.text.count("Cannot read") == 1
    with pytest.raises(StoreError, match="Cannot read"):
        await store.delete("a")
    (tmp_path / "aside").rename(path)
    await store.delete("a")
    assert [one.name for one in await store.list()] == ["b"]
    assert store.problems() == ()


async def test_f13_f14_two_processes_lose_no_change_of_each_other(path: Path) -> None:
    first = write(path, json.dumps({"mcpServers": {"s1": {"url": URL, "x": 1}}}))
    second = JsonFileStore(path)
    await first.open()
    await second.open()
    await second.save(record("s2"))
    (s1,) = [kept for kept in await first.list() if kept.name == "s1"]
    await first.update(s1.model_copy(update={"description": "changed"}))
    hand = json.loads(path.read_text(encoding="utf-8"))
    hand["mcpServers"]["by-hand"] = {"url": URL}
    hand["mcpServers"]["s1"]["x"] = 2
    path.write_text(json.dumps(hand), encoding="utf-8")
    await second.save(record("s3"))
    written = json.loads(path.read_text(encoding="utf-8"))["mcpServers"]
    assert list(written) == ["s1", "s2", "by-hand", "s3"]
    assert (written["s1"]["description"], written["s1"]["x"]) == ("changed", 2)


async def test_f14_a_hand_edit_changes_the_version_of_that_entry_alone(path: Path) -> None:
    store = write(path, json.dumps({"mcpServers": {"a": {"url": URL}, "b": {"url": URL}}}))
    await store.open()
    a, b = await store.list()
    path.write_text(json.dumps({"mcpServers": {"a": {"url": URL + "2"}, "b": {"url": URL}}}), encoding="utf-8")
    new_a, new_b = await store.list()
    assert new_a.updated_at > a.updated_at
    assert new_b == b
    with pytest.raises(Exception, match="changed meanwhile"):
        await store.update(a.model_copy(update={"description": "x"}), expected_updated_at=a.updated_at)


async def test_placeholders_are_kept_as_they_are_written(path: Path) -> None:
    entry = {"command": "${HOME}/x", "args": ["${A:-b}"], "env": {"K": "${env:K2}"}}
    store = write(path, json.dumps({"mcpServers": {"a": entry}}))
    await store.open()
    (found,) = await store.list()
    await store.update(found.model_copy(update={"auto_connect": False}))
    written = json.loads(path.read_text(encoding="utf-8"))["mcpServers"]["a"]
    assert {key: written[key] for key in entry} == entry
    assert written["naru"]["autoConnect"] is False


@pytest.mark.parametrize("mode", [0o666, 0o646, 0o664, 0o620])
async def test_s24_a_file_that_others_may_write_is_refused(path: Path, mode: int) -> None:
    store = write(path, "[]")
    path.chmod(mode)
    with pytest.raises(ConfigError, match="chmod go-w"):
        await store.open()


async def test_s24_what_others_may_write_is_not_taken_up_while_running_until_they_may_not(path: Path) -> None:
    store = write(path, '[{"name": "a", "url": "http://h/mcp"}]')
    await store.open()
    path.chmod(0o666)
    path.write_text('[{"name": "a", "command": "evil"}]', encoding="utf-8")
    assert [one.config for one in await store.list()] == [{"url": "http://h/mcp"}]
    (problem,) = store.problems()
    assert "may be written by others" in problem.reason
    with pytest.raises(StoreError, match="written by others"):
        await store.save(record())
    path.chmod(0o600)
    assert [one.config for one in await store.list()] == [{"command": "evil"}]


async def test_a_link_stays_a_link(path: Path, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.json"
    real.write_text("[]", encoding="utf-8")
    path.symlink_to(real)
    store = JsonFileStore(path)
    await store.open()
    await store.save(record())
    assert path.is_symlink()
    assert "new" in real.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("config", "allowed", "disabled"),
    [
        ({}, None, set()),
        ({"allowedTools": ["a"]}, {"a"}, set()),
        ({"allowed_tools": ["a"]}, {"a"}, set()),
        ({"includedTools": ["a"]}, {"a"}, set()),
        ({"tools_to_execute": ["*"]}, None, set()),
        ({"disabledTools": ["a"]}, None, {"a"}),
        ({"disabled_tools": ["a"]}, None, {"a"}),
        ({"excludedTools": ["a"]}, None, {"a"}),
        ({"toolFilter": {"mode": "include", "tools": ["a"]}}, {"a"}, set()),
        ({"toolFilter": {"mode": "allow", "list": ["a"]}}, {"a"}, set()),
        ({"toolFilter": {"mode": "block", "list": ["a"]}}, None, {"a"}),
        ({"toolFilter": {"mode": "exclude", "tools": ["a"]}}, None, {"a"}),
    ],
)
def test_every_way_to_choose_tools_is_known(
    config: dict[str, Any], allowed: set[str] | None, disabled: set[str]
) -> None:
    found = ServerRecord(name="a", config={"url": URL, **config})
    assert found.allowed_tools == (None if allowed is None else frozenset(allowed))
    assert found.disabled_tools == frozenset(disabled)


@pytest.mark.parametrize(
    ("config", "enabled"),
    [
        ({}, True),
        ({"disabled": True}, False),
        ({"disabled": False}, True),
        ({"enabled": False}, False),
        ({"enabled": True}, True),
    ],
)
def test_both_ways_to_switch_a_server_off_are_known(config: dict[str, Any], enabled: bool) -> None:
    assert ServerRecord(name="a", config={"url": URL, **config}).enabled is enabled
