"""What the exit codes of `naru` mean, the same for every command, so that scripts can tell what happened."""

from __future__ import annotations

from enum import IntEnum
from http import HTTPStatus

from naru.errors import ModelError, NaruError, NotFoundError, StoreError, UpstreamError, UserError


class Exit(IntEnum):
    """The code a command ends with; its docstrings are the reference."""

    DONE = 0
    """It was done, and all is well."""
    NOT_WELL = 1
    """It was done, and the outcome is bad: the tool failed, a check found something, a replay differs."""
    USAGE = 2
    """The command, its arguments or the settings are wrong; nothing was done."""
    NOT_FOUND = 3
    """There is no server, tool, run, key or client of that name."""
    TIMED_OUT = 4
    """It did not finish in time; a tool may have run all the same."""
    UNREACHABLE = 5
    """What it needs cannot be reached: a hub, a server, a model, a database."""
    INTERRUPTED = 130
    """Ctrl-C."""


_BY_CODE = {
    "unknown_tool": Exit.NOT_FOUND,
    "tool_timeout": Exit.TIMED_OUT,
    "invalid_arguments": Exit.USAGE,
    "dependency_failed": Exit.UNREACHABLE,
    "tool_error": Exit.UNREACHABLE,
}
_BY_CLASS: tuple[tuple[type[NaruError], Exit], ...] = (
    (NotFoundError, Exit.NOT_FOUND),
    (UserError, Exit.USAGE),
    (UpstreamError, Exit.UNREACHABLE),
    (StoreError, Exit.UNREACHABLE),
)


def exit_code(error: NaruError) -> Exit:
    """Return what a command ends with when this was raised."""
    if error.code in _BY_CODE:
        return _BY_CODE[error.code]
    if isinstance(error, ModelError) and error.status == HTTPStatus.NOT_FOUND:
        return Exit.NOT_FOUND
    return next((code for kind, code in _BY_CLASS if isinstance(error, kind)), Exit.NOT_WELL)
