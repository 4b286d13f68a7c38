"""How this `naru` was called, so that a command line in a message can be pasted as it is printed.

Messages say `naru serve` wherever they are written; what prints them puts the program's own name in its place.
"""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from functools import cache
from pathlib import Path

from naru.cli.commands import COMMANDS

_COMMAND_LINE = re.compile(rf"(?<![\w/.\\-])naru(?= (?:{'|'.join(COMMANDS)})\b)")


def as_called(text: str) -> str:
    """Return a message with its command lines as a person here has to type them."""
    name = program()
    return text if name == "naru" else _COMMAND_LINE.sub(lambda _: name, text)


def program() -> str:
    """Return `naru` where the PATH leads to this very program, else the path by which it was called."""
    return _program(sys.argv[0])


@cache
def _program(called: str) -> str:
    path = Path(called)
    if path.stem != "naru":  # python -m naru.cli.main
        return f"{shlex.quote(_from_here(Path(sys.executable)))} -m naru.cli.main" if path.name == "main.py" else "naru"
    found = shutil.which("naru")
    if len(path.parts) == 1 or (found and Path(found).absolute() == path.absolute()):
        return "naru"
    return shlex.quote(_from_here(path))


def _from_here(path: Path) -> str:
    """Return a path below the working directory as one relative to it."""
    here = Path.cwd()
    if path.is_absolute() and path.is_relative_to(here):
        path = path.relative_to(here)
        return str(path) if len(path.parts) > 1 else f"./{path}"
    return str(path)
