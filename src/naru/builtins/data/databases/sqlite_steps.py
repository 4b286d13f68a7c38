"""What one step of SQLite may take: the engine is interrupted between its steps, and a function's call is one.

Most calls end soon whatever they are given. Those that do not are given shorter texts (the rest, such as `MATCH` of a
long text, ends with the process: `apart`), and `printf` is looked at: its
`%c` repeats a letter as often as a number says, past any limit in engines before 3.42, and what is too long is NULL.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Set

SHORT_BYTES = 128 * 2**10
"""Of a value, for a statement that uses one of these."""
_LONG = frozenset("instr replace trim ltrim rtrim printf format strftime json_patch".split())
"""They take time by the product of two lengths, or by more than a length."""
TOO_LONG = f"printf makes at most {SHORT_BYTES} bytes, and its %c takes no precision"
Value = str | bytes | int | float | None

_FORMATS = frozenset({"printf", "format"})
_REPEATED = re.compile(r"%[-+ #0!,\d*l]*\.[-+ #0!,\d*.l]*c")


def bound_steps(connection: sqlite3.Connection, functions: Set[str]) -> str:
    """Bound what a statement that uses these functions can do in one step; return what to say when that is too little.

    Nothing may listen to the connection's statements meanwhile.
    """
    long = sorted(functions & _LONG)
    if not long:
        return ""
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, SHORT_BYTES)
    if functions & _FORMATS:
        # A function of ours is none that the engine trusts in a view; what is used there was judged by its name.
        connection.execute("PRAGMA trusted_schema = ON")
        inner = sqlite3.connect(":memory:", check_same_thread=False)
        inner.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, SHORT_BYTES)
        for name in _FORMATS:
            connection.create_function(name, -1, _Formatted(inner), deterministic=True)
    return f"with {', '.join(long)} a value has at most {SHORT_BYTES} bytes"


class _Formatted:
    """The engine's own `printf`, between a look at what it is asked for and one at what it gives."""

    def __init__(self, inner: sqlite3.Connection) -> None:
        self._inner = inner

    def __call__(self, *values: Value) -> Value:
        form = values[0] if values else None
        if form is None:
            return None
        text = form.decode(errors="replace") if isinstance(form, bytes) else str(form)
        marks = ", ".join("?" * len(values))
        if not _REPEATED.search(text):
            ((told,),) = self._inner.execute(f"SELECT printf({marks})", values)  # noqa: S608  # of marks alone
            if told is not None:
                return str(told)
        raise ValueError(TOO_LONG)
