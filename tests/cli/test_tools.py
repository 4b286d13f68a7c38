"""`naru tools` without a hub: what servers offer, and what is said when they cannot be used."""

from __future__ import annotations

import json
import logging
import sys

import pytest


@pytest.fixture
def broken(naru):
    naru("servers", "add", "odd", "--", "no-such-program-here")
    return naru


@pytest.mark.parametrize("words", [("list",), ("search", "paper"), ("list", "--server", "odd")], ids=" ".join)
def test_servers_that_cannot_be_used_are_told_once_and_are_no_success(broken, words: tuple[str, ...]) -> None:
    done = broken("tools", *words, code=5)
    assert done.stderr.count("no-such-program-here") == 1
    assert "See: naru servers explain odd" in done.stderr
    assert "Next try" not in done.stderr
    assert done.stdout == ""


def test_servers_that_nobody_wants_connected_are_named(naru) -> None:
    naru("servers", "add", "odd", "--", "no-such-program-here")
    naru("servers", "disable", "odd")
    assert "No tool is offered: not connected: odd. See: naru servers list" in naru("tools", "list").stderr


def test_a_tool_of_a_server_that_offers_nothing_now_is_not_told_as_one_that_there_is_not(broken) -> None:
    assert "Server odd offers nothing now: naru servers explain odd" in broken("tools", "show", "odd__x", code=3).stderr


def test_a_server_that_is_tried_once_has_no_since_and_no_next_try(broken) -> None:
    done = broken("servers", "explain", "odd", code=1)
    assert done.stdout.startswith("odd: FAILED. At stage launch: ")
    assert "what to do: " in done.stdout
    assert done.stderr == ""


@pytest.mark.slow
def test_what_works_is_listed_beside_what_does_not(broken) -> None:
    broken("servers", "add", "hr", "--", sys.executable, "-m", "naru.builtins.hr.server")
    done = broken("tools", "list")
    heading, *rows = done.stdout.splitlines()
    assert heading.split("\t") == ["tool", "server", "what it does"]
    assert len(rows) == 4
    assert done.stderr.count("no-such-program-here") == 1
    assert {one["server"] for one in json.loads(broken("tools", "list", "--json").stdout)} == {"hr"}
    assert broken("tools", "show", "search_docs").stdout == broken("tools", "show", "hr__search_docs").stdout
    broken("servers", "add", "other", "--", sys.executable, "-m", "naru.builtins.hr.server")
    several = broken("tools", "show", "search_docs", code=3).stderr
    assert "Say which: hr__search_docs, other__search_docs." in several


DOCTOR = ("doctor", "--base-url", "http://127.0.0.1:9/v1", "--model", "x")


@pytest.mark.parametrize(
    ("words", "code"), [(("tools", "list"), 1), (("tool", "list"), 0), (DOCTOR, 1)], ids=["tools", "tool", "doctor"]
)
@pytest.mark.parametrize(
    ("text", "told"), [('{"mcpServers": {"a": {"comand": "x"}}}', "config.command"), ("{", "cannot be read")],
    ids=["an entry", "the file"],
)  # fmt: skip
def test_what_of_the_store_cannot_be_read_is_told_by_all_that_connect_its_servers(
    naru, tmp_path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], code: int, text: str, told: str
) -> None:
    (tmp_path / "mcp.json").write_text(text, encoding="utf-8")
    monkeypatch.setenv("NARU_HUB__STORE", f"file:{tmp_path / 'mcp.json'}")
    done = naru(*words, code=code)
    assert told in done.stdout + done.stderr
    assert "No server is registered" not in done.stderr


def test_the_doctor_tries_servers_of_the_settings_file_before_any_hub_has_run(naru, tmp_path) -> None:
    (tmp_path / "naru.yaml").write_text("mcp: {servers: [{name: odd, command: no-such-program-here}]}", "utf-8")
    assert "WRONG server odd: FAILED" in naru(*DOCTOR, "-c", "naru.yaml", code=1).stdout


def test_no_server_and_an_unknown_server_say_what_to_do(naru) -> None:
    assert "naru servers add" in naru("tools", "list").stderr
    assert "See: naru servers list" in naru("tools", "list", "--server", "none", code=3).stderr


@pytest.mark.parametrize("level", ["", "WARNING"])
def test_log_lines_are_shown_where_a_log_level_was_asked_for_and_only_there(
    broken, level: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    if level:
        monkeypatch.setenv("NARU_LOG_LEVEL", level)
    caplog.set_level(logging.NOTSET)  # puts the level back in the end
    monkeypatch.setattr(logging.getLogger(), "handlers", [])  # as in a process of the command's own
    told = broken("tools", "list", code=5).stderr
    assert ("WARNING naru.connections.link.supervisor: server odd: " in told) is bool(level)


def test_no_secret_of_a_server_is_told_with_its_fault(naru) -> None:  # S-34
    code = "import sys; sys.exit('cannot log in with token=SENTINEL-1 at https://u:SENTINEL-2@h/')"
    naru("servers", "add", "odd", "--env", "KEY=SENTINEL-3", "--", sys.executable, "-c", code + " # SENTINEL-3")
    for words in (("servers", "explain", "odd"), ("tools", "list"), ("tool", "run", "odd__x")):
        done = naru(*words, code=1 if words[0] == "servers" else 5)
        assert "cannot log in" in done.stdout + done.stderr or words[0] != "servers"
        assert "SENTINEL" not in done.stdout + done.stderr
