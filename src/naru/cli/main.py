"""The `naru` command: a table of commands, each loaded only when it is used."""

from __future__ import annotations

import importlib
import sys
from typing import Annotated, Any

import typer
from rich.console import Console
from typer.core import TyperGroup
from typer.main import get_command

from naru import __version__
from naru.errors import NaruError, UserError

COMMANDS = {
    "data": ("naru.cli.data", "Index and search documents; check the database of the data search server."),
    "demo": ("naru.cli.demo", "Answer three questions from real tools with a real small model."),
    "keys": ("naru.cli.keys", "Make, list and revoke API keys."),
    "probe": ("naru.cli.probe", "Measure what a model can do on its endpoint, and remember it."),
    "parse": ("naru.cli.parse", "Show what the reader makes of a model's text: calls, dialect, repairs."),
    "tool": ("naru.cli.tool", "Run, list and describe tools: functions, built-in servers, the hub's servers."),
    "servers": ("naru.cli.servers", "List, add, remove and import MCP servers."),
    "audit": ("naru.cli.audit", "Read the audit log, and prove that nobody changed it."),
    "chat": ("naru.cli.chat", "Talk to the model with its tools in this terminal."),
    "doctor": ("naru.cli.doctor", "Try the model and every server; say what is wrong and what to do."),
    "serve": ("naru.cli.serve", "Serve the model with its tools on http://127.0.0.1:20006."),
}
"""Name → module with a typer function `command` or a typer group `app`, and the line that `naru --help` shows."""


class LazyGroup(TyperGroup):
    """A group that imports a command's module when the command is run or its own help is asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the command names in the table's order."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Load one command, or None when there is none of that name."""
        if cmd_name not in COMMANDS:
            return None
        path, line = COMMANDS[cmd_name]
        module = importlib.import_module(path)
        if hasattr(module, "app"):
            return get_command(module.app)
        single = typer.Typer(add_completion=False, rich_markup_mode=None)
        single.command(name=cmd_name, help=line)(module.command)
        return get_command(single)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands from the table, loading none."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


app = typer.Typer(
    cls=LazyGroup,
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(value: bool) -> None:
    if value:
        print(f"naru {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and leave.")
    ] = False,
) -> None:
    """Carry any model to any tool, for any client."""


def main() -> None:
    """Run the command line: a NaruError is one line on stderr and a non-zero exit, never a traceback."""
    try:
        app(prog_name="naru")
    except NaruError as error:
        Console(stderr=True, soft_wrap=True).print(f"naru: {error}", markup=False, highlight=False)
        sys.exit(2 if isinstance(error, UserError) else 1)


if __name__ == "__main__":
    main()
