"""The `naru` command: a table of commands, each loaded only when it is used."""

from __future__ import annotations

import contextlib
import gc
import importlib
import itertools
import json
import logging
import sys
from collections.abc import Iterator
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from naru import __version__
from naru.cli.commands import COMMANDS, SECTIONS
from naru.cli.terminal.called import as_called, program
from naru.cli.terminal.exit_codes import Exit, exit_code
from naru.cli.terminal.streams import give_up_stdout, prepare
from naru.errors import NaruError
from naru.persons import Person, current_person

_UsageError: Any = typer.BadParameter.__bases__[0]


class LazyGroup(TyperGroup):
    """A group that imports a command's module when the command is run or its own help is asked for."""

    def make_context(self, *given: Any, **more: Any) -> Any:
        """Read what stands before the command's name."""
        with _wrong_usage_told():
            return super().make_context(*given, **more)

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        with _wrong_usage_told():
            return super().invoke(ctx)

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the command names in the table's order."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Load one command, or None when there is none of that name."""
        if cmd_name not in COMMANDS:
            return None
        path, line = COMMANDS[cmd_name]
        module = _loaded(path)
        if hasattr(module, "app"):
            return _said_as_called(get_command(module.app))
        single = typer.Typer(add_completion=False, rich_markup_mode=None)
        single.command(name=cmd_name, help=line)(module.command)
        return _said_as_called(get_command(single))

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


@contextlib.contextmanager
def _wrong_usage_told() -> Iterator[None]:
    """Tell wrong usage as JSON too, where that is asked for; say of an option where it is none."""
    try:
        yield
    except _UsageError as error:
        if hasattr(error, "option_name") and error.ctx and isinstance(error.ctx.command, TyperGroup):
            error.message = f"{error.message} before the command's name"
        _print_json(error.format_message(), "usage")
        raise


def _loaded(path: str) -> Any:
    """Import a command's module; it stays to the end, and to look for garbage in it was a quarter of a start."""
    if path in sys.modules:
        return sys.modules[path]
    gc.disable()
    try:
        return importlib.import_module(path)
    finally:
        gc.freeze()
        gc.enable()


def _said_as_called(command: Any) -> Any:
    """Return a command whose help names the program as it was called."""
    for one in (command, *getattr(command, "params", ())):
        if getattr(one, "help", None):
            one.help = as_called(one.help)
    for inner in getattr(command, "commands", {}).values():
        _said_as_called(inner)
    return command


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


def _tell(error: NaruError) -> None:
    # Known by now to whatever raised it, and not worth loading for `naru --help`.
    redactor = importlib.import_module("naru.stores.secrets.redact").REDACTOR
    said = as_called(redactor.clean(str(error)))
    print(f"naru: {said}", file=sys.stderr)
    _print_json(said, error.code)


def _print_json(said: str, code: str) -> None:
    """Print an error where programs read it, if one does."""
    if said and "--json" in itertools.takewhile("--".__ne__, sys.argv):  # what comes after is a program's
        print(json.dumps({"error": said, "code": code}, ensure_ascii=False))


def main() -> None:
    """Run the command line: a NaruError is one line on stderr and its exit code, never a traceback."""
    prepare()
    logging.getLogger("naru").addHandler(logging.NullHandler())  # a command tells by itself what is wrong
    current_person.set(Person("local"))  # who runs a command is who may read the folder
    # Completion is set up for the bare name: shells look up a path by its last part.
    completes = any(argument.startswith(("--install-completion", "--show-completion")) for argument in sys.argv[1:])
    try:
        try:
            app(prog_name="naru" if completes else program(), complete_var="_NARU_COMPLETE")
        except NaruError as error:
            _tell(error)
            sys.exit(exit_code(error))
        finally:
            sys.stdout.flush()  # what fails later, Python tells in its own words
    except OSError as error:
        give_up_stdout()
        if isinstance(error, BrokenPipeError):
            sys.exit(Exit.NOT_WELL)  # as of `| head`: whoever read has read enough
        # Whatever else can fail has an error of its own; without a file's name it is where the output goes to.
        what = f"cannot use {error.filename}" if error.filename else "what it did cannot be shown"
        print(f"naru: {what}: {error.strerror or error}.", file=sys.stderr)
        sys.exit(Exit.NOT_WELL)


if __name__ == "__main__":
    main()
