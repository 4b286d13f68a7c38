"""Settings: H8, H10, H12, A-06, S-24."""

from __future__ import annotations

import ast
import gc
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest
from pydantic import BaseModel

from naru.cli.checks.settings import check_settings_file
from naru.config import Settings, load_settings, settings_path
from naru.config.reference import markdown
from naru.errors import ConfigError

GUIDE = """
arc:
  reactor:
    mcp:
      servers:
        - name: swagger-agent
          transport: sse
          url: http://localhost:8081/sse
          auto-connect: true
        - name: filesystem
          transport: stdio
          command: npx
          args: ["-y", "@modelcontextprotocol/server-filesystem", "/data"]
          description: 파일 시스템 접근
      security:
        allowed-server-names: []        # 비어있으면 모두 허용
        max-tool-output-length: 50000
      reconnection:
        enabled: true           # 자동 재연결 활성화 (기본: true)
        max-attempts: 7
        initial-delay-ms: 5000
        multiplier: 2.0
        max-delay-ms: 60000
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "naru.yaml"


def test_a06_the_defaults_are_the_safe_ones() -> None:
    settings = Settings()
    assert settings.server.host == "127.0.0.1"
    assert settings.server.auth == "auto"
    assert settings.server.allowed_origins == []
    assert settings.server.max_body_bytes == 4 * 1024 * 1024
    assert settings.server.rate_limit_per_minute == 100
    assert settings.mcp.security.allow_remote_exec is False
    assert settings.mcp.security.max_tool_output_length == 50_000
    assert settings.mcp.security.quarantine == "auto"
    assert settings.mcp.reconnection.model_dump() == {
        "enabled": True,
        "max_attempts": 5,
        "initial_delay_ms": 5_000,
        "multiplier": 2.0,
        "max_delay_ms": 60_000,
    }


def test_h8_the_guides_yaml_is_read_as_it_is_written(file: Path) -> None:
    file.write_text(GUIDE, encoding="utf-8")
    mcp = load_settings(file).mcp
    assert [(server.name, server.transport, server.auto_connect) for server in mcp.servers] == [
        ("swagger-agent", "sse", True),
        ("filesystem", "stdio", True),
    ]
    assert mcp.servers[1].description == "파일 시스템 접근"
    assert mcp.reconnection.max_attempts == 7


def test_flags_win_over_the_environment_and_that_over_the_file(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_text(
        "server: {port: 1, host: '::1'}\nmcp: {security: {allow-remote-exec: false, quarantine: 'on'}}\n",
        encoding="utf-8",
    )
    monkeypatch.setenv("NARU_SERVER__PORT", "2")
    monkeypatch.setenv("NARU_MCP__SECURITY__ALLOW_REMOTE_EXEC", "true")
    settings = load_settings(file)
    assert (settings.server.port, settings.server.host) == (2, "::1")
    assert settings.mcp.security.allow_remote_exec is True
    assert settings.mcp.security.quarantine == "on"
    assert load_settings(file, server={"port": 3}).server.port == 3


@pytest.mark.parametrize(
    ("variable", "value", "place"),
    [
        ("NARU_SERVER__PROT", "1", "server.prot"),
        ("NARU_SERVER", '{"prot": 1}', "server.prot"),
        ("NARU_SERVER__PORT", "many", "server.port"),
    ],
)
def test_a_setting_of_the_environment_that_cannot_be_used_is_told_by_its_variable(
    file: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, place: str
) -> None:
    file.write_text("server: {host: '::1'}\n", encoding="utf-8")
    monkeypatch.setenv(variable, value)
    with pytest.raises(ConfigError, match=rf"{place} \(of the variable {variable}\)") as caught:
        load_settings(file)
    assert f"naru validate -c {file}" in (caught.value.remedy or "")


def test_what_a_flag_says_wrong_is_not_laid_to_the_variable_that_it_wins_over(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_text("", encoding="utf-8")
    monkeypatch.setenv("NARU_SERVER__PORT", "1")
    with pytest.raises(ConfigError, match=r"server\.port: Input"):
        load_settings(file, server={"port": 70000})


def test_a_key_from_a_file_of_variables_is_the_key_without_its_line_end(file: Path) -> None:
    key = "abcdefghijklmnopqrstuvwxyz0123456789"
    file.write_text("", encoding="utf-8")
    assert load_settings(file, server={"api_key": f"{key}\r"}).server.api_key.get_secret_value() == key
    with pytest.raises(ConfigError, match=r"server\.api_key: .*ASCII") as caught:
        load_settings(file, server={"api_key": f"{key}키"})
    assert key not in str(caught.value)


@pytest.mark.parametrize("value", ["tools.example.com", ""])
def test_a_list_of_the_environment_that_is_no_json_is_told_by_its_variable_and_not_shown(
    file: Path, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    file.write_text("", encoding="utf-8")
    monkeypatch.setenv("NARU_SERVER__ALLOWED_HOSTS", value)
    with pytest.raises(ConfigError, match=r"NARU_SERVER__ALLOWED_HOSTS") as caught:
        load_settings(file)
    assert "example" not in str(caught.value)


def test_what_yaml_takes_for_a_number_or_a_day_is_the_text_it_was_written_as_where_texts_stand(file: Path) -> None:
    file.write_text(
        "chat: {aliases: {010: 3.10}}\nserver: {port: 010}\nmcp:\n  servers:\n    - name: a\n      command: b\n"
        "      args: [3.10, 22:22, 0x1F]\n      env: {SINCE: 2024-01-31, AT: 12:30, N: 1_0}\n      timeout: 60\n",
        encoding="utf-8",
    )
    settings = load_settings(file)
    (server,) = settings.mcp.servers
    assert server.args == ["3.10", "22:22", "0x1F"]
    assert server.env == {"SINCE": "2024-01-31", "AT": "12:30", "N": "1_0"}
    assert server.model_extra == {"timeout": 60}
    assert settings.chat.aliases == {"010": "3.10"}
    assert settings.server.port == 8


def test_what_yaml_takes_for_a_yes_or_a_no_is_the_text_it_was_written_as_where_texts_stand(file: Path) -> None:
    file.write_text(
        "chat: {aliases: {NO: off, on: m}}\nagent: {small: on}\nmodel: {model: yes}\nmcp:\n  servers:\n    - name: a\n"
        "      command: b\n      args: [yes, --color, off]\n      env: {COUNTRY: NO, DEBUG: on, Y: true}\n"
        "      enabled: no\n      autoConnect: yes\n",
        encoding="utf-8",
    )
    settings = load_settings(file)
    (server,) = settings.mcp.servers
    assert server.args == ["yes", "--color", "off"]
    assert server.env == {"COUNTRY": "NO", "DEBUG": "on", "Y": "true"}
    assert server.model_extra == {"enabled": False, "autoConnect": True}
    assert settings.chat.aliases == {"NO": "off", "on": "m"}
    assert (settings.agent.small, settings.model.model) == ("on", "yes")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("servers: []", "no section servers"),
        ("server: {prot: 1}", "server.prot"),
        ("server: {port: 70000}", "server.port"),
        ("mcp: {secruity: {}}", "mcp.secruity"),
        ("- a", "holds no sections"),
        ("a: [", "See: naru validate /"),
        ("server: {port: 1}\nmodel:\nserver: {port: 2}", "line 3: 'server' stands here twice"),
        ("server:\n  port: 1\n  port: 2", "line 3: 'port' stands here twice"),
        ("server: {api_key: 1}", "server.api_key"),
        ("log_level: 2024-13-45", "log_level"),
        ("server: &s {port: 1, roles: *s}", "recursive"),
        ("server: " + "[" * 3000, "nested too deeply"),
        ("server: {port: !!int x}", "is not YAML"),
    ],
)
def test_what_cannot_be_used_is_named_with_its_place(file: Path, text: str, said: str) -> None:
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"naru\.yaml") as refused:
        load_settings(file)
    assert said in str(refused.value)
    assert refused.value.remedy


def words(model: type[BaseModel] = Settings, before: str = "") -> Iterator[tuple[str, str]]:
    """Yield the path of every setting that takes `on` or `off`, with that word."""
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from words(field.annotation, f"{before}{name}.")
        yield from ((f"{before}{name}", word) for word in ("on", "off") if word in get_args(field.annotation))


@pytest.mark.parametrize(("path", "word"), [*words(), ("agent.small_models.llama", "on")])
def test_on_and_off_are_taken_as_the_pages_say_them_though_yaml_reads_truth_values(
    file: Path, path: str, word: str
) -> None:
    text = word
    for part in reversed(path.split(".")):
        text = f"{{{part}: {text}}}"
    file.write_text(text, encoding="utf-8")
    found = load_settings(file).model_dump()
    for part in path.split("."):
        found = found[part]
    assert found == word


TABLES = """
server:
  roles: {hr-team: {read-only: true, servers: [hr-db]}}
  oauth:
    issuer: https://login.example.com
    resource: https://tools.example.com/mcp
    roles: {Sales-EU: hr-team, 42: admin}
chat:
  aliases: {gpt-4: x}
  steps: {open-webui: text}
  client-by-key: {key-1: void}
agent:
  small-models: {llama-3.2*: "on"}
model:
  endpoints: [{name: far-away, base-url: "https://models.example.com/v1", headers: {X-Team-Name: a}}]
mcp:
  servers: {my-files: {command: npx, env: {A-B: 1}, auto-connect: false, auth: {client-id: c}}}
"""


def test_names_of_ones_own_keep_their_dashes_and_settings_may_have_them(file: Path) -> None:
    file.write_text(TABLES, encoding="utf-8")
    found = load_settings(file)
    assert list(found.server.roles) == ["hr-team"]
    assert found.server.roles["hr-team"].read_only is True
    assert found.server.roles["hr-team"].servers == ["hr-db"]
    assert found.server.oauth.roles == {"Sales-EU": "hr-team", "42": "admin"}
    assert found.chat.aliases == {"gpt-4": "x"}
    assert found.chat.steps == {"open-webui": "text"}
    assert found.chat.client_by_key == {"key-1": "void"}
    assert found.agent.small_models == {"llama-3.2*": "on"}
    assert found.model.endpoints[0].base_url == "https://models.example.com/v1"
    assert found.model.endpoints[0].headers == {"X-Team-Name": "a"}
    (server,) = found.mcp.servers
    assert (server.name, server.auto_connect, server.env) == ("my-files", False, {"A-B": "1"})
    assert check_settings_file(file) == [], "`naru validate` finds nothing in it either"


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "server:\nmcp:\n", "\ufeffserver: {port: 5}"])
def test_an_empty_file_has_the_defaults(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8")
    assert load_settings(file).server.host == "127.0.0.1"


def test_anchors_and_merges_are_no_key_that_stands_twice(file: Path) -> None:
    file.write_text(
        "mcp:\n  servers:\n    - &a {name: a, url: 'http://h', env: {A-B: 1, A_B: 2}}\n"
        "    - {<<: *a, name: b}\n    - {<<: *a, name: c}\n",
        encoding="utf-8",
    )
    assert [server.name for server in load_settings(file).mcp.servers] == ["a", "b", "c"]


def test_s24_a_file_that_others_may_write_is_refused(file: Path) -> None:
    file.write_text("server: {port: 1}", encoding="utf-8")
    file.chmod(0o666)
    with pytest.raises(ConfigError, match="chmod go-w"):
        load_settings(file)


def test_s24_nothing_in_the_working_directory_is_read_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NARU_CONFIG", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    (tmp_path / "naru.yaml").write_text("server: {port: 1}", encoding="utf-8")
    (tmp_path / "mcp.json").write_text(
        '{"mcpServers": {"evil": {"command": "touch", "args": ["marker"]}}}', encoding="utf-8"
    )
    assert settings_path() is None
    assert load_settings().server.port == 20006
    assert load_settings().mcp.files == []


def test_a_file_that_is_named_and_missing_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NARU_CONFIG", str(tmp_path / "none.yaml"))
    with pytest.raises(ConfigError, match=r"Cannot read .*none\.yaml"):
        load_settings()


def test_every_setting_is_documented_and_the_page_is_up_to_date() -> None:
    page = Path(__file__).parent.parent / "docs" / "reference" / "settings.md"
    made = markdown()
    rows = [line for line in made.splitlines() if line.startswith("| `")]
    undocumented = [row.split("`")[1] for row in rows if not row.split(" | ")[2].strip()]
    assert undocumented == []
    assert len(rows) > 50
    assert page.read_text(encoding="utf-8") == made, "run: python -m naru.config.reference > docs/reference/settings.md"


def test_settings_are_read_while_something_else_is_parsed(file: Path) -> None:
    """Python before 3.11.8 fails a parse during which another ran, such as a collector's or a thread's (gh-106905)."""
    file.write_text("server: {port: 5}", encoding="utf-8")
    limits = gc.get_threshold()
    within = False

    def parse(phase: str, info: dict[str, int]) -> None:
        nonlocal within
        if not within:
            within = True
            ast.parse("a = [b]")
            within = False

    gc.callbacks.append(parse)
    gc.set_threshold(5)
    try:
        assert load_settings(file).server.port == 5
    finally:
        gc.set_threshold(*limits)
        gc.callbacks.remove(parse)


def test_a_file_is_read_where_owners_have_no_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "naru.yaml"
    path.write_text("server:\n  port: 4321\n", encoding="utf-8")
    monkeypatch.delattr("os.geteuid")  # as on Windows
    assert load_settings(path).server.port == 4321


def test_an_address_of_ipv6_may_stand_in_brackets_as_urls_have_it(file: Path) -> None:
    file.write_text("", encoding="utf-8")
    assert load_settings(file, server={"host": "[::1]"}).server.host == "::1"
