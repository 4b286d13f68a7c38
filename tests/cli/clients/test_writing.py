"""An entry is written into a client's file: a copy is kept, nothing is lost, harm is refused."""

from __future__ import annotations

import json
import os
import stat
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import yaml

from naru.cli.clients import writing
from naru.cli.clients.entries import CLIENTS, Address, filled, snippet
from naru.cli.clients.writing import changed_text, write_entry
from naru.errors import ConfigError, StoreError
from naru.stores.files.atomic import replace_file

ADDRESS = Address("http://127.0.0.1:20006", ("/opt/naru",), "qwen")
ROWS = {row.name: row for row in CLIENTS}
MADE = [row for row in CLIENTS if row.entry]


@pytest.mark.parametrize("row", MADE, ids=lambda row: row.name)
@pytest.mark.parametrize("asks_for_key", [False, True], ids=["open", "with a key"])
def test_what_is_shown_is_what_is_written_into_an_empty_file(row, asks_for_key: bool) -> None:
    entry = row.entry(Address("http://h:1", ("/opt/naru",), "qwen", asks_for_key=asks_for_key))
    read = {"toml": tomllib.loads, "yaml": yaml.safe_load}.get(row.kind, json.loads)
    written = read(changed_text("", row, "naru", entry))
    for key, value in read(snippet(row, "naru", entry)).items():
        assert written[key] == value


@pytest.mark.parametrize("row", CLIENTS, ids=lambda row: row.name)
def test_no_row_leaves_a_gap(row) -> None:
    for line in (*filled(row.steps, ADDRESS), *filled(row.then, ADDRESS)):
        assert "{url}" not in line
    assert row.then


def test_of_two_changes_within_a_second_what_was_there_before_both_is_kept(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(writing.time, "strftime", lambda _: "20261130-120000")
    path = tmp_path / "mcp.json"
    path.write_text('{"mcpServers": {}} // mine', encoding="utf-8")
    kept = {write_entry(path, ROWS["cursor"], "naru", {"url": url}) for url in ("a", "b")}
    assert [one.read_text(encoding="utf-8") for one in kept if one] == ['{"mcpServers": {}} // mine']


def test_of_commands_at_the_same_time_each_leaves_its_entry(tmp_path: Path) -> None:
    path = tmp_path / "new" / "mcp.json"
    names = {f"naru-{number}" for number in range(8)}
    with ThreadPoolExecutor(len(names)) as threads:
        list(threads.map(lambda name: write_entry(path, ROWS["cursor"], name, {"url": name}), sorted(names)))
    assert set(json.loads(path.read_text(encoding="utf-8"))["mcpServers"]) == names


def test_a_second_time_changes_nothing(tmp_path: Path) -> None:
    for row in MADE:
        path = tmp_path / f"{row.name}.{row.kind}"
        write_entry(path, row, "naru", row.entry(ADDRESS))
        before = path.read_text(encoding="utf-8")
        assert write_entry(path, row, "naru", row.entry(ADDRESS)) is None
        assert path.read_text(encoding="utf-8") == before


def test_a_copy_is_kept_beside_the_file_with_its_mode_and_links_are_followed(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles" / "mcp.json"
    real.parent.mkdir()
    real.write_text('{"mcpServers": {"a": {"command": "x"}}, "unknown": [1, 2]} // mine', encoding="utf-8")
    real.chmod(0o640)
    link = tmp_path / "mcp.json"
    link.symlink_to(real)
    kept = write_entry(link, ROWS["cursor"], "naru", {"url": "u"})
    assert kept is not None
    assert kept.parent == real.parent
    assert "naru" not in kept.read_text(encoding="utf-8")
    assert link.is_symlink()
    assert real.read_text(encoding="utf-8").endswith("// mine")
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


@pytest.mark.parametrize("row", MADE, ids=lambda row: row.name)
def test_a_file_of_windows_keeps_its_line_ends(tmp_path: Path, row) -> None:
    old = {"json": '{\r\n  "a": 1\r\n}\r\n', "toml": "a = 1\r\n", "yaml": "name: a\r\n"}[row.kind].encode()
    path = tmp_path / "file"
    path.write_bytes(old)
    kept = write_entry(path, row, "naru", row.entry(ADDRESS))
    assert kept is not None
    assert kept.read_bytes() == old
    assert b"http" in path.read_bytes() or b"/opt/naru" in path.read_bytes()
    assert path.read_bytes().count(b"\n") == path.read_bytes().count(b"\r\n")


@pytest.mark.parametrize("name", ["my hub", "a.b", 'say "x"', "나루"])
def test_any_name_is_one_table_of_codex(name: str) -> None:
    entry = {"url": "u"}
    assert tomllib.loads(snippet(ROWS["codex"], name, entry)) == {"mcp_servers": {name: entry}}
    once = changed_text("", ROWS["codex"], name, {"url": "old"})
    assert tomllib.loads(changed_text(once, ROWS["codex"], name, entry)) == {"mcp_servers": {name: entry}}


def test_a_comment_above_the_table_that_follows_stays_there() -> None:
    text = '[mcp_servers.naru]\n# ours\nurl = "old"\n\n# another\'s\n[mcp_servers.x]\ncommand = "y"\n'
    changed = changed_text(text, ROWS["codex"], "naru", {"url": "new"})
    assert changed == '# another\'s\n[mcp_servers.x]\ncommand = "y"\n\n[mcp_servers.naru]\nurl = "new"\n'


def test_a_file_that_is_marked_as_read_only_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_text("{}", encoding="utf-8")
    path.chmod(0o444)
    with pytest.raises(ConfigError, match="nobody may write") as refused:
        write_entry(path, ROWS["cursor"], "naru", {"url": "http://h/mcp"})
    assert "http://h/mcp" in refused.value.remedy
    assert path.read_text(encoding="utf-8") == "{}"


def test_what_is_no_file_stays_what_it_is(tmp_path: Path) -> None:
    """As a device: root would have put a file in the place of /dev/null."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for place in (pipe, tmp_path):
        with pytest.raises(ConfigError, match="it is no file"):
            write_entry(place, ROWS["cursor"], "naru", {"url": "http://h/mcp"})
    with pytest.raises(StoreError, match="it is no file"):
        replace_file(pipe, b"{}")
    assert pipe.is_fifo()


def test_codex_keeps_comments_and_its_old_table_is_replaced_with_those_below_it() -> None:
    text = (
        '# mine\nmodel = "o"\n\n[mcp_servers.naru]\nurl = "old"\n\n[mcp_servers.naru.env]\nA = "1"\n\n'
        "[profiles.x]\ny = 1 # keep\n"
    )
    changed = changed_text(text, ROWS["codex"], "naru", {"url": "new"})
    assert changed == '# mine\nmodel = "o"\n\n[profiles.x]\ny = 1 # keep\n\n[mcp_servers.naru]\nurl = "new"\n'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("name: x\nmodels:\n- name: a # first\n  model: b\nrules: []\n", "models:\n- name: \"Naru\""),
        ("models: [] # none\nrules:\n  - be kind\n", "models: # none\n  - name: \"Naru\""),
        ("# only a comment\nname: x\n", "# only a comment\nname: x\nmodels:\n  - name: \"Naru\""),
    ],
    ids=["a list", "an empty list", "no list"],
)  # fmt: skip
def test_continue_keeps_its_comments_and_gets_a_model(before: str, after: str) -> None:
    row = ROWS["continue"]
    assert row.entry
    changed = changed_text(before, row, "naru", row.entry(ADDRESS))
    assert after in changed
    assert [line for line in before.splitlines() if "#" in line and "models" not in line] == [
        line for line in changed.splitlines() if "#" in line and "models" not in line
    ]


@pytest.mark.parametrize(
    ("client", "text"),
    [("cursor", '{"mcpServers": 3}'), ("cursor", "{"), ("codex", "a = "), ("codex", "mcp_servers = 3"),
     ("continue", "models: {a: 1}"),
     ("continue", 'models: [{name: Naru, model: other}]')],
)  # fmt: skip
def test_a_file_that_cannot_be_changed_safely_is_left_alone_and_the_entry_shown(
    tmp_path: Path, client: str, text: str
) -> None:
    path, row = tmp_path / "file", ROWS[client]
    path.write_text(text, encoding="utf-8")
    assert row.entry
    with pytest.raises(ConfigError, match="left as it is") as refused:
        write_entry(path, row, "naru", row.entry(ADDRESS))
    assert "127.0.0.1" in refused.value.remedy
    assert path.read_text(encoding="utf-8") == text
    assert list(tmp_path.iterdir()) == [path]
