"""The `naru` command: a table of commands, each loaded only when it is used."""

from __future__ import annotations

import importlib
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from naru import __version__
from naru.cli.exit_codes import exit_code
from naru.errors import NaruError

SECTIONS = {
    "Start": {
        "demo": ("naru.cli.demo", "Answer three questions from real tools with a real small model."),
        "serve": ("naru.cli.serve", "Serve the model with its tools on http://127.0.0.1:20006."),
        "chat": ("naru.cli.chat", "Talk to the model with its tools in this terminal."),
        "connect": ("naru.cli.connect", "Show or write the settings that a client needs to use Naru."),
    },
    "Servers and tools": {
        "import": ("naru.cli.import_servers", "Take over the MCP servers of other products on this machine."),
        "servers": ("naru.cli.servers", "List, add, remove, connect and explain MCP servers."),
        "tools": ("naru.cli.tools", "List and search the tools of all servers."),
        "tool": ("naru.cli.tool", "Run and describe a tool: a function, a built-in server's, a hub server's."),
        "data": ("naru.cli.data", "Index and search documents; check the database of the data search server."),
    },
    "Look into it": {
        "doctor": ("naru.cli.doctor", "Try the model and every server; say what is wrong and what to do."),
        "validate": ("naru.cli.validate", "Check settings and mcp.json files: every problem, its place, what to do."),
        "runs": ("naru.cli.runs", "List, show and replay what the model did."),
        "parse": ("naru.cli.parse", "Show what the reader makes of a model's text: calls, dialect, repairs."),
        "probe": ("naru.cli.probe", "Measure what a model can do on its endpoint, and remember it."),
        "approvals": ("naru.cli.approvals", "See and answer tool calls that wait for a person's yes."),
        "keys": ("naru.cli.keys", "Make, list and revoke API keys."),
        "audit": ("naru.cli.audit", "Read the audit log, and prove that nobody changed it."),
    },
}
"""Section of `naru --help` → name → module with a typer function `command` or group `app`, and the line of help."""
COMMANDS = {name: row for rows in SECTIONS.values() for name, row in rows.items()}


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

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command; of a name that is none, say which was meant."""
        # The base class suggests from the commands it holds; ours are names until they are used.
        self.commands = {name: TyperCommand(name) for name in COMMANDS}
        try:
            return super().resolve_command(ctx, args)
        finally:
            self.commands = {}

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands from the table, loading none."""
        width = max(map(len, COMMANDS))
        for title, rows in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), line) for name, (_, line) in rows.items()])


app = typer.Typer(
    cls=LazyGroup,
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    epilog="Exit codes: 0 done, 1 the outcome is bad, 2 wrong usage, 3 not found, 4 timed out, 5 unreachable.",
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
    """Run the command line: a NaruError is one line on stderr and its exit code, never a traceback."""
    try:
        app(prog_name="naru")
    except NaruError as error:
        print(f"naru: {error}", file=sys.stderr)
        sys.exit(exit_code(error))


if __name__ == "__main__":
    main()
