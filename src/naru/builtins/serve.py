"""A Toolset as an MCP server of its own over stdio."""

from __future__ import annotations

import sys
from collections.abc import Callable

from naru.errors import NaruError
from naru.gateway.alone import run_alone
from naru.tools.toolset import Toolset


def run_stdio(make: Callable[[], Toolset], *, name: str, instructions: str = "") -> None:
    """Serve a Toolset on standard input and output until the client closes them, Ctrl-C or SIGTERM; then leave.

    What keeps it from being made is one line on stderr and exit code 2.
    """
    try:
        toolset = make()
    except NaruError as error:
        print(f"{name}: {error}", file=sys.stderr)  # noqa: T201  # a command's one line
        sys.exit(2)
    run_alone(toolset, name=name, instructions=instructions)
