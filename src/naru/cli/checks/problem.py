"""One thing that is wrong in a file or the environment: where, what, and what to do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from pathlib import Path

from naru.errors import NotFoundError


class Level(StrEnum):
    """How bad it is."""

    ERROR = "error"
    """Naru or that server does not start with it."""
    WARNING = "warning"
    """It works, and is likely not what was meant."""
    NOTE = "note"
    """Worth knowing; nothing need be done."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A fault with its place and its remedy."""

    level: Level
    file: str
    field: str
    """Such as `server.port` or `mcpServers.github.command`; empty for the file as a whole."""
    message: str
    remedy: str = ""
    line: int | None = None


def check_named(file: Path, *, remedy: str) -> None:
    """Check that a file that was named can be read; a pipe can, such as a shell's `<(…)`. Raises NotFoundError."""
    if not (file.is_file() or file.is_fifo()):
        what = "is a folder" if file.is_dir() else "is no file" if file.exists() else "is not there"
        raise NotFoundError(f"Tried to read {file}, which {what}.", remedy=remedy)


def unreadable(path: Path, error: OSError | UnicodeDecodeError) -> Problem:
    """Return the fault of a file that cannot be read."""
    if isinstance(error, UnicodeDecodeError):
        return Problem(Level.ERROR, str(path), "", f"It is no UTF-8 text: {error.reason}.", "Save it as UTF-8.")
    why = error.strerror or type(error).__name__
    return Problem(Level.ERROR, str(path), "", f"It cannot be read: {why}.", "Name a file that this user may read.")


def meant(wrong: str, known: Iterable[str]) -> str:
    """Return "Did you mean …?" with the nearest known word, or the known words when none is near."""
    choices = sorted(known)
    near = get_close_matches(wrong, choices, n=1)
    if near:
        return f"Did you mean {near[0]}?"
    return f"There are: {', '.join(choices)}." if len(choices) <= 20 else "See docs/reference/settings.md."
