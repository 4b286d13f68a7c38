"""`naru parse` from the command line."""

from __future__ import annotations

import json

import pytest
import typer
from typer.testing import CliRunner

from naru.cli.parse import command
from naru.errors import NotFoundError, UserError

TOOLS = '[{"name": "ping", "parameters": {"type": "object", "properties": {"host": {"type": "string"}}}}]'
REPLY = 'Checking.\n<tool_call>{"name": "ping", "arguments": {"host": "a",}}</tool_call>'


def run(*words: str, given: str = REPLY):
    app = typer.Typer()
    app.command()(command)
    return CliRunner().invoke(app, list(words), input=given, catch_exceptions=False)


def test_a_call_is_shown_with_its_dialect_and_the_message_a_client_gets():
    result = run("--tools", TOOLS)
    assert "ping" in result.stdout
    assert "[hermes, characters" in result.stdout
    message = json.loads(result.stdout[result.stdout.index("{\n") :])
    assert message["tool_calls"][0]["function"] == {"name": "ping", "arguments": '{"host": "a"}'}
    assert message["content"] == "Checking."


def test_without_tools_calls_stay_text_and_that_is_said():
    result = run()
    assert result.stdout.startswith("call       none")
    assert "calls stay text" in result.stderr
    assert "without a mark" not in result.stderr, "one with a mark stays text, too"


def test_explain_shows_what_every_piece_was():
    result = run("--tools", TOOLS, "--explain")
    assert "text      'Checking.'" in result.stdout
    assert "call      '<tool_call>" in result.stdout


def test_json_holds_message_calls_repairs_and_spans():
    data = json.loads(run("--tools", TOOLS, "--json").stdout)
    assert data["calls"][0]["dialect"] == "hermes"
    assert data["spans"][-1]["end"] == len(REPLY)
    assert set(data) == {"message", "calls", "repairs", "spans"}


def test_names_alone_are_tools_too(tmp_path):
    file = tmp_path / "reply.txt"
    file.write_text('{"name": "ping", "arguments": {}}', encoding="utf-8")
    assert "call       ping {}" in run(str(file), "--tools", "ping,pong").stdout


@pytest.mark.parametrize("tools", [",".join(["ping", *(f"tool_{n}" for n in range(100))]), '\n [{"name": "ping"}]'])
def test_many_names_are_no_file_and_blanks_before_json_are_none(tools):
    assert "call       ping {}" in run("--tools", tools, given='{"name": "ping", "arguments": {}}').stdout


def test_the_prompt_may_have_opened_the_reasoning():
    result = run("--prompt", "<think>\\n", given="hm</think>ok")
    assert "reasoning  'hm'" in result.stdout


@pytest.mark.parametrize("tools", ["[1]", "[{", "{}x"])
def test_tools_that_are_none_are_named_as_the_fault(tools):
    with pytest.raises(UserError):
        run("--tools", tools)


def test_bytes_that_are_no_text_and_a_file_of_tools_that_is_not_there_are_no_traceback(tmp_path):
    (tmp_path / "reply").write_bytes(b"\xff\xfe{}")
    assert run(str(tmp_path / "reply"), "--tools", "a").exit_code == 0
    with pytest.raises(UserError, match=r"none\.json"):
        run(str(tmp_path / "reply"), "--tools", str(tmp_path / "none.json"))
    with pytest.raises(NotFoundError, match="which is a folder"):
        run(str(tmp_path))


def test_without_tools_it_says_what_is_left_unread():
    assert "--tools" in run().stderr
    assert "--tools" not in run("--tools", TOOLS).stderr
