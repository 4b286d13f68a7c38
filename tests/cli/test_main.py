"""`naru` itself: help, unknown commands, exit codes, completion, no escape sequences where none are wanted."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
import typer
from typer.main import get_command
from typer.testing import CliRunner

from naru.cli.commands import COMMANDS
from naru.cli.main import app
from naru.cli.terminal.exit_codes import Exit, exit_code
from naru.errors import (
    ConfigError,
    ConnectionFailedError,
    InvalidArgumentsError,
    NotFoundError,
    PolicyError,
    StoreError,
    ToolTimeoutError,
    UnknownToolError,
)


def commands(group: typer.core.TyperGroup, path: tuple[str, ...] = ()):
    """Yield every command with its words, those of groups included."""
    context = typer.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, typer.core.TyperGroup):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name), command


ALL = dict(commands(get_command(app)))


@pytest.mark.parametrize("group", sorted({words[0] for words in ALL if len(words) > 1}))
def test_the_help_of_a_group_says_in_a_line_what_each_command_does(group: str) -> None:
    done = CliRunner().invoke(app, [group, "--help"], prog_name="naru")
    listed = done.stdout.split("Commands:")[1].strip().splitlines()
    assert len(listed) == len({words[1] for words in ALL if words[0] == group})
    assert not [line for line in listed if line.endswith("...")]
    assert "completion" not in done.stdout, "it is set up for the whole program"


def test_help_lists_every_command_and_loads_none() -> None:
    code = (
        "import sys; from naru.cli.main import main; sys.argv = ['naru', '--help']\n"
        "try: main()\nexcept SystemExit: pass\n"
        "heavy = ('naru.', 'rich', 'pydantic', 'aiohttp', 'mcp')\n"
        "print([m for m in sys.modules if m.startswith(heavy)], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    for name in COMMANDS:
        assert f"  {name} " in done.stdout
    assert set(done.stderr.strip().strip("[]").replace("'", "").split(", ")) <= {
        "naru.cli", "naru.cli.commands", "naru.cli.main", "naru.cli.terminal", "naru.cli.terminal.called",
        "naru.cli.terminal.exit_codes", "naru.cli.terminal.streams", "naru.errors", "naru.facts", "naru.persons",
    }  # fmt: skip


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_every_command_and_every_option_says_what_it_is_for(words: tuple[str, ...]) -> None:
    command = ALL[words]
    assert command.help or COMMANDS[words[0]][1]
    for parameter in command.params:
        assert getattr(parameter, "help", None), f"{' '.join(words)}: {parameter.name}"


@pytest.mark.parametrize(
    "words", [words for words in ALL if "serve" not in words and words != ("data", "reader-sql")], ids=" ".join
)
def test_every_command_that_reports_something_can_print_json(words: tuple[str, ...]) -> None:
    if words in (("tool", "schema"), ("servers", "export")):
        return  # they print nothing but JSON
    assert "--json" in [option for parameter in ALL[words].params for option in parameter.opts]


@pytest.mark.parametrize(
    ("typed", "meant"), [("serv", "serve"), ("tol", "tool"), ("improt", "import"), ("doktor", "doctor")]
)
def test_an_unknown_command_says_which_was_meant(naru, typed: str, meant: str) -> None:
    assert f"'{meant}'" in naru(typed, code=Exit.USAGE).stderr


@pytest.mark.slow
def test_completion_knows_commands_and_clients() -> None:
    def complete(line: str) -> list[str]:
        done = subprocess.run(
            [sys.executable, "-m", "naru.cli.main"], capture_output=True, text=True, timeout=120, check=False,
            env={
                **os.environ, "_NARU_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))
            },
        )  # fmt: skip
        return done.stdout.split()

    assert complete("naru va") == ["validate"]
    assert complete("naru connect cl") == ["claude-desktop", "claude-code", "cline"]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ConfigError("x"), Exit.USAGE),
        (NotFoundError("x"), Exit.NOT_FOUND),
        (UnknownToolError("x"), Exit.NOT_FOUND),
        (InvalidArgumentsError("x"), Exit.USAGE),
        (ToolTimeoutError("x"), Exit.TIMED_OUT),
        (ConnectionFailedError("x"), Exit.UNREACHABLE),
        (StoreError("x"), Exit.UNREACHABLE),
        (PolicyError("x"), Exit.NOT_WELL),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_error_ends_with_the_code_of_who_must_act(error: Exception, code: Exit) -> None:
    assert exit_code(error) is code


@pytest.mark.parametrize(
    "typed", ["keys show nothing", "servers explain nothing", "validate none.json", "tools show nothing", "chat"]
)
def test_where_json_is_asked_for_a_failure_is_json_too(naru, typed: str) -> None:
    code = Exit.USAGE if typed == "chat" else Exit.NOT_FOUND
    words = [*typed.split(), *(["--local", "hi", "--base-url", "none"] if typed == "chat" else [])]
    failed = naru(*words, "--json", code=code)
    told = json.loads(failed.stdout)
    assert failed.stderr.splitlines()[-1] == f"naru: {told['error']}"
    assert told["code"]
    assert naru(*words, code=code).stdout == ""


@pytest.mark.parametrize("typed", ["", "tools list --nosuch", "server list", "tools list a b"])
def test_where_json_is_asked_for_a_wrong_call_is_json_too(naru, typed: str) -> None:
    told = json.loads(naru(*typed.split(), "--json", code=Exit.USAGE).stdout)
    assert told["code"] == "usage"
    assert told["error"] in naru(*typed.split(), "--json", code=Exit.USAGE).stderr.replace("\n", " ")


@pytest.mark.parametrize("typed", ["--json servers list", "servers --json list", "servers secret --json list"])
def test_an_option_that_is_typed_before_a_commands_name_is_told_where_it_belongs(naru, typed: str) -> None:
    assert "No such option: --json before the command's name" in naru(*typed.split(), code=Exit.USAGE).stderr


def test_the_json_of_a_program_is_not_asked_of_naru(naru) -> None:
    naru("servers", "add", "x", "--", "sh", "--json")
    assert naru("servers", "add", "x", "--", "sh", "--json", code=Exit.USAGE).stdout == ""


def test_the_help_names_every_exit_code() -> None:
    assert app.info.epilog is not None
    for code in Exit:
        assert code is Exit.INTERRUPTED or f" {code} " in app.info.epilog
