"""Standard streams that are closed, full, broken or of a small character set: no command ends in a traceback there."""

from __future__ import annotations

import codecs
import io
import os
import sys

_ESCAPES = "naru_escapes"


def prepare() -> None:
    """Fill closed streams, and have what an encoding lacks written as JSON escapes it: JSON stays JSON."""
    _fill_closed()
    codecs.register_error(_ESCAPES, _escaped)
    out = sys.stdout
    if isinstance(out, io.TextIOWrapper) and (out.errors == "strict" or codecs.lookup(out.encoding).name != "utf-8"):
        out.reconfigure(errors=_ESCAPES)


def _fill_closed() -> None:
    """Put nothing where stdin, stdout or stderr is closed: the next file opened would take its place."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, "r" if number == 0 else "w", encoding="utf-8", closefd=False))  # noqa: SIM115  # for good


def _escaped(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    units = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2)), error.end


def give_up_stdout() -> None:
    """Let what could not be written go nowhere: Python tries once more when it ends, and complains."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError:
        return  # it is no file
