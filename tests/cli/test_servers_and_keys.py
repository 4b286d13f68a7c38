"""`naru servers` and `naru keys`: S-20, S-34, S-70, A-02, R4."""

from __future__ import annotations

import json
import shlex
import stat
from pathlib import Path

import pytest

from naru.cli.servers.stored import server_names
from naru.cli.terminal.exit_codes import Exit
from naru.errors import NaruError
from naru.stores.secrets.keys import KeyFile


def test_servers_are_added_listed_switched_and_removed(naru) -> None:
    added = naru(
        "servers", "add", "time", "--env", "API_TOKEN=SENTINEL-1", "--", "uvx", "mcp-server-time", "--tz", "UTC"
    )
    assert "Added time: uvx mcp-server-time --tz UTC" in added.stdout
    assert "not pinned" in added.stderr
    naru("servers", "add", "docs", "https://h/mcp?api_key=SENTINEL-2", "--header", "Authorization=Bearer SENTINEL-3")
    assert "registered already" in naru("servers", "add", "docs", "http://h/", code=2).stderr
    listed = json.loads(naru("servers", "list", "--json").stdout)
    assert [(server["name"], server["transportType"]) for server in listed] == [("time", "STDIO"), ("docs", None)]
    naru("servers", "disable", "time")
    text = naru("servers", "list")
    assert "(off)" in text.stdout
    assert "SENTINEL" not in text.stdout + str(listed) + added.stdout
    naru("servers", "enable", "time")
    naru("servers", "remove", "time")
    assert "No server named 'time'" in naru("servers", "remove", "time", code=3).stderr


def test_servers_of_other_products_are_imported(naru, tmp_path: Path) -> None:
    toml = tmp_path / "config.toml"
    toml.write_text('[mcp_servers.docs]\ncommand = "npx"\nargs = ["-y", "x@1.0.0"]\n', encoding="utf-8")
    claude = tmp_path / "claude_desktop_config.json"
    claude.write_text(
        '{"mcpServers": {"docs": {"url": "http://h/"}, "b": {"url": "${MISSING_URL}"}, "bad": 1}} // x',
        encoding="utf-8",
    )
    assert "docs\tconfig.toml\tnew" in naru("servers", "import", str(toml), "--dry-run").stdout
    assert "Added 1 server" in naru("servers", "import", str(toml), "--yes").stderr
    imported = naru("servers", "import", str(claude), "--yes")
    assert "docs\tclaude_desktop_config.json\tregistered already" in imported.stdout
    assert "b\tclaude_desktop_config.json\tnew" in imported.stdout
    assert "mcpServers.bad must be an object" in imported.stdout
    checked = naru("servers", "check", code=1)
    assert "b: MISSING_URL not set (mcpServers.b.url)" in checked.stdout


def test_nobody_is_asked_for_the_secret_of_a_server_that_is_not_there(naru) -> None:
    refused = naru("servers", "secret", "set", "nobody", "TOKEN", code=3)
    assert "No server named 'nobody'" in refused.stderr, "and not that the secret is empty"


@pytest.mark.parametrize(
    "arguments",
    [("add", "a b", "http://h/"), ("add", "a", "http://h/", "-t", "pigeon"), ("add", "a", "http://h/", "--env", "x")],
)
def test_what_cannot_be_added_is_told_in_one_line(naru, arguments: tuple[str, ...]) -> None:
    refused = naru("servers", *arguments, code=2)
    assert refused.stderr.count("\n") == 1


@pytest.mark.parametrize("written", ["X-Key: a=b:c", "X-Key:a=b:c", "X-Key=a=b:c"])
def test_a_header_is_written_as_curl_has_it_or_with_an_equals_sign(naru, written: str) -> None:
    naru("servers", "add", "docs", "https://h/mcp", "--header", written)
    exported = json.loads(naru("servers", "export", "--with-secrets").stdout)
    assert exported["mcpServers"]["docs"]["headers"] == {"X-Key": "a=b:c"}


def test_a_host_that_cannot_be_bound_makes_no_key_which_would_be_asked_for_from_then_on(naru) -> None:
    assert "Tried to listen on a..b:9" in naru("serve", "hr", "--host", "a..b", code=Exit.USAGE).stderr
    assert "There are no keys" in naru("keys", "list").stderr


def test_a_key_that_outlasts_the_calendar_can_still_be_shown(naru, tmp_path: Path) -> None:
    made, _ = KeyFile(tmp_path / "data" / "keys.json").create("user", expires_at=10**18)
    assert "after the year 9999" in naru("keys", "list").stdout
    assert "after the year 9999" in naru("keys", "show", made.id).stdout


@pytest.mark.parametrize("option", ["--header", "--env"])
def test_what_is_no_assignment_is_not_shown_since_it_may_be_a_secret(naru, option: str) -> None:
    told = naru("servers", "add", "docs", "https://h/mcp", option, "SENTINEL-h1", code=2).stderr
    assert f"Say {option}" in told
    assert "SENTINEL" not in told


def test_a_name_in_hangul_is_told_which_letters_a_name_has(naru) -> None:
    told = naru("servers", "add", "인사", "https://h/mcp", code=Exit.USAGE).stderr
    assert "use 1 to 64 of a-z, A-Z, 0-9" in told, "letters they are"


def test_keys_are_made_listed_and_revoked(naru, tmp_path: Path) -> None:
    first = naru("keys", "create", "operator", "--owner", "Kim")
    secret = first.stdout.strip()
    assert "NARU_SERVER__API_KEY" in first.stderr, "the first key switches authentication on"
    keys = KeyFile(tmp_path / "data" / "keys.json")
    found = keys.find(secret.encode())
    assert found is not None
    assert (found.role, found.owner) == ("operator", "Kim")
    assert stat.S_IMODE((tmp_path / "data").stat().st_mode) == 0o700
    listed = naru("keys", "list").stdout
    assert found.id in listed
    assert secret not in listed
    naru("keys", "revoke", found.id)
    assert naru("keys", "list").stdout == ""
    assert "no role 'root'" in naru("keys", "create", "root", code=2).stderr


def test_what_was_refused_is_not_in_the_audit_log(naru) -> None:  # S-61
    key = json.loads(naru("keys", "create", "user", "--json").stdout)["id"]
    naru("keys", "create", "root", code=Exit.USAGE)
    naru("keys", "rotate", "none", code=Exit.NOT_FOUND)
    naru("keys", "revoke", "none", code=Exit.NOT_FOUND)
    naru("servers", "secret", "remove", "none", "TOKEN", code=Exit.NOT_FOUND)
    naru("servers", "logout", "none", code=Exit.NOT_FOUND)
    naru("servers", "remove", "none", code=Exit.NOT_FOUND)
    naru("servers", "add", "docs", "https://h/mcp")
    naru("servers", "add", "docs", "https://other/mcp", code=Exit.USAGE)
    naru("keys", "rotate", key)
    naru("keys", "revoke", key)
    logged = json.loads(naru("audit", "show", "--json").stdout)
    assert [(one["what"], one.get("key") or one["server"]) for one in logged] == [
        ("key.created", key),
        ("server.added", "docs"),
        ("key.rotated", key),
        ("key.revoked", key),
    ]


@pytest.mark.parametrize("words", ["list", "export", "check", "remove a", "enable a"])
def test_a_store_that_is_not_there_is_none_to_read_and_is_not_made(naru, tmp_path: Path, words: str) -> None:
    for store in ("file:none.json", "none.db"):
        refused = naru("servers", *words.split(), "--store", store, code=Exit.NOT_FOUND).stderr
        assert "There is no store" in refused
    assert not [path for path in tmp_path.iterdir() if path.name.startswith("none")]


@pytest.mark.parametrize("url", ["http://exa mple/mcp", "http://a..b/mcp", "http://exa%20mple", "http://.", "http://"])
def test_a_url_without_a_hosts_name_is_no_server(naru, url: str) -> None:
    assert "It is no http or https URL" in naru("servers", "add", "x", url, code=Exit.USAGE).stderr
    assert "no http or https URL" in naru("connect", "void", "--url", url, code=Exit.USAGE).stderr


@pytest.mark.parametrize("url", ["http://예제.한국:80/", "http://a_b-c.", "http://[::1]:8/mcp", "http://10.0.0.1"])
def test_any_hosts_name_is_one(naru, url: str) -> None:
    naru("servers", "add", "x", url)


def test_a_store_that_cannot_be_read_is_told_once_and_is_no_empty_store(naru, tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text('{"mcpServers": {"a": ', encoding="utf-8")
    file.chmod(0o600)
    listed = naru("servers", "list", "--store", f"file:{file}", code=Exit.NOT_WELL)
    assert listed.stderr.count("cannot be read") == 1
    assert "No server is registered" not in listed.stderr
    added = naru("servers", "add", "b", "http://h/", "--store", f"file:{file}", code=Exit.UNREACHABLE)
    assert added.stderr.count("cannot be read") == 1
    assert "it cannot be read" in naru("import", str(file), code=Exit.NOT_WELL).stdout


def test_what_is_not_there_or_no_file_says_what_to_do(naru, tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.json"):
        refused = naru("import", str(path), code=Exit.NOT_FOUND)
        assert str(path) in refused.stderr
        assert refused.stderr.rstrip().endswith("naru import")
    wrong = tmp_path / "naru.yaml"
    wrong.write_text("server: {port: 1\n", encoding="utf-8")
    wrong.chmod(0o600)
    told = naru("servers", "list", "--config", str(wrong), code=Exit.USAGE).stderr
    assert "line 2: expected" in told
    assert told.rstrip().endswith(f"See: naru validate {wrong}")


def test_an_empty_audit_log_says_so(naru) -> None:
    assert "Nothing is logged yet" in naru("audit", "show").stderr


def test_names_in_hangul_are_read_in_the_audit_log_as_they_were_written(naru) -> None:
    naru("keys", "create", "user", "--owner", "김하나\x1b[2J")
    shown = naru("audit", "show").stdout
    assert "김하나" in shown
    assert "\x1b" not in shown


def test_a_program_that_is_not_there_is_told_when_it_is_added(naru) -> None:
    added = naru("servers", "add", "docs", "docs.example.com/mcp")
    assert "There is no program docs.example.com/mcp" in added.stderr
    assert "https://" in added.stderr
    assert "https://" not in naru("servers", "add", "mine", "./none").stderr, "a path is no URL without its scheme"
    for dead in ("ftp://h/", "https://"):
        refused = naru("servers", "add", "dead", dead, code=Exit.USAGE).stderr
        assert dead in refused
        assert "no http or https URL" in refused
    assert "dead" not in naru("servers", "list").stdout


def test_servers_are_exported_as_other_products_write_them(naru, tmp_path: Path) -> None:
    naru("servers", "add", "time", "--env", "API_TOKEN=SENTINEL-export-1", "--", "uvx", "mcp-server-time")
    naru("servers", "add", "docs", "https://h/mcp")
    masked = naru("servers", "export")
    assert "SENTINEL" not in masked.stdout
    assert "--with-secrets" in masked.stderr
    only = json.loads(naru("servers", "export", "docs").stdout)
    assert only == {"mcpServers": {"docs": {"url": "https://h/mcp"}}}
    whole = naru("servers", "export", "--with-secrets").stdout
    entry = json.loads(whole)["mcpServers"]["time"]
    assert (entry["command"], entry["args"]) == ("uvx", ["mcp-server-time"])
    assert entry["env"] == {"API_TOKEN": "SENTINEL-export-1"}
    assert "No server named 'none'" in naru("servers", "export", "none", code=Exit.NOT_FOUND).stderr
    (tmp_path / "copy.json").write_text(whole, encoding="utf-8")
    again = naru("import", str(tmp_path / "copy.json"), "--store", f"file:{tmp_path / 'other.json'}", "--yes")
    assert "Added 2 servers" in again.stderr


def test_names_of_servers_are_completed(naru) -> None:
    assert server_names("") == []
    naru("servers", "add", "docs", "https://h/mcp")
    naru("servers", "add", "time", "--", "uvx", "mcp-server-time")
    assert server_names("") == ["docs", "time"]
    assert server_names("d") == ["docs"]


def test_a_relative_path_is_meant_from_where_it_was_typed_and_not_from_where_a_hub_is_started(
    naru, tmp_path: Path
) -> None:
    (tmp_path / "server.sh").touch()
    naru("servers", "add", "a", "--", "./server.sh", "./data")
    naru("servers", "add", "b", "--cwd", "tools", "--", "./server.sh")
    naru("servers", "add", "c", "--cwd", "${HERE}", "--", "~/server.sh")
    kept = json.loads(naru("servers", "export").stdout)["mcpServers"]
    assert kept["a"]["command"] == str(tmp_path / "server.sh")
    assert (kept["b"]["command"], kept["b"]["cwd"]) == ("./server.sh", str(tmp_path / "tools"))
    assert (kept["c"]["command"], kept["c"]["cwd"]) == ("~/server.sh", "${HERE}")


def test_a_command_is_shown_as_a_shell_takes_it(naru) -> None:
    added = naru("servers", "add", "files", "--", "sh", "-c", "echo 'my files'; ls")
    shown = added.stdout.removeprefix("Added files: ").strip()
    assert shlex.split(shown) == ["sh", "-c", "echo 'my files'; ls"]
    assert shown in naru("servers", "list").stdout


def test_a_product_is_imported_by_its_name(naru, tmp_path: Path) -> None:
    config = tmp_path / ".cursor" / "mcp.json"
    config.parent.mkdir()
    config.write_text('{"mcpServers": {"docs": {"url": "https://h/mcp"}}}', encoding="utf-8")
    shown = naru("import", "cursor", "--dry-run").stdout
    assert "docs" in shown
    assert "docs" not in naru("import", "claude-desktop", "--dry-run").stdout
    assert "cursor" in naru("import", "no-such-product", code=Exit.NOT_FOUND).stderr


@pytest.mark.parametrize(
    "command",
    [
        ("servers", "list"),
        ("servers", "add", "a", "https://h/mcp"),
        ("keys", "list"),
        ("keys", "create", "user"),
        ("runs", "list"),
        ("serve", "--base-url", "http://127.0.0.1:9/v1", "--port", "0"),
    ],
    ids=" ".join,
)
def test_a_data_folder_that_cannot_be_used_has_one_remedy(
    naru, command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    folder = tmp_path / "file" / "data"
    monkeypatch.setenv("NARU_HUB__DATA_DIR", str(folder))
    told = naru(*command, code=Exit.UNREACHABLE).stderr
    assert "Not a directory" in told
    assert f"Let this user write in {folder}, or choose another folder: NARU_HUB__DATA_DIR" in told


def test_an_audit_log_that_is_not_there_is_not_an_empty_one(naru) -> None:
    for command in ("show", "verify"):
        assert "no audit log" in naru("audit", command, "--file", "none.jsonl", code=Exit.NOT_FOUND).stderr


def test_a_model_that_is_not_known_is_not_found(naru) -> None:
    assert "no built-in model" in naru("chat", "hello", "--model", "nosuch", code=Exit.NOT_FOUND).stderr


def test_a_log_level_is_read_in_any_case(naru, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NARU_LOG_LEVEL", "warning")
    naru("servers", "list")
    monkeypatch.setenv("NARU_LOG_LEVEL", "loud")
    assert "log_level" in naru("servers", "list", code=Exit.USAGE).stderr


def test_cause_and_remedy_are_two_sentences() -> None:
    assert str(NaruError("It is broken", remedy="Mend it.")) == "It is broken. Mend it."
    assert str(NaruError("Is it broken?", remedy="Mend it.")) == "Is it broken? Mend it."
    assert str(NaruError("It is broken")) == "It is broken"


def test_issue21_keys_are_limited_shown_and_rotated(naru) -> None:
    options = ["--owner", "ada", "--servers", "hr,docs*", "--tools", "hr/list_*", "--models", "qwen*", "--read-only"]
    budgets = ["--requests-per-day", "100", "--tokens-per-day", "5000", "--expires", "30d"]
    made = json.loads(naru("keys", "create", "user", *options, *budgets, "--json").stdout)
    assert made["servers"] == ["hr", "docs*"]
    assert made["read_only"] is True
    assert 29 < (made["expires_at"] - made["created_at"]) / 86_400_000 < 31
    shown = naru("keys", "show", made["id"]).stdout
    assert "servers hr,docs*; tools hr/list_*; models qwen*; read-only; 100 requests a day; 5000 tokens a day" in shown
    turned = naru("keys", "rotate", made["id"], "--overlap", "24h")
    assert turned.stdout.strip().startswith("naru_")
    assert turned.stdout.strip() != made["key"]
    assert "the old one is good until" in turned.stderr
    assert json.loads(naru("keys", "show", made["id"], "--json").stdout)["previous_until"]
    assert "no key" in naru("keys", "show", "nobody", code=3).stderr
    assert "no moment" in naru("keys", "create", "--expires", "soon", code=2).stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--expires", "2020-01-01"], "'2020-01-01' is over already"),
        (["--expires", "9999-12-31"], "is after the year 9999"),
        (["--expires", "99999999d"], "is after the year 9999"),
        (["--days", "99999999"], "is after the year 9999"),
        (["--days", "inf"], "is no moment"),
        (["--days", "3", "--expires", "30d"], "both say when"),
        (["--servers", ""], "--servers was given, and names nothing"),
        (["--tools", " "], "--tools was given, and names nothing"),
        (["--models", ""], "--models was given, and names nothing"),
    ],
)
def test_a_key_that_would_not_be_what_was_asked_for_is_not_made(naru, arguments: list[str], told: str) -> None:
    assert told in naru("keys", "create", "user", *arguments, code=2).stderr
    assert "There are no keys" in naru("keys", "list").stderr


@pytest.mark.parametrize(
    "words",
    [
        ("time", "npx", "-y", "x@1.0.0"),  # as other products' command lines have it
        ("time", "--env", "A=SENTINEL-1", "npx", "x@1.0.0", "--token=SENTINEL-2"),
        ("--env", "A=SENTINEL-1", "time", "npx", "--yes", "x@1.0.0"),
    ],
)
def test_an_option_behind_a_program_is_nobodys_until_it_is_said_whose(naru, words: tuple[str, ...]) -> None:
    refused = naru("servers", "add", *words, code=2)
    assert "Naru's or the program's?" in refused.stderr
    assert "naru servers add time -- npx -" in refused.stderr
    assert "SENTINEL" not in refused.stderr
    assert json.loads(naru("servers", "list", "--json").stdout) == []


def test_options_stand_behind_an_address_and_before_the_two_dashes(naru) -> None:
    naru("servers", "add", "docs", "http://h/mcp", "--header", "A: b", "--json")
    naru("servers", "add", "time", "--env", "A=b", "--", "npx", "-y", "x@1.0.0")
    kept = json.loads(naru("servers", "export").stdout)["mcpServers"]
    assert kept["time"]["args"] == ["-y", "x@1.0.0"]


@pytest.mark.parametrize(
    "command", [("explain",), ("remove",), ("enable",), ("disable",), ("export",), ("secret", "list"), ("logout",)]
)
def test_a_mistyped_server_is_told_with_the_one_that_is_near(naru, command: tuple[str, ...]) -> None:
    naru("servers", "add", "docs", "http://127.0.0.1:9/mcp")
    assert "Did you mean docs? See: naru servers list" in naru("servers", *command, "dcos", code=3).stderr


def test_a_name_in_korean_is_refused_by_that_name(naru, tmp_path: Path) -> None:
    file = tmp_path / "설정.json"
    file.write_text(
        '{"mcpServers": {"한글": {"command": "echo"}, "사내 wiki": {"url": "http://h/"}}}', encoding="utf-8"
    )
    listed = naru("servers", "import", str(file), "--yes").stdout
    assert "server name '한글' is not allowed" in listed
    assert "wiki\t설정.json\tnew" in listed


def test_nothing_stored_is_no_line_for_programs(naru) -> None:
    naru("servers", "add", "docs", "http://127.0.0.1:9/mcp")
    listed = naru("servers", "secret", "list", "docs")
    assert listed.stdout == ""
    assert "Nothing is stored for docs." in listed.stderr
