"""V10, S-44: `naru tool` from the command line."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from tests.cli.test_terminal import run_on_terminal
from typer.testing import CliRunner

from naru.cli.tool.arguments import check_known
from naru.cli.tool.command import app
from naru.cli.tool.sources import Sources
from naru.messages import ToolDefinition

MODULE = ["--module", "tests.cli.tool_examples"]


def run(*words: str, given: str = ""):
    return CliRunner().invoke(app, list(words), input=given)


@pytest.mark.parametrize(
    ("words", "given"),
    [
        (['{"a": 1, "b": 3}'], ""),
        (["a=1", "b=3"], ""),
        (["a:=1", "b:=3"], ""),
        (["-"], '{"a": "1", "b": 3}'),
    ],
    ids=["json", "pairs", "json pairs", "stdin"],
)
def test_arguments_come_as_json_pairs_or_stdin(words, given):
    done = run("run", *MODULE, "add", *words, given=given)
    assert (done.exit_code, done.stdout) == (0, "4\n")


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object"},
        {"properties": {"a": {}}, "additionalProperties": True},
        {"properties": {"a": {}}, "additionalProperties": {"type": "integer"}},
        {"properties": {"a": {}}, "patternProperties": {"^x": {}}},
        {"properties": {"a": {}}, "anyOf": [{"properties": {"x": {}}}]},
    ],
)
def test_a_tool_that_takes_more_than_it_names_is_given_it(schema):
    check_known({"a": 1, "x": 2}, ToolDefinition("open", "", schema))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_arguments_come_from_a_file(tmp_path, encoding):
    (tmp_path / "a.json").write_text('{"a": 40}', encoding=encoding)
    done = run("run", *MODULE, "add", "--args-file", str(tmp_path / "a.json"))
    assert (done.exit_code, done.stdout) == (0, "42\n")


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["fails"], 1, "ValueError: no such thing"),
        (["add", "a=x"], 2, "a: Input should be a valid integer"),
        (["add", '{"a": 1'], 2, "is no JSON"),
        (["add", '{"a": 1, "a": 2}'], 2, "stands twice"),
        (["add", '{"a": NaN}'], 2, "NaN is no JSON number"),
        (["add", "[1]"], 2, "neither a JSON object nor key=value"),
        (["add", "a=1", "a=2"], 2, "given twice"),
        (["add", "--args-file", "/no/such/file"], 2, "reading arguments"),
        (["add", "a=1", "B=2"], 2, "'B' is no argument of it (did you mean b?); it takes a, b."),
        (["add", '{"a": 1, "colour": 2}'], 2, "'colour' is no argument of it; it takes a, b."),
        (["who", "name=x"], 2, "'name' is no argument of it; it takes none."),
        ([], 2, "no tool was named"),
        (["nope"], 3, "there is no tool 'nope'"),
        (["--", "--help"], 3, "there is no tool '--help'"),
        (["--", "-x"], 3, "there is no tool '-x'"),
        (["../x"], 3, "there is no tool '../x'"),
        (["slow", "--timeout", "0.05"], 4, "did not finish within 0.05 s"),
        (["needs"], 5, "nothing supplies it"),
    ],
)
def test_each_failure_has_its_exit_code_and_its_line_on_stderr(words, code, told):
    done = run("run", *MODULE, *words)
    assert done.exit_code == code
    assert told in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("target", ["ends_at_once", "ends_at_once.py"])
def test_a_script_that_ends_when_it_is_run_does_not_end_the_command_in_silence(tmp_path, monkeypatch, target):
    (tmp_path / "ends_at_once.py").write_text("import sys\n\nsys.exit(0)\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    done = run("run", "--module", target, "x")
    assert done.exit_code == 2
    assert "SystemExit: 0" in done.stderr


@pytest.mark.slow
def test_a_function_that_cannot_be_a_tool_is_told_once_and_only_where_it_matters(tmp_path):
    module = "def good() -> int:\n    return 1\n\n\ndef odd(kind: type) -> int:\n    return 1\n"
    (tmp_path / "odd.py").write_text(module, encoding="utf-8")

    def told(*words):
        command = [sys.executable, "-m", "naru.cli.main", "tool", *words, "-m", "odd.py"]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True).stderr

    assert told("run", "good") == ""
    listed = told("list")
    assert listed.startswith("naru tool: odd is set aside: tool 'odd' cannot be read from JSON")
    assert listed.count("\n") == 1
    assert "'odd' is set aside" in told("run", "odd")
    assert "'odd' is set aside" in told("schema", "odd")


def test_what_to_do_next_names_the_modules_again():
    fits_not = run("run", *MODULE, "add").stderr
    assert f"Field required. See: naru tool schema -m {MODULE[1]} add" in fits_not
    assert f"See: naru tool list -m {MODULE[1]}" in str(run("schema", *MODULE, "ad").exception)


def test_a_module_that_is_not_there_is_said():
    done = run("run", "--module", "no.such.module", "x")
    assert done.exit_code == 2
    assert "no.such.module" in done.stderr
    for folder in (".", "tests/", "./tests"):
        done = run("list", "--module", folder)
        assert f"'{folder}' names a file of tools, and" in str(done.exception)
        assert "is a folder. Correct the path; a module is named without .py" in str(done.exception)


def test_nothing_that_a_tool_returns_steers_the_terminal():
    words = ["naru", "tool", "run", *MODULE, "colourful"]
    shown = run_on_terminal(f"import sys; sys.argv = {words}; from naru.cli.main import main; main()")
    assert shown == "red end\r\nline\ttab\r\n"
    assert run("run", *MODULE, "colourful").stdout.startswith("\x1b[31mred"), "a program reads what there is"
    assert "\x1b" not in run("run", *MODULE, "fails").stderr


def test_json_output_is_that_of_execute_tool():
    assert json.loads(run("run", *MODULE, "add", "a=1", "--json").stdout) == {"success": True, "result": 3}
    failed = run("run", *MODULE, "nope", "--json")
    assert failed.exit_code == 3
    assert json.loads(failed.stdout)["success"] is False


@pytest.mark.parametrize("name", ["get_employee_info", "hr.get_employee_info", "hr__get_employee_info"])
def test_a_built_in_servers_tool_answers_to_all_its_names(name):
    done = run("run", "--local", name, '{"employee_id": "EMP001"}')
    assert done.exit_code == 0
    assert json.loads(done.stdout)["name"] == "Kim Minjun"


def test_the_list_names_every_tool_on_a_line():
    lines = run("list", *MODULE).stdout.splitlines()
    assert lines[0].split() == ["add", "Add", "two", "numbers."]
    assert len(lines) == 6
    assert "hr__search_docs" in run("list", "--local").stdout


@pytest.mark.parametrize("provider", ["openai", "openai-strict", "anthropic", "gemini", "ollama", "llama.cpp", "mcp"])
def test_a_tools_schema_is_shown_for_each_provider(provider):
    shown = json.loads(run("schema", *MODULE, "add", "--for", provider).stdout)
    assert "add" in json.dumps(shown)


def test_schemas_are_shown_as_text_and_an_unknown_provider_is_refused():
    assert "add(a, b?)" in run("schema", *MODULE, "add", "--for", "text").stdout
    done = run("schema", *MODULE, "add", "--for", "nobody")
    assert done.exit_code != 0
    assert "mcp, text" in str(done.exception)


@pytest.mark.slow
def test_the_installed_command_runs_a_tool_end_to_end():
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "naru.cli.main",
            "tool",
            "run",
            "--local",
            "hr.calculate_vacation_days",
            "employee_id=EMP003",
            "year=2025",
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["remaining"] == 11


@pytest.mark.slow
def test_a_hub_servers_tool_is_run_and_one_that_cannot_start_says_why(tmp_path, monkeypatch):
    monkeypatch.setenv("NARU_HUB__DATA_DIR", str(tmp_path / "data"))
    servers = {
        "people": {"command": sys.executable, "args": ["-m", "naru.builtins.hr.server"]},
        "broken": {"command": "/no/such/command"},
    }
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    store = ["--store", f"file:{tmp_path / 'mcp.json'}"]
    done = run("run", *store, "people.get_employee_info", "employee_id=EMP001")
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["name"] == "Kim Minjun"
    failed = run("run", *store, "broken.anything")
    assert failed.exit_code == 5
    assert "'/no/such/command' does not exist" in failed.stderr


def test_a_module_with_a_blank_in_its_name_is_said_again_as_a_shell_takes_it():
    assert Sources(modules=("my tools.py", "a")).again == "-m 'my tools.py' -m a "
