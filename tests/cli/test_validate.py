"""`naru validate`: every problem with its place and what to do."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from naru.cli.terminal.exit_codes import Exit


def problems(done) -> dict[str, dict]:
    return {one["field"]: one for one in json.loads(done.stdout)["problems"]}


def test_all_problems_of_a_settings_file_are_found_at_once_with_their_lines(naru, tmp_path: Path) -> None:
    file = tmp_path / "naru.yaml"
    file.write_text(
        "server:\n  prot: 1\n  port: many\nmdoel: {}\nmcp:\n  reconnection:\n    max-attempt: 3\n  security:\n"
        "    quarantine: maybe\n",
        encoding="utf-8",
    )
    found = problems(naru("validate", str(file), "--json", code=Exit.NOT_WELL))
    assert {field: one["line"] for field, one in found.items()} == {
        "server.prot": 2,
        "server.port": 3,
        "mdoel": 4,
        "mcp.reconnection.max_attempt": 7,
        "mcp.security.quarantine": 9,
    }
    assert found["server.prot"]["remedy"] == "Did you mean port?"
    assert found["mdoel"]["remedy"] == "Did you mean model?"


@pytest.mark.parametrize(
    ("text", "says", "line"),
    [
        ("server: [", "not YAML", 1),
        ("- a\n", "a list, not sections", 1),
        ("a: 1\n\tb: 2\n", "not YAML", 2),
        ("server: {port: 1}\nserver: {port: 2}\n", "'server' stands here twice", 2),
    ],
)
def test_a_file_that_is_no_settings_file(naru, tmp_path: Path, text: str, says: str, line: int) -> None:
    file = tmp_path / "naru.yaml"
    file.write_text(text, encoding="utf-8")
    (found,) = json.loads(naru("validate", str(file), "--json", code=Exit.NOT_WELL).stdout)["problems"]
    assert says in found["message"]
    assert found["line"] == line


@pytest.mark.parametrize("command", ["validate", "import"])
def test_a_pipe_is_read_and_what_is_no_file_is_called_so(naru, tmp_path: Path, command: str) -> None:
    reading, writing = os.pipe()
    os.write(writing, b'{"mcpServers": {"docs": {"url": "http://127.0.0.1:9/mcp"}}}')
    os.close(writing)
    found = json.loads(naru(command, f"/dev/fd/{reading}", "--json").stdout)
    assert found["problems"] == [] if command == "validate" else found[0]["name"] == "docs"
    os.close(reading)
    for place, what in (("/dev/null", "is no file"), (str(tmp_path), "is a folder"), ("no.json", "is not there")):
        assert f"{place}, which {what}." in naru(command, place, code=Exit.NOT_FOUND).stderr


def test_declared_servers_of_a_good_settings_file_are_checked_too(naru, tmp_path: Path) -> None:
    file = tmp_path / "naru.yaml"
    file.write_text(
        "mcp:\n  servers:\n    - {name: a, command: no-such-program}\n    - {url: 'http://h'}\n", encoding="utf-8"
    )
    found = problems(naru("validate", str(file), "--json", code=Exit.NOT_WELL))
    assert "no-such-program" in found["mcp.servers[0].command"]["message"]
    assert found["mcp.servers[1]"]["level"] == "warning"
    file.write_text(
        "mcp:\n  servers:\n    - {url: 'http://h'}\n    - {name: a, command: no-such-program}\n", encoding="utf-8"
    )
    found = problems(naru("validate", str(file), "--json", code=Exit.NOT_WELL))
    assert "no-such-program" in found["mcp.servers[1].command"]["message"], "its own place, after one that is skipped"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("server: {host: 0.0.0.0, auth: off}", "reachable from other machines"),
        ("server: {tls_certificate: none.pem, tls_key: none.key}", "none.pem"),
        ("hub: {store: 'sqlte:x'}", "names no store"),
        ("model: {base_url: nonsense}", "'nonsense' is not an http or https address"),
        ("model: {endpoints: [{name: a, base_url: nonsense}]}", "'nonsense' is not an http or https address"),
        ("tools: {modules: [none.py]}", "none.py"),
        ("chat: {client: voyd}", "Did you mean void?"),
        ("chat: {client_by_key: {k1: voyd}}", "Did you mean void?"),
        ("chat: {steps: {Open-WebUI: text}}", "Did you mean open-webui?"),
    ],
)
def test_what_serve_would_refuse_or_pass_over_is_found_before_it_is_started(
    naru, tmp_path: Path, text: str, says: str
) -> None:
    file = tmp_path / "naru.yaml"
    file.write_text(text, encoding="utf-8")
    (found,) = json.loads(naru("validate", str(file), "--json", code=Exit.NOT_WELL).stdout)["problems"]
    assert says in f"{found['message']} {found['remedy']}"
    (installed,) = json.loads(naru("validate", "-c", str(file), "--json", code=Exit.NOT_WELL).stdout)["problems"]
    assert installed["message"] == found["message"]


SERVERS = """{
  // mine
  "mcpServers": {
    "a": {"comand": "x"},
    "b": {"command": "no-such-program", "cwd": "/no/such/folder", "alwaysAlow": []},
    "c": {"url": "ftp://h"},
    "d": {"url": "https://h/${MISSING_VARIABLE}", "mine": 1},
    "e": {"type": "pigeon", "url": "http://h"},
    "f": 1,
    "g": {"url": "https://h/mcp", "headers": {"X-É": "b"}},
    "good": {"url": "https://h/mcp", "headers": {"A": "b"}}
  }
}"""


def test_all_problems_of_a_server_file_are_found_with_field_and_remedy(naru, tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text(SERVERS, encoding="utf-8")
    found = problems(naru("validate", str(file), "--json", code=Exit.NOT_WELL))
    levels = {field.removeprefix("mcpServers."): (one["level"], one["line"]) for field, one in found.items()}
    assert levels == {
        "a": ("error", 4),
        "b.command": ("error", 5),
        "b.cwd": ("error", 5),
        "b.alwaysAlow": ("warning", 5),
        "c.url": ("error", 6),
        "d.url": ("error", 7),
        "d.mine": ("note", 7),
        "e": ("error", 8),
        "f": ("error", 9),
        "g.headers": ("error", 10),
    }
    assert "command" in found["mcpServers.a"]["remedy"]
    assert "MISSING_VARIABLE" in found["mcpServers.d.url"]["message"]


def test_a_syntax_error_says_its_line(naru, tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text('{"mcpServers": {\n "a": ]}', encoding="utf-8")
    shown = naru("validate", str(file), code=Exit.NOT_WELL).stdout
    assert f"{file}:2" in shown
    assert "It cannot be read as JSON: Expecting value" in shown


def test_good_files_and_a_fresh_installation_are_well(naru, tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text('{"mcpServers": {"good": {"url": "https://h/mcp"}}}', encoding="utf-8")
    assert "nothing is wrong" in naru("validate", str(file)).stdout
    assert "nothing is wrong" in naru("validate").stdout


def test_mistyped_variables_are_named(naru, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NARU_SERVER__PROT", "1")
    monkeypatch.setenv("NARU_LOG_LEVLE", "INFO")
    found = problems(naru("validate", "--json", code=Exit.NOT_WELL))
    assert (found["NARU_SERVER__PROT"]["level"], found["NARU_LOG_LEVLE"]["level"]) == ("error", "warning")
    assert found["NARU_LOG_LEVLE"]["remedy"] == "Did you mean NARU_LOG_LEVEL?"


def test_the_store_is_checked_like_a_file(naru) -> None:
    naru("servers", "add", "lost", "--", "no-such-program")
    found = problems(naru("validate", "--json", code=Exit.NOT_WELL))
    assert "no-such-program" in found["lost.command"]["message"]


def test_a_store_that_is_a_file_is_checked_as_one_and_left_alone(
    naru, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "mcp.json"
    monkeypatch.setenv("NARU_HUB__STORE", f"file:{store}")
    naru("validate")  # one that is not there yet is made
    store.write_text('{"mcpServers": {"a": {"comand": "npx"}}}', encoding="utf-8")
    (found,) = problems(naru("validate", "--json", code=Exit.NOT_WELL)).values()
    assert (found["field"], found["remedy"]) == ("mcpServers.a", "comand: Did you mean command?")
    store.write_text('{"mcpServers": {', encoding="utf-8")
    done = naru("validate", "--json", code=Exit.NOT_WELL)
    assert json.loads(done.stdout)["problems"][0]["line"] == 1
    assert (done.stderr, [one.name for one in tmp_path.glob("mcp.json*")]) == ("", ["mcp.json"])


def test_a_file_that_cannot_be_read_says_why_and_what_to_do(naru, tmp_path: Path) -> None:
    lost, foreign = tmp_path / "lost.yaml", tmp_path / "foreign.json"
    foreign.write_bytes("서버".encode("cp949"))
    found = [
        json.loads(naru("validate", *which, "--json", code=Exit.NOT_WELL).stdout)["problems"][0]
        for which in (("-c", str(lost)), (str(foreign),))
    ]
    assert [(one["message"], one["remedy"]) for one in found] == [
        ("It cannot be read: No such file or directory.", "Name a file that this user may read."),
        ("It is no UTF-8 text: invalid start byte.", "Save it as UTF-8."),
    ]
